//! Brings the index up to date with the vault.
//!
//! The producers read, filter, take apart, analyse and embed the notes that
//! changed; the thread that called writes them, in the order of their paths.
//! What was written is committed about once a second, so that a run that is
//! killed loses little and commits cost nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::produce::{self, Parcel};
use super::report::{Progress, Report};
use super::resolve::{Resolution, Resolver, link_name};
use super::source::{self, Reason, Scope, Skipped, SourceFile, Walk};
use crate::embed::Embedder;
use crate::error::Result;
use crate::redact::Filter;
use crate::store::{self, KnownNote, KnownNotes, WriteOutcome, Writer, WriterOptions};

/// Version of everything that decides what is stored for a text: the chunker,
/// the keyword analysis and the built-in credential filter. Raised with any of
/// them; an index of another version rebuilds itself.
pub const TEXT_VERSION: &str = "2";

/// Time between commits: a commit costs some 20 ms at worst, and what it
/// guards a second of work.
const COMMIT_INTERVAL: Duration = Duration::from_secs(1);

/// A file that changed this shortly before a run may change again within the
/// same tick of its clock, so the next run looks at its content once more:
/// kernel clocks tick every 4-10 ms, some file systems count whole seconds.
const TICK_NS: i64 = 20_000_000;
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// When the last full run began, nanoseconds since 1970.
const RUN_KEY: &str = "run_ns";

/// Set while notes are committed whose links, and the links to which, are not
/// resolved yet: a run that finds it resolves them all.
const LINKS_KEY: &str = "links";
const LINKS_OPEN: &str = "open";

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
    /// Look through the whole index for damage first.
    pub check: bool,
    /// Look at this file only, absolute or relative to the vault.
    pub only: Option<&'a Path>,
}

/// Indexes a vault, or one note of it. `watch` is told how far it is and ends
/// the run after the note in hand by returning false.
///
/// # Errors
/// When the vault or the folder of the index cannot be used, or the disk is
/// full: then the index is as the last commit left it.
pub fn index(job: &Job<'_>, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Report> {
    match run(job, watch) {
        // Damage that shows only on reading: the vault is the source of truth.
        Err(error) if store::is_damage(&error) && !job.full => {
            let mut report = run(&Job { full: true, only: None, ..*job }, watch)?;
            report.rebuilt = Some(format!("the old index is damaged ({error})"));
            Ok(report)
        }
        outcome => outcome,
    }
}

fn run(job: &Job<'_>, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Report> {
    let started = Instant::now();
    let run_ns = now_ns();
    // The vault first: without it nothing may be thought gone.
    let mut walk = match job.only {
        Some(path) => one(job, path)?,
        None => source::walk(job.vault, job.scope)?,
    };
    let mut report = Report { walk_ms: ms(started), ..Report::default() };
    let options = WriterOptions {
        vault: job.vault.display().to_string(),
        model: job.embedder.map_or_else(String::new, |embedder| embedder.hash().to_owned()),
        text_version: text_version(job.filter),
        full: job.full,
        check: job.check,
    };
    let opening = Instant::now();
    let (mut writer, rebuilt) = match Writer::open(job.db, &options)? {
        WriteOutcome::Ready(writer, reason) => (writer, reason),
        WriteOutcome::Busy => return Ok(Report { is_busy: true, ..report }),
    };
    // A single note brings no other back: everything is due now.
    let is_single = job.only.is_some() && rebuilt.is_none();
    if job.only.is_some() && !is_single {
        walk = source::walk(job.vault, job.scope)?;
    }
    report.rebuilt = rebuilt;
    report.open_ms = ms(opening);
    let mut run = Run { job, writer: &mut writer, report: &mut report, gone: Gone::default() };
    run.all(&walk, is_single, watch)?;
    let is_interrupted = report.is_interrupted;
    if is_interrupted && writer.is_rebuild() {
        // The old index knows more than half a new one.
        report.is_discarded = true;
        return Ok(report.finished(walk, started));
    }
    if !is_single && !is_interrupted {
        writer.set_meta(RUN_KEY, &run_ns.to_string())?;
    }
    let finishing = Instant::now();
    writer.finish()?;
    report.finish_ms = ms(finishing);
    Ok(report.finished(walk, started))
}

/// A walk that saw one file only.
fn one(job: &Job<'_>, path: &Path) -> Result<Walk> {
    let files = source::find(job.vault, job.scope, path)?;
    Ok(Walk { files: files.into_iter().collect(), ..Walk::default() })
}

/// The indexed notes that the walk no longer saw, by content: one of them may
/// turn up under another name.
#[derive(Default)]
struct Gone {
    by_hash: HashMap<Vec<u8>, Vec<String>>,
    paths: HashSet<String>,
}

struct Run<'a> {
    job: &'a Job<'a>,
    writer: &'a mut Writer,
    report: &'a mut Report,
    gone: Gone,
}

