//! PostToolUse: the tool's result with its text shortened, in the same shape.
//!
//! Claude Code silently drops any other shape, so the result is sent back as
//! it came with one text replaced. Read, Edit and Write are never touched: an
//! edit needs the exact text.

use std::borrow::Cow;
use std::path::Path;

use postil_core::compress::ledger;
use postil_core::config::Config;
use postil_core::error::Result;
use postil_core::hook::{Agent, Answer, Event, Raw, Reply};
use serde_json::Value;

use crate::shorten::{Short, Text, is_own, is_skipped, now, reads_original, shorten};
use crate::wrap::is_wrapped;

/// Most bytes Claude Code takes from a hook for Bash: above 30,000 UTF-16
/// units it makes a file and a preview of it.
const CLAUDE_CAP: usize = 29_000;
/// Most bytes Codex takes: it cuts at 2,500 tokens, between 9,000 and 12,000
/// characters.
const CODEX_CAP: usize = 8_800;
/// Stored results beyond this are left to the client's preview.
const MAX_FILE: u64 = 64 << 20;

/// Answers a PostToolUse event.
pub(crate) fn answer(event: &Event<'_>, config: &Config) -> Result<Answer> {
    let tool = event.tool_name.as_deref().unwrap_or_default();
    let command = event.input_text("command").unwrap_or(Cow::Borrowed(""));
    let file = event.input_text("file_path").unwrap_or(Cow::Borrowed(""));
    if is_wrapped(&command) {
        return Ok(Answer::Silence("wrapped"));
    }
    if reads_original(command.as_bytes(), config) || reads_original(file.as_bytes(), config) {
        ledger::record_opened(&config.paths.state, now());
        return Ok(Answer::Silence("original-opened"));
    }
    if !is_wanted(tool, config) || event.agent == Agent::Cursor {
        return Ok(Answer::Silence("other-tool"));
    }
    if is_own(command.as_bytes(), config) || is_skipped(command.as_bytes(), config) {
        return Ok(Answer::Silence("own-or-skipped"));
    }
    let replaced = match (event.agent, tool) {
        (Agent::Codex, _) => codex(event, &command, config)?,
        (_, "Bash") => bash(event, &command, config)?,
        (_, "Grep") => grep(event, config)?,
        (_, "Glob") => names(event, config)?,
        (_, "WebFetch") => field(event, "result", config)?,
        (_, "Agent" | "Task") => blocks_of(event, config)?,
        (_, tool) if tool.starts_with("mcp__") => mcp(event, tool, config)?,
        _ => return Ok(Answer::Silence("other-tool")),
    };
    Ok(reply(event, replaced, config))
}

/// A result with its text replaced, and what replaced it.
type Replaced = Option<(Value, Vec<Short>)>;

fn reply(event: &Event<'_>, replaced: Replaced, config: &Config) -> Answer {
    let Some((output, shorts)) = replaced else { return Answer::Silence("left-alone") };
    let bytes = shorts.iter().map(|short| short.text.len()).sum();
    let Some(reply) = Reply::tool_output(event, output) else {
        return Answer::Silence("left-alone");
    };
    let config = config.clone();
    let settle = move || shorts.into_iter().for_each(|short| short.settle(&config));
    Answer::Reply(reply.count("bytes", bytes).on_sent(settle))
}

fn is_wanted(tool: &str, config: &Config) -> bool {
    let named = |pattern: &String| match pattern.strip_suffix('*') {
        Some(head) => tool.starts_with(head),
        None => tool == pattern || pattern == "Agent" && tool == "Task",
    };
    !matches!(tool, "Read" | "Edit" | "Write" | "NotebookEdit")
        && config.compress.tools.iter().any(named)
}

/// A text that the client would show whole, up to `cap` bytes.
fn whole<'a>(command: &'a str, raw: &'a [u8], cap: usize) -> Text<'a> {
    Text {
        command: command.as_bytes(),
        exit_code: 0,
        raw,
        shown_by_client: raw.len(),
        is_cut: false,
        cap,
    }
}

/// Bash: `stdout` holds both streams; above 30,000 characters the client has
/// stored the rest and would show 2 KB.
fn bash(event: &Event<'_>, command: &str, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    // One pass: the text may be megabytes.
    let members: Vec<_> = response.members().collect();
    let get = |name: &str| {
        members.iter().find(|(key, _)| *key == name.as_bytes()).map(|(_, value)| *value)
    };
    let flag = |name| get(name).is_some_and(Raw::is_true);
    if flag("interrupted") || flag("isImage") || get("backgroundTaskId").is_some() {
        return Ok(None);
    }
    let stored = get("persistedOutputPath").and_then(Raw::text);
    let raw = match &stored {
        Some(path) => match read_file(Path::new(path.as_ref())) {
            Some(raw) => raw,
            None => return Ok(None),
        },
        None => match get("stdout").and_then(Raw::text) {
            Some(text) => text.into_owned().into_bytes(),
            None => return Ok(None),
        },
    };
    let shown_by_client = if stored.is_some() { 2_000 } else { raw.len() };
    let text = Text { shown_by_client, ..whole(command, &raw, CLAUDE_CAP) };
    let Some(short) = shorten(&text, config)? else { return Ok(None) };
    let Some(mut output) = small(response, &["stdout"]) else { return Ok(None) };
    output.insert("stdout".to_owned(), short.to_text().into());
    // With the path kept, the client frames the text as too large.
    output.remove("persistedOutputPath");
    output.remove("persistedOutputSize");
    Ok(Some((Value::Object(output), vec![short])))
}

