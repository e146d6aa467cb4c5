//! Which commands the user's own permission rules already allow.
//!
//! A rewritten command is checked by the agent in its rewritten form, so that
//! the hook has to grant what the user's rules grant for the original, and not
//! a hair more: deny and ask rules of every settings level are looked at
//! first and read as widely as they can be; allow rules as narrowly. Whatever
//! is not understood is not allowed.

use std::path::{Path, PathBuf};

use postil_lean::config::Config;
use postil_lean::hook::{Event, Raw, is_strict};

/// What may be done with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// The agent asks nobody: rewriting grants nothing.
    Bypassed,
    /// The user's own rules allow it: the rewritten form may be allowed.
    Allowed,
    /// Leave it alone.
    No,
}

/// The rules of all settings levels for Bash.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    allow: Vec<String>,
    /// Deny and ask.
    stop: Vec<String>,
    /// A settings file that could not be read: it may hold anything.
    is_unknown: bool,
}

/// Decides for a command of an event.
pub(crate) fn permit(event: &Event<'_>, command: &str, config: &Config) -> Permit {
    let mode = event.permission_mode.as_deref().unwrap_or("default");
    let rules = Rules::read(&settings_files(event, config));
    rules.decide(mode, command)
}

/// Managed, user, project and local settings; the project is looked for from
/// the working folder upwards.
fn settings_files(event: &Event<'_>, config: &Config) -> Vec<PathBuf> {
    let mut files = vec![
        PathBuf::from("/etc/claude-code/managed-settings.json"),
        PathBuf::from("/Library/Application Support/ClaudeCode/managed-settings.json"),
        config.host.claude.join("settings.json"),
        config.host.claude.join("settings.local.json"),
    ];
    let mut folders: Vec<&Path> = config.host.project.iter().map(PathBuf::as_path).collect();
    folders.extend(event.cwd.iter().flat_map(|cwd| cwd.ancestors()));
    for folder in folders {
        files.push(folder.join(".claude/settings.json"));
        files.push(folder.join(".claude/settings.local.json"));
    }
    files.dedup();
    files
}

impl Rules {
    fn read(files: &[PathBuf]) -> Self {
        let mut rules = Self::default();
        for file in files {
            match std::fs::read(file) {
                Ok(text) => rules.add(&text),
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                    ) => {}
                Err(_) => rules.is_unknown = true,
            }
        }
        rules
    }

    fn add(&mut self, settings: &[u8]) {
        let Some(settings) = Raw::document(settings).filter(|raw| is_strict(raw.as_bytes())) else {
            self.is_unknown = true;
            return;
        };
        let permissions = settings.get("permissions");
        let list = |name: &str| {
            let rules = permissions.and_then(|permissions| permissions.get(name));
            let texts = rules.into_iter().flat_map(Raw::items).filter_map(Raw::text);
            texts.filter_map(|rule| bash_rule(&rule).map(str::to_owned)).collect::<Vec<_>>()
        };
        self.allow.extend(list("allow"));
        self.stop.extend(list("deny"));
        self.stop.extend(list("ask"));
    }

    fn decide(&self, mode: &str, command: &str) -> Permit {
        if self.is_unknown || self.stop.iter().any(|rule| may_match(rule, command)) {
            return Permit::No;
        }
        match mode {
            "bypassPermissions" => Permit::Bypassed,
            // `plan` and `auto` judge commands by what they do.
            "default" | "acceptEdits" | "dontAsk" if self.covers(command) => Permit::Allowed,
            _ => Permit::No,
        }
    }

    /// Whether every simple command is allowed by a rule of its own.
    fn covers(&self, command: &str) -> bool {
        let Some(parts) = simple_commands(command) else { return false };
        !parts.is_empty()
            && parts.iter().all(|part| self.allow.iter().any(|rule| matches(rule, part)))
    }
}

/// The inside of `Bash(…)`; `*` for a bare `Bash`; `None` for other tools.
fn bash_rule(rule: &str) -> Option<&str> {
    let rule = rule.trim();
    match rule.strip_prefix("Bash") {
        Some("") => Some("*"),
        Some(rest) => {
            Some(rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or("*"))
        }
        // A rule for all tools.
        None => (rule == "*").then_some("*"),
    }
}

/// Reads an allow rule narrowly: exact, `prefix:*` and `prefix *` at a word's
/// end; a `*` elsewhere matches within the command.
fn matches(rule: &str, command: &str) -> bool {
    if rule == "*" {
        return true;
    }
    let prefix = rule.strip_suffix(":*").or_else(|| rule.strip_suffix(" *"));
    if let Some(prefix) = prefix.filter(|prefix| !prefix.contains('*')) {
        return command
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    }
    if rule.contains('*') { glob(rule.as_bytes(), command.as_bytes()) } else { rule == command }
}

