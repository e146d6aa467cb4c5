//! Which notes of the vault a new one resembles, from the index.

use std::collections::HashMap;

use crate::config::Config;
use crate::embed::Embedder;
use crate::error::Result;
use crate::ingest::resolve::link_name;
use crate::recall::{Hit, Options, Query, recall};
use crate::store::{Opened, Reader};
use crate::text;

/// Cosine from which a passage counts as near: a guess, not yet measured.
const NEAR: f32 = 0.55;
/// The same for a passage that the words of the text find as well.
const NEAR_WITH_WORDS: f32 = 0.45;
/// Rank in the keyword list from which words count.
const WORDS_RANK: usize = 3;
/// What is asked of a long text, in bytes: the beginning says what it is about.
const MAX_ASKED_BYTES: usize = 800;

/// Returns the notes near `text` as link targets, nearest first; none without
/// an index or a model.
///
/// # Errors
/// When the index is damaged.
pub fn related(config: &Config, text: &str) -> Result<Vec<String>> {
    let Opened::Ready(reader) = Reader::open(&config.paths.index)? else { return Ok(Vec::new()) };
    let Some(embedder) = Embedder::open(&config.paths.model, &config.tables())? else {
        return Ok(Vec::new());
    };
    let query = Query::plain(text::prefix(text, MAX_ASKED_BYTES));
    let answer = recall(&reader, Some(&embedder), &query, &Options::default())?;
    let mut paths: Vec<String> = Vec::new();
    for hit in answer.hits.iter().filter(|hit| is_near(hit)) {
        let is_archived = hit.note.path.starts_with(&format!("{}/", config.triage.archive));
        if !is_archived && !paths.contains(&hit.note.path) {
            paths.push(hit.note.path.clone());
        }
    }
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut n_named: HashMap<String, usize> = HashMap::new();
    reader.each_note(|note| *n_named.entry(link_name(&note.path)).or_default() += 1)?;
    Ok(paths.iter().map(|path| target(path, &n_named)).collect())
}

fn is_near(hit: &Hit) -> bool {
    let cosine = hit.vector.map_or(0.0, |place| place.score);
    let has_words = hit.keyword.is_some_and(|place| place.rank <= WORDS_RANK);
    cosine >= NEAR || (has_words && cosine >= NEAR_WITH_WORDS)
}

/// The name alone where only one note has it, else the whole path.
fn target(path: &str, n_named: &HashMap<String, usize>) -> String {
    let bare = path.strip_suffix(".md").unwrap_or(path);
    let is_unique = n_named.get(&link_name(path)).is_none_or(|n| *n <= 1);
    let name = bare.rsplit('/').next().unwrap_or(bare);
    if is_unique { name.to_owned() } else { bare.to_owned() }
}
