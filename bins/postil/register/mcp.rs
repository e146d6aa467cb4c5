//! Registers `vault-mcp` where an agent's MCP servers stand in a file of the
//! user's: Codex's config.toml, Cursor's mcp.json. Claude Code keeps its own in a
//! file that it writes all the time; there its own command does it.

use std::path::{Path, PathBuf};

use postil_core::config::Host;
use postil_core::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use super::Agent;
use super::plan::{Plan, backup_path, parse, read, to_text};

/// The name it is registered under.
const NAME: &str = "postil";

/// What begins its part of Codex's configuration.
const HEADER: &str = "[mcp_servers.postil]";

/// Returns the command that registers it where no file is to be changed.
pub(crate) fn own_way(agent: Agent, folder: &Path) -> Option<String> {
    let server = folder.join("vault-mcp");
    let quoted = format!("'{}'", server.to_string_lossy().replace('\'', "'\\''"));
    (agent == Agent::ClaudeCode).then(|| format!("claude mcp add --scope user {NAME} -- {quoted}"))
}

/// Plans to put the server in; `None` where there is no file to change.
pub(crate) fn register(agent: Agent, host: &Host, folder: &Path) -> Result<Option<Plan>> {
    let server = folder.join("vault-mcp").to_string_lossy().into_owned();
    match agent {
        Agent::ClaudeCode => Ok(None),
        Agent::Cursor => json_plan(host, Some(&server)).map(Some),
        Agent::Codex => toml_plan(host, Some(&server)).map(Some),
    }
}

/// Plans to take the server out; `None` where there is no file to change.
pub(crate) fn unregister(agent: Agent, host: &Host) -> Result<Option<Plan>> {
    let Some(file) = file(agent, host) else { return Ok(None) };
    // A file that does not name it need not even be understood.
    if !read(&file)?.1.is_some_and(|text| text.contains("vault-mcp")) {
        return Ok(None);
    }
    match agent {
        Agent::ClaudeCode => Ok(None),
        Agent::Cursor => json_plan(host, None).map(Some),
        Agent::Codex => toml_plan(host, None).map(Some),
    }
}

fn file(agent: Agent, host: &Host) -> Option<PathBuf> {
    match agent {
        Agent::ClaudeCode => None,
        Agent::Cursor => Some(agent.folder(host).join("mcp.json")),
        Agent::Codex => Some(agent.folder(host).join("config.toml")),
    }
}

/// `mcpServers` of Cursor's file with this server, or without one.
fn json_plan(host: &Host, server: Option<&str>) -> Result<Plan> {
    let (file, before) = read(&Agent::Cursor.folder(host).join("mcp.json"))?;
    let mut settings = parse(&file, before.as_deref())?;
    let servers = settings
        .as_object_mut()
        .map(|settings| settings.entry("mcpServers").or_insert_with(|| json!({})));
    let Some(servers) = servers.and_then(Value::as_object_mut) else {
        return Err(unusable(&file));
    };
    let had = servers.get(NAME).cloned();
    match server {
        Some(server) if had.as_ref().is_some_and(|had| had["command"] == server) => {}
        Some(server) => {
            servers.insert(NAME.to_owned(), json!({"command": server, "args": []}));
        }
        None => {
            servers.shift_remove(NAME);
        }
    }
    if servers.is_empty() {
        settings.as_object_mut().map(|settings| settings.shift_remove("mcpServers"));
    }
    let is_own =
        |kept: &str| serde_json::from_str::<Value>(kept).is_ok_and(|kept| kept == settings);
    let is_empty = settings.as_object().is_some_and(Map::is_empty);
    let text = to_text(&settings, before.as_deref());
    Ok(plan(&file, before, server.is_some(), had.is_some(), text, is_own, is_empty))
}

