//! Compares the keyword table and the snapshot with what the stored texts and
//! vectors say they should be, entry by entry. Damage inside them that leaves
//! every structure sound shows here only.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use rusqlite::{Connection, params};

use super::lexical::has_bit;
use super::record::FieldTerms;
use super::segment::{DOC_BYTES, Doc, Kind, block_id, each_posting, tf_code};
use super::vector::{Int4Grid, Place, PlaceReader, encode4};
use super::writer::{STORED_COLUMNS, stored_doc};
use crate::analyse::is_stop;
use crate::model::{DIM, Language};

/// A second keyword table, filled from the texts; both listed in the order of
/// terms and chunks.
const AGAIN: &str = "
  CREATE VIRTUAL TABLE temp.again USING fts5(terms, content='', detail=none,
    tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co' tokenchars '_-.:/@+#'''\");
  CREATE VIRTUAL TABLE temp.again_words USING fts5vocab('temp', 'again', 'instance');
  CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'keyword', 'instance');";
const NOT_AGAIN: &str = "
  DROP TABLE IF EXISTS temp.words;
  DROP TABLE IF EXISTS temp.again_words;
  DROP TABLE IF EXISTS temp.again;";

/// Returns what does not follow from the stored texts, if anything.
pub(super) fn difference(conn: &Connection) -> rusqlite::Result<Option<String>> {
    conn.execute_batch(NOT_AGAIN)?;
    conn.execute_batch(AGAIN)?;
    let found = compare(conn);
    conn.execute_batch(NOT_AGAIN)?;
    found
}

fn compare(conn: &Connection) -> rusqlite::Result<Option<String>> {
    // One transaction: a temporary table is written to, too.
    conn.execute_batch("BEGIN")?;
    let found = expected(conn).and_then(|expected| {
        if is_keyword_different(conn)? {
            return Ok(Some("keywords of another text".to_owned()));
        }
        for segment in segments(conn)? {
            if let Some(what) = segment.difference(conn, &expected)? {
                return Ok(Some(format!("a snapshot of {what}")));
            }
        }
        Ok(None)
    });
    conn.execute_batch("COMMIT")?;
    found
}

/// What the snapshot should hold of a chunk.
struct Expected {
    chunk_id: u32,
    postings: u64,
    len: u16,
}

/// Reads every chunk: fills the second keyword table and sums up the postings.
fn expected(conn: &Connection) -> rusqlite::Result<Vec<Expected>> {
    let mut insert = conn.prepare("INSERT INTO temp.again (rowid, terms) VALUES (?1, ?2)")?;
    let mut select = conn.prepare(&format!("{STORED_COLUMNS} ORDER BY c.id"))?;
    let mut rows = select.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let (doc, terms) = stored_doc(row)?;
        insert.execute(params![doc.chunk_id, terms.joined()])?;
        all.push(Expected {
            chunk_id: doc.chunk_id,
            postings: sum(&terms, doc.language),
            len: u16::try_from(terms.len()).unwrap_or(u16::MAX),
        });
    }
    Ok(all)
}

/// A sum over the postings that a chunk should have, in any order.
fn sum(terms: &FieldTerms, language: Language) -> u64 {
    let side = if language == Language::SPANISH { language } else { Language::ENGLISH };
    let kept = terms.each().filter(|(term, _)| !is_stop(term, side));
    kept.fold(0, |sum, (term, [text, section, context])| {
        sum.wrapping_add(posting(term, tf_code(text, section, context)))
    })
}

fn posting(term: &str, code: u8) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((term, code))
}

fn is_keyword_different(conn: &Connection) -> rusqlite::Result<bool> {
    let mut ours = conn.prepare("SELECT term, doc FROM temp.again_words")?;
    let mut theirs = conn.prepare("SELECT term, doc FROM temp.words")?;
    let (mut ours, mut theirs) = (ours.query([])?, theirs.query([])?);
    loop {
        match (ours.next()?, theirs.next()?) {
            (Some(ours), Some(theirs)) => {
                let is_same = |column| {
                    Ok::<_, rusqlite::Error>(ours.get_ref(column)? == theirs.get_ref(column)?)
                };
                if !(is_same(0)? && is_same(1)?) {
                    return Ok(true);
                }
            }
            (ours, theirs) => return Ok(ours.is_some() || theirs.is_some()),
        }
    }
}

struct Segment {
    id: i64,
    n_docs: usize,
}

