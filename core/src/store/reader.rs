//! Read-only access to the index. Opens what is there, creates nothing, waits
//! at most 50 ms for a lock.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::lexical::{
    LexicalParams, Scores, TermPostings, Top, Totals, WeightedTerm, has_bit, idf, score,
};
use super::pages::Pages;
use super::record::{ChunkRow, FieldTerms, NoteRow, StoredLink};
use super::schema::{self, SCHEMA_VERSION, sql};
use super::segment::{DOC_BYTES, Doc, Kind, block_id};
use super::vector::{Int4Grid, Place, PlaceReader, scan4};
use super::writer::{STORED_COLUMNS, stored_doc};
use super::{body, record};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Link, NoteMeta, Vector};

macro_rules! note_columns {
    () => {
        "SELECT id, path, mtime_ns, size, hash, title, kind, domain, status, source, \
         description, created, updated, tags, aliases, properties, for_agents, first_chunk, \
         n_chunks FROM note"
    };
}

macro_rules! link_columns {
    () => {
        "SELECT note_id, line, target, anchor, is_embed, is_wiki, to_note FROM link"
    };
}

const BLOCK: &str = "SELECT data FROM block WHERE id = ?1";

/// The longest a reader waits for a lock.
const BUSY_TIMEOUT: Duration = Duration::from_millis(50);

/// How often an index may be replaced while it is being opened: twice in a
/// millisecond would be two rebuilds.
const MAX_SWAPS: usize = 3;

/// Candidates of the 4-bit scan that are scored again with 8 bits, at least.
const N_RESCORED: usize = 100;

/// What became of opening an index for reading.
#[derive(Debug)]
pub enum Opened {
    /// It can be read.
    Ready(Box<Reader>),
    /// There is no file at that path.
    Absent,
    /// The file is empty, of another schema, or not an index.
    Foreign,
}

/// A document and its score in one ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Number of the document over all segments; only good for this reader.
    pub doc: u32,
    /// The score it is ranked by: BM25 with the note's share, or the cosine.
    pub score: f32,
    /// The chunk's own BM25 score; the cosine in a vector ranking.
    pub chunk_score: f32,
}

/// What the keyword path found.
#[derive(Clone, Debug, Default)]
pub struct Lexical {
    /// The best documents, best first.
    pub ranking: Vec<Ranked>,
    /// The documents that were asked for, in that order; score 0 where nothing
    /// matches.
    pub asked: Vec<Ranked>,
    /// The chunk score that a document with every term without end would
    /// approach: what a score is a share of.
    pub ideal: f32,
    /// Inverse document frequency of each term among chunks, in the order of
    /// the terms.
    pub idf: Vec<f32>,
}

/// Documents that must not be returned: one bit per document.
#[derive(Clone, Debug, Default)]
pub struct SkipSet {
    bits: Vec<u8>,
}

impl SkipSet {
    /// Adds a document.
    pub fn insert(&mut self, doc: u32) {
        let at = doc as usize / 8;
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        self.bits[at] |= 1 << (doc % 8);
    }

    /// Says whether a document is to be skipped.
    pub fn contains(&self, doc: u32) -> bool {
        has_bit(&self.bits, doc as usize)
    }
}

#[derive(Debug)]
pub(super) struct Segment {
    id: i64,
    pub(super) first_doc: u32,
    n_docs: u32,
}

/// A read-only connection with the snapshot's segments.
#[derive(Debug)]
pub struct Reader {
    conn: Connection,
    segments: Vec<Segment>,
    totals: Totals,
    n_docs: u32,
    /// The file itself, where it may be read past SQLite, and a page of it.
    pages: Option<Pages>,
    buffer: RefCell<Vec<u8>>,
}

impl Reader {
    /// Opens the index at `path`.
    ///
    /// # Errors
    /// When the file exists but cannot be read: locked, corrupt, no permission.
    pub fn open(path: &Path) -> Result<Opened> {
        let Some(mut file) = file_at(path) else { return Ok(Opened::Absent) };
        for _ in 0..MAX_SWAPS {
            let opened = Self::open_file(path);
            // Swapped while it was being opened: the old file beside the new
            // one's log would be half of each.
            match file_at(path) {
                Some(now) if now != file => file = now,
                _ => return opened,
            }
        }
        let doing = format!("open index {}: it is being replaced", path.display());
        Err(Error::new(ErrorKind::Store, doing))
    }

