//! Snowball stems, with a small cache for the index side.
//!
//! Words arrive folded. Snowball's Spanish rules look for accents in a few
//! suffixes (`-ción`); stemming folded text forgoes those, and in return a
//! question typed without accents has the same stems as a note written with
//! them.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};

use crate::model::Language;

/// Longest word that is stemmed, in bytes; longer ones are not words.
const MAX_WORD: usize = 24;
const MIN_WORD: usize = 3;
/// Slots of the direct-mapped cache: 0.9 MB, holds the vocabulary in use.
const N_SLOTS: usize = 1 << 14;

#[derive(Clone, Copy)]
struct Slot {
    word: [u8; MAX_WORD],
    stem: [u8; MAX_WORD],
    word_len: u8,
    stem_len: u8,
}

const EMPTY: Slot = Slot { word: [0; MAX_WORD], stem: [0; MAX_WORD], word_len: 0, stem_len: 0 };

/// Returns the stemmer of a language; English where there is no other.
fn stemmer(language: Language) -> Stemmer {
    Stemmer::create(match &language.0 {
        b"es" => Algorithm::Spanish,
        b"fr" => Algorithm::French,
        b"de" => Algorithm::German,
        b"it" => Algorithm::Italian,
        b"pt" => Algorithm::Portuguese,
        b"nl" => Algorithm::Dutch,
        _ => Algorithm::English,
    })
}

fn can_stem(word: &str) -> bool {
    (MIN_WORD..=MAX_WORD).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// Returns the stem of a folded word where it differs from the word.
pub(super) fn stem_once(word: &str, language: Language) -> Option<String> {
    if !can_stem(word) {
        return None;
    }
    let stem = stemmer(language).stem(word);
    (stem != word).then(|| stem.into_owned())
}

/// A stemmer that remembers the words it has seen; one per thread.
pub(super) struct CachedStemmer {
    language: Language,
    stemmer: Stemmer,
    slots: Vec<Slot>,
}

thread_local! {
    static STEMMERS: RefCell<Vec<CachedStemmer>> = const { RefCell::new(Vec::new()) };
}

impl CachedStemmer {
    /// Runs `work` with this thread's stemmer for the language.
    pub(super) fn with<R>(language: Language, work: impl FnOnce(&mut Self) -> R) -> R {
        let mut own =
            STEMMERS.with_borrow_mut(|all| match all.iter().position(|s| s.language == language) {
                Some(i) => all.swap_remove(i),
                None => Self { language, stemmer: stemmer(language), slots: vec![EMPTY; N_SLOTS] },
            });
        let result = work(&mut own);
        STEMMERS.with_borrow_mut(|all| all.push(own));
        result
    }

    /// Returns the stem of a folded word where it differs from the word.
    pub(super) fn stem(&mut self, word: &str) -> Option<&str> {
        if !can_stem(word) {
            return None;
        }
        let bytes = word.as_bytes();
        let slot = self.slots.get_mut(hash(bytes) & (N_SLOTS - 1))?;
        if slot.word.get(..usize::from(slot.word_len)) != Some(bytes) {
            let stem = self.stemmer.stem(word);
            *slot = EMPTY;
            let n = stem.len().min(MAX_WORD);
            slot.word[..bytes.len()].copy_from_slice(bytes);
            slot.stem[..n].copy_from_slice(&stem.as_bytes()[..n]);
            slot.word_len = bytes.len() as u8;
            slot.stem_len = n as u8;
        }
        let stem = slot.stem.get(..usize::from(slot.stem_len))?;
        if stem == bytes { None } else { std::str::from_utf8(stem).ok() }
    }
}

/// FNV-1a with a final mix; words are short.
fn hash(bytes: &[u8]) -> usize {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for &b in bytes {
        h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    }
    (h ^ (h >> 29)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_gives_what_the_stemmer_gives() {
        let words = ["running", "dogs", "run", "a", "internationalisation", "running"];
        CachedStemmer::with(Language::ENGLISH, |s| {
            for w in words {
                assert_eq!(s.stem(w).map(str::to_owned), stem_once(w, Language::ENGLISH), "{w}");
            }
        });
    }

    #[test]
    fn accented_and_plain_spanish_share_a_stem() {
        assert_eq!(stem_once("naciones", Language::SPANISH).as_deref(), Some("nacion"));
        assert_eq!(stem_once("nacion", Language::SPANISH), None);
    }
}
