//! `triage`: sorts signals into the vault's folders. Run by people and by cron.

mod args;
mod eval;
mod nearby;
mod report;

use std::fs::{self, File};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fs2::FileExt;
use postil_core::capture::indexing::{Indexed, index_now};
use postil_core::capture::{self, Draft, Place};
use postil_core::config::Config;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::redact::Filter;
use postil_core::triage::inbox::{self, Which};
use postil_core::triage::journal::{Journal, Step};
use postil_core::triage::moves::{self, Done, Move};
use postil_core::triage::signal::Signal;
use postil_core::triage::sources::{self, canonical_url};
use postil_core::triage::{self, Judge};

use self::args::{Args, Command, Task};
use self::nearby::Nearby;
use self::report::{Entry, Report};

fn main() -> ExitCode {
    let args = match args::parse(std::env::args_os().skip(1)) {
        Err(error) => return fail(&format!("{error}; try `postil triage --help`")),
        Ok(Command::Help) => return say(&postil_cli::help_of("triage"), 0),
        Ok(Command::Version) => return say(concat!("triage ", env!("CARGO_PKG_VERSION"), "\n"), 0),
        Ok(Command::Run(args)) => args,
    };
    match run(&args) {
        Ok(code) => code,
        Err(error) => fail(&error.to_string()),
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    let config = Config::load(&args.overrides)?;
    for warning in &config.warnings {
        note(warning);
    }
    if let Task::Eval(file) = &args.task {
        return Ok(say(&eval::run(file, &config, args)?, 0));
    }
    let state = &config.paths.state;
    let Some(_turn) = take_turn(&state.join("triage.lock"))? else {
        return Ok(say("another run is sorting\n", 0));
    };
    let vault = config.vault()?.to_owned();
    capture::inside(&vault, &config.capture.inbox)?;
    let journal = Journal::new(state.join("triage.jsonl"), &vault);
    let task = Work { args, config: &config, vault, journal, filter: config.filter()? };
    let report = match &args.task {
        Task::Undo(run) => task.undo(run.as_deref())?,
        Task::Inbox(which) => task.inbox(*which)?,
        Task::Files(files) => task.files(files)?,
        Task::Eval(_) => Report::default(),
    };
    if !report.is_dry && report.changed_anything() {
        match index_now(&config, None) {
            Ok(Indexed::Done | Indexed::NoIndex) => {}
            Ok(Indexed::Busy) => note("another run is indexing; the next one will see the changes"),
            Err(error) => note(&format!("sorted, but the index is not up to date: {error}")),
        }
    }
    for failure in &report.failures {
        note(failure);
    }
    let text = if args.json { report.json() } else { report.text(args.explain) };
    Ok(say(&text, u8::from(!report.failures.is_empty())))
}

/// One run and what it needs.
struct Work<'a> {
    args: &'a Args,
    config: &'a Config,
    vault: PathBuf,
    journal: Journal,
    filter: Filter,
}

impl Work<'_> {
    fn inbox(&self, which: Which) -> Result<Report> {
        let mut report = Report { is_dry: self.args.dry_run, ..Report::default() };
        self.finish_earlier(&mut report)?;
        let inbox = inbox::read(&self.vault, &self.config.capture.inbox, which, &self.filter);
        report.n_other = inbox.n_other;
        report.failures.extend(inbox.failures);
        let signals: Vec<(Option<String>, Signal)> =
            inbox.signals.into_iter().map(|(path, signal)| (Some(path), signal)).collect();
        self.judge(signals, &mut report)?;
        if self.args.dry_run || report.entries.is_empty() {
            return Ok(report);
        }
        let moves: Vec<Move> = report.entries.iter().filter_map(as_move).collect();
        let name = run_name();
        self.journal.write(&name, &Step::Begin)?;
        let done = moves::run(&self.vault, &self.journal, &name, &moves)?;
        self.journal.write(&name, &Step::End)?;
        for entry in &mut report.entries {
            let moved = done.moved.iter().find(|(from, _)| Some(from) == entry.from.as_ref());
            entry.to = moved.map(|(_, to)| to.clone());
        }
        report.add(done);
        Ok(report)
    }

    /// A run that was killed left links that lead to the old places.
    fn finish_earlier(&self, report: &mut Report) -> Result<()> {
        if self.args.dry_run {
            return Ok(());
        }
        for run in self.journal.runs()?.iter().filter(|run| run.is_unfinished()) {
            let done = moves::finish(&self.vault, &self.journal, run)?;
            self.journal.write(&run.name, &Step::End)?;
            report.rewritten.extend(done.rewritten);
            report.failures.extend(done.failures);
        }
        Ok(())
    }

    fn judge(&self, signals: Vec<(Option<String>, Signal)>, report: &mut Report) -> Result<()> {
        let nearby = Nearby::open(self.config)?;
        if !nearby.has_index() && !signals.is_empty() {
            note("no index, so relevance is a guess; run `postil index` first");
        }
        let judge = Judge::of(&self.config.triage);
        for (from, signal) in signals {
            let verdict = judge.judge(&signal, nearby.find(&signal)?.as_deref());
            let folder = triage::folder(&self.config.triage, &verdict);
            report.entries.push(Entry { from, to: None, folder, signal, verdict });
        }
        Ok(())
    }

    fn files(&self, files: &[PathBuf]) -> Result<Report> {
        let mut report = Report { is_dry: self.args.dry_run, ..Report::default() };
        self.finish_earlier(&mut report)?;
        let triage = &self.config.triage;
        let folders = [&self.config.capture.inbox, &triage.folder, &triage.review, &triage.archive];
        let mut known = inbox::known_urls(&self.vault, &folders.map(String::as_str));
        let mut signals = Vec::new();
        for file in files {
            let items = match read_source(file).and_then(|bytes| sources::read(&bytes)) {
                Ok(items) => items,
                Err(error) => {
                    report.failures.push(format!("{}: {error}", file.display()));
                    continue;
                }
            };
            let failures = items.failures.iter();
            report.failures.extend(failures.map(|line| format!("{}: {line}", file.display())));
            for signal in items.signals {
                let url = signal.source.as_deref().filter(|source| source.contains("://"));
                if url.is_some_and(|url| !known.insert(canonical_url(url))) {
                    report.n_known += 1;
                } else {
                    signals.push((None, scrubbed(signal, &self.filter)));
                }
            }
        }
        self.judge(signals, &mut report)?;
        if !self.args.dry_run && !report.entries.is_empty() {
            self.create(&mut report)?;
        }
        Ok(report)
    }

    /// Makes notes of signals from outside, in the folders they belong in.
    fn create(&self, report: &mut Report) -> Result<()> {
        let name = run_name();
        self.journal.write(&name, &Step::Begin)?;
        let now = chrono::Local::now().naive_local();
        for entry in &mut report.entries {
            let place = Place { folder: entry.folder.clone(), ..Place::of(self.config)? };
            let draft = draft(entry);
            match capture::store(&draft, &place, now, &self.filter, &|_| Vec::new()) {
                Ok(stored) if stored.is_new => {
                    let bytes = fs::read(&stored.path)
                        .map_err(|error| Error::io("read", &stored.path, error))?;
                    let hash = postil_core::text::fnv1a(&bytes);
                    let path = stored.relative.clone();
                    self.journal.write(&name, &Step::Create { path, hash })?;
                    entry.to = Some(stored.relative);
                }
                Ok(stored) => {
                    entry.to = Some(stored.relative);
                    report.n_known += 1;
                }
                Err(error) => report.failures.push(format!("{}: {error}", entry.signal.title)),
            }
        }
        self.journal.write(&name, &Step::End)
    }

    fn undo(&self, wanted: Option<&str>) -> Result<Report> {
        let runs = self.journal.runs()?;
        let run = match wanted {
            Some(name) => runs.iter().find(|run| run.name == name),
            None => runs.iter().rev().find(|run| !run.is_undone() && run.did_anything()),
        };
        let run = run.ok_or_else(|| {
            let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Error::new(ErrorKind::Input, format!("no run to take back; known runs: {known}"))
        })?;
        let mut report = Report { undone: Some(run.name.clone()), ..Report::default() };
        if self.args.dry_run {
            report.is_dry = true;
            return Ok(report);
        }
        let done = moves::undo(&self.vault, &self.journal, run)?;
        report.n_back = done.moved.len();
        report.n_removed = done.removed.len();
        report.add(done);
        Ok(report)
    }
}