    fn open_file(path: &Path) -> Result<Opened> {
        let conn = connect(path)?;
        if schema::version(&conn)? != Some(SCHEMA_VERSION) {
            return Ok(Opened::Foreign);
        }
        let mut reader = Self::with_connection(conn)?;
        reader.pages = Pages::open(&reader.conn);
        Ok(Opened::Ready(Box::new(reader)))
    }

    fn with_connection(conn: Connection) -> Result<Self> {
        let mut segments = Vec::new();
        let mut totals = Totals::default();
        let mut n_docs = 0;
        {
            let mut select = conn
                .prepare("SELECT id, n_docs, n_notes, total_len FROM segment ORDER BY id")
                .map_err(|error| sql("read the index", error))?;
            let rows = select
                .query_map([], |row| {
                    Ok((row.get(0)?, row.get::<_, u32>(1)?, row.get::<_, u32>(2)?, row.get(3)?))
                })
                .map_err(|error| sql("read the index", error))?;
            for row in rows {
                let (id, docs, notes, len): (i64, u32, u32, i64) =
                    row.map_err(|error| sql("read the index", error))?;
                segments.push(Segment { id, first_doc: n_docs, n_docs: docs });
                n_docs += docs;
                totals.n_docs += docs;
                totals.n_notes += notes;
                totals.total_len += len.unsigned_abs();
            }
        }
        Ok(Self { conn, segments, totals, n_docs, pages: None, buffer: RefCell::default() })
    }

    /// Number of documents in the snapshot, dead ones included.
    pub fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Number of notes in the snapshot, dead ones included.
    pub fn n_notes(&self) -> u32 {
        self.totals.n_notes
    }

    /// Number of segments: each costs a query a look-up per term.
    pub fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// Says whether there is a snapshot; without one only the exact path finds
    /// anything.
    pub fn has_snapshot(&self) -> bool {
        !self.segments.is_empty()
    }

