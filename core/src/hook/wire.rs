//! What agents send to a hook and what they accept back: the only module that
//! knows the names in their JSON.
//!
//! Claude Code, Codex and Cursor are told apart by what only they send. Unknown
//! keys are ignored and missing ones are `None`; an event nobody knows is
//! [`EventKind::Other`].

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::json::{Raw, Writer};

/// The agent at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code, and whoever speaks its form.
    ClaudeCode,
    /// Codex CLI: no foreign key may stand in a reply.
    Codex,
    /// Cursor: events in camelCase, replies without an envelope.
    Cursor,
}

/// The events the hooks react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the agents' own names")]
pub enum EventKind {
    SessionStart,
    UserPromptSubmit,
    UserPromptExpansion,
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    SubagentStart,
    Stop,
    Other,
}

impl EventKind {
    /// Every kind.
    pub(super) const ALL: [Self; 9] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::UserPromptExpansion,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::SubagentStart,
        Self::Stop,
        Self::Other,
    ];

    /// Reads an agent's name for an event.
    fn parse(name: &str) -> Self {
        match name {
            "SessionStart" | "sessionStart" => Self::SessionStart,
            "UserPromptSubmit" | "beforeSubmitPrompt" => Self::UserPromptSubmit,
            "UserPromptExpansion" => Self::UserPromptExpansion,
            "PreToolUse" | "preToolUse" => Self::PreToolUse,
            "PostToolUse" | "postToolUse" => Self::PostToolUse,
            "PostToolUseFailure" | "postToolUseFailure" => Self::PostToolUseFailure,
            "SubagentStart" | "subagentStart" => Self::SubagentStart,
            "Stop" | "stop" => Self::Stop,
            _ => Self::Other,
        }
    }

    /// Returns Claude Code's name, which a reply has to repeat.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::UserPromptExpansion => "UserPromptExpansion",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::SubagentStart => "SubagentStart",
            Self::Stop => "Stop",
            Self::Other => "other",
        }
    }
}

/// One event, borrowed from the input.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Who sent it.
    pub agent: Agent,
    /// What happened.
    pub kind: EventKind,
    /// The session; empty where the agent sent none.
    pub session_id: Cow<'a, str>,
    /// The subagent the event belongs to.
    pub agent_id: Option<Cow<'a, str>>,
    /// What kind of subagent it is (`Explore`, `general-purpose`, …).
    pub agent_type: Option<Cow<'a, str>>,
    /// The conversation so far, JSON lines; may be 100 MB.
    pub transcript: Option<PathBuf>,
    /// The folder the agent works in.
    pub cwd: Option<PathBuf>,
    /// `default`, `plan`, `acceptEdits`, `bypassPermissions`, …
    pub permission_mode: Option<Cow<'a, str>>,
    /// `SessionStart`: `startup`, `resume`, `clear`, `compact` or `fork`.
    pub source: Option<Cow<'a, str>>,
    /// `SessionStart` (`resume`, `fork`): seconds since the agent's last answer.
    pub idle_seconds: Option<u64>,
    /// `UserPromptSubmit`: what the user, or the agent's own machinery, said.
    pub prompt: Option<Raw<'a>>,
    /// `UserPromptExpansion`: the slash command, without the slash.
    pub command_name: Option<Cow<'a, str>>,
    /// `UserPromptExpansion`: what followed it, verbatim.
    pub command_args: Option<Raw<'a>>,
    /// Tool events: the tool.
    pub tool_name: Option<Cow<'a, str>>,
    /// Tool events: its input, an object.
    pub tool_input: Option<Raw<'a>>,
    /// `PostToolUse`: its result; an object, an array or (Codex, some MCP
    /// tools) a string.
    pub tool_response: Option<Raw<'a>>,
    /// Tool events: the call.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// `PostToolUseFailure`: what the model is told.
    pub error: Option<Raw<'a>>,
    /// `Stop`: what the agent said last.
    pub last_message: Option<Raw<'a>>,
}

