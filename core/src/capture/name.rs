//! Titles and file names: readable, and safe on every system a vault is
//! carried to.

use crate::text;

/// Longest title taken from a text, in characters.
const MAX_DERIVED_CHARS: usize = 80;
/// Longest title a person may give, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// Longest file stem in bytes. File systems allow 255, eCryptfs 143; this
/// leaves room for a number, `.md` and a temporary suffix.
const MAX_STEM_BYTES: usize = 120;

/// Returns a title for `text`: its first line that has words, without
/// Markdown's marks, cut at a sentence or a word. Empty when it has none.
pub fn title_of(text: &str) -> String {
    text.lines()
        .map(|line| cut(&plain(line), MAX_DERIVED_CHARS))
        .find(|line| line.chars().any(char::is_alphanumeric))
        .unwrap_or_default()
}

/// Makes a title given by a person fit one line.
pub fn clean_title(title: &str) -> String {
    cut(&one_line(title), MAX_TITLE_CHARS)
}

/// Returns the file stem for a note of `day` (`YYYY-MM-DD`) titled `title`:
/// NFC, none of the characters that Windows, macOS, Obsidian's links or URLs
/// object to, at most 120 bytes.
pub fn stem(day: &str, title: &str) -> String {
    let safe = safe_name(title);
    let joined = if safe.is_empty() { day.to_owned() } else { format!("{day} {safe}") };
    shorten(&joined, MAX_STEM_BYTES)
}

/// Makes `name` safe as one component of a path; may come out empty.
pub fn safe_name(name: &str) -> String {
    let spaced: String = text::nfc(name)
        .chars()
        .map(|c| match c {
            '#' | '^' | '[' | ']' | '|' | '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '%' => {
                ' '
            }
            // Legal everywhere, but a name is pasted into a shell one day.
            '$' | '`' | ';' | '{' | '}' | '~' => ' ',
            c if c.is_control() || is_invisible(c) => ' ',
            c => c,
        })
        .collect();
    // Windows drops a final dot or blank; a leading dot hides the file.
    one_line(&spaced).trim_matches(['.', ' ', '-']).to_owned()
}

/// Cuts a name to `max_bytes`, at a blank when there is one not far back.
pub fn shorten(name: &str, max_bytes: usize) -> String {
    if name.len() <= max_bytes {
        return name.to_owned();
    }
    let cut = text::prefix(name, max_bytes);
    let at = cut.rfind(' ').filter(|at| *at * 3 > max_bytes * 2);
    let kept = at.map_or(cut, |at| text::prefix(cut, at));
    kept.trim_end_matches(['.', ' ', '-', ',', ';', '\u{200d}']).to_owned()
}

/// Returns a `Tag` as Obsidian takes one: letters, digits, `_`, `-`, `/` and
/// signs beyond ASCII, blanks turned into `-`. `None` when nothing is left or
/// only digits are, which Obsidian does not take for a tag.
pub fn clean_tag(tag: &str) -> Option<String> {
    let tag = tag.trim().trim_start_matches('#');
    let kept: String = text::nfc(tag)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .filter(|c| is_tag_char(*c))
        .collect();
    let kept = kept.trim_matches(['-', '/']);
    let has_name = kept.chars().any(|c| !c.is_ascii_digit() && !"-_/".contains(c));
    has_name.then(|| text::prefix(kept, MAX_STEM_BYTES).to_owned())
}

fn is_tag_char(c: char) -> bool {
    c.is_alphanumeric()
        || "_-/".contains(c)
        || (!c.is_ascii() && !c.is_whitespace() && !c.is_control() && !is_punctuation(c))
}

/// General punctuation and its like: what Obsidian ends a tag at.
fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{a1}'..='\u{bf}' | '\u{2000}'..='\u{200c}' | '\u{200e}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}')
}

