//! The last turns of a conversation, read from the end of its transcript.
//!
//! Transcripts reach 100 MB and grow while they are read. They are walked
//! backwards in blocks, line by line, for at most [`MAX_BYTES`]; whatever is
//! unreadable ends the search.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::prompt::{Prompt, classify, is_machine};
use crate::hook::Raw;

/// How far back a turn is looked for. One tool result is rarely over 100 KB.
const MAX_BYTES: u64 = 4 << 20;

/// What is read at a time.
const BLOCK_BYTES: u64 = 128 << 10;

/// Longest part of a turn that is decoded.
const MAX_TURN_BYTES: usize = 16 << 10;

/// Returns the last thing the user asked, leaving out nods, commands and what
/// the agent's machinery wrote. `current` is the prompt being answered, which
/// some agents have written down already.
pub(super) fn last_user_turn(transcript: &Path, current: Option<&str>) -> Option<String> {
    let current = current.map(str::trim);
    find_back(transcript, |line| {
        memchr::memmem::find(line, b"user")?;
        let text = user_text(Raw::document(line)?)?;
        let text = text.trim();
        let is_asked = !matches!(classify(text), Prompt::Silence(_));
        (is_asked && Some(text) != current).then(|| text.to_owned())
    })
}

/// Returns the task the last subagent of `agent_type` was given.
pub(super) fn last_agent_task(transcript: &Path, agent_type: Option<&str>) -> Option<String> {
    find_back(transcript, |line| {
        memchr::memmem::find(line, b"\"tool_use\"")?;
        let entry = Raw::document(line)?;
        let content = entry.get("message")?.get("content")?;
        // Several agents of one turn start in order; the last call is the one
        // whose start is being announced, or its neighbour on the same task.
        content.items().filter_map(|block| agent_task(block, agent_type)).last()
    })
}

/// Returns when the agent said something last, in seconds since 1970.
pub(super) fn last_answer(transcript: &Path) -> Option<u64> {
    find_back(transcript, |line| {
        memchr::memmem::find(line, b"\"assistant\"")?;
        let entry = Raw::document(line)?;
        (entry.get("type")?.text()? == "assistant").then_some(())?;
        let time = entry.get("timestamp")?.text()?;
        let time = chrono::DateTime::parse_from_rfc3339(&time).ok()?.timestamp();
        u64::try_from(time).ok()
    })
}

