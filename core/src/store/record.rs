//! What goes into the index and what comes out of it, as plain values.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::body::{self, Body};
use crate::analyse;
use crate::error::Result;
use crate::model::{ChunkText, Language, Link, NoteMeta, Vector};
use crate::redact::Redacted;

/// A note ready to be stored.
#[derive(Clone, Debug)]
pub struct NoteRecord {
    /// Its name in the index: the path relative to the vault, `/` between
    /// folders; unique.
    pub path: String,
    /// Modification time in nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Time of the last change of the file or its name, nanoseconds since the
    /// epoch: changes with a restored or renamed file that kept its `mtime_ns`.
    pub ctime_ns: i64,
    /// Size in bytes.
    pub size: u64,
    /// Hash of the file's bytes.
    pub hash: Vec<u8>,
    /// What the note says of itself.
    pub meta: NoteMeta,
    /// Links as written.
    pub links: Vec<Link>,
    /// Its chunks in order.
    pub chunks: Vec<ChunkRecord>,
    /// Their texts, compressed.
    pub packed: Packed,
}

/// The texts of a note's chunks in the form they are stored in.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    pub(super) bodies: Vec<Body>,
    pub(super) flats: Vec<Option<Vec<u8>>>,
}

/// Compresses the texts of a note's chunks: work that need not wait for the
/// writer.
pub fn pack(chunks: &[ChunkRecord]) -> Result<Packed> {
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let flat = |chunk: &ChunkRecord| match chunk.flat.as_str() {
        "" => Ok(None),
        flat => body::compress(flat).map(Some),
    };
    let flats = chunks.iter().map(flat).collect::<Result<_>>()?;
    Ok(Packed { bodies: body::pack(&texts)?, flats })
}

/// A chunk ready to be stored.
#[derive(Clone, Debug)]
pub struct ChunkRecord {
    /// Headings above it, joined by [`heading_path`].
    pub heading: String,
    /// First line in the note's file, from 1.
    pub line: u32,
    /// Language it was read in.
    pub language: Language,
    /// Its text.
    pub text: Redacted,
    /// What is searched beside it but never shown; may be empty.
    pub flat: Redacted,
    /// Its analysed terms.
    pub terms: FieldTerms,
    /// Its embedding; `None` without a model.
    pub vector: Option<Vector>,
}

/// The distinct analysed terms of a chunk, and how often each field has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldTerms {
    joined: String,
    counts: Vec<[u32; 3]>,
    len: u32,
}

impl FieldTerms {
    /// The distinct terms joined by single spaces, in order of first occurrence.
    pub fn joined(&self) -> &str {
        &self.joined
    }

    /// Length of the chunk in terms, repeats included. The context is the same
    /// for all chunks of a note: it says what the note is called, not how long
    /// the chunk is, and does not count.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is no term at all.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Each distinct term with its counts in text, section (the headings) and
    /// context (title, aliases, file name, tags and the like).
    pub fn each(&self) -> impl Iterator<Item = (&str, [u32; 3])> {
        self.joined.split(' ').zip(self.counts.iter().copied())
    }
}

/// Counts terms without a string for each: all of them in one, and the hash of
/// each decides where it was seen first.
#[derive(Default)]
struct TermCounter {
    all: String,
    ends: Vec<(usize, u8)>,
}

impl TermCounter {
    fn add(&mut self, text: &str, language: Language, field: u8) {
        analyse::terms(text, language, &mut |term| {
            self.all.push_str(term);
            self.ends.push((self.all.len(), field));
        });
    }

    fn count(&self) -> FieldTerms {
        let mut terms = FieldTerms::default();
        let mut seen: HashMap<&str, usize, RandomState> =
            HashMap::with_capacity_and_hasher(self.ends.len(), RandomState::default());
        let mut start = 0;
        for (end, field) in &self.ends {
            let term = self.all.get(start..*end).unwrap_or("");
            start = *end;
            if term.is_empty() {
                continue;
            }
            terms.len += u32::from(*field < 2);
            let at = *seen.entry(term).or_insert_with(|| {
                if !terms.joined.is_empty() {
                    terms.joined.push(' ');
                }
                terms.joined.push_str(term);
                terms.counts.push([0; 3]);
                terms.counts.len() - 1
            });
            terms.counts[at][usize::from(*field)] += 1;
        }
        terms
    }
}

