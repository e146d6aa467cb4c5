//! Word tables, `xx.table`: the words of another language as vectors in the
//! model's own space, with the evidence each word gives for that language.
//!
//! `core/languages/README.md` describes the format and how a table is made. A
//! file is used where it lies: an index lookup touches two or three pages, a
//! row is one small read.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memmap2::Mmap;
use rust_stemmers::Stemmer;
use sha2::{Digest, Sha256};

use super::coarse::Code;
use super::compile::WEIGHTS_SHA256;
use super::lookup::{Hash, Index};
use super::map;
use super::stem::{stem_folded, stemmer};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{DIM, Language, Vector};

const MAGIC: &[u8; 8] = b"POSTILWT";
const VERSION: u32 = 1;
const HEAD_SIZE: usize = 512;
/// Scale (f16), share of the stem (u16) and the values (i8).
const RECORD_SIZE: usize = 4 + DIM;
const NO_ROW: u32 = 0xFF_FFFF;
/// Likelihood (u8) and the new ending, zero-padded.
const REWRITE_SIZE: usize = 8;

/// A word and its cognate share at least this many letters.
const COGNATE_ROOT: usize = 3;

/// A stored score of this size means that the word is e times as likely in the
/// table's language as in English.
pub(super) const SCORE_UNITS: i32 = 40;

/// What a table knows of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The row of its vector.
    pub(super) row: Option<u32>,
    /// Evidence for the table's language, in 1/40 of a natural logarithm.
    pub(super) score: i8,
}

/// Rows that a word is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// One row.
    One(u32),
    /// The mean of some that follow each other: the first and how many.
    Mean((u32, u32)),
}

/// An open word table.
pub(super) struct WordTable {
    file: File,
    map: Mmap,
    head: Head,
    stemmer: Option<Stemmer>,
}

