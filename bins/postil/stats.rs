//! `postil stats`: how often notes were injected, what that cost, and how often
//! an injected note was opened afterwards.
//!
//! Read from the hooks' log, the sessions' ledgers and, for what was opened, the
//! agents' own transcripts. All of it stays on the machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use lexopt::ValueExt;
use postil_core::compress::ledger::{Savings, savings};
use postil_core::config::{Config, Overrides};
use postil_core::hook::log::{self, Line};
use postil_core::hook::session::{Entry, History, histories, now};
use serde_json::{Value, json};

/// Notes that are listed.
const MAX_NOTES: usize = 10;

#[derive(Default)]
struct Args {
    overrides: Overrides,
    days: Option<u64>,
    json: bool,
    help: bool,
}

/// Runs the command; returns what to print, or the message of a failure.
pub(crate) fn run(args: Vec<OsString>) -> Result<String, String> {
    let args = parse(args).map_err(|error| format!("stats: {error}; try `postil stats --help`"))?;
    if args.help {
        return Ok(postil_cli::help_of("stats"));
    }
    let config = Config::load(&args.overrides).map_err(|error| error.to_string())?;
    let days = args.days.unwrap_or(30);
    let since = now().saturating_sub(days.saturating_mul(86_400));
    let lines: Vec<Line> =
        log::read(&config.paths.log).into_iter().filter(|line| line.time >= since).collect();
    let notes = notes(&config, since);
    let stats = Stats {
        days,
        calls: Calls::of(&lines),
        notes,
        savings: savings(&config.paths.state, since),
    };
    Ok(if args.json { format!("{}\n", stats.json()) } else { stats.text() })
}

fn parse(args: Vec<OsString>) -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short};
    let mut parsed = Args::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("days") => parsed.days = Some(parser.value()?.parse()?),
            Long("json") => parsed.json = true,
            Long("config") => parsed.overrides.config = Some(PathBuf::from(parser.value()?)),
            Short('h') | Long("help") => parsed.help = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(parsed)
}

/// What the calls of `context-inject` came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Calls {
    /// Prompts a person wrote, and those that got passages.
    n_prompts: usize,
    n_prompts_answered: usize,
    /// All events, by name: calls and answers.
    events: BTreeMap<String, (usize, usize)>,
    /// Why there was silence, by reason.
    silences: BTreeMap<String, usize>,
    n_passages: u64,
    n_tokens: u64,
    /// Calls that ran into the deadline, panicked or failed.
    n_failed: usize,
    /// Milliseconds of each call, sorted.
    times: Vec<u64>,
}

impl Calls {
    fn of(lines: &[Line]) -> Self {
        // Not the user's questions: neither a chance for a note nor a miss.
        const NOT_ASKED: [&str; 4] =
            ["machine-prompt", "slash-command", "inside-vault", "empty-prompt"];
        let mut calls = Self::default();
        for line in lines.iter().filter(|line| line.hook == "context-inject") {
            let is_reply = line.outcome == "replied";
            let event = calls.events.entry(line.event.clone()).or_default();
            event.0 += 1;
            event.1 += usize::from(is_reply);
            calls.times.push(line.ms);
            if line.event == "UserPromptSubmit" && !NOT_ASKED.contains(&line.outcome.as_str()) {
                calls.n_prompts += 1;
                calls.n_prompts_answered += usize::from(is_reply);
            }
            if is_reply {
                let count = |name: &str| {
                    line.counts.iter().find(|(own, _)| own == name).map_or(0, |(_, n)| *n)
                };
                calls.n_passages += count("passages");
                calls.n_tokens += count("tokens");
            } else {
                *calls.silences.entry(line.outcome.clone()).or_default() += 1;
                let is_failure = ["deadline", "panic"].contains(&line.outcome.as_str());
                calls.n_failed += usize::from(is_failure || line.outcome.starts_with("error:"));
            }
        }
        calls.times.sort_unstable();
        calls
    }

    fn n_calls(&self) -> usize {
        self.times.len()
    }

    /// Returns the time below which a share of the calls, in percent, stayed.
    fn percentile(&self, percent: usize) -> u64 {
        let last = self.times.len().saturating_sub(1);
        self.times.get(last * percent / 100).copied().unwrap_or(0)
    }

