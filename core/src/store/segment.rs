//! The snapshot's layout: what a cold query reads instead of FTS5 and vec0.
//!
//! A segment covers a run of chunks in the order of their ids; its documents
//! are numbered from 0, and the documents of one note stand together. Postings
//! are kept per term, everything else in blocks of at most [`BLOCK_BYTES`]
//! bytes, one database page each.
//!
//! Posting list: pages of `[u16 range][u16 n - 1][u8 code; n][gaps]`,
//! little-endian: the code holds the term's frequency in each field (see
//! [`tf_code`]), so that field weights are chosen when a query is run; a gap is
//! the number of documents left out before the next one, a byte below 255 or
//! 255 and a `u16`. Lists of consecutive runs can be concatenated. Function
//! words have no postings: they tell no notes apart and would be a fifth of
//! all.

use std::collections::HashMap;
use std::mem;

use foldhash::fast::RandomState;
use rusqlite::{Connection, params};

use super::record::FieldTerms;
use super::schema::sql;
use super::vector::{Code8, Int4Grid, Place, PlaceReader, encode4};
use crate::analyse::is_stop;
use crate::error::Result;
use crate::model::{DIM, Language};

/// Bytes of a block: with the row's header it fits one page of the database.
pub(super) const BLOCK_BYTES: usize = 65_024;

/// Bytes of a document record.
pub(super) const DOC_BYTES: usize = 16;

/// Postings held in memory before a run is spilled: 4 bytes each.
const MAX_RUN_POSTINGS: usize = 6_000_000;

/// What a block holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// [`Doc`] records.
    Doc = 0,
    /// Length of each document in terms, `u16`.
    Len = 1,
    /// One bit per document: set where a note begins.
    Start = 2,
    /// One bit per document: set where it no longer counts.
    Dead = 3,
    /// 4-bit vector codes, 128 bytes each.
    Code4 = 4,
    /// Where vec0 has each document's vector: a [`Place`], `u32`.
    Place = 5,
    /// The grid of the 4-bit codes: 256 means, then 256 steps, `f32`.
    Grid = 6,
    /// Pieces of long posting lists.
    Posting = 7,
}

impl Kind {
    /// Bytes one document takes; bit sets are counted by the byte.
    pub(super) fn doc_bytes(self) -> usize {
        match self {
            Self::Doc => DOC_BYTES,
            Self::Len => 2,
            Self::Start | Self::Dead => 1,
            Self::Code4 => DIM / 2,
            Self::Place => 4,
            Self::Grid => DIM * 8,
            Self::Posting => 1,
        }
    }

    /// Items per block.
    pub(super) fn per_block(self) -> usize {
        BLOCK_BYTES / self.doc_bytes()
    }
}

/// The row id of block `n` of one kind in one segment.
pub(super) fn block_id(segment: i64, kind: Kind, n: usize) -> i64 {
    (segment << 40) | ((kind as i64) << 32) | n as i64
}

/// A document of a segment: 16 bytes, little-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doc {
    /// Row id of the chunk.
    pub chunk_id: u32,
    /// Row id of the note.
    pub note_id: u32,
    /// Day of the note's last change, in days since 1970-01-01.
    pub day: i32,
    /// Language of the chunk.
    pub language: Language,
    /// Bits of [`DocFlags`].
    pub flags: u8,
}

/// Bits of [`Doc::flags`].
pub struct DocFlags;

impl DocFlags {
    /// The note must not reach an agent (`agent: false`).
    pub const PEOPLE_ONLY: u8 = 1;
    /// The note's status says that it is superseded.
    pub const ARCHIVED: u8 = 2;
    /// The note's status says that it is unfinished.
    pub const DRAFT: u8 = 4;
}

impl Doc {
    pub(super) fn to_bytes(self) -> [u8; DOC_BYTES] {
        let mut bytes = [0; DOC_BYTES];
        bytes[0..4].copy_from_slice(&self.chunk_id.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.note_id.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.day.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.language.0);
        bytes[14] = self.flags;
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; DOC_BYTES]) -> Self {
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        Self {
            chunk_id: u32::from_le_bytes(word(0)),
            note_id: u32::from_le_bytes(word(4)),
            day: i32::from_le_bytes(word(8)),
            language: Language([bytes[12], bytes[13]]),
            flags: bytes[14],
        }
    }
}

