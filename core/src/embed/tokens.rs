//! Words and signs of a line, folded for looking them up in a word table.
//!
//! A word is a run of letters, digits and the marks on them; any other visible
//! character is a token of its own. This is how the training program splits,
//! except that it composes its texts first, where this lets a mark belong to
//! its letter either way.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use super::wordpiece::{Fold, folded_word};

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters only.
    Word,
    /// Letters and digits, or digits.
    Mixed,
    /// One character that is neither.
    Sign,
}

/// A token; its folded text is in the buffer given to [`Tokens::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// True when the token begins with an upper-case letter.
    pub(super) is_capitalised: bool,
    /// True when it is written in ASCII.
    pub(super) is_ascii: bool,
}

/// Reads the tokens of a text one after the other.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    folds: &'a [Fold],
}

impl<'a> Tokens<'a> {
    /// Starts at the beginning of `text`; `folds` are a compiled table's
    /// ready-made foldings, or empty.
    pub(super) fn of(text: &'a str, folds: &'a [Fold]) -> Self {
        Self { rest: text, folds }
    }

    /// Bytes not read yet.
    pub(super) fn n_left(&self) -> usize {
        self.rest.len()
    }

    /// Reads the next token and puts its folded form into `folded`: lower
    /// case, canonically decomposed, marks dropped.
    pub(super) fn next(&mut self, folded: &mut String) -> Option<Token> {
        folded.clear();
        let mut token = Token { kind: Kind::Word, is_capitalised: false, is_ascii: true };
        let mut is_inside = false;
        loop {
            let n_plain = self.rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            if n_plain > 0 {
                let (plain, rest) = self.rest.split_at(n_plain);
                let has_digit = plain.bytes().any(|byte| byte.is_ascii_digit());
                if !is_inside {
                    token.is_capitalised = plain.starts_with(|first: char| first.is_uppercase());
                }
                if has_digit {
                    token.kind = Kind::Mixed;
                }
                folded.push_str(plain);
                self.rest = rest;
                is_inside = true;
            }
            let Some(char) = self.rest.chars().next() else {
                break;
            };
            let is_mark = is_inside && !char.is_ascii() && char.is_mark_nonspacing();
            let is_part = is_mark || char.is_alphanumeric();
            if is_inside && !is_part {
                break;
            }
            self.rest = self.rest.get(char.len_utf8()..).unwrap_or("");
            if is_part {
                token.is_ascii = false;
                if !is_inside {
                    token.is_capitalised = char.is_uppercase();
                }
                if char.is_numeric() {
                    token.kind = Kind::Mixed;
                }
                self.fold_into(char, folded);
                is_inside = true;
            } else if !char.is_whitespace() {
                self.fold_into(char, folded);
                return Some(Token {
                    kind: Kind::Sign,
                    is_capitalised: false,
                    is_ascii: char.is_ascii(),
                });
            }
        }
        folded.make_ascii_lowercase();
        is_inside.then_some(token)
    }

    fn fold_into(&self, char: char, folded: &mut String) {
        if char.is_ascii() {
            folded.push(char);
        } else if let Some(ready) = folded_word(self.folds, char) {
            folded.push_str(ready);
        } else {
            folded.extend(char.to_lowercase().nfd().filter(|char| !char.is_mark_nonspacing()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wordpiece::{FOLD_END, FOLD_FIRST, fold_entry};
    use super::*;

    fn check(text: &str, expected: &[(&str, Kind, bool)]) {
        let mut tokens = Tokens::of(text, &[]);
        let mut folded = String::new();
        let mut found = Vec::new();
        while let Some(token) = tokens.next(&mut folded) {
            found.push((folded.clone(), token.kind, token.is_capitalised));
        }
        let found: Vec<_> =
            found.iter().map(|(folded, kind, upper)| (folded.as_str(), *kind, *upper)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_are_folded_and_signs_stand_alone() {
        use Kind::{Mixed, Sign, Word};
        check("", &[]);
        check(" \t\n", &[]);
        check(
            "¿Qué AÑO?",
            &[("¿", Sign, false), ("que", Word, true), ("ano", Word, true), ("?", Sign, false)],
        );
        check(
            "snake_case-x",
            &[
                ("snake", Word, false),
                ("_", Sign, false),
                ("case", Word, false),
                ("-", Sign, false),
                ("x", Word, false),
            ],
        );
        check("utf8 3ª", &[("utf8", Mixed, false), ("3ª", Mixed, false)]);
        check("Éa", &[("ea", Word, true)]);
    }

    #[test]
    fn a_decomposed_word_reads_like_the_composed_one() {
        check("pin\u{303}a", &[("pina", Kind::Word, false)]);
        check("piña", &[("pina", Kind::Word, false)]);
    }

    #[test]
    fn ready_made_foldings_change_nothing() {
        let folds: Vec<Fold> =
            (FOLD_FIRST..FOLD_END).map(|code| fold_entry(char::from_u32(code).unwrap())).collect();
        for char in '\u{80}'..'\u{3000}' {
            let text = format!("a{char}b {char}c {char} d");
            let read = |folds| {
                let mut tokens = Tokens::of(&text, folds);
                let (mut folded, mut all) = (String::new(), Vec::new());
                while let Some(token) = tokens.next(&mut folded) {
                    all.push((token, folded.clone()));
                }
                all
            };
            assert_eq!(read(&folds), read(&[]), "{char:?}");
        }
    }
}
