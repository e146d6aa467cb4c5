//! The lines of a passage that show why it was found.

use postil_core::model::Language;
use postil_core::recall::Hit;
use unicode_width::UnicodeWidthStr as _;

use crate::highlight::Highlight;
use crate::vault::Vault;

/// Rows of a passage that are shown.
const MAX_ROWS: usize = 4;

/// One row of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its text, without a line end.
    pub(crate) text: String,
    /// The line of the passage it is from, from 0.
    pub(crate) line: u32,
}

/// Returns the rows of `text` that show most of the query's terms; all of them
/// where `is_whole`.
pub(crate) fn rows(
    text: &str,
    highlight: &Highlight,
    language: Language,
    width: usize,
    is_whole: bool,
) -> Vec<Row> {
    let all = wrap(text, width, is_whole);
    if is_whole || all.len() <= MAX_ROWS {
        return all;
    }
    let terms: Vec<Vec<String>> = all
        .iter()
        .map(|row| {
            highlight.matches(&row.text, language).into_iter().map(|(_, term)| term).collect()
        })
        .collect();
    let distinct = |start: &usize| {
        let mut seen: Vec<&String> = terms[*start..*start + MAX_ROWS].iter().flatten().collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    // Of the windows that show the most, the one whose first row matches.
    let key = |start: &usize| (distinct(start), !terms[*start].is_empty());
    let starts = 0..=all.len() - MAX_ROWS;
    let best = starts.rev().max_by_key(key).unwrap_or(0);
    all[best..best + MAX_ROWS].to_vec()
}

/// Returns the line of the note that shows the query best, for an editor.
pub(crate) fn best_line(vault: &Vault, hit: &Hit, query: &str, language: Language) -> u32 {
    let highlight = Highlight::new(query, language);
    let rows = rows(&hit.chunk.text, &highlight, hit.chunk.language, 400, false);
    line_of(vault, hit, &rows, &highlight)
}

/// Returns the line of the note's file that the first matching row is from.
///
/// A chunk knows where its heading is; its text may begin below that, so the
/// line is looked up in the file. Where it is not found (the note was edited,
/// or the line holds a credential) it is the chunk's.
pub(crate) fn line_of(vault: &Vault, hit: &Hit, rows: &[Row], highlight: &Highlight) -> u32 {
    let is_lit = |row: &&Row| !highlight.matches(&row.text, hit.chunk.language).is_empty();
    let row = rows.iter().find(is_lit).or(rows.first());
    let wanted = row.and_then(|row| hit.chunk.text.lines().nth(row.line as usize));
    let Some(wanted) = wanted.map(str::trim) else { return hit.chunk.line };
    let Ok(text) = std::fs::read_to_string(vault.file(&hit.note.path)) else {
        return hit.chunk.line;
    };
    let from = hit.chunk.line.saturating_sub(1);
    let found = text.lines().skip(from as usize).position(|line| line.trim() == wanted);
    found.and_then(|at| u32::try_from(at).ok()).map_or(hit.chunk.line, |at| from + at + 1)
}

/// Breaks a text into rows at most `width` columns wide; empty lines only
/// where the whole text is shown.
fn wrap(text: &str, width: usize, keep_empty: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (line, text) in text.trim_end().lines().enumerate() {
        let line = line as u32;
        let text = text.trim_end();
        if text.width() <= width {
            if keep_empty || !text.is_empty() {
                rows.push(Row { text: text.to_owned(), line });
            }
            continue;
        }
        let mut row = String::new();
        for word in text.split_inclusive(' ') {
            if !row.is_empty() && row.width() + word.trim_end().width() > width {
                rows.push(Row { text: row.trim_end().to_owned(), line });
                row.clear();
            }
            row.push_str(word);
            while row.trim_end().width() > width {
                let (head, rest) = row.split_at(fitting(&row, width));
                let rest = rest.to_owned();
                if rest.is_empty() || head.is_empty() {
                    break;
                }
                rows.push(Row { text: head.trim_end().to_owned(), line });
                row = rest;
            }
        }
        if !row.trim().is_empty() {
            rows.push(Row { text: row.trim_end().to_owned(), line });
        }
    }
    rows
}

/// Returns how many bytes of `text` fit into `width` columns.
fn fitting(text: &str, width: usize) -> usize {
    let mut columns = 0;
    for (at, c) in text.char_indices() {
        columns += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if columns > width {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, query: &str) -> Vec<Row> {
        rows(text, &Highlight::new(query, Language::ENGLISH), Language::ENGLISH, 40, false)
    }

    #[test]
    fn the_rows_that_match_are_shown() {
        let text =
            (0..20).map(|n| format!("line {n}\n")).collect::<String>() + "the pool\nof work\n";
        let rows = shown(&text, "pool work");
        assert_eq!(rows.len(), MAX_ROWS);
        assert!(rows.iter().any(|row| row.text == "the pool" && row.line == 20), "{rows:?}");
        assert!(rows.iter().any(|row| row.text == "of work"), "{rows:?}");
    }

    #[test]
    fn long_lines_and_wide_characters_are_wrapped() {
        let text = "word ".repeat(30) + &"東京".repeat(40) + &"x".repeat(100);
        for row in wrap(&text, 40, true) {
            assert!(row.text.width() <= 40, "{row:?}");
        }
        let joined: String =
            wrap(&text, 40, true).iter().map(|row| row.text.replace(' ', "")).collect();
        assert_eq!(joined, text.replace(' ', ""));
    }

    #[test]
    fn a_text_without_matches_shows_its_beginning() {
        let rows = shown("one\n\ntwo\nthree\nfour\nfive\nsix\n", "zebra");
        assert_eq!(
            rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(),
            ["one", "two", "three", "four"]
        );
    }
}
