//! `postil doctor`: checks everything a hook depends on, then replays an event
//! and proves that the answer would be used.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use postil_core::config::{Config, Overrides};
use postil_core::embed::Embedder;
use postil_core::ingest::source::{Scope, walk};
use postil_core::recall::budget::first_sentence;
use postil_core::store::{NoteRow, Opened, Reader};
use serde_json::{Value, json};

use crate::register::{Agent, registered};

const HELP: &str = "\
postil doctor - check the installation

Usage: postil doctor [OPTIONS]

Checks configuration, vault, index, model and hook registration, then replays
a hook event about one of your notes and proves that an agent would use the
answer.

Options:
      --vault DIR   the vault (default: the configured one)
      --db FILE     the index (default: the configured one)
      --model DIR   the folder of the embedding model
      --config FILE another configuration file
  -h, --help        print this

Exit codes: 0 all is well, 1 something needs mending, 2 bad usage.
";

/// Notes that are tried before the replay is given up.
const MAX_TRIES: usize = 8;

/// Most UTF-16 units of a reply that agents pass on whole.
const MAX_REPLY_UTF16: usize = 10_000;

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
    let Some(overrides) = parse(args).map_err(usage)? else {
        return Ok(Report { text: HELP.to_owned(), is_well: true });
    };
    let mut report = Report { is_well: true, ..Report::default() };
    match Config::load(&overrides) {
        Ok(config) => check(&config, &overrides, binaries, &mut report),
        Err(error) => report.bad("config", error),
    }
    Ok(report)
}

fn parse(args: Vec<OsString>) -> Result<Option<Overrides>, lexopt::Error> {
    use lexopt::prelude::{Long, Short};
    let mut overrides = Overrides::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        let path = match arg {
            Long("vault") => &mut overrides.vault,
            Long("db") => &mut overrides.db,
            Long("model") => &mut overrides.model,
            Long("config") => &mut overrides.config,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        };
        *path = Some(PathBuf::from(parser.value()?));
    }
    Ok(Some(overrides))
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
        replay(config, overrides, &reader, &binaries.join("context-inject"), report);
    }
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
        let commands = match registered(agent, &config.host) {
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
    if n_registered == 0 {
        report.note("hooks", "registered with no agent; run `postil init --register`");
    }
    if config.host.is_silenced {
        report.note("hooks", "switched off by POSTIL_OFF");
    }
    if !config.inject.enabled {
        report.note("hooks", "injection is switched off by [inject] enabled");
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Asks the hook about notes of the vault until it answers about one.
fn replay(
    config: &Config,
    overrides: &Overrides,
    reader: &Reader,
    hook: &Path,
    report: &mut Report,
) {
    if config.host.is_silenced || !config.inject.enabled || !config.inject.prompts {
        return;
    }
    let prompts = prompts(reader);
    if prompts.is_empty() {
        return report.note("replay", "no note to ask about");
    }
    let mut last = "the hook stayed silent".to_owned();
    for (path, prompt) in &prompts {
        match ask(config, overrides, hook, prompt) {
            Ok(Some((passages, took))) => {
                let ms = took.as_millis();
                return report.ok(
                    "replay",
                    format!("UserPromptSubmit about {path}: {passages} UTF-16 units an agent takes as context, {ms} ms"),
                );
            }
            Ok(None) => {}
            Err(reason) => last = reason,
        }
    }
    report.bad("replay", format!("{last} on {} prompts about notes of this vault", prompts.len()));
}

/// Prompts about some notes, taken evenly from the whole vault.
fn prompts(reader: &Reader) -> Vec<(String, String)> {
    let mut notes: Vec<NoteRow> = Vec::new();
    let all = reader.each_note(|note| {
        if note.meta.for_agents && note.n_chunks > 0 {
            notes.push(note);
        }
    });
    if all.is_err() {
        return Vec::new();
    }
    notes.sort_by(|a, b| a.path.cmp(&b.path));
    let step = notes.len().div_ceil(MAX_TRIES).max(1);
    notes
        .iter()
        .step_by(step)
        .filter_map(|note| {
            let chunk = reader.chunk(note.first_chunk).ok().flatten()?;
            let sentence = first_sentence(&chunk.text, 200);
            Some((
                note.path.clone(),
                format!("What do I know about {}? {sentence}", note.meta.title),
            ))
        })
        .collect()
}

/// Runs the hook as an agent does; returns the length of the context it would
/// take and the time, `None` for silence, or why the agent would drop it.
fn ask(
    config: &Config,
    overrides: &Overrides,
    hook: &Path,
    prompt: &str,
) -> Result<Option<(usize, Duration)>, String> {
    let event = json!({"session_id": "doctor", "transcript_path": "", "cwd": "/",
        "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": prompt});
    // A state of its own: the check is in nobody's ledger or log.
    let state = tempfile::tempdir().map_err(|error| format!("make a temporary folder: {error}"))?;
    let mut command = Command::new(hook);
    command.env("POSTIL_STATE_DIR", state.path());
    let flags = [
        ("--vault", &overrides.vault),
        ("--db", &overrides.db),
        ("--model", &overrides.model),
        ("--config", &overrides.config),
    ];
    for (flag, value) in flags {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("start {}: {error}", hook.display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook may answer without reading all of it.
        let _ = stdin.write_all(event.to_string().as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| format!("wait for the hook: {error}"))?;
    let took = start.elapsed();
    if !output.status.success() {
        return Err(format!("the hook ended with {}", output.status));
    }
    if took > config.inject.deadline + Duration::from_millis(200) {
        return Err(format!("the hook took {} ms", took.as_millis()));
    }
    applied(&output.stdout).map(|length| length.map(|length| (length, took)))
}

/// Reads a reply as strictly as the agent does.
fn applied(reply: &[u8]) -> Result<Option<usize>, String> {
    if reply.is_empty() {
        return Ok(None);
    }
    let reply: Value = serde_json::from_slice(reply)
        .map_err(|error| format!("the reply is not one JSON object: {error}"))?;
    let fields = &reply["hookSpecificOutput"];
    if fields["hookEventName"] != "UserPromptSubmit" {
        return Err("the reply does not name its event".to_owned());
    }
    let context = fields["additionalContext"].as_str().ok_or("the reply has no context")?;
    match context.encode_utf16().count() {
        length if length > MAX_REPLY_UTF16 => Err(format!("the reply has {length} UTF-16 units")),
        length => Ok(Some(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_strictly_as_an_agent_does() {
        let reply = |context: Value| {
            json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}})
                .to_string()
        };
        assert_eq!(applied(b""), Ok(None));
        assert_eq!(applied(reply(json!("ñ😀")).as_bytes()), Ok(Some(3)));
        assert!(applied(reply(json!(5)).as_bytes()).is_err());
        assert!(applied(reply(json!("x".repeat(10_001))).as_bytes()).is_err());
        assert!(applied(b"{\"hookSpecificOutput\":{\"additionalContext\":\"x\"}}").is_err());
        assert!(applied(b"log line\n{}").is_err());
    }
}
