//! Kept lines → the extract: gaps marked with exact line ranges, rulers
//! shortened, very long lines cut in the middle, one closing line.
//!
//! The whole vocabulary a reader meets:
//!
//! ```text
//! [… 12-160]                        lines 12 to 160 are left out here
//! [… 12-160: 149 × test caso_# ok]  the same, and what most of them look like
//! [… 31 states of line 2]           overwritten progress states
//! [… 5230 bytes]                    the middle of a very long line
//! [374 lines, 322 omitted as […]; exit 101; full text: PATH #1a2b3c4d]
//! ```

use std::ops::RangeInclusive;

use super::hash::hash;
use super::lines::Lines;

/// A run of punctuation longer than this is decoration.
const MAX_RULE: usize = 6;
/// Longer lines are cut in the middle.
const MAX_LINE: usize = 700;

/// Builds an extract line by line.
pub(super) struct Page<'a> {
    lines: &'a Lines,
    out: Vec<u8>,
    /// Raw lines that are not shown, whole ones only.
    pub(super) n_omitted: u32,
}

impl<'a> Page<'a> {
    pub(super) fn new(lines: &'a Lines) -> Self {
        Self { lines, out: Vec::with_capacity(4096), n_omitted: 0 }
    }

    /// Appends a line that `show` writes.
    pub(super) fn line(&mut self, show: impl FnOnce(&mut Vec<u8>)) {
        show(&mut self.out);
        self.out.push(b'\n');
    }

