//! Brings the index up to date with the vault.
//!
//! One thread reads, filters, takes apart and embeds the notes that changed;
//! another writes them. What was written is committed about once a second, so
//! that a run that is killed loses little and commits cost nothing.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::source::{Scope, Skipped, SourceFile, Walk};
use super::{decode, document, key, resolve, source};
use crate::embed::Embedder;
use crate::error::Result;
use crate::redact::{Filter, Finding};
use crate::store::{
    ChunkRecord, KnownNote, NoteRecord, Searched, WriteOutcome, Writer, WriterOptions, field_terms,
    heading_path,
};

/// Version of everything that decides what is stored for a text: the chunker,
/// the keyword analysis and the built-in credential filter. Raised with any of
/// them; an index of another version rebuilds itself.
pub const TEXT_VERSION: &str = "1";

/// Time between commits.
const COMMIT_INTERVAL: Duration = Duration::from_secs(1);

/// Notes in flight between the two threads.
const QUEUE: usize = 64;

/// What a run is given.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The vault's root folder.
    pub vault: &'a Path,
    /// The folders that count.
    pub scope: &'a Scope,
    /// The index file.
    pub db: &'a Path,
    /// The model; without one only words are indexed.
    pub embedder: Option<&'a Embedder>,
    /// The credential filter.
    pub filter: &'a Filter,
    /// Discard what is there.
    pub full: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Changed notes that are done.
    pub done: usize,
    /// Changed notes in all.
    pub total: usize,
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Report {
    /// Another process was indexing: nothing was done.
    pub is_busy: bool,
    /// Why everything was indexed anew, if it was.
    pub rebuilt: Option<String>,
    /// The run was asked to stop before its end.
    pub is_interrupted: bool,
    /// Notes indexed.
    pub n_indexed: usize,
    /// Notes that had not changed.
    pub n_unchanged: usize,
    /// Notes that are gone.
    pub n_removed: usize,
    /// Chunks written.
    pub n_chunks: usize,
    /// Credentials hidden, by pattern.
    pub redacted: Vec<Finding>,
    /// Files passed over, with the reason.
    pub skipped: Vec<Skipped>,
    /// What was odd, one line each.
    pub warnings: Vec<String>,
}

/// Indexes a vault. `watch` is told how far it is and ends the run by
/// returning false.
pub fn index(job: &Job<'_>, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Report> {
    let options = WriterOptions {
        vault: job.vault.display().to_string(),
        model: job.embedder.map_or_else(String::new, |embedder| embedder.hash().to_owned()),
        text_version: TEXT_VERSION.to_owned(),
        full: job.full,
    };
    let (mut writer, rebuilt) = match Writer::open(job.db, &options)? {
        WriteOutcome::Ready(writer, reason) => (writer, reason),
        WriteOutcome::Busy => return Ok(Report { is_busy: true, ..Report::default() }),
    };
    let walk = source::walk(job.vault, job.scope)?;
    let mut report = Report { rebuilt, ..Report::default() };
    let known = writer.known()?;
    for path in gone(&known, &walk) {
        writer.remove(path)?;
        report.n_removed += 1;
    }
    let changed: Vec<&SourceFile> = walk
        .files
        .iter()
        .filter(|file| {
            known
                .get(&file.path)
                .is_none_or(|note| note.mtime_ns != file.mtime_ns || note.size != file.size)
        })
        .collect();
    report.n_unchanged = walk.files.len() - changed.len();
    write_changed(job, &mut writer, &changed, &known, &mut report, watch)?;
    if report.n_indexed + report.n_removed > 0 {
        relink(&mut writer)?;
    }
    writer.finish()?;
    report.skipped.extend(walk.skipped);
    report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    report.warnings.extend(walk.warnings);
    Ok(report)
}

/// The indexed notes that the walk no longer saw.
fn gone<'a>(known: &'a HashMap<String, KnownNote>, walk: &Walk) -> Vec<&'a String> {
    let mut gone: Vec<&String> = known
        .keys()
        .filter(|path| {
            walk.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_err()
                && !walk.keeps(path)
        })
        .collect();
    gone.sort();
    gone
}

/// A note on its way to the writer.
enum Parcel {
    Note(Box<NoteRecord>, Vec<Finding>, Vec<String>),
    Same(SourceFile),
    Skipped(Skipped),
}