    /// Reads a value the indexer left, such as `model` or `vault`.
    pub fn meta(&self, key: &str) -> Result<Option<String>> {
        self.conn
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| sql("read the index", error))
    }

    /// Returns the documents that no longer count.
    pub fn dead(&self) -> Result<SkipSet> {
        let mut skip = SkipSet::default();
        for segment in &self.segments {
            let bits = self.all_blocks(segment, Kind::Dead, segment.n_docs.div_ceil(8) as usize)?;
            if segment.first_doc == 0 {
                skip.bits = bits;
                continue;
            }
            for doc in (0..segment.n_docs).filter(|doc| has_bit(&bits, *doc as usize)) {
                skip.insert(segment.first_doc + doc);
            }
        }
        Ok(skip)
    }

    /// Returns in how many chunks a term occurs.
    pub fn df(&self, term: &str) -> Result<u32> {
        Ok(self.lookup(term)?.iter().map(|found| found.df).sum())
    }

    /// Ranks the documents that have any of `terms`, best first, at most `k`.
    pub fn lexical(
        &self,
        terms: &[WeightedTerm],
        params: &LexicalParams,
        k: usize,
        skip: &SkipSet,
    ) -> Result<Vec<Ranked>> {
        Ok(self.lexical_with(terms, params, k, skip, &[])?.ranking)
    }

    /// Ranks as [`Reader::lexical`] does, and tells the scores of the documents
    /// `asked`, in that order, wherever they rank.
    pub fn lexical_with(
        &self,
        terms: &[WeightedTerm],
        params: &LexicalParams,
        k: usize,
        skip: &SkipSet,
        asked: &[u32],
    ) -> Result<Lexical> {
        let mut by_segment: Vec<Vec<TermPostings>> = vec![Vec::new(); self.segments.len()];
        let mut ideal = 0.0;
        let mut idfs = Vec::with_capacity(terms.len());
        for term in terms {
            let found = self.lookup(&term.term)?;
            let df = found.iter().map(|list| list.df).sum();
            let note_df = found.iter().map(|list| list.note_df).sum();
            idfs.push(idf(self.totals.n_docs, df));
            let chunk_factor = term.weight * idf(self.totals.n_docs, df);
            ideal += chunk_factor * (params.k1 + 1.0);
            for list in found {
                by_segment[list.segment].push(TermPostings {
                    data: list.data,
                    chunk_factor,
                    note_factor: term.weight * idf(self.totals.n_notes, note_df),
                });
            }
        }
        let mut asked_set = SkipSet::default();
        asked.iter().for_each(|doc| asked_set.insert(*doc));
        let mut asked_scores: Vec<(u32, Scores)> = Vec::with_capacity(asked.len());
        let mut top = Top::new(k);
        for (segment, terms) in self.segments.iter().zip(&by_segment) {
            if terms.is_empty() {
                continue;
            }
            let lens = self.all_blocks(segment, Kind::Len, segment.n_docs as usize * 2)?;
            let starts =
                self.all_blocks(segment, Kind::Start, segment.n_docs.div_ceil(8) as usize)?;
            score(terms, &lens, &starts, self.totals, params, &mut |doc, scores| {
                let doc = segment.first_doc + doc;
                if scores.chunk > 0.0 && scores.total >= top.threshold() && !skip.contains(doc) {
                    top.push(scores.total, doc, scores);
                }
                if asked_set.contains(doc) {
                    asked_scores.push((doc, scores));
                }
            });
        }
        let score_of = |doc: &u32| {
            let at = asked_scores.binary_search_by_key(doc, |scored| scored.0);
            let scores = at.map_or_else(|_| Scores::default(), |at| asked_scores[at].1);
            ranked((scores.total, *doc, scores))
        };
        Ok(Lexical {
            asked: asked.iter().map(score_of).collect(),
            ranking: top.finish().into_iter().map(ranked).collect(),
            ideal,
            idf: idfs,
        })
    }

    fn lookup(&self, term: &str) -> Result<Vec<FoundTerm>> {
        let doing = "look up a term";
        let mut select = self
            .conn
            .prepare_cached(
                "SELECT df, note_df, data, first_piece, n_pieces FROM posting
                 WHERE segment = ?1 AND term = ?2",
            )
            .map_err(|error| sql(doing, error))?;
        let mut found = Vec::new();
        for (n, segment) in self.segments.iter().enumerate() {
            let row = select
                .query_row(params![segment.id, term], |row| {
                    let list = FoundTerm {
                        segment: n,
                        df: row.get(0)?,
                        note_df: row.get(1)?,
                        data: row.get(2)?,
                    };
                    Ok((list, row.get(3)?, row.get(4)?))
                })
                .optional()
                .map_err(|error| sql(doing, error))?;
            if let Some((mut list, first_piece, n_pieces)) = row {
                self.read_pieces(segment, first_piece, n_pieces, &mut list.data)?;
                found.push(list);
            }
        }
        Ok(found)
    }

    /// Reads a long posting list out of its blocks.
    fn read_pieces(&self, segment: &Segment, first: u32, n: u32, list: &mut Vec<u8>) -> Result<()> {
        for piece in first..first + n {
            let id = block_id(segment.id, Kind::Posting, piece as usize);
            self.with_block(id, |block| list.extend_from_slice(block))?;
        }
        Ok(())
    }

    /// Mean length of a chunk in terms.
    pub(super) fn mean_len(&self) -> f32 {
        (self.totals.total_len as f32 / self.totals.n_docs.max(1) as f32).max(1.0)
    }

    /// Ranks the documents nearest to `query` by cosine, best first, at most
    /// `k`. Empty when the index has no vectors.
    pub fn nearest(&self, query: &Vector, k: usize, skip: &SkipSet) -> Result<Vec<Ranked>> {
        let mut top = Top::new(k.max(N_RESCORED));
        for segment in &self.segments {
            let Some(grid) = self.grid(segment)? else { continue };
            let folded = grid.fold(query);
            // Each segment has a grid of its own, so scores compare only
            // within it: the best of each are scored again exactly.
            let mut best = Top::new(k.max(N_RESCORED));
            self.each_block(segment, Kind::Code4, |n, block| {
                let first = segment.first_doc + (n * Kind::Code4.per_block()) as u32;
                scan4(block, &folded, &mut |at, score| {
                    let (score, doc) = (score as f32, first + at as u32);
                    if score >= best.threshold() && !skip.contains(doc) {
                        best.push(score, doc, ());
                    }
                });
            })?;
            let docs: Vec<u32> = best.finish().iter().map(|hit| hit.1).collect();
            for (doc, cosine) in docs.iter().zip(self.cosines(query, &docs)?) {
                top.push(cosine, *doc, Scores { total: cosine, chunk: cosine });
            }
        }
        let mut hits: Vec<Ranked> = top.finish().into_iter().map(ranked).collect();
        hits.retain(|hit| hit.score > 0.0);
        hits.truncate(k);
        Ok(hits)
    }

    fn grid(&self, segment: &Segment) -> Result<Option<Int4Grid>> {
        let bytes: Option<Vec<u8>> = self
            .conn
            .prepare_cached(BLOCK)
            .and_then(|mut select| {
                select.query_row([block_id(segment.id, Kind::Grid, 0)], |row| row.get(0)).optional()
            })
            .map_err(|error| sql("read vectors", error))?;
        Ok(bytes.and_then(|bytes| Int4Grid::from_bytes(&bytes)))
    }

    /// Returns the cosine of each document with `query`, in the order asked;
    /// 0 for documents without a vector.
    pub fn cosines(&self, query: &Vector, docs: &[u32]) -> Result<Vec<f32>> {
        let mut places = vec![(Place::NONE, 0); docs.len()];
        self.each_item::<4>(Kind::Place, docs, |at, bytes| {
            places[at] = (Place::from_bytes(*bytes), at);
        })?;
        places.sort_unstable();
        let mut out = vec![0.0; docs.len()];
        let mut pages = self.pages.as_ref().and_then(Pages::vectors);
        let mut codes = PlaceReader::new(&self.conn);
        for (place, at) in places.into_iter().filter(|(place, _)| *place != Place::NONE) {
            let code = match pages.as_mut().and_then(|pages| pages.read(place)) {
                Some(code) => code,
                None => codes.read(place).map_err(|error| sql("read vectors", error))?,
            };
            out[at] = code.cosine(query);
        }
        Ok(out)
    }

    /// Returns the records of the documents, in the order asked.
    pub fn docs(&self, docs: &[u32]) -> Result<Vec<Doc>> {
        let mut out = vec![Doc::default(); docs.len()];
        self.each_item::<DOC_BYTES>(Kind::Doc, docs, |at, bytes| {
            out[at] = Doc::from_bytes(bytes);
        })?;
        Ok(out)
    }

    /// Calls `visit(position, item)` for the items of the documents, block by
    /// block.
    fn each_item<const N: usize>(
        &self,
        kind: Kind,
        docs: &[u32],
        mut visit: impl FnMut(usize, &[u8; N]),
    ) -> Result<()> {
        let mut order: Vec<usize> = (0..docs.len()).collect();
        order.sort_unstable_by_key(|&at| docs[at]);
        let place = |at: usize| {
            let segment = self.segment_of(docs[at])?;
            let doc = (docs[at] - segment.first_doc) as usize;
            Some((block_id(segment.id, kind, doc / kind.per_block()), doc % kind.per_block()))
        };
        for run in order.chunk_by(|a, b| place(*a).map(|p| p.0) == place(*b).map(|p| p.0)) {
            let Some((id, _)) = run.first().and_then(|at| place(*at)) else { continue };
            self.with_block(id, |block| {
                for (at, (_, n)) in run.iter().filter_map(|at| Some((*at, place(*at)?))) {
                    if let Some(item) = block.get(n * N..).and_then(<[u8]>::first_chunk) {
                        visit(at, item);
                    }
                }
            })?;
        }
        Ok(())
    }

    fn segment_of(&self, doc: u32) -> Option<&Segment> {
        self.segments
            .iter()
            .find(|segment| doc.checked_sub(segment.first_doc).is_some_and(|n| n < segment.n_docs))
    }

    /// Reads the blocks of one kind put together.
    fn all_blocks(&self, segment: &Segment, kind: Kind, n_bytes: usize) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(n_bytes);
        self.each_block(segment, kind, |_, block| out.extend_from_slice(block))?;
        out.truncate(n_bytes);
        Ok(out)
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Calls `visit(n, block)` for each block of one kind.
    pub(super) fn each_block(
        &self,
        segment: &Segment,
        kind: Kind,
        mut visit: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let n_items = match kind {
            Kind::Start | Kind::Dead => segment.n_docs.div_ceil(8) as usize,
            Kind::Grid => 1,
            _ => segment.n_docs as usize,
        };
        for n in 0..n_items.div_ceil(kind.per_block()) {
            self.with_block(block_id(segment.id, kind, n), |block| visit(n, block))?;
        }
        Ok(())
    }

    /// Calls `visit` with a block.
    fn with_block(&self, id: i64, visit: impl FnOnce(&[u8])) -> Result<()> {
        let mut buffer = self.buffer.take();
        if let Some(block) = self.pages.as_ref().and_then(|pages| pages.block(id, &mut buffer)) {
            visit(block);
            self.buffer.replace(buffer);
            return Ok(());
        }
        let doing = "read the snapshot";
        let mut select = self.conn.prepare_cached(BLOCK).map_err(|error| sql(doing, error))?;
        let mut rows = select.query([id]).map_err(|error| sql(doing, error))?;
        let row = rows.next().map_err(|error| sql(doing, error))?;
        let block = row
            .and_then(|row| row.get_ref(0).ok())
            .and_then(|value| value.as_blob().ok())
            .ok_or_else(|| Error::new(ErrorKind::Store, format!("{doing}: a block is gone")))?;
        visit(block);
        Ok(())
    }

    /// Reads a chunk; `None` when it is gone.
    pub fn chunk(&self, id: i64) -> Result<Option<ChunkRow>> {
        self.conn
            .prepare_cached(
                "SELECT c.id, c.note_id, c.line, c.heading, c.language, holder.body, c.start,
                   c.len
                 FROM chunk c JOIN chunk holder ON holder.id = c.body_chunk WHERE c.id = ?1",
            )
            .and_then(|mut select| select.query_row([id], chunk_row).optional())
            .map_err(|error| sql("read a chunk", error))
    }

    /// Reads a note by row id.
    pub fn note(&self, id: i64) -> Result<Option<NoteRow>> {
        self.conn
            .prepare_cached(concat!(note_columns!(), " WHERE id = ?1"))
            .and_then(|mut select| select.query_row([id], note_row).optional())
            .map_err(|error| sql("read a note", error))
    }

    /// Reads the headings above a chunk; `None` when it is gone.
    pub fn heading(&self, id: i64) -> Result<Option<String>> {
        self.conn
            .prepare_cached("SELECT heading FROM chunk WHERE id = ?1")
            .and_then(|mut select| select.query_row([id], |row| row.get(0)).optional())
            .map_err(|error| sql("read a chunk", error))
    }

    /// Reads the title of a note; empty when it is gone.
    pub fn title(&self, id: i64) -> Result<String> {
        self.conn
            .prepare_cached("SELECT title FROM note WHERE id = ?1")
            .and_then(|mut select| select.query_row([id], |row| row.get(0)).optional())
            .map(Option::unwrap_or_default)
            .map_err(|error| sql("read a note", error))
    }

    /// Reads a note by its path in the vault.
    pub fn note_at(&self, path: &str) -> Result<Option<NoteRow>> {
        self.conn
            .prepare_cached(concat!(note_columns!(), " WHERE path = ?1"))
            .and_then(|mut select| select.query_row([path], note_row).optional())
            .map_err(|error| sql("read a note", error))
    }

    /// Calls `visit` for every note, ordered by path.
    pub fn each_note(&self, mut visit: impl FnMut(NoteRow)) -> Result<()> {
        let doing = "list notes";
        let mut select = self
            .conn
            .prepare(concat!(note_columns!(), " ORDER BY path"))
            .map_err(|error| sql(doing, error))?;
        let rows = select.query_map([], note_row).map_err(|error| sql(doing, error))?;
        for row in rows {
            visit(row.map_err(|error| sql(doing, error))?);
        }
        Ok(())
    }

    /// Returns how many notes and chunks the tables of record hold.
    pub fn counts(&self) -> Result<(u64, u64)> {
        self.conn
            .query_row(
                "SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM chunk)",
                [],
                |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)),
            )
            .map_err(|error| sql("count notes", error))
    }

    /// Returns every tag with the number of notes that have it, by tag.
    pub fn tags(&self) -> Result<Vec<(String, u64)>> {
        let doing = "list tags";
        let mut select = self
            .conn
            .prepare("SELECT tag, count(*) FROM note_tag GROUP BY tag ORDER BY tag")
            .map_err(|error| sql(doing, error))?;
        select
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))
            .and_then(Iterator::collect)
            .map_err(|error| sql(doing, error))
    }

    /// Returns the links that stand in a note, in text order.
    pub fn links_from(&self, note_id: i64) -> Result<Vec<StoredLink>> {
        self.links(note_id, concat!(link_columns!(), " WHERE note_id = ?1 ORDER BY seq"))
    }

    /// Returns the links of other notes that resolve to a note.
    pub fn links_to(&self, note_id: i64) -> Result<Vec<StoredLink>> {
        self.links(note_id, concat!(link_columns!(), " WHERE to_note = ?1 ORDER BY note_id, seq"))
    }

    /// Counts the notes that link to a note.
    pub fn n_links_to(&self, note_id: i64) -> Result<u32> {
        self.conn
            .prepare_cached("SELECT count(DISTINCT note_id) FROM link WHERE to_note = ?1")
            .and_then(|mut select| select.query_row([note_id], |row| row.get(0)))
            .map_err(|error| sql("count links", error))
    }

    fn links(&self, note_id: i64, query: &str) -> Result<Vec<StoredLink>> {
        self.conn
            .prepare_cached(query)
            .and_then(|mut select| {
                select.query_map([note_id], link_row)?.collect::<rusqlite::Result<Vec<_>>>()
            })
            .map_err(|error| sql("read links", error))
    }

    pub(super) fn conn(&self) -> &Connection {
        &self.conn
    }
}