/// Packs a term's frequencies into a byte: 4 bits for the text (at most 15; at
/// k1 = 1.2 BM25 has reached 93 % of its limit there), 2 bits each for section
/// and context (at most 3).
pub(super) fn tf_code(n_text: u32, n_section: u32, n_context: u32) -> u8 {
    (n_text.min(15) | n_section.min(3) << 4 | n_context.min(3) << 6) as u8
}

/// Returns the weighted frequency of every code.
pub(super) fn tf_table(text: f32, section: f32, context: f32) -> [f32; 256] {
    std::array::from_fn(|code| {
        text * (code & 15) as f32
            + section * (code >> 4 & 3) as f32
            + context * (code >> 6 & 3) as f32
    })
}

/// A posting list longer than this is kept in blocks: a row of a table without
/// row ids keeps at most a quarter of a page to itself, and what spills takes
/// whole pages.
const MAX_INLINE_BYTES: usize = 8_192;

/// Postings of one term while a run is collected.
#[derive(Debug, Default)]
struct List {
    /// The languages in which the term is a function word.
    stops: [bool; 2],
    /// Document (24 bits) and code (8 bits), documents ascending.
    postings: Vec<u32>,
    note_df: u32,
    last_note: u32,
}

impl List {
    fn n(&self) -> i64 {
        self.postings.len() as i64
    }
}

/// Longest term that is kept in its map entry itself.
const SHORT: usize = 15;

/// Numbers of terms. Short terms, which are nearly all, lie in the map itself:
/// comparing them reads no other memory (a fifth of the writer's time).
#[derive(Debug, Default)]
struct TermIds {
    short: HashMap<[u8; SHORT + 1], u32, RandomState>,
    long: HashMap<Box<str>, u32, RandomState>,
}

impl TermIds {
    fn get(&self, term: &str) -> Option<u32> {
        match short_key(term) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(term).copied(),
        }
    }

    fn insert(&mut self, term: &str, id: u32) {
        match short_key(term) {
            Some(key) => self.short.insert(key, id),
            None => self.long.insert(term.into(), id),
        };
    }

    fn into_terms(self) -> impl Iterator<Item = (Box<str>, u32)> {
        let text = |key: [u8; SHORT + 1]| {
            let len = usize::from(key[SHORT]);
            Box::from(std::str::from_utf8(&key[..len]).unwrap_or_default())
        };
        self.short.into_iter().map(move |(key, id)| (text(key), id)).chain(self.long)
    }
}

/// The term's bytes, zeros, and its length in the last place.
fn short_key(term: &str) -> Option<[u8; SHORT + 1]> {
    let mut key = [0; SHORT + 1];
    key.get_mut(..term.len()).filter(|_| term.len() <= SHORT)?.copy_from_slice(term.as_bytes());
    key[SHORT] = term.len() as u8;
    Some(key)
}

/// Collects documents in order and writes them as one segment.
#[derive(Debug)]
pub(super) struct SegmentBuilder {
    segment: i64,
    first_chunk: u32,
    last_chunk: u32,
    ids: TermIds,
    lists: Vec<List>,
    n_postings: usize,
    pub(super) max_run_postings: usize,
    n_runs: u32,
    n_docs: usize,
    n_notes: u32,
    last_note: Option<u32>,
    total_len: u64,
    docs: BlockWriter,
    lens: BlockWriter,
    places: BlockWriter,
    n_pieces: usize,
    starts: Vec<u8>,
    sum: Box<[f64; DIM]>,
    sum_sq: Box<[f64; DIM]>,
    n_vectors: usize,
}

impl SegmentBuilder {
    pub(super) fn new(segment: i64) -> Self {
        Self {
            segment,
            first_chunk: 0,
            last_chunk: 0,
            ids: TermIds::default(),
            lists: Vec::new(),
            n_postings: 0,
            max_run_postings: MAX_RUN_POSTINGS,
            n_runs: 0,
            n_docs: 0,
            n_notes: 0,
            last_note: None,
            total_len: 0,
            docs: BlockWriter::new(segment, Kind::Doc),
            lens: BlockWriter::new(segment, Kind::Len),
            places: BlockWriter::new(segment, Kind::Place),
            n_pieces: 0,
            starts: Vec::new(),
            sum: Box::new([0.0; DIM]),
            sum_sq: Box::new([0.0; DIM]),
            n_vectors: 0,
        }
    }

