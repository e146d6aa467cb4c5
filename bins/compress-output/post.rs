//! PostToolUse: the tool's result with its text shortened, in the same shape.
//!
//! Claude Code silently drops any other shape, so the result is sent back as
//! it came with one text replaced. Read, Edit and Write are never touched: an
//! edit needs the exact text.

use std::borrow::Cow;
use std::path::Path;

use postil_lean::compress::ledger;
use postil_lean::config::Config;
use postil_lean::error::Result;
use postil_lean::hook::{Agent, Answer, Event, Raw, Reply, Writer, push_text};

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

/// A result, in JSON, with its text replaced, and what replaced it.
type Replaced = Option<(Vec<u8>, Vec<Short>)>;

fn reply(event: &Event<'_>, replaced: Replaced, config: &Config) -> Answer {
    let Some((output, shorts)) = replaced else { return Answer::Silence("left-alone") };
    let bytes = shorts.iter().map(|short| short.text.len()).sum();
    let Some(reply) = Reply::tool_output(event, &output) else {
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
    // With the path kept, the client frames the text as too large.
    let without = ["persistedOutputPath", "persistedOutputSize"];
    Ok(Some((with_member(response, "stdout", &json(&short), &without), vec![short])))
}

/// An object as it came, with one member replaced and some left out. Bytes
/// that are not UTF-8 become U+FFFD: agents send none.
pub(crate) fn with_member(object: Raw<'_>, name: &str, value: &[u8], without: &[&str]) -> Vec<u8> {
    let mut output = Writer::object();
    let mut is_there = false;
    for (key, old) in object.members() {
        let key = String::from_utf8_lossy(key);
        if key == name {
            // Of members of the same name the last counts: all become the new one.
            output = if is_there { output } else { output.json(name, value) };
            is_there = true;
        } else if !without.contains(&key.as_ref()) {
            let old = String::from_utf8_lossy(old.as_bytes());
            output = output.raw_json(&key, old.as_bytes());
        }
    }
    output.end()
}

/// A shortened text as a JSON string.
fn json(short: &Short) -> Vec<u8> {
    let mut out = Vec::new();
    push_text(&short.to_text(), &mut out);
    out
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
    Ok(Some((with_member(response, name, &json(&short), &[]), vec![short])))
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
    Ok(Some((with_member(response, "content", &json(&short), &[]), vec![short])))
}

/// A list of names, which stays a list: `numFiles` still counts all of them.
fn names(event: &Event<'_>, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    let Some(list) = response.get("filenames") else { return Ok(None) };
    let lines: Vec<Cow<'_, str>> = list.items().filter_map(Raw::text).collect();
    let raw = lines.join("\n");
    let Some(short) = shorten(&whole("find .", raw.as_bytes(), CLAUDE_CAP), config)? else {
        return Ok(None);
    };
    let shown = array(short.to_text().lines().map(|line| {
        let mut out = Vec::new();
        push_text(line, &mut out);
        out
    }));
    Ok(Some((with_member(response, "filenames", &shown, &[]), vec![short])))
}

/// A JSON array of values.
fn array(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut out = vec![b'['];
    for item in items {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend(item);
    }
    out.push(b']');
    out
}

/// A subagent's report: the text blocks under `content`.
fn blocks_of(event: &Event<'_>, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    let Some(blocks) = response.get("content") else { return Ok(None) };
    let (blocks, shorts) = shorten_blocks(blocks, "", config)?;
    let output = || with_member(response, "content", &blocks, &[]);
    Ok((!shorts.is_empty()).then(|| (output(), shorts)))
}

/// MCP: text blocks, one JSON text, or the notice that the result is in a file.
fn mcp(event: &Event<'_>, tool: &str, config: &Config) -> Result<Replaced> {
    let Some(response) = event.tool_response else { return Ok(None) };
    let Some(text) = response.text() else {
        let (blocks, shorts) = shorten_blocks(response, tool, config)?;
        return Ok((!shorts.is_empty()).then_some((blocks, shorts)));
    };
    let stored = saved_path(&text).and_then(read_file);
    let raw = stored.as_deref().unwrap_or(text.as_bytes());
    let text = Text { shown_by_client: text.len(), ..whole(tool, raw, CLAUDE_CAP) };
    let Some(short) = shorten(&text, config)? else { return Ok(None) };
    Ok(Some((json(&short), vec![short])))
}

/// The file in "Error: result (…) exceeds maximum allowed tokens. Output has
/// been saved to PATH."
fn saved_path(text: &str) -> Option<&Path> {
    let rest = text.strip_prefix("Error: result (")?;
    let (_, rest) = rest.split_once("Output has been saved to ")?;
    let line = rest.lines().next()?;
    Some(Path::new(line.strip_suffix('.').unwrap_or(line)))
}

/// The blocks of an array, those with a long text shortened.
fn shorten_blocks(
    blocks: Raw<'_>,
    command: &str,
    config: &Config,
) -> Result<(Vec<u8>, Vec<Short>)> {
    let (mut out, mut shorts) = (Vec::new(), Vec::new());
    for block in blocks.items() {
        let text = block.get("text").and_then(Raw::text);
        let short = match &text {
            Some(text) => shorten(&whole(command, text.as_bytes(), CLAUDE_CAP), config)?,
            None => None,
        };
        out.push(match short {
            Some(short) => {
                let block = with_member(block, "text", &json(&short), &[]);
                shorts.push(short);
                block
            }
            None => String::from_utf8_lossy(block.as_bytes()).into_owned().into_bytes(),
        });
    }
    Ok((array(out.into_iter()), shorts))
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
    Ok(Some((json(&short), vec![short])))
}