/// Reads a chunk's texts and analyses them anew; `None` when it is gone.
pub(super) fn stored_terms(conn: &Connection, chunk_id: i64) -> Result<Option<FieldTerms>> {
    conn.prepare_cached(&format!("{STORED_COLUMNS} WHERE c.id = ?1"))
        .and_then(|mut select| select.query_row([chunk_id], stored_doc).optional())
        .map(|found| found.map(|(_, terms)| terms))
        .map_err(|error| sql("read a chunk", error))
}

struct FoundTerm {
    segment: usize,
    df: u32,
    note_df: u32,
    data: Vec<u8>,
}

fn ranked((score, doc, scores): (f32, u32, Scores)) -> Ranked {
    Ranked { doc, score, chunk_score: scores.chunk }
}

/// Opens the file read-only; in a folder where the shared-memory file cannot be
/// made and no log is pending, as an immutable file.
fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fail = |error| sql(&format!("open index {}", path.display()), error);
    let conn = Connection::open_with_flags(path, flags).map_err(fail)?;
    let Err(error) = begin(&conn) else { return Ok(conn) };
    if has_pending_log(path) || !is_cannot_open(&error) {
        return Err(fail(error));
    }
    let uri = immutable_uri(path)
        .ok_or_else(|| Error::new(ErrorKind::Store, "open index: its path is not UTF-8"))?;
    let conn =
        Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).map_err(fail)?;
    begin(&conn).map_err(fail)?;
    Ok(conn)
}