fn agent_task(block: Raw<'_>, agent_type: Option<&str>) -> Option<String> {
    let name = block.get("name")?.text()?;
    if !matches!(name.as_ref(), "Agent" | "Task") {
        return None;
    }
    let input = block.get("input")?;
    let wanted = input.get("subagent_type").and_then(Raw::text);
    if let (Some(wanted), Some(agent_type)) = (wanted, agent_type)
        && wanted != agent_type
    {
        return None;
    }
    let text = |name| input.get(name).and_then(|raw: Raw<'_>| raw.text_within(MAX_TURN_BYTES));
    let task = [text("description"), text("prompt")];
    let task: Vec<Cow<'_, str>> = task.into_iter().flatten().collect();
    (!task.is_empty()).then(|| task.join("\n"))
}

/// Returns what the user typed, if the entry is that.
fn user_text(entry: Raw<'_>) -> Option<String> {
    let kind = entry.get("type")?.text()?;
    match kind.as_ref() {
        "user" => {
            let is = |name| entry.get(name).is_some_and(Raw::is_true);
            if is("isMeta") || is("isSidechain") || is("isCompactSummary") {
                return None;
            }
            content_text(entry.get("message")?.get("content")?)
        }
        // Codex.
        "event_msg" => {
            let payload = entry.get("payload")?;
            (payload.get("type")?.text()? == "user_message").then_some(())?;
            Some(payload.get("message")?.text_within(MAX_TURN_BYTES)?.into_owned())
        }
        "response_item" => {
            let payload = entry.get("payload")?;
            (payload.get("role")?.text()? == "user").then_some(())?;
            content_text(payload.get("content")?)
        }
        _ => None,
    }
}

/// Text of a message: a string, or blocks of which the user's own are kept.
fn content_text(content: Raw<'_>) -> Option<String> {
    if let Some(text) = content.text_within(MAX_TURN_BYTES) {
        return (!is_machine(&text)).then(|| text.into_owned());
    }
    let texts: Vec<Cow<'_, str>> = content
        .items()
        .filter_map(|block| block.get("text")?.text_within(MAX_TURN_BYTES))
        .filter(|text| !is_machine(text))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Calls `read` with each line, last first, until it returns something.
fn find_back<T>(path: &Path, mut read: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
    let mut file = File::open(path).ok()?;
    let len = file.seek(SeekFrom::End(0)).ok()?;
    let floor = len.saturating_sub(MAX_BYTES);
    let mut start = len;
    // Whatever of the current line is known, from `start` on.
    let mut tail: Vec<u8> = Vec::new();
    while start > floor {
        let block_start = start.saturating_sub(BLOCK_BYTES).max(floor);
        let mut block = vec![0; usize::try_from(start - block_start).ok()?];
        file.seek(SeekFrom::Start(block_start)).ok()?;
        file.read_exact(&mut block).ok()?;
        start = block_start;
        block.append(&mut tail);
        let mut end = block.len();
        while let Some(newline) = memchr::memrchr(b'\n', &block[..end]) {
            if let Some(found) = read(&block[newline + 1..end]) {
                return Some(found);
            }
            end = newline;
        }
        block.truncate(end);
        tail = block;
    }
    if start == 0 { read(&tail) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(lines: &[&str]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.join("\n") + "\n").unwrap();
        file
    }

    fn user(text: &str) -> String {
        serde_json::json!({"type": "user", "message": {"role": "user", "content": text}})
            .to_string()
    }

    #[test]
    fn the_last_real_question_is_found() {
        let question = user("why does the parser loop on empty input");
        let result = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"user said"}]}}"#;
        let meta = r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"a meta text of the client"}}"#;
        let summary = r#"{"type":"user","isCompactSummary":true,"message":{"content":"a long summary of it all"}}"#;
        let file = transcript(&[
            &user("an older question about databases"),
            &question,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"user asked"}]}}"#,
            result,
            meta,
            summary,
            &user("<command-name>/compact</command-name>"),
            &user("ok"),
            "not json user",
        ]);
        assert_eq!(
            last_user_turn(file.path(), None).as_deref(),
            Some("why does the parser loop on empty input")
        );
        assert_eq!(
            last_user_turn(file.path(), Some("why does the parser loop on empty input "))
                .as_deref(),
            Some("an older question about databases")
        );
    }

    #[test]
    fn blocks_of_text_count_and_reminders_do_not() {
        let file = transcript(&[
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"rename the billing module"}]}}"#,
        ]);
        assert_eq!(last_user_turn(file.path(), None).as_deref(), Some("rename the billing module"));
    }

    #[test]
    fn codex_turns_are_read() {
        let file = transcript(&[
            r#"{"type":"event_msg","payload":{"type":"user_message","message":"speed up the importer"}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}"#,
        ]);
        assert_eq!(last_user_turn(file.path(), None).as_deref(), Some("speed up the importer"));
    }

    #[test]
    fn lines_longer_than_a_block_are_put_together() {
        let long = format!("fix the importer {}", "x ".repeat(200_000));
        let noise = format!(r#"{{"type":"assistant","text":"{}"}}"#, "user ".repeat(100_000));
        let file = transcript(&[&user(&long), &noise]);
        assert!(last_user_turn(file.path(), None).unwrap().starts_with("fix the importer x"));
        let file = transcript(&[&user("only line of the file")]);
        assert_eq!(last_user_turn(file.path(), None).as_deref(), Some("only line of the file"));
    }

    #[test]
    fn what_is_too_far_back_or_missing_is_not_found() {
        let noise = format!("{{\"type\":\"x\",\"t\":\"{}\"}}", "n".repeat(1 << 20));
        let noise: Vec<&str> = std::iter::repeat_n(noise.as_str(), 5).collect();
        let question = user("a question far away in time");
        let file = transcript(&[&[question.as_str()], &noise[..]].concat());
        assert_eq!(last_user_turn(file.path(), None), None);
        assert_eq!(last_user_turn(Path::new("/nowhere"), None), None);
        assert_eq!(last_user_turn(Path::new("/"), None), None);
    }

    #[test]
    fn the_last_answer_has_a_time() {
        let answer = r#"{"type":"assistant","timestamp":"2026-01-01T00:00:05.250Z","message":{}}"#;
        let file = transcript(&[answer, &user("an \"assistant\" said"), "{\"type\":\"mode\"}"]);
        assert_eq!(last_answer(file.path()), Some(1_767_225_605));
        assert_eq!(last_answer(Path::new("/nowhere")), None);
    }

    #[test]
    fn the_task_of_a_subagent_is_that_of_its_type() {
        let call = |kind: &str, prompt: &str| {
            serde_json::json!({"type": "assistant", "message": {"content": [
                {"type": "text", "text": "sure"},
                {"type": "tool_use", "name": "Agent",
                 "input": {"description": "d", "prompt": prompt, "subagent_type": kind}}]}})
            .to_string()
        };
        let file = transcript(&[&call("reviewer", "review it"), &call("general-purpose", "do it")]);
        assert_eq!(last_agent_task(file.path(), Some("reviewer")).as_deref(), Some("d\nreview it"));
        assert_eq!(last_agent_task(file.path(), None).as_deref(), Some("d\ndo it"));
        assert_eq!(last_agent_task(file.path(), Some("other")), None);
    }
}
