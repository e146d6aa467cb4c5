//! Secrets made of words or of many short codes: the phrase that restores a
//! wallet, the codes that stand in for a second factor.

use super::engine::Spans;
use super::scan::line_end;
use super::words::STOP_WORDS;

/// Twelve to twenty-five small words after `seed phrase:` and its like.
pub(super) fn seed(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let from = at + key.len();
    let limit = text.len().min(from + 28);
    let head = text.get(from..limit).unwrap_or_default();
    let Some(n) = head.iter().position(|b| b":=\n".contains(b)) else { return };
    let window = text.get(from + n + 1..text.len().min(from + n + 400)).unwrap_or_default();
    let mut first = None;
    let mut last = 0;
    let mut count = 0;
    let mut at = 0;
    let mut has_numbers = false;
    for part in window.split(|b| b" \t\r\n\"'`,>".contains(b)) {
        let is_number = !part.is_empty()
            && part.len() <= 3
            && part.iter().all(|b| b.is_ascii_digit() || b".)".contains(b));
        has_numbers |= is_number;
        let n_chars = part.iter().filter(|b| **b & 0xC0 != 0x80).count();
        let is_word =
            (3..=9).contains(&n_chars) && part.iter().all(|b| b.is_ascii_lowercase() || *b >= 0x80);
        if is_word && !STOP_WORDS.iter().any(|word| word.as_bytes() == part) {
            first.get_or_insert(at);
            last = at + part.len();
            count += 1;
        } else if !part.is_empty() && !is_number && part != b"-" && part != b"|" {
            break;
        }
        at += part.len() + 1;
        if count == 25 {
            break;
        }
    }
    // A word list after a heading is no phrase: its words stand one a line,
    // without numbers.
    let is_column = head[n] == b'\n' && !has_numbers && !has_full_line(window);
    if let (Some(first), 12..=25, false) = (first, count, is_column) {
        let base = from + n + 1;
        spans.add("seed-phrase", base + first, base + last);
    }
}

fn has_full_line(window: &[u8]) -> bool {
    let lines = window.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    lines.take(4).any(|line| line.split(u8::is_ascii_whitespace).count() >= 4)
}

/// The codes in the lines after `recovery codes:` and its like, or after the
/// colon on the same line.
pub(super) fn codes(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let mut from = at + key.len();
    let end = line_end(text, from, 400);
    let head = text.get(from..end.min(from + 40)).unwrap_or_default();
    let Some(n) = head.iter().position(|b| *b == b':').or((end - from < 40).then_some(end - from))
    else {
        return;
    };
    from += n + 1;
    let mut found = Vec::new();
    let mut at = from;
    for _ in 0..24 {
        let end = line_end(text, at, 400);
        let line = text.get(at..end).unwrap_or_default();
        let n_found = found.len();
        let is_list = line.len() < 200 && read_codes(line, at, &mut found);
        let is_layout = line.iter().all(|b| !b.is_ascii_alphanumeric());
        let is_first = n_found == 0 && found.is_empty() && line.starts_with(b"```");
        if !is_list || (found.len() == n_found && !is_layout && !is_first) {
            found.truncate(n_found);
            break;
        }
        if end >= text.len() {
            break;
        }
        at = end + 1;
    }
    if are_codes(text, &found) {
        for (start, end) in join_halves(text, found) {
            spans.add("recovery-codes", start, end);
        }
    }
}

/// Joins two halves of digits with one space between: `1234 5678`.
fn join_halves(text: &[u8], found: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (start, end) in found {
        let is_number = |span: (usize, usize)| {
            text.get(span.0..span.1)
                .is_some_and(|part| part.len() == 4 && part.iter().all(u8::is_ascii_digit))
        };
        match joined.last_mut() {
            Some(last)
                if last.1 + 1 == start
                    && text[last.1] == b' '
                    && is_number(*last)
                    && is_number((start, end)) =>
            {
                last.1 = end;
            }
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// Reads a line of codes; false when something else stands on it.
fn read_codes(line: &[u8], base: usize, found: &mut Vec<(usize, usize)>) -> bool {
    let mut at = base;
    for part in line.split(|b| b" \t\r,|`>*[]".contains(b)) {
        let start = at;
        at += part.len() + 1;
        let is_number =
            part.len() <= 3 && part.iter().all(|b| b.is_ascii_digit() || b".)-".contains(b));
        if part.is_empty()
            || is_number
            || part == b"x"
            || part.iter().all(|b| !b.is_ascii_alphanumeric())
        {
            continue;
        }
        if !is_code(part) {
            return false;
        }
        found.push((start, start + part.len()));
    }
    true
}

/// Four to twenty-four letters and digits, in groups.
fn is_code(part: &[u8]) -> bool {
    (4..=24).contains(&part.len())
        && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        && part.split(|b| *b == b'-').all(|group| (3..=12).contains(&group.len()))
}

/// Codes have one shape and, most of them, digits; words have neither.
fn are_codes(text: &[u8], found: &[(usize, usize)]) -> bool {
    let part = |span: &(usize, usize)| text.get(span.0..span.1).unwrap_or_default();
    let shape = |part: &[u8]| (part.len(), part.iter().position(|b| *b == b'-'));
    let Some(first) = found.first().map(|span| shape(part(span))) else { return false };
    let n_digits = found.iter().filter(|span| part(span).iter().any(u8::is_ascii_digit)).count();
    found.len() >= 2
        && n_digits * 3 >= found.len() * 2
        && found.iter().all(|span| shape(part(span)) == first)
}
