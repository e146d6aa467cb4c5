//! The lines of a note with what Markdown makes of them: fences, headings,
//! code spans. Just enough of CommonMark to know what is prose.

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of the properties block.
    Front,
    /// Opens, continues or closes a fenced block.
    Fence,
    /// A heading of this level (1-6) and text; a setext heading's underline is
    /// a second line of the same heading, with an empty text.
    Heading(u8, String),
    /// Nothing but white space.
    Blank,
    /// Everything else.
    Text,
}

/// One line of a note.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// Byte offset of the line in the note.
    pub(super) start: usize,
    /// The line without its end.
    pub(super) text: &'a str,
    /// What it is.
    pub(super) kind: Kind,
}

impl Line<'_> {
    /// Byte offset after the line and its end, in a note of `len` bytes.
    pub(super) fn end(&self, len: usize) -> usize {
        (self.start + self.text.len() + 1).min(len)
    }
}

/// Splits `note` into lines; the body starts at byte `body`.
pub(super) fn lines(note: &str, body: usize) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(note.len() / 32 + 1);
    let mut fence = Fence::default();
    let mut start = 0;
    for text in note.split_inclusive('\n') {
        let line = text.strip_suffix('\n').unwrap_or(text);
        let kind = if start < body {
            Kind::Front
        } else if fence.takes(line) {
            Kind::Fence
        } else {
            kind(line, &mut lines)
        };
        lines.push(Line { start, text: line, kind });
        start += text.len();
    }
    lines
}

fn kind(line: &str, before: &mut [Line<'_>]) -> Kind {
    if line.trim().is_empty() {
        return Kind::Blank;
    }
    if let Some((level, text)) = atx_heading(line) {
        return Kind::Heading(level, text);
    }
    let Some(level) = setext_level(line) else { return Kind::Text };
    let [.., earlier, title] = before else {
        let [title] = before else { return Kind::Text };
        return underline(level, title);
    };
    // Only a paragraph of one line: below a longer one people mean a rule.
    if matches!(earlier.kind, Kind::Text) { Kind::Text } else { underline(level, title) }
}

fn underline(level: u8, title: &mut Line<'_>) -> Kind {
    let text = title.text.trim();
    let starts_block = text.starts_with(['>', '|', '<', '-', '*', '+', '=', '#'])
        || text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(". ");
    let is_code = title.text.starts_with("    ") || title.text.starts_with('\t');
    if !matches!(title.kind, Kind::Text) || (starts_block && !text.starts_with("**")) || is_code {
        return Kind::Text;
    }
    title.kind = Kind::Heading(level, plain(text));
    Kind::Heading(level, String::new())
}

/// Reads `## Text ##`: up to three spaces before, a space after the marks.
fn atx_heading(line: &str) -> Option<(u8, String)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    let without = rest.trim_end_matches('#');
    let title = if without.is_empty() || without.ends_with([' ', '\t']) { without } else { rest };
    Some((u8::try_from(level).ok()?, plain(title)))
}

fn setext_level(line: &str) -> Option<u8> {
    let text = line.trim();
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    if is_indented || text.is_empty() {
        return None;
    }
    if text.bytes().all(|b| b == b'=') {
        Some(1)
    } else if text.bytes().all(|b| b == b'-') {
        Some(2)
    } else {
        None
    }
}

/// An open fence: its character and how many of it.
#[derive(Default)]
struct Fence {
    open: Option<(u8, usize)>,
}

impl Fence {
    /// Whether `line` opens, is inside, or closes a fenced block. Any
    /// indentation counts, since fences in nested lists have a lot.
    fn takes(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let mark = text.bytes().next().filter(|b| matches!(b, b'`' | b'~'));
        let n = mark.map_or(0, |mark| text.bytes().take_while(|b| *b == mark).count());
        match (self.open, mark) {
            (Some((open, least)), Some(mark)) if mark == open && n >= least => {
                let rest = text.trim_start_matches(char::from(mark));
                if rest.trim().is_empty() {
                    self.open = None;
                }
                true
            }
            (Some(_), _) => true,
            (None, Some(mark)) if n >= 3 => {
                let info = text.get(n..).unwrap_or("");
                let opens = mark == b'~' || !info.contains('`');
                if opens {
                    self.open = Some((mark, n));
                }
                opens
            }
            (None, _) => false,
        }
    }
}

