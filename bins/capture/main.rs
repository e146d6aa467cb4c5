//! `capture`: a text becomes a note in the inbox. Run by people and scripts,
//! and with `--hook` by an agent, where it exits 0 whatever happens.

mod args;
mod hook;
mod import;
mod input;
mod insight;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use postil_core::capture::indexing::{Indexed, index_now};
use postil_core::capture::related::related;
use postil_core::capture::{self, Place, Stored};
use postil_core::config::Config;
use postil_core::error::Result;
use serde_json::json;

use self::args::{Args, Command, Input};

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        // A hook must never exit 2, a mistyped registration included.
        Err(_) if std::env::args_os().any(|arg| arg == "--hook") => return ExitCode::SUCCESS,
        Err(error) => return fail(&format!("{error}; try `postil capture --help`")),
        Ok(command) => command,
    };
    match command {
        Command::Help => say(&postil_cli::help_of("capture"), 0),
        Command::Version => say(concat!("capture ", env!("CARGO_PKG_VERSION"), "\n"), 0),
        Command::Run(args) if args.input == Input::Hook => hook::run(&args.overrides),
        Command::Run(args) => run(&args).unwrap_or_else(|error| fail(&error.to_string())),
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    let config = Config::load(&args.overrides)?;
    for warning in &config.warnings {
        note(warning);
    }
    if let Input::Import { path, into, dry_run } = &args.input {
        return import::run(path, into.as_deref(), *dry_run, args.json, &config);
    }
    let place = Place::of(&config)?;
    let taken = input::take(&args.input, &config)?;
    let mut draft = args.draft.clone();
    draft.text.clone_from(&taken.text);
    draft.session.clone_from(&config.host.session);
    draft.project = project(&config, std::env::current_dir().ok().as_deref());
    let stored = store(&draft, &place, &config).inspect_err(|_| taken.keep())?;
    if stored.is_new {
        index(&config, Some(&stored.path));
    }
    report(&stored, args.json)
}

/// Brings the index up to date, or says why it is not.
fn index(config: &Config, path: Option<&Path>) {
    match index_now(config, path) {
        Ok(Indexed::Done | Indexed::NoIndex) => {}
        Ok(Indexed::Busy) => note("another run is indexing; the next one will see the note"),
        Err(error) => note(&format!("stored, but not in the index: {error}")),
    }
}

/// Stores a draft with the configured filter, tags and index.
fn store(draft: &capture::Draft, place: &Place, config: &Config) -> Result<Stored> {
    let filter = config.filter()?;
    let mut draft = draft.clone();
    draft.tags.extend(config.capture.tags.iter().cloned());
    let now = chrono::Local::now().naive_local();
    // Nothing that is wrong with the index may keep a note from being stored.
    let related = |text: &str| related(config, text).unwrap_or_default();
    capture::store(&draft, place, now, &filter, &related)
}

/// The name of the project worked in: the agent's, else the repository around
/// the current folder, unless that is the vault itself.
fn project(config: &Config, cwd: Option<&Path>) -> Option<String> {
    let is_vault =
        |path: &&Path| config.vault.as_deref().is_some_and(|vault| path.starts_with(vault));
    let root = config
        .host
        .project
        .as_deref()
        .or_else(|| cwd?.ancestors().find(|folder| folder.join(".git").exists()));
    let root = root.filter(|root| !is_vault(root))?;
    Some(root.file_name()?.to_string_lossy().into_owned())
}

fn report(stored: &Stored, json: bool) -> Result<ExitCode> {
    for warning in &stored.warnings {
        note(warning);
    }
    if json {
        let object = json!({
            "path": stored.path,
            "note": stored.relative,
            "title": stored.title,
            "created": stored.is_new,
            "related": stored.related,
            "redacted": stored.redacted.iter().map(|f| (f.name.clone(), f.count)).collect::<std::collections::BTreeMap<_, _>>(),
            "warnings": stored.warnings,
        });
        return Ok(say(&format!("{object}\n"), 0));
    }
    if !stored.is_new {
        note("already captured, nothing added");
    }
    for finding in &stored.redacted {
        note(&format!("redacted {} x {}", finding.count, finding.name));
    }
    Ok(say(&format!("{}\n", stored.path.display()), 0))
}

fn say(text: &str, code: u8) -> ExitCode {
    // A reader that closed the pipe has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "capture: {message}");
}

fn fail(message: &str) -> ExitCode {
    note(message);
    ExitCode::from(2)
}