/// `*` matches anything.
fn glob(rule: &[u8], text: &[u8]) -> bool {
    match rule.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => {
            (0..=text.len()).any(|at| glob(rest, text.get(at..).unwrap_or_default()))
        }
        Some((first, rest)) => {
            text.split_first().is_some_and(|(byte, text)| byte == first && glob(rest, text))
        }
    }
}

/// Reads a deny or ask rule widely: it matches when its fixed part stands
/// anywhere in the command at a word's start.
fn may_match(rule: &str, command: &str) -> bool {
    let fixed = rule.split('*').next().unwrap_or_default().trim_end_matches(':').trim();
    if fixed.is_empty() {
        return true;
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (command, fixed) = (squeezed(command), squeezed(fixed));
    let word_before = |at: usize| {
        command
            .as_bytes()
            .get(..at)
            .and_then(|head| head.last())
            .is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_' && *b != b'-')
    };
    command.match_indices(&fixed).any(|(at, _)| word_before(at))
}

/// Splits `a && b; c` into simple commands; `None` when there is anything that
/// a rule for a simple command does not speak of.
pub(crate) fn simple_commands(command: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        let part = parts.last_mut()?;
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '$' | '`' | '\\') => return None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '&' | '|') => {
                if chars.next() != Some(c) {
                    return None;
                }
                parts.push(String::new());
                continue;
            }
            (None, ';') => {
                parts.push(String::new());
                continue;
            }
            (None, '(' | ')' | '{' | '}' | '<' | '>' | '\n' | '\r' | '#' | '!') => return None,
            _ => {}
        }
        part.push(c);
    }
    if quote.is_some() {
        return None;
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: &[&str], stop: &[&str]) -> Rules {
        let mut rules = Rules::default();
        let settings = serde_json::json!({"permissions": {"allow": allow, "deny": stop}});
        rules.add(settings.to_string().as_bytes());
        rules
    }

    #[test]
    fn only_what_a_rule_covers_is_allowed() {
        let rules = rules(&["Bash(cargo test:*)", "Bash(make)", "Bash(npm run *)", "Read(*)"], &[]);
        let decide = |command| rules.decide("default", command);
        for command in [
            "cargo test",
            "cargo test -p x",
            "make",
            "npm run lint",
            "cargo test && make",
            "cargo test; make",
        ] {
            assert_eq!(decide(command), Permit::Allowed, "{command}");
        }
        for command in [
            "cargo tests",
            "cargo build",
            "make all",
            "cargo test && rm -rf /",
            "cargo test | sh",
            "cargo test $(rm x)",
            "cargo test > x",
            "cargo test `rm x`",
            "cargo test & rm x",
            "cargo test\nrm x",
            "cargo test \"$(rm x)\"",
            "(cargo test)",
            "A=1 make",
            "cargo test 'x",
            "",
            "cargo test <(rm x)",
            "cargo test \\; rm",
        ] {
            assert_eq!(decide(command), Permit::No, "{command}");
        }
        for mode in ["plan", "auto", "unknown"] {
            assert_eq!(rules.decide(mode, "make"), Permit::No);
        }
        assert_eq!(rules.decide("bypassPermissions", "anything | at all"), Permit::Bypassed);
    }

    #[test]
    fn deny_and_ask_rules_come_first_in_every_mode() {
        let rules = rules(&["Bash"], &["Bash(rm:*)", "Bash(git push *)", "Bash(curl *evil*)"]);
        for command in [
            "rm -rf x",
            "cd y && rm x",
            "git  push origin",
            "echo $(rm x)",
            "curl x",
            "/bin/rm x",
            "A=1 rm x",
        ] {
            assert_eq!(rules.decide("bypassPermissions", command), Permit::No, "{command}");
            assert_eq!(rules.decide("default", command), Permit::No, "{command}");
        }
        assert_eq!(rules.decide("default", "cargo run"), Permit::Allowed);
        assert_eq!(rules.decide("default", "git pull"), Permit::Allowed);
        assert_eq!(rules.decide("default", "confirm x"), Permit::Allowed);
    }

    #[test]
    fn a_settings_file_that_cannot_be_read_allows_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        std::fs::write(&file, "{\"permissions\": {\"allow\": [\"Bash\"]}} // comment").unwrap();
        assert_eq!(Rules::read(&[file]).decide("bypassPermissions", "make"), Permit::No);
        assert_eq!(
            Rules::read(&[dir.path().join("absent.json")]).decide("bypassPermissions", "make"),
            Permit::Bypassed
        );
    }

    #[test]
    fn a_denied_tool_denies_every_command() {
        assert_eq!(rules(&["Bash(make)"], &["Bash"]).decide("default", "make"), Permit::No);
        assert_eq!(rules(&[], &[]).decide("default", "make"), Permit::No);
    }
}