impl WordTable {
    /// Opens the table at `path`; fails when it is not one, or was trained for
    /// another model.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let map = map::map(&file).map_err(|error| Error::io("map", path, error))?;
        let head = Head::parse(&map).map_err(|why| wrong(path, why))?;
        let stemmer = match head.stemmer.as_str() {
            "" => None,
            name => Some(stemmer(name).ok_or_else(|| wrong(path, "names an unknown stemmer"))?),
        };
        Ok(Self { file, map, head, stemmer })
    }

    /// The table as it was before it knew cognates.
    #[cfg(test)]
    pub(super) fn without_cognates(mut self) -> Self {
        self.head.sections[Section::EndingStarts as usize] = (0, 0);
        self
    }

    /// Compares the content with the checksum in the header.
    pub(super) fn verify(&self, path: &Path) -> Result<()> {
        let body = self.map.get(HEAD_SIZE..).unwrap_or(&[]);
        if Sha256::digest(body)[..] == self.head.digest {
            return Ok(());
        }
        Err(wrong(path, "is damaged; install it again"))
    }

    pub(super) fn language(&self) -> Language {
        self.head.language
    }

    /// The SHA-256 of the content, as the header states it.
    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.head.digest
    }

    /// The words, for looking many up.
    pub(super) fn words(&self) -> Words<'_> {
        Words(self.index(Section::WordStarts))
    }

    /// Finds the rows of the words that share a folded word's stem: the first
    /// row and how many follow each other.
    pub(super) fn stem(&self, folded: &str) -> Option<(u32, u32)> {
        let stem = stem_folded(self.stemmer.as_ref()?, self.head.language, folded);
        let (first, number) = self.index(Section::StemStarts).find(Hash::of(&stem))?;
        Some((first, u32::try_from(number).ok()?))
    }

    /// Finds the English word that a folded word most likely is with another
    /// ending, as *coalition* is *coalicion*: of all endings that can be
    /// rewritten so that `is_word` knows the result, the one that most often
    /// proved right.
    pub(super) fn cognate(&self, folded: &str, is_word: impl Fn(&str) -> bool) -> Option<String> {
        let endings = self.index(Section::EndingStarts);
        let rewrites = self.bytes(Section::Rewrites).as_chunks::<REWRITE_SIZE>().0;
        let mut best: Option<(u8, String)> = None;
        let mut word = String::new();
        let cuts = folded.char_indices().map(|(at, _)| at).chain([folded.len()]);
        for at in cuts.skip(COGNATE_ROOT) {
            let (root, ending) = folded.split_at(at);
            let Some((first, number)) = endings.find(Hash::of(ending)) else { continue };
            let first = first as usize;
            let range = first..first + usize::from(number.cast_unsigned());
            // Best first, so the first that fits is all an ending can offer.
            for [likelihood, rest @ ..] in rewrites.get(range).unwrap_or(&[]) {
                if best.as_ref().is_some_and(|(least, _)| likelihood <= least) {
                    break;
                }
                let ending = rest.split(|byte| *byte == 0).next().unwrap_or(&[]);
                word.clear();
                word.push_str(root);
                word.push_str(std::str::from_utf8(ending).unwrap_or(""));
                if word.len() > COGNATE_ROOT && is_word(&word) {
                    best = Some((*likelihood, word.clone()));
                    break;
                }
            }
        }
        best.map(|(_, word)| word)
    }

    /// Adds the vector of `rows`, read from the file or through the mapping.
    pub(super) fn add(&self, rows: Rows, mapped: bool, sum: &mut Vector) {
        match rows {
            Rows::One(row) => self.add_row(row, mapped, sum),
            Rows::Mean(group) => self.add_mean(group, mapped, sum),
        }
    }

    /// Adds the vector of `row`, read from the file or through the mapping.
    pub(super) fn add_row(&self, row: u32, mapped: bool, sum: &mut Vector) {
        self.with_record(row, mapped, |record| add(sum, record, 1.0));
    }

    /// Adds the mean of `number` rows from `first` on, each weighted with its
    /// share of their occurrences.
    fn add_mean(&self, (first, number): (u32, u32), mapped: bool, sum: &mut Vector) {
        for row in first..first.saturating_add(number) {
            self.with_record(row, mapped, |record| {
                add(sum, record, share_of([record[2], record[3]]));
            });
        }
    }

    /// Calls `visit` with the rows that add up to what a word is read as.
    pub(super) fn each_code(&self, rows: Rows, visit: &mut impl FnMut(Code<'_>)) {
        let (first, number) = match rows {
            Rows::One(row) => (row, 1),
            Rows::Mean(group) => group,
        };
        for row in first..first.saturating_add(number) {
            self.with_record(row, true, |record| {
                let [scale0, scale1, share0, share1, values @ ..] = record;
                let share = match rows {
                    Rows::One(_) => 1.0,
                    Rows::Mean(_) => share_of([*share0, *share1]),
                };
                let scale = f16_to_f32([*scale0, *scale1]) * share;
                visit(Code { scale, error: 0.0, values });
            });
        }
    }

    fn with_record(&self, row: u32, mapped: bool, take: impl FnOnce(&[u8; RECORD_SIZE])) {
        let (start, length) = self.head.section(Section::Rows);
        let at = row as usize * RECORD_SIZE;
        if at + RECORD_SIZE > length {
            return;
        }
        let mut buffer = [0; RECORD_SIZE];
        if !mapped && self.file.read_exact_at(&mut buffer, (start + at) as u64).is_ok() {
            return take(&buffer);
        }
        if let Some(record) = self.map.get(start + at..).and_then(<[u8]>::first_chunk) {
            take(record);
        }
    }

    /// The index whose bucket starts are in section `starts` and whose entries
    /// are in the one behind it.
    fn index(&self, starts: Section) -> Index<'_> {
        Index::new(self.bytes(starts), self.bytes(starts.next()))
    }

    fn bytes(&self, section: Section) -> &[u8] {
        let (start, length) = self.head.section(section);
        self.map.get(start..start + length).unwrap_or(&[])
    }
}

/// The words of a table, borrowed.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(Index<'a>);

