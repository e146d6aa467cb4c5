//! Cuts a note into the pieces that are found and shown on their own.
//!
//! One chunk per section (H1, H2, session); long sections are cut at H3, then
//! between paragraphs, then lines, then sentences. Fences stay whole while
//! that is possible. Nothing a person wrote is lost: what is too short to stand
//! alone joins its neighbour, and a note without prose is found by its title.

use super::flatten;
use super::markdown::{Kind, Line};
use super::note::BodyKind;
use super::section::{Section, sections};
use crate::model::ChunkText;
use crate::text;

/// Longest chunk in characters, sessions and fences apart: about 500 tokens.
pub(super) const MAX_CHARS: usize = 2_000;

/// Shortest chunk in characters; what is shorter joins its neighbour.
pub(super) const MIN_CHARS: usize = 30;

/// Longest fenced block in characters that is kept in one piece.
const MAX_FENCE_CHARS: usize = 4_000;

/// Longest session kept in one piece, in words; and in characters, for
/// writing without spaces.
const MAX_SESSION_WORDS: usize = 1_200;
const MAX_SESSION_CHARS: usize = 12_000;

/// Most link-free characters of a "Related" section that is still a list of
/// links and not prose under an unlucky heading.
const MAX_RELATED_PROSE: usize = 400;

/// Cuts the note whose `lines` are given; never returns an empty list.
pub(super) fn chunks(
    note: &str,
    lines: &[Line<'_>],
    body_kind: BodyKind,
    title: &str,
) -> Vec<ChunkText> {
    let lines = &readable(lines, body_kind);
    for with_related in [false, true] {
        let mut cutter = Cutter { note, lines, chunks: Vec::new(), carried: None };
        for section in sections(lines) {
            if with_related || !cutter.is_only_links(&section) {
                cutter.section(&section);
            }
        }
        cutter.finish();
        if !cutter.chunks.is_empty() {
            return cutter.chunks;
        }
    }
    vec![ChunkText { line: 1, text: title.to_owned(), ..ChunkText::default() }]
}

/// Hides what is no prose: all of a board, and of a drawing all but the words
/// in it and the writer's own text above it.
fn readable<'a>(lines: &[Line<'a>], body_kind: BodyKind) -> Vec<Line<'a>> {
    let mut lines = lines.to_vec();
    let mut is_shown = body_kind != BodyKind::Kanban;
    if body_kind == BodyKind::Prose {
        return lines;
    }
    let mut is_drawing = false;
    for line in &mut lines {
        if let Kind::Heading(_, text) = &line.kind
            && body_kind == BodyKind::Excalidraw
        {
            is_drawing |= matches!(text.as_str(), "Excalidraw Data" | "Text Elements" | "Drawing");
            is_shown = !is_drawing || text == "Text Elements";
            if is_drawing {
                line.kind = Kind::Front;
            }
        }
        let text = line.text.trim();
        let is_noise = text == "%%" || text.starts_with("==\u{26A0}") || text.starts_with('{');
        if !is_shown || is_noise || (line.kind == Kind::Fence && is_drawing) {
            line.kind = Kind::Front;
        }
    }
    lines
}

/// A piece of a section: lines `from..to`.
#[derive(Clone, Copy)]
struct Span {
    from: usize,
    to: usize,
}

struct Cutter<'a> {
    note: &'a str,
    lines: &'a [Line<'a>],
    chunks: Vec<ChunkText>,
    /// Text too short to stand alone that has no chunk before it.
    carried: Option<ChunkText>,
}