/// The texts a chunk is searched by.
#[derive(Clone, Copy, Debug)]
pub struct Searched<'a> {
    /// Heading path.
    pub heading: &'a str,
    /// The text.
    pub text: &'a str,
    /// What is searched beside it.
    pub flat: &'a str,
    /// The language they are read in.
    pub language: Language,
}

/// Analyses the three fields of a chunk of the note at `path`.
pub fn field_terms(path: &str, meta: &NoteMeta, chunk: Searched<'_>) -> FieldTerms {
    let Searched { heading, text, flat, language } = chunk;
    let mut counter = TermCounter::default();
    counter.add(text, language, 0);
    counter.add(flat, language, 0);
    counter.add(heading, language, 1);
    counter.add(&meta.title, language, 2);
    let stem = file_stem(path);
    if stem != meta.title {
        counter.add(stem, language, 2);
    }
    let values = meta.properties.iter().map(|(_, value)| value);
    for name in meta.aliases.iter().chain(&meta.tags).chain(&meta.description).chain(values) {
        counter.add(name, language, 2);
    }
    counter.count()
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Joins a chunk's headings for storage and display: `A › B`.
pub fn heading_path(chunk: &ChunkText) -> String {
    chunk.headings.join(" › ")
}

/// What is known of every file, by path.
pub type KnownNotes = HashMap<String, KnownNote, RandomState>;

/// What the index remembers of a file, to tell whether it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownNote {
    /// Row id of the note.
    pub id: i64,
    /// Modification time in nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Time of the last change of the file or its name, nanoseconds since the
    /// epoch: changes with a restored or renamed file that kept its `mtime_ns`.
    pub ctime_ns: i64,
    /// Size in bytes.
    pub size: u64,
    /// Hash of the file's bytes.
    pub hash: Vec<u8>,
}

/// A stored note.
#[derive(Clone, Debug)]
pub struct NoteRow {
    /// Row id.
    pub id: i64,
    /// Its name in the index.
    pub path: String,
    /// Modification time in nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Size in bytes.
    pub size: u64,
    /// Hash of the file's bytes.
    pub hash: Vec<u8>,
    /// What the note says of itself.
    pub meta: NoteMeta,
    /// Id of its first chunk; the others follow without gaps.
    pub first_chunk: i64,
    /// Number of chunks.
    pub n_chunks: u32,
}

/// A stored chunk.
#[derive(Clone, Debug)]
pub struct ChunkRow {
    /// Row id.
    pub id: i64,
    /// The note it belongs to.
    pub note_id: i64,
    /// First line in the note's file, from 1.
    pub line: u32,
    /// Heading path.
    pub heading: String,
    /// Language it was read in.
    pub language: Language,
    /// Its redacted text.
    pub text: String,
}

/// A stored link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLink {
    /// The note the link stands in.
    pub note_id: i64,
    /// The link as written.
    pub link: Link,
    /// The note it resolves to.
    pub to_note: Option<i64>,
}

pub(super) fn language_of(code: &str) -> Language {
    <[u8; 2]>::try_from(code.as_bytes()).map_or(Language::ENGLISH, Language)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(fields: &FieldTerms, word: &str) -> Option<[u32; 3]> {
        fields.each().find(|(term, _)| *term == word).map(|(_, counts)| counts)
    }

    #[test]
    fn terms_are_counted_by_field() {
        let meta = NoteMeta { title: "Tea".into(), ..NoteMeta::default() };
        let chunk =
            Searched { heading: "tea", text: "tea and tea", flat: "", language: Language::ENGLISH };
        let fields = field_terms("tea.md", &meta, chunk);
        assert_eq!(count(&fields, "tea").map(|[text, section, _]| (text, section)), Some((2, 1)));
        assert!(!fields.is_empty() && fields.len() >= 4);
    }

    #[test]
    fn the_context_of_a_chunk_is_title_file_name_aliases_and_tags() {
        let meta = NoteMeta {
            title: "Plan".into(),
            aliases: vec!["roadmap".into()],
            tags: vec!["work".into()],
            ..NoteMeta::default()
        };
        let chunk =
            Searched { heading: "Ideas", text: "text", flat: "", language: Language::ENGLISH };
        let fields = field_terms("x/2024 goals.md", &meta, chunk);
        for word in ["plan", "2024", "goal", "roadmap", "work"] {
            assert_eq!(count(&fields, word).map(|counts| counts[2] > 0), Some(true), "{word}");
        }
        assert_eq!(count(&fields, "idea"), Some([0, 1, 0]), "{fields:?}");
        assert_eq!(fields.joined().split(' ').count(), fields.each().count());
    }
}
