//! Where a value begins and ends, once its label and separator are read.

use super::engine::Spans;
use super::scan::{byte, has, is_name_byte, line_end, run_end, skip, skip_markup};

/// Longest value without white space that is read to its end.
const MAX: usize = 16 * 1024;

/// The part of a text that a value takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_quoted: bool,
}

/// The value of a query parameter that begins at `at`.
pub(super) fn in_query(text: &[u8], at: usize) -> Extent {
    let end =
        run_end(text, at, MAX, |b| !b.is_ascii_whitespace() && !b"?&\"'<>`)]|#\\;".contains(&b));
    Extent { start: at, end, is_quoted: false }
}

/// Finds the value from just after the separator: on the same line, or on one
/// of the next two behind the marks of a quote, a list, a block or a fence.
pub(super) fn after(text: &[u8], at: usize, spans: &mut Spans) -> Option<Extent> {
    let at = skip_markup(text, skip(text, at, b"*", 2), b"");
    let mut at = skip(text, at, b" \t", 40);
    for _ in 0..3 {
        let next = skip(text, at, b" \t*>|-", 12);
        if !matches!(byte(text, next), b'\n' | b'\r') {
            break;
        }
        at = skip(text, next, b"\r\n", 2);
        let marked = skip(text, at, b" \t>", 16);
        let listed = skip(text, marked, b"-*", 1);
        at = if byte(text, listed) == b' ' { skip(text, listed, b" ", 4) } else { marked };
        if has(text, at, "```") || has(text, at, "~~~") {
            let end = line_end(text, at, 64);
            let is_fence = end - at < 24 && !text.get(at + 3..end)?.contains(&b'`');
            at = if is_fence { skip(text, end + 1, b" \t>", 16) } else { at };
        }
    }
    let tag = if has(text, at, "!!") { run_end(text, at, 12, |b| b != b' ') + 1 } else { at };
    let at = skip_markup(text, tag, b"");
    let bold = skip(text, at, b"*", 2);
    if bold > at && !is_bold(text, bold) {
        return bare(text, at, 0, spans);
    }
    let found = quoted(text, bold).or_else(|| wrapped(text, bold));
    found.or_else(|| bare(text, bold, bold - at, spans))
}

/// True when the stars before `at` are closed after the word they open.
fn is_bold(text: &[u8], at: usize) -> bool {
    let end = run_end(text, at, 600, |b| !b.is_ascii_whitespace());
    let word = text.get(at..end).unwrap_or_default();
    word.iter().rev().take(3).any(|b| *b == b'*')
}

const QUOTES: [(&str, &str); 11] = [
    ("\\\"", "\\\""),
    ("\"", "\""),
    ("'", "'"),
    ("```", "```"),
    ("``", "``"),
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("&quot;", "&quot;"),
    ("&#39;", "&#39;"),
];

/// A value in quotation marks, which end on the same line.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Extent> {
    let (open, close) = QUOTES.iter().find(|(open, _)| has(text, at, open))?;
    let start = at + open.len();
    let inner = text.get(start..text.len().min(start + MAX))?;
    let end = memchr::memmem::find(inner, close.as_bytes())?;
    if memchr::memchr(b'\n', inner.get(..end)?).is_some() {
        return None;
    }
    let extent = Extent { start, end: start + end, is_quoted: true };
    Some(inside(text, extent).unwrap_or(extent))
}

/// A value in brackets, highlighted, as the text of a link, in a string with a
/// prefix, or handed to a function that takes a literal.
fn wrapped(text: &[u8], at: usize) -> Option<Extent> {
    const WRAPS: [(&str, &str); 6] =
        [("[", "]("), ("<", ">"), ("(", ")"), ("==", "=="), ("~~", "~~"), ("||", "||")];
    const CALLS: [&str; 7] =
        ["SecretStr(", "Secret(", "Password(", "String(", "Buffer.from(", "b64decode(", "bytes("];
    if let Some(call) = CALLS.iter().find(|call| has(text, at, call)) {
        return quoted(text, at + call.len());
    }
    let prefix = run_end(text, at, 2, |b| b.is_ascii_alphabetic() || b == b'@' || b == b'$');
    if prefix > at && matches!(byte(text, prefix), b'"' | b'\'') {
        return quoted(text, prefix);
    }
    let (open, close) = WRAPS.iter().find(|(open, _)| has(text, at, open))?;
    let start = at + open.len();
    let inner = text.get(start..text.len().min(start + 300))?;
    let mut end = memchr::memmem::find(inner, close.as_bytes())?;
    // The padding of base64 is not part of `==`.
    while *close == "==" && inner.get(end + 2) == Some(&b'=') {
        end += 1;
    }
    let inner = inner.get(..end)?;
    let is_value = inner.len() >= 8
        && inner.iter().any(u8::is_ascii_digit)
        && !inner.iter().any(|b| b.is_ascii_whitespace() || b"[](){}<>|".contains(b));
    is_value.then_some(Extent { start, end: start + inner.len(), is_quoted: true })
}