/// Returns a heading's or title's text without its inline marks: bold, code,
/// links (their text stays).
pub(super) fn plain(text: &str) -> String {
    let text = text.trim();
    if !text.contains(['[', '*', '`', '{']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("[[")
            && let Some((inner, after)) = after.split_once("]]")
        {
            out.push_str(inner.rsplit('|').next().unwrap_or(inner).trim_end_matches('\\'));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[')
            && let Some((inner, after)) = after.split_once("](")
            && let Some((_, after)) = after.split_once(')')
            && !inner.contains(']')
        {
            out.push_str(inner);
            rest = after;
        } else if rest.starts_with("**") {
            rest = rest.get(2..).unwrap_or("");
        } else if c == '`' {
            rest = rest.get(1..).unwrap_or("");
        } else if rest.starts_with("{#") && rest.ends_with('}') {
            break;
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or("");
        }
    }
    out.trim().to_owned()
}

/// Returns `line` with the content of code spans blanked, byte for byte.
pub(super) fn without_code(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('`') {
        return line.into();
    }
    let bytes = line.as_bytes();
    let mut out = bytes.to_vec();
    let run = |from: usize| bytes.iter().skip(from).take_while(|b| **b == b'`').count();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'`', bytes.get(at..).unwrap_or(&[])).map(|i| at + i) {
        let n = run(open);
        let mut close = open + n;
        let end = loop {
            let Some(i) = memchr::memchr(b'`', bytes.get(close..).unwrap_or(&[])) else {
                break None;
            };
            close += i;
            let m = run(close);
            if m == n {
                break Some(close);
            }
            close += m;
        };
        at = match end {
            Some(end) => {
                if let Some(inner) = out.get_mut(open..end + n) {
                    inner.fill(b' ');
                }
                end + n
            }
            None => open + n,
        };
    }
    // Whole spans between ASCII marks were replaced: still UTF-8.
    String::from_utf8(out).map_or_else(|_| line.into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(note: &str) -> Vec<(u8, String)> {
        let headings = lines(note, 0).into_iter().filter_map(|line| match line.kind {
            Kind::Heading(level, text) if !text.is_empty() => Some((level, text)),
            _ => None,
        });
        headings.collect()
    }

    #[test]
    fn headings_are_those_a_reader_sees() {
        let note = "# One #\n\nTwo\n===\n\nThree\n---\n\n## Four [x](y) `z` {#id}\n#tag\n    # code\n\
                    - item\n---\n| a |\n---\npara\nsecond\n---\n####### seven\n##\n";
        let expected = [(1, "One"), (1, "Two"), (2, "Three"), (2, "Four x z")];
        let expected: Vec<(u8, String)> =
            expected.iter().map(|(level, text)| (*level, (*text).to_owned())).collect();
        assert_eq!(headings(note), expected);
    }

    #[test]
    fn a_comment_in_a_fence_is_no_heading() {
        for note in [
            "```bash\n# c\n```\n# h",
            "~~~\n# c\n```\n# c\n~~~\n# h",
            "````md\n```\n# c\n```\n# c\n````\n# h",
            "- item\n\n      ```\n      # c\n# c\n      ```\n\n# h",
            "```not a `fence`\n# h",
        ] {
            assert_eq!(headings(note), [(1, "h".to_owned())], "{note}");
        }
        assert_eq!(headings("```\n# never closed\n# x"), []);
    }

    #[test]
    fn code_spans_are_blanked_in_place() {
        assert_eq!(without_code("a `[[x]]` b"), "a         b");
        assert_eq!(without_code("``a ` b`` c ` d"), "          c ` d");
        assert_eq!(without_code("é `ñ` [[y]]"), "é      [[y]]");
    }
}
