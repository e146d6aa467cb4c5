//! What goes into the index and what comes out of it, as plain values.

use crate::analyse;
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

/// The analysed terms of a chunk, each field's joined by single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldTerms {
    /// Terms of the text.
    pub text: String,
    /// Terms of the headings.
    pub section: String,
    /// Terms of title, aliases, file name and tags.
    pub context: String,
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
    let mut fields = FieldTerms::default();
    append_terms(text, language, &mut fields.text);
    append_terms(flat, language, &mut fields.text);
    append_terms(heading, language, &mut fields.section);
    let context = &mut fields.context;
    append_terms(&meta.title, language, context);
    let stem = file_stem(path);
    if stem != meta.title {
        append_terms(stem, language, context);
    }
    let values = meta.properties.iter().map(|(_, value)| value);
    for name in meta.aliases.iter().chain(&meta.tags).chain(&meta.description).chain(values) {
        append_terms(name, language, context);
    }
    fields
}

fn append_terms(text: &str, language: Language, out: &mut String) {
    analyse::terms(text, language, &mut |term| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(term);
    });
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Joins a chunk's headings for storage and display: `A › B`.
pub fn heading_path(chunk: &ChunkText) -> String {
    chunk.headings.join(" › ")
}

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
            assert!(fields.context.split(' ').any(|term| term == word), "{word}: {fields:?}");
        }
        assert!(!fields.context.contains("idea") && fields.section.contains("idea"));
    }
}
