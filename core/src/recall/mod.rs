//! The read side: from a query to the passages an agent or a person sees.
//!
//! `query text -> parse -> retrieve (keyword, vector) -> fuse -> hits`; then
//! [`budget`] and [`render`] make a block of them.

pub mod budget;
mod fuse;
mod query;
pub mod render;

pub use self::query::{Query, parse};

use crate::analyse;
use crate::embed::Embedder;
use crate::error::Result;
use crate::model::{Language, Vector};
use crate::store::{
    ChunkRow, Doc, DocFlags, LexicalParams, NoteRow, Ranked, Reader, SkipSet, WeightedTerm,
};

/// Candidates each path contributes.
const N_CANDIDATES: usize = 30;

/// Which paths are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Both, fused.
    #[default]
    Hybrid,
    /// Words only.
    Keyword,
    /// Meaning only.
    Vector,
}

/// How a query is answered.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which paths are asked.
    pub mode: Mode,
    /// Most hits.
    pub limit: usize,
    /// Leave out notes that say `agent: false`.
    pub for_agents: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Hybrid, limit: 10, for_agents: false }
    }
}

/// A place in one path's ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Rank, from 1.
    pub rank: usize,
    /// BM25 score or cosine.
    pub score: f32,
}

/// A passage that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The chunk, with its redacted text.
    pub chunk: ChunkRow,
    /// The note it stands in.
    pub note: NoteRow,
    /// The fused score.
    pub score: f32,
    /// Where the keyword path had it.
    pub keyword: Option<Place>,
    /// Where the vector path had it.
    pub vector: Option<Place>,
}

/// What was found, best first.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The hits.
    pub hits: Vec<Hit>,
    /// The language the query was read in.
    pub language: Language,
}

/// Answers a query from the index.
pub fn recall(
    reader: &Reader,
    embedder: Option<&Embedder>,
    query: &Query,
    options: &Options,
) -> Result<Answer> {
    let embedded = embedder.map(|embedder| embedder.query(&query.text));
    let language = embedded.as_ref().map_or(Language::ENGLISH, |embedded| embedded.language);
    let vector = embedded.map(|embedded| embedded.vector);
    let skip = skipped(reader, query)?;
    let candidates = retrieve(reader, query, language, vector.as_ref(), &skip, options)?;
    let hits = fetch(reader, candidates, query, options)?;
    Ok(Answer { hits, language })
}

/// The documents that are dead or that the query's filters leave out.
fn skipped(reader: &Reader, query: &Query) -> Result<SkipSet> {
    let mut skip = reader.dead()?;
    if !query.filter.is_empty() {
        let notes = reader.notes_where(&query.filter)?;
        reader.skip_unless(&mut skip, |note| notes.contains(&note))?;
    }
    Ok(skip)
}

/// A document with its place in each path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    doc: u32,
    score: f32,
    keyword: Option<Place>,
    vector: Option<Place>,
}

fn retrieve(
    reader: &Reader,
    query: &Query,
    language: Language,
    vector: Option<&Vector>,
    skip: &SkipSet,
    options: &Options,
) -> Result<Vec<Candidate>> {
    let n = N_CANDIDATES.max(options.limit * 2);
    let keyword = match options.mode {
        Mode::Vector => Vec::new(),
        _ => reader.lexical(&terms(query, language), &LexicalParams::default(), n, skip)?,
    };
    let nearest = match (options.mode, vector) {
        (Mode::Keyword, _) | (_, None) => Vec::new(),
        (_, Some(vector)) => reader.nearest(vector, n, skip)?,
    };
    Ok(fuse::fuse(&places(&keyword), &places(&nearest)))
}

fn terms(query: &Query, language: Language) -> Vec<WeightedTerm> {
    analyse::query(&query.text, language)
        .into_iter()
        .map(|term| WeightedTerm { term: term.term, weight: term.weight })
        .collect()
}

fn places(ranking: &[Ranked]) -> Vec<(u32, Place)> {
    ranking
        .iter()
        .enumerate()
        .map(|(idx, hit)| (hit.doc, Place { rank: idx + 1, score: hit.score }))
        .collect()
}

/// Reads the candidates' chunks and notes, best first, until there are enough.
fn fetch(
    reader: &Reader,
    candidates: Vec<Candidate>,
    query: &Query,
    options: &Options,
) -> Result<Vec<Hit>> {
    let docs: Vec<u32> = candidates.iter().map(|candidate| candidate.doc).collect();
    let records = reader.docs(&docs)?;
    let mut hits = Vec::new();
    for (candidate, doc) in candidates.iter().zip(records) {
        if hits.len() == options.limit {
            break;
        }
        if options.for_agents && doc.flags & DocFlags::PEOPLE_ONLY != 0 {
            continue;
        }
        if let Some(hit) = hit(reader, candidate, doc)?
            && query.accepts(&hit.chunk.text, &hit.chunk.heading, &hit.note.meta.title)
        {
            hits.push(hit);
        }
    }
    Ok(hits)
}

fn hit(reader: &Reader, candidate: &Candidate, doc: Doc) -> Result<Option<Hit>> {
    let (Some(chunk), Some(note)) =
        (reader.chunk(doc.chunk_id.into())?, reader.note(doc.note_id.into())?)
    else {
        return Ok(None);
    };
    let Candidate { score, keyword, vector, .. } = *candidate;
    Ok(Some(Hit { chunk, note, score, keyword, vector }))
}
