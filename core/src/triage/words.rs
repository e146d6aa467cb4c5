//! Finds the words and phrases of a table in a text. Accents and case do not
//! matter; a final `*` stands for any ending. Pure.

use std::collections::HashMap;

use crate::text;

/// A text as folded words, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(Vec<String>);

impl Words {
    /// Splits at everything but letters and digits; `+` and `#` stay at the end
    /// of a word, for `C++` and `C#`.
    pub(super) fn of(text: &str) -> Self {
        let mut words = Vec::new();
        let mut word = String::new();
        let folded = text::fold(text);
        for c in folded.chars().chain([' ']) {
            let is_sign = matches!(c, '+' | '#') && word.chars().count() == 1
                || (c == '+' && word.ends_with('+'));
            if c.is_alphanumeric() || is_sign {
                word.push(c);
            } else if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        }
        Self(words)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The words themselves.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// A table of phrases, each with a number the caller knows it by.
#[derive(Clone, Debug, Default)]
pub(super) struct Phrases {
    phrases: Vec<Phrase>,
    /// Phrases by their first word, where it is a whole word.
    by_word: HashMap<String, Vec<usize>>,
    /// Phrases whose first word is a beginning, by its first two characters.
    by_start: HashMap<String, Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Phrase {
    shown: String,
    parts: Vec<Part>,
    id: usize,
}

#[derive(Clone, Debug)]
struct Part {
    text: String,
    is_start: bool,
}

impl Part {
    fn matches(&self, word: &str) -> bool {
        if self.is_start { word.starts_with(&self.text) } else { word == self.text }
    }
}

/// A phrase found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// The phrase as the table spells it, without its `*`.
    pub(super) phrase: &'a str,
    /// The number it was added under.
    pub(super) id: usize,
    /// How many words it has.
    pub(super) n_words: usize,
    /// How often it occurs.
    pub(super) count: usize,
}

impl Phrases {
    /// Adds a phrase under a number; one without letters is ignored.
    pub(super) fn add(&mut self, phrase: &str, id: usize) {
        let parts: Vec<Part> = phrase
            .split_whitespace()
            .flat_map(|word| {
                let is_start = word.ends_with('*');
                let words = Words::of(word).0;
                let last = words.len().saturating_sub(1);
                words
                    .into_iter()
                    .enumerate()
                    .map(move |(idx, text)| Part { text, is_start: is_start && idx == last })
            })
            .collect();
        let Some(first) = parts.first() else { return };
        let table = if first.is_start { &mut self.by_start } else { &mut self.by_word };
        let key = if first.is_start { start_of(&first.text) } else { first.text.clone() };
        table.entry(key).or_default().push(self.phrases.len());
        self.phrases.push(Phrase { shown: phrase.replace('*', ""), parts, id });
    }

    /// Returns the phrases that occur in `words`, in the order of the table,
    /// each once.
    pub(super) fn find(&self, words: &Words) -> Vec<Found<'_>> {
        let mut counts = vec![0_usize; self.phrases.len()];
        for (at, word) in words.0.iter().enumerate() {
            let whole = self.by_word.get(word).into_iter().flatten();
            let starts = self.by_start.get(&start_of(word)).into_iter().flatten();
            for idx in whole.chain(starts).copied() {
                let Some(phrase) = self.phrases.get(idx) else { continue };
                let tail = words.0.iter().skip(at);
                let n_matching =
                    phrase.parts.iter().zip(tail).filter(|(part, word)| part.matches(word)).count();
                if n_matching == phrase.parts.len()
                    && let Some(count) = counts.get_mut(idx)
                {
                    *count += 1;
                }
            }
        }
        let found = self.phrases.iter().zip(counts).filter(|(_, count)| *count > 0);
        found
            .map(|(phrase, count)| Found {
                phrase: &phrase.shown,
                id: phrase.id,
                n_words: phrase.parts.len(),
                count,
            })
            .collect()
    }
}

/// Reads a table of `[section]` lines and comma-separated phrases; `#` starts a
/// comment line.
pub(super) fn sections(table: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sections.push((name, Vec::new()));
        } else if let Some((_, phrases)) = sections.last_mut() {
            let items = line.split(',').map(str::trim);
            phrases.extend(items.filter(|item| !item.is_empty()));
        }
    }
    sections
}

fn start_of(word: &str) -> String {
    word.chars().take(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_match_whole_words_and_beginnings() {
        let mut table = Phrases::default();
        for (id, phrase) in ["git", "base de datos", "cifrad*", "c++", "inyección sql", "next js"]
            .into_iter()
            .enumerate()
        {
            table.add(phrase, id);
        }
        let find = |text: &str| -> Vec<usize> {
            table.find(&Words::of(text)).iter().map(|found| found.id).collect()
        };
        assert_eq!(find("git, Git; digital legit"), [0]);
        assert_eq!(find("una Base de Datos cifrada"), [1, 2]);
        assert_eq!(find("C++ y la INYECCION SQL en Next.js"), [3, 4, 5]);
        assert_eq!(find("base de"), Vec::<usize>::new());
        assert_eq!(table.find(&Words::of("git git"))[0].count, 2);
    }
}
