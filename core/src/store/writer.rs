//! Read-write access to the index, one process at a time.
//!
//! Every change of a note touches the tables of record and the snapshot's dead
//! marks in one transaction, so that they never stand apart. New notes enter
//! the snapshot when the run is finished: as a segment of their own, merged
//! with its neighbours while those are not much larger, so that there are few
//! segments and each text is analysed a few times at most.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::body::decompress;
use super::check;
use super::lock::{Seal, WriterLock, try_lock};
use super::reader::{chunk_row, note_meta};
use super::record::{FieldTerms, KnownNote, KnownNotes, NoteRecord, Searched, field_terms};
use super::schema::{self, PAGE_SIZE, SCHEMA_VERSION, sql};
use super::segment::{DOC_BYTES, Doc, DocFlags, Kind, SegmentBuilder, block_id};
use super::swap::{self, beside, connect, fold_log, keep_private, swap};
use super::vec_ext;
use super::vector::{Code8, Place, PlaceReader};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Link, NoteMeta};

/// What FTS5 collects before it writes, in bytes, and how many pieces of a level
/// it merges while it does: from nothing it writes few large pieces that are
/// merged once at the end, afterwards its own defaults.
const BULK_KEYWORDS: [i64; 2] = [16 << 20, 0];
const DEFAULT_KEYWORDS: [i64; 2] = [1 << 20, 4];

/// A segment is merged with the one before it unless that one is more than
/// this many times larger: at 8 there are at most 6 segments for 200,000
/// chunks.
const MERGE_FACTOR: i64 = 8;

/// A segment with more than one dead document in this many is written anew.
const MAX_DEAD_SHARE: i64 = 4;

/// What identifies the contents of an index; another value of any of them
/// makes the writer start from nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriterOptions {
    /// Path of the vault.
    pub vault: String,
    /// Hash of model and word tables; empty without a model.
    pub model: String,
    /// Version of everything that decides what is stored for a text: chunker,
    /// analysis, filter.
    pub text_version: String,
    /// Discard what is there.
    pub full: bool,
    /// Look through the whole index for damage first.
    pub check: bool,
}

/// What became of opening an index for writing.
#[derive(Debug)]
pub enum WriteOutcome {
    /// It can be written; the reason why it is built from nothing, if it is.
    Ready(Box<Writer>, Option<String>),
    /// Another process is writing.
    Busy,
}

/// The one writer.
#[derive(Debug)]
pub struct Writer {
    pub(super) conn: Connection,
    /// Where the finished index goes, when it is built beside an old one.
    target: Option<PathBuf>,
    path: PathBuf,
    /// What is at `target` may be somebody's letter: it is kept under another
    /// name.
    keeps_old: bool,
    /// Collects the first segment while everything is written from nothing.
    builder: Option<SegmentBuilder>,
    /// Chunks of `builder` that were replaced in the same run.
    replaced: Vec<(i64, i64)>,
    next_chunk: i64,
    in_transaction: bool,
    is_finished: bool,
    lock: WriterLock,
}

impl Writer {
    /// Opens or creates the index at `path`.
    ///
    /// An index of another vault, model or version, a damaged one, and one
    /// asked to be full, is built beside the old one, which readers keep until
    /// [`Writer::finish`].
    ///
    /// # Errors
    /// When the folder cannot be written, or the file is a newer index or not
    /// an index at all.
    pub fn open(path: &Path, options: &WriterOptions) -> Result<WriteOutcome> {
        vec_ext::register();
        let path = &swap::real(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        }
        let Some(mut lock) = try_lock(path)? else { return Ok(WriteOutcome::Busy) };
        let building = beside(path, ".building");
        swap::remove(&building)?;
        // Before anything opens the file.
        let seal = lock.seal(path);
        let is_ours = seal != Seal::Absent || has_sqlite_header(path);
        let reason = match rebuild_reason(path, options) {
            Err(error) if error.kind() == ErrorKind::Input && is_blank(path) => {
                swap::remove(path)?;
                None
            }
            outcome => outcome?,
        };
        let reason = match reason {
            Some(reason) => Some(reason),
            None => distrust(path, seal, options.check)?,
        };
        if reason.is_none() {
            lock.open_seal()?;
        }
        let mut writer = match &reason {
            Some(_) => Self::on_file(&building, Some(path), lock)?,
            None => Self::on_file(path, None, lock)?,
        };
        writer.keeps_old = !is_ours;
        writer.store_options(options)?;
        Ok(WriteOutcome::Ready(Box::new(writer), reason))
    }

