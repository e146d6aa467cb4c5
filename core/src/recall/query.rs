//! A query as a person types it: words, `"phrases"`, `-exclusions` and
//! `field:value` filters. Nothing a person types is an error.

use crate::store::NoteFilter;
use crate::text::fold;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What is searched for: the words, those of phrases included.
    pub text: String,
    /// Phrases that must occur as they stand, folded.
    pub phrases: Vec<String>,
    /// Words or phrases that must not occur, folded.
    pub excluded: Vec<String>,
    /// What the note must be.
    pub filter: NoteFilter,
}

impl Query {
    /// A query that is searched for word for word, without any syntax: what a
    /// hook asks, where the text was not written for us.
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Says whether a passage has the phrases and none of what is excluded.
    pub(super) fn accepts(&self, text: &str, heading: &str, title: &str) -> bool {
        if self.phrases.is_empty() && self.excluded.is_empty() {
            return true;
        }
        let folded = flatten(&fold(&format!("{title}\n{heading}\n{text}")));
        self.phrases.iter().all(|phrase| has_words(&folded, phrase))
            && !self.excluded.iter().any(|phrase| has_words(&folded, phrase))
    }
}

/// Parses what a person typed.
pub fn parse(input: &str) -> Query {
    let mut query = Query::default();
    for token in tokens(input) {
        let (is_excluded, body) = match token.body.strip_prefix('-') {
            Some(rest) if !rest.is_empty() && !token.is_quoted => (true, rest),
            _ => (token.excluded, token.body.as_str()),
        };
        if is_excluded {
            query.excluded.push(flatten(&fold(body)));
        } else if !token.is_quoted && query.filter.set(body) {
        } else {
            if token.is_quoted {
                query.phrases.push(flatten(&fold(body)));
            }
            if !query.text.is_empty() {
                query.text.push(' ');
            }
            query.text.push_str(body);
        }
    }
    query.phrases.retain(|phrase| !phrase.is_empty());
    query.excluded.retain(|phrase| !phrase.is_empty());
    query
}

struct Token {
    body: String,
    is_quoted: bool,
    excluded: bool,
}

/// Splits at blanks outside double quotes; an unclosed quote is a character.
fn tokens(input: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = input.trim_start();
    while !rest.is_empty() {
        let (excluded, body) = match rest.strip_prefix("-\"") {
            Some(body) => (true, Some(body)),
            None => (false, rest.strip_prefix('"')),
        };
        if let Some((phrase, after)) = body.and_then(|body| body.split_once('"')) {
            tokens.push(Token { body: phrase.to_owned(), is_quoted: true, excluded });
            rest = after.trim_start();
            continue;
        }
        let (word, after) = split_word(rest);
        tokens.push(Token { body: word, is_quoted: false, excluded: false });
        rest = after.trim_start();
    }
    tokens
}

/// Takes one word; `field:"several words"` is one.
fn split_word(input: &str) -> (String, &str) {
    let end = input.find(char::is_whitespace).unwrap_or(input.len());
    let (word, rest) = input.split_at(end);
    if let Some((field, value)) = input.split_once(":\"")
        && !field.is_empty()
        && field.chars().all(|c| c.is_ascii_alphabetic())
        && let Some((value, rest)) = value.split_once('"')
    {
        return (format!("{field}:{value}"), rest);
    }
    (word.to_owned(), rest)
}

/// Makes runs of white space one blank.
fn flatten(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says whether `phrase` stands in `text` between word boundaries.
fn has_words(text: &str, phrase: &str) -> bool {
    let starts_word = phrase.chars().next().is_some_and(char::is_alphanumeric);
    let ends_word = phrase.chars().last().is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().last());
        let after = text.get(at + phrase.len()..).and_then(|text| text.chars().next());
        let is_glued = starts_word && before.is_some_and(char::is_alphanumeric)
            || ends_word && after.is_some_and(char::is_alphanumeric);
        !is_glued
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_and_exclusions_are_told_apart() {
        let query = parse("fix \"Race  Condition\" -windows -\"old way\" now");
        assert_eq!(query.text, "fix Race  Condition now");
        assert_eq!(query.phrases, ["race condition"]);
        assert_eq!(query.excluded, ["windows", "old way"]);
    }

    #[test]
    fn filters_are_taken_out_of_the_text() {
        let query = parse("sqlite tag:#db type:howto folder:\"my notes/x\" since:2025-01-02");
        assert_eq!(query.text, "sqlite");
        assert_eq!(query.filter.tags, ["db"]);
        assert_eq!(query.filter.kind.as_deref(), Some("howto"));
        assert_eq!(query.filter.folder.as_deref(), Some("my notes/x"));
        assert_eq!(query.filter.since.as_deref(), Some("2025-01-02"));
    }

    #[test]
    fn what_only_looks_like_syntax_is_text() {
        for text in ["std::unique_ptr", "http://x.y", "a - b", "don't", "say \"hi", "12:30", "-"] {
            assert_eq!(parse(text).text, text);
            assert!(parse(text).excluded.is_empty(), "{text}");
            assert!(parse(text).filter.is_empty(), "{text}");
        }
    }

    #[test]
    fn phrases_match_whole_words_folded() {
        let query = parse("\"sesión nueva\" -\"log\"");
        assert!(query.accepts("Una SESION\nnueva, catalog", "", ""));
        assert!(!query.accepts("una sesión nuevas", "", ""));
        assert!(!query.accepts("sesion nueva log", "", ""));
    }
}
