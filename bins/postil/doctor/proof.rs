//! The proof from real sessions: what the hooks said last stands in the agent's own
//! transcript, which holds what the model was given.
//!
//! A client drops a reply that it does not like without a word to anybody; only
//! its transcript tells.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use postil_core::config::Config;
use postil_core::hook::session::{History, histories};

use super::Report;

/// Transcripts that are looked through for a shortened output, the latest first.
const MAX_TRANSCRIPTS: usize = 20;

/// Looks for the last injected passages and the last shortened output.
pub(super) fn check(config: &Config, report: &mut Report) {
    injected(config, report);
    compressed(config, report);
}

fn injected(config: &Config, report: &mut Report) {
    let last = |history: &History| history.entries.last().map(|entry| entry.time);
    let all = histories(&config.paths.sessions);
    let with_proof = all.iter().filter_map(|history| {
        let text = fs::read(history.transcript.as_deref()?).ok()?;
        Some((last(history)?, history, text))
    });
    let Some((time, history, text)) = with_proof.max_by_key(|(time, ..)| *time) else { return };
    let paths: BTreeSet<&str> = history.entries.iter().map(|entry| entry.path.as_str()).collect();
    let n_taken = paths.iter().filter(|path| is_given(&text, path)).count();
    let day = chrono::DateTime::from_timestamp(i64::try_from(time).unwrap_or(0), 0);
    let day = day.map(|day| day.format("%Y-%m-%d").to_string()).unwrap_or_default();
    let line = format!(
        "{n_taken} of {} injected notes stand in the transcript of the last session ({day})",
        paths.len()
    );
    match n_taken {
        0 => report.bad("applied", format!("{line}: the agent drops what the hooks say")),
        _ => report.ok("applied", line),
    }
}

/// Says whether a line of a transcript is context that names the note.
fn is_given(transcript: &[u8], path: &str) -> bool {
    // As it stands in a JSON string.
    let quoted = serde_json::Value::from(path).to_string();
    let path = quoted.trim_matches('"');
    let lines = transcript.split(|byte| *byte == b'\n').map(String::from_utf8_lossy);
    // Claude Code's attachment, and the developer message of Codex.
    let is_context = |line: &str| {
        line.contains("additional_context")
            || line.contains("additionalContext")
            || line.contains("\"developer\"")
    };
    lines.into_iter().any(|line| line.contains(path) && is_context(&line))
}

fn compressed(config: &Config, report: &mut Report) {
    if !config.compress.enabled {
        return;
    }
    // Hidden files are the folder's own housekeeping.
    let is_output =
        |path: &Path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
    let kept = latest(&config.paths.outputs, 1, is_output).pop();
    let Some((time, kept)) = kept else { return };
    let Some(name) = kept.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return;
    };
    let mut found = Vec::new();
    let projects = fs::read_dir(config.host.claude.join("projects"));
    for project in projects.into_iter().flatten().flatten() {
        found.extend(latest(&project.path(), MAX_TRANSCRIPTS, |path| {
            path.extension().is_some_and(|ending| ending == "jsonl")
        }));
    }
    // Only a session that went on after it can hold it.
    found.retain(|(changed, _)| *changed >= time);
    found.sort_by_key(|file| std::cmp::Reverse(file.0));
    found.truncate(MAX_TRANSCRIPTS);
    let holds = |path: &Path| {
        fs::read(path).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&name))
    };
    if found.iter().any(|(_, path)| holds(path)) {
        report.ok("applied", format!("the last shortened output, {name}, stands in a transcript"));
    } else if !found.is_empty() {
        let line = format!("the last shortened output, {name}, stands in no transcript");
        report.note("applied", format!("{line}: run outside an agent, or dropped by it"));
    }
}

/// The latest files of a folder, with their times, the latest first.
fn latest(
    folder: &Path,
    n: usize,
    is_wanted: impl Fn(&Path) -> bool,
) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let timed = entries.filter_map(|entry| {
        let path = entry.path();
        let meta = entry.metadata().ok().filter(|meta| meta.is_file() && is_wanted(&path))?;
        Some((meta.modified().ok()?, path))
    });
    let mut files: Vec<(SystemTime, PathBuf)> = timed.collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.0));
    files.truncate(n);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_context_that_names_the_note_is_a_proof() {
        let line = r#"{"attachment":{"type":"hook_additional_context","content":["1. año \"x\".md › T"]}}"#;
        assert!(is_given(format!("{{}}\n{line}\n").as_bytes(), "año \"x\".md"));
        assert!(!is_given(line.as_bytes(), "other.md"));
        assert!(!is_given(
            br#"{"type":"tool_use","input":{"file_path":"/v/other.md"}}"#,
            "other.md"
        ));
    }
}
