//! The ledger of a session: which passages an agent already has, and what they
//! cost.
//!
//! One small file a conversation (a subagent has its own), appended under a
//! lock, so that the parallel hooks of one turn see each other's choices. A
//! compaction writes a reset: what came before is no longer in the context.
//! Lines are tab-separated:
//!
//! ```text
//! V  1  TRANSCRIPT
//! I  UNIX_SECONDS  EVENT  PASSAGE  TOKENS  PATH
//! A  UNIX_SECONDS  EVENT  PASSAGE  TOKENS  PATH    adopted from a forked session
//! R  UNIX_SECONDS
//! ```

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fs2::FileExt;

use super::wire::Event;
use crate::error::{Error, Result};

/// Ledgers of conversations that have been silent this long are removed.
const KEEP: Duration = Duration::from_secs(60 * 86_400);

/// A passage as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When, in seconds since 1970.
    pub time: u64,
    /// The event that brought it.
    pub event: String,
    /// Which passage: a hash of its text, so that an edited one is another.
    pub passage: u64,
    /// What it took, in tokens.
    pub tokens: usize,
    /// The note, relative to the vault.
    pub path: String,
}

/// An open, locked ledger; the lock ends with it.
pub struct Ledger {
    file: File,
    path: PathBuf,
    passages: HashSet<u64>,
    spent_tokens: usize,
}

