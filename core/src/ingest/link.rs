//! The links of a note: `[[wiki]]`, `![[embed]]`, `[text](path.md)` and
//! reference definitions. Links out of the vault (`https:`, `mailto:`) are not
//! kept, except in `[[…]]`, where Obsidian takes them for a note's name.

use super::markdown::{self, Kind, Line};
use crate::model::Link;

/// Finds the links of a note, in order; code is passed over, properties are
/// not: Obsidian counts wiki-links in them.
pub(super) fn links(lines: &[Line<'_>]) -> Vec<Link> {
    let mut links = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let is_front = line.kind == Kind::Front;
        if line.kind == Kind::Fence || !line.text.contains('[') {
            continue;
        }
        let line_no = u32::try_from(i + 1).unwrap_or(u32::MAX);
        let text = markdown::without_code(line.text);
        in_line(&text, is_front, line_no, &mut links);
    }
    links
}

fn in_line(text: &str, is_front: bool, line: u32, links: &mut Vec<Link>) {
    let mut rest = text;
    let mut before = ' ';
    while let Some(at) = rest.find('[') {
        if let Some(c) = rest.get(..at).and_then(|skipped| skipped.chars().next_back()) {
            before = c;
        }
        let open = rest.get(at..).unwrap_or("");
        let is_embed = before == '!';
        let is_escaped = before == '\\';
        let (link, after) = if is_escaped { (None, next(open)) } else { one(open, is_front) };
        if let Some((target, anchor, is_wiki)) = link {
            links.push(Link { target, anchor, is_embed, is_wiki, line });
        }
        before = '[';
        rest = after;
    }
}

type Found = (String, Option<String>, bool);

/// Reads the link that starts with `[`; returns it and where to go on.
fn one(open: &str, is_front: bool) -> (Option<Found>, &str) {
    if let Some(inner) = open.strip_prefix("[[")
        && let Some((inner, after)) = inner.split_once("]]")
    {
        // `[[a [[b]]` links to b.
        let inner = inner.rsplit("[[").next().unwrap_or(inner);
        return (wiki(inner), after);
    }
    if is_front {
        return (None, next(open));
    }
    // Go on inside the link's text, which may hold an image.
    (destination(open).and_then(markdown_link), next(open))
}

fn next(open: &str) -> &str {
    open.get(1..).unwrap_or("")
}

fn wiki(inner: &str) -> Option<Found> {
    // `\|` inside a table is the same bar.
    let target = inner.split('|').next().unwrap_or(inner).trim_end_matches('\\').trim();
    let (target, anchor) = split_anchor(target);
    if target.is_empty() && anchor.is_none() {
        return None;
    }
    Some((target.to_owned(), anchor.map(str::to_owned), true))
}

/// `note#heading`, `note#^block`; a `#` at the very start is the note itself.
fn split_anchor(target: &str) -> (&str, Option<&str>) {
    match target.split_once('#') {
        Some((note, anchor)) => {
            (note.trim(), Some(anchor.trim()).filter(|anchor| !anchor.is_empty()))
        }
        None => (target, None),
    }
}

/// Finds the destination of `[text](destination "title")` or of the definition
/// `[ref]: destination`.
fn destination(open: &str) -> Option<&str> {
    let close = closing_bracket(open)?;
    let after = open.get(close + 1..)?;
    if let Some(inner) = after.strip_prefix('(') {
        let inner = inner.trim_start();
        if let Some(angled) = inner.strip_prefix('<') {
            return angled.split_once('>').map(|(destination, _)| destination);
        }
        return inner.get(..end_of_destination(inner)?);
    }
    let definition = after.strip_prefix(": ")?.trim_start();
    let destination = definition.split_whitespace().next()?;
    Some(destination.trim_start_matches('<').trim_end_matches('>'))
}

