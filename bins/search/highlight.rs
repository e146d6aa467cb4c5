//! Which words of a text are the query's: what the keyword analysis takes for
//! the same term, so that `connections` lights up for `connection`.

use std::collections::HashSet;
use std::ops::Range;

use postil_core::analyse::{self, TermKind};
use postil_core::model::Language;

/// A query's terms.
pub(crate) struct Highlight {
    terms: HashSet<String>,
    /// Those of identifiers as a whole.
    wholes: HashSet<String>,
}

impl Highlight {
    pub(crate) fn new(query: &str, language: Language) -> Self {
        let all = analyse::query(query, language);
        // Function words light up only where there is nothing else.
        let has_content = all.iter().any(|term| term.weight >= 0.5);
        let terms: Vec<_> =
            all.into_iter().filter(|term| !has_content || term.weight >= 0.5).collect();
        let wholes = terms.iter().filter(|term| term.kind == TermKind::Whole);
        Self {
            wholes: wholes.map(|term| term.term.clone()).collect(),
            terms: terms.into_iter().map(|term| term.term).collect(),
        }
    }

    /// Returns the byte ranges of the words that match, each with the term.
    pub(crate) fn matches(&self, line: &str, language: Language) -> Vec<(Range<usize>, String)> {
        let mut found = Vec::new();
        for token in pieces(line, |c| !c.is_whitespace()) {
            let text = &line.get(token.clone()).unwrap_or("");
            let trimmed = text.trim_matches(|c: char| !c.is_alphanumeric());
            let is_compound = trimmed.contains(|c: char| !c.is_alphanumeric());
            if is_compound && first_in(&self.wholes, trimmed, language).is_some() {
                let start = token.start + text.find(trimmed).unwrap_or(0);
                found.push((start..start + trimmed.len(), trimmed.to_owned()));
                continue;
            }
            for word in pieces(text, |c| c.is_alphanumeric() || is_mark(c)) {
                let part = text.get(word.clone()).unwrap_or("");
                if let Some(term) = first_in(&self.terms, part, language) {
                    found.push((token.start + word.start..token.start + word.end, term));
                }
            }
        }
        found
    }
}

/// Returns the first term of `text` that is among `wanted`.
fn first_in(wanted: &HashSet<String>, text: &str, language: Language) -> Option<String> {
    let mut found = None;
    analyse::terms(text, language, &mut |term| {
        if found.is_none() && wanted.contains(term) {
            found = Some(term.to_owned());
        }
    });
    found
}

/// A combining mark belongs to the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns the longest runs of characters that are `inside`.
fn pieces(text: &str, inside: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (inside(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| from..text.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lit(query: &str, line: &str, language: Language) -> Vec<String> {
        let found = Highlight::new(query, language).matches(line, language);
        found.into_iter().map(|(range, _)| line.get(range).unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn words_light_up_by_stem_and_fold() {
        let english = Language::ENGLISH;
        assert_eq!(
            lit("connection", "Two connections, a Connection.", english),
            ["connections", "Connection"]
        );
        assert_eq!(lit("sesión", "La SESION (nueva)", Language::SPANISH), ["SESION"]);
        assert_eq!(lit("the pool", "the pool", english), ["pool"]);
        assert!(lit("pool", "spool poolside", english).is_empty());
    }

    #[test]
    fn identifiers_light_up_whole() {
        let line = "call `std::unique_ptr`, never unique";
        assert!(
            lit("std::unique_ptr", line, Language::ENGLISH).contains(&"std::unique_ptr".to_owned())
        );
    }
}
