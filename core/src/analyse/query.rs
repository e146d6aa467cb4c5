//! The terms a query asks for, weighted.

use super::fold;
use super::scan::{Piece, Scanner};
use super::{stem, stop};
use crate::model::Language;

/// How a query term stands to what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermKind {
    /// A word as typed, folded.
    Exact,
    /// The stem of a word.
    Stem,
    /// An identifier as a whole.
    Whole,
    /// A bigram, or the only character, of a script without spaces.
    Gram,
}

/// One term to look up, with its share in the score.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The term as [`super::terms`] emits it.
    pub term: String,
    /// Factor of the term's BM25 score, above 0 and at most 1.
    pub weight: f32,
    /// How the term stands to what was typed.
    pub kind: TermKind,
    /// Which word of the query it stems from, from 0: the exact form and the
    /// stem of a word share it, as do a compound and its parts.
    pub word: u16,
}

/// Weight of a stem beside its exact form.
const STEM: f32 = 0.7;
/// Weight of a function word that stands beside other words: worth 0.003 nDCG
/// on questions, where `who` and `quién` say what is asked for; at 1 they cost
/// more than that.
const STOP: f32 = 0.2;
/// More terms than this are a pasted text, not a question; the first count.
const MAX_TERMS: usize = 64;

/// Returns the terms of a query, each once, in order of first mention.
///
/// Function words count little, and have no stems.
pub fn query(text: &str, language: Language) -> Vec<QueryTerm> {
    let mut out = Vec::<QueryTerm>::new();
    let mut word = 0_u16;
    let mut in_compound = false;
    Scanner::new(text).run(&mut |piece| {
        let mut add = |term: &str, weight: f32, kind: TermKind| {
            if term.is_empty() || weight <= 0.0 || out.len() >= MAX_TERMS {
                return;
            }
            match out.iter_mut().find(|t| t.term == term) {
                Some(old) if weight > old.weight => (old.weight, old.kind) = (weight, kind),
                Some(_) => {}
                None => out.push(QueryTerm { term: term.to_owned(), weight, kind, word }),
            }
        };
        match piece {
            Piece::Word(w) => {
                if !in_compound && stop::is_stop(w, language) {
                    return add(w, STOP, TermKind::Exact);
                }
                add(w, 1.0, TermKind::Exact);
                if let Some(s) = stem::stem_once(w, language) {
                    add(&s, STEM, TermKind::Stem);
                }
            }
            Piece::Verbatim(w) => add(w, 1.0, TermKind::Exact),
            Piece::Whole(w) => {
                in_compound = true;
                add(w, 1.0, TermKind::Whole);
            }
            Piece::Gram(g) => add(g, 1.0, TermKind::Gram),
            Piece::Single(_) => {}
            Piece::End => {
                in_compound = false;
                word = word.saturating_add(1);
            }
        }
    });
    out.retain(|t| t.term.chars().any(fold::is_word));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(text: &str, language: Language) -> Vec<String> {
        query(text, language).into_iter().map(|t| t.term).collect()
    }

    #[test]
    fn function_words_count_little() {
        let got = query("what is the budget", Language::ENGLISH);
        let weights: Vec<_> = got.iter().map(|t| (t.term.as_str(), t.weight)).collect();
        assert_eq!(weights, [("what", STOP), ("is", STOP), ("the", STOP), ("budget", 1.0)]);
        assert_eq!(terms_of("¿qué es?", Language::SPANISH), ["que", "es"]);
    }

    #[test]
    fn each_term_stands_once_and_keeps_its_word() {
        let got = query("Dogs dog dogs", Language::ENGLISH);
        let terms: Vec<_> = got.iter().map(|t| (t.term.as_str(), t.word)).collect();
        assert_eq!(terms, [("dogs", 0), ("dog", 0)]);
        assert_eq!(got[1].kind, TermKind::Exact);
    }

    #[test]
    fn what_a_note_spells_a_query_finds() {
        for text in
            ["std::unique_ptr", "@scope/pkg", "1.0.21", "PIO-1384", "C++", "設備", "multi-agent"]
        {
            let mut indexed = Vec::new();
            super::super::terms(text, Language::ENGLISH, &mut |t| indexed.push(t.to_owned()));
            for t in query(text, Language::ENGLISH) {
                assert!(indexed.contains(&t.term), "{text}: {t:?} not in {indexed:?}");
            }
        }
    }
}
