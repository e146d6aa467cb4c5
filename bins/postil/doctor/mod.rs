//! `postil doctor`: checks everything a hook depends on, then replays an event
//! proves that the answer would be used, and looks for the proof that the last
//! ones were.

mod proof;
mod replay;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use postil_core::config::{Config, Overrides};
use postil_core::embed::Embedder;
use postil_core::ingest::source::{Scope, walk};
use postil_core::store::{Opened, Reader};

use crate::register::{Agent, plugin, registered};

/// What the checks found, in lines.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) is_well: bool,
}

impl Report {
    fn ok(&mut self, what: &str, detail: impl std::fmt::Display) {
        self.line("ok  ", what, detail);
    }

    /// Works, but less well than it could.
    fn note(&mut self, what: &str, detail: impl std::fmt::Display) {
        self.line("note", what, detail);
    }

    fn bad(&mut self, what: &str, detail: impl std::fmt::Display) {
        self.is_well = false;
        self.line("FAIL", what, detail);
    }

    fn line(&mut self, mark: &str, what: &str, detail: impl std::fmt::Display) {
        self.text.push_str(&format!("{mark}  {what:<9} {detail}\n"));
    }
}

/// Runs the command; `Err` is bad usage.
pub(crate) fn run(args: Vec<OsString>, binaries: &Path) -> Result<Report, String> {
    let usage = |error: lexopt::Error| format!("doctor: {error}; try `postil doctor --help`");
    let Some((overrides, is_profile)) = parse(args).map_err(usage)? else {
        return Ok(Report { text: postil_cli::help_of("doctor"), is_well: true });
    };
    let mut report = Report { is_well: true, ..Report::default() };
    match Config::load(&overrides) {
        Ok(_) if is_profile => profile(&overrides, binaries, &mut report),
        Ok(config) => check(&config, &overrides, binaries, &mut report),
        Err(error) => report.bad("config", error),
    }
    Ok(report)
}

fn parse(args: Vec<OsString>) -> Result<Option<(Overrides, bool)>, lexopt::Error> {
    use lexopt::prelude::{Long, Short};
    let mut is_profile = false;
    let mut overrides = Overrides::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        let path = match arg {
            Long("vault") => &mut overrides.vault,
            Long("db") => &mut overrides.db,
            Long("model") => &mut overrides.model,
            Long("config") => &mut overrides.config,
            Long("profile") => {
                is_profile = true;
                continue;
            }
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        };
        *path = Some(PathBuf::from(parser.value()?));
    }
    Ok(Some((overrides, is_profile)))
}

/// Indexes the vault from nothing into a temporary file; the profile is what
/// `index` says of it.
fn profile(overrides: &Overrides, binaries: &Path, report: &mut Report) {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return report.bad("profile", format!("make a temporary folder: {error}")),
    };
    let mut command = Command::new(binaries.join("index"));
    command.arg("--profile").arg("--db").arg(folder.path().join("index.db"));
    for (flag, value) in [
        ("--vault", &overrides.vault),
        ("--model", &overrides.model),
        ("--config", &overrides.config),
    ] {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    // Its progress and its complaints are for the person who asked.
    match command.stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.code().is_some_and(|code| code < 2) => {
            report.text.push_str(&String::from_utf8_lossy(&output.stdout));
        }
        Ok(output) => report.bad("profile", format!("index ended with {}", output.status)),
        Err(error) => report.bad("profile", format!("start index: {error}")),
    }
}

fn check(config: &Config, overrides: &Overrides, binaries: &Path, report: &mut Report) {
    let file = config.paths.config.display();
    match config.paths.config.exists() {
        true => report.ok("config", &file),
        false => report.note("config", format!("no {file}; run `postil init`")),
    }
    for warning in &config.warnings {
        report.note("config", warning);
    }
    if let Err(error) = config.filter() {
        report.bad("config", error);
    }
    check_vault(config, report);
    let embedder = check_model(config, report);
    let reader = check_index(config, embedder.as_ref(), report);
    check_state(config, report);
    check_hooks(config, report);
    if let Some(reader) = reader {
        replay::replay(config, overrides, &reader, &binaries.join("context-inject"), report);
    }
    proof::check(config, report);
}

fn check_vault(config: &Config, report: &mut Report) {
    let vault = match config.vault() {
        Ok(vault) => vault,
        Err(error) => return report.bad("vault", error),
    };
    let scope = Scope { allowed: config.allowed.clone(), excluded: config.excluded.clone() };
    match walk(vault, &scope) {
        Ok(walk) if walk.files.is_empty() => {
            report.bad("vault", format!("no notes in {}", vault.display()));
        }
        Ok(walk) => {
            report.ok("vault", format!("{}, {} notes", vault.display(), walk.files.len()));
            let n_failed =
                walk.skipped.iter().filter(|skipped| skipped.reason.is_failure()).count();
            if n_failed > 0 {
                report.note(
                    "vault",
                    format!("{n_failed} files cannot be read; `postil index` lists them"),
                );
            }
        }
        Err(error) => report.bad("vault", error),
    }
}

fn check_model(config: &Config, report: &mut Report) -> Option<Embedder> {
    let folder = config.paths.model.display();
    match Embedder::open(&config.paths.model, &config.tables()) {
        Ok(Some(embedder)) => {
            let tables = config.tables();
            let names: Vec<_> =
                tables.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
            let languages = if names.is_empty() {
                String::new()
            } else {
                format!(", word tables: {}", names.join(", "))
            };
            report.ok("model", format!("{folder}{languages}"));
            Some(embedder)
        }
        Ok(None) => {
            let how = "search goes by words only; run `postil model install DIR`";
            report.note("model", format!("none in {folder}: {how}"));
            None
        }
        Err(error) => {
            report.bad("model", error);
            None
        }
    }
}

