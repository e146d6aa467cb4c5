//! The producers: threads that turn changed files into records.
//!
//! Producer k of n takes every n-th file and hands its results over in order,
//! so that the writer sees the files in the order of their paths whatever the
//! threads' speed: the same vault gives the same index. Each may be ahead of
//! the writer by a number of bytes, not of notes: memory is bounded by the
//! largest notes, not by the vault.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memchr::memmem;

use super::decode::Source;
use super::index::Job;
use super::source::{Reason, Skipped, SourceFile};
use super::{decode, document, key};
use crate::analyse;
use crate::error::{Error, ErrorKind, Result};
use crate::redact::{Filter, Finding, Redacted};
use crate::store::{
    ChunkRecord, KnownNote, KnownNotes, NoteRecord, Searched, field_terms, heading_path, pack,
};

/// Most bytes of note text that one producer is ahead of the writer by.
const MAX_AHEAD_BYTES: u64 = 1 << 20;

/// How far from the end of the chunk before it a chunk is looked for: between
/// them stand headings, links and code that is no chunk. Bounds the work on a
/// long note.
const MAX_GAP_BYTES: usize = 1 << 16;

/// Most producers: the writer is the bottleneck beyond that.
const MAX_PRODUCERS: usize = 4;

/// What became of one file.
pub(super) enum Parcel {
    /// A note to be written.
    Note(Box<Note>),
    /// Its content is what the index has.
    Same(SourceFile),
    /// It could not be read; its size.
    Skipped(Skipped, u64),
}

/// A note on its way to the writer.
pub(super) struct Note {
    pub(super) record: NoteRecord,
    pub(super) found: Vec<Finding>,
    pub(super) warnings: Vec<String>,
    pub(super) busy: Busy,
}

/// Time spent on a note, by stage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    pub(super) read: Duration,
    pub(super) redact: Duration,
    pub(super) parse: Duration,
    pub(super) embed: Duration,
    pub(super) analyse: Duration,
    pub(super) pack: Duration,
}

impl Parcel {
    /// Size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Note(note) => note.record.size,
            Self::Same(file) => file.size,
            Self::Skipped(_, size) => *size,
        }
    }
}

/// Calls `take` with a parcel for each of `files`, in order, until it returns
/// false or fails.
pub(super) fn each(
    job: &Job<'_>,
    files: &[&SourceFile],
    known: &KnownNotes,
    mut take: impl FnMut(Parcel) -> Result<bool>,
) -> Result<()> {
    let n_producers = n_producers(files);
    if n_producers == 0 {
        for file in files {
            if !take(read_note(job, file, known.get(&file.path)))? {
                break;
            }
        }
        return Ok(());
    }
    let ahead: Vec<Ahead> = (0..n_producers).map(|_| Ahead::default()).collect();
    let ahead = ahead.as_slice();
    thread::scope(|threads| {
        let mut receivers = Vec::new();
        for (k, own) in ahead.iter().enumerate() {
            let (sender, receiver) = channel();
            receivers.push(receiver);
            let job = *job;
            threads.spawn(move || {
                let mine = files.iter().skip(k).step_by(n_producers);
                produce(&job, mine, known, &sender, own);
            });
        }
        let outcome = consume(files.len(), receivers, ahead, &mut take);
        for own in ahead {
            own.close();
        }
        outcome
    })
}

/// None for a handful of small notes: starting a thread costs more.
pub(super) fn n_producers(files: &[&SourceFile]) -> usize {
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    if files.len() < 4 && bytes < 1 << 18 {
        return 0;
    }
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_PRODUCERS).min(files.len())
}

fn produce<'a>(
    job: &Job<'_>,
    files: impl Iterator<Item = &'a &'a SourceFile>,
    known: &KnownNotes,
    sender: &Sender<Parcel>,
    ahead: &Ahead,
) {
    for file in files {
        if !ahead.wait() {
            return;
        }
        let parcel = read_note(job, file, known.get(&file.path));
        ahead.add(parcel.size());
        if sender.send(parcel).is_err() {
            return;
        }
    }
}

fn consume(
    n_files: usize,
    receivers: Vec<Receiver<Parcel>>,
    ahead: &[Ahead],
    take: &mut impl FnMut(Parcel) -> Result<bool>,
) -> Result<()> {
    let in_turn = receivers.iter().zip(ahead).cycle().take(n_files);
    for (receiver, ahead) in in_turn {
        let Ok(parcel) = receiver.recv() else {
            return Err(Error::new(ErrorKind::Io, "index: a reading thread ended early"));
        };
        ahead.sub(parcel.size());
        if !take(parcel)? {
            break;
        }
    }
    Ok(())
}

/// Bytes that a producer is ahead by; it waits while they are too many.
#[derive(Default)]
struct Ahead {
    /// Bytes, and whether nobody takes them any more.
    state: Mutex<(u64, bool)>,
    changed: Condvar,
}

impl Ahead {
    /// Waits until there is room; false when nobody takes any more.
    fn wait(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |state: &mut (u64, bool)| state.0 > MAX_AHEAD_BYTES && !state.1;
        let state = self.changed.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        !state.1
    }

    fn add(&self, bytes: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 += bytes;
    }

