//! Finds the targets of links in a note by byte range, so that a link can be
//! rewritten without touching anything around it. Code is passed over. Pure.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use crate::text;

/// The target of a link as it stands in a note, without `#…` and alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Where it stands.
    pub(crate) range: Range<usize>,
    /// What it says, percent-decoded in a markdown link.
    pub(crate) text: String,
    /// True in `[[…]]`.
    pub(crate) is_wiki: bool,
    /// True in `[…](<…>)`, where blanks stand as they are.
    pub(crate) is_angled: bool,
}

/// Returns the link targets of `note`, in order. Targets outside the vault and
/// links to a heading of the note itself are left out.
pub(crate) fn targets(note: &str) -> Vec<Target> {
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut start = 0;
    for line in note.split_inclusive('\n') {
        let is_code = in_fence(line.trim_start_matches(['>', ' ', '\t']), &mut fence);
        if !is_code && line.contains('[') {
            in_line(line, start, &mut found);
        }
        start += line.len();
    }
    found
}

/// Tells whether `line` opens, closes or lies in a fenced block.
fn in_fence(line: &str, fence: &mut Option<(char, usize)>) -> bool {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    let run = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
    match (*fence, mark) {
        (Some((open, length)), mark) => {
            let rest = line.trim_start_matches(open).trim();
            if mark == Some(open) && run >= length && rest.is_empty() {
                *fence = None;
            }
            true
        }
        (None, Some(mark)) if run >= 3 => {
            *fence = Some((mark, run));
            true
        }
        _ => false,
    }
}

fn in_line(line: &str, start: usize, found: &mut Vec<Target>) {
    let spans = code_spans(line);
    let is_code = |at: usize| spans.iter().any(|span| span.contains(&at));
    let mut at = 0;
    while let Some(open) = text::slice(line, at, line.len()).find('[').map(|found| at + found) {
        at = open + 1;
        if is_code(open) || text::prefix(line, open).ends_with('\\') {
            continue;
        }
        let rest = text::slice(line, open, line.len());
        if let Some(inner) = rest.strip_prefix("[[")
            && let Some((inner, _)) = inner.split_once("]]")
        {
            // `[[a [[b]]` links to b.
            let from = inner.rfind("[[").map_or(0, |at| at + 2);
            let inner = text::slice(inner, from, inner.len());
            at = open + 2 + from + inner.len() + 2;
            found.extend(wiki(inner, start + open + 2 + from));
        } else if let Some(destination) = destination(line, open) {
            found.extend(markdown(line, destination, start));
        }
    }
}

fn wiki(inner: &str, start: usize) -> Option<Target> {
    let end = inner.find(['|', '#']).unwrap_or(inner.len());
    let raw = text::prefix(inner, end).trim_end_matches('\\');
    let start = start + raw.len() - raw.trim_start().len();
    let text = raw.trim().to_owned();
    let range = start..start + text.len();
    (!text.is_empty()).then_some(Target { range, text, is_wiki: true, is_angled: false })
}

/// Where the destination of `[text](destination)` or `[ref]: destination`
/// stands in `line`, and whether it is in angle brackets.
fn destination(line: &str, open: usize) -> Option<(Range<usize>, bool)> {
    let close = closing(line, open)?;
    let after = text::slice(line, close + 1, line.len());
    let inner = if let Some(inner) = after.strip_prefix('(') {
        inner.trim_start()
    } else {
        let is_first = text::prefix(line, open).trim().is_empty();
        after.strip_prefix(':').filter(|_| is_first)?.trim_start()
    };
    let start = line.len() - inner.len();
    if let Some(angled) = inner.strip_prefix('<') {
        return Some((start + 1..start + 1 + angled.find('>')?, true));
    }
    let mut depth = 0_usize;
    let end = inner.char_indices().find(|(_, c)| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        c => *c == ')' || c.is_whitespace(),
    });
    Some((start..start + end.map_or(inner.len(), |(end, _)| end), false))
}

fn markdown(line: &str, found: (Range<usize>, bool), start: usize) -> Option<Target> {
    let (range, is_angled) = found;
    let whole = text::slice(line, range.start, range.end);
    let has_scheme = whole.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let raw = text::prefix(whole, whole.find(['#', '?']).unwrap_or(whole.len()));
    if raw.is_empty() || has_scheme || whole.starts_with("//") {
        return None;
    }
    let range = start + range.start..start + range.start + raw.len();
    Some(Target { range, text: decoded(raw), is_wiki: false, is_angled })
}

/// The position of the bracket that closes the one at `open`.
fn closing(line: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, c) in text::slice(line, open, line.len()).char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The code spans of a line: between two runs of as many backticks.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '`' {
            let mut length = 1;
            while chars.next_if(|(_, c)| *c == '`').is_some() {
                length += 1;
            }
            runs.push((at, length));
        }
    }
    let mut spans = Vec::new();
    let mut rest = runs.as_slice();
    while let Some(((at, length), after)) = rest.split_first() {
        rest = after;
        if let Some(close) = after.iter().position(|(_, other)| other == length) {
            let end = after.get(close).map_or(*at, |(end, _)| end + length);
            spans.push(*at..end);
            rest = after.get(close + 1..).unwrap_or(&[]);
        }
    }
    spans
}

/// Decodes `%20` and `\(`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = (*byte == b'%').then(|| after.get(..2)).flatten();
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let value = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let is_escape = *byte == b'\\' && after.first().is_some_and(u8::is_ascii_punctuation);
        if !is_escape {
            bytes.push(value.unwrap_or(*byte));
        }
        rest = if value.is_some() { after.get(2..).unwrap_or(&[]) } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Encodes a path for a markdown link outside angle brackets.
pub(crate) fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '%' | '(' | ')' | '<' | '>' | '#' | '?' | '"' | '\\' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// The way from a file in `folder` to `path`, both relative to the vault.
pub(crate) fn relative_path(folder: &str, path: &str) -> String {
    let parts = |text: &str| -> Vec<String> {
        text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (from, to) = (parts(folder), parts(path));
    let n_common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - n_common);
    up.chain(to.into_iter().skip(n_common)).collect::<Vec<_>>().join("/")
}

/// Resolves `.` and `..` by name; `None` above where `path` starts.
pub(crate) fn normal(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !out.pop() => return None,
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_where_they_stand() {
        let note = "---\nup: \"[[P|x]]\"\n---\n[[A]] ![[b/C.png|100]] [[D#H|x]] | [[E\\|y]] |\n\
                    [t](My%20Note.md#h) [u](<a b.md> 't') ![i](../x(1).png) [w](https://x.y)\n\
                    `[[code]]` \\[[no]] [[a [[F]] [[#own]]\n```\n[[fence]]\n```\n[r]: G.md\n";
        let texts: Vec<String> = targets(note).iter().map(|target| target.text.clone()).collect();
        let expected =
            ["P", "A", "b/C.png", "D", "E", "My Note.md", "a b.md", "../x(1).png", "F", "G.md"];
        assert_eq!(texts, expected);
        for target in targets(note) {
            let raw = text::slice(note, target.range.start, target.range.end);
            assert_eq!(decoded(raw), target.text);
        }
    }

    #[test]
    fn relative_paths() {
        let check = |folder: &str, path: &str, expected: &str| {
            assert_eq!(relative_path(folder, path), expected);
        };
        check("", "a/b.md", "a/b.md");
        check("a", "a/b.md", "b.md");
        check("a/c", "a/b.md", "../b.md");
        check("x/y", "a/b.md", "../../a/b.md");
        assert_eq!(decoded(&encoded("a b (1)#%.md")), "a b (1)#%.md");
    }
}