    fn on_file(path: &Path, target: Option<&Path>, lock: WriterLock) -> Result<Self> {
        let doing = format!("open index {}", path.display());
        keep_private(path);
        let conn = connect(path).map_err(|error| sql(&doing, error))?;
        let is_new = schema::version(&conn)?.is_none();
        if is_new {
            conn.pragma_update(None, "page_size", PAGE_SIZE).map_err(|error| sql(&doing, error))?;
        }
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
            .map_err(|error| sql(&doing, error))?;
        // A power cut may undo the last transactions but never half of one;
        // the next run repeats them from the vault. A file that is thrown away
        // when the run dies needs no syncing at all.
        let synchronous = if target.is_some() { "OFF" } else { "NORMAL" };
        conn.execute_batch(&format!(
            "PRAGMA synchronous = {synchronous}; PRAGMA cache_size = -32768;"
        ))
        .map_err(|error| sql(&doing, error))?;
        if is_new {
            schema::create(&conn)?;
        }
        let mut writer = Self {
            conn,
            target: target.map(Path::to_owned),
            path: path.to_owned(),
            keeps_old: false,
            builder: None,
            replaced: Vec::new(),
            next_chunk: 1,
            in_transaction: false,
            is_finished: false,
            lock,
        };
        let last = writer.number("SELECT coalesce(max(id), 0) FROM chunk")?;
        writer.next_chunk = writer.covered()?.max(last) + 1;
        if writer.next_chunk == 1 {
            writer.drop_segment(1)?;
            writer.builder = Some(SegmentBuilder::new(1));
            writer.tune_keywords(BULK_KEYWORDS)?;
        }
        Ok(writer)
    }

    /// Sets how FTS5 collects and merges.
    fn tune_keywords(&self, [hash_bytes, merge]: [i64; 2]) -> Result<()> {
        for (option, value) in [("hashsize", hash_bytes), ("automerge", merge)] {
            self.execute(
                "tune the keyword table",
                "INSERT INTO keyword (keyword, rank) VALUES (?1, ?2)",
                params![option, value],
            )?;
        }
        Ok(())
    }

    /// The last chunk that is in a segment.
    fn covered(&self) -> Result<i64> {
        self.number("SELECT coalesce(max(last_chunk), 0) FROM segment")
    }

    pub(super) fn number(&self, query: &str) -> Result<i64> {
        self.conn
            .query_row(query, [], |row| row.get(0))
            .map_err(|error| sql("read the index", error))
    }

    pub(super) fn execute(
        &self,
        doing: &str,
        query: &str,
        args: impl rusqlite::Params,
    ) -> Result<usize> {
        self.conn
            .prepare_cached(query)
            .and_then(|mut statement| statement.execute(args))
            .map_err(|error| sql(doing, error))
    }

    fn store_options(&self, options: &WriterOptions) -> Result<()> {
        for (key, value) in options_as_meta(options) {
            self.set_meta(key, value)?;
        }
        Ok(())
    }

    /// Leaves a value for readers.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<()> {
        self.execute("write the index", "INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [key, value])
            .map(drop)
    }

