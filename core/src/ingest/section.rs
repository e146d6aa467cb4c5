//! The sections of a note: where its H1, H2 and session headings stand.

use super::markdown::{Kind, Line};
use crate::text;

/// A section: a heading and what stands below it up to the next.
#[derive(Debug)]
pub(super) struct Section {
    /// Headings from the outermost to the section's own.
    pub(super) path: Vec<String>,
    /// Line (from 0) of the heading, or of the first line.
    pub(super) start: usize,
    /// Line after the heading.
    pub(super) content: usize,
    /// Line after the last.
    pub(super) end: usize,
    /// The heading's level; `None` for text before any heading.
    pub(super) level: Option<u8>,
    /// True for one session of a log.
    pub(super) is_session: bool,
    /// True where the heading announces links.
    pub(super) is_related: bool,
}

/// Headings (folded) of sections that hold links.
const RELATED: [&str; 24] = [
    "related",
    "related notes",
    "related links",
    "related pages",
    "related topics",
    "see also",
    "links",
    "references",
    "backlinks",
    "further reading",
    "relacionado",
    "relacionados",
    "relacionadas",
    "notas relacionadas",
    "enlaces relacionados",
    "temas relacionados",
    "vease tambien",
    "vea tambien",
    "ver tambien",
    "vease",
    "enlaces",
    "referencias",
    "vinculos",
    "retroenlaces",
];

/// The level of a session that is announced by a bold line.
const BOLD: u8 = 7;

/// Splits the lines into sections; hidden lines belong to none.
pub(super) fn sections(lines: &[Line<'_>]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut stack: Vec<(u8, String)> = Vec::new();
    let first = lines.iter().position(|line| line.kind != Kind::Front).unwrap_or(lines.len());
    let mut open = Section {
        path: Vec::new(),
        start: first,
        content: first,
        end: first,
        level: None,
        is_session: false,
        is_related: false,
    };
    for (i, line) in lines.iter().enumerate().skip(first) {
        let Some((level, heading, is_session)) = boundary(line, &open) else { continue };
        open.end = i;
        sections.push(open);
        stack.retain(|(other, _)| *other < level);
        stack.push((level, heading.to_owned()));
        let is_setext =
            matches!(&line.kind, Kind::Heading(..)) && !line.text.trim_start().starts_with('#');
        open = Section {
            path: stack.iter().map(|(_, text)| text.clone()).collect(),
            start: i,
            content: i + 1 + usize::from(is_setext),
            end: lines.len(),
            level: Some(level),
            is_session,
            is_related: is_related(heading),
        };
    }
    open.end = lines.len();
    sections.push(open);
    sections
}

/// Whether a new section starts at `line`: its level, heading, and whether it
/// is a session.
fn boundary<'a>(line: &'a Line<'_>, open: &Section) -> Option<(u8, &'a str, bool)> {
    match &line.kind {
        Kind::Heading(level, text) if !text.is_empty() => {
            let is_session = *level > 1 && is_session(text);
            let inside =
                open.is_session && open.level.is_some_and(|own| *level > own && own != BOLD);
            (is_session || (*level <= 2 && !inside)).then_some((*level, text.as_str(), is_session))
        }
        Kind::Text => {
            let text = line.text.trim();
            let inner = text.strip_prefix("**")?;
            let (inner, after) = inner.split_once("**")?;
            let is_alone = after.trim_matches([':', ' ', '.']).chars().count() <= 60;
            (is_alone && is_session(inner)).then_some((BOLD, inner.trim_end_matches(':'), true))
        }
        _ => None,
    }
}

/// `Session 12 — …`, `Sesión 7`, `Session #3`, `Session 2024-05-01`.
fn is_session(heading: &str) -> bool {
    let folded = text::fold(heading);
    let Some(rest) = folded.strip_prefix("session").or_else(|| folded.strip_prefix("sesion"))
    else {
        return false;
    };
    let is_word = rest.starts_with(|c: char| !c.is_alphanumeric());
    is_word
        && rest.split_whitespace().take(3).any(|word| word.contains(|c: char| c.is_ascii_digit()))
}

fn is_related(heading: &str) -> bool {
    let folded = text::fold(heading);
    let name = folded.trim_matches(|c: char| !c.is_alphanumeric());
    RELATED.contains(&name)
}