fn as_move(entry: &Entry) -> Option<Move> {
    let mut properties = vec![
        ("status", triage::status(entry.verdict.route).to_owned()),
        ("score", format!("{:.2}", entry.verdict.composite)),
    ];
    let said = entry.signal.domain.as_deref().is_some_and(|domain| domain != "other");
    if entry.verdict.route == triage::Route::Keep && !said {
        properties.insert(0, ("domain", entry.verdict.choice.domain.clone()));
    }
    Some(Move { from: entry.from.clone()?, folder: entry.folder.clone(), properties })
}

fn draft(entry: &Entry) -> Draft {
    let signal = &entry.signal;
    let text = if signal.text.trim().is_empty() { &signal.title } else { &signal.text };
    Draft {
        text: text.clone(),
        title: Some(signal.title.clone()),
        kind: Some("signal".to_owned()),
        domain: Some(entry.verdict.choice.domain.clone()),
        tags: signal.tags.clone(),
        source: signal.source.clone(),
        date: signal.created.clone(),
        status: Some(triage::status(entry.verdict.route)),
        score: Some(entry.verdict.composite),
        ..Draft::default()
    }
}

/// A signal whose every text has been through the filter.
fn scrubbed(signal: Signal, filter: &Filter) -> Signal {
    let scrub = |text: String| filter.scrub(&text).text.into_string();
    Signal {
        title: scrub(signal.title),
        text: scrub(signal.text),
        source: signal.source.map(scrub),
        tags: signal.tags.into_iter().map(scrub).collect(),
        author: signal.author.map(scrub),
        ..signal
    }
}

fn read_source(file: &Path) -> Result<Vec<u8>> {
    if file != Path::new("-") {
        return fs::read(file).map_err(|error| Error::io("read", file, error));
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Error::new(ErrorKind::Input, "`-` reads JSON lines from a pipe"));
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().read_to_end(&mut bytes);
    read.map_err(|error| Error::with(ErrorKind::Io, "read standard input", error))?;
    Ok(bytes)
}

/// Names a run by when it began, to the millisecond.
fn run_name() -> String {
    chrono::Local::now().format("%Y-%m-%dT%H:%M:%S%.3f").to_string()
}

/// One run at a time; `None` while another holds the lock.
fn take_turn(path: &Path) -> Result<Option<File>> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let file = File::create(path).map_err(|error| Error::io("write", path, error))?;
    Ok(file.try_lock_exclusive().is_ok().then_some(file))
}

fn say(text: &str, code: u8) -> ExitCode {
    // A reader that closed the pipe has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "triage: {message}");
}

fn fail(message: &str) -> ExitCode {
    note(message);
    ExitCode::from(2)
}

impl Report {
    fn changed_anything(&self) -> bool {
        self.undone.is_some()
            || !self.rewritten.is_empty()
            || self.entries.iter().any(|entry| entry.to.is_some())
    }

    fn add(&mut self, done: Done) {
        self.rewritten.extend(done.rewritten);
        self.failures.extend(done.failures);
    }
}
