//! The read side: from a query to the passages an agent or a person sees.
//!
//! `query text -> parse -> retrieve (keyword, vector) -> fuse -> hits`; then
//! [`budget`] and [`render`] make a block of them.

pub mod budget;
mod confidence;
mod exact;
mod floor;
mod fuse;
mod kinship;
mod links;
mod query;
pub mod render;

pub use self::confidence::Scale;
pub use self::query::{Query, parse};

use std::collections::HashMap;

use self::fuse::Trust;
use self::kinship::Kinship;
use crate::analyse::{self, QueryTerm};
use crate::embed::Embedder;
use crate::error::Result;
use crate::model::{Language, Vector};
use crate::store::{
    ChunkRow, Doc, DocFlags, Lexical, LexicalParams, NoteRow, Ranked, Reader, SkipSet, WeightedTerm,
};

/// Candidates each path contributes: with 30, 60 and 200 the judged rankings
/// differ by less than 0.001.
const N_CANDIDATES: usize = 100;

/// Candidates that are read to be ordered anew: 50 gave no better order, and
/// each costs 0.1 ms.
const N_READ: usize = 14;

/// Of one note at most this many, so that a long one does not take all places.
const N_READ_PER_NOTE: usize = 2;

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
    /// Share of the words in the fused score, from 0 to 1, instead of the one
    /// that follows from the languages; 0 and 1 ask one path only.
    pub alpha: Option<f32>,
    /// Ask FTS5 and sqlite-vec themselves instead of the snapshot.
    pub exact: bool,
    /// Candidates that are read to be ordered anew; more cost time and gain
    /// nothing, but show what another order would be made of.
    pub n_read: usize,
}

impl Options {
    /// The paths that are asked: an `alpha` at either end leaves one.
    fn paths(&self) -> Mode {
        match self.alpha {
            Some(alpha) if alpha >= 1.0 => Mode::Keyword,
            Some(alpha) if alpha <= 0.0 => Mode::Vector,
            _ => self.mode,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Hybrid,
            limit: 10,
            per_note: 3,
            for_agents: false,
            alpha: None,
            exact: false,
            n_read: N_READ,
        }
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

/// What speaks for a passage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Its own BM25 score.
    pub bm25: f32,
    /// Its note's BM25 score.
    pub note_bm25: f32,
    /// Its cosine with the query; 0 without a vector.
    pub cosine: f32,
    /// The query's words that it has in other words, weighted by inverse
    /// document frequency; 0 where its text was not read.
    pub kinship: f32,
    /// How many of the best notes link to its note.
    pub links: f32,
    /// Where the keyword path had it.
    pub keyword: Option<Place>,
    /// Where the vector path had it.
    pub vector: Option<Place>,
}

/// A passage that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The chunk, with its redacted text.
    pub chunk: ChunkRow,
    /// The note it stands in.
    pub note: NoteRow,
    /// The fused score; compares only within one answer.
    pub score: f32,
    /// How sure it is that the passage has to do with the query, 0 to 1;
    /// compares across queries and vaults.
    pub confidence: f32,
    /// What the score is made of.
    pub evidence: Evidence,
    /// Where the keyword path had it.
    pub keyword: Option<Place>,
    /// Where the vector path had it.
    pub vector: Option<Place>,
}

impl Hit {
    /// A passage that nobody asked a question about.
    pub fn unranked(chunk: ChunkRow, note: NoteRow) -> Self {
        let evidence = Evidence::default();
        Self { chunk, note, score: 0.0, confidence: 0.0, evidence, keyword: None, vector: None }
    }
}

/// What was found, best first.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The hits.
    pub hits: Vec<Hit>,
    /// The language the query was read in.
    pub language: Language,
    /// What the evidence of this query is measured against.
    pub scale: Scale,
    /// Share of the words in the fused scores, 0 to 1.
    pub alpha: f32,
}

/// Answers a query from the index.
pub fn recall(
    reader: &Reader,
    embedder: Option<&Embedder>,
    query: &Query,
    options: &Options,
) -> Result<Answer> {
    if query.text.trim().is_empty() {
        let hits = browse(reader, query, options)?;
        return Ok(Answer { hits, ..Answer::default() });
    }
    let paths = options.paths();
    let language = match embedder {
        Some(embedder) => embedder.language(&query.text),
        None => analyse::language(&query.text),
    };
    let embedder = embedder.filter(|_| paths != Mode::Keyword);
    let embedded = embedder.map(|embedder| embedder.query(&query.text));
    let vector = embedded.as_ref().map(|embedded| &embedded.vector);
    let terms = match paths {
        Mode::Vector => Vec::new(),
        _ => analyse::query(&query.text, language),
    };
    let skip = skipped(reader, query)?;
    let search = Search { reader, skip: &skip, terms: &terms, language, options };
    let mut found = match options.exact || !reader.has_snapshot() {
        true => search.retrieve_exact(vector, &query.filter)?,
        false => search.retrieve(vector)?,
    };
    found.n_docs = match reader.n_docs() {
        0 => reader.counts()?.1 as u32,
        n => n,
    };
    if paths == Mode::Hybrid {
        search.follow_links(&mut found)?;
    }
    if let Some(embedder) = embedder {
        search.read_best(embedder, &mut found)?;
    }
    let scale = found.scale();
    let alpha = match (paths, vector) {
        (Mode::Vector, _) => 0.0,
        (Mode::Hybrid, Some(_)) => found.trust.alpha(),
        _ => 1.0,
    };
    let hits = search.fetch(found, query)?;
    Ok(Answer { hits, language, scale, alpha })
}

