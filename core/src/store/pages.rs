//! Reads rows of the snapshot out of the file itself.
//!
//! SQLite copies every value it hands out, and its mapping brings in the pages
//! around it: half of what a cold query spends in the index. Its file format is
//! fixed (<https://sqlite.org/fileformat2.html>), and of that the two tables a
//! query reads in bulk need little: trees of rows with one value each.
//!
//! Only while nothing is pending in the log. Then the file is all there is, and
//! the read transaction keeps it as it is, since a checkpoint does not write
//! below readers of the file. Whatever is not as expected is `None`, and SQLite
//! is asked instead: it knows what is wrong.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _};

use super::swap::beside;
use super::vector::{Code8, Place, VECTORS_PER_ROW};
use crate::model::DIM;

/// Types of a page.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

/// Trees deeper than this would hold more than any disk.
const MAX_DEPTH: usize = 8;

/// The index files this process has read, by device and inode.
///
/// They stay open: closing one would drop the locks that SQLite's connections
/// to the same file hold, because a process has but one lock on a file. Those
/// that no name leads to any more are closed.
static FILES: Mutex<Vec<(Key, Arc<File>)>> = Mutex::new(Vec::new());

type Key = (u64, u64);

/// The file of an index whose log is empty.
#[derive(Debug)]
pub(super) struct Pages {
    file: Arc<File>,
    page_size: usize,
    blocks: Tree,
    vectors: Option<Tree>,
}

/// The leaves of a table, each with the largest row id that may be in it.
#[derive(Debug, Default)]
struct Tree {
    leaves: Vec<(i64, u32)>,
}

/// A row in a leaf: the payload's place and length.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Where the payload begins in the leaf.
    start: usize,
    /// All bytes of the payload, and those that are in the leaf.
    len: usize,
    n_local: usize,
}

impl Pages {
    /// Opens the file that `conn` reads; its transaction must have begun.
    pub(super) fn open(conn: &Connection) -> Option<Self> {
        // As SQLite spells it: links resolved.
        let path = Path::new(conn.path()?);
        if fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0) {
            return None;
        }
        Self::read(file_at(path)?, conn)
    }

    fn read(file: Arc<File>, conn: &Connection) -> Option<Self> {
        let mut head = [0; 100];
        file.read_exact_at(&mut head, 0).ok()?;
        let page_size = match u16::from_be_bytes([head[16], head[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        // Byte 20: bytes reserved at the end of each page.
        if head[20] != 0 || !page_size.is_power_of_two() || page_size < 512 {
            return None;
        }
        let n_pages = usize::try_from(file.metadata().ok()?.len()).ok()? / page_size;
        let tree = |name: &str| {
            let root: u32 = conn
                .prepare_cached(
                    "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1",
                )
                .and_then(|mut select| select.query_row([name], |row| row.get(0)).optional())
                .ok()??;
            let mut tree = Tree::default();
            let mut page = vec![0; page_size];
            tree.add(&file, &mut page, (i64::MAX, root), &mut n_pages.clone(), MAX_DEPTH)?;
            Some(tree)
        };
        let (blocks, vectors) = (tree("block")?, tree("vector_vector_chunks00"));
        Some(Self { file, page_size, blocks, vectors })
    }

    /// Reads a block into `buffer`.
    pub(super) fn block<'b>(&self, id: i64, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        buffer.resize(self.page_size, 0);
        self.read_page(self.blocks.leaf_of(id)?, buffer)?;
        let cell = find_cell(buffer, id)?;
        if cell.n_local < cell.len {
            return None;
        }
        let payload = buffer.get(cell.start..)?.get(..cell.len)?;
        payload.get(value_at(payload)?..)
    }

    /// Reads vectors; cheapest in the order of places.
    pub(super) fn vectors(&self) -> Option<VectorPages<'_>> {
        Some(VectorPages {
            pages: self,
            tree: self.vectors.as_ref()?,
            leaf: vec![0; self.page_size],
            leaf_page: 0,
            row: None,
            chain: Vec::new(),
        })
    }

    fn read_page(&self, page: u32, buffer: &mut [u8]) -> Option<()> {
        read_page(&self.file, page, buffer)
    }
}