impl<'a> Event<'a> {
    /// Reads an event from a hook's stdin; `None` if it is not one JSON object
    /// with the name of an event. `is_cursor`: the process runs inside Cursor.
    pub fn parse(input: &'a [u8], is_cursor: bool) -> Option<Self> {
        let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        // One pass over what may be 12 MB, not one for each name.
        let members: Vec<(&[u8], Raw<'a>)> = Raw::document(input)?.members().collect();
        let get = |name: &str| {
            members.iter().rev().find(|(key, _)| *key == name.as_bytes()).map(|&(_, value)| value)
        };
        let text = |name| get(name).and_then(Raw::text);
        let name = text("hook_event_name")?;
        let transcript = text("transcript_path");
        let agent = if is_cursor || get("cursor_version").is_some() {
            Agent::Cursor
        } else if get("turn_id").is_some() || transcript.as_deref().is_some_and(is_codex_transcript)
        {
            Agent::Codex
        } else {
            Agent::ClaudeCode
        };
        Some(Self {
            agent,
            kind: EventKind::parse(&name),
            session_id: text("session_id").or_else(|| text("conversation_id")).unwrap_or_default(),
            agent_id: text("agent_id"),
            agent_type: text("agent_type"),
            transcript: transcript.map(|path| PathBuf::from(path.as_ref())),
            cwd: text("cwd").map(|path| PathBuf::from(path.as_ref())),
            permission_mode: text("permission_mode"),
            source: text("source"),
            idle_seconds: get("seconds_since_last_response")
                .and_then(|raw| std::str::from_utf8(raw.as_bytes()).ok()?.parse().ok()),
            prompt: get("prompt"),
            command_name: text("command_name"),
            command_args: get("command_args"),
            tool_name: text("tool_name"),
            tool_input: get("tool_input"),
            tool_response: get("tool_response"),
            tool_use_id: text("tool_use_id"),
            error: get("error"),
            last_message: get("last_assistant_message"),
        })
        .filter(|event| !(is_cursor && is_claude_style(&name, event.kind)))
    }

    /// Returns a string of the tool's input.
    pub fn input_text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.tool_input?.get(name)?.text()
    }

    /// Returns true where a reply may carry context that reaches the model.
    pub fn accepts_context(&self) -> bool {
        use EventKind::*;
        match self.agent {
            Agent::ClaudeCode => self.kind != Other,
            Agent::Codex => {
                matches!(self.kind, SessionStart | UserPromptSubmit | PreToolUse | PostToolUse)
            }
            Agent::Cursor => matches!(self.kind, SessionStart | UserPromptSubmit | PostToolUse),
        }
    }
}

/// Codex keeps `…/sessions/2026/11/29/rollout-….jsonl`.
fn is_codex_transcript(path: &str) -> bool {
    Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("rollout-"))
}

/// Cursor also runs the hooks in Claude Code's settings, under Claude Code's
/// names. Its own registration answers; this one would be a second answer in
/// the wrong form.
fn is_claude_style(name: &str, kind: EventKind) -> bool {
    kind != EventKind::Other && name == kind.name()
}

/// What a hook answers: one JSON object, and what is noted once it is out.
///
/// It is written piece by piece: a parser and printer of whole values would
/// be a tenth of a hook's binary.
pub struct Reply {
    body: Vec<u8>,
    counts: Vec<(&'static str, usize)>,
    on_sent: Option<Box<dyn FnOnce()>>,
}

impl Reply {
    /// Adds `text` to the model's context.
    ///
    /// The caller keeps it under the agents' cap of 10,000 UTF-16 units.
    pub fn context(event: &Event<'_>, text: &str) -> Self {
        Self::new(match event.agent {
            Agent::Cursor => Writer::object().text("additional_context", text).end(),
            _ => specific(event, Writer::object().text("additionalContext", text)),
        })
    }

    /// Puts `output`, one JSON value, in the place of the tool's result.
    ///
    /// Claude Code takes an object of the tool's own shape and silently drops
    /// any other; Codex takes a string. Cursor has no such reply: `None`.
    pub fn tool_output(event: &Event<'_>, output: &[u8]) -> Option<Self> {
        match event.agent {
            Agent::ClaudeCode => {
                Some(Self::new(specific(event, Writer::object().json("updatedToolOutput", output))))
            }
            Agent::Codex if output.first() == Some(&b'"') => Some(Self::new(
                Writer::object()
                    .json("continue", b"false")
                    .text("stopReason", "output shortened")
                    .json("reason", output)
                    .end(),
            )),
            Agent::Codex | Agent::Cursor => None,
        }
    }

    /// Puts `input`, a JSON object, in the place of the tool's whole input.
    /// `decision` is the permission the reply grants, where it grants one.
    pub fn tool_input(event: &Event<'_>, input: &[u8], decision: Option<&str>) -> Self {
        let mut fields = Writer::object().json("updatedInput", input);
        if let Some(decision) = decision {
            fields = fields.text("permissionDecision", decision);
        }
        Self::new(specific(event, fields))
    }

    /// Ends a prompt or slash command here: no request is sent, the user reads
    /// `reason`.
    pub fn ended(event: &Event<'_>, reason: &str) -> Self {
        let fields = Writer::object()
            .json("suppressOriginalPrompt", b"true")
            .text("hookEventName", event.kind.name());
        let body = Writer::object()
            .json("hookSpecificOutput", &fields.end())
            .text("decision", "block")
            .text("reason", reason);
        Self::new(body.end())
    }

