//! A passage as its note says it now: the index may be minutes or days behind.
//!
//! A file that is as it was costs one `stat`. A changed one is read, filtered
//! and taken apart again, and the passage found in it; a note that is gone, no
//! longer says it, or no longer wants to be shown, drops out.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::ingest::source::SourceFile;
use crate::ingest::{decode, document, key};
use crate::model::ChunkText;
use crate::recall::Hit;
use crate::recall::render::Passage;
use crate::redact::Filter;
use crate::store::NoteRow;

/// A changed note up to this size is read anew within the deadline; above it
/// the passage is marked instead.
const MAX_REREAD_BYTES: u64 = 1 << 20;

/// Longest beginning in which the frontmatter of such a note is looked for.
const MAX_HEAD_BYTES: u64 = 16 << 10;

/// Share of a passage's words that another has to have to be its new state.
const MIN_SHARED: f64 = 0.5;

/// What a file was when it was looked at: tells whether it changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) mtime_ns: i64,
    pub(super) size: u64,
}

impl Stamp {
    /// Returns the stamp of a file; `None` if it is gone.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        let mtime_ns = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
        Some(Self { mtime_ns, size: meta.len() })
    }

    /// Returns true for a note whose file is as it was indexed.
    pub(super) fn is_indexed(note: &NoteRow, vault: &Path) -> bool {
        let indexed = Self { mtime_ns: note.mtime_ns, size: note.size };
        Self::of(&vault.join(key::to_path(&note.path))) == Some(indexed)
    }
}

/// Returns the passage as it stands, with the stamp of its file.
pub(super) fn freshen(hit: &Hit, vault: &Path, filter: &Filter) -> Option<(Passage, Stamp)> {
    let stamp = Stamp::of(&vault.join(key::to_path(&hit.note.path)))?;
    let indexed = Stamp { mtime_ns: hit.note.mtime_ns, size: hit.note.size };
    let passage = Passage::from(hit);
    if stamp == indexed {
        return Some((passage, stamp));
    }
    let stale = |passage| Some((Passage { is_stale: true, ..passage }, stamp));
    let path = hit.note.path.as_str();
    if stamp.size > MAX_REREAD_BYTES {
        return if is_for_agents(vault, path) { stale(passage) } else { None };
    }
    let file = SourceFile {
        path: path.to_owned(),
        mtime_ns: stamp.mtime_ns,
        ctime_ns: 0,
        size: stamp.size,
    };
    let source = match decode::read(vault, &file) {
        Ok(source) => source,
        Err(reason) if reason.keeps_indexed() => return stale(passage),
        Err(_) => return None,
    };
    if source.hash.as_slice() == hit.note.hash.as_slice() {
        return Some((passage, stamp));
    }
    let text = filter.scrub(&document::text_of(path, source.text)).text;
    let stem = filter.scrub(document::stem(path)).text;
    let note = document::read(text.as_str(), path, stem.as_str());
    if !note.meta.for_agents {
        return None;
    }
    let chunk = find(&note.chunks, hit)?;
    let meta = note.meta;
    let passage = Passage {
        title: meta.title,
        heading: chunk.headings.join(" › "),
        date: meta.updated.or(meta.created).or(passage.date),
        source: meta.source,
        text: chunk.text.clone(),
        ..passage
    };
    Some((passage, stamp))
}

/// Says whether a note too large to be read anew may still be shown, by its
/// beginning, where the frontmatter stands.
fn is_for_agents(vault: &Path, path: &str) -> bool {
    let mut head = Vec::new();
    let file = fs::File::open(vault.join(key::to_path(path)));
    if file.and_then(|file| file.take(MAX_HEAD_BYTES).read_to_end(&mut head)).is_err() {
        return false;
    }
    document::read(&String::from_utf8_lossy(&head), path, document::stem(path)).meta.for_agents
}

/// Finds the chunk that a hit has become: the same text, else the one that
/// shares most of its words, under its own heading first.
fn find<'a>(chunks: &'a [ChunkText], hit: &Hit) -> Option<&'a ChunkText> {
    let same = chunks.iter().find(|chunk| chunk.text.trim() == hit.chunk.text.trim());
    same.or_else(|| {
        let old = words(&hit.chunk.text);
        let shared = |chunk: &ChunkText| {
            let n = words(&chunk.text).intersection(&old).count();
            let has_heading = chunk.headings.join(" › ") == hit.chunk.heading;
            // A lead of a tenth for standing where it stood.
            n as f64 / old.len().max(1) as f64 + if has_heading { 0.1 } else { 0.0 }
        };
        let best = chunks.iter().map(|chunk| (shared(chunk), chunk));
        let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.line.cmp(&a.1.line)));
        best.filter(|(share, _)| *share >= MIN_SHARED).map(|(_, chunk)| chunk)
    })
}

fn words(text: &str) -> HashSet<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}
