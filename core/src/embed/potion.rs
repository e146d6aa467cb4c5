//! The compiled form of the model, `potion.tbl`: tokeniser and rows in one
//! file that is used where it lies.
//!
//! Layout, little-endian: a 128-byte header (see [`Head`]), the added tokens
//! (`u32` id, `u32` length, bytes, padded to 4), the foldings of `U+0080` to
//! `U+024F` (4 bytes each), the trie's nodes (12 bytes each) and, from a page
//! boundary on, the embedding rows (`f32`), then the same rows in 8 bits (see
//! [`super::coarse`]). A file without the latter is slower, not wrong.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memmap2::Mmap;

use super::coarse::{CODE_SIZE, Code};
use super::map;
use super::trie::{Node, Trie};
use super::wordpiece::{FOLD_END, FOLD_FIRST, Fold, WordPiece};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{DIM, Vector};

/// The name of the compiled table, beside the model it is made from.
pub(super) const FILE_NAME: &str = "potion.tbl";
/// Bytes of the header.
pub(super) const HEAD_SIZE: usize = 128;
/// Bytes of one embedding row.
pub(super) const ROW_SIZE: usize = DIM * 4;
/// Alignment of the rows in the file, so that none straddles a page.
pub(super) const PAGE: usize = 4096;
/// Number of foldings in the file.
pub(super) const N_FOLDS: usize = (FOLD_END - FOLD_FIRST) as usize;

const MAGIC: [u8; 8] = *b"POTIONTB";
/// Changed whenever the layout or the way it is computed changes.
pub(super) const VERSION: u32 = 1;

/// The header: where everything lies, and what the file was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) n_rows: u32,
    pub(super) n_nodes: u32,
    pub(super) continuation: u32,
    pub(super) unknown: u32,
    pub(super) max_word_chars: u32,
    /// Bytes of the added tokens.
    pub(super) added_size: u32,
    /// Whether the rows follow in 8 bits.
    pub(super) has_codes: bool,
    /// SHA-256 of everything behind the header.
    pub(super) digest: [u8; 32],
}

impl Head {
    pub(super) fn to_bytes(&self) -> [u8; HEAD_SIZE] {
        let mut bytes = [0; HEAD_SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        let fields = [
            VERSION,
            DIM as u32,
            self.n_rows,
            self.n_nodes,
            self.continuation,
            self.unknown,
            self.max_word_chars,
            self.added_size,
        ];
        for (place, field) in bytes[8..].as_chunks_mut::<4>().0.iter_mut().zip(fields) {
            *place = field.to_le_bytes();
        }
        bytes[40..72].copy_from_slice(&self.digest);
        bytes[72] = u8::from(self.has_codes);
        bytes
    }

    fn from_bytes(bytes: &[u8; HEAD_SIZE]) -> std::result::Result<Self, &'static str> {
        let word = |index: usize| {
            bytes[8..].as_chunks::<4>().0.get(index).map_or(0, |field| u32::from_le_bytes(*field))
        };
        if bytes[..8] != MAGIC {
            return Err("not a compiled model");
        }
        if word(0) != VERSION || word(1) as usize != DIM {
            return Err("compiled by another version");
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(&bytes[40..72]);
        Ok(Self {
            n_rows: word(2),
            n_nodes: word(3),
            continuation: word(4),
            unknown: word(5),
            max_word_chars: word(6),
            added_size: word(7),
            has_codes: bytes[72] != 0,
            digest,
        })
    }

    fn folds_at(&self) -> usize {
        HEAD_SIZE + self.added_size as usize
    }

    fn nodes_at(&self) -> usize {
        self.folds_at() + N_FOLDS * size_of::<Fold>()
    }

    /// Position of the first row in the file.
    pub(super) fn rows_at(&self) -> usize {
        (self.nodes_at() + self.n_nodes as usize * size_of::<Node>()).next_multiple_of(PAGE)
    }

    fn codes_at(&self) -> usize {
        self.rows_at() + self.n_rows as usize * ROW_SIZE
    }

    fn file_size(&self) -> usize {
        let codes_size = if self.has_codes { self.n_rows as usize * CODE_SIZE } else { 0 };
        self.codes_at() + codes_size
    }
}

/// An open compiled table.
pub(super) struct Potion {
    file: File,
    map: Mmap,
    head: Head,
    added: Vec<(Vec<u8>, u32)>,
}

/// Beyond this many rows, faulting in the mapping is cheaper than one read
/// call per row (measured at 0.4 µs a call, 0.5-1 µs a fault of 64 KB).
const MAX_READS: usize = 256;

impl Potion {
    /// Opens the compiled table at `path`; an absent file is `NotFound` inside
    /// the error's source.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let map = map::map(&file).map_err(|error| Error::io("map", path, error))?;
        let wrong = |why: &str| {
            Error::new(
                ErrorKind::Model,
                format!("{}: {why}; run `postil model compile`", path.display()),
            )
        };
        let bytes = map.first_chunk::<HEAD_SIZE>().ok_or_else(|| wrong("too short"))?;
        let head = Head::from_bytes(bytes).map_err(wrong)?;
        if map.len() != head.file_size() {
            return Err(wrong("cut short or overlong"));
        }
        let added = parse_added(map.get(HEAD_SIZE..head.folds_at()).unwrap_or(&[]));
        Ok(Self { file, map, head, added })
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    /// Everything behind the header, which the header's digest covers.
    pub(super) fn body(&self) -> &[u8] {
        self.map.get(HEAD_SIZE..).unwrap_or(&[])
    }

