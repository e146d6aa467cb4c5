//! Replays a hook event about a note of the vault, and reads the reply as strictly
//! as the agent does.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use postil_core::config::{Config, Overrides};
use postil_core::recall::budget::first_sentence;
use postil_core::store::{NoteRow, Reader};
use serde_json::{Value, json};

use super::Report;

/// Notes that are tried before the replay is given up.
const MAX_TRIES: usize = 8;

/// Most UTF-16 units of a reply that agents pass on whole.
const MAX_REPLY_UTF16: usize = 10_000;

/// Asks the hook about notes of the vault until it answers about one.
pub(super) fn replay(
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
    let mut failure = None;
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
            Err(reason) => failure = Some(reason),
        }
    }
    let silent = format!("the hook stayed silent on {} prompts about notes", prompts.len());
    match failure {
        Some(reason) => report.bad("replay", reason),
        // Among a few notes none stands out, and silence is the right answer.
        None if prompts.len() < MAX_TRIES => {
            report.note("replay", format!("{silent}: normal in a vault of so few"));
        }
        None => report.bad("replay", silent),
    }
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
