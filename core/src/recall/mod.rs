//! The read side: from a query to the passages an agent or a person sees.
//!
//! `query text -> parse -> retrieve (keyword, vector) -> fuse -> hits`; then
//! [`budget`] and [`render`] make a block of them.

pub mod budget;
mod fuse;
mod query;
pub mod render;

pub use self::query::{Query, parse};

use std::collections::HashMap;

use crate::analyse;
use crate::embed::Embedder;
use crate::error::Result;
use crate::model::{Language, Vector};
use crate::store::{
    ChunkRow, Doc, DocFlags, Lexical, LexicalParams, NoteRow, Ranked, Reader, SkipSet, WeightedTerm,
};
use fuse::Evidence;

/// Candidates each path contributes: with 30, 60 and 200 the judged rankings
/// differ by less than 0.001.
const N_CANDIDATES: usize = 100;

/// How many of the nearest passages tell which language the answer is in.
const N_LANGUAGE: usize = 20;

/// Constants of the keyword score. k1 and b are BM25's usual ones: no other
/// value between 0.6 and 2 or 0.3 and 0.9 gained more than noise. Headings and
/// context count in full: lower weights lost on pages named by their titles.
const LEXICAL: LexicalParams = LexicalParams {
    k1: 1.2,
    b: 0.75,
    note_k1: 1.2,
    note_b: 0.75,
    note_weight: 1.0,
    field_weights: [1.0, 1.0, 1.0],
};

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
    /// Most hits from one note.
    pub per_note: usize,
    /// Leave out notes that say `agent: false`.
    pub for_agents: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Hybrid, limit: 10, per_note: 3, for_agents: false }
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

/// A document with its fused score and what the score was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    doc: u32,
    score: f32,
    evidence: Evidence,
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
    let vector = vector.filter(|_| options.mode != Mode::Keyword);
    let nearest = match vector {
        Some(vector) => reader.nearest(vector, n, skip)?,
        None => Vec::new(),
    };
    let terms = match options.mode {
        Mode::Vector => Vec::new(),
        _ => terms(query, language),
    };
    let asked: Vec<u32> = nearest.iter().map(|hit| hit.doc).collect();
    let lexical = reader.lexical_with(&terms, &LEXICAL, n, skip, &asked)?;
    let evidence = evidence(reader, &lexical, &nearest, vector)?;
    Ok(fuse::fuse(&evidence, foreign(reader, &asked, language)?))
}

/// Puts together what both paths know of each candidate.
fn evidence(
    reader: &Reader,
    lexical: &Lexical,
    nearest: &[Ranked],
    vector: Option<&Vector>,
) -> Result<Vec<Evidence>> {
    let of = |hit: &Ranked| Evidence {
        doc: hit.doc,
        chunk_bm25: hit.chunk_score,
        note_bm25: hit.score - hit.chunk_score,
        ..Evidence::default()
    };
    let mut all: Vec<Evidence> = nearest
        .iter()
        .zip(&lexical.asked)
        .enumerate()
        .map(|(idx, (near, words))| Evidence {
            cosine: near.score,
            vector: Some(Place { rank: idx + 1, score: near.score }),
            ..of(words)
        })
        .collect();
    all.sort_unstable_by_key(|evidence| evidence.doc);
    let n_near = all.len();
    for (idx, hit) in lexical.ranking.iter().enumerate() {
        let keyword = Some(Place { rank: idx + 1, score: hit.score });
        match all[..n_near].binary_search_by_key(&hit.doc, |evidence| evidence.doc) {
            Ok(at) => all[at].keyword = keyword,
            Err(_) => all.push(Evidence { keyword, ..of(hit) }),
        }
    }
    if let Some(vector) = vector {
        let docs: Vec<u32> = all[n_near..].iter().map(|evidence| evidence.doc).collect();
        for (evidence, cosine) in all[n_near..].iter_mut().zip(reader.cosines(vector, &docs)?) {
            evidence.cosine = cosine;
        }
    }
    Ok(all)
}

/// The share of the nearest passages that are in another language than the
/// query, 0 to 1.
fn foreign(reader: &Reader, nearest: &[u32], language: Language) -> Result<f32> {
    let docs = reader.docs(&nearest[..nearest.len().min(N_LANGUAGE)])?;
    let n_foreign = docs.iter().filter(|doc| doc.language != language).count();
    Ok(n_foreign as f32 / docs.len().max(1) as f32)
}

fn terms(query: &Query, language: Language) -> Vec<WeightedTerm> {
    analyse::query(&query.text, language)
        .into_iter()
        .map(|term| WeightedTerm { term: term.term, weight: term.weight })
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
    let mut n_of_note: HashMap<u32, usize> = HashMap::new();
    for (candidate, doc) in candidates.iter().zip(records) {
        if hits.len() == options.limit {
            break;
        }
        if n_of_note.get(&doc.note_id).is_some_and(|n| *n >= options.per_note) {
            continue;
        }
        if options.for_agents && doc.flags & DocFlags::PEOPLE_ONLY != 0 {
            continue;
        }
        if let Some(hit) = hit(reader, candidate, doc)?
            && query.accepts(&hit.chunk.text, &hit.chunk.heading, &hit.note.meta.title)
        {
            hits.push(hit);
            *n_of_note.entry(doc.note_id).or_default() += 1;
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
    let Evidence { keyword, vector, .. } = candidate.evidence;
    Ok(Some(Hit { chunk, note, score: candidate.score, keyword, vector }))
}
