//! Tables and comma-separated lists whose header names a credential: the label
//! stands once, the values below it.

use super::engine::Spans;
use super::extent::Extent;
use super::gate;
use super::join::Join;
use super::label::{Label, name_of};
use super::scan::{byte, line_end, line_start};

/// Rows read below a header.
const MAX_ROWS: usize = 500;
const MAX_COLUMN: usize = 24;
const MAX_LINE: usize = 2_000;

/// Hides the cells below a label that begins at `at` in a header.
pub(super) fn detect(text: &[u8], at: usize, label: &Label, spans: &mut Spans) {
    let start = line_start(text, at, MAX_LINE);
    let end = line_end(text, at, MAX_LINE);
    let header = text.get(start..end).unwrap_or_default();
    let is_inside = spans.table.contains(&start) && spans.table.start != start;
    if is_inside || end - start >= MAX_LINE || byte(text, end) != b'\n' {
        return;
    }
    let Some((mark, rows)) = table(text, header, end).or_else(|| list(text, header, end)) else {
        return;
    };
    let column = header.iter().take(at - start).filter(|b| **b == mark).count();
    if column > MAX_COLUMN {
        return;
    }
    let label = Label { join: Join::Cell, n_words: 0, is_config: true, ..*label };
    let n_marks = header.iter().filter(|b| **b == mark).count();
    let mut from = rows;
    for _ in 0..MAX_ROWS {
        let end = line_end(text, from, MAX_LINE);
        let line = text.get(from..end).unwrap_or_default();
        if line.iter().filter(|b| **b == mark).count() < n_marks {
            break;
        }
        if let Some(extent) = cell(line, from, mark, column)
            && gate::accepts(&label, text, extent)
        {
            spans.add(name_of(&label), extent.start, extent.end);
        }
        from = end + 1;
    }
    spans.table = start..from;
}

/// A header with bars and a line of dashes below it; where the rows begin.
fn table(text: &[u8], header: &[u8], end: usize) -> Option<(u8, usize)> {
    let rule_end = line_end(text, end + 1, MAX_LINE);
    let rule = text.get(end + 1..rule_end)?;
    let is_rule =
        rule.len() >= 3 && rule.iter().all(|b| b"|-: \t\r>+".contains(b)) && rule.contains(&b'-');
    (header.contains(&b'|') && is_rule).then_some((b'|', rule_end + 1))
}

/// A header of nothing but names between commas, semicolons or tabs, and a line
/// below it with as many.
fn list(text: &[u8], header: &[u8], end: usize) -> Option<(u8, usize)> {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-. \"\r".contains(b) || *b >= 0x80;
    let count = |line: &[u8], mark: u8| line.iter().filter(|b| **b == mark).count();
    let next = text.get(end + 1..line_end(text, end + 1, MAX_LINE))?;
    let mark = *b",;\t".iter().find(|mark| header.contains(mark))?;
    let is_header = header.iter().all(|b| *b == mark || is_name(b));
    let has_words = header
        .split(|b| *b == mark)
        .all(|name| name.len() < 40 && name.split(|b| *b == b' ').count() < 4);
    (is_header && has_words && count(next, mark) == count(header, mark)).then_some((mark, end + 1))
}

/// The cell of `column`, without the quotation and emphasis around it.
fn cell(line: &[u8], from: usize, mark: u8, column: usize) -> Option<Extent> {
    let mut start = from;
    for (idx, part) in line.split(|b| *b == mark).enumerate() {
        if idx == column {
            let is_wrap = |b: &u8| b.is_ascii_whitespace() || b"`\"'".contains(b);
            let left = part.iter().take_while(|b| is_wrap(b) || **b == b'*').count();
            let right = part.iter().rev().take_while(|b| is_wrap(b)).count();
            let (start, end) = (start + left, start + part.len().saturating_sub(right));
            return (start < end).then_some(Extent { start, end, is_quoted: true });
        }
        start += part.len() + 1;
    }
    None
}