impl Ledger {
    /// Opens and locks the ledger of the conversation `event` belongs to,
    /// waiting for other hooks of the same turn. Their part of the work takes
    /// well under a millisecond each; the caller's deadline bounds the rest.
    pub fn open(folder: &Path, event: &Event<'_>) -> Result<Self> {
        let path = folder.join(file_name(&event.session_id, event.agent_id.as_deref()));
        let mut file = open_file(&path).or_else(|_| {
            create_folder(folder)?;
            prune(folder);
            open_file(&path).map_err(|error| Error::io("open", &path, error))
        })?;
        file.lock_exclusive().map_err(|error| Error::io("lock", &path, error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| Error::io("read", &path, error))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut ledger = Self { file, path, passages: HashSet::new(), spent_tokens: 0 };
        if text.is_empty() {
            let transcript = event.transcript.as_deref().unwrap_or(Path::new(""));
            ledger.append(&format!("V\t1\t{}\n", escape(&transcript.to_string_lossy())))?;
        } else if !text.ends_with('\n') {
            // A write that was cut off costs its own line, not the next one.
            ledger.append("\n")?;
        }
        for line in text.lines() {
            ledger.read_line(line);
        }
        Ok(ledger)
    }

    /// Returns true if the agent already has this passage.
    pub fn has(&self, passage: u64) -> bool {
        self.passages.contains(&passage)
    }

    /// Returns what the passages since the last compaction took.
    pub fn spent_tokens(&self) -> usize {
        self.spent_tokens
    }

    /// Notes what was just sent.
    pub fn record(&mut self, entries: &[Entry]) -> Result<()> {
        let lines: String = entries.iter().map(|entry| format_entry(INJECTED, entry)).collect();
        self.append(&lines)
    }

    /// Notes that the context was emptied: everything may be said again.
    pub fn reset(&mut self) -> Result<()> {
        self.passages.clear();
        self.spent_tokens = 0;
        self.append(&format!("R\t{}\n", now()))
    }

    /// Takes over what the ledger at `other` holds since its last reset. It
    /// counts here as known, and in no statistics a second time.
    pub fn adopt(&mut self, other: &Path) -> Result<()> {
        let bytes = fs::read(other).map_err(|error| Error::io("read", other, error))?;
        let text = String::from_utf8_lossy(&bytes);
        let own: Vec<&str> = text.lines().rev().take_while(|line| !is_reset(line)).collect();
        let entries = own.into_iter().rev().filter_map(parse_known);
        let entries: Vec<Entry> = entries.filter(|entry| !self.has(entry.passage)).collect();
        let lines: String = entries.iter().map(|entry| format_entry(ADOPTED, entry)).collect();
        for line in lines.lines() {
            self.read_line(line);
        }
        self.append(&lines)
    }

    fn read_line(&mut self, line: &str) {
        if is_reset(line) {
            self.passages.clear();
            self.spent_tokens = 0;
        } else if let Some(entry) = parse_known(line) {
            self.passages.insert(entry.passage);
            self.spent_tokens += entry.tokens;
        }
    }

    fn append(&mut self, lines: &str) -> Result<()> {
        self.file.write_all(lines.as_bytes()).map_err(|error| Error::io("write", &self.path, error))
    }
}

/// How long a task waits for its subagent. One that was refused never starts.
const TASK_SECONDS: u64 = 60;

/// Leaves the task of a subagent that is about to start for its own first
/// event, which does not name it. `task` has to be redacted.
pub fn leave_task(folder: &Path, event: &Event<'_>, agent_type: &str, task: &str) -> Result<()> {
    let mut tasks = Tasks::open(folder, event)?;
    let line = format!("T\t{}\t{}\t{}", now(), escape(agent_type), escape(task));
    tasks.lines.push(line);
    tasks.save()
}

/// Takes the oldest task that waits for a subagent of this type.
pub fn take_task(folder: &Path, event: &Event<'_>, agent_type: &str) -> Option<String> {
    let mut tasks = Tasks::open(folder, event).ok()?;
    let start = now().saturating_sub(TASK_SECONDS);
    let fields = |line: &str| {
        let mut fields = line.strip_prefix("T\t")?.splitn(3, '\t');
        let time: u64 = fields.next()?.parse().ok()?;
        Some((time, unescape(fields.next()?), unescape(fields.next()?)))
    };
    tasks.lines.retain(|line| fields(line).is_some_and(|(time, ..)| time >= start));
    let at = tasks
        .lines
        .iter()
        .position(|line| fields(line).is_some_and(|(_, waiting, _)| waiting == agent_type));
    let found = at.map(|at| tasks.lines.remove(at));
    tasks.save().ok()?;
    found.and_then(|line| fields(&line)).map(|(_, _, task)| task)
}

/// The tasks of a session that wait for their subagents, locked.
struct Tasks {
    file: File,
    path: PathBuf,
    lines: Vec<String>,
}

impl Tasks {
    fn open(folder: &Path, event: &Event<'_>) -> Result<Self> {
        let path = folder.join(file_name(&event.session_id, None) + ".tasks");
        create_folder(folder)?;
        let mut file = open_file(&path).map_err(|error| Error::io("open", &path, error))?;
        file.lock_exclusive().map_err(|error| Error::io("lock", &path, error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| Error::io("read", &path, error))?;
        let lines = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
        Ok(Self { file, path, lines })
    }

    fn save(&mut self) -> Result<()> {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        let write = self.file.set_len(0).and_then(|()| self.file.write_all(text.as_bytes()));
        write.map_err(|error| Error::io("write", &self.path, error))
    }
}

/// Returns the ledgers of sessions whose transcripts lie in `folder`, with the
/// transcripts: of the `n` that were written to last, the latest first.
pub fn ledgers_of(sessions: &Path, folder: &Path, n: usize) -> Vec<(PathBuf, PathBuf)> {
    let Ok(entries) = fs::read_dir(sessions) else { return Vec::new() };
    let written =
        |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut ledgers: Vec<(SystemTime, PathBuf)> = entries.flatten().filter_map(written).collect();
    ledgers.sort();
    let transcript = |(_, ledger): (SystemTime, PathBuf)| {
        let transcript = transcript_of(&fs::read_to_string(&ledger).ok()?)?;
        (transcript.parent() == Some(folder)).then_some((ledger, transcript))
    };
    ledgers.into_iter().rev().take(n).filter_map(transcript).collect()
}

fn transcript_of(text: &str) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("V\t1\t"))?;
    (!path.is_empty()).then(|| PathBuf::from(unescape(path)))
}