    fn sub(&self, bytes: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 -= bytes;
        self.changed.notify_one();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.changed.notify_one();
    }
}

/// Reads a note; a defect of this program that one note brings out costs that
/// note, not the run.
fn read_note(job: &Job<'_>, file: &SourceFile, known: Option<&KnownNote>) -> Parcel {
    let read = AssertUnwindSafe(|| read_sound(job, file, known));
    catch_unwind(read).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        let reason = Reason::Defect(message.unwrap_or("panic").to_owned());
        Parcel::Skipped(Skipped { path: file.path.clone(), reason }, file.size)
    })
}

fn read_sound(job: &Job<'_>, file: &SourceFile, known: Option<&KnownNote>) -> Parcel {
    let mut busy = Busy::default();
    let source = match timed(&mut busy.read, || {
        decode::read_if(job.vault, file, known.map(|note| note.hash.as_slice()))
    }) {
        Ok(Some(source)) => source,
        Ok(None) => return Parcel::Same(file.clone()),
        Err(reason) => {
            return Parcel::Skipped(Skipped { path: file.path.clone(), reason }, file.size);
        }
    };
    let Source { file, hash, text, mut warnings } = source;
    let text = document::text_of(&file.path, text);
    // A note is filtered whole: a boundary inside a secret would leak its half.
    let scrubbed = timed(&mut busy.redact, || job.filter.scrub(&text));
    drop(text);
    let stem = job.filter.scrub(key::stem(&file.path)).text;
    let document = timed(&mut busy.parse, || {
        document::read(scrubbed.text.as_str(), &file.path, stem.as_str())
    });
    warnings.extend(document.warnings);
    let meta = document.meta;
    let mut at = 0;
    let chunk = |chunk: crate::model::ChunkText| {
        let text =
            timed(&mut busy.redact, || piece(job.filter, &scrubbed.text, &mut at, &chunk.text));
        let flat = job.filter.scrub(&chunk.flat).text;
        let heading = heading_path(&chunk);
        let embedded = job.embedder.map(|embedder| {
            let place = place(&meta.title, &chunk.headings);
            timed(&mut busy.embed, || embedder.chunk_in(&place, &text))
        });
        let language = match &embedded {
            Some(embedded) => embedded.language,
            None => analyse::language(&text),
        };
        let searched = Searched { heading: &heading, text: &text, flat: &flat, language };
        let terms = timed(&mut busy.analyse, || field_terms(&file.path, &meta, searched));
        ChunkRecord {
            line: chunk.line,
            language,
            text,
            flat,
            terms,
            vector: embedded.map(|e| e.vector),
            heading,
        }
    };
    let chunks: Vec<ChunkRecord> = document.chunks.into_iter().map(chunk).collect();
    let packed = match timed(&mut busy.pack, || pack(&chunks)) {
        Ok(packed) => packed,
        Err(error) => {
            let reason = Reason::Defect(error.to_string());
            return Parcel::Skipped(Skipped { path: file.path, reason }, file.size);
        }
    };
    let record = NoteRecord {
        path: file.path,
        mtime_ns: file.mtime_ns,
        ctime_ns: file.ctime_ns,
        size: file.size,
        hash: hash.to_vec(),
        meta,
        links: document.links,
        chunks,
        packed,
    };
    Parcel::Note(Box::new(Note { record, found: scrubbed.found, warnings, busy }))
}

/// A chunk's text as filtered text: a piece of the filtered note where it is
/// one, which is nearly always; what was put together is filtered anew. `at` is
/// where the piece before ended.
fn piece(filter: &Filter, note: &Redacted, at: &mut usize, text: &str) -> Redacted {
    let window = crate::text::slice(note, *at, *at + text.len() + MAX_GAP_BYTES);
    match memmem::find(window.as_bytes(), text.as_bytes()) {
        Some(offset) => {
            let start = *at + offset;
            *at = start + text.len();
            note.slice(start..*at)
        }
        None => filter.scrub(text).text,
    }
}

fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *total += started.elapsed();
    result
}

/// Where a chunk stands: title and headings, each once.
fn place(title: &str, headings: &[String]) -> String {
    let mut place = title.to_owned();
    for heading in headings.iter().filter(|heading| *heading != title) {
        place.push('\n');
        place.push_str(heading);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_filtered_note_are_filtered_text_and_the_rest_is_filtered_anew() {
        let secret = ["AKIA", "Z7QKPRWMXN4TLBVD"].concat();
        let filter = Filter::builtin();
        let note = filter.scrub(&format!("ñ intro\n\n## A\n{secret} here\n\n## B\nñ end\n")).text;
        let mut at = 0;
        assert_eq!(piece(&filter, &note, &mut at, "ñ intro").as_str(), "ñ intro");
        let text = note.as_str().lines().find(|line| line.ends_with("here")).unwrap().to_owned();
        assert!(text.starts_with("[REDACTED:"), "{text}");
        assert_eq!(piece(&filter, &note, &mut at, &text).as_str(), text);
        // Not a piece of it: nothing gets around the filter.
        let made = piece(&filter, &note, &mut at, &format!("{secret} made up"));
        assert!(!made.contains(&secret), "{made}");
        assert_eq!(piece(&filter, &note, &mut at, "ñ end").as_str(), "ñ end");
    }
}