/// Answers a query that has only conditions: the beginnings of the notes that
/// meet them, the latest first.
fn browse(reader: &Reader, query: &Query, options: &Options) -> Result<Vec<Hit>> {
    if query.filter.is_empty() {
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    reader.each_note(|note| {
        if query.filter.accepts(&note) && (note.meta.for_agents || !options.for_agents) {
            notes.push((note.day(), note));
        }
    })?;
    notes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let mut hits = Vec::new();
    for (_, note) in notes {
        if hits.len() == options.limit {
            break;
        }
        let Some(chunk) = reader.chunk(note.first_chunk)? else { continue };
        if query.accepts(&chunk.text, &chunk.heading, &note.meta.title) {
            hits.push(Hit::unranked(chunk, note));
        }
    }
    Ok(hits)
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Candidate {
    doc: u32,
    record: Doc,
    score: f32,
    evidence: Evidence,
}

/// The candidates, best first, and what their evidence is measured against.
#[derive(Debug, Default)]
struct Found {
    candidates: Vec<Candidate>,
    ideal: f32,
    idf: Vec<f32>,
    kinship_ideal: f32,
    trust: Trust,
    /// Passages in the index.
    n_docs: u32,
    has_model: bool,
    /// Chunks that were read already, by document.
    chunks: HashMap<u32, ChunkRow>,
}

impl Found {
    fn scale(&self) -> Scale {
        Scale {
            bm25: self.ideal,
            kinship: self.kinship_ideal,
            floor: self
                .candidates
                .get(N_CANDIDATES - 1)
                .or(self.candidates.last())
                .map_or(0.0, |c| c.score),
            boost: self.trust.boost,
            n_docs: self.n_docs,
            has_model: self.has_model,
        }
    }
}

/// One query on its way.
struct Search<'a> {
    reader: &'a Reader,
    skip: &'a SkipSet,
    terms: &'a [QueryTerm],
    language: Language,
    options: &'a Options,
}

impl Search<'_> {
    /// Asks both paths and fuses what they say.
    fn retrieve(&self, vector: Option<&Vector>) -> Result<Found> {
        let n = N_CANDIDATES.max(self.options.limit * 2);
        let nearest = match vector {
            Some(vector) => self.reader.nearest(vector, n, self.skip)?,
            None => Vec::new(),
        };
        let terms = self.weighted();
        let asked: Vec<u32> = nearest.iter().map(|hit| hit.doc).collect();
        let lexical = self.reader.lexical_with(&terms, &LEXICAL, n, self.skip, &asked)?;
        let evidence = evidence(self.reader, &lexical, &nearest, vector)?;
        let docs: Vec<u32> = evidence.iter().map(|(doc, _)| *doc).collect();
        let records = self.reader.docs(&docs)?;
        let trust = match self.options.alpha {
            Some(alpha) => Trust::of_alpha(alpha),
            None => Trust::new(foreign(&evidence, &records, self.language)),
        };
        let candidate = |((doc, evidence), record): ((u32, Evidence), Doc)| Candidate {
            doc,
            record,
            score: fuse::score(&evidence, trust, record.language == self.language),
            evidence,
        };
        let mut candidates: Vec<Candidate> =
            evidence.into_iter().zip(records).map(candidate).collect();
        if self.options.for_agents {
            candidates.retain(|c| c.record.flags & DocFlags::PEOPLE_ONLY == 0);
        }
        fuse::sort(&mut candidates);
        let (ideal, idf) = (lexical.ideal, lexical.idf);
        let has_model = vector.is_some();
        Ok(Found { candidates, ideal, idf, trust, has_model, ..Found::default() })
    }

    fn weighted(&self) -> Vec<WeightedTerm> {
        let weighted =
            |term: &QueryTerm| WeightedTerm { term: term.term.clone(), weight: term.weight };
        self.terms.iter().map(weighted).collect()
    }

    /// Orders the candidates anew by what the best of them link to.
    fn follow_links(&self, found: &mut Found) -> Result<()> {
        links::follow(self.reader, &mut found.candidates)?;
        for candidate in found.candidates.iter_mut().filter(|c| c.evidence.links > 0.0) {
            let is_native = candidate.record.language == self.language;
            candidate.score = fuse::score(&candidate.evidence, found.trust, is_native);
        }
        fuse::sort(&mut found.candidates);
        Ok(())
    }

    /// Reads the best candidates and orders them anew by what they say in other
    /// words; what was not read stays behind them.
    fn read_best(&self, embedder: &Embedder, found: &mut Found) -> Result<()> {
        let Some(mut kinship) = Kinship::new(embedder, self.terms, &found.idf, self.language)
        else {
            return Ok(());
        };
        found.kinship_ideal = kinship.ideal();
        let mut n_of_note: HashMap<u32, usize> = HashMap::new();
        let (mut read, mut rest) = (Vec::new(), Vec::new());
        for candidate in found.candidates.drain(..) {
            let n = n_of_note.entry(candidate.record.note_id).or_default();
            *n += 1;
            let is_read = read.len() < self.options.n_read && *n <= N_READ_PER_NOTE;
            if is_read { read.push(candidate) } else { rest.push(candidate) }
        }
        for candidate in &mut read {
            let Some(chunk) = self.reader.chunk(candidate.record.chunk_id.into())? else {
                continue;
            };
            let title = self.reader.title(candidate.record.note_id.into())?;
            let kin = kinship.score(&[&title, &chunk.heading, &chunk.text], chunk.language);
            candidate.evidence.kinship = kin;
            let is_native = candidate.record.language == self.language;
            candidate.score = fuse::score(&candidate.evidence, found.trust, is_native);
            found.chunks.insert(candidate.doc, chunk);
        }
        fuse::sort(&mut read);
        read.extend(rest);
        found.candidates = read;
        Ok(())
    }

    /// Reads the candidates' chunks and notes, best first, until there are
    /// enough.
    fn fetch(&self, mut found: Found, query: &Query) -> Result<Vec<Hit>> {
        let scale = found.scale();
        let mut hits = Vec::new();
        let mut n_of_note: HashMap<u32, usize> = HashMap::new();
        for candidate in &found.candidates {
            if hits.len() == self.options.limit {
                break;
            }
            let n = n_of_note.entry(candidate.record.note_id).or_default();
            if *n >= self.options.per_note {
                continue;
            }
            let chunk = match found.chunks.remove(&candidate.doc) {
                Some(chunk) => Some(chunk),
                None => self.reader.chunk(candidate.record.chunk_id.into())?,
            };
            let note = self.reader.note(candidate.record.note_id.into())?;
            let (Some(chunk), Some(note)) = (chunk, note) else { continue };
            if query.accepts(&chunk.text, &chunk.heading, &note.meta.title) {
                *n += 1;
                let Candidate { score, evidence, .. } = *candidate;
                let is_foreign = candidate.record.language != self.language;
                // What links to a passage does not say that it answers.
                let own = score - fuse::links(&evidence, found.trust);
                let confidence = scale.confidence(own, &evidence, is_foreign);
                let Evidence { keyword, vector, .. } = evidence;
                hits.push(Hit { chunk, note, score, confidence, evidence, keyword, vector });
            }
        }
        Ok(hits)
    }
}