/// A ledger read for statistics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The conversation's transcript, where the agent named one.
    pub transcript: Option<PathBuf>,
    /// Everything that was injected, oldest first.
    pub entries: Vec<Entry>,
}

/// Reads all ledgers in `folder`, in the order of their names; unreadable ones
/// are left out.
pub fn histories(folder: &Path) -> Vec<History> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "tasks"));
    paths.sort();
    paths
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|text| history(&text))
        .collect()
}

fn history(text: &str) -> History {
    History {
        transcript: transcript_of(text),
        entries: text.lines().filter_map(parse_entry).collect(),
    }
}

/// Returns the current time in seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Makes a file name of what may be any text: letters, digits and `-` stay,
/// anything else, and anything long, is told apart by a hash.
fn file_name(session_id: &str, agent_id: Option<&str>) -> String {
    let id = format!("{session_id}.{}", agent_id.unwrap_or(""));
    let plain: String =
        id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(48).collect();
    format!("{plain}.{:016x}", crate::text::fnv1a(id.as_bytes()))
}

fn open_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn create_folder(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Error::io("create", folder, error))
}

/// Removes what is long out of use; whatever cannot be removed stays.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified()).map(|time| time.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > KEEP)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How the lines of what was said, and of what a fork was told before, begin.
const INJECTED: &str = "I\t";
const ADOPTED: &str = "A\t";

fn is_reset(line: &str) -> bool {
    line.starts_with("R\t")
}

fn format_entry(kind: &str, entry: &Entry) -> String {
    let Entry { time, event, passage, tokens, path } = entry;
    format!("{kind}{time}\t{event}\t{passage:016x}\t{tokens}\t{}\n", escape(path))
}

/// Reads what was said here.
fn parse_entry(line: &str) -> Option<Entry> {
    parse_fields(line.strip_prefix(INJECTED)?)
}

/// Reads what was said here or before the fork.
fn parse_known(line: &str) -> Option<Entry> {
    parse_fields(line.strip_prefix(INJECTED).or_else(|| line.strip_prefix(ADOPTED))?)
}

fn parse_fields(fields: &str) -> Option<Entry> {
    let mut fields = fields.splitn(5, '\t');
    Some(Entry {
        time: fields.next()?.parse().ok()?,
        event: fields.next()?.to_owned(),
        passage: u64::from_str_radix(fields.next()?, 16).ok()?,
        tokens: fields.next()?.parse().ok()?,
        path: unescape(fields.next()?),
    })
}

