//! The findings of a compiler or linter, listed by what they say with all
//! their places. What differs between alike messages stands beside the place:
//!
//! ```text
//! error TS2339: Property 'tagz' does not exist on type 'Item0'. ×3
//!   src/a.ts:7:16, 15:16 'Item1'
//!   src/b.ts:9:16 'Item2'
//! ```

use super::hash::{Map, hash};
use super::signal::Severity;

/// A finding in a file.
#[derive(Default)]
pub(super) struct Finding<'a> {
    pub(super) file: &'a [u8],
    /// Line and column, in digits; the column may be empty.
    pub(super) line: &'a [u8],
    pub(super) column: &'a [u8],
    /// Level, rule and message.
    pub(super) message: Vec<u8>,
    pub(super) severity: Severity,
}

/// How much of the places is told, from rich to poor: with columns, and how
/// many of one message.
const DETAILS: [(bool, usize); 5] =
    [(true, usize::MAX), (false, usize::MAX), (false, 12), (false, 3), (false, 1)];

/// Lists findings in about `max_bytes`, as rich in detail as fits: the worst
/// first, else in the order of their first appearance.
pub(super) fn list(findings: &[Finding<'_>], max_bytes: usize) -> Vec<u8> {
    let prefix = common_folder(findings);
    let mut files: Map<u64, ()> = Map::default();
    files.extend(findings.iter().map(|finding| (hash(finding.file), ())));
    let mut head = format!("{} findings in {} files", findings.len(), files.len()).into_bytes();
    if !prefix.is_empty() {
        head.extend_from_slice(b" under ");
        head.extend_from_slice(prefix);
    }
    head.push(b'\n');
    let groups = group(findings);
    let mut out = Vec::new();
    for (nth, detail) in DETAILS.into_iter().enumerate() {
        out.clone_from(&head);
        for (done, group) in groups.iter().enumerate() {
            if nth + 1 == DETAILS.len() && out.len() > max_bytes {
                let rest = groups.get(done..).unwrap_or_default();
                let n: usize = rest.iter().map(|group| group.members.len()).sum();
                out.extend_from_slice(
                    format!("… {n} findings of {} other kinds\n", rest.len()).as_bytes(),
                );
                break;
            }
            group.write(findings, prefix, detail, &mut out);
        }
        if out.len() <= max_bytes {
            break;
        }
    }
    out
}

/// Findings that say the same but for names and numbers.
struct Group<'a> {
    /// The words of the first message; one that may vary has no hash.
    words: Vec<(&'a [u8], u64)>,
    members: Vec<usize>,
    severity: Severity,
}

/// Messages that differ in a single word are looked for among so many kinds.
const MAX_COMPARED: usize = 100;

fn group<'a>(findings: &'a [Finding<'_>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut known: Map<u64, usize> = Map::default();
    for (idx, finding) in findings.iter().enumerate() {
        let words = words(&finding.message);
        let key = words.iter().fold(words.len() as u64, |key, (_, hash)| {
            key.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash
        });
        let found = known.get(&key).copied().or_else(|| {
            let alike = |group: &Group<'_>| {
                group.severity == finding.severity && differ_in_one(&group.words, &words)
            };
            groups.iter().take(MAX_COMPARED).position(alike)
        });
        let at = found.unwrap_or(groups.len());
        known.insert(key, at);
        match groups.get_mut(at) {
            Some(group) => group.members.push(idx),
            None => groups.push(Group { words, members: vec![idx], severity: finding.severity }),
        }
    }
    let worth = |severity| match severity {
        Severity::Strong => 0,
        Severity::Warning => 1,
        _ => 2_u8,
    };
    let (mut sorted, mut rest) = (Vec::with_capacity(groups.len()), groups);
    for level in 0..=2 {
        let (own, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|group| worth(group.severity) == level);
        sorted.extend(own);
        rest = others;
    }
    sorted
}

/// Long enough messages that differ in one word only.
fn differ_in_one(a: &[(&[u8], u64)], b: &[(&[u8], u64)]) -> bool {
    a.len() >= 4
        && a.len() == b.len()
        && a.iter().zip(b).filter(|(a, b)| a.1 != b.1).count() == 1
        // Rules and levels stand at the ends.
        && a.first().map(|word| word.1) == b.first().map(|word| word.1)
        && a.last().zip(b.last()).is_some_and(|(a, b)| {
            a.1 == b.1 || !a.0.iter().any(|b| matches!(b, b'-' | b'[' | b'(' | b'/'))
        })
}

