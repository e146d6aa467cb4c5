//! What a run did, as plain values; only a `main` turns it into text.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::index::{add_counts, ms};
use super::produce::Busy;
use super::source::{Skipped, Walk};
use crate::redact::Finding;
use crate::store::NoteRecord;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Changed notes that are done.
    pub done: usize,
    /// Changed notes in all.
    pub total: usize,
    /// Bytes of the notes that are done.
    pub bytes: u64,
    /// Bytes of all changed notes.
    pub total_bytes: u64,
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
    /// It was stopped while everything was indexed anew: the old index stays.
    pub is_discarded: bool,
    /// Notes indexed, by path, with the number of their chunks.
    pub indexed: Vec<(String, usize)>,
    /// Notes that had not changed.
    pub n_unchanged: usize,
    /// Notes among those whose times had changed and whose content had not.
    pub n_touched: usize,
    /// Notes that are gone.
    pub removed: Vec<String>,
    /// Notes that have another path: old and new; they count as indexed too.
    pub renamed: Vec<(String, String)>,
    /// Chunks written.
    pub n_chunks: usize,
    /// Bytes of the notes indexed.
    pub bytes: u64,
    /// Credentials hidden, by pattern.
    pub redacted: BTreeMap<String, usize>,
    /// Files passed over, by path, with the reason.
    pub skipped: Vec<Skipped>,
    /// What was odd in a note: path and what.
    pub odd: Vec<(String, String)>,
    /// What was odd in the vault's own settings, one line each.
    pub warnings: Vec<String>,
    /// Time spent by the producers, by stage; several run side by side.
    pub stages_ms: [(&'static str, u64); 6],
    /// Threads that read notes beside the writer.
    pub n_threads: usize,
    /// Time the writer spent on putting notes into the tables.
    pub put_ms: u64,
    /// Time from the start to the list of files.
    pub walk_ms: u64,
    /// Time spent on opening the index, and on looking it over where that was
    /// due.
    pub open_ms: u64,
    /// Time from the list of files to the last note written.
    pub write_ms: u64,
    /// Time spent on resolving links.
    pub link_ms: u64,
    /// Time spent on the snapshot, the commit and the swap.
    pub finish_ms: u64,
    /// Time from start to end.
    pub total_ms: u64,
    pub(super) busy: Busy,
    pub(super) put: Duration,
}

impl Report {
    /// Whether notes are missing from the index that a person would expect in
    /// it.
    pub fn has_failures(&self) -> bool {
        self.skipped.iter().any(|skipped| skipped.reason.is_failure())
    }

    pub(super) fn add(
        &mut self,
        note: &NoteRecord,
        found: Vec<Finding>,
        warnings: Vec<String>,
        busy: &Busy,
        put: Duration,
    ) {
        self.n_chunks += note.chunks.len();
        self.bytes += note.size;
        self.indexed.push((note.path.clone(), note.chunks.len()));
        add_counts(&mut self.redacted, &found);
        self.odd.extend(warnings.into_iter().map(|warning| (note.path.clone(), warning)));
        self.busy.read += busy.read;
        self.busy.redact += busy.redact;
        self.busy.parse += busy.parse;
        self.busy.embed += busy.embed;
        self.busy.analyse += busy.analyse;
        self.busy.pack += busy.pack;
        self.put += put;
    }

    pub(super) fn finished(mut self, walk: Walk, started: Instant) -> Self {
        self.skipped.extend(walk.skipped);
        self.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        self.removed.sort();
        self.warnings.extend(walk.warnings);
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.stages_ms = [
            ("read", whole(self.busy.read)),
            ("redact", whole(self.busy.redact)),
            ("parse", whole(self.busy.parse)),
            ("embed", whole(self.busy.embed)),
            ("analyse", whole(self.busy.analyse)),
            ("pack", whole(self.busy.pack)),
        ];
        self.put_ms = whole(self.put);
        self.total_ms = ms(started);
        self
    }
}