/// Keeps a name on its line.
fn escape(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut name = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        name.push(match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            (c, false) => c,
        });
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &[u8] = br#"{"hook_event_name":"UserPromptSubmit","session_id":"../s/1",
        "transcript_path":"/t/a b.jsonl"}"#;

    fn entry(passage: u64, tokens: usize) -> Entry {
        let path = "notes/a\tb\\n\n.md".to_owned();
        Entry { time: 5, event: "UserPromptSubmit".to_owned(), passage, tokens, path }
    }

    #[test]
    fn a_ledger_remembers_until_a_reset() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sessions");
        let event = Event::parse(EVENT, false).unwrap();
        let mut ledger = Ledger::open(&folder, &event).unwrap();
        assert!(!ledger.has(1));
        ledger.record(&[entry(1, 100), entry(2, 50)]).unwrap();
        drop(ledger);

        let ledger = Ledger::open(&folder, &event).unwrap();
        assert!(ledger.has(1));
        assert!(!ledger.has(3));
        assert_eq!(ledger.spent_tokens(), 150);
        drop(ledger);

        Ledger::open(&folder, &event).unwrap().reset().unwrap();
        let ledger = Ledger::open(&folder, &event).unwrap();
        assert!(!ledger.has(1));
        assert_eq!(ledger.spent_tokens(), 0);
        drop(ledger);

        let histories = histories(&folder);
        assert_eq!(histories.len(), 1);
        assert_eq!(histories[0].transcript.as_deref(), Some(Path::new("/t/a b.jsonl")));
        assert_eq!(histories[0].entries, [entry(1, 100), entry(2, 50)]);
    }

    #[test]
    fn a_fork_knows_what_its_parent_was_told_since_the_last_compaction() {
        let dir = tempfile::tempdir().unwrap();
        let parent = Event::parse(EVENT, false).unwrap();
        let fork =
            br#"{"hook_event_name":"SessionStart","session_id":"f","transcript_path":"/t/f"}"#;
        let fork = Event::parse(fork, false).unwrap();
        let mut ledger = Ledger::open(dir.path(), &parent).unwrap();
        ledger.record(&[entry(1, 100)]).unwrap();
        ledger.reset().unwrap();
        ledger.record(&[entry(2, 50), entry(3, 30)]).unwrap();
        drop(ledger);
        let ledgers = ledgers_of(dir.path(), Path::new("/t"), 9);
        assert_eq!(ledgers.len(), 1);
        assert_eq!(ledgers[0].1, Path::new("/t/a b.jsonl"));
        assert!(ledgers_of(dir.path(), Path::new("/other"), 9).is_empty());
        let mut ledger = Ledger::open(dir.path(), &fork).unwrap();
        ledger.adopt(&ledgers[0].0).unwrap();
        ledger.adopt(&ledgers[0].0).unwrap();
        assert!(!ledger.has(1) && ledger.has(2) && ledger.has(3));
        drop(ledger);
        let ledger = Ledger::open(dir.path(), &fork).unwrap();
        assert!(!ledger.has(1) && ledger.has(2) && ledger.has(3));
        assert_eq!(ledger.spent_tokens(), 80);
        drop(ledger);
        let n: usize = histories(dir.path()).iter().map(|history| history.entries.len()).sum();
        assert_eq!(n, 3, "statistics count nothing twice");
    }

    #[test]
    fn tasks_wait_in_order_for_their_subagents() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sessions");
        let event = Event::parse(EVENT, false).unwrap();
        for (kind, task) in [("a", "first\tof\na"), ("b", "of b"), ("a", "second of a")] {
            leave_task(&folder, &event, kind, task).unwrap();
        }
        assert_eq!(take_task(&folder, &event, "a").as_deref(), Some("first\tof\na"));
        assert_eq!(take_task(&folder, &event, "c"), None);
        assert_eq!(take_task(&folder, &event, "a").as_deref(), Some("second of a"));
        assert_eq!(take_task(&folder, &event, "a"), None);
        assert_eq!(take_task(&folder, &event, "b").as_deref(), Some("of b"));
        assert!(histories(&folder).is_empty());
    }

    #[test]
    fn names_stay_inside_the_folder_and_apart() {
        assert!(!file_name("../../etc/passwd", None).contains('/'));
        assert_ne!(file_name("a/b", None), file_name("a_b", None));
        assert_ne!(file_name("a", Some("b")), file_name("a", None));
        assert!(file_name(&"x".repeat(10_000), None).len() < 100);
    }

    #[test]
    fn a_damaged_ledger_counts_what_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let event = Event::parse(EVENT, false).unwrap();
        drop(Ledger::open(dir.path(), &event).unwrap());
        let path = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        let whole = format_entry(INJECTED, &entry(1, 100));
        fs::write(&path, format!("V\t1\t\n{whole}I\t5\tx\nrubbish\n\nI\t9")).unwrap();
        let mut ledger = Ledger::open(dir.path(), &event).unwrap();
        assert!(ledger.has(1));
        assert_eq!(ledger.spent_tokens(), 100);
        ledger.record(&[entry(2, 50)]).unwrap();
        drop(ledger);
        assert_eq!(Ledger::open(dir.path(), &event).unwrap().spent_tokens(), 150);
    }
}
