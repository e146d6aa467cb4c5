//! Small edits to a note that leave every other byte as it is, and that can be
//! taken back. Pure.

use std::ops::Range;

/// One replacement, by byte offset in the text before any edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where the old text starts.
    pub at: usize,
    /// What stood there.
    pub old: String,
    /// What stands there now.
    pub new: String,
}

impl Edit {
    pub(crate) fn new(text: &str, range: Range<usize>, new: impl Into<String>) -> Self {
        let old = crate::text::slice(text, range.start, range.end).to_owned();
        Self { at: range.start, old, new: new.into() }
    }
}

/// Applies `edits`, which are in order and do not overlap. `None` when one does
/// not find its old text.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for edit in edits {
        let end = edit.at + edit.old.len();
        if edit.at < done || text.get(edit.at..end) != Some(edit.old.as_str()) {
            return None;
        }
        out.push_str(text.get(done..edit.at)?);
        out.push_str(&edit.new);
        done = end;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}

/// Takes `edits` back. Where the text was changed since, each edit is taken
/// back that still finds its new text exactly once; the number of those that
/// did not is returned beside the text.
pub fn take_back(text: &str, edits: &[Edit]) -> (String, usize) {
    let mut reverse = Vec::with_capacity(edits.len());
    let mut shift: isize = 0;
    for edit in edits {
        let at = edit.at.checked_add_signed(shift).unwrap_or(edit.at);
        reverse.push(Edit { at, old: edit.new.clone(), new: edit.old.clone() });
        shift += edit.new.len() as isize - edit.old.len() as isize;
    }
    if let Some(text) = apply(text, &reverse) {
        return (text, 0);
    }
    let mut text = text.to_owned();
    let mut n_lost = 0;
    for edit in edits {
        if !edit.new.is_empty() && text.matches(&edit.new).count() == 1 {
            text = text.replacen(&edit.new, &edit.old, 1);
        } else {
            n_lost += 1;
        }
    }
    (text, n_lost)
}

/// Returns the edits that set `properties` in the frontmatter of `note`; none
/// for a note without a closed block. A property whose value goes over several
/// lines is left alone.
pub fn set_properties(note: &str, properties: &[(&str, String)]) -> Vec<Edit> {
    let Some(block) = block(note) else { return Vec::new() };
    let mut edits = Vec::new();
    let mut added = String::new();
    for (key, value) in properties {
        let found = block.lines.iter().enumerate().find(|(_, line)| {
            let text = crate::text::slice(note, line.start, line.end);
            text.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
        });
        let Some((idx, line)) = found else {
            added.push_str(&format!("{key}: {value}{}", block.end_of_line));
            continue;
        };
        let next = block.lines.get(idx + 1);
        let next = next.map_or("", |next| crate::text::slice(note, next.start, next.end));
        let text = crate::text::slice(note, line.start, line.end);
        let is_open = next.starts_with([' ', '\t', '-']) || text.trim_end().ends_with(['|', '>']);
        let new = format!("{key}: {value}");
        if !is_open && text != new {
            edits.push(Edit::new(note, line.clone(), new));
        }
    }
    if !added.is_empty() {
        edits.push(Edit::new(note, block.close..block.close, added));
    }
    edits.sort_by_key(|edit| edit.at);
    edits
}

/// Where the text of `note` starts, behind its frontmatter.
pub fn body_start(note: &str) -> usize {
    block(note).map_or(0, |block| block.body)
}

struct Block {
    /// The lines between the rules, without their ends.
    lines: Vec<Range<usize>>,
    end_of_line: &'static str,
    /// Where the closing rule starts.
    close: usize,
    /// Where the text behind it starts.
    body: usize,
}

fn block(note: &str) -> Option<Block> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut end_of_line = "\n";
    for (idx, raw) in note.split_inclusive('\n').enumerate().take(2_000) {
        let line = raw.trim_end_matches(['\n', '\r']);
        let text = line.trim_start_matches('\u{feff}').trim_end();
        if idx == 0 {
            if text != "---" {
                return None;
            }
            end_of_line = if raw.ends_with("\r\n") { "\r\n" } else { "\n" };
        } else if matches!(text, "---" | "...") {
            // A banner between two rules is prose.
            let has_key = lines.is_empty()
                || lines.iter().any(|line: &Range<usize>| {
                    crate::text::slice(note, line.start, line.end).contains(':')
                });
            let body = at + raw.len();
            return has_key.then_some(Block { lines, end_of_line, close: at, body });
        } else {
            lines.push(at..at + line.len());
        }
        at += raw.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "---\ntitle: T\nstatus: inbox\ndomain:\ntags:\n  - a\n---\n\nbody: x\n";

    #[test]
    fn properties_are_set_and_taken_back() {
        let properties = [
            ("status", "kept".to_owned()),
            ("domain", "web".to_owned()),
            ("score", "0.6".to_owned()),
        ];
        let edits = set_properties(NOTE, &properties);
        let edited = apply(NOTE, &edits).unwrap();
        assert_eq!(
            edited,
            "---\ntitle: T\nstatus: kept\ndomain: web\ntags:\n  - a\nscore: 0.6\n---\n\nbody: x\n"
        );
        assert_eq!(take_back(&edited, &edits), (NOTE.to_owned(), 0));
        let changed = edited.replace("body: x", "body: y and more");
        assert_eq!(take_back(&changed, &edits), (NOTE.replace("body: x", "body: y and more"), 0));
    }

    #[test]
    fn what_is_not_plain_stays() {
        assert!(set_properties("no block\n", &[("status", "x".into())]).is_empty());
        assert!(set_properties("---\nnever closed: 1\n", &[("status", "x".into())]).is_empty());
        assert!(set_properties("---\n**BANNER**\n---\n", &[("status", "x".into())]).is_empty());
        let list = "---\nstatus:\n  - a\n---\n";
        assert!(set_properties(list, &[("status", "x".into())]).is_empty());
        let crlf = "---\r\ntitle: T\r\n---\r\n";
        let edits = set_properties(crlf, &[("status", "x".into())]);
        assert_eq!(apply(crlf, &edits).unwrap(), "---\r\ntitle: T\r\nstatus: x\r\n---\r\n");
    }

    #[test]
    fn an_edit_that_does_not_fit_is_refused() {
        let edit = Edit { at: 1, old: "x".into(), new: "y".into() };
        assert_eq!(apply("ab", &[edit]), None);
    }
}
