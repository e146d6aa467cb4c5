//! What is kept of the agent's work unasked: long results of tools that look
//! things up, as signals for triage. Off unless the user asks for it.
//!
//! Never kept: what holds a secret, what comes from postil or from the vault
//! itself, what was kept in the last week, and more than a few an hour.

use std::fs;
use std::io::Write;
use std::path::Path;

use regex_lite::Regex;
use serde_json::{Value, json};

use super::Draft;
use crate::config::Insights;
use crate::error::{Error, Result};
use crate::redact::Filter;
use crate::text;

/// How long a kept result is remembered, in seconds.
const REMEMBERED: u64 = 7 * 86_400;

/// A finished tool call, or the agent's last message as the tool `Stop`.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What it was given.
    pub input: &'a Value,
    /// What it answered.
    pub response: &'a Value,
}

/// Why a result is not kept: the word for the log.
pub type Reason = &'static str;

/// Decides whether `work` is worth keeping, and returns it as a draft.
pub fn insight(
    work: &Work<'_>,
    config: &Insights,
    vault: &Path,
    filter: &Filter,
) -> std::result::Result<Draft, Reason> {
    if !config.tools.iter().any(|tool| is_tool(tool, work.tool)) {
        return Err("not-a-tool");
    }
    if is_own(work, vault) {
        return Err("own-output");
    }
    let result = result_text(work.response);
    let result = result.trim();
    let n_chars = result.chars().count();
    if n_chars < config.min_chars {
        return Err("short");
    }
    let holds = |patterns: &[String]| {
        patterns.iter().any(|pattern| Regex::new(pattern).is_ok_and(|regex| regex.is_match(result)))
    };
    if holds(&config.never) || (!config.patterns.is_empty() && !holds(&config.patterns)) {
        return Err("pattern");
    }
    if !filter.scrub(result).found.is_empty()
        || !filter.scrub(&work.input.to_string()).found.is_empty()
    {
        return Err("secret");
    }
    let field = |name: &str| work.input[name].as_str().map(str::to_owned);
    let source = work.response["url"].as_str().map(str::to_owned).or_else(|| field("url"));
    let title = ["description", "query", "prompt", "pattern"].iter().find_map(|name| field(name));
    let tag = work.tool.rsplit("__").next().unwrap_or(work.tool).to_lowercase();
    Ok(Draft {
        text: shortened(result, config.max_chars),
        title: title.map(|title| super::name::title_of(&title)).filter(|title| !title.is_empty()),
        kind: Some("signal".to_owned()),
        tags: vec!["insight".to_owned(), tag],
        source: source.or_else(|| Some(work.tool.to_owned())),
        ..Draft::default()
    })
}

/// A name in the configuration: exact, or a beginning with a final `*`.
fn is_tool(configured: &str, tool: &str) -> bool {
    match configured.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => tool == configured,
    }
}

/// True for what postil printed and for what stands in the vault: keeping it
/// would feed on itself.
fn is_own(work: &Work<'_>, vault: &Path) -> bool {
    const MARKS: [&str; 3] =
        ["From the user's own notes (postil)", "[postil:", "already captured: "];
    let input = work.input.to_string();
    let vault = vault.to_string_lossy();
    let names_vault = vault.len() > 1 && input.contains(vault.as_ref());
    let names_us = ["postil", "vault-mcp", "context-inject", "compress-output"];
    let response = result_text(work.response);
    names_vault
        || names_us.iter().any(|name| work.tool.contains(name) || input.contains(name))
        || MARKS.iter().any(|mark| response.contains(mark))
}

/// The text of a tool's answer, whatever its shape.
fn result_text(response: &Value) -> String {
    let mut parts = Vec::new();
    collect(response, &mut parts, 0);
    parts.join("\n\n")
}

fn collect(value: &Value, parts: &mut Vec<String>, depth: usize) {
    if depth > 5 {
        return;
    }
    match value {
        Value::String(text) => parts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, parts, depth + 1)),
        Value::Object(fields) => {
            if let (Some(title), Some(url)) = (fields.get("title"), fields.get("url")) {
                let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                parts.push(format!("- [{}]({})", name(title), name(url)));
            }
            for key in ["result", "results", "content", "text", "stdout", "message"] {
                if let Some(value) = fields.get(key) {
                    collect(value, parts, depth + 1);
                }
            }
        }
        _ => {}
    }
}

/// Cuts a long text at a paragraph or a line.
fn shortened(result: &str, max_chars: usize) -> String {
    let Some((at, _)) = result.char_indices().nth(max_chars) else { return result.to_owned() };
    let head = text::prefix(result, at);
    let end = head.rfind("\n\n").or_else(|| head.rfind('\n')).filter(|end| end * 2 >= at);
    format!("{}\n\u{2026}", text::prefix(head, end.unwrap_or(at)).trim_end())
}

/// What was kept lately: JSON lines of time, session and hash.
#[derive(Debug)]
pub struct Memory {
    kept: Vec<(u64, String, u64)>,
    now: u64,
}