    /// Marks the lines `range` as left out; `note` says what they are.
    pub(super) fn gap(&mut self, range: &RangeInclusive<usize>, note: Option<&[u8]>) {
        let (from, to) = (self.lines.no(*range.start()), self.lines.no(*range.end()));
        let shares = |idx: Option<usize>, no: u32| {
            idx.is_some_and(|i| i < self.lines.len() && self.lines.no(i) == no)
        };
        let head_shared = shares(range.start().checked_sub(1), from);
        let tail_shared = shares(range.end().checked_add(1), to);
        let states = range.clone().count();
        let mark = if from == to && (head_shared || tail_shared) {
            format!("[… {states} states of line {from}")
        } else {
            self.n_omitted += to - from + 1 - u32::from(head_shared) - u32::from(tail_shared);
            if from == to { format!("[… {from}") } else { format!("[… {from}-{to}") }
        };
        self.out.extend_from_slice(mark.as_bytes());
        if let Some(note) = note {
            self.out.extend_from_slice(b": ");
            self.out.extend_from_slice(note);
        }
        self.out.extend_from_slice(b"]\n");
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}

/// The closing line, without the place of the full text.
pub(super) fn closing(n_raw: u32, n_omitted: u32, exit_code: i32, notes: &[String]) -> Vec<u8> {
    let mut out = format!("[{n_raw} lines, {n_omitted} omitted as […]");
    if exit_code != 0 {
        out.push_str(&format!("; exit {exit_code}"));
    }
    for note in notes {
        out.push_str("; ");
        out.push_str(note);
    }
    out.into_bytes()
}

/// Adds the place of the full text and the check sum by which an extract is
/// known again.
pub(super) fn seal(mut page: Vec<u8>, label: &str, path: &[u8]) -> Vec<u8> {
    if !path.is_empty() {
        page.extend_from_slice(format!("; {label}: ").as_bytes());
        page.extend_from_slice(path);
    }
    let sum = checksum(&page);
    page.extend_from_slice(format!(" #{sum:08x}]\n").as_bytes());
    page
}

/// Whether `text` is an extract, whole and unchanged.
pub(super) fn is_sealed(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let Some(body) = text.strip_suffix(b"]") else { return false };
    let Some(at) = body.len().checked_sub(10).filter(|&at| body.get(at..at + 2) == Some(b" #"))
    else {
        return false;
    };
    let sum = body.get(at + 2..).and_then(|hex| std::str::from_utf8(hex).ok());
    let sum = sum.and_then(|hex| u32::from_str_radix(hex, 16).ok());
    sum.is_some() && sum == body.get(..at).map(checksum)
}

/// Carriage returns are left out of the sum, since they get lost on the way.
fn checksum(page: &[u8]) -> u32 {
    let sum = hash(page);
    u32::try_from((sum >> 32) ^ (sum & 0xffff_ffff)).unwrap_or(0)
}

/// Appends a line as it is shown, with its white space when `exact`.
pub(super) fn show(line: &[u8], exact: bool, out: &mut Vec<u8>) {
    if exact && line.len() <= MAX_LINE {
        out.extend_from_slice(line);
    } else {
        shown(line, out);
    }
}

/// Appends a line with its decoration shortened.
pub(super) fn shown(line: &[u8], out: &mut Vec<u8>) {
    let line = line.trim_ascii_end();
    if line.len() <= MAX_LINE {
        return decorated(line, out);
    }
    let (head, tail) = (MAX_LINE * 4 / 7, MAX_LINE / 7);
    let head = cut_before(line, head);
    let tail = cut_before(line, line.len() - tail);
    decorated(line.get(..head).unwrap_or_default(), out);
    out.extend_from_slice(format!("[… {} bytes]", tail - head).as_bytes());
    decorated(line.get(tail..).unwrap_or_default(), out);
}

/// The largest position up to `at` that does not split a UTF-8 character.
fn cut_before(line: &[u8], mut at: usize) -> usize {
    let mut steps = 0;
    while at > 0 && steps < 3 && line.get(at).is_some_and(|b| (0x80..0xc0).contains(b)) {
        at -= 1;
        steps += 1;
    }
    at
}

/// Copies, with long rules and deep indents shortened.
fn decorated(line: &[u8], out: &mut Vec<u8>) {
    let indent = line.iter().take_while(|&&b| b == b' ').count();
    out.extend(std::iter::repeat_n(b' ', if indent > 8 { 4 + indent / 4 } else { indent / 2 }));
    let mut at = indent;
    while let Some(&byte) = line.get(at) {
        let width = match byte {
            b'=' | b'-' | b'_' | b'*' | b'~' | b'^' | b'#' | b'.' | b' ' | b'+' => 1,
            0xe2 if matches!(line.get(at + 1), Some(0x8e | 0x94..=0x96)) => 3,
            _ => 0,
        };
        let unit = line.get(at..at + width).unwrap_or_default();
        if unit.is_empty() {
            out.push(byte);
            at += 1;
            continue;
        }
        let mut n = 1;
        while line.get(at + n * width..at + (n + 1) * width) == Some(unit) {
            n += 1;
        }
        let short = if byte == b' ' && n > 2 {
            2
        } else if n > MAX_RULE {
            3
        } else {
            n
        };
        for _ in 0..short {
            out.extend_from_slice(unit);
        }
        at += n * width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(line: &str) -> String {
        let mut out = Vec::new();
        shown(line.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rules_shrink_and_words_do_not() {
        assert_eq!(show("=================== FAILURES ================"), "=== FAILURES ===");
        assert_eq!(show("a ... ok"), "a ... ok");
        assert_eq!(show(&show("____________ x ⎯⎯⎯⎯⎯⎯⎯⎯")), show("____________ x ⎯⎯⎯⎯⎯⎯⎯⎯"));
    }

    #[test]
    fn a_long_line_says_how_much_is_missing() {
        let line = "ñ".repeat(2000);
        let short = show(&line);
        assert!(
            short.len() < 800 && short.contains("[… 35") && short.contains(" bytes]"),
            "{short}"
        );
    }

    #[test]
    fn an_extract_is_known_again_and_a_changed_one_is_not() {
        let sealed =
            seal(b"x\n[9 lines, 8 omitted as [\xe2\x80\xa6]".to_vec(), "full text", b"/s/o/1.txt");
        assert!(is_sealed(&sealed) && is_sealed(sealed.trim_ascii_end()));
        let mut other = sealed.clone();
        other[0] = b'y';
        assert!(!is_sealed(&other) && !is_sealed(b"[9 lines] #12345678]") && !is_sealed(b""));
    }
}