/// Direction marks, joiners that join nothing, byte order marks: what two
/// names can differ in without anyone seeing it. The zero-width joiner stays,
/// because emoji are made with it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line without the marks that Markdown gives a meaning.
fn plain(line: &str) -> String {
    let line = one_line(line);
    let mut rest = line.as_str();
    loop {
        let before = rest;
        rest = rest.trim_start_matches(['#', '>', ' ']);
        for mark in ["- ", "* ", "+ ", "[ ] ", "[x] ", "[X] "] {
            rest = rest.strip_prefix(mark).unwrap_or(rest);
        }
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if digits.len() < rest.len() {
            let item = digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "));
            rest = item.unwrap_or(rest);
        }
        if rest == before {
            break;
        }
    }
    let text = link_texts(rest);
    ["**", "__", "`", "~~", "=="].iter().fold(text, |text, mark| text.replace(mark, ""))
}

/// Replaces `[text](target)` by text and `[[target|text]]` by text or target.
fn link_texts(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, tail)) = rest.split_once('[') {
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        if let Some((inner, after)) = tail.strip_prefix('[').and_then(|tail| tail.split_once("]]"))
        {
            out.push_str(inner.rsplit('|').next().unwrap_or(inner));
            rest = after;
        } else if let Some((inner, after)) = tail.split_once("](")
            && let Some((_, after)) = after.split_once(')')
        {
            out.push_str(inner);
            rest = after;
        } else {
            out.push('[');
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}

/// Cuts at the end of a sentence, else at a word with an ellipsis.
fn cut(line: &str, max_chars: usize) -> String {
    if line.chars().count() <= max_chars {
        return line.to_owned();
    }
    let at = line.char_indices().nth(max_chars).map_or(line.len(), |(at, _)| at);
    let head = text::prefix(line, at);
    let sentence = [". ", "? ", "! ", "; ", ": "].iter().filter_map(|end| head.rfind(end)).max();
    if let Some(end) = sentence.filter(|end| *end * 3 > at) {
        return text::prefix(head, end + 1).trim_end_matches([';', ':']).to_owned();
    }
    let word = head.rfind(' ').filter(|end| *end * 2 > at).unwrap_or(at);
    format!("{}\u{2026}", text::prefix(head, word).trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_with_words_without_marks() {
        let check = |text: &str, title: &str| assert_eq!(title_of(text), title, "{text:?}");
        check("\n## Use **WAL** mode\nbody", "Use WAL mode");
        check("- [ ] read [the docs](https://x.org/a) first", "read the docs first");
        check("1. see [[a/b|the note]] and ![[pic.png]]", "see the note and pic.png");
        check("---\n***\n¿Qué pasó?", "¿Qué pasó?");
        check("```\n\n", "");
        check("arr[0] = [1, 2", "arr[0] = [1, 2");
        let long =
            "A sentence that says enough to be a title. Then a second one which goes on and on.";
        check(long, "A sentence that says enough to be a title.");
        let words = "word ".repeat(40);
        assert!(title_of(&words).ends_with("word\u{2026}"));
        assert!(title_of(&words).chars().count() <= 81);
    }

    #[test]
    fn a_stem_is_safe_everywhere() {
        let check = |title: &str, name: &str| {
            assert_eq!(stem("2026-11-30", title), format!("2026-11-30 {name}"), "{title:?}");
        };
        check("a/b\\c: d*e?f\"g<h>i|j#k^l[m]n", "a b c d e f g h i j k l m n");
        check("../../etc/passwd", "etc passwd");
        check("say $(touch x); `id`", "say (touch x) id");
        check("cafe\u{301} con leche", "café con leche");
        check("\u{202e}evil\u{200b}txt.", "evil txt");
        check("family 👨‍👩‍👧 ok", "family 👨‍👩‍👧 ok");
        assert_eq!(stem("2026-11-30", "///"), "2026-11-30");
        for long in ["ñ".repeat(500), "palabra ".repeat(90), "😀".repeat(90)] {
            assert!(stem("2026-11-30", &long).len() <= MAX_STEM_BYTES);
        }
    }

    #[test]
    fn tags_are_what_obsidian_takes() {
        let check = |tag: &str, kept: Option<&str>| {
            assert_eq!(clean_tag(tag).as_deref(), kept, "{tag:?}");
        };
        check("#rust", Some("rust"));
        check("machine learning", Some("machine-learning"));
        check("area/año", Some("area/año"));
        check("a\"b]: c", Some("ab-c"));
        check("2026", None);
        check("  ", None);
        check("🐘", Some("🐘"));
    }
}