    /// Appends a document; those of one note must come one after the other.
    pub(super) fn add(
        &mut self,
        conn: &Connection,
        doc: Doc,
        terms: &FieldTerms,
        vector: Option<(Place, &Code8)>,
    ) -> Result<()> {
        if self.last_note != Some(doc.note_id) {
            if self.n_postings > self.max_run_postings {
                self.spill(conn)?;
            }
            self.last_note = Some(doc.note_id);
            self.n_notes += 1;
            set_bit(&mut self.starts, self.n_docs);
        }
        if self.n_docs == 0 {
            self.first_chunk = doc.chunk_id;
        }
        self.last_chunk = doc.chunk_id;
        let len = terms.len();
        self.push_postings(terms, doc.language);
        self.total_len += u64::from(len);
        self.docs.push(conn, &doc.to_bytes())?;
        self.lens.push(conn, &u16::try_from(len).unwrap_or(u16::MAX).to_le_bytes())?;
        let place = vector.map_or(Place::NONE, |(place, _)| place);
        self.places.push(conn, &place.to_bytes())?;
        if let Some((_, code)) = vector {
            self.add_to_grid(code);
        }
        self.n_docs += 1;
        Ok(())
    }

    /// Appends the document to the list of each of its terms.
    fn push_postings(&mut self, terms: &FieldTerms, language: Language) {
        let stop = usize::from(language == Language::SPANISH);
        let doc = (self.n_docs as u32) << 8;
        for (term, [text, section, context]) in terms.each() {
            let id = match self.ids.get(term) {
                Some(id) => id,
                None => {
                    let id = self.lists.len() as u32;
                    self.ids.insert(term, id);
                    let stops = [Language::ENGLISH, Language::SPANISH]
                        .map(|language| is_stop(term, language));
                    self.lists.push(List { stops, ..List::default() });
                    id
                }
            };
            let list = &mut self.lists[id as usize];
            if list.stops[stop] {
                continue;
            }
            list.postings.push(doc | u32::from(tf_code(text, section, context)));
            if list.last_note != self.n_notes {
                list.last_note = self.n_notes;
                list.note_df += 1;
            }
            self.n_postings += 1;
        }
    }

    fn add_to_grid(&mut self, code: &Code8) {
        if code.inv_norm == 0.0 {
            return;
        }
        self.n_vectors += 1;
        for d in 0..DIM {
            let value = f64::from(f32::from(code.values[d]) * code.inv_norm);
            self.sum[d] += value;
            self.sum_sq[d] += value * value;
        }
    }