impl Cutter<'_> {
    fn section(&mut self, section: &Section) {
        let span = self.trimmed(Span { from: section.content, to: section.end });
        if span.from >= span.to {
            // A heading alone; the note's own title says nothing further.
            if section.level != Some(1) && section.level.is_some() {
                self.short(section, Span { from: section.start, to: section.content });
            }
            return;
        }
        let n_chars = self.n_chars(span);
        if n_chars < MIN_CHARS && section.level.is_some_and(|level| level > 1) {
            self.short(section, Span { from: section.start, to: span.to });
        } else if n_chars <= MAX_CHARS || (section.is_session && self.fits_session(span, n_chars)) {
            self.push(section, &[], section.start, span);
        } else {
            self.subsections(section, span);
        }
    }

    /// Cuts a long section at its H3 headings.
    fn subsections(&mut self, section: &Section, span: Span) {
        let mut from = span.from;
        let mut heading: Option<&str> = None;
        for i in span.from..=span.to {
            let next = match self.lines.get(i).map(|line| &line.kind) {
                Some(Kind::Heading(3, text)) if !text.is_empty() && i < span.to => Some(text),
                _ if i == span.to => None,
                _ => continue,
            };
            self.subsection(section, heading, Span { from, to: i });
            heading = next.map(String::as_str);
            from = i;
        }
    }

    fn subsection(&mut self, section: &Section, heading: Option<&str>, span: Span) {
        let start = span.from;
        let mut content = span;
        if heading.is_some() {
            content.from += self.heading_lines(span.from);
        }
        let content = self.trimmed(content);
        let n_chars = self.n_chars(content);
        if heading.is_some() && n_chars < MIN_CHARS {
            self.short(section, self.trimmed(span));
        } else if n_chars <= MAX_CHARS {
            self.push(section, heading.as_slice(), start, content);
        } else {
            self.paragraphs(section, heading, content);
        }
    }

    /// Packs paragraphs into chunks as long as they may be.
    fn paragraphs(&mut self, section: &Section, heading: Option<&str>, span: Span) {
        let path = heading.as_slice();
        let mut open: Option<(Span, usize)> = None;
        for block in self.blocks(span) {
            let n_chars = self.n_chars(block);
            match &mut open {
                Some((piece, n)) if *n + 2 + n_chars <= MAX_CHARS => {
                    piece.to = block.to;
                    *n += 2 + n_chars;
                    continue;
                }
                _ => {}
            }
            if let Some((piece, _)) = open.take() {
                self.push(section, path, piece.from, piece);
            }
            let is_fence = self.lines.get(block.from).is_some_and(|line| line.kind == Kind::Fence);
            if n_chars <= MAX_CHARS {
                open = Some((block, n_chars));
            } else if is_fence && n_chars <= MAX_FENCE_CHARS {
                self.push(section, path, block.from, block);
            } else {
                self.long_block(section, path, block);
            }
        }
        if let Some((piece, _)) = open {
            self.push(section, path, piece.from, piece);
        }
    }

    /// Cuts a paragraph, table, list or fence between lines.
    fn long_block(&mut self, section: &Section, path: &[&str], block: Span) {
        let mut from = block.from;
        let mut n = 0;
        for i in block.from..block.to {
            let n_chars = self.n_chars(Span { from: i, to: i + 1 }) + 1;
            if n + n_chars > MAX_CHARS && from < i {
                self.push(section, path, from, Span { from, to: i });
                from = i;
                n = 0;
            }
            if n_chars > MAX_CHARS + 1 {
                self.long_line(section, path, i);
                from = i + 1;
            } else {
                n += n_chars;
            }
        }
        if from < block.to {
            self.push(section, path, from, Span { from, to: block.to });
        }
    }

    /// Cuts one line after sentences, else words, else characters.
    fn long_line(&mut self, section: &Section, path: &[&str], i: usize) {
        let Some(line) = self.lines.get(i) else { return };
        if line.kind == Kind::Front {
            return;
        }
        let mut rest = line.text;
        while !rest.trim().is_empty() {
            let (piece, after) = cut(rest);
            self.add(section, path, i, piece.trim_end().to_owned(), String::new());
            rest = after;
        }
    }

    /// Paragraphs, fences and headings with what follows them.
    fn blocks(&self, span: Span) -> Vec<Span> {
        let mut blocks: Vec<Span> = Vec::new();
        let mut from = None;
        let mut is_heading_open = false;
        let mut was_fence = false;
        for i in span.from..span.to {
            let Some(line) = self.lines.get(i) else { break };
            let is_fence = line.kind == Kind::Fence;
            let is_heading = matches!(line.kind, Kind::Heading(..));
            let is_break = match line.kind {
                Kind::Blank => !is_heading_open,
                _ => !is_heading_open && (is_fence != was_fence || is_heading),
            };
            if is_break && let Some(start) = from.take() {
                blocks.push(Span { from: start, to: i });
            }
            if line.kind != Kind::Blank {
                from.get_or_insert(i);
                is_heading_open = is_heading;
                was_fence = is_fence;
            }
        }
        if let Some(start) = from {
            blocks.push(Span { from: start, to: span.to });
        }
        blocks
    }

    fn push(&mut self, section: &Section, path: &[&str], line: usize, span: Span) {
        let text = self.text(span);
        if text.trim().is_empty() {
            return;
        }
        let flat = flatten::blocks(self.lines, span.from, span.to);
        self.add(section, path, line, text, flat);
    }

    fn add(&mut self, section: &Section, path: &[&str], line: usize, text: String, flat: String) {
        let headings = section.path.iter().map(String::as_str).chain(path.iter().copied());
        let mut chunk = ChunkText {
            headings: headings.map(str::to_owned).collect(),
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            text,
            flat,
        };
        if let Some(carried) = self.carried.take() {
            chunk.text = format!("{}\n\n{}", carried.text, chunk.text);
            chunk.line = carried.line;
        }
        self.chunks.push(chunk);
    }

    /// Joins a piece too short to stand alone to the chunk before it.
    fn short(&mut self, section: &Section, span: Span) {
        let text = self.text(span);
        if text.trim().is_empty() {
            return;
        }
        let before = match self.chunks.last_mut() {
            Some(last) => last,
            None => self.carried.get_or_insert_with(|| ChunkText {
                headings: section.path.clone(),
                line: u32::try_from(span.from + 1).unwrap_or(u32::MAX),
                ..ChunkText::default()
            }),
        };
        if before.text.is_empty() {
            before.text = text;
        } else if before.text.len() + text.len() <= MAX_CHARS {
            before.text.push_str("\n\n");
            before.text.push_str(&text);
        } else {
            self.add(section, &[], span.from, text, String::new());
        }
    }

    fn finish(&mut self) {
        if let Some(carried) = self.carried.take() {
            self.chunks.push(carried);
        }
    }

    fn text(&self, span: Span) -> String {
        let lines = self.lines.get(span.from..span.to).unwrap_or(&[]);
        let hidden = lines.iter().any(|line| line.kind == Kind::Front);
        if !hidden && let (Some(first), Some(last)) = (lines.first(), lines.last()) {
            let end = last.end(self.note.len());
            return text::slice(self.note, first.start, end).trim_end().to_owned();
        }
        let shown = lines.iter().filter(|line| line.kind != Kind::Front).map(|line| line.text);
        shown.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Counts the characters of a piece, line ends included.
    fn n_chars(&self, span: Span) -> usize {
        let lines = self.lines.get(span.from..span.to).unwrap_or(&[]);
        let shown = lines.iter().filter(|line| line.kind != Kind::Front);
        let n: usize = shown.map(|line| line.text.chars().count() + 1).sum();
        n.saturating_sub(1)
    }

    /// Leaves out blank lines at both ends.
    fn trimmed(&self, mut span: Span) -> Span {
        let is_empty = |i: usize| {
            self.lines.get(i).is_some_and(|line| matches!(line.kind, Kind::Blank | Kind::Front))
        };
        while span.from < span.to && is_empty(span.from) {
            span.from += 1;
        }
        while span.from < span.to && is_empty(span.to - 1) {
            span.to -= 1;
        }
        span
    }

    /// Two for a setext heading, one for the others.
    fn heading_lines(&self, i: usize) -> usize {
        match self.lines.get(i + 1).map(|line| &line.kind) {
            Some(Kind::Heading(_, text)) if text.is_empty() && !self.is_bare(i + 1) => 2,
            _ => 1,
        }
    }

    /// `##` without a text, which is no underline.
    fn is_bare(&self, i: usize) -> bool {
        self.lines.get(i).is_some_and(|line| line.text.trim_start().starts_with('#'))
    }

    fn fits_session(&self, span: Span, n_chars: usize) -> bool {
        let lines = self.lines.get(span.from..span.to).unwrap_or(&[]);
        let n_words: usize = lines.iter().map(|line| line.text.split_whitespace().count()).sum();
        n_words <= MAX_SESSION_WORDS && n_chars <= MAX_SESSION_CHARS
    }

    /// Whether the section is a list of links under a heading that says so.
    fn is_only_links(&self, section: &Section) -> bool {
        if !section.is_related {
            return false;
        }
        let lines = self.lines.get(section.content..section.end).unwrap_or(&[]);
        let prose =
            lines.iter().filter(|line| !line.text.contains("](") && !line.text.contains("[["));
        let n: usize = prose.map(|line| line.text.trim().chars().count()).sum();
        n <= MAX_RELATED_PROSE
    }
}