/// An object without the members that are replaced: they may be large.
fn small(response: Raw<'_>, without: &[&str]) -> Option<serde_json::Map<String, Value>> {
    let mut output = serde_json::Map::new();
    for (name, value) in response.members() {
        let name = std::str::from_utf8(name).ok()?;
        if !without.contains(&name) {
            output.insert(name.to_owned(), value.to_value()?);
        }
    }
    Some(output)
}

fn read_file(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(path).ok()?;
    (meta.is_file() && meta.len() <= MAX_FILE).then(|| std::fs::read(path).ok()).flatten()
}

/// One text member of an object.
fn field(event: &Event<'_>, name: &str, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    let Some(raw) = response.get(name).and_then(|text| text.text()) else { return Ok(None) };
    let Some(short) = shorten(&whole("", raw.as_bytes(), CLAUDE_CAP), config)? else {
        return Ok(None);
    };
    let Some(mut output) = small(response, &[name]) else { return Ok(None) };
    output.insert(name.to_owned(), short.to_text().into());
    Ok(Some((Value::Object(output), vec![short])))
}

/// Grep: matches are in `content`, or only names in `filenames`.
fn grep(event: &Event<'_>, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    let Some(raw) = response.get("content").and_then(|text| text.text()) else {
        return names(event, config);
    };
    let Some(short) = shorten(&whole("grep -rn", raw.as_bytes(), CLAUDE_CAP), config)? else {
        return Ok(None);
    };
    let Some(mut output) = small(response, &["content"]) else { return Ok(None) };
    output.insert("content".to_owned(), short.to_text().into());
    Ok(Some((Value::Object(output), vec![short])))
}

/// A list of names, which stays a list: `numFiles` still counts all of them.
fn names(event: &Event<'_>, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    let Some(Value::Array(list)) = response.get("filenames").and_then(|list| list.to_value())
    else {
        return Ok(None);
    };
    let lines: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    let raw = lines.join("\n");
    let Some(short) = shorten(&whole("find .", raw.as_bytes(), CLAUDE_CAP), config)? else {
        return Ok(None);
    };
    let Some(mut output) = small(response, &["filenames"]) else { return Ok(None) };
    let shown: Vec<Value> = short.to_text().lines().map(Into::into).collect();
    output.insert("filenames".to_owned(), shown.into());
    Ok(Some((Value::Object(output), vec![short])))
}

/// A subagent's report: the text blocks under `content`.
fn blocks_of(event: &Event<'_>, config: &Config) -> Result<Replaced> {
    let Some(mut output) = event.tool_response.and_then(|response| response.to_value()) else {
        return Ok(None);
    };
    let Some(blocks) = output.get_mut("content").and_then(Value::as_array_mut) else {
        return Ok(None);
    };
    let shorts = shorten_blocks(blocks, "", config)?;
    Ok((!shorts.is_empty()).then_some((output, shorts)))
}

/// MCP: text blocks, one JSON text, or the notice that the result is in a file.
fn mcp(event: &Event<'_>, tool: &str, config: &Config) -> Result<Replaced> {
    let Some(mut output) = event.tool_response.and_then(|response| response.to_value()) else {
        return Ok(None);
    };
    if let Some(blocks) = output.as_array_mut() {
        let shorts = shorten_blocks(blocks, tool, config)?;
        return Ok((!shorts.is_empty()).then_some((output, shorts)));
    }
    let Some(text) = output.as_str() else { return Ok(None) };
    let stored = saved_path(text).and_then(read_file);
    let raw = stored.as_deref().unwrap_or(text.as_bytes());
    let text = Text { shown_by_client: text.len(), ..whole(tool, raw, CLAUDE_CAP) };
    let Some(short) = shorten(&text, config)? else { return Ok(None) };
    Ok(Some((short.to_text().into(), vec![short])))
}

/// The file in "Error: result (…) exceeds maximum allowed tokens. Output has
/// been saved to PATH."
fn saved_path(text: &str) -> Option<&Path> {
    let rest = text.strip_prefix("Error: result (")?;
    let (_, rest) = rest.split_once("Output has been saved to ")?;
    let line = rest.lines().next()?;
    Some(Path::new(line.strip_suffix('.').unwrap_or(line)))
}

fn shorten_blocks(blocks: &mut [Value], command: &str, config: &Config) -> Result<Vec<Short>> {
    let mut shorts = Vec::new();
    for block in blocks {
        let Some(Value::String(text)) = block.get_mut("text") else { continue };
        if let Some(short) = shorten(&whole(command, text.as_bytes(), CLAUDE_CAP), config)? {
            *text = short.to_text();
            shorts.push(short);
        }
    }
    Ok(shorts)
}

/// Codex: the result is a text, failing commands included; the exit status is
/// not told.
fn codex(event: &Event<'_>, command: &str, config: &Config) -> Result<Replaced> {
    let tool = event.tool_name.as_deref().unwrap_or_default();
    if tool != "Bash" && !tool.starts_with("mcp__") {
        return Ok(None);
    }
    let Some(raw) = event.tool_response.and_then(|response| response.text()) else {
        return Ok(None);
    };
    let is_cut = raw.starts_with("Warning: truncated output (");
    let text = Text { is_cut, ..whole(command, raw.as_bytes(), CODEX_CAP) };
    let Some(short) = shorten(&text, config)? else {
        return Ok(None);
    };
    Ok(Some((short.to_text().into(), vec![short])))
}