/// The same for Codex's configuration: a table of its own at the end.
fn toml_plan(host: &Host, server: Option<&str>) -> Result<Plan> {
    let (file, before) = read(&Agent::Codex.folder(host).join("config.toml"))?;
    let text = before.clone().unwrap_or_default();
    let mut wanted = values(&file, &text)?;
    let had = wanted["mcp_servers"].get(NAME).cloned();
    let is_there = server
        .is_some_and(|server| had.as_ref().is_some_and(|had| had["command"] == json!(server)));
    let mut after = if is_there { text } else { without_table(&text) };
    if !is_there {
        if let Some(servers) = wanted["mcp_servers"].as_object_mut() {
            servers.shift_remove(NAME);
        }
        if let Some(server) = server {
            if !after.is_empty() {
                after = format!("{}\n\n", after.trim_end());
            }
            let quoted = json!(server).to_string();
            after.push_str(&format!("{HEADER}\ncommand = {quoted}\nargs = []\n"));
            wanted["mcp_servers"][NAME] = json!({"command": server, "args": []});
        }
    }
    // An inline table, or a header within a text: never guessed at.
    if tidied(values(&file, &after).unwrap_or_default()) != tidied(wanted.clone()) {
        return Err(unusable(&file));
    }
    let is_own =
        |kept: &str| values(&file, kept).is_ok_and(|kept| tidied(kept) == tidied(wanted.clone()));
    let is_empty = after.trim().is_empty();
    Ok(plan(&file, before, server.is_some(), had.is_some(), after, is_own, is_empty))
}

/// Decides between writing `text`, restoring the file as it was and removing it.
fn plan(
    file: &Path,
    before: Option<String>,
    is_registering: bool,
    had: bool,
    text: String,
    is_own: impl Fn(&str) -> bool,
    is_empty: bool,
) -> Plan {
    let backup = backup_path(file);
    let kept = std::fs::read_to_string(&backup).ok();
    let is_restore = !is_registering && had && kept.as_deref().is_some_and(is_own);
    let after = match is_registering {
        true => Some(text),
        false if !had => before.clone(),
        false if is_restore => kept,
        false if is_empty => None,
        false => Some(text),
    };
    Plan { file: file.to_owned(), before, after, backup, is_restore }
}

/// Leaves postil's table out, and the subtables it may have been given.
fn without_table(text: &str) -> String {
    let mut out = String::new();
    let mut is_own = false;
    for line in text.split_inclusive('\n') {
        let head = line.trim();
        if head.starts_with('[') {
            is_own = head == HEADER || head.starts_with("[mcp_servers.postil.");
        }
        if !is_own {
            out.push_str(line);
        }
    }
    out
}

/// An empty `mcp_servers` is as good as none.
fn tidied(mut value: Value) -> Value {
    if let Some(map) = value.as_object_mut()
        && map.get("mcp_servers").is_some_and(|servers| {
            servers.is_null() || servers.as_object().is_some_and(Map::is_empty)
        })
    {
        map.shift_remove("mcp_servers");
    }
    value
}

/// Reads TOML as JSON, to compare what two texts say.
fn values(file: &Path, text: &str) -> Result<Value> {
    let table = DeTable::parse(text).map_err(|error| {
        let doing = format!("read {}: not valid TOML, so nothing was changed", file.display());
        Error::with(ErrorKind::Config, doing, error.message().to_owned())
    })?;
    Ok(table_value(table.get_ref()))
}

fn table_value(table: &DeTable<'_>) -> Value {
    let entries = table.iter();
    Value::Object(
        entries
            .map(|(key, value)| (key.get_ref().to_string(), value_of(value.get_ref())))
            .collect(),
    )
}

fn value_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Boolean(is) => (*is).into(),
        DeValue::Array(list) => list.iter().map(|value| value_of(value.get_ref())).collect(),
        DeValue::Table(table) => table_value(table),
        // Numbers and dates, as they are written.
        other => format!("{other:?}").into(),
    }
}