/// Begins the one transaction of a reader, so that everything it sees is of one
/// commit, and reads the file's first page.
fn begin(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    // Mapped pages are read in place; the limit is SQLite's own maximum. Before
    // anything is read, or the first page would be read twice.
    conn.pragma_update(None, "mmap_size", 0x7fff_0000_i64)?;
    conn.execute_batch("BEGIN")?;
    conn.pragma_query_value(None, "application_id", |row| row.get::<_, i64>(0)).map(drop)
}

/// Device and number of the file at `path`; `None` when there is no file.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((meta.dev(), meta.ino()))
}

fn is_cannot_open(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            rusqlite::ErrorCode::CannotOpen
                | rusqlite::ErrorCode::ReadOnly
                | rusqlite::ErrorCode::SystemIoFailure
        )
    )
}

fn has_pending_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|meta| meta.len() > 0)
}

fn immutable_uri(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let mut uri = String::from("file:");
    for c in path.chars() {
        match c {
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            '%' => uri.push_str("%25"),
            c => uri.push(c),
        }
    }
    uri.push_str("?immutable=1");
    Some(uri)
}

fn note_row(row: &Row<'_>) -> rusqlite::Result<NoteRow> {
    Ok(NoteRow {
        id: row.get(0)?,
        path: row.get(1)?,
        mtime_ns: row.get(2)?,
        size: row.get::<_, i64>(3)? as u64,
        hash: row.get(4)?,
        meta: note_meta(row, 5)?,
        first_chunk: row.get(17)?,
        n_chunks: row.get(18)?,
    })
}

