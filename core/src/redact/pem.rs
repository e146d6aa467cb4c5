//! Private keys in armour: whole, on one line with `\n`, quoted, cut off at
//! either end. The markers stay, what is between them goes; two mentions of
//! markers in prose do not swallow the prose.

use super::engine::Spans;
use super::random::is_wordlike;
use super::scan::{line_end, run_end, skip};
use super::value::is_placeholder;

const NAME: &str = "private-key";
/// A 16,384-bit RSA key in PEM is 13 KB.
const MAX_BODY: usize = 32 * 1024;

/// True when the marker names a private key; the marker's length.
fn marker(text: &[u8], at: usize) -> Option<usize> {
    let open = run_end(text, at, 5, |b| b == b'-');
    let end = run_end(text, open, 80, |b| b" ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".contains(&b));
    let close = run_end(text, end, 5, |b| b == b'-');
    let is_key = memchr::memmem::find(text.get(open..end)?, b"PRIVATE KEY").is_some();
    (is_key && open - at >= 4 && close - end >= 4).then_some(close - at)
}

/// Hides the body after `-----BEGIN … PRIVATE KEY-----`.
pub(super) fn begin(text: &[u8], at: usize, spans: &mut Spans) {
    let Some(n) = marker(text, at) else { return };
    let start = at + n;
    let rest = text.get(start..).unwrap_or_default();
    let rest = rest.get(..MAX_BODY).unwrap_or(rest);
    // The next marker ends the search, so that many openings in a row are each
    // read once.
    let end = memchr::memmem::find(rest, b"----").filter(|end| {
        let mark = rest.get(*end..).unwrap_or_default();
        let is_end = mark.starts_with(b"-----END") || mark.starts_with(b"---- END");
        is_end && !is_prose(rest.get(..*end).unwrap_or_default())
    });
    let end = end.unwrap_or_else(|| body_len(rest));
    let body = rest.get(..end).unwrap_or_default();
    if is_key_material(body) {
        spans.add(NAME, start, start + end);
    }
}

/// Hides the lines after `Private-Lines: N` in a PuTTY key file.
pub(super) fn putty(text: &[u8], at: usize, spans: &mut Spans) {
    let start = line_end(text, at, 40);
    let rest = text.get(start..).unwrap_or_default();
    let end = body_len(rest.get(..MAX_BODY).unwrap_or(rest));
    if is_key_material(rest.get(..end).unwrap_or_default()) {
        spans.add(NAME, start, start + end);
    }
}

/// Hides the private member of a JSON web key, whose `key` is `"d":` or `"k":`.
pub(super) fn jwk(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let near = text.get(at.saturating_sub(1500)..text.len().min(at + 1500)).unwrap_or_default();
    let start = skip(text, at + key.len(), b" \n\"", 4);
    let end = run_end(text, start, 2048, |b| is_base64(b) || b == b'-' || b == b'_');
    let value = text.get(start..end).unwrap_or_default();
    if value.len() >= 20
        && !is_placeholder(value)
        && memchr::memmem::find(near, b"\"kty\"").is_some()
    {
        spans.add(NAME, start, end);
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
        .split(u8::is_ascii_whitespace)
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
