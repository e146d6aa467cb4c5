//! Reports of compilers and linters, as text: where the lines of an output
//! are mostly findings, and too many to be shown, they are listed by what they
//! say with all their places.

use super::findings::{Finding, list};
use super::place::{Frame, place};
use super::rank::{NOISE, Seen};
use super::select::Limits;
use super::signal::Severity;

/// Fewer findings are shown as they stand, with the code they quote.
const MIN_FINDINGS: usize = 8;
/// Lines below a finding that may belong to it.
const MAX_BLOCK: usize = 24;

/// A finding and the lines it was read from.
struct Found<'a> {
    finding: Finding<'a>,
    /// First and last line with a part of it.
    from: usize,
    to: usize,
}

/// Takes the findings out of a long report: their lines become noise, the
/// list of them is returned. `None` where the output is no such report.
pub(super) fn fold(seen: &Seen<'_>, ranks: &mut [u8], limits: Limits) -> Option<Vec<u8>> {
    let marks = [b": line ".as_slice(), b":["].map(memchr::memmem::Finder::new);
    let placed = |idx: &usize| {
        let line = seen.lines.get(*idx);
        seen.signal(*idx).place
            || row(line.trim_ascii()).is_some()
            || marks.iter().any(|mark| mark.find(line).is_some())
    };
    if (0..seen.lines.len()).filter(placed).take(MIN_FINDINGS).count() < MIN_FINDINGS {
        return None;
    }
    let found = findings(seen);
    if found.len() < MIN_FINDINGS {
        return None;
    }
    let blocks = blocks(seen, &found);
    let n = seen.signals.iter().filter(|signal| !signal.blank).count();
    let solid =
        |(from, to): &(usize, usize)| (*from..=*to).filter(|&idx| !seen.signal(idx).blank).count();
    let explained: usize = blocks.iter().map(solid).sum();
    let heads: usize = found
        .iter()
        .flat_map(|found| found.from..=found.to)
        .map(|idx| seen.lines.get(idx).len() + 1)
        .sum();
    // In a test run a place belongs to the test whose name stands elsewhere.
    let tests = (0..seen.lines.len()).filter(|&idx| is_failed_test(seen, idx)).count();
    if explained * 2 < n || heads * 2 < limits.soft || tests * 4 > found.len() {
        return None;
    }
    for (from, to) in blocks {
        for idx in from..=to {
            if let Some(rank) = ranks.get_mut(idx) {
                *rank = NOISE;
            }
        }
    }
    let max_bytes = if seen.failed { 4400 } else { limits.soft + limits.soft / 2 };
    let findings: Vec<Finding<'_>> = found.into_iter().map(|found| found.finding).collect();
    let mut out = list(&findings, max_bytes.min(limits.hard));
    out.insert(0, b'[');
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    out.extend_from_slice(b"]\n");
    Some(out)
}

/// Whether a line begins with a place in a file and says something about it.
pub(super) fn is_finding(line: &[u8]) -> bool {
    head(line.trim_ascii()).is_some_and(|(_, _, message)| !message.is_empty())
}

/// Whether a line names a test that failed.
fn is_failed_test(seen: &Seen<'_>, idx: usize) -> bool {
    const MARKS: [&[u8]; 6] = [
        b"--- FAIL",
        b"not ok ",
        b"FAILED ",
        "\u{25cf} ".as_bytes(), // ●
        "\u{2715} ".as_bytes(), // ✕
        b"FAIL: ",
    ];
    let text = seen.lines.get(idx).trim_ascii_start();
    let first = text.first().copied().unwrap_or(b' ');
    matches!(first, b'-' | b'n' | b'F' | 0xe2)
        && !seen.signal(idx).place
        && MARKS.iter().any(|mark| text.starts_with(mark))
}

