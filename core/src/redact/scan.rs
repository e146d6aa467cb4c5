//! Reading bytes at an offset without falling off either end.

/// The byte at `at`; 0 outside the text.
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The offset after at most `max` bytes of `set` from `at` on.
pub(super) fn skip(text: &[u8], at: usize, set: &[u8], max: usize) -> usize {
    let limit = text.len().min(at.saturating_add(max)).max(at);
    (at..limit).find(|i| !set.contains(&text[*i])).unwrap_or(limit)
}

/// The end of the run of bytes from `at` on that `is_in` accepts, at most `max`.
pub(super) fn run_end(text: &[u8], at: usize, max: usize, is_in: impl Fn(u8) -> bool) -> usize {
    let limit = text.len().min(at.saturating_add(max)).max(at);
    (at..limit).find(|i| !is_in(text[*i])).unwrap_or(limit)
}

/// True when `needle` stands at `at`.
pub(super) fn has(text: &[u8], at: usize, needle: &str) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(needle.as_bytes()))
}

/// The offset of the line end at or after `at`, at most `max` bytes on.
pub(super) fn line_end(text: &[u8], at: usize, max: usize) -> usize {
    let limit = text.len().min(at.saturating_add(max)).max(at);
    let rest = text.get(at..limit).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(limit, |n| at + n)
}

/// The offset of the first byte of the line of `at`, looking back `max` bytes.
pub(super) fn line_start(text: &[u8], at: usize, max: usize) -> usize {
    let floor = at.saturating_sub(max);
    let head = text.get(floor..at).unwrap_or_default();
    memchr::memrchr(b'\n', head).map_or(floor, |n| floor + n + 1)
}

/// Letters, digits and what joins them in a name.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// ASCII letters, and every byte of a character beyond ASCII.
pub(super) fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Skips quotation, emphasis, closing brackets, colours (`ESC[0m`) and closing
/// tags (`</b>`), at most eight of them.
pub(super) fn skip_markup(text: &[u8], at: usize, set: &[u8]) -> usize {
    let mut at = at;
    for _ in 0..8 {
        let next = match byte(text, at) {
            0x1B => run_end(text, at + 1, 12, |b| b == b'[' || b == b';' || b.is_ascii_digit()) + 1,
            b'<' if byte(text, at + 1) == b'/' || is_inline_tag(text, at + 1) => {
                let end = run_end(text, at, 40, |b| b != b'>');
                if byte(text, end) != b'>' {
                    return at;
                }
                end + 1
            }
            0xE2 if has(text, at, "”") => at + 3,
            0xC2 if has(text, at, "»") => at + 2,
            b'&' if has(text, at, "&quot;") => at + 6,
            b'&' if has(text, at, "&#39;") => at + 5,
            0 => return at,
            found if set.contains(&found) => at + 1,
            _ => return at,
        };
        at = next;
    }
    at
}

fn is_inline_tag(text: &[u8], at: usize) -> bool {
    ["b>", "i>", "strong>", "em>", "code>", "td>", "dd>", "span", "kbd>", "tt>", "pre>", "samp>"]
        .iter()
        .any(|tag| has(text, at, tag))
}