impl Memory {
    /// Reads the memory at `path`; an absent or damaged one is empty. `now` in
    /// seconds since 1970.
    pub fn read(path: &Path, now: u64) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = |line: &str| {
            let value: Value = serde_json::from_str(line).ok()?;
            let session = value["session"].as_str()?.to_owned();
            Some((value["at"].as_u64()?, session, value["hash"].as_u64()?))
        };
        let mut kept: Vec<_> = text.lines().filter_map(line).collect();
        kept.retain(|(at, _, _)| now.saturating_sub(*at) < REMEMBERED);
        Self { kept, now }
    }

    /// Says why a result must not be kept now; `None` when it may.
    pub fn objection(&self, hash: u64, session: &str, config: &Insights) -> Option<Reason> {
        let count = |is_it: &dyn Fn(&(u64, String, u64)) -> bool| {
            self.kept.iter().filter(|kept| is_it(kept)).count()
        };
        if self.kept.iter().any(|(_, _, known)| *known == hash) {
            Some("known")
        } else if count(&|(at, _, _)| self.now.saturating_sub(*at) < 3_600) >= config.per_hour
            || count(&|(_, kept, _)| kept == session) >= config.per_session
        {
            Some("rate")
        } else {
            None
        }
    }

    /// Remembers a result.
    ///
    /// # Errors
    /// I/O.
    pub fn add(mut self, path: &Path, hash: u64, session: &str) -> Result<()> {
        self.kept.push((self.now, session.to_owned(), hash));
        let lines: String = self
            .kept
            .iter()
            .map(|(at, session, hash)| {
                format!("{}\n", json!({ "at": at, "session": session, "hash": hash }))
            })
            .collect();
        let folder = path.parent().unwrap_or(Path::new("/"));
        let fail = |error| Error::io("write", path, error);
        fs::create_dir_all(folder).map_err(fail)?;
        let mut temp = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
        temp.write_all(lines.as_bytes()).map_err(fail)?;
        temp.persist(path).map_err(|error| fail(error.error))?;
        Ok(())
    }
}

/// The hash of a text in which blanks, case and digits do not count, so that a
/// page with another time on it is the same page.
pub fn hash(text: &str) -> u64 {
    let folded = text::fold(text);
    let letters: String = folded.chars().filter(|c| c.is_alphabetic()).collect();
    text::fnv1a(letters.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Insights {
        Insights {
            enabled: true,
            tools: vec!["WebFetch".into(), "mcp__docs__*".into(), "Stop".into()],
            min_chars: 20,
            max_chars: 60,
            patterns: Vec::new(),
            never: vec!["(?i)cookie banner".into()],
            per_hour: 2,
            per_session: 3,
        }
    }

    fn check(tool: &str, input: Value, response: Value) -> std::result::Result<Draft, Reason> {
        let work = Work { tool, input: &input, response: &response };
        insight(&work, &config(), Path::new("/home/me/vault"), &Filter::builtin())
    }

    #[test]
    fn a_long_result_is_kept_with_its_source() {
        let response = json!({ "result": "A finding that is long enough.\n\nSecond paragraph goes on and on and on.", "url": "https://x.org" });
        let draft =
            check("WebFetch", json!({ "url": "https://x.org", "prompt": "What is it?" }), response)
                .unwrap();
        assert_eq!(draft.source.as_deref(), Some("https://x.org"));
        assert_eq!(draft.text, "A finding that is long enough.\n\u{2026}");
        assert_eq!(draft.kind.as_deref(), Some("signal"));
        let blocks = json!([{ "type": "text", "text": "A block that is long enough." }]);
        assert!(check("mcp__docs__get", json!({}), blocks).is_ok());
    }

    #[test]
    fn what_must_not_be_kept_is_not() {
        let long = "A finding that is long enough to keep";
        let refused =
            |tool: &str, input: Value, response: Value| check(tool, input, response).unwrap_err();
        assert_eq!(refused("Bash", json!({}), json!({ "stdout": long })), "not-a-tool");
        assert_eq!(refused("WebFetch", json!({}), json!({ "result": "short" })), "short");
        let banner = json!({ "result": format!("{long} Cookie banner") });
        assert_eq!(refused("WebFetch", json!({}), banner), "pattern");
        let key = ["ghp_Zk3VtQ8sYw1Lx", "0Rb7NcJ5mHd2PfG9aUe4TiK"].concat();
        let secret = json!({ "result": format!("{long} {key}") });
        assert_eq!(refused("WebFetch", json!({}), secret), "secret");
        let own = json!({ "result": format!("From the user's own notes (postil) {long}") });
        assert_eq!(refused("WebFetch", json!({}), own), "own-output");
        let file = json!({ "url": "file:///home/me/vault/a.md" });
        assert_eq!(refused("WebFetch", file, json!({ "result": long })), "own-output");
    }

    #[test]
    fn the_memory_limits_the_rate_and_knows_doubles() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/insights.jsonl");
        let memory = |now| Memory::read(&path, now);
        assert_eq!(memory(1_000).objection(1, "s", &config()), None);
        memory(1_000).add(&path, 1, "s").unwrap();
        assert_eq!(memory(1_001).objection(1, "s", &config()), Some("known"));
        memory(1_001).add(&path, 2, "s").unwrap();
        assert_eq!(memory(1_002).objection(3, "t", &config()), Some("rate"));
        assert_eq!(memory(5_000).objection(3, "t", &config()), None);
        memory(5_000).add(&path, 3, "s").unwrap();
        assert_eq!(memory(9_000).objection(4, "s", &config()), Some("rate"));
        assert_eq!(memory(1_000 + 8 * 86_400).objection(1, "s", &config()), None);
        assert_eq!(hash("Page at 10:15"), hash("page  at 11:47"));
    }
}