/// The lines of each finding, down to the next one or to a line that is none
/// of its own: unindented text after a blank line or after quoted code.
fn blocks(seen: &Seen<'_>, found: &[Found<'_>]) -> Vec<(usize, usize)> {
    let n = seen.lines.len();
    let mut blocks = Vec::with_capacity(found.len());
    for (nth, own) in found.iter().enumerate() {
        let next = found.get(nth + 1).map_or(n, |next| next.from);
        let mut to = own.to;
        for idx in own.to + 1..next.min(own.to + 1 + MAX_BLOCK) {
            let signal = seen.signal(idx);
            let line = seen.lines.get(idx);
            let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
            let quoted = signal.quote
                || signal.ruler
                || digits > 0 && matches!(line.get(digits), Some(b' ' | b'\t' | b'|'));
            let ends = signal.indent == 0 && !quoted || signal.tally && !signal.quote;
            if !signal.blank && ends {
                break;
            }
            if !signal.blank {
                to = idx;
            }
        }
        blocks.push((own.from, to));
    }
    blocks
}

fn findings<'a>(seen: &Seen<'a>) -> Vec<Found<'a>> {
    let mut found: Vec<Found<'a>> = Vec::new();
    let mut heading: &[u8] = b"";
    for idx in 0..seen.lines.len() {
        let line = seen.lines.get(idx);
        let signal = seen.signal(idx);
        // A message that was broken into lines is read already.
        let is_read = found.last().is_some_and(|last| idx <= last.to);
        if is_read || signal.blank || signal.ruler || signal.quote || signal.frame != Frame::None {
            continue;
        }
        let text = line.trim_ascii();
        if let Some(spot) = arrow(text) {
            let first = found.last().map_or(0, |last| last.to + 1);
            let from = block_head(seen, idx, first);
            if from < idx {
                let message = seen.lines.get(from).trim_ascii().to_vec();
                found.push(spot.found(message, seen.signal(from).severity, from, idx));
            }
            continue;
        }
        if let Some((spot, before, message)) = head(text) {
            let mut said = before.to_vec();
            push_words(message, &mut said);
            let to = if said.is_empty() {
                below(seen, idx, &mut said)
            } else {
                wrapped(seen, idx, &mut said)
            };
            if !said.is_empty() {
                found.push(spot.found(said, signal.severity, idx, to));
            }
            continue;
        }
        if let Some((line_no, column, message)) = row(text)
            && !heading.is_empty()
        {
            let spot = Spot { file: heading, line: line_no, column };
            let mut said = Vec::new();
            push_words(message, &mut said);
            found.push(spot.found(said, signal.severity, idx, idx));
            continue;
        }
        if let Some(last) = found.last_mut().filter(|last| idx - last.to <= 6 && is_detail(text)) {
            last.finding.message.extend_from_slice(b"; ");
            push_words(text, &mut last.finding.message);
            last.to = idx;
        } else if signal.indent == 0 {
            heading = file_name(text).unwrap_or(heading);
        }
    }
    found
}

/// A place in a file.
#[derive(Clone, Copy)]
struct Spot<'a> {
    file: &'a [u8],
    line: &'a [u8],
    column: &'a [u8],
}

impl<'a> Spot<'a> {
    fn found(self, message: Vec<u8>, severity: Severity, from: usize, to: usize) -> Found<'a> {
        let Self { file, line, column } = self;
        Found { finding: Finding { file, line, column, message, severity }, from, to }
    }
}

/// Reads `path:12:5: message`, `path(12,5): message`, `path:[12,5] message`
/// and `path: line 12, col 5, message`: the place, the level before it, the
/// message.
fn head(text: &[u8]) -> Option<(Spot<'_>, &[u8], &[u8])> {
    let level = level(text);
    let (before, text) = text.split_at_checked(level)?;
    let (path_end, line_at) = match place(text) {
        Some((0, end)) => {
            let digits = text.get(..end)?.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            (end - digits - 1, end - digits)
        }
        Some(_) => return None,
        None => {
            let marks: [&[u8]; 2] = [b":[", b": line "];
            let (at, mark) =
                marks.iter().find_map(|m| Some((memchr::memmem::find(text, m)?, m.len())))?;
            (at, at + mark)
        }
    };
    let path = text.get(..path_end)?;
    let (line, rest) = digits(text.get(line_at..)?)?;
    if path.is_empty() || path.contains(&b' ') || memchr::memmem::find(path, b"://").is_some() {
        return None;
    }
    let separators: [&[u8]; 3] = [b":", b",", b", col "];
    let column = separators.iter().rev().find_map(|mark| digits(rest.strip_prefix(*mark)?));
    let (column, rest) = column.unwrap_or((b"", rest));
    // A span, `12:5-14:9` or `12-14`.
    let span = rest.strip_prefix(b"-").map_or(0, |span| {
        1 + span.iter().take_while(|b| b.is_ascii_digit() || **b == b':').count()
    });
    let rest = rest.get(span..)?;
    let starts = rest.iter().take_while(|b| b" \t:),]-".contains(b)).count();
    let glued = starts == 0 && !rest.is_empty();
    let message = rest.get(starts..)?;
    (!glued).then_some((Spot { file: path, line, column }, before, message))
}

