//! Reads what a person types after `/capture`: free text with options before
//! or after it, as one raw string that no shell has seen.
//!
//! The text is sacred: a word that is not certainly an option stays in it. So
//! options count only in one unbroken run at the start or at the end; a flag
//! named in the middle of a sentence is part of the sentence.

use crate::error::{Error, ErrorKind, Result};

/// What the options of a capture say; the text stands apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `--domain`, as typed.
    pub domain: Option<String>,
    /// `--tags`, split at commas, as typed.
    pub tags: Vec<String>,
    /// `--title`.
    pub title: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--source`.
    pub source: Option<String>,
}

/// Splits `raw` into options and text; the text is verbatim except for blanks
/// and line breaks around it.
///
/// Values are one word, a quoted string, or unquoted words at the end: up to
/// 12 for `--title`, a comma-separated list for `--tags`. A leading `--` makes
/// all of the rest text.
///
/// # Errors
/// When an option occurs twice or has no value.
pub fn parse(raw: &str) -> Result<(Options, &str)> {
    let mut options = Options::default();
    let mut text = raw.trim();
    while let Some((flag, rest)) = take_flag(text) {
        let Some((value, rest)) = take_leading_value(rest) else { break };
        set(&mut options, flag, &value)?;
        text = rest.trim_start();
    }
    if let Some(rest) = text.strip_prefix("--").filter(|rest| starts_blank(rest)) {
        return Ok((options, rest.trim()));
    }
    for (start, _) in text.match_indices(['-', '\u{2014}', '\u{2013}']) {
        let (before, run) = text.split_at(start);
        if !before.is_empty() && !before.ends_with(char::is_whitespace) {
            continue;
        }
        if let Some(found) = parse_run(run) {
            for (flag, value) in found {
                set(&mut options, flag, &value)?;
            }
            return Ok((options, before.trim_end()));
        }
    }
    if take_flag(text).is_some_and(|(_, rest)| rest.trim().is_empty()) {
        return Err(input(format!("{text} needs a value")));
    }
    Ok((options, text))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Domain,
    Tags,
    Title,
    Kind,
    Source,
}

const FLAGS: [(&str, Flag); 7] = [
    ("domain", Flag::Domain),
    ("tags", Flag::Tags),
    ("tag", Flag::Tags),
    ("title", Flag::Title),
    ("type", Flag::Kind),
    ("source", Flag::Source),
    ("url", Flag::Source),
];

/// Takes a flag off the start of `text`. Phones and word processors turn `--`
/// into a dash, so a dash counts as well.
fn take_flag(text: &str) -> Option<(Flag, &str)> {
    let rest = ["--", "\u{2014}", "\u{2013}"].iter().find_map(|dash| text.strip_prefix(dash))?;
    FLAGS.iter().find_map(|(name, flag)| {
        let rest = rest.strip_prefix(name)?;
        let rest = rest.strip_prefix('=').or_else(|| starts_blank(rest).then(|| rest.trim_start()));
        rest.map(|rest| (*flag, rest))
    })
}

fn starts_blank(text: &str) -> bool {
    text.is_empty() || text.starts_with(char::is_whitespace)
}

/// The value of an option before the text: one word or a quoted string, or a
/// list whose commas are followed by blanks.
fn take_leading_value(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = take_quoted(text) {
        return Some(quoted);
    }
    let mut end = 0;
    loop {
        let (_, tail) = text.split_at(end);
        let word = tail.find(char::is_whitespace).unwrap_or(tail.len());
        end += word;
        let (value, rest) = text.split_at(end);
        let next = rest.trim_start_matches([' ', '\t']);
        if !value.ends_with(',') || starts_blank(next) {
            return (!value.is_empty()).then(|| (value.to_owned(), rest));
        }
        end = text.len() - next.len();
    }
}

/// A string in quotes, with `\` before a quote or another `\` inside it.
fn take_quoted(text: &str) -> Option<(String, &str)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' | '\'' => open,
        '\u{201c}' => '\u{201d}',
        '\u{2018}' => '\u{2019}',
        _ => return None,
    };
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((idx, c)) = chars.next() {
        if c == close {
            let (_, rest) = text.split_at(idx + c.len_utf8());
            return starts_blank(rest).then_some((value, rest));
        }
        let escaped = (c == '\\').then(|| text.split_at(idx + 1).1.chars().next()).flatten();
        match escaped.filter(|next| *next == close || *next == '\\') {
            Some(next) => {
                value.push(next);
                chars.next();
            }
            None => value.push(c),
        }
    }
    None
}

/// Reads `text` as options and nothing else, to its end; `None` when any of it
/// is something else.
fn parse_run(text: &str) -> Option<Vec<(Flag, String)>> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (flag, tail) = take_flag(rest)?;
        let (value, tail) = match take_quoted(tail) {
            Some(quoted) => quoted,
            None => take_words(flag, tail)?,
        };
        found.push((flag, value));
        rest = tail.trim_start();
    }
    (!found.is_empty()).then_some(found)
}

/// The unquoted words up to the next flag or the end, when they can be a value
/// of `flag`.
fn take_words(flag: Flag, text: &str) -> Option<(String, &str)> {
    let end = text
        .char_indices()
        .filter(|(idx, c)| {
            let (before, tail) = text.split_at(*idx);
            !c.is_whitespace() && before.ends_with(char::is_whitespace) && take_flag(tail).is_some()
        })
        .map(|(idx, _)| idx)
        .next()
        .unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    let value = value.trim();
    let n_words = value.split_whitespace().count();
    let fits = match flag {
        Flag::Title => n_words <= 12,
        Flag::Domain => n_words <= 2,
        Flag::Kind | Flag::Source => n_words == 1,
        Flag::Tags => value.split(',').all(|tag| tag.split_whitespace().count() <= 2),
    };
    let fits = fits && n_words > 0 && !value.contains('\n');
    fits.then(|| (value.to_owned(), rest))
}

fn set(options: &mut Options, flag: Flag, value: &str) -> Result<()> {
    let value = value.trim().to_owned();
    let (name, slot) = match flag {
        Flag::Tags => {
            let tags = value.split(',').map(|tag| tag.trim().to_owned());
            options.tags.extend(tags.filter(|tag| !tag.is_empty()));
            return Ok(());
        }
        Flag::Domain => ("--domain", &mut options.domain),
        Flag::Title => ("--title", &mut options.title),
        Flag::Kind => ("--type", &mut options.kind),
        Flag::Source => ("--source", &mut options.source),
    };
    if value.is_empty() {
        return Err(input(format!("{name} needs a value")));
    }
    if slot.replace(value).is_some() {
        return Err(input(format!("{name} is given twice")));
    }
    Ok(())
}

fn input(message: String) -> Error {
    Error::new(ErrorKind::Input, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, text: &str, options: Options) {
        assert_eq!(parse(raw).unwrap(), (options, text), "{raw:?}");
    }

    fn options(domain: &str, tags: &[&str], title: &str) -> Options {
        let set = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Options { domain: set(domain), tags, title: set(title), ..Options::default() }
    }

    #[test]
    fn options_after_the_text() {
        check("use WAL --domain data --tags a,b", "use WAL", options("data", &["a", "b"], ""));
        check("use WAL --tags a, b --domain=data", "use WAL", options("data", &["a", "b"], ""));
        check("x --title \"A \\\"b\\\" c\" --tags a", "x", options("", &["a"], "A \"b\" c"));
        check("x --title My great title --tags a", "x", options("", &["a"], "My great title"));
        check("line one\nline two\n--domain web\n", "line one\nline two", options("web", &[], ""));
        check("x \u{2014}domain web", "x", options("web", &[], ""));
        let kind = Options {
            kind: Some("signal".into()),
            source: Some("https://x.org/a?b=c&d".into()),
            ..Options::default()
        };
        check("x --type signal --source https://x.org/a?b=c&d", "x", kind);
    }

    #[test]
    fn options_before_the_text() {
        check("--domain web use fetch", "use fetch", options("web", &[], ""));
        check("--tags a, b --title 'T t' x y", "x y", options("", &["a", "b"], "T t"));
        check("--domain web -- --tags is text", "--tags is text", options("web", &[], ""));
    }

    #[test]
    fn a_flag_in_a_sentence_is_text() {
        for text in [
            "git push --force-with-lease is safer",
            "pandoc takes --title and a file, and I keep forgetting that it wants both of them first",
            "`--domain web` is how it is typed",
            "it said --source a b c",
            "say 'hi' $(touch X) `id` \"q\" \\ end",
            "a\n\nb --tags one\ntwo",
        ] {
            check(text, text, Options::default());
        }
    }

    #[test]
    fn a_flag_without_a_value_is_an_error() {
        assert!(parse("--domain").is_err());
        assert!(parse("x --domain a --domain b").is_err());
        assert!(parse("x --title ''").is_err());
    }
}