impl Tree {
    /// Adds the leaves below a page, given with its largest row id; `n_left` is
    /// how many more pages and levels there can be.
    fn add(
        &mut self,
        file: &File,
        buffer: &mut [u8],
        (last, page): (i64, u32),
        n_left: &mut usize,
        depth: usize,
    ) -> Option<()> {
        *n_left = n_left.checked_sub(1)?;
        read_page(file, page, buffer)?;
        match *buffer.first()? {
            LEAF => {
                self.leaves.push((last, page));
                return Some(());
            }
            INTERIOR => {}
            _ => return None,
        }
        let mut children = Vec::with_capacity(usize::from(u16_at(buffer, 3)?) + 1);
        for n in 0..usize::from(u16_at(buffer, 3)?) {
            let cell = usize::from(u16_at(buffer, 12 + 2 * n)?);
            let (key, _) = varint(buffer, cell + 4)?;
            children.push((key, u32_at(buffer, cell)?));
        }
        children.push((last, u32_at(buffer, 8)?));
        // All children are of one type.
        let mut kind = [0];
        let first = children.first()?.1;
        file.read_exact_at(&mut kind, offset(first, buffer.len())?).ok()?;
        if kind[0] == LEAF {
            self.leaves.append(&mut children);
            return Some(());
        }
        let depth = depth.checked_sub(1)?;
        children.into_iter().try_for_each(|child| self.add(file, buffer, child, n_left, depth))
    }

    fn leaf_of(&self, row: i64) -> Option<u32> {
        let at = self.leaves.partition_point(|(last, _)| *last < row);
        self.leaves.get(at).map(|(_, page)| *page)
    }
}

/// Reads vectors out of vec0's rows, which fill several pages each.
pub(super) struct VectorPages<'a> {
    pages: &'a Pages,
    tree: &'a Tree,
    leaf: Vec<u8>,
    leaf_page: u32,
    /// The row in hand, where its value begins in the payload, and the pages
    /// its payload goes on in, as far as they were needed.
    row: Option<(i64, Cell, usize)>,
    chain: Vec<u32>,
}

impl VectorPages<'_> {
    /// Reads the vector at a place.
    pub(super) fn read(&mut self, place: Place) -> Option<Code8> {
        let (row, at) = place.row_and_position();
        let (cell, value_at) = match self.row {
            Some((current, cell, value_at)) if current == row => (cell, value_at),
            _ => self.seek(row)?,
        };
        if cell.len.checked_sub(value_at)? != VECTORS_PER_ROW as usize * DIM {
            return None;
        }
        let mut bytes = [0; DIM];
        self.payload(cell, value_at + at * DIM, &mut bytes)?;
        Some(Code8::from_values(bytes.map(u8::cast_signed)))
    }

    fn seek(&mut self, row: i64) -> Option<(Cell, usize)> {
        let page = self.tree.leaf_of(row)?;
        if page != self.leaf_page {
            self.leaf_page = 0;
            self.pages.read_page(page, &mut self.leaf)?;
            self.leaf_page = page;
        }
        let cell = find_cell(&self.leaf, row)?;
        let local = self.leaf.get(cell.start..)?.get(..cell.n_local)?;
        let value_at = value_at(local)?;
        self.chain.clear();
        if cell.n_local < cell.len {
            self.chain.push(u32_at(&self.leaf, cell.start + cell.n_local)?);
        }
        self.row = Some((row, cell, value_at));
        Some((cell, value_at))
    }

    /// Copies what stands at `at` in the payload.
    fn payload(&mut self, cell: Cell, mut at: usize, mut out: &mut [u8]) -> Option<()> {
        let per_page = self.pages.page_size - 4;
        while !out.is_empty() {
            let n = if at < cell.n_local {
                let n = out.len().min(cell.n_local - at);
                out.get_mut(..n)?.copy_from_slice(self.leaf.get(cell.start + at..)?.get(..n)?);
                n
            } else {
                let (page, skip) = ((at - cell.n_local) / per_page, (at - cell.n_local) % per_page);
                let n = out.len().min(per_page - skip);
                let start = offset(self.chained(page)?, self.pages.page_size)? + 4 + skip as u64;
                self.pages.file.read_exact_at(out.get_mut(..n)?, start).ok()?;
                n
            };
            at += n;
            out = out.get_mut(n..)?;
        }
        Some(())
    }

    /// The `n`-th page that the row's payload goes on in: each begins with the
    /// number of the next.
    fn chained(&mut self, n: usize) -> Option<u32> {
        while self.chain.len() <= n {
            let mut next = [0; 4];
            let last = offset(*self.chain.last()?, self.pages.page_size)?;
            self.pages.file.read_exact_at(&mut next, last).ok()?;
            self.chain.push(u32::from_be_bytes(next));
        }
        self.chain.get(n).copied()
    }
}