    /// Moves the postings collected so far to a temporary table.
    fn spill(&mut self, conn: &Connection) -> Result<()> {
        let doing = "spill postings";
        if self.n_runs == 0 {
            conn.execute_batch(
                "CREATE TEMP TABLE IF NOT EXISTS run (term TEXT, run INTEGER, df INTEGER,
                   note_df INTEGER, data BLOB, PRIMARY KEY (term, run)) WITHOUT ROWID;
                 DELETE FROM run;",
            )
            .map_err(|error| sql(doing, error))?;
        }
        let mut insert = conn
            .prepare_cached("INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5)")
            .map_err(|error| sql(doing, error))?;
        for (term, list) in self.take_lists() {
            if list.postings.is_empty() {
                continue;
            }
            let data = encode_postings(&list.postings);
            insert
                .execute(params![term, self.n_runs, list.n(), list.note_df, data])
                .map_err(|error| sql(doing, error))?;
        }
        self.n_runs += 1;
        self.n_postings = 0;
        Ok(())
    }

    /// Empties the term table, sorted by term.
    fn take_lists(&mut self) -> Vec<(Box<str>, List)> {
        let mut lists = mem::take(&mut self.lists);
        let mut sorted: Vec<(Box<str>, List)> = mem::take(&mut self.ids)
            .into_terms()
            .map(|(term, id)| (term, mem::take(&mut lists[id as usize])))
            .collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        sorted
    }

    /// Writes what is left and registers the segment; nothing when no document
    /// was added.
    pub(super) fn finish(mut self, conn: &Connection) -> Result<()> {
        if self.n_docs == 0 {
            return Ok(());
        }
        if self.n_runs == 0 {
            self.write_postings(conn)?;
        } else {
            self.spill(conn)?;
            self.merge_runs(conn)?;
        }
        self.docs.flush(conn)?;
        self.lens.flush(conn)?;
        self.places.flush(conn)?;
        let n_bytes = self.n_docs.div_ceil(8);
        self.starts.resize(n_bytes, 0);
        write_bits(conn, self.segment, Kind::Start, &self.starts)?;
        write_bits(conn, self.segment, Kind::Dead, &vec![0; n_bytes])?;
        if self.n_vectors > 0 {
            self.write_codes4(conn)?;
        }
        conn.execute(
            "INSERT INTO segment VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
            params![
                self.segment,
                self.first_chunk,
                self.last_chunk,
                self.n_docs as i64,
                self.n_notes,
                self.total_len as i64
            ],
        )
        .map(drop)
        .map_err(|error| sql("write a segment", error))
    }

    fn write_postings(&mut self, conn: &Connection) -> Result<()> {
        for (term, list) in self.take_lists() {
            if !list.postings.is_empty() {
                let data = encode_postings(&list.postings);
                self.write_list(conn, &term, list.n(), list.note_df, &data)?;
            }
        }
        Ok(())
    }

    /// Writes one list: inline, or in blocks when it is long.
    fn write_list(
        &mut self,
        conn: &Connection,
        term: &str,
        df: i64,
        note_df: u32,
        data: &[u8],
    ) -> Result<()> {
        let doing = "write postings";
        let (inline, long) =
            if data.len() <= MAX_INLINE_BYTES { (data, &[][..]) } else { (&[][..], data) };
        let n = long.len().div_ceil(BLOCK_BYTES) as i64;
        let first = if n == 0 { 0 } else { self.n_pieces as i64 };
        conn.prepare_cached("INSERT INTO posting VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
            .and_then(|mut insert| {
                insert.execute(params![self.segment, term, df, note_df, first, n, inline])
            })
            .map_err(|error| sql(doing, error))?;
        for piece in long.chunks(BLOCK_BYTES) {
            let id = block_id(self.segment, Kind::Posting, self.n_pieces);
            conn.prepare_cached("INSERT INTO block VALUES (?1, ?2)")
                .and_then(|mut insert| insert.execute(params![id, piece]))
                .map_err(|error| sql(doing, error))?;
            self.n_pieces += 1;
        }
        Ok(())
    }

    fn merge_runs(&mut self, conn: &Connection) -> Result<()> {
        let doing = "merge postings";
        let mut select = conn
            .prepare("SELECT term, df, note_df, data FROM run ORDER BY term, run")
            .map_err(|error| sql(doing, error))?;
        let mut rows = select.query([]).map_err(|error| sql(doing, error))?;
        let mut merged: Option<RunList> = None;
        while let Some(row) = rows.next().map_err(|error| sql(doing, error))? {
            let part = RunList::read(row).map_err(|error| sql(doing, error))?;
            match &mut merged {
                Some(list) if list.term == part.term => {
                    list.df += part.df;
                    list.note_df += part.note_df;
                    list.data.extend_from_slice(&part.data);
                }
                _ => {
                    if let Some(list) = merged.replace(part) {
                        self.write_list(conn, &list.term, list.df, list.note_df, &list.data)?;
                    }
                }
            }
        }
        if let Some(list) = merged {
            self.write_list(conn, &list.term, list.df, list.note_df, &list.data)?;
        }
        drop(rows);
        drop(select);
        conn.execute_batch("DELETE FROM run").map_err(|error| sql(doing, error))
    }

    /// Derives the 4-bit codes from vec0's, now that mean and spread of each
    /// dimension are known.
    fn write_codes4(&self, conn: &Connection) -> Result<()> {
        let grid = Int4Grid::fit(&self.sum, &self.sum_sq, self.n_vectors);
        let mut writer = BlockWriter::new(self.segment, Kind::Grid);
        writer.push(conn, &grid.to_bytes())?;
        writer.flush(conn)?;
        let mut writer = BlockWriter::new(self.segment, Kind::Code4);
        let mut codes = PlaceReader::new(conn);
        for n in 0..self.n_docs.div_ceil(Kind::Place.per_block()) {
            let block: Vec<u8> = conn
                .prepare_cached("SELECT data FROM block WHERE id = ?1")
                .and_then(|mut select| {
                    select.query_row([block_id(self.segment, Kind::Place, n)], |row| row.get(0))
                })
                .map_err(|error| sql("read vector codes", error))?;
            for bytes in block.as_chunks::<4>().0 {
                let code = codes
                    .read(Place::from_bytes(*bytes))
                    .map_err(|error| sql("read vector codes", error))?;
                writer.push(conn, &encode4(&code, &grid))?;
            }
        }
        writer.flush(conn)
    }
}

/// One term's postings of one run.
struct RunList {
    term: String,
    df: i64,
    note_df: u32,
    data: Vec<u8>,
}

impl RunList {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { term: row.get(0)?, df: row.get(1)?, note_df: row.get(2)?, data: row.get(3)? })
    }
}