    fn per_100_prompts(&self) -> f64 {
        self.n_prompts_answered as f64 * 100.0 / self.n_prompts.max(1) as f64
    }
}

/// What became of one note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Note {
    n_injected: usize,
    n_tokens: usize,
    /// Sessions in which a tool of the agent's touched it afterwards.
    n_opened: usize,
    /// Sessions it was injected in.
    n_sessions: usize,
}

fn notes(config: &Config, since: u64) -> BTreeMap<String, Note> {
    let mut notes: BTreeMap<String, Note> = BTreeMap::new();
    for history in histories(&config.paths.sessions) {
        let entries: Vec<&Entry> =
            history.entries.iter().filter(|entry| entry.time >= since).collect();
        let mut firsts: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in &entries {
            let note = notes.entry(entry.path.clone()).or_default();
            note.n_injected += 1;
            note.n_tokens += entry.tokens;
            firsts.entry(&entry.path).or_insert(entry.time);
        }
        let opened = opened(&history, &firsts);
        for path in firsts.keys() {
            if let Some(note) = notes.get_mut(*path) {
                note.n_sessions += 1;
                note.n_opened += usize::from(opened.contains(path));
            }
        }
    }
    notes
}

/// Returns the notes that a tool call names after they were injected.
fn opened<'a>(history: &History, firsts: &BTreeMap<&'a str, u64>) -> Vec<&'a str> {
    let Some(file) = history.transcript.as_deref().and_then(|path| File::open(path).ok()) else {
        return Vec::new();
    };
    let mut opened: Vec<&str> = Vec::new();
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let Some((time, inputs)) = tool_inputs(&line) else { continue };
        for (path, injected) in firsts {
            let is_named = || inputs.iter().any(|input| names(input, path));
            if time >= *injected && !opened.contains(path) && is_named() {
                opened.push(path);
            }
        }
    }
    opened
}

/// Returns the time of a line and the inputs of its tool calls.
fn tool_inputs(line: &[u8]) -> Option<(u64, Vec<Value>)> {
    // Most lines are not worth parsing, and some are very long.
    line.windows(10).any(|part| part == b"\"tool_use\"").then_some(())?;
    let entry: Value = serde_json::from_slice(line).ok()?;
    let time = entry.get("timestamp")?.as_str()?;
    let time = chrono::DateTime::parse_from_rfc3339(time).ok()?.timestamp();
    let blocks = entry.get("message")?.get("content")?.as_array()?;
    let inputs = blocks.iter().filter_map(|block| block.get("input").cloned()).collect();
    Some((u64::try_from(time).ok()?, inputs))
}

/// Returns true if a string of the input ends in, or holds, the note's path.
fn names(input: &Value, path: &str) -> bool {
    match input {
        Value::String(text) => text.contains(path),
        Value::Object(map) => map.values().any(|value| names(value, path)),
        Value::Array(list) => list.iter().any(|value| names(value, path)),
        _ => false,
    }
}

struct Stats {
    days: u64,
    calls: Calls,
    notes: BTreeMap<String, Note>,
    savings: Savings,
}

impl Stats {
    /// Notes by how often they were injected, then by name.
    fn ranked(&self) -> Vec<(&String, &Note)> {
        let mut ranked: Vec<_> = self.notes.iter().collect();
        ranked.sort_by(|a, b| b.1.n_injected.cmp(&a.1.n_injected).then(a.0.cmp(b.0)));
        ranked
    }

    fn opened(&self) -> (usize, usize) {
        let sum = |count: fn(&Note) -> usize| self.notes.values().map(count).sum();
        (sum(|note| note.n_opened), sum(|note| note.n_sessions))
    }