/// Returns the file at `path`, which stays open.
fn file_at(path: &Path) -> Option<Arc<File>> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let named = key(&fs::metadata(path).ok()?);
    if let Some((_, file)) = files.iter().find(|(key, _)| *key == named) {
        return Some(Arc::clone(file));
    }
    let is_gone = |file: &File| file.metadata().is_ok_and(|meta| meta.nlink() == 0);
    files.retain(|(_, file)| !is_gone(file));
    let file = Arc::new(File::open(path).ok()?);
    files.push((key(&file.metadata().ok()?), Arc::clone(&file)));
    Some(file)
}

fn key(meta: &Metadata) -> Key {
    (meta.dev(), meta.ino())
}

fn offset(page: u32, page_size: usize) -> Option<u64> {
    Some(u64::from(page.checked_sub(1)?) * page_size as u64)
}

fn read_page(file: &File, page: u32, buffer: &mut [u8]) -> Option<()> {
    file.read_exact_at(buffer, offset(page, buffer.len())?).ok()
}

/// Finds a row in a leaf, whose cells are in the order of row ids.
fn find_cell(leaf: &[u8], row: i64) -> Option<Cell> {
    if *leaf.first()? != LEAF {
        return None;
    }
    let (mut low, mut high) = (0, usize::from(u16_at(leaf, 3)?));
    while low < high {
        let middle = low.midpoint(high);
        let cell = usize::from(u16_at(leaf, 8 + 2 * middle)?);
        let (len, at) = varint(leaf, cell)?;
        let (id, start) = varint(leaf, at)?;
        match id.cmp(&row) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                let len = usize::try_from(len).ok()?;
                return Some(Cell { start, len, n_local: n_local(len, leaf.len()) });
            }
        }
    }
    None
}

/// How many bytes of a payload are in the leaf itself.
fn n_local(len: usize, usable: usize) -> usize {
    let max = usable - 35;
    if len <= max {
        return len;
    }
    let min = (usable - 12) * 32 / 255 - 23;
    let rest = min + (len - min) % (usable - 4);
    if rest <= max { rest } else { min }
}

/// Where the last value of a record begins: both tables have two columns, of
/// which the second is the one that counts.
fn value_at(record: &[u8]) -> Option<usize> {
    let (head, at) = varint(record, 0)?;
    let (first, _) = varint(record, at)?;
    let n_first = match first {
        0 | 8 | 9 => 0,
        1..=4 => first,
        5 => 6,
        6 | 7 => 8,
        _ => return None,
    };
    usize::try_from(head.checked_add(n_first)?).ok()
}