    /// The tokeniser.
    pub(super) fn pieces(&self) -> WordPiece<'_> {
        let (folds_at, nodes_at) = (self.head.folds_at(), self.head.nodes_at());
        let nodes_end = nodes_at + self.head.n_nodes as usize * size_of::<Node>();
        let nodes = self.map.get(nodes_at..nodes_end).unwrap_or(&[]);
        let folds = self.map.get(folds_at..nodes_at).unwrap_or(&[]);
        WordPiece {
            trie: Trie { nodes: nodes.as_chunks().0 },
            continuation: self.head.continuation,
            unknown: self.head.unknown,
            max_word_chars: self.head.max_word_chars as usize,
            added: &self.added,
            fold: folds.as_chunks().0,
        }
    }

    /// Adds the rows of `ids` to `sum` in their order, unknown ones skipped,
    /// and returns how many were added. Few rows of a cold file are read one
    /// by one; `mapped` or many rows go through the mapping.
    pub(super) fn add_rows(&self, ids: &[u32], mapped: bool, sum: &mut Vector) -> usize {
        let known = ids.iter().copied().filter(|id| *id != self.head.unknown);
        if mapped || ids.len() > MAX_READS {
            return self.add_mapped(known, sum);
        }
        let mut n_added = 0;
        let mut buffer = [0; ROW_SIZE];
        for id in known {
            match self.read_row(id, &mut buffer) {
                Ok(()) => add(sum, &buffer),
                // The mapping of the same file may still have the page.
                Err(_) => add(sum, self.row(id)),
            }
            n_added += 1;
        }
        n_added
    }

    fn add_mapped(&self, ids: impl Iterator<Item = u32>, sum: &mut Vector) -> usize {
        let mut n_added = 0;
        let mut pending: [&[u8; ROW_SIZE]; 8] = [&ZERO_ROW; 8];
        for id in ids {
            pending[n_added % 8] = self.row(id);
            n_added += 1;
            if n_added % 8 == 0 {
                add_eight(sum, &pending);
            }
        }
        for row in pending.iter().take(n_added % 8) {
            add(sum, row);
        }
        n_added
    }

    fn row(&self, id: u32) -> &[u8; ROW_SIZE] {
        let at = self.head.rows_at() + id as usize * ROW_SIZE;
        self.map.get(at..).and_then(<[u8]>::first_chunk).unwrap_or(&ZERO_ROW)
    }