fn segments(conn: &Connection) -> rusqlite::Result<Vec<Segment>> {
    conn.prepare("SELECT id, n_docs FROM segment ORDER BY id")?
        .query_map([], |row| {
            Ok(Segment { id: row.get(0)?, n_docs: row.get::<_, u32>(1)? as usize })
        })?
        .collect()
}

impl Segment {
    fn difference(
        &self,
        conn: &Connection,
        expected: &[Expected],
    ) -> rusqlite::Result<Option<&'static str>> {
        let postings = self.postings(conn)?;
        let docs = self.blocks(conn, Kind::Doc)?;
        let lens = self.blocks(conn, Kind::Len)?;
        let dead = self.blocks(conn, Kind::Dead)?;
        for (n, bytes) in docs.as_chunks::<DOC_BYTES>().0.iter().enumerate().take(self.n_docs) {
            if has_bit(&dead, n) {
                continue;
            }
            let chunk_id = Doc::from_bytes(bytes).chunk_id;
            let Ok(at) = expected.binary_search_by_key(&chunk_id, |chunk| chunk.chunk_id) else {
                return Ok(Some("other chunks"));
            };
            let len = lens.as_chunks::<2>().0.get(n).map(|len| u16::from_le_bytes(*len));
            if postings.get(n) != Some(&expected[at].postings) || len != Some(expected[at].len) {
                return Ok(Some("another text"));
            }
        }
        self.vectors_differ(conn, &docs, &dead).map(|differ| differ.then_some("other vectors"))
    }

    /// The sum over the postings of each document.
    fn postings(&self, conn: &Connection) -> rusqlite::Result<Vec<u64>> {
        let mut sums = vec![0_u64; self.n_docs];
        let mut select = conn
            .prepare("SELECT term, data, first_piece, n_pieces FROM posting WHERE segment = ?1")?;
        let mut rows = select.query([self.id])?;
        while let Some(row) = rows.next()? {
            let term: String = row.get(0)?;
            let mut data: Vec<u8> = row.get(1)?;
            let (first, n): (usize, usize) =
                (row.get::<_, u32>(2)? as usize, row.get::<_, u32>(3)? as usize);
            for piece in first..first + n {
                data.extend(block(conn, block_id(self.id, Kind::Posting, piece))?);
            }
            each_posting(&data, |doc, code| {
                if let Some(sum) = sums.get_mut(doc as usize) {
                    *sum = sum.wrapping_add(posting(&term, code));
                }
            });
        }
        Ok(sums)
    }

    /// Whether the 4-bit codes are not those of the vectors.
    fn vectors_differ(
        &self,
        conn: &Connection,
        docs: &[u8],
        dead: &[u8],
    ) -> rusqlite::Result<bool> {
        let grid = block(conn, block_id(self.id, Kind::Grid, 0)).unwrap_or_default();
        let Some(grid) = Int4Grid::from_bytes(&grid) else { return Ok(false) };
        let places = self.blocks(conn, Kind::Place)?;
        let codes = self.blocks(conn, Kind::Code4)?;
        let mut reader = PlaceReader::new(conn);
        let docs = docs.as_chunks::<DOC_BYTES>().0.iter().enumerate().take(self.n_docs);
        for (n, bytes) in docs.filter(|(n, _)| !has_bit(dead, *n)) {
            let chunk_id = i64::from(Doc::from_bytes(bytes).chunk_id);
            let Some(place) = Place::of(conn, chunk_id)? else { continue };
            let is_there = places.as_chunks::<4>().0.get(n) == Some(&place.to_bytes());
            let code = encode4(&reader.read(place)?, &grid);
            let is_same = codes.as_chunks::<{ DIM / 2 }>().0.get(n) == Some(&code);
            if !is_there || !is_same {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All blocks of one kind, put together.
    fn blocks(&self, conn: &Connection, kind: Kind) -> rusqlite::Result<Vec<u8>> {
        let mut select =
            conn.prepare("SELECT data FROM block WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        let range = [block_id(self.id, kind, 0), block_id(self.id, kind, 0) + (1 << 32)];
        let mut rows = select.query(range)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.extend_from_slice(row.get_ref(0)?.as_blob()?);
        }
        Ok(all)
    }
}

fn block(conn: &Connection, id: i64) -> rusqlite::Result<Vec<u8>> {
    conn.query_row("SELECT data FROM block WHERE id = ?1", [id], |row| row.get(0))
}