fn write_changed(
    job: &Job<'_>,
    writer: &mut Writer,
    changed: &[&SourceFile],
    known: &HashMap<String, KnownNote>,
    report: &mut Report,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<()> {
    thread::scope(|threads| {
        let (sender, receiver) = sync_channel(QUEUE);
        let job = *job;
        threads.spawn(move || read_all(&job, changed, known, &sender));
        write_all(writer, &receiver, changed.len(), known, report, watch)
    })
}

fn read_all(
    job: &Job<'_>,
    changed: &[&SourceFile],
    known: &HashMap<String, KnownNote>,
    sender: &SyncSender<Parcel>,
) {
    for file in changed {
        if sender.send(read_note(job, file, known.get(&file.path))).is_err() {
            return; // The writer has stopped.
        }
    }
}

fn read_note(job: &Job<'_>, file: &SourceFile, known: Option<&KnownNote>) -> Parcel {
    let source = match decode::read(job.vault, file) {
        Ok(source) => source,
        Err(reason) => return Parcel::Skipped(Skipped { path: file.path.clone(), reason }),
    };
    if known.is_some_and(|note| note.hash == source.hash) {
        return Parcel::Same(source.file);
    }
    // A note is filtered whole: a boundary inside a secret would leak its half.
    let text = document::text_of(&file.path, source.text);
    let scrubbed = job.filter.scrub(&text);
    let document = document::read(scrubbed.text.as_str(), &file.path, key::stem(&file.path));
    let meta = document.meta;
    let chunks = document
        .chunks
        .iter()
        .map(|chunk| {
            let heading = heading_path(chunk);
            let embedded = job
                .embedder
                .map(|embedder| embedder.chunk(&embedded_text(&meta.title, &heading, &chunk.text)));
            let language = embedded.as_ref().map(|e| e.language).unwrap_or_default();
            let searched =
                Searched { heading: &heading, text: &chunk.text, flat: &chunk.flat, language };
            ChunkRecord {
                line: chunk.line,
                language,
                text: job.filter.scrub(&chunk.text).text,
                flat: job.filter.scrub(&chunk.flat).text,
                terms: field_terms(&file.path, &meta, searched),
                vector: embedded.map(|e| e.vector),
                heading,
            }
        })
        .collect();
    let note = NoteRecord {
        path: file.path.clone(),
        mtime_ns: source.file.mtime_ns,
        size: source.file.size,
        hash: source.hash.to_vec(),
        meta,
        links: document.links,
        chunks,
    };
    let mut warnings = source.warnings;
    warnings.extend(document.warnings);
    Parcel::Note(Box::new(note), scrubbed.found, warnings)
}

/// What a chunk's vector is made of: where it stands, then what it says.
fn embedded_text(title: &str, heading: &str, text: &str) -> String {
    format!("{title}\n{heading}\n{text}")
}

fn write_all(
    writer: &mut Writer,
    receiver: &Receiver<Parcel>,
    total: usize,
    known: &HashMap<String, KnownNote>,
    report: &mut Report,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<()> {
    let mut committed = Instant::now();
    for (done, parcel) in receiver.iter().enumerate() {
        match parcel {
            Parcel::Note(note, found, warnings) => {
                writer.put(&note)?;
                report.n_indexed += 1;
                report.n_chunks += note.chunks.len();
                add_findings(&mut report.redacted, found);
                let named = |warning| format!("{}: {warning}", key::shown(&note.path));
                report.warnings.extend(warnings.into_iter().map(named));
            }
            Parcel::Same(file) => {
                if let Some(note) = known.get(&file.path) {
                    writer.touch(note.id, file.mtime_ns, file.size)?;
                    report.n_unchanged += 1;
                }
            }
            Parcel::Skipped(skipped) => {
                if !skipped.reason.keeps_indexed() {
                    writer.remove(&skipped.path)?;
                }
                report.skipped.push(skipped);
            }
        }
        if committed.elapsed() > COMMIT_INTERVAL {
            writer.commit()?;
            committed = Instant::now();
        }
        if !watch(Progress { done: done + 1, total }) {
            report.is_interrupted = true;
            break;
        }
    }
    Ok(())
}

fn add_findings(all: &mut Vec<Finding>, found: Vec<Finding>) {
    for finding in found {
        match all.iter_mut().find(|known| known.name == finding.name) {
            Some(known) => known.count += finding.count,
            None => all.push(finding),
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
}

/// Resolves every link against the notes there are now.
fn relink(writer: &mut Writer) -> Result<()> {
    let mut notes: Vec<(String, i64)> =
        writer.known()?.into_iter().map(|(path, note)| (path, note.id)).collect();
    notes.sort();
    let resolver = resolve::Resolver::new(notes.iter().map(|(path, _)| path.as_str()));
    writer.relink(|path, link| match resolver.resolve(path, link) {
        resolve::Resolution::Note(at) => notes.get(at).map(|(_, id)| *id),
        _ => None,
    })
}