    /// Returns what is known of every file, by path.
    pub fn known(&self) -> Result<KnownNotes> {
        let doing = "list the indexed notes";
        let mut select = self
            .conn
            .prepare("SELECT path, id, mtime_ns, ctime_ns, size, hash FROM note")
            .map_err(|error| sql(doing, error))?;
        select
            .query_map([], |row| Ok((row.get(0)?, known_note(row)?)))
            .and_then(Iterator::collect)
            .map_err(|error| sql(doing, error))
    }

    /// Returns what is known of the file at `path`.
    pub fn known_at(&self, path: &str) -> Result<Option<KnownNote>> {
        self.conn
            .prepare_cached(
                "SELECT path, id, mtime_ns, ctime_ns, size, hash FROM note WHERE path = ?1",
            )
            .and_then(|mut select| select.query_row([path], known_note).optional())
            .map_err(|error| sql("look up a note", error))
    }

    /// Calls `visit` with every note's path and id, ordered by path.
    pub fn each_path(&self, mut visit: impl FnMut(&str, i64)) -> Result<()> {
        let doing = "list the indexed notes";
        let mut select = self
            .conn
            .prepare("SELECT path, id FROM note ORDER BY path")
            .map_err(|error| sql(doing, error))?;
        let mut rows = select.query([]).map_err(|error| sql(doing, error))?;
        while let Some(row) = rows.next().map_err(|error| sql(doing, error))? {
            let path = row.get_ref(0).and_then(|value| Ok(value.as_str()?));
            visit(
                path.map_err(|error| sql(doing, error))?,
                row.get(1).map_err(|error| sql(doing, error))?,
            );
        }
        Ok(())
    }