    /// Adds a number to the log line of this reply.
    #[must_use]
    pub fn count(mut self, name: &'static str, n: usize) -> Self {
        self.counts.push((name, n));
        self
    }

    /// Sets what is done right after the reply is written, and only then. It
    /// may own a lock that has to hold until that moment.
    #[must_use]
    pub fn on_sent(mut self, action: impl FnOnce() + 'static) -> Self {
        self.on_sent = Some(Box::new(action));
        self
    }

    fn new(body: Vec<u8>) -> Self {
        Self { body, counts: Vec::new(), on_sent: None }
    }

    /// Returns the bytes for stdout.
    pub(super) fn to_bytes(&self) -> &[u8] {
        &self.body
    }

    pub(super) fn counts(&self) -> &[(&'static str, usize)] {
        &self.counts
    }

    pub(super) fn sent(self) {
        if let Some(action) = self.on_sent {
            action();
        }
    }
}

/// Wraps fields in `hookSpecificOutput` with the event's name, without which
/// the agent drops the whole reply.
fn specific(event: &Event<'_>, fields: Writer) -> Vec<u8> {
    let fields = fields.text("hookEventName", event.kind.name()).end();
    Writer::object().json("hookSpecificOutput", &fields).end()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(json: &str) -> Event<'_> {
        Event::parse(json.as_bytes(), false).unwrap()
    }

    fn read(reply: &Reply) -> Value {
        serde_json::from_slice(reply.to_bytes()).unwrap()
    }

    #[test]
    fn an_event_is_read_from_what_the_agent_sends() {
        let event = event(
            "\u{feff}{\"session_id\":\"s\",\"cwd\":\"/p\",\"hook_event_name\":\"PreToolUse\",\
             \"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"novel\":[1]}\n",
        );
        assert_eq!(event.agent, Agent::ClaudeCode);
        assert_eq!(event.kind, EventKind::PreToolUse);
        assert_eq!(event.tool_name.as_deref(), Some("Bash"));
        assert_eq!(event.input_text("command").as_deref(), Some("ls"));
        assert_eq!(event.input_text("description"), None);
    }

    #[test]
    fn wrong_types_are_absent_and_no_event_is_none() {
        let event = event(r#"{"hook_event_name":"PostToolUse","cwd":5,"tool_input":"x"}"#);
        assert_eq!(event.cwd, None);
        assert_eq!(event.input_text("command"), None);
        assert_eq!(event.session_id, "");
        for bad in ["", "[]", "{}", "{\"hook_event_name\":7}", "\"UserPromptSubmit\""] {
            assert!(Event::parse(bad.as_bytes(), false).is_none(), "{bad}");
        }
    }

    #[test]
    fn agents_are_told_apart() {
        let codex = event(r#"{"hook_event_name":"PreToolUse","turn_id":"t"}"#);
        assert_eq!(codex.agent, Agent::Codex);
        let start = event(
            r#"{"hook_event_name":"SessionStart","transcript_path":"/s/rollout-2026.jsonl"}"#,
        );
        assert_eq!(start.agent, Agent::Codex);
        let cursor = r#"{"hook_event_name":"beforeSubmitPrompt","conversation_id":"c"}"#;
        let cursor = Event::parse(cursor.as_bytes(), true).unwrap();
        assert_eq!((cursor.agent, cursor.kind), (Agent::Cursor, EventKind::UserPromptSubmit));
        assert_eq!(cursor.session_id, "c");
        let twice = br#"{"hook_event_name":"UserPromptSubmit","prompt":"x"}"#;
        assert!(Event::parse(twice, true).is_none());
    }

    #[test]
    fn replies_have_the_form_of_the_agent() {
        let claude = event(r#"{"hook_event_name":"UserPromptSubmit"}"#);
        assert_eq!(
            read(&Reply::context(&claude, "x")),
            json!({"hookSpecificOutput":
                {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}})
        );
        let codex = event(r#"{"hook_event_name":"PostToolUse","turn_id":"t"}"#);
        assert!(Reply::tool_output(&codex, b"{}").is_none());
        let reply = read(&Reply::tool_output(&codex, b"\"short\"").unwrap());
        assert_eq!(reply["reason"], "short");
        assert!(reply.get("hookSpecificOutput").is_none());
        let ended = read(&Reply::ended(&claude, "kept"));
        assert_eq!((&ended["decision"], &ended["reason"]), (&json!("block"), &json!("kept")));
    }
}