/// Encodes one run's postings (document << 8 | code, ascending).
fn encode_postings(postings: &[u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(postings.len() * 2 + 8);
    for page in postings.chunk_by(|a, b| a >> 24 == b >> 24) {
        // A range has 65,536 documents, so the count less one fits.
        out.extend_from_slice(&((page[0] >> 24) as u16).to_le_bytes());
        out.extend_from_slice(&((page.len() - 1) as u16).to_le_bytes());
        out.extend(page.iter().map(|posting| *posting as u8));
        let mut next = 0;
        for posting in page {
            let doc = posting >> 8 & 0xffff;
            let gap = doc - next;
            next = doc + 1;
            if gap < 255 {
                out.push(gap as u8);
            } else {
                out.push(255);
                out.extend_from_slice(&(gap as u16).to_le_bytes());
            }
        }
    }
    out
}

/// Calls `visit(document, code)` for every posting of a list.
pub(super) fn each_posting(mut list: &[u8], mut visit: impl FnMut(u32, u8)) {
    while let Some((head, rest)) = list.split_first_chunk::<4>() {
        let word = |at: usize| u32::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let (base, n) = (word(0) << 16, word(2) as usize + 1);
        let Some((codes, mut gaps)) = rest.split_at_checked(n) else { return };
        let mut next = 0;
        for code in codes {
            let gap = match gaps {
                [255, low, high, rest @ ..] => {
                    gaps = rest;
                    u32::from(u16::from_le_bytes([*low, *high]))
                }
                [gap, rest @ ..] => {
                    gaps = rest;
                    u32::from(*gap)
                }
                [] => return,
            };
            visit(base + next + gap, *code);
            next += gap + 1;
        }
        list = gaps;
    }
}

/// Sets bit `n`, growing the set as needed.
fn set_bit(bits: &mut Vec<u8>, n: usize) {
    if bits.len() <= n / 8 {
        bits.resize(n / 8 + 1, 0);
    }
    bits[n / 8] |= 1 << (n % 8);
}

fn write_bits(conn: &Connection, segment: i64, kind: Kind, bits: &[u8]) -> Result<()> {
    for (n, block) in bits.chunks(BLOCK_BYTES).enumerate() {
        conn.execute(
            "INSERT INTO block VALUES (?1, ?2)",
            params![block_id(segment, kind, n), block],
        )
        .map_err(|error| sql("write a segment", error))?;
    }
    Ok(())
}

/// Fills blocks of one kind and writes each when it is full.
#[derive(Debug)]
struct BlockWriter {
    segment: i64,
    kind: Kind,
    n: usize,
    buffer: Vec<u8>,
}

impl BlockWriter {
    fn new(segment: i64, kind: Kind) -> Self {
        Self { segment, kind, n: 0, buffer: Vec::new() }
    }

    fn push(&mut self, conn: &Connection, item: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(item);
        if self.buffer.len() + item.len() > self.kind.per_block() * item.len() {
            self.flush(conn)?;
        }
        Ok(())
    }

    fn flush(&mut self, conn: &Connection) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        conn.prepare_cached("INSERT INTO block VALUES (?1, ?2)")
            .and_then(|mut insert| {
                insert.execute(params![block_id(self.segment, self.kind, self.n), self.buffer])
            })
            .map_err(|error| sql("write a segment", error))?;
        self.n += 1;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf_codes_keep_the_three_frequencies_apart() {
        let table = tf_table(1.0, 0.5, 0.3);
        assert_eq!(table[tf_code(2, 0, 0) as usize], 2.0);
        assert!((table[tf_code(99, 1, 2) as usize] - 16.1).abs() < 1e-5);
    }

    #[test]
    fn postings_are_split_into_ranges() {
        let docs = [(7, 1), (0x1_0002, 9), (0x1_0003, 4), (0x1_0204, 5)];
        let data = encode_postings(&docs.map(|(doc, code)| doc << 8 | code));
        let expected = [&[0, 0, 0, 0, 1, 7][..], &[1, 0, 2, 0, 9, 4, 5, 2, 0, 255, 0, 2]].concat();
        assert_eq!(data, expected);
        let mut read = Vec::new();
        each_posting(&data, |doc, code| read.push((doc, u32::from(code))));
        assert_eq!(read, docs);
    }

    #[test]
    fn doc_records_survive_the_bytes() {
        let doc = Doc { chunk_id: 7, note_id: 9, day: -3, language: Language::SPANISH, flags: 3 };
        assert_eq!(Doc::from_bytes(&doc.to_bytes()), doc);
    }
}