    fn text(&self) -> String {
        let calls = &self.calls;
        if calls.n_calls() == 0 && self.savings.all.n == 0 {
            return format!(
                "no hook has run in the last {} days; `postil doctor` says whether they are registered\n",
                self.days
            );
        }
        let mut out = format!(
            "last {} days: {} prompts, {:.1} of 100 got passages\n",
            self.days,
            calls.n_prompts,
            calls.per_100_prompts()
        );
        out.push_str(&format!(
            "injected     {} passages, {} tokens\n",
            calls.n_passages, calls.n_tokens
        ));
        let (n_opened, n_sessions) = self.opened();
        out.push_str(&format!(
            "opened       {n_opened} of {n_sessions} injected notes were opened afterwards\n"
        ));
        out.push_str(&format!(
            "time         median {} ms, 95th percentile {} ms, {} calls, {} failed\n",
            calls.percentile(50),
            calls.percentile(95),
            calls.n_calls(),
            calls.n_failed
        ));
        out.push_str(&crate::savings::text(&self.savings));
        out.push_str("\nevents\n");
        for (event, (n, n_answered)) in &calls.events {
            out.push_str(&format!("  {event:<18} {n:>6} calls, {n_answered:>5} answered\n"));
        }
        out.push_str("\nsilence, by reason\n");
        for (reason, n) in &calls.silences {
            out.push_str(&format!("  {reason:<18} {n:>6}\n"));
        }
        out.push_str("\nnotes\n");
        for (path, note) in self.ranked().into_iter().take(MAX_NOTES) {
            out.push_str(&format!(
                "  {:>4} x {:>6} tokens, opened in {} of {} sessions  {path}\n",
                note.n_injected, note.n_tokens, note.n_opened, note.n_sessions
            ));
        }
        out
    }

    fn json(&self) -> Value {
        let calls = &self.calls;
        let (n_opened, n_sessions) = self.opened();
        let events: serde_json::Map<String, Value> = calls
            .events
            .iter()
            .map(|(event, (n, answered))| {
                (event.clone(), json!({"calls": n, "answered": answered}))
            })
            .collect();
        let notes: Vec<Value> = self
            .ranked()
            .into_iter()
            .map(|(path, note)| {
                json!({"path": path, "injected": note.n_injected, "tokens": note.n_tokens,
                    "sessions": note.n_sessions, "opened": note.n_opened})
            })
            .collect();
        json!({
            "days": self.days,
            "prompts": calls.n_prompts,
            "injections_per_100_prompts": calls.per_100_prompts(),
            "passages": calls.n_passages,
            "tokens": calls.n_tokens,
            "opened": n_opened,
            "injected_notes": n_sessions,
            "ms": {"p50": calls.percentile(50), "p95": calls.percentile(95)},
            "calls": calls.n_calls(),
            "failed": calls.n_failed,
            "compressed": crate::savings::json(&self.savings),
            "events": events,
            "silences": calls.silences,
            "notes": notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &str, outcome: &str, tokens: u64) -> Line {
        Line {
            time: 1,
            hook: "context-inject".to_owned(),
            event: event.to_owned(),
            outcome: outcome.to_owned(),
            ms: tokens,
            counts: vec![("passages".to_owned(), 2), ("tokens".to_owned(), tokens)],
        }
    }

    #[test]
    fn machine_prompts_are_no_prompts() {
        let calls = Calls::of(&[
            line("UserPromptSubmit", "replied", 30),
            line("UserPromptSubmit", "short-prompt", 1),
            line("UserPromptSubmit", "machine-prompt", 1),
            line("UserPromptSubmit", "deadline", 99),
            line("PreToolUse", "replied", 10),
        ]);
        assert_eq!((calls.n_prompts, calls.n_prompts_answered), (3, 1));
        assert_eq!((calls.n_passages, calls.n_tokens, calls.n_failed), (4, 40, 1));
        assert_eq!(calls.events["UserPromptSubmit"], (4, 1));
        assert_eq!((calls.percentile(50), calls.percentile(100)), (10, 99));
    }

    #[test]
    fn a_note_counts_as_opened_only_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let transcript = dir.path().join("t.jsonl");
        let call = |time: &str, path: &str| {
            json!({"timestamp": time, "message": {"content": [
                {"type": "tool_use", "name": "Read", "input": {"file_path": path}}]}})
            .to_string()
        };
        let lines = [
            call("2026-01-01T00:00:05Z", "/v/a.md"),
            call("2026-01-01T00:00:15Z", "/v/b.md"),
            "\"tool_use\" rubbish".to_owned(),
        ];
        std::fs::write(&transcript, lines.join("\n")).unwrap();
        let history = History { transcript: Some(transcript), entries: Vec::new() };
        let base = 1_767_225_600;
        let firsts = BTreeMap::from([("a.md", base + 10), ("b.md", base + 10), ("c.md", base)]);
        assert_eq!(opened(&history, &firsts), ["b.md"]);
    }
}