/// Reads a variable-length number; returns where the next byte is.
fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut value = 0_u64;
    for n in 0..8 {
        let byte = *bytes.get(at + n)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value.cast_signed(), at + n + 1));
        }
    }
    value = value << 8 | u64::from(*bytes.get(at + 8)?);
    Some((value.cast_signed(), at + 9))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(page_size: usize) -> (tempfile::TempDir, std::path::PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(&format!(
            "PRAGMA page_size = {page_size}; PRAGMA journal_mode = WAL;
             CREATE TABLE block (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
             CREATE TABLE vector_vector_chunks00 (rowid INTEGER PRIMARY KEY, vectors BLOB NOT NULL);"
        ))
        .unwrap();
        (folder, path, conn)
    }

    fn blob(seed: usize, len: usize) -> Vec<u8> {
        (0..len).map(|n| (n * 31 + seed * 7 + n / 251) as u8).collect()
    }

    fn fold(conn: &Connection) {
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }

    #[test]
    fn rows_are_those_that_sqlite_reads() {
        for page_size in [512, 4_096, 65_536] {
            let (_folder, _, conn) = database(page_size);
            let len = |n: usize| n * 37 % (page_size - 100);
            // Enough rows for a tree of three levels where pages are small.
            for n in 0..900 {
                let id = (n as i64 * 977) << 20 | 5;
                conn.execute("INSERT INTO block VALUES (?1, ?2)", (id, blob(n, len(n)))).unwrap();
            }
            for row in 1..4_usize {
                let vectors = blob(row, VECTORS_PER_ROW as usize * DIM);
                conn.execute(
                    "INSERT INTO vector_vector_chunks00 VALUES (?1, ?2)",
                    (row as i64, vectors),
                )
                .unwrap();
            }
            fold(&conn);
            let pages = Pages::open(&conn).unwrap();
            let mut buffer = Vec::new();
            for n in (0..900).rev() {
                let id = (n as i64 * 977) << 20 | 5;
                assert_eq!(pages.block(id, &mut buffer), Some(&blob(n, len(n))[..]), "{page_size}");
                assert_eq!(pages.block(id + 1, &mut buffer), None);
            }
            let mut vectors = pages.vectors().unwrap();
            for (row, at) in [(1, 0), (1, 31), (1, 32), (1, 1_023), (2, 300), (3, 7), (1, 500)] {
                let place = row * VECTORS_PER_ROW + at;
                let all = blob(row as usize, VECTORS_PER_ROW as usize * DIM);
                let expected = &all[at as usize * DIM..][..DIM];
                let found = vectors.read(Place::from_bytes(place.to_le_bytes())).unwrap();
                assert_eq!(found.value_bytes(), expected, "{page_size} {row} {at}");
            }
            assert!(vectors.read(Place::from_bytes((9 * VECTORS_PER_ROW).to_le_bytes())).is_none());
        }
    }

    #[test]
    fn a_pending_log_and_an_overlong_row_are_left_to_sqlite() {
        let (_folder, _, conn) = database(4_096);
        conn.execute("INSERT INTO block VALUES (1, ?1)", [blob(1, 9_000)]).unwrap();
        assert!(Pages::open(&conn).is_none());
        fold(&conn);
        let pages = Pages::open(&conn).unwrap();
        assert_eq!(pages.block(1, &mut Vec::new()), None);
    }

    #[test]
    fn damaged_pages_never_panic() {
        let (_folder, path, conn) = database(512);
        for n in 0..200 {
            conn.execute("INSERT INTO block VALUES (?1, ?2)", (n, blob(1, 300))).unwrap();
        }
        conn.execute(
            "INSERT INTO vector_vector_chunks00 VALUES (1, ?1)",
            [blob(1, VECTORS_PER_ROW as usize * DIM)],
        )
        .unwrap();
        fold(&conn);
        let sound = fs::read(&path).unwrap();
        let mut state = 1_u32;
        for _ in 0..300 {
            let mut bytes = sound.clone();
            for _ in 0..40 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // The header stays: without it SQLite itself opens nothing.
                let at = 100 + (state >> 8) as usize % (bytes.len() - 100);
                bytes[at] = state as u8;
            }
            let copy = path.with_extension("copy");
            fs::write(&copy, &bytes).unwrap();
            let file = Arc::new(File::open(&copy).unwrap());
            let Some(pages) = Pages::read(file, &conn) else { continue };
            for id in -1..201 {
                pages.block(id, &mut Vec::new());
            }
            if let Some(mut vectors) = pages.vectors() {
                for place in [0, 40, 1_000, 1_024] {
                    vectors.read(Place::from_bytes(u32::to_le_bytes(place)));
                }
            }
        }
    }
}