/// Cuts at most [`MAX_CHARS`] characters off the front of a line.
fn cut(line: &str) -> (&str, &str) {
    let Some((limit, _)) = line.char_indices().nth(MAX_CHARS) else { return (line, "") };
    let head = text::prefix(line, limit);
    let least = head.len() / 2;
    let after =
        |at: Option<(usize, &str)>| at.map(|(at, end)| at + end.len()).filter(|at| *at > least);
    let sentence = [". ", "? ", "! ", "\u{3002}", "; "]
        .iter()
        .filter_map(|end| after(head.rmatch_indices(end).next()))
        .max();
    let word = || after(head.rmatch_indices([' ', '\t', ',']).next());
    let at = sentence.or_else(word).unwrap_or(limit);
    (text::prefix(line, at), text::slice(line, at, line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::note;

    fn cut_note(text: &str) -> Vec<ChunkText> {
        let parsed = note::parse(text, "n.md", "n");
        chunks(text, &parsed.lines, parsed.body_kind, &parsed.meta.title)
    }

    fn check(text: &str, expected: &[(&str, u32, &str)]) {
        let found = cut_note(text);
        let found: Vec<(String, u32, &str)> = found
            .iter()
            .map(|chunk| (chunk.headings.join(" > "), chunk.line, chunk.text.as_str()))
            .collect();
        let expected: Vec<(String, u32, &str)> =
            expected.iter().map(|(path, line, text)| ((*path).to_owned(), *line, *text)).collect();
        assert_eq!(found, expected, "{text}");
    }

    const PROSE: &str = "A sentence that is long enough to stand alone.";

    #[test]
    fn sections_carry_their_headings_and_the_intro_is_a_chunk() {
        check(
            &format!(
                "---\ntitle: x\n---\n# T\n\nShort intro.\n\n## A\n\n{PROSE}\n\n### A1\nmore\n\n# U\n## B\n{PROSE}\n"
            ),
            &[
                ("T", 4, "Short intro."),
                ("T > A", 8, &format!("{PROSE}\n\n### A1\nmore")),
                ("U > B", 16, PROSE),
            ],
        );
        check(
            &format!("T\n===\n\n{PROSE}\n\nA\n---\n{PROSE}"),
            &[("T", 1, PROSE), ("T > A", 6, PROSE)],
        );
    }

    #[test]
    fn a_fence_is_no_place_for_headings() {
        let fence = "````bash\n# comment\n```\n## no\n```\n````";
        check(&format!("## A\n{fence}\n{PROSE}"), &[("A", 1, &format!("{fence}\n{PROSE}"))]);
    }

    #[test]
    fn what_is_short_joins_its_neighbour() {
        check(
            &format!("## A\n{PROSE}\n## Status\ndone\n## Empty\n## B\n{PROSE}"),
            &[("A", 1, &format!("{PROSE}\n\n## Status\ndone\n\n## Empty")), ("B", 6, PROSE)],
        );
        check(&format!("## S\nok\n## B\n{PROSE}"), &[("B", 1, &format!("## S\nok\n\n{PROSE}"))]);
    }

    #[test]
    fn no_note_vanishes() {
        check("", &[("", 1, "n")]);
        check("---\ntitle: Only this\n---\n", &[("", 1, "Only this")]);
        check("# Alone\n", &[("", 1, "Alone")]);
        check("   \n\n", &[("", 1, "n")]);
        check("## A\n## B\n", &[("A", 1, "## A\n\n## B")]);
        check("tiny", &[("", 1, "tiny")]);
        check("## Related\n- [[a]]\n", &[("Related", 1, "## Related\n- [[a]]")]);
    }

    #[test]
    fn a_list_of_links_is_no_prose() {
        let note = format!("## A\n{PROSE}\n## Véase también\n- [[a]]\n- [b](b.md) short\n");
        check(&note, &[("A", 1, PROSE)]);
        let prose = "word ".repeat(100);
        let note = format!("## A\n{PROSE}\n## References\n{prose}");
        assert_eq!(cut_note(&note).len(), 2, "prose under an unlucky heading stays");
    }

    #[test]
    fn a_long_section_is_cut_at_h3_then_paragraphs() {
        let paragraph = format!("{}\n\n", "word ".repeat(150).trim_end());
        let note = format!(
            "## A\n{}### One\n{}### Two\nx\n#### Deep\n{}",
            &paragraph,
            paragraph.repeat(4),
            &paragraph
        );
        let found = cut_note(&note);
        let paths: Vec<String> = found.iter().map(|chunk| chunk.headings.join(" > ")).collect();
        assert_eq!(paths, ["A", "A > One", "A > One", "A > Two"]);
        assert!(found.iter().all(|chunk| chunk.text.chars().count() <= MAX_CHARS));
        assert!(found[3].text.starts_with("x\n#### Deep\nword"));
    }

    #[test]
    fn long_fences_stay_whole_until_they_cannot() {
        let fence = |n: usize| format!("```\n{}```", "code line of text\n".repeat(n));
        let note = format!("## A\n{PROSE}\n\n{}\n\n{PROSE}", fence(180));
        let found = cut_note(&note);
        assert_eq!(found.len(), 3);
        assert_eq!(found[1].text, fence(180));
        let note = format!("## A\n{}", fence(1000));
        assert!(cut_note(&note).iter().all(|chunk| chunk.text.chars().count() <= MAX_CHARS));
    }

    #[test]
    fn a_line_without_end_is_cut_between_words_and_characters() {
        for word in ["word ", "ñandú. ", "漢", "😀"] {
            let note = word.repeat(65_000 / word.chars().count());
            let found = cut_note(&note);
            assert!(found.iter().all(|chunk| chunk.text.chars().count() <= MAX_CHARS), "{word}");
            let joined: String = found.iter().map(|chunk| chunk.text.as_str()).collect();
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(plain(&joined), plain(&note), "{word}");
            assert!(found.len() < 80, "{word}: {} pieces", found.len());
        }
    }

    #[test]
    fn a_session_stays_together() {
        let day = "A line of what happened in it.\n\n".repeat(100);
        let note =
            format!("# Log\n\n## Session 12 — May\n{day}### Later\n{day}\n## Sesión 13\n{day}");
        let paths: Vec<String> =
            cut_note(&note).iter().map(|chunk| chunk.headings.join(" > ")).collect();
        assert_eq!(paths.iter().filter(|path| *path == "Log > Sesión 13").count(), 1);
        assert!(paths.iter().filter(|path| path.starts_with("Log > Session 12")).count() > 1);
        let note = format!("## Log\n\n**Sesión 7**\n{day}\n**Sesión 8:**\n{day}");
        let paths: Vec<String> =
            cut_note(&note).iter().map(|chunk| chunk.headings.join(" > ")).collect();
        assert_eq!(paths, ["Log > Sesión 7", "Log > Sesión 8"]);
    }

    #[test]
    fn drawings_and_boards_show_their_words_only() {
        let drawing = "---\nexcalidraw-plugin: parsed\n---\n==⚠  Switch to EXCALIDRAW VIEW ⚠==\n\n\
                       My own words about the drawing, long enough.\n\n# Excalidraw Data\n\n## Text Elements\n\
                       Boiler pressure ^ab12cd34\n\n%%\n## Drawing\n```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0JRJQgEYA6bGwC2CgF7N6hbEcK4OCtptbErHALRY8RMpWdx8Q1TdIEfARcZgRmBShcZQUebQBGADZtAAZ4uIBOAkoIPyz\n```\n%%";
        let found = cut_note(drawing);
        let all: String = found.iter().map(|chunk| chunk.text.as_str()).collect();
        assert!(all.contains("My own words") && all.contains("Boiler pressure"), "{all}");
        assert!(!all.contains("N4KAk") && !all.contains('⚠') && !all.contains("%%"), "{all}");
        check("---\nkanban-plugin: board\n---\n## To do\n- [ ] card\n", &[("", 1, "n")]);
        check("---\nexcalidraw-plugin: raw\n---\n{\"type\":\"excalidraw\"}\n", &[("", 1, "n")]);
    }

    #[test]
    fn json_in_a_chunk_is_flattened_beside_it() {
        let found =
            cut_note("## A\n```json\n{\"a\": {\"b\": 1}, \"c\": \"some longer value\"}\n```\n");
        assert_eq!(found[0].flat, "a.b: 1\nc: some longer value");
    }

    #[test]
    fn three_hundred_sections_are_three_hundred_chunks() {
        let note: String =
            (0..300).map(|i| format!("## H{i}\n{}\n\n", "text of it ".repeat(150))).collect();
        assert_eq!(cut_note(&note).len(), 300);
    }
}