/// Puts together what both paths know of each candidate.
fn evidence(
    reader: &Reader,
    lexical: &Lexical,
    nearest: &[Ranked],
    vector: Option<&Vector>,
) -> Result<Vec<(u32, Evidence)>> {
    let of = |hit: &Ranked| Evidence {
        bm25: hit.chunk_score,
        note_bm25: hit.score - hit.chunk_score,
        ..Evidence::default()
    };
    let mut all: Vec<(u32, Evidence)> = nearest
        .iter()
        .zip(&lexical.asked)
        .enumerate()
        .map(|(idx, (near, words))| {
            let vector = Some(Place { rank: idx + 1, score: near.score });
            (near.doc, Evidence { cosine: near.score, vector, ..of(words) })
        })
        .collect();
    all.sort_unstable_by_key(|(doc, _)| *doc);
    let n_near = all.len();
    for (idx, hit) in lexical.ranking.iter().enumerate() {
        let keyword = Some(Place { rank: idx + 1, score: hit.score });
        match all[..n_near].binary_search_by_key(&hit.doc, |(doc, _)| *doc) {
            Ok(at) => all[at].1.keyword = keyword,
            Err(_) => all.push((hit.doc, Evidence { keyword, ..of(hit) })),
        }
    }
    if let Some(vector) = vector {
        let docs: Vec<u32> = all[n_near..].iter().map(|(doc, _)| *doc).collect();
        for ((_, evidence), cosine) in all[n_near..].iter_mut().zip(reader.cosines(vector, &docs)?)
        {
            evidence.cosine = cosine;
        }
    }
    Ok(all)
}

/// The share of the nearest passages that are in another language than the
/// query, 0 to 1.
fn foreign(evidence: &[(u32, Evidence)], records: &[Doc], language: Language) -> f32 {
    let is_near =
        |evidence: &Evidence| evidence.vector.is_some_and(|place| place.rank <= N_LANGUAGE);
    let near: Vec<&Doc> = evidence
        .iter()
        .zip(records)
        .filter(|((_, evidence), _)| is_near(evidence))
        .map(|(_, record)| record)
        .collect();
    let n_foreign = near.iter().filter(|record| record.language != language).count();
    n_foreign as f32 / near.len().max(1) as f32
}