    /// The row of `id` in 8 bits; `None` where the file has none.
    pub(super) fn code(&self, id: u32) -> Option<Code<'_>> {
        let at = self.head.codes_at() + id as usize * CODE_SIZE;
        self.map.get(at..)?.first_chunk().map(Code::from_bytes)
    }

    /// Whether the rows are there in 8 bits too.
    pub(super) fn has_codes(&self) -> bool {
        self.head.has_codes
    }

    /// Whether `id` stands for what the vocabulary lacks: it has no row.
    pub(super) fn is_unknown(&self, id: u32) -> bool {
        id == self.head.unknown
    }

    fn read_row(&self, id: u32, buffer: &mut [u8; ROW_SIZE]) -> io::Result<()> {
        let at = self.head.rows_at() + id as usize * ROW_SIZE;
        self.file.read_exact_at(buffer, at as u64)
    }
}

static ZERO_ROW: [u8; ROW_SIZE] = [0; ROW_SIZE];

fn add(sum: &mut Vector, row: &[u8; ROW_SIZE]) {
    for (sum, value) in sum.iter_mut().zip(row.as_chunks::<4>().0) {
        *sum += f32::from_le_bytes(*value);
    }
}

/// Adds eight rows in one pass over `sum`, left to right, so that the result
/// is that of adding them one by one.
fn add_eight(sum: &mut Vector, rows: &[&[u8; ROW_SIZE]; 8]) {
    let rows = rows.map(|row| row.as_chunks::<4>().0);
    for (position, sum) in sum.iter_mut().enumerate() {
        for row in rows {
            *sum += f32::from_le_bytes(row[position]);
        }
    }
}

/// Lists the added tokens; stops at the first that is cut off.
fn parse_added(bytes: &[u8]) -> Vec<(Vec<u8>, u32)> {
    let mut added = Vec::new();
    let mut rest = bytes;
    while let Some(([id, length], tail)) = split_added_head(rest) {
        let Some(token) = tail.get(..length as usize) else { break };
        added.push((token.to_vec(), id));
        rest = tail.get((length as usize).next_multiple_of(4)..).unwrap_or(&[]);
    }
    added
}

fn split_added_head(bytes: &[u8]) -> Option<([u32; 2], &[u8])> {
    let (head, tail) = bytes.split_at_checked(8)?;
    let field = |at: usize| Some(u32::from_le_bytes(*head.get(at..)?.first_chunk()?));
    Some(([field(0)?, field(4)?], tail))
}

/// Lays the added tokens out, longest first so that none hides a longer one.
pub(super) fn added_bytes(added: &[(String, u32)]) -> Vec<u8> {
    let mut added: Vec<&(String, u32)> = added.iter().collect();
    added.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.0.cmp(&b.0)));
    let mut bytes = Vec::new();
    for (token, id) in added {
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(&(token.len() as u32).to_le_bytes());
        bytes.extend_from_slice(token.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_survives_the_round_trip() {
        let head = Head {
            n_rows: 1,
            n_nodes: 2,
            continuation: 3,
            unknown: 4,
            max_word_chars: 5,
            added_size: 8,
            has_codes: true,
            digest: [7; 32],
        };
        assert_eq!(Head::from_bytes(&head.to_bytes()), Ok(head));
        assert_eq!(Head::from_bytes(&[0; HEAD_SIZE]), Err("not a compiled model"));
    }

    #[test]
    fn added_tokens_come_back_longest_first() {
        let bytes = added_bytes(&[("[X]".to_owned(), 1), ("[MASK]".to_owned(), 2)]);
        assert_eq!(parse_added(&bytes), [(b"[MASK]".to_vec(), 2), (b"[X]".to_vec(), 1)]);
        assert_eq!(parse_added(&bytes[..10]), []);
    }

    #[test]
    fn eight_rows_at_once_give_the_same_bits_as_one_by_one() {
        let rows: Vec<[u8; ROW_SIZE]> = (0..8_u32)
            .map(|row| {
                let mut bytes = [0; ROW_SIZE];
                for (at, place) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    let value = (row as f32 * 0.37 + at as f32 * 1.1).sin() * 3.0;
                    *place = value.to_le_bytes();
                }
                bytes
            })
            .collect();
        let (mut once, mut one_by_one) = ([0.1; DIM], [0.1; DIM]);
        add_eight(&mut once, &std::array::from_fn(|row| &rows[row]));
        rows.iter().for_each(|row| add(&mut one_by_one, row));
        assert_eq!(once.map(f32::to_bits), one_by_one.map(f32::to_bits));
    }
}