    /// Reads a value that an earlier run left.
    pub fn meta(&self, key: &str) -> Result<Option<String>> {
        self.conn
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| sql("read the index", error))
    }

    #[cfg(test)]
    pub(super) fn limit_run(&mut self, max_postings: usize) {
        if let Some(builder) = &mut self.builder {
            builder.max_run_postings = max_postings;
        }
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        self.is_finished = false;
        if !self.in_transaction {
            self.conn
                .execute_batch("BEGIN IMMEDIATE")
                .map_err(|error| sql("begin to write the index", error))?;
            self.in_transaction = true;
        }
        Ok(())
    }

    /// Makes everything done so far permanent.
    pub fn commit(&mut self) -> Result<()> {
        if self.in_transaction {
            self.conn.execute_batch("COMMIT").map_err(|error| sql("commit to the index", error))?;
            self.in_transaction = false;
        }
        Ok(())
    }

    /// Stores a note, in place of the one with the same path.
    pub fn put(&mut self, note: &NoteRecord) -> Result<()> {
        self.begin()?;
        let old = self.note_chunks("path", &note.path)?;
        let note_id = match old {
            Some((id, first, n)) => {
                self.delete_chunks(first, n)?;
                self.delete_details(id)?;
                id
            }
            None => self.number("SELECT coalesce(max(id), 0) + 1 FROM note")?,
        };
        let first_chunk = self.next_chunk;
        self.put_note_row(note_id, first_chunk, note)?;
        for tag in &note.meta.tags {
            let tag = crate::text::fold(tag);
            self.execute(
                "write tags",
                "INSERT OR IGNORE INTO note_tag VALUES (?1, ?2)",
                params![tag, note_id],
            )?;
        }
        for (seq, link) in note.links.iter().enumerate() {
            self.put_link(note_id, seq, link)?;
        }
        for at in 0..note.chunks.len() {
            self.put_chunk(note_id, first_chunk, note, at)?;
        }
        Ok(())
    }

    fn note_chunks(&self, column: &str, value: &str) -> Result<Option<(i64, i64, i64)>> {
        self.conn
            .prepare_cached(&format!(
                "SELECT id, first_chunk, n_chunks FROM note WHERE {column} = ?1"
            ))
            .and_then(|mut select| {
                select
                    .query_row([value], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                    .optional()
            })
            .map_err(|error| sql("look up a note", error))
    }

    fn put_note_row(&self, id: i64, first_chunk: i64, note: &NoteRecord) -> Result<()> {
        let meta = &note.meta;
        let list = |names: &[String]| serde_json::Value::from(names).to_string();
        self.execute(
            "write a note",
            "INSERT OR REPLACE INTO note VALUES
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
              ?19, ?20)",
            params![
                id,
                note.path,
                note.mtime_ns,
                note.ctime_ns,
                note.size as i64,
                note.hash,
                meta.title,
                meta.kind,
                meta.domain,
                meta.status,
                meta.source,
                meta.description,
                meta.created,
                meta.updated,
                list(&meta.tags),
                list(&meta.aliases),
                serde_json::to_string(&meta.properties).unwrap_or_default(),
                meta.for_agents,
                first_chunk,
                note.chunks.len() as i64,
            ],
        )
        .map(drop)
    }

    fn put_link(&self, note_id: i64, seq: usize, link: &Link) -> Result<()> {
        self.execute(
            "write links",
            "INSERT INTO link VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)",
            params![
                note_id,
                seq as i64,
                link.line,
                link.target,
                link.anchor,
                link.is_embed,
                link.is_wiki
            ],
        )
        .map(drop)
    }

    fn put_chunk(
        &mut self,
        note_id: i64,
        first_chunk: i64,
        note: &NoteRecord,
        at: usize,
    ) -> Result<()> {
        let (chunk, packed) = (&note.chunks[at], &note.packed);
        let (body, flat) = (&packed.bodies[at], &packed.flats[at]);
        let id = self.next_chunk;
        self.next_chunk += 1;
        self.execute(
            "write a chunk",
            "INSERT INTO chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                id,
                note_id,
                chunk.line,
                chunk.heading,
                chunk.language.code(),
                first_chunk + body.holder as i64,
                body.start as i64,
                chunk.text.as_str().len() as i64,
                body.frame,
                flat
            ],
        )?;
        self.execute(
            "write keywords",
            "INSERT INTO keyword (rowid, terms) VALUES (?1, ?2)",
            params![id, chunk.terms.joined()],
        )?;
        let code = chunk.vector.as_ref().map(Code8::encode);
        if let Some(code) = &code {
            self.execute(
                "write a vector",
                "INSERT INTO vector (chunk_id, code) VALUES (?1, vec_int8(?2))",
                params![id, &code.value_bytes()[..]],
            )?;
        }
        if let Some(builder) = &mut self.builder {
            let doc = doc_of(id, note_id, chunk.language, &note.meta, note.mtime_ns);
            let place = place_of(&self.conn, id)?;
            builder.add(&self.conn, doc, &chunk.terms, place.zip(code.as_ref()))?;
        }
        Ok(())
    }

    /// Removes a note; nothing when there is none at that path.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        self.begin()?;
        let Some((id, first, n)) = self.note_chunks("path", path)? else { return Ok(()) };
        self.delete_chunks(first, n)?;
        self.delete_details(id)?;
        self.execute("remove a note", "DELETE FROM note WHERE id = ?1", [id])?;
        self.execute("remove a note", "UPDATE link SET to_note = NULL WHERE to_note = ?1", [id])
            .map(drop)
    }

    /// Records other times of a file whose contents are the same.
    pub fn touch(&mut self, id: i64, mtime_ns: i64, ctime_ns: i64) -> Result<()> {
        self.begin()?;
        self.execute(
            "write a note",
            "UPDATE note SET mtime_ns = ?2, ctime_ns = ?3 WHERE id = ?1",
            params![id, mtime_ns, ctime_ns],
        )
        .map(drop)
    }

    fn delete_details(&self, note_id: i64) -> Result<()> {
        self.execute("remove tags", "DELETE FROM note_tag WHERE note_id = ?1", [note_id])?;
        self.execute("remove links", "DELETE FROM link WHERE note_id = ?1", [note_id]).map(drop)
    }

    fn delete_chunks(&mut self, first: i64, n: i64) -> Result<()> {
        for id in first..first + n {
            self.execute("remove a chunk", "DELETE FROM chunk WHERE id = ?1", [id])?;
            self.execute("remove keywords", "DELETE FROM keyword WHERE rowid = ?1", [id])?;
            self.execute("remove a vector", "DELETE FROM vector WHERE chunk_id = ?1", [id])?;
        }
        if self.builder.is_some() {
            self.replaced.push((first, n));
            return Ok(());
        }
        self.mark_dead(first, n)
    }

    /// Marks the documents of `n` chunks from `first` on as dead.
    fn mark_dead(&self, first: i64, n: i64) -> Result<()> {
        let doing = "mark replaced chunks";
        let segment: Option<(i64, i64)> = self
            .conn
            .prepare_cached(
                "SELECT id, n_docs FROM segment WHERE first_chunk <= ?1 AND last_chunk >= ?1",
            )
            .and_then(|mut select| {
                select.query_row([first], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(|error| sql(doing, error))?;
        let Some((segment, n_docs)) = segment else { return Ok(()) };
        let doc = self.find_doc(segment, n_docs as usize, first)?;
        let per_block = Kind::Dead.per_block();
        for doc in doc..(doc + n as usize).min(n_docs as usize) {
            let id = block_id(segment, Kind::Dead, doc / 8 / per_block);
            let mut blob = self
                .conn
                .blob_open("main", "block", "data", id, false)
                .map_err(|error| sql(doing, error))?;
            let (at, mut byte) = (doc / 8 % per_block, [0]);
            blob.read_at_exact(&mut byte, at).map_err(|error| sql(doing, error))?;
            byte[0] |= 1 << (doc % 8);
            blob.write_at(&byte, at).map_err(|error| sql(doing, error))?;
        }
        self.execute(
            doing,
            "UPDATE segment SET n_dead = n_dead + ?2 WHERE id = ?1",
            params![segment, n],
        )
        .map(drop)
    }

    /// Finds the document of a chunk; documents are in the order of chunk ids.
    fn find_doc(&self, segment: i64, n_docs: usize, chunk_id: i64) -> Result<usize> {
        let doing = "find a document";
        let per_block = Kind::Doc.per_block();
        let (mut low, mut high) = (0, n_docs);
        let mut bytes = [0; DOC_BYTES];
        while low < high {
            let middle = low.midpoint(high);
            self.conn
                .blob_open(
                    "main",
                    "block",
                    "data",
                    block_id(segment, Kind::Doc, middle / per_block),
                    true,
                )
                .and_then(|blob| blob.read_at_exact(&mut bytes, middle % per_block * DOC_BYTES))
                .map_err(|error| sql(doing, error))?;
            if i64::from(Doc::from_bytes(&bytes).chunk_id) < chunk_id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Brings the snapshot up to date, commits, and puts a rebuilt index in
    /// the place of the old one.
    pub fn finish(&mut self) -> Result<()> {
        self.begin()?;
        match self.builder.take() {
            Some(builder) => {
                builder.finish(&self.conn)?;
                for (first, n) in std::mem::take(&mut self.replaced) {
                    self.mark_dead(first, n)?;
                }
                self.conn
                    .execute_batch("INSERT INTO keyword (keyword) VALUES ('optimize')")
                    .map_err(|error| sql("optimize the keyword table", error))?;
                self.tune_keywords(DEFAULT_KEYWORDS)?;
            }
            None => self.extend_snapshot()?,
        }
        self.commit()?;
        match self.target.clone() {
            Some(target) => {
                self.lock.open_seal()?;
                self.replace(&target)?;
                self.target = None;
            }
            None => {
                fold_log(&self.conn).map_err(|error| sql("fold the log into the index", error))?;
            }
        }
        self.is_finished = true;
        Ok(())
    }

    /// Whether everything is written anew beside an old index, which stays
    /// until [`Writer::finish`].
    pub fn is_rebuild(&self) -> bool {
        self.target.is_some()
    }

    /// Puts the chunks that are in no segment into one.
    fn extend_snapshot(&mut self) -> Result<()> {
        let covered = self.covered()?;
        let mut n_live = self
            .conn
            .query_row("SELECT count(*) FROM chunk WHERE id > ?1", [covered], |row| row.get(0))
            .map_err(|error| sql("count chunks", error))?;
        let segments = self.segments()?;
        let n_kept = n_segments_kept(&segments, &mut n_live);
        if n_kept == segments.len() && n_live == 0 {
            return Ok(());
        }
        let first = segments.get(n_kept).map_or(covered + 1, |segment| segment.first_chunk);
        let id = segments.last().map_or(1, |segment| segment.id + 1);
        self.drop_segment(id)?;
        let mut builder = SegmentBuilder::new(id);
        self.feed(&mut builder, first)?;
        builder.finish(&self.conn)?;
        for segment in &segments[n_kept..] {
            self.drop_segment(segment.id)?;
        }
        Ok(())
    }

    fn segments(&self) -> Result<Vec<SegmentRow>> {
        let doing = "list segments";
        let mut select = self
            .conn
            .prepare("SELECT id, first_chunk, n_docs, n_dead FROM segment ORDER BY id")
            .map_err(|error| sql(doing, error))?;
        select
            .query_map([], |row| {
                Ok(SegmentRow {
                    id: row.get(0)?,
                    first_chunk: row.get(1)?,
                    n_docs: row.get(2)?,
                    n_dead: row.get(3)?,
                })
            })
            .and_then(Iterator::collect)
            .map_err(|error| sql(doing, error))
    }

    /// Adds every stored chunk from `first` on to a segment.
    fn feed(&self, builder: &mut SegmentBuilder, first: i64) -> Result<()> {
        let doing = "read stored chunks";
        let mut select = self
            .conn
            .prepare(&format!("{STORED_COLUMNS} WHERE c.id >= ?1 ORDER BY c.id"))
            .map_err(|error| sql(doing, error))?;
        let mut rows = select.query([first]).map_err(|error| sql(doing, error))?;
        let mut codes = PlaceReader::new(&self.conn);
        while let Some(row) = rows.next().map_err(|error| sql(doing, error))? {
            let (doc, terms) = stored_doc(row).map_err(|error| sql(doing, error))?;
            let place = place_of(&self.conn, i64::from(doc.chunk_id))?;
            let code = match place {
                Some(place) => Some(codes.read(place).map_err(|error| sql(doing, error))?),
                None => None,
            };
            builder.add(&self.conn, doc, &terms, place.zip(code.as_ref()))?;
        }
        Ok(())
    }

    fn drop_segment(&self, id: i64) -> Result<()> {
        let doing = "drop a segment";
        self.execute(doing, "DELETE FROM segment WHERE id = ?1", [id])?;
        self.execute(doing, "DELETE FROM posting WHERE segment = ?1", [id])?;
        self.execute(
            doing,
            "DELETE FROM block WHERE id >= ?1 AND id < ?2",
            [block_id(id, Kind::Doc, 0), block_id(id + 1, Kind::Doc, 0)],
        )
        .map(drop)
    }

    /// Puts this database in the place of `target`; readers keep the old one
    /// until they open the index anew.
    fn replace(&mut self, target: &Path) -> Result<()> {
        let doing = format!("replace index {}", target.display());
        fold_log(&self.conn).map_err(|error| sql(&doing, error))?;
        self.close().map_err(|error| sql(&doing, error))?;
        if self.keeps_old {
            swap::set_aside(target)?;
        }
        swap(&self.path, target)?;
        target.clone_into(&mut self.path);
        self.conn = connect(target).map_err(|error| sql(&doing, error))?;
        Ok(())
    }

    fn close(&mut self) -> rusqlite::Result<()> {
        drop(std::mem::replace(&mut self.conn, Connection::open_in_memory()?));
        Ok(())
    }
}

impl Drop for Writer {
    /// Seals the index, since closing the file may still fold its log in; a
    /// rebuild that was not finished is removed.
    fn drop(&mut self) {
        let is_closed = self.close().is_ok();
        if self.is_finished && is_closed {
            // Without a seal the next run looks through the whole index.
            let _ = self.lock.close_seal(&self.path);
        } else if self.target.is_some() && is_closed {
            // The next run removes it otherwise.
            let _ = swap::remove(&self.path);
        }
    }
}

/// Says why the file of an index that could be continued cannot be trusted.
fn distrust(path: &Path, seal: Seal, check: bool) -> Result<Option<String>> {
    if !std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
        return Ok(None);
    }
    match seal {
        Seal::Whole if !check => return Ok(None),
        Seal::Broken => return Ok(Some("something else changed the index file".into())),
        Seal::Whole | Seal::Open | Seal::Absent => {}
    }
    let doing = format!("check index {}", path.display());
    let conn = connect(path).map_err(|error| sql(&doing, error))?;
    Ok(check::damage(&conn, check)?.map(|damage| format!("the old index is damaged ({damage})")))
}

#[derive(Debug)]
struct SegmentRow {
    id: i64,
    first_chunk: i64,
    n_docs: i64,
    n_dead: i64,
}

/// Returns how many of the first segments stay as they are; the others are
/// merged with the `n_live` new chunks, which become the live ones of all.
fn n_segments_kept(segments: &[SegmentRow], n_live: &mut i64) -> usize {
    let is_worn = |segment: &SegmentRow| segment.n_dead * MAX_DEAD_SHARE > segment.n_docs;
    let first_worn = segments.iter().position(is_worn).unwrap_or(segments.len());
    let mut kept = segments.len();
    while let Some(last) = kept.checked_sub(1) {
        let live = segments[last].n_docs - segments[last].n_dead;
        let is_small = *n_live > 0 && live <= MERGE_FACTOR * *n_live;
        if !is_small && last < first_worn {
            break;
        }
        *n_live += live;
        kept = last;
    }
    kept
}

fn known_note(row: &rusqlite::Row<'_>) -> rusqlite::Result<KnownNote> {
    Ok(KnownNote {
        id: row.get(1)?,
        mtime_ns: row.get(2)?,
        ctime_ns: row.get(3)?,
        size: row.get::<_, i64>(4)? as u64,
        hash: row.get(5)?,
    })
}

fn place_of(conn: &Connection, chunk_id: i64) -> Result<Option<Place>> {
    Place::of(conn, chunk_id).map_err(|error| sql("look up a vector", error))
}

/// What [`stored_doc`] reads.
pub(super) const STORED_COLUMNS: &str =
    "SELECT c.id, c.note_id, c.line, c.heading, c.language, holder.body, c.start, c.len, c.flat,
       note.path, note.mtime_ns, title, kind, domain, status, source, description, created,
       updated, tags, aliases, properties, for_agents
     FROM chunk c JOIN chunk holder ON holder.id = c.body_chunk
       JOIN note ON note.id = c.note_id";

/// Builds a document and its terms from a stored chunk and its note.
pub(super) fn stored_doc(row: &rusqlite::Row<'_>) -> rusqlite::Result<(Doc, FieldTerms)> {
    let chunk = chunk_row(row)?;
    let flat: Option<Vec<u8>> = row.get(8)?;
    let flat = flat.and_then(|flat| decompress(&flat)).unwrap_or_default();
    let path: String = row.get(9)?;
    let meta = note_meta(row, 11)?;
    let doc = doc_of(chunk.id, chunk.note_id, chunk.language, &meta, row.get(10)?);
    let searched = Searched {
        heading: &chunk.heading,
        text: &chunk.text,
        flat: &flat,
        language: chunk.language,
    };
    Ok((doc, field_terms(&path, &meta, searched)))
}

fn doc_of(
    chunk_id: i64,
    note_id: i64,
    language: crate::model::Language,
    meta: &NoteMeta,
    mtime_ns: i64,
) -> Doc {
    let stated = meta.updated.as_deref().or(meta.created.as_deref());
    let day = stated
        .and_then(|date| NaiveDate::parse_from_str(crate::text::prefix(date, 10), "%Y-%m-%d").ok())
        .map_or(mtime_ns.div_euclid(86_400_000_000_000), |date| {
            date.signed_duration_since(NaiveDate::default()).num_days()
        });
    let mut flags = 0;
    if !meta.for_agents {
        flags |= DocFlags::PEOPLE_ONLY;
    }
    match meta.status.as_deref() {
        Some("archived" | "archive" | "deprecated" | "obsolete" | "superseded" | "archivado") => {
            flags |= DocFlags::ARCHIVED;
        }
        Some("draft" | "wip" | "borrador") => flags |= DocFlags::DRAFT,
        _ => {}
    }
    Doc {
        chunk_id: chunk_id as u32,
        note_id: note_id as u32,
        day: i32::try_from(day).unwrap_or(0),
        language,
        flags,
    }
}

fn options_as_meta(options: &WriterOptions) -> [(&'static str, &str); 3] {
    [("vault", &options.vault), ("model", &options.model), ("text_version", &options.text_version)]
}

/// Says why an existing index cannot be continued, if it cannot.
fn rebuild_reason(path: &Path, options: &WriterOptions) -> Result<Option<String>> {
    if !std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
        return Ok(None);
    }
    if options.full {
        return Ok(Some("a full rebuild was asked for".into()));
    }
    let stored = match read_options(path) {
        Ok(stored) => stored,
        Err(error) if error.kind() == ErrorKind::Input => return Err(error),
        Err(error) => return Ok(Some(format!("the old index cannot be read ({error})"))),
    };
    let Some(stored) = stored else {
        return Ok(Some("the old index has another schema".into()));
    };
    let names = ["the vault", "the model", "the way texts are read"];
    let wanted = options_as_meta(options);
    Ok(stored
        .iter()
        .zip(wanted)
        .zip(names)
        .find(|((old, (_, new)), _)| old != new)
        .map(|(_, name)| format!("{name} changed")))
}

/// Whether the file is a database without any table: all that a run leaves
/// which dies, or finds the disk full, before its first one.
fn is_blank(path: &Path) -> bool {
    let read = || -> rusqlite::Result<bool> {
        let conn = connect(path)?;
        let n: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let id: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
        Ok(n == 0 && id == 0)
    };
    read().unwrap_or(false)
}

/// Whether the file is a database, or nothing at all.
fn has_sqlite_header(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head));
    read.is_ok_and(|n| n == 0 || head == *b"SQLite format 3\0") || !path.exists()
}

/// Reads what identifies an index; `None` when it is of an older schema.
fn read_options(path: &Path) -> Result<Option<[String; 3]>> {
    let doing = format!("read index {}", path.display());
    let conn = connect(path).map_err(|error| sql(&doing, error))?;
    match schema::version(&conn)? {
        Some(SCHEMA_VERSION) => {}
        Some(newer) if newer > SCHEMA_VERSION => {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{doing}: it was made by a newer postil; install that or remove the file"),
            ));
        }
        Some(_) => return Ok(None),
        None => {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{doing}: it is not a postil index; name another file with --db"),
            ));
        }
    }
    let mut values: [String; 3] = Default::default();
    for (value, key) in values.iter_mut().zip(["vault", "model", "text_version"]) {
        *value = conn
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| sql(&doing, error))?
            .unwrap_or_default();
    }
    Ok(Some(values))
}
