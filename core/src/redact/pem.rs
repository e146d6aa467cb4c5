//! Private keys in armour: whole, on one line with `\n`, quoted, cut off at
//! either end. The markers stay, what is between them goes; two mentions of
//! markers in prose do not swallow the prose.

use super::engine::Spans;
use super::value::{is_placeholder, is_wordlike};

const NAME: &str = "private-key";
/// A 16,384-bit RSA key in PEM is 13 KB.
const MAX_BODY: usize = 32 * 1024;

fn line_of(text: &[u8], at: usize, max: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.get(..max).unwrap_or(rest);
    memchr::memchr(b'\n', rest).map_or(rest, |end| rest.get(..end).unwrap_or(rest))
}

/// True when the marker names a private key; the marker's length.
fn marker(text: &[u8], at: usize) -> Option<usize> {
    let line = line_of(text, at, 90);
    let name =
        line.iter().skip(5).take_while(|b| b" ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".contains(b));
    let end = 5 + name.count();
    let name = line.get(..end)?;
    let close = line.get(end..)?.iter().take_while(|b| **b == b'-').count();
    (memchr::memmem::find(name, b"PRIVATE KEY").is_some() && close >= 4).then_some(end + close)
}

/// Hides the body after `-----BEGIN … PRIVATE KEY-----`.
pub(super) fn begin(text: &[u8], at: usize, spans: &mut Spans) {
    let Some(n) = marker(text, at) else { return };
    let start = at + n;
    let rest = text.get(start..).unwrap_or_default();
    let rest = rest.get(..MAX_BODY).unwrap_or(rest);
    let end = memchr::memmem::find(rest, b"-----END")
        .filter(|end| !is_prose(rest.get(..*end).unwrap_or_default()));
    let end = end.unwrap_or_else(|| body_len(rest));
    let body = rest.get(..end).unwrap_or_default();
    if is_key_material(body) {
        spans.add(NAME, start, start + end);
    }
}

/// Hides the lines before `-----END … PRIVATE KEY-----` when they are a key.
pub(super) fn end(text: &[u8], at: usize, spans: &mut Spans) {
    if marker(text, at).is_none() {
        return;
    }
    let floor = at.saturating_sub(MAX_BODY);
    let before = text.get(floor..at).unwrap_or_default();
    let n = before
        .iter()
        .rev()
        .take_while(|b| is_base64(**b) || is_layout(**b) || **b == b'\\')
        .count();
    let body = before.get(before.len() - n..).unwrap_or_default();
    // A word of prose just before the key is not part of it.
    let skip = body
        .split(|b| is_layout(*b))
        .take_while(|part| part.len() < 30)
        .map(|part| part.len() + 1)
        .sum::<usize>();
    let body = body.get(skip..).unwrap_or_default();
    if is_key_material(body) {
        spans.add(NAME, at - body.len(), at);
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Bytes that lay a key out: indentation, quotation, string joints.
fn is_layout(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b">|\"'`,;+#*".contains(&byte)
}

/// At least one long piece of base64 that is not a filler.
fn is_key_material(body: &[u8]) -> bool {
    let mut pieces = body.split(|b| !is_base64(*b));
    pieces.any(|piece| piece.len() >= 20 && !is_wordlike(piece) && !is_placeholder(piece))
}

/// True when the stretch between two markers holds sentences.
fn is_prose(body: &[u8]) -> bool {
    let words = body.split(u8::is_ascii_whitespace).filter(|word| {
        word.len() < 16 && is_wordlike(word) && word.iter().skip(1).all(u8::is_ascii_lowercase)
    });
    words.count() > 5
}

/// How far a key without an end marker goes: header lines, then lines of
/// base64, the last of which may be short.
fn body_len(rest: &[u8]) -> usize {
    let mut at = 0;
    let mut end = 0;
    let mut n_lines = 0;
    while at < rest.len() {
        let (line, next) = cut_line(rest, at);
        let inner: Vec<u8> = line.iter().copied().filter(|b| !is_layout(*b)).collect();
        let is_header =
            n_lines == 0 && memchr::memmem::find(line, b": ").is_some_and(|colon| colon < 30);
        let is_adjacent = at == end;
        let is_body = !inner.is_empty()
            && inner.iter().all(|b| is_base64(*b))
            && !line.trim_ascii().contains(&b' ');
        if is_body && inner.len() >= 20 {
            n_lines += 1;
            end = next;
        } else if is_body && n_lines > 0 && (is_adjacent || !is_wordlike(&inner)) {
            return next;
        } else if !inner.is_empty() && !is_header {
            break;
        }
        at = next.max(at + 1);
    }
    end
}

/// The line at `at`, which a literal `\n` ends as well, and where the next starts.
fn cut_line(rest: &[u8], at: usize) -> (&[u8], usize) {
    let tail = rest.get(at..).unwrap_or_default();
    let n = tail.iter().position(|b| *b == b'\n' || *b == b'\\').unwrap_or(tail.len());
    let skip = match tail.get(n..) {
        Some([b'\\', b'n' | b'r', ..]) => 2,
        Some([b'\\' | b'\n', ..]) => 1,
        _ => 0,
    };
    (tail.get(..n).unwrap_or_default(), at + n + skip)
}