/// Reads what a note says of itself: the columns from `title` to `for_agents`,
/// in the order of the table, of which the first is column `at`.
pub(super) fn note_meta(row: &Row<'_>, at: usize) -> rusqlite::Result<NoteMeta> {
    Ok(NoteMeta {
        title: row.get(at)?,
        kind: row.get(at + 1)?,
        domain: row.get(at + 2)?,
        status: row.get(at + 3)?,
        source: row.get(at + 4)?,
        description: row.get(at + 5)?,
        created: row.get(at + 6)?,
        updated: row.get(at + 7)?,
        tags: json(row, at + 8)?,
        aliases: json(row, at + 9)?,
        properties: json(row, at + 10)?,
        for_agents: row.get(at + 11)?,
    })
}

/// Reads a JSON column; a damaged one is empty.
fn json<T: Default + FromJson>(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<T>> {
    let text = row.get_ref(column)?.as_str()?;
    if text == "[]" {
        return Ok(Vec::new());
    }
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(items.iter().map(T::from_json).collect())
}

/// A value of a JSON column.
trait FromJson {
    fn from_json(value: &serde_json::Value) -> Self;
}

impl FromJson for String {
    fn from_json(value: &serde_json::Value) -> Self {
        value.as_str().unwrap_or_default().to_owned()
    }
}

impl FromJson for (String, String) {
    fn from_json(value: &serde_json::Value) -> Self {
        (String::from_json(&value[0]), String::from_json(&value[1]))
    }
}

pub(super) fn chunk_row(row: &Row<'_>) -> rusqlite::Result<ChunkRow> {
    let language: String = row.get(4)?;
    let frame: &[u8] = row.get_ref(5)?.as_blob()?;
    let (start, len) = (row.get::<_, u32>(6)? as usize, row.get::<_, u32>(7)? as usize);
    Ok(ChunkRow {
        id: row.get(0)?,
        note_id: row.get(1)?,
        line: row.get(2)?,
        heading: row.get(3)?,
        language: record::language_of(&language),
        text: body::unpack(frame, start, len).ok_or_else(|| {
            rusqlite::Error::FromSqlConversionFailure(5, Type::Blob, "damaged text".into())
        })?,
    })
}

fn link_row(row: &Row<'_>) -> rusqlite::Result<StoredLink> {
    Ok(StoredLink {
        note_id: row.get(0)?,
        link: Link {
            line: row.get(1)?,
            target: row.get(2)?,
            anchor: row.get(3)?,
            is_embed: row.get(4)?,
            is_wiki: row.get(5)?,
        },
        to_note: row.get(6)?,
    })
}