impl Words<'_> {
    /// Looks a folded word up.
    pub(super) fn get(&self, folded: &str) -> Option<Word> {
        self.get_hashed(Hash::of(folded))
    }

    /// Looks a folded word up by its hash.
    pub(super) fn get_hashed(&self, hash: Hash) -> Option<Word> {
        let (row, score) = self.0.find(hash)?;
        Some(Word { row: (row != NO_ROW).then_some(row), score })
    }
}

/// The parts of a file, in the order of the header's list.
#[derive(Clone, Copy)]
enum Section {
    Rows,
    WordStarts,
    Words,
    StemStarts,
    Stems,
    EndingStarts,
    Endings,
    Rewrites,
    Text,
}

/// Number of sections, `Text` being the last.
const N_SECTIONS: usize = Section::Text as usize + 1;

impl Section {
    const ALL: [Self; N_SECTIONS] = [
        Self::Rows,
        Self::WordStarts,
        Self::Words,
        Self::StemStarts,
        Self::Stems,
        Self::EndingStarts,
        Self::Endings,
        Self::Rewrites,
        Self::Text,
    ];

    /// The section behind this one: after starts come their entries.
    fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

struct Head {
    language: Language,
    stemmer: String,
    digest: [u8; 32],
    sections: [(usize, usize); N_SECTIONS],
}

impl Head {
    fn parse(file: &[u8]) -> std::result::Result<Self, &'static str> {
        let bytes = file.first_chunk::<HEAD_SIZE>().ok_or("is too short")?;
        if bytes[..8] != *MAGIC {
            return Err("is not a word table");
        }
        let field = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        if field(8) != VERSION || usize::from(bytes[14]) | usize::from(bytes[15]) << 8 != DIM {
            return Err("has another format; install the one that came with this version");
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(&bytes[40..72]);
        if super::compile::hex(&bytes[72..104]) != WEIGHTS_SHA256 {
            return Err("was trained for another model");
        }
        let mut sections = [(0, 0); N_SECTIONS];
        for (section, place) in sections.iter_mut().zip(bytes[104..].as_chunks::<16>().0) {
            let [start, length] = [0, 8].map(|at| {
                place[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes) as usize)
            });
            let end = start.checked_add(length).filter(|end| *end <= file.len());
            end.ok_or("is cut short")?;
            *section = (start, length);
        }
        let name = bytes[24..40].split(|byte| *byte == 0).next().unwrap_or(&[]);
        Ok(Self {
            language: Language([bytes[12], bytes[13]]),
            stemmer: String::from_utf8_lossy(name).into_owned(),
            digest,
            sections,
        })
    }

    fn section(&self, section: Section) -> (usize, usize) {
        self.sections[section as usize]
    }
}

fn add(sum: &mut Vector, record: &[u8; RECORD_SIZE], weight: f32) {
    let scale = f16_to_f32([record[0], record[1]]) * weight;
    for (sum, value) in sum.iter_mut().zip(&record[4..]) {
        *sum += f32::from(value.cast_signed()) * scale;
    }
}

fn share_of(bytes: [u8; 2]) -> f32 {
    f32::from(u16::from_le_bytes(bytes)) / f32::from(u16::MAX)
}

/// Widens a finite, non-negative half-precision number.
fn f16_to_f32(bytes: [u8; 2]) -> f32 {
    // Shifting exponent and mantissa into place leaves the exponent's bias 112
    // too small; multiplying by 2^112 also normalises what was subnormal.
    let bits = u32::from(u16::from_le_bytes(bytes)) << 13;
    f32::from_bits(bits) * f32::from_bits(0x7780_0000)
}

fn wrong(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::Model, format!("word table {} {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_widened_exactly() {
        for (bits, expected) in
            [(0x3C00, 1.0), (0x0001, 2.0_f32.powi(-24)), (0x7BFF, 65504.0), (0x2E66, 0.099_975_586)]
        {
            assert_eq!(f16_to_f32(u16::to_le_bytes(bits)), expected, "{bits:x}");
        }
    }

    #[test]
    fn what_is_not_a_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("xx.table");
        for bytes in [&b""[..], b"POSTILWT", &[0; 300]] {
            std::fs::write(&path, bytes).unwrap();
            let error = WordTable::open(&path).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Model, "{error}");
        }
    }
}