fn closing_bracket(open: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut is_escaped = false;
    for (at, c) in open.char_indices().take(2_000) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Parentheses balance; a space ends the destination and a title follows.
fn end_of_destination(inner: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut is_escaped = false;
    let mut space = None;
    for (at, c) in inner.char_indices().take(2_000) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' if depth == 0 => return Some(space.unwrap_or(at)),
            ')' => depth -= 1,
            ' ' | '\t' if space.is_none() => space = Some(at),
            _ => {}
        }
    }
    None
}

fn markdown_link(destination: &str) -> Option<Found> {
    if destination.is_empty() || has_scheme(destination) || destination.starts_with("//") {
        return None;
    }
    let (target, anchor) = split_anchor(destination);
    let target = target.split('?').next().unwrap_or(target);
    if target.is_empty() && anchor.is_none() {
        return None;
    }
    Some((percent_decoded(&unescaped(target)), anchor.map(percent_decoded), false))
}

fn has_scheme(destination: &str) -> bool {
    destination.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

/// `\(` is `(`.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_escape = c == '\\' && chars.peek().is_some_and(char::is_ascii_punctuation);
        if !is_escape {
            out.push(c);
        } else if let Some(next) = chars.next() {
            out.push(next);
        }
    }
    out
}

/// Decodes `%20`; what does not decode to UTF-8 stays as written.
fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = (*byte == b'%').then(|| after.get(..2)).flatten();
        let decoded = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match decoded {
            Some(value) => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or(&[]);
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(note: &str) -> Vec<String> {
        let lines = markdown::lines(note, 0);
        let show = |link: Link| {
            let mark = match (link.is_embed, link.is_wiki) {
                (true, true) => "![[",
                (false, true) => "[[",
                (true, false) => "!(",
                (false, false) => "(",
            };
            let anchor = link.anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
            format!("{}{mark}{}{anchor}", link.line, link.target)
        };
        links(&lines).into_iter().map(show).collect()
    }

    #[test]
    fn wiki_links_of_every_shape() {
        let note = "[[A]] ![[B.png]] [[C#H|alias]]\n| [[D\\|x]] | [[E#^b1]] |\n[[#Self]] [[Sq]uare]] [[ F ]]\n\
                    [[out [[G]] [[https://x.y]] [[]] \\[[no]] `[[code]]`\n```\n[[fence]]\n```\n[[H#a#b]]";
        assert_eq!(
            found(note),
            [
                "1[[A",
                "1![[B.png",
                "1[[C#H",
                "2[[D",
                "2[[E#^b1",
                "3[[#Self",
                "3[[Sq]uare",
                "3[[F",
                "4[[G",
                "4[[https://x.y",
                "8[[H#a#b",
            ]
        );
    }

    #[test]
    fn markdown_links_of_every_shape() {
        let note = "[a](My%20Note.md) [b](<with space.md> \"t\") ![c](img.png) [d](x.md#Head%20er 't')\n\
                    [e](https://x.y/z.md) [f](mailto:a@b) [g](#here) [h](a(b).md) [i](../up/n.md?x=1)\n\
                    [![j](in.png)](out.md) [k]: ref.md\n[l](100%.md) [m](caf%C3%A9.md) - [ ] task [n] (no.md)";
        assert_eq!(
            found(note),
            [
                "1(My Note.md",
                "1(with space.md",
                "1!(img.png",
                "1(x.md#Head er",
                "2(#here",
                "2(a(b).md",
                "2(../up/n.md",
                "3(out.md",
                "3!(in.png",
                "3(ref.md",
                "4(100%.md",
                "4(café.md",
            ]
        );
    }

    #[test]
    fn properties_hold_wiki_links_only() {
        let lines = markdown::lines("---\nup: \"[[P]]\"\ntags: [a](b)\n---\n[[Q]]", 31);
        let targets: Vec<String> = links(&lines).into_iter().map(|link| link.target).collect();
        assert_eq!(targets, ["P", "Q"]);
    }
}
