//! Keyword analysis: the terms a text is found by, and the terms a query asks
//! for.
//!
//! Both sides go through the same scanner, so whatever a note spells, a query
//! that spells it the same way finds. A word counts as it stands (folded to
//! lower case without accents) and by its stem, as two terms where they
//! differ: stemming alone gains on prose and loses on technical text, and the
//! exact form decides between words that share a stem. Identifiers count whole
//! (`std::unique_ptr`, `PIO-1384`, `1.0.21`, `C++`) and in parts; `-` and `_`
//! inside a name are dropped from the whole form, so that `snake_case`,
//! `snakeCase` and `snake-case` are one name. CJK runs count as bigrams.
//!
//! Terms hold only characters that FTS5's `unicode61` keeps whole with
//! `categories 'L* N* Co'` and `tokenchars '_-.:/@+#'''`, so that the same
//! terms, joined by spaces, can be stored in an FTS5 table.
//!
//! Pure: no I/O, no clock, no configuration.

mod fold;
mod query;
mod scan;
mod stem;
mod stop;

pub use query::{QueryTerm, TermKind, query};
pub use stop::is_stop;

use crate::model::Language;
use scan::{Piece, Scanner};
use stem::CachedStemmer;

/// Longest term in bytes; longer words are cut, longer compounds count in
/// parts only.
pub const MAX_TERM_BYTES: usize = 64;

/// Calls `emit` with every word of a text, folded: no stems, no compounds, no
/// bigrams; the parts of identifiers count.
pub fn words(text: &str, emit: &mut dyn FnMut(&str)) {
    Scanner::new(text).run(&mut |piece| {
        if let Piece::Word(word) = piece {
            emit(word);
        }
    });
}

/// Calls `emit` with every term of one field, in text order, repeats included.
///
/// An occurrence of a word is one call with its exact form and, where the stem
/// in `language` differs, one with the stem; an occurrence of a compound is one
/// call with the whole and one for each part.
pub fn terms(text: &str, language: Language, emit: &mut dyn FnMut(&str)) {
    CachedStemmer::with(language, |stemmer| {
        Scanner::new(text).run(&mut |piece| match piece {
            Piece::Word(word) => {
                emit(word);
                if let Some(stem) = stemmer.stem(word) {
                    emit(stem);
                }
            }
            Piece::Whole(term) | Piece::Verbatim(term) | Piece::Gram(term) => emit(term),
            Piece::Single(term) if term.chars().all(fold::is_ideograph) => emit(term),
            Piece::Single(_) | Piece::End => {}
        });
    });
}

/// Guesses the language of a text by its function words: for where there is no
/// model to tell.
pub fn language(text: &str) -> Language {
    let (mut n_english, mut n_spanish) = (0, 0);
    words(text, &mut |word| match (
        stop::is_stop(word, Language::ENGLISH),
        stop::is_stop(word, Language::SPANISH),
    ) {
        (true, false) => n_english += 1,
        (false, true) => n_spanish += 1,
        _ => {}
    });
    if n_spanish > n_english { Language::SPANISH } else { Language::ENGLISH }
}

/// True for a function word of English or Spanish; `word` is folded.
pub fn is_function_word(word: &str) -> bool {
    stop::is_stop(word, Language::ENGLISH) || stop::is_stop(word, Language::SPANISH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, language: Language) -> Vec<String> {
        let mut out = Vec::new();
        terms(text, language, &mut |t| out.push(t.to_owned()));
        out
    }

    fn en(text: &str) -> Vec<String> {
        all(text, Language::ENGLISH)
    }

    #[test]
    fn a_word_counts_exactly_and_by_its_stem() {
        assert_eq!(en("Running dogs run"), ["running", "run", "dogs", "dog", "run"]);
        assert_eq!(
            all("Sesión con índices", Language::SPANISH),
            ["sesion", "con", "indices", "indic"]
        );
    }

    #[test]
    fn accents_and_case_never_matter() {
        for (a, b) in [("AÑO Índice", "ano indice"), ("e\u{301}tude", "étude")] {
            assert_eq!(all(a, Language::SPANISH), all(b, Language::SPANISH));
        }
    }

    #[test]
    fn identifiers_count_whole_and_in_parts() {
        let has = |text: &str, terms: &[&str]| {
            let got = en(text);
            for t in terms {
                assert!(got.iter().any(|g| g == t), "{text}: no {t} in {got:?}");
            }
        };
        has("std::unique_ptr<T>", &["std::uniqueptr", "uniqueptr", "unique", "ptr", "std"]);
        has("see @scope/pkg.", &["scope/pkg", "scope", "pkg"]);
        has("PIO-1384", &["pio1384", "pio", "1384"]);
        has("version 1.0.21,", &["1.0.21"]);
        has("C++ and C#, g++", &["c++", "c#", "g++"]);
        has(
            "parseHttpRequest HTTPServer",
            &["parsehttprequest", "parse", "http", "request", "server"],
        );
        has("core/src/lib.rs", &["core/src/lib.rs", "lib.rs", "core", "lib", "rs"]);
        has("python3", &["python3", "python"]);
        has("The APIs", &["apis", "api"]);
        has("don't Tesla's", &["dont", "tesla"]);
    }

    #[test]
    fn spellings_of_one_name_share_a_term() {
        for text in ["snake_case", "snake-case", "snakeCase", "SnakeCase"] {
            assert!(en(text).contains(&"snakecase".to_owned()), "{text}");
        }
    }

    #[test]
    fn the_language_shows_in_the_function_words() {
        assert_eq!(language("¿Cómo hago una copia de la base de datos?"), Language::SPANISH);
        assert_eq!(language("How do I back up the database?"), Language::ENGLISH);
        assert_eq!(language("git push --force"), Language::ENGLISH);
    }

    #[test]
    fn cjk_counts_as_bigrams() {
        assert_eq!(en("設備(devices)"), ["設", "設備", "備", "devices", "devic"]);
        assert_eq!(en("カメラ"), ["カメ", "メラ"]);
        assert_eq!(en("設"), ["設"]);
    }

    #[test]
    fn terms_survive_the_tokenizer_that_stores_them() {
        let text = "a_b::c/d.e@f#g+h C++ — naïve ½ Straße 設備 ไทย \u{e000}x ’tis 'q' x² ﬁ ª";
        for term in en(text) {
            assert!(
                !term.is_empty()
                    && term.chars().all(|c| c.is_alphanumeric()
                        || "_-.:/@+#'".contains(c)
                        || ('\u{e000}'..='\u{f8ff}').contains(&c)),
                "{term:?}"
            );
        }
    }

    #[test]
    fn long_words_are_cut_and_long_compounds_split() {
        let blob = "x".repeat(500);
        assert_eq!(en(&blob), ["x".repeat(MAX_TERM_BYTES)]);
        let path = format!("{}end", "part/".repeat(40));
        let got = en(&path);
        assert!(got.iter().all(|t| t.len() <= MAX_TERM_BYTES));
        assert!(got.contains(&"end".to_owned()));
    }

    #[test]
    fn any_text_is_analysed_without_a_panic() {
        for text in ["", "---", "''''", "+", "#", "::", "a:", "-a-", "\u{301}", "_", "ßßß", "👩‍🚀"]
        {
            en(text);
            query(text, Language::SPANISH);
        }
    }
}
