//! Text to vectors: potion-base-8M (MinishLab, MIT), read from a table that a
//! cold process can use without parsing or copying anything.
//!
//! A vector is the sum of the rows of a text's word pieces, brought to unit
//! length: model2vec-rs's arithmetic in model2vec-rs's order, so the vectors
//! are its vectors. Nothing is truncated: model2vec-rs stops at 512 tokens
//! unless told otherwise, and the tail of a long chunk should count.

mod coarse;
mod compile;
mod install;
mod lookup;
mod map;
mod potion;
mod reading;
mod stem;
mod tokens;
mod trie;
mod word_reader;
mod wordpiece;
mod words;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use coarse::Asked;
pub use compile::{compile, verify};
pub use install::{install, tables_in};
pub use word_reader::WordReader;

use crate::error::{Error, ErrorKind, Result};
use crate::model::{DIM, Language, Vector};
use potion::Potion;
use reading::Reading;
use words::WordTable;

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
    tables: Vec<WordTable>,
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
        let mut tables =
            tables.iter().map(|path| WordTable::open(path)).collect::<Result<Vec<_>>>()?;
        // The order in which files are listed must not decide anything.
        tables.sort_by_key(|table| (table.language(), *table.digest()));
        let hash = hash_of(&tables);
        Ok(Some(Self { potion, tables, hash }))
    }

    /// Does what [`Embedder::open`] does; a model that is not compiled, or by
    /// another version or to damage, is compiled anew first. Says whether it was.
    ///
    /// Takes a second then: for what runs in the background, not for a hook.
    pub fn open_or_compile(model_dir: &Path, tables: &[PathBuf]) -> Result<(Option<Self>, bool)> {
        let has_source = model_dir.join("model.safetensors").exists();
        let is_compiled = has_source
            && match Potion::open(&model_dir.join(potion::FILE_NAME)) {
                Ok(table) if table.has_codes() => false,
                // Slower, but whole: where it cannot be replaced it will do.
                Ok(_) => compile(model_dir).is_ok(),
                Err(_) => compile(model_dir).map(|()| true)?,
            };
        Self::open(model_dir, tables).map(|embedder| (embedder, is_compiled))
    }

    /// Embeds a query: cheap in a cold process, which reads no more of the
    /// files than the query's own words.
    pub fn query(&self, text: &str) -> Embedded {
        embed(&self.potion, &self.tables, text, false)
    }

    /// Embeds a chunk: the same vector as [`Embedder::query`] gives, by the
    /// way that is fast over many texts.
    pub fn chunk(&self, text: &str) -> Embedded {
        embed(&self.potion, &self.tables, text, true)
    }

    /// Reads single words as words of `language`.
    pub fn words(&self, language: Language) -> WordReader<'_> {
        let table = self.tables.iter().find(|table| table.language() == language);
        WordReader::new(&self.potion, table)
    }

    /// Embeds a chunk with where it stands: note title and headings are mixed in
    /// with a weight of [`CONTEXT_WEIGHT`]. The language is that of `text`.
    pub fn chunk_in(&self, context: &str, text: &str) -> Embedded {
        let mut chunk = self.chunk(text);
        let around = self.chunk(context).vector;
        for (value, more) in chunk.vector.iter_mut().zip(around) {
            *value += CONTEXT_WEIGHT * more;
        }
        normalise(&mut chunk.vector, 1);
        chunk
    }

    /// Identifies everything the vectors depend on: model, tables and the way
    /// of pooling. An index made under another hash has to be rebuilt.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Tells which language `text` is read in, as [`Embedder::query`] and
    /// [`Embedder::chunk`] do.
    pub fn language(&self, text: &str) -> Language {
        Reading::of(text, &self.potion, &self.tables).language
    }
}

/// Verifies a word table: its form, the model it is for and its checksum.
pub fn verify_table(path: &Path) -> Result<()> {
    WordTable::open(path)?.verify(path)
}

/// Names the model, the way of reading and each table.
fn hash_of(tables: &[WordTable]) -> String {
    let mut hash = format!("potion-base-8M/{READING_VERSION}");
    for table in tables {
        let digest = compile::hex(&table.digest()[..8]);
        hash.push_str(&format!("+{}:{digest}", table.language().code()));
    }
    hash
}

/// Changed whenever the same files give other vectors than before.
const READING_VERSION: u32 = 3;

/// Weight of title and headings beside the text in a chunk's vector.
///
/// In front of the text they outweigh a short chunk: pages found by their
/// titles gain (0.52 to 0.58 nDCG@10 of the vectors alone), notes named by a
/// bare identifier lose as much (0.65 to 0.59). At 0.15 to 0.3 the former keep
/// their gain and the fused ranking is best on the mean of eight collections.
const CONTEXT_WEIGHT: f32 = 0.25;

fn embed(potion: &Potion, tables: &[WordTable], text: &str, mapped: bool) -> Embedded {
    let reading = Reading::of(text, potion, tables);
    let mut vector = [0.0; DIM];
    let n_tokens = reading.add(text, potion, mapped, &mut vector);
    normalise(&mut vector, n_tokens);
    Embedded { vector, language: reading.language, n_tokens }
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