/// Quotation marks inside quotation marks, as in `'"x"'`.
fn inside(text: &[u8], extent: Extent) -> Option<Extent> {
    let inner = text.get(extent.start..extent.end)?;
    let (first, last) = (*inner.first()?, *inner.last()?);
    let is_quoted = inner.len() > 2 && first == last && b"\"'`".contains(&first);
    is_quoted.then_some(Extent { start: extent.start + 1, end: extent.end - 1, ..extent })
}

/// A value that white space, quotation or the syntax around it ends.
fn bare(text: &[u8], at: usize, n_stars: usize, spans: &mut Spans) -> Option<Extent> {
    let mut end = spans.run_end(at, || run_end_at(text, at));
    if n_stars > 0
        && let Some(star) = memchr::memrchr(b'*', text.get(at..end)?)
    {
        end = at + star + 1;
        let stars = text.get(at..end)?.iter().rev().take_while(|b| **b == b'*').count();
        end -= stars.min(n_stars);
    }
    while end > at && is_unbalanced(text.get(at..end)?) {
        end -= 1;
    }
    (end > at).then_some(Extent { start: at, end, is_quoted: false })
}

fn run_end_at(text: &[u8], at: usize) -> usize {
    let limit = text.len().min(at + MAX);
    (at..limit).find(|i| is_stop(text, *i)).unwrap_or(limit)
}

fn is_stop(text: &[u8], at: usize) -> bool {
    match byte(text, at) {
        b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'|' | b'<' | b'>' | 0x1B => true,
        b'\\' => matches!(byte(text, at + 1), b'n' | b'r' | b't' | b'"'),
        // `a=x, b=y` and `a=x;b=y`, but not the comma inside a password.
        b',' | b';' => {
            let name = run_end(text, at + 1, 32, |b| is_name_byte(b) || b == b' ');
            !byte(text, at + 1).is_ascii_graphic() || matches!(byte(text, name), b'=' | b':')
        }
        0xE2 => has(text, at, "”") || has(text, at, "“"),
        0xC2 => has(text, at, "»"),
        b'&' => ["&quot;", "&lt;", "&#39;", "&amp;"].iter().any(|entity| has(text, at, entity)),
        b'%' => has(text, at, "%26") || has(text, at, "%0A"),
        _ => false,
    }
}

/// True when the last byte closes a bracket that the value does not open.
fn is_unbalanced(value: &[u8]) -> bool {
    let open = match value.last() {
        Some(b')') => b'(',
        Some(b']') => b'[',
        Some(b'}') => b'{',
        _ => return false,
    };
    memchr::memchr(open, value).is_none()
}

/// What else may be the value when the first candidate is not: `apiKey: string
/// = "…"`, `user/password: ana / …`.
pub(super) fn second(
    text: &[u8],
    first: Extent,
    is_pair: bool,
    spans: &mut Spans,
) -> Option<Extent> {
    let len = first.end - first.start;
    let next = skip(text, first.end, b" `*\"'", 4);
    match byte(text, next) {
        b'=' if !first.is_quoted && len <= 40 && byte(text, next + 1) != b'=' => {
            quoted(text, skip(text, next + 1, b" ", 3))
        }
        // `process.env.X || "…"`, `env.get(X) ?? "…"`
        b'|' | b'?' if has(text, next, "||") || has(text, next, "??") => {
            quoted(text, skip(text, next + 2, b" ", 3))
        }
        b'/' | b',' | b'|' | b'-' if len <= 64 && next > first.end => {
            let at = skip(text, next + 1, b" ", 2);
            quoted(text, at).or_else(|| bare(text, at, 0, spans))
        }
        // `SET PASSWORD FOR 'ana'@'%' = '…'`
        b'@' if first.is_quoted => {
            let sign = run_end(text, next, 24, |b| b != b'=');
            quoted(text, skip(text, sign + 1, b" ", 2))
        }
        // `usuario y contraseña: ana …`
        byte if is_pair && len <= 64 && next > first.end && !byte.is_ascii_control() => {
            quoted(text, next).or_else(|| bare(text, next, 0, spans))
        }
        _ => None,
    }
}