/// The length of a level before a path: `[ERROR] `, `error: `, `w: `.
fn level(text: &[u8]) -> usize {
    let end = if text.first() == Some(&b'[') {
        memchr::memchr(b']', text).map_or(0, |at| at + 1)
    } else {
        text.iter().take_while(|b| b.is_ascii_alphabetic()).count()
    };
    let word = text.get(..end).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let stated = word.first() == Some(&b'[') || after.first() == Some(&b':');
    let gap = after.iter().take_while(|b| b": ".contains(b)).count();
    if (1..=11).contains(&word.len()) && stated && gap > 0 && after.get(gap - 1) == Some(&b' ') {
        end + gap
    } else {
        0
    }
}

fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (1..=7).contains(&n).then(|| text.split_at(n))
}

/// `--> path:12:5` and the like, below what is the matter.
fn arrow(text: &[u8]) -> Option<Spot<'_>> {
    const MARKS: [&[u8]; 8] = [
        b"--> ",
        b"Location: ",
        b"on ",
        b",-[",
        "╭─[".as_bytes(),
        "┌─[".as_bytes(),
        "┌─ ".as_bytes(),
        "└─ ".as_bytes(),
    ];
    let rest = MARKS.iter().find_map(|mark| text.strip_prefix(*mark))?.trim_ascii_start();
    let (spot, before, _) = head(rest.strip_suffix(b"]").unwrap_or(rest))?;
    before.is_empty().then_some(spot)
}

/// The first line of the paragraph that line `idx` closes.
fn block_head(seen: &Seen<'_>, idx: usize, first: usize) -> usize {
    let mut from = idx;
    while from > first && idx - from < 5 {
        let signal = seen.signal(from - 1);
        if signal.blank || signal.ruler || signal.quote {
            break;
        }
        from -= 1;
        if signal.severity >= Severity::Warning {
            break;
        }
    }
    from
}

/// `12:5  error  message`, `L: 12 | P: 5 | message`, `12 | ERROR | message`.
fn row(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    if let Some(rest) = text.strip_prefix(b"L:") {
        let (line, rest) = digits(rest.trim_ascii_start())?;
        let rest = rest.trim_ascii_start().strip_prefix(b"| P:")?.trim_ascii_start();
        let (column, rest) = digits(rest)?;
        return Some((line, column, rest.trim_ascii_start().strip_prefix(b"|")?.trim_ascii()));
    }
    let (line, rest) = digits(text)?;
    if let Some(rest) = rest.strip_prefix(b":") {
        let (column, rest) = digits(rest)?;
        let message = rest.trim_ascii_start();
        return (rest.len() > message.len() && !message.is_empty())
            .then_some((line, column, message));
    }
    let rest = rest.trim_ascii_start().strip_prefix(b"|")?.trim_ascii_start();
    (rest.starts_with(b"ERROR") || rest.starts_with(b"WARNING")).then_some((line, b"", rest))
}

/// A line that names a file and hardly anything else.
fn file_name(text: &[u8]) -> Option<&[u8]> {
    let words = || text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    if words().nth(3).is_some() {
        return None;
    }
    words().find_map(|word| {
        let word = word.strip_prefix(b"[").and_then(|w| w.strip_suffix(b"]")).unwrap_or(word);
        let word = word.strip_suffix(b":").unwrap_or(word);
        let name = word.rsplit(|&b| b == b'/').next().unwrap_or(word);
        let dot = name.iter().rposition(|&b| b == b'.')?;
        let ext = name.get(dot + 1..)?;
        let is_file = (1..=10).contains(&ext.len())
            && ext.first().is_some_and(u8::is_ascii_alphabetic)
            && ext.iter().all(u8::is_ascii_alphanumeric);
        (is_file && (dot > 0 || word.len() > name.len())).then_some(word)
    })
}