impl Run<'_> {
    fn all(
        &mut self,
        walk: &Walk,
        is_single: bool,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<()> {
        let known = if is_single { self.known_one(walk)? } else { self.writer.known()? };
        self.gone = gone(&known, walk);
        let last_run_ns = self.writer.meta(RUN_KEY)?.and_then(|ns| ns.parse().ok());
        let changed: Vec<&SourceFile> = walk
            .files
            .iter()
            .filter(|file| {
                known.get(&file.path).is_none_or(|note| is_changed(file, note, last_run_ns))
            })
            .collect();
        self.report.n_unchanged = walk.files.len() - changed.len();
        let writing = Instant::now();
        let mut touched = self.write_changed(&changed, &known, watch)?;
        if !self.report.is_interrupted {
            let mut rest: Vec<String> = self.gone.paths.drain().collect();
            rest.sort();
            for path in rest {
                self.writer.remove(&path)?;
                touched.names.insert(link_name(&path));
                self.report.removed.push(path);
            }
        }
        self.report.write_ms = ms(writing);
        let linking = Instant::now();
        self.relink(&touched)?;
        self.report.link_ms = ms(linking);
        Ok(())
    }

    fn known_one(&self, walk: &Walk) -> Result<KnownNotes> {
        let path = match (walk.files.first(), self.job.only) {
            (Some(file), _) => file.path.clone(),
            (None, Some(path)) => source::name_of(self.job.vault, path)?,
            (None, None) => return Ok(KnownNotes::default()),
        };
        Ok(self.writer.known_at(&path)?.map(|note| (path, note)).into_iter().collect())
    }

    fn write_changed(
        &mut self,
        changed: &[&SourceFile],
        known: &KnownNotes,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Touched> {
        let mut touched = Touched::default();
        let mut committed = Instant::now();
        let total_bytes = changed.iter().map(|file| file.size).sum();
        let mut progress = Progress { total: changed.len(), total_bytes, ..Progress::default() };
        self.report.n_threads = produce::n_producers(changed);
        produce::each(self.job, changed, known, |parcel| {
            progress.done += 1;
            progress.bytes += parcel.size();
            self.take(parcel, known, &mut touched)?;
            if committed.elapsed() > COMMIT_INTERVAL {
                self.writer.set_meta(LINKS_KEY, LINKS_OPEN)?;
                self.writer.commit()?;
                committed = Instant::now();
            }
            let goes_on = watch(progress);
            self.report.is_interrupted |= !goes_on;
            Ok(goes_on)
        })?;
        Ok(touched)
    }

    fn take(&mut self, parcel: Parcel, known: &KnownNotes, touched: &mut Touched) -> Result<()> {
        match parcel {
            Parcel::Note(note) => {
                let produce::Note { record, found, warnings, busy } = *note;
                let is_new = !known.contains_key(&record.path);
                if is_new && let Some(old) = self.gone.take(&record.hash) {
                    self.writer.remove(&old)?;
                    touched.names.insert(link_name(&old));
                    self.report.renamed.push((old, record.path.clone()));
                }
                let writing = Instant::now();
                self.writer.put(&record)?;
                if is_new {
                    touched.names.insert(link_name(&record.path));
                }
                self.report.add(&record, found, warnings, &busy, writing.elapsed());
                touched.paths.insert(record.path);
            }
            Parcel::Same(file) => {
                if let Some(note) = known.get(&file.path)
                    && (note.mtime_ns, note.ctime_ns) != (file.mtime_ns, file.ctime_ns)
                {
                    self.writer.touch(note.id, file.mtime_ns, file.ctime_ns)?;
                    self.report.n_touched += 1;
                }
                self.report.n_unchanged += 1;
            }
            Parcel::Skipped(skipped, _) => self.skip(skipped, known, touched)?,
        }
        Ok(())
    }

    fn skip(&mut self, skipped: Skipped, known: &KnownNotes, touched: &mut Touched) -> Result<()> {
        if known.contains_key(&skipped.path) && !skipped.reason.keeps_indexed() {
            self.writer.remove(&skipped.path)?;
            touched.names.insert(link_name(&skipped.path));
            self.report.removed.push(skipped.path.clone());
        }
        // A note that was deleted between the walk and the reading is gone,
        // not skipped.
        if skipped.reason != Reason::Vanished || !known.contains_key(&skipped.path) {
            self.report.skipped.push(skipped);
        }
        Ok(())
    }

    /// Resolves the links that stand in written notes or may lead to notes
    /// that came or went.
    fn relink(&mut self, touched: &Touched) -> Result<()> {
        let is_open = self.writer.meta(LINKS_KEY)?.as_deref() == Some(LINKS_OPEN);
        if touched.names.is_empty() && touched.paths.is_empty() && !is_open {
            return Ok(());
        }
        let mut notes: Vec<(String, i64)> = Vec::new();
        self.writer.each_path(|path, id| notes.push((path.to_owned(), id)))?;
        let resolver = Resolver::new(notes.iter().map(|(path, _)| path.as_str()));
        let written = notes.iter().filter(|(path, _)| touched.paths.contains(path));
        let written = written.map(|(_, id)| *id).collect();
        let is_due = |target: &str| touched.names.contains(&link_name(target));
        let is_due: Option<&dyn Fn(&str) -> bool> =
            if touched.names.is_empty() { None } else { Some(&is_due) };
        let written = (!is_open).then_some(&written);
        self.writer.relink(written, is_due, |path, link| match resolver.resolve(path, link) {
            Resolution::Note(at) => notes.get(at).map(|(_, id)| *id),
            Resolution::File | Resolution::Nowhere => None,
        })?;
        if is_open { self.writer.set_meta(LINKS_KEY, "") } else { Ok(()) }
    }
}

/// What links have to be resolved again for.
#[derive(Default)]
struct Touched {
    /// Notes written.
    paths: HashSet<String>,
    /// Names (see [`link_name`]) of notes that came or went.
    names: HashSet<String>,
}

impl Gone {
    fn take(&mut self, hash: &[u8]) -> Option<String> {
        let path = self.by_hash.get_mut(hash)?.pop()?;
        self.paths.remove(&path);
        Some(path)
    }
}

fn gone(known: &KnownNotes, walk: &Walk) -> Gone {
    let mut gone = Gone::default();
    let n_seen = walk.files.iter().filter(|file| known.contains_key(&file.path)).count();
    if n_seen == known.len() {
        return gone;
    }
    let mut missing: Vec<(&String, &KnownNote)> = known
        .iter()
        .filter(|(path, _)| {
            walk.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_err()
                && !walk.keeps(path)
        })
        .collect();
    // Popped from the end: the first path goes to the first note found.
    missing.sort_by(|a, b| b.0.cmp(a.0));
    for (path, note) in missing {
        gone.by_hash.entry(note.hash.clone()).or_default().push(path.clone());
        gone.paths.insert(path.clone());
    }
    gone
}

fn is_changed(file: &SourceFile, note: &KnownNote, last_run_ns: Option<i64>) -> bool {
    let is_same =
        (file.mtime_ns, file.ctime_ns, file.size) == (note.mtime_ns, note.ctime_ns, note.size);
    // Written so shortly before the last run that it may have been written
    // again after it, unseen.
    let tick = if file.mtime_ns % 1_000_000_000 == 0 { COARSE_TICK_NS } else { TICK_NS };
    let last_change = file.mtime_ns.max(file.ctime_ns);
    !is_same || last_run_ns.is_none_or(|run| last_change.saturating_add(tick) >= run)
}

/// Text stored under other rules of the filter may hold what these hide.
fn text_version(filter: &Filter) -> String {
    let rules = format!("{filter:?}");
    if rules == format!("{:?}", Filter::builtin()) {
        return TEXT_VERSION.to_owned();
    }
    let hash = u128::from_be_bytes(super::decode::hash(rules.as_bytes()));
    format!("{TEXT_VERSION} {hash:032x}")
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

pub(super) fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Adds counts by name.
pub(super) fn add_counts(all: &mut BTreeMap<String, usize>, found: &[crate::redact::Finding]) {
    for finding in found {
        *all.entry(finding.name.clone()).or_default() += finding.count;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::store::{Opened, Reader};

    #[test]
    fn links_of_a_run_that_died_after_a_commit_are_resolved_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("vault");
        fs::create_dir(&vault).unwrap();
        let write = |name: &str, text: &str| fs::write(vault.join(name), text).unwrap();
        let (scope, filter) = (Scope::default(), Filter::builtin());
        let db = folder.path().join("index.db");
        let job = Job {
            vault: &vault,
            scope: &scope,
            db: &db,
            embedder: None,
            filter: &filter,
            full: false,
            check: false,
            only: None,
        };
        let leads_to = || {
            let Opened::Ready(reader) = Reader::open(&db).unwrap() else { panic!("no index") };
            let source = reader.note_at("source.md").unwrap().unwrap();
            let to = reader.links_from(source.id).unwrap()[0].to_note;
            to.map(|id| reader.note(id).unwrap().unwrap().path)
        };
        write("source.md", "[[Target]] is linked from this note.\n");
        index(&job, &mut |_| true).unwrap();
        assert_eq!(leads_to(), None);
        write("Target.md", "The target of it.\n");
        write("other.md", "Another note.\n");
        let died = catch_unwind(AssertUnwindSafe(|| {
            index(&job, &mut |progress| match progress.done {
                // The next note is committed.
                1 => {
                    std::thread::sleep(COMMIT_INTERVAL + Duration::from_millis(50));
                    true
                }
                _ => panic!("killed"),
            })
        }));
        assert!(died.is_err());
        assert_eq!(leads_to(), None, "it died before it resolved links");
        let report = index(&job, &mut |_| true).unwrap();
        assert_eq!((report.indexed.len(), report.rebuilt), (0, None));
        assert_eq!(leads_to().as_deref(), Some("Target.md"));
    }
}
