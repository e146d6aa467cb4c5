//! What to ask the notes at an event, or why to ask nothing.
//!
//! Nothing is opened here but, where the event itself does not say what the
//! work is about, the end of the transcript.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::errand::n_subjects;
use super::prompt::{Prompt, classify};
use super::transcript::{last_agent_task, last_user_turn};
use super::{salient, shell};
use crate::config::Config;
use crate::hook::session::{leave_task, take_task};
use crate::hook::{Agent, Event, EventKind, Raw};
use crate::text::prefix;

/// A question to the notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ask {
    /// What the event is about.
    pub(super) text: String,
    /// The task it belongs to: the turn before, for what cannot stand alone.
    pub(super) task: Option<String>,
}

/// Longest part of a prompt, or of a file's new text, that is looked at.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Longest part of a task that is asked beside something else.
const MAX_TASK_BYTES: usize = 300;

/// What a subagent is when the call does not say.
const DEFAULT_AGENT: &str = "general-purpose";

/// Names taken from a file's new text.
const MAX_NAMES: usize = 12;

/// Decides what to ask; `Err` is the reason for silence, for the log.
pub(super) fn ask(event: &Event<'_>, config: &Config) -> Result<Ask, &'static str> {
    if !event.accepts_context() {
        return Err("other-event");
    }
    if is_inside_vault(event, config) {
        return Err("inside-vault");
    }
    let inject = &config.inject;
    match event.kind {
        EventKind::UserPromptSubmit if inject.prompts => prompt(event),
        EventKind::PreToolUse => {
            let tool = event.tool_name.as_deref().unwrap_or("");
            // Codex and Cursor name the same tools differently.
            let known = match tool {
                "apply_patch" => "Edit",
                "Shell" => "Bash",
                tool => tool,
            };
            if matches!(tool, "Agent" | "Task") && inject.subagents {
                return Err(note_task(event, config));
            }
            if !inject.tools.iter().any(|listed| listed == known || listed == tool) {
                return Err("other-tool");
            }
            if tool == "Bash" || tool == "Shell" { bash(event) } else { edit(event) }
        }
        EventKind::SubagentStart if inject.subagents => subagent(event, config),
        EventKind::UserPromptSubmit | EventKind::SubagentStart => Err("switched-off"),
        _ => Err("other-event"),
    }
}

/// The task in hand: of the subagent, or the last turn of the user.
pub(super) fn task(event: &Event<'_>) -> Option<String> {
    let transcript = event.transcript.as_deref()?;
    let own = event.agent_id.is_some().then(|| last_agent_task(transcript, None)).flatten();
    own.or_else(|| last_user_turn(transcript, None)).map(|turn| salient::condense(&turn))
}

fn prompt(event: &Event<'_>) -> Result<Ask, &'static str> {
    if event.source.as_deref().is_some_and(is_machine_source) {
        return Err("machine-prompt");
    }
    let raw = event.prompt.ok_or("empty-prompt")?;
    let text = raw.text_within(MAX_TEXT_BYTES).ok_or("empty-prompt")?;
    let previous = || {
        let turn = last_user_turn(event.transcript.as_deref()?, Some(&text))?;
        Some(salient::condense(&turn))
    };
    let ask = match classify(&text) {
        Prompt::Silence(reason) => return Err(reason),
        Prompt::Question => Ask { text: salient::condense(&text), task: None },
        Prompt::FollowUp { has_topic: true } => {
            Ask { text: salient::condense(&text), task: previous() }
        }
        Prompt::FollowUp { has_topic: false } => {
            previous().map(|text| Ask { text, task: None }).ok_or("short-prompt")?
        }
    };
    let task = ask.task.as_deref().unwrap_or("");
    if n_subjects(&ask.text) + n_subjects(task) == 0 { Err("errand") } else { Ok(ask) }
}

/// Prompts that no person wrote, by Claude Code's own word for it.
fn is_machine_source(source: &str) -> bool {
    matches!(source, "system" | "loop_wakeup" | "schedule_wakeup" | "poll_event")
}

fn bash(event: &Event<'_>) -> Result<Ask, &'static str> {
    let input = event.tool_input.ok_or("no-input")?;
    let text = |name| input.get(name).and_then(|raw: Raw<'_>| raw.text_within(MAX_TEXT_BYTES));
    let command = text("command").ok_or("no-input")?;
    let words = shell::words(&command)?;
    let description = text("description").unwrap_or_default();
    let text = format!("{description}\n{}", words.join(" ")).trim().to_owned();
    if n_subjects(&text) == 0 { Err("errand") } else { Ok(Ask { text, task: None }) }
}

fn edit(event: &Event<'_>) -> Result<Ask, &'static str> {
    let input = event.tool_input.ok_or("no-input")?;
    let text = |name| input.get(name).and_then(|raw: Raw<'_>| raw.text_within(MAX_TEXT_BYTES));
    let new = ["new_string", "content", "new_source", "command"].into_iter().find_map(text);
    let new = new.unwrap_or_default();
    let path = edited_path(event).unwrap_or_default();
    let names = if is_prose(&path) {
        salient::condense(&new)
    } else {
        salient::names(&new, MAX_NAMES).join(" ")
    };
    let text = format!("{} {names}", path_words(&path)).trim().to_owned();
    if text.is_empty() {
        return Err("no-input");
    }
    let task = task(event).map(|task| prefix(&task, MAX_TASK_BYTES).to_owned());
    Ok(Ask { text, task })
}

/// The event itself names no task: the call that started the subagent left it
/// here; where that was not seen, the transcript may have it.
fn subagent(event: &Event<'_>, config: &Config) -> Result<Ask, &'static str> {
    let agent_type = event.agent_type.as_deref();
    let left = take_task(&config.paths.sessions, event, agent_type.unwrap_or(DEFAULT_AGENT));
    let written = || last_agent_task(event.transcript.as_deref()?, agent_type);
    let task = left.or_else(written).ok_or("no-task")?;
    match classify(&task) {
        Prompt::Silence(reason) => Err(reason),
        _ => Ok(Ask { text: salient::condense(&task), task: None }),
    }
}

/// Keeps the task of a subagent for its start; the call itself brings nothing,
/// since context would come when the subagent is done.
fn note_task(event: &Event<'_>, config: &Config) -> &'static str {
    let text = |name| event.tool_input?.get(name)?.text_within(MAX_TEXT_BYTES);
    let parts: Vec<Cow<'_, str>> =
        [text("description"), text("prompt")].into_iter().flatten().collect();
    let task =
        config.filter().unwrap_or_default().scrub(&salient::condense(&parts.join("\n"))).text;
    let agent_type = text("subagent_type").unwrap_or(Cow::Borrowed(DEFAULT_AGENT));
    match leave_task(&config.paths.sessions, event, &agent_type, task.as_str()) {
        Ok(()) => "task-noted",
        Err(_) => "error:io",
    }
}

/// Returns true where the work is on the notes themselves: they are open.
pub(super) fn is_inside_vault(event: &Event<'_>, config: &Config) -> bool {
    let Some(vault) = config.vault.as_deref() else { return false };
    let cwd = event.cwd.as_deref();
    let edited = edited_path(event).map(|path| {
        cwd.map_or_else(|| PathBuf::from(path.as_ref()), |cwd| cwd.join(path.as_ref()))
    });
    cwd.into_iter().chain(edited.as_deref()).any(|path| is_inside(path, vault))
}

/// Compares as written, then with links resolved; a file that is about to be
/// created goes by its nearest existing folder.
fn is_inside(path: &Path, vault: &Path) -> bool {
    if path.starts_with(vault) {
        return true;
    }
    let real = path.ancestors().find_map(|path| path.canonicalize().ok());
    let vault = vault.canonicalize();
    real.is_some_and(|real| vault.is_ok_and(|vault| real.starts_with(vault)))
}

/// Returns the file a tool is about to change.
fn edited_path<'a>(event: &Event<'a>) -> Option<Cow<'a, str>> {
    let path = event.input_text("file_path").or_else(|| event.input_text("notebook_path"));
    path.or_else(|| {
        let is_patch =
            event.agent == Agent::Codex && event.tool_name.as_deref() == Some("apply_patch");
        let patch = event.input_text("command").filter(|_| is_patch)?;
        let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
        let file =
            |line: &str| marks.iter().find_map(|mark| line.strip_prefix(mark).map(str::to_owned));
        patch.lines().find_map(file).map(Cow::Owned)
    })
}

/// Returns the last folder and the file's stem, as words.
fn path_words(path: &str) -> String {
    let mut parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let file = parts.pop().unwrap_or("");
    let stem =
        file.split_once('.').map_or(file, |(stem, _)| if stem.is_empty() { file } else { stem });
    // Folders every project has name nothing.
    let common = ["src", "lib", "app", "test", "tests", "docs", "main", "home", "tmp", "pkg"];
    let folder = parts.pop().filter(|folder| !common.contains(folder)).unwrap_or("");
    format!("{folder} {stem}").trim().to_owned()
}

fn is_prose(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "md" | "mdx" | "markdown" | "txt" | "rst" | "org" | "adoc" | "tex")
}

#[cfg(test)]
mod tests;