/// The lines that a long message goes on in, broken at the terminal's width.
fn wrapped(seen: &Seen<'_>, idx: usize, said: &mut Vec<u8>) -> usize {
    let mut to = idx;
    while to < idx + 3 && (60..=120).contains(&seen.lines.get(to).len()) {
        let (signal, next) = (seen.signal(to + 1), seen.lines.get(to + 1));
        let goes_on = signal.indent == 0 && !next.is_empty() && !signal.ruler && !signal.quote;
        if !goes_on || signal.tally || signal.place || head(next).is_some() {
            break;
        }
        push_words(next, said);
        to += 1;
    }
    to
}

/// What a message without words says in the next lines.
fn below(seen: &Seen<'_>, idx: usize, said: &mut Vec<u8>) -> usize {
    for next in idx + 1..(idx + 3).min(seen.lines.len()) {
        let signal = seen.signal(next);
        if !signal.blank && !signal.ruler {
            if signal.indent > 0 && !signal.place && !signal.quote {
                push_words(seen.lines.get(next), said);
                return next;
            }
            break;
        }
    }
    idx
}

/// What a compiler adds to its message below the code it quotes.
fn is_detail(text: &[u8]) -> bool {
    const KEYS: [&[u8]; 9] = [
        b"symbol:",
        b"location:",
        b"required:",
        b"found:",
        b"reason:",
        b"have (",
        b"want (",
        b"expected:",
        b"actual:",
    ];
    KEYS.iter().any(|key| text.starts_with(key))
}

/// Appends a text with single blanks, without rulers at its end.
fn push_words(text: &[u8], out: &mut Vec<u8>) {
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        if word.starts_with("━".as_bytes()) || word.starts_with("──".as_bytes()) {
            continue;
        }
        if !out.is_empty() && out.last() != Some(&b' ') {
            out.push(b' ');
        }
        out.extend_from_slice(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String, String, String)> {
        let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (spot, before, message) = head(text.as_bytes())?;
        let message = text_of(&[before, message].concat());
        Some((text_of(spot.file), text_of(spot.line), text_of(spot.column), message))
    }

    #[test]
    fn findings_are_read_in_the_forms_of_many_tools() {
        for (line, file, at, message) in [
            ("src/a.c:3:5: warning: unused variable", "src/a.c", "3:5", "warning: unused variable"),
            ("a.py:12: error: no attribute", "a.py", "12:", "error: no attribute"),
            ("src/a.ts(7,16): error TS2339: x", "src/a.ts", "7:16", "error TS2339: x"),
            ("src/a.ts:7:16 - error TS2339: x", "src/a.ts", "7:16", "error TS2339: x"),
            (
                "[ERROR] /p/A.java:[12,5] cannot find symbol",
                "/p/A.java",
                "12:5",
                "[ERROR] cannot find symbol",
            ),
            ("/p/a.js: line 3, col 9, Error - x (no-var)", "/p/a.js", "3:9", "Error - x (no-var)"),
            ("e: src/A.kt:4:1 unresolved reference", "src/A.kt", "4:1", "e: unresolved reference"),
            ("a.hs:4:1-20: Suggestion", "a.hs", "4:1", "Suggestion"),
        ] {
            let (line, column) = (read(line), at.split_once(':').unwrap());
            let expected = [file, column.0, column.1, message].map(str::to_owned);
            assert_eq!(line, Some(expected.into()));
        }
        for line in
            ["http://host:80/x y", "at 12:30 all is well", "see src/a.c:3 for more", "a.rs:12"]
        {
            assert!(read(line).is_none_or(|found| found.3.is_empty()), "{line}");
        }
    }

    #[test]
    fn rows_belong_to_the_file_above_them() {
        assert_eq!(
            row(b"12:5  error  x"),
            Some((b"12".as_slice(), b"5".as_slice(), b"error  x".as_slice()))
        );
        assert_eq!(
            row(b"L:   1 | P:   8 | LT01 | x"),
            Some((b"1".as_slice(), b"8".as_slice(), b"LT01 | x".as_slice()))
        );
        assert_eq!(file_name(b"== [a/b.sql] FAIL"), Some(b"a/b.sql".as_slice()));
        assert_eq!(file_name(b"Found 3 errors in src/a.ts and others."), None);
    }
}