fn unusable(file: &Path) -> Error {
    let doing = format!(
        "read {}: its MCP servers are not written as expected, so nothing was changed",
        file.display()
    );
    Error::new(ErrorKind::Config, doing)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn host(dir: &Path) -> Host {
        Host { codex: dir.join(".codex"), cursor: dir.join(".cursor"), ..Host::default() }
    }

    const BIN: &str = "/home/ana's/.local/lib/postil";

    fn apply(plan: Option<Plan>) {
        let plan = plan.unwrap();
        if !plan.is_empty() {
            plan.apply().unwrap();
        }
    }

    #[test]
    fn files_come_back_byte_for_byte() {
        let codex = "model = \"gpt\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"";
        let cursor = "{\n    \"mcpServers\": {\"other\": {\"url\": \"http://x\"}}\n}\n";
        for (agent, name, own) in [
            (Agent::Codex, ".codex/config.toml", codex),
            (Agent::Cursor, ".cursor/mcp.json", cursor),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let host = host(dir.path());
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, own).unwrap();
            apply(register(agent, &host, Path::new(BIN)).unwrap());
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                text.contains("other") && text.contains("ana's/.local/lib/postil/vault-mcp"),
                "{text}"
            );
            assert!(register(agent, &host, Path::new(BIN)).unwrap().unwrap().is_empty());
            apply(register(agent, &host, Path::new("/opt/postil")).unwrap());
            let moved = fs::read_to_string(&file).unwrap();
            assert_eq!(moved.matches("vault-mcp").count(), 1, "{moved}");
            apply(unregister(agent, &host).unwrap());
            assert_eq!(fs::read_to_string(&file).unwrap(), own);
            assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_that_was_not_there_is_gone_afterwards() {
        for agent in [Agent::Codex, Agent::Cursor] {
            let dir = tempfile::tempdir().unwrap();
            let host = host(dir.path());
            apply(register(agent, &host, Path::new(BIN)).unwrap());
            assert_eq!(fs::read_dir(agent.folder(&host)).unwrap().count(), 1);
            apply(unregister(agent, &host).unwrap());
            assert!(!agent.folder(&host).exists());
            assert!(unregister(agent, &host).unwrap().is_none());
        }
    }

    #[test]
    fn later_changes_of_the_user_survive() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        let file = dir.path().join(".codex/config.toml");
        fs::create_dir_all(&host.codex).unwrap();
        fs::write(&file, "a = 1\n").unwrap();
        apply(register(Agent::Codex, &host, Path::new(BIN)).unwrap());
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}startup_timeout_sec = 5\n\n[tui]\nb = 2026-01-01\n"))
            .unwrap();
        assert!(register(Agent::Codex, &host, Path::new(BIN)).unwrap().unwrap().is_empty());
        apply(unregister(Agent::Codex, &host).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "a = 1\n\n[tui]\nb = 2026-01-01\n");
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        for (agent, name, bad) in [
            (Agent::Codex, ".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n"),
            (Agent::Codex, ".codex/config.toml", "a = \n"),
            (Agent::Codex, ".codex/config.toml", "a = \"\"\"\n[mcp_servers.postil]\n\"\"\"\n"),
            (Agent::Cursor, ".cursor/mcp.json", "{ // mine\n}"),
            (Agent::Cursor, ".cursor/mcp.json", "[]"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let host = host(dir.path());
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, bad).unwrap();
            assert!(register(agent, &host, Path::new(BIN)).is_err(), "{bad}");
            assert_eq!(fs::read_to_string(&file).unwrap(), bad);
        }
    }

    #[test]
    fn claude_code_has_a_command_of_its_own() {
        let way = own_way(Agent::ClaudeCode, Path::new(BIN)).unwrap();
        assert!(way.ends_with(" -- '/home/ana'\\''s/.local/lib/postil/vault-mcp'"), "{way}");
        assert!(own_way(Agent::Codex, Path::new(BIN)).is_none());
    }
}