impl Group<'_> {
    fn write(
        &self,
        findings: &[Finding<'_>],
        prefix: &[u8],
        (columns, most): (bool, usize),
        out: &mut Vec<u8>,
    ) {
        let Some(first) = self.members.first().and_then(|&idx| findings.get(idx)) else { return };
        super::render::shown(&first.message, out);
        if self.members.len() > 1 {
            out.extend_from_slice(format!(" ×{}", self.members.len()).as_bytes());
        }
        let mut file: Option<&[u8]> = None;
        let mut before: (&[u8], Vec<u8>) = (b"", Vec::new());
        for finding in self.members.iter().take(most).filter_map(|&idx| findings.get(idx)) {
            let variation = self.variation(&finding.message);
            if file == Some(finding.file) {
                if !columns && before.0 == finding.line && before.1 == variation {
                    continue;
                }
                out.extend_from_slice(if variation.is_empty() { b"," } else { b", " });
            } else {
                out.extend_from_slice(b"\n  ");
                out.extend_from_slice(finding.file.strip_prefix(prefix).unwrap_or(finding.file));
                out.push(b':');
            }
            out.extend_from_slice(finding.line);
            if columns && !finding.column.is_empty() {
                out.push(b':');
                out.extend_from_slice(finding.column);
            }
            out.extend_from_slice(&variation);
            file = Some(finding.file);
            before = (finding.line, variation);
        }
        if self.members.len() > most {
            out.extend_from_slice(format!(" … {} more", self.members.len() - most).as_bytes());
        }
        out.push(b'\n');
    }

    /// The words in which a message differs from the first of its group.
    fn variation(&self, message: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for ((word, _), (first, _)) in words(message).into_iter().zip(&self.words) {
            if word != *first {
                out.push(b' ');
                let end = word.iter().rposition(|b| !b",:;.".contains(b)).map_or(0, |at| at + 1);
                super::render::shown(word.get(..end).unwrap_or_default(), &mut out);
            }
        }
        out
    }
}

/// Splits a message at blanks, quoted texts whole. Quoted texts and words with
/// digits, unless they look like a rule's name, have the hash 0.
fn words(message: &[u8]) -> Vec<(&[u8], u64)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < message.len() {
        let rest = message.get(at..).unwrap_or_default();
        let skip = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let word = rest.get(skip..).unwrap_or_default();
        let quoted = quoted(word);
        let tail = word.get(quoted..).unwrap_or_default();
        let end = quoted + tail.iter().position(u8::is_ascii_whitespace).unwrap_or(tail.len());
        let word = word.get(..end).unwrap_or_default();
        if !word.is_empty() {
            let varies = quoted > 0 || word.iter().any(u8::is_ascii_digit) && !is_rule(word);
            out.push((word, if varies { 0 } else { hash(word) | 1 }));
        }
        at += (skip + end).max(1);
    }
    out
}

/// The length of the quoted text that `word` starts with; 0 for none.
fn quoted(word: &[u8]) -> usize {
    const QUOTES: [(&[u8], &[u8]); 5] = [
        (b"'", b"'"),
        (b"\"", b"\""),
        (b"`", b"`"),
        ("‘".as_bytes(), "’".as_bytes()),
        ("“".as_bytes(), "”".as_bytes()),
    ];
    let inner = word.strip_prefix(b"(").unwrap_or(word);
    for (open, close) in QUOTES {
        let Some(rest) = inner.strip_prefix(open) else { continue };
        let near = rest.get(..rest.len().min(80)).unwrap_or_default();
        if let Some(end) = memchr::memmem::find(near, close) {
            return word.len() - rest.len() + end + close.len();
        }
    }
    0
}

/// `F821`, `error[E0425]:`, `TS2322:`, `[MD013]`.
fn is_rule(word: &[u8]) -> bool {
    let letters = word.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let code = word.rsplit(|&b| b == b'[').next().unwrap_or(word);
    letters > 0
        && (code.first().is_some_and(u8::is_ascii_uppercase)
            || word.contains(&b'/') && word.contains(&b'-'))
}

/// The folder that all absolute paths share, with its slash.
fn common_folder<'a>(findings: &[Finding<'a>]) -> &'a [u8] {
    let first = findings.first().map_or(b"".as_slice(), |f| f.file);
    if !first.starts_with(b"/") {
        return b"";
    }
    let mut len = first.len();
    for finding in findings {
        len = first.iter().zip(finding.file).take(len).take_while(|(a, b)| a == b).count();
    }
    let common = first.get(..len).unwrap_or_default();
    let end = common.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    common.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding<'a>(file: &'a str, line: &'a str, message: &str) -> Finding<'a> {
        Finding {
            file: file.as_bytes(),
            line: line.as_bytes(),
            column: b"5",
            message: message.as_bytes().to_vec(),
            ..Finding::default()
        }
    }

    #[test]
    fn alike_messages_are_told_once_and_their_names_beside_the_place() {
        let findings = [
            finding("a.py", "3", "F821 undefined name 'x'"),
            finding("a.py", "9", "F821 undefined name 'y'"),
            finding("b.py", "4", "F821 undefined name 'x'"),
            finding("b.py", "7", "E722 do not use bare except"),
        ];
        let text = String::from_utf8(list(&findings, 1000)).unwrap();
        assert_eq!(
            text,
            "4 findings in 2 files\nF821 undefined name 'x' ×3\n  a.py:3:5, 9:5 'y'\n  b.py:4:5\nE722 do not use bare except\n  b.py:7:5\n"
        );
    }

    #[test]
    fn one_word_may_differ_without_quotes() {
        let findings = [
            finding("a.java", "3", "error: cannot find symbol; symbol: class Foo"),
            finding("a.java", "9", "error: cannot find symbol; symbol: class Bar"),
        ];
        let text = String::from_utf8(list(&findings, 1000)).unwrap();
        assert!(text.contains("class Foo ×2\n  a.java:3:5, 9:5 Bar\n"), "{text}");
    }

    #[test]
    fn too_many_places_are_counted() {
        let lines: Vec<String> = (0..400).map(|i| format!("{i}")).collect();
        let findings: Vec<Finding<'_>> =
            lines.iter().map(|line| finding("a.py", line, "E1 bad")).collect();
        let text = String::from_utf8(list(&findings, 300)).unwrap();
        assert!(text.len() < 200 && text.contains("×400") && text.contains("… 388 more"), "{text}");
    }
}