fn check_index(
    config: &Config,
    embedder: Option<&Embedder>,
    report: &mut Report,
) -> Option<Reader> {
    let file = config.paths.index.display();
    let reader = match Reader::open(&config.paths.index) {
        Ok(Opened::Ready(reader)) => *reader,
        Ok(Opened::Absent) => {
            report.bad("index", format!("no {file}; run `postil index`"));
            return None;
        }
        Ok(Opened::Foreign) => {
            report.bad("index", format!("{file} is of another version; run `postil index`"));
            return None;
        }
        Err(error) => {
            report.bad("index", format!("{error}; run `postil index --full`"));
            return None;
        }
    };
    match reader.counts() {
        Ok((0, _)) => report.bad("index", format!("{file} is empty; run `postil index`")),
        Ok((n_notes, n_chunks)) => {
            report.ok("index", format!("{file}, {n_notes} notes, {n_chunks} passages"));
        }
        Err(error) => report.bad("index", format!("{error}; run `postil index --full`")),
    }
    if let Some(embedder) = embedder
        && reader.meta("model").ok().flatten().is_some_and(|hash| hash != embedder.hash())
    {
        report.bad("index", "made with another model; run `postil index`");
    }
    match n_changed(config, &reader) {
        Some(0) | None => {}
        Some(n) => report.note("index", format!("{n} notes changed since; run `postil index`")),
    }
    Some(reader)
}

/// Counts notes that are new, changed or gone since they were indexed.
fn n_changed(config: &Config, reader: &Reader) -> Option<usize> {
    let scope = Scope { allowed: config.allowed.clone(), excluded: config.excluded.clone() };
    let files = walk(config.vault.as_deref()?, &scope).ok()?.files;
    let mut known = std::collections::HashMap::new();
    reader
        .each_note(|note| {
            known.insert(note.path, (note.mtime_ns, note.size));
        })
        .ok()?;
    let n_same = files
        .iter()
        .filter(|file| known.get(&file.path) == Some(&(file.mtime_ns, file.size)))
        .count();
    let n_gone = known.len() - files.iter().filter(|file| known.contains_key(&file.path)).count();
    Some(files.len() - n_same + n_gone)
}

fn check_state(config: &Config, report: &mut Report) {
    let state = &config.paths.state;
    let probe = || -> std::io::Result<()> {
        fs::create_dir_all(state)?;
        tempfile::NamedTempFile::new_in(state).map(drop)
    };
    match probe() {
        Ok(()) => report.ok("state", state.display()),
        Err(error) => report.bad("state", format!("{}: {error}", state.display())),
    }
}

fn check_hooks(config: &Config, report: &mut Report) {
    let mut n_registered = 0;
    for agent in Agent::ALL {
        let settings = agent.settings(&config.host);
        let commands = match registered(&settings) {
            Ok(commands) => commands,
            Err(error) => {
                report.bad("hooks", error);
                continue;
            }
        };
        if commands.is_empty() {
            continue;
        }
        n_registered += 1;
        let mut missing: Vec<String> = commands
            .iter()
            .filter(|(_, path)| !is_executable(path))
            .map(|(_, path)| path.display().to_string())
            .collect();
        missing.sort();
        missing.dedup();
        if missing.is_empty() {
            let mut events: Vec<&str> = commands.iter().map(|(event, _)| event.as_str()).collect();
            events.dedup();
            report.ok("hooks", format!("{}: {}", settings.display(), events.join(", ")));
        } else {
            let how = "run `postil init --register`";
            report
                .bad("hooks", format!("{}: no {}; {how}", settings.display(), missing.join(", ")));
        }
    }
    let plugin = plugin(&config.host);
    if let Some(plugin) = &plugin {
        report.ok("hooks", format!("Claude Code's plugin {plugin}"));
    }
    check_twice(config, plugin.as_deref(), report);
    if n_registered == 0 && plugin.is_none() {
        report.note("hooks", "registered with no agent; run `postil init --register`");
    }
    if config.host.is_silenced {
        report.note("hooks", "switched off by POSTIL_OFF");
    }
    if !config.inject.enabled {
        report.note("hooks", "injection is switched off by [inject] enabled");
    }
}

/// Warns where one agent would run the same hooks twice.
fn check_twice(config: &Config, plugin: Option<&str>, report: &mut Report) {
    let is_in = |file: &Path| registered(file).is_ok_and(|found| !found.is_empty());
    let own = Agent::ClaudeCode.settings(&config.host);
    if let Some(plugin) = plugin
        && is_in(&own)
    {
        let how = "run `postil init --unregister --agent claude-code`";
        report
            .bad("hooks", format!("twice: in {} and in the plugin {plugin}; {how}", own.display()));
    }
    for name in ["settings.json", "settings.local.json"] {
        let project = Path::new(".claude").join(name);
        let is_other = project.canonicalize().ok() != own.canonicalize().ok();
        if is_other && is_in(&project) && (plugin.is_some() || is_in(&own)) {
            let how = "keep one of them";
            report.bad("hooks", format!("twice: in {} too; {how}", project.display()));
        }
    }
    if is_in(&Agent::Cursor.settings(&config.host)) && is_in(&own) {
        let how = "Cursor runs Claude Code's hooks as well; run `postil init --unregister --agent cursor`";
        report.bad("hooks", format!("twice in Cursor: {how}"));
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
