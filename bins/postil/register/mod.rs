//! Puts postil's hooks into an agent's settings, and takes them out again.
//!
//! Which hooks stands in `hooks/*.json`; here is only how they get there:
//! merged with what the user has, previewed as a diff, with the file as it was
//! kept beside it, and written whole or not at all. Taking it out restores that
//! file where nothing else changed, and otherwise removes only postil's part.

mod mcp;
mod plan;

use std::fs;
use std::path::{Path, PathBuf};

use postil_core::config::{Config, Host};
use postil_core::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

pub(crate) use self::mcp::{
    own_way as mcp_by_hand, register as register_mcp, unregister as unregister_mcp,
};
pub(crate) use self::plan::Plan;
use self::plan::{backup_path, parse, read, to_text};

/// An agent whose settings can hold hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    ClaudeCode,
    Codex,
    Cursor,
}

impl Agent {
    pub(crate) const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Cursor];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The folder that exists where the agent is installed.
    pub(crate) fn folder(self, host: &Host) -> &Path {
        match self {
            Self::ClaudeCode => &host.claude,
            Self::Codex => &host.codex,
            Self::Cursor => &host.cursor,
        }
    }

    /// The file its hooks stand in.
    pub(crate) fn settings(self, host: &Host) -> PathBuf {
        let name = if self == Self::ClaudeCode { "settings.json" } else { "hooks.json" };
        self.folder(host).join(name)
    }

    fn template(self) -> &'static str {
        match self {
            Self::ClaudeCode => include_str!("../../../hooks/claude-code.json"),
            Self::Codex => include_str!("../../../hooks/codex.json"),
            Self::Cursor => include_str!("../../../hooks/cursor.json"),
        }
    }

    /// Claude Code starts a program with arguments directly; the others hand a
    /// line to a shell.
    fn command(self, template: &str, folder: &Path) -> String {
        let command = template.replace("${POSTIL_BIN}", &folder.to_string_lossy());
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:".contains(c);
        if self == Self::ClaudeCode || command.chars().all(is_plain) {
            return command;
        }
        format!("'{}'", command.replace('\'', "'\\''"))
    }
}

/// Plans to put the hooks in; `folder` holds the binaries.
///
/// What the configuration leaves switched off is not registered: a hook that
/// has nothing to do still costs its start.
pub(crate) fn register(agent: Agent, config: &Config, folder: &Path) -> Result<Plan> {
    let host = &config.host;
    let (file, before) = read(&agent.settings(host))?;
    let mut settings = parse_hooks(&file, before.as_deref())?;
    remove_own(&mut settings);
    add_own(&mut settings, &own(agent, folder, &switched_on(config))?, &file)?;
    let after = Some(to_text(&settings, before.as_deref()));
    Ok(Plan { backup: backup_path(&file), file, before, after, is_restore: false })
}

/// Plans to take the hooks out.
pub(crate) fn unregister(agent: Agent, host: &Host) -> Result<Plan> {
    let (file, before) = read(&agent.settings(host))?;
    let backup = backup_path(&file);
    let mut settings = parse_hooks(&file, before.as_deref())?;
    let had = remove_own(&mut settings);
    let kept = fs::read_to_string(&backup).ok();
    let is_restore = kept
        .as_deref()
        .and_then(|kept| serde_json::from_str::<Value>(kept).ok())
        .is_some_and(|kept| tidied(kept) == tidied(settings.clone()));
    let after = match (&before, had) {
        (None, _) => None,
        (Some(before), false) => Some(before.clone()),
        (Some(_), true) if is_restore => kept,
        // What postil made, and nobody else used, goes with it.
        (Some(_), true) if is_bare(&settings) && !backup.exists() => None,
        (Some(before), true) => Some(to_text(&settings, Some(before))),
    };
    Ok(Plan { file, before, after, backup, is_restore })
}

/// Returns the commands of postil's own that a file of settings names, each with
/// the event it is for.
pub(crate) fn registered(settings: &Path) -> Result<Vec<(String, PathBuf)>> {
    let (file, text) = read(settings)?;
    let settings = parse_hooks(&file, text.as_deref())?;
    let mut found = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for handler in groups.as_array().into_iter().flatten().flat_map(handlers) {
            if let Some(path) = own_command(handler) {
                found.push((event.clone(), path));
            }
        }
    }
    Ok(found)
}

/// Returns the name of the plugin if Claude Code has postil's switched on.
pub(crate) fn plugin(host: &Host) -> Option<String> {
    let (file, text) = read(&Agent::ClaudeCode.settings(host)).ok()?;
    let settings = parse(&file, text.as_deref()).ok()?;
    let plugins = settings.get("enabledPlugins")?.as_object()?;
    let is_ours = |name: &&String| name.split('@').next() == Some("postil");
    plugins.iter().find(|(name, on)| is_ours(name) && **on == true).map(|(name, _)| name.clone())
}

fn parse_hooks(file: &Path, text: Option<&str>) -> Result<Value> {
    let settings = parse(file, text)?;
    if settings.is_object() && settings.get("hooks").is_none_or(Value::is_object) {
        return Ok(settings);
    }
    Err(unusable(file))
}

fn unusable(file: &Path) -> Error {
    let doing =
        format!("read {}: its hooks are not an object, so nothing was changed", file.display());
    Error::new(ErrorKind::Config, doing)
}

/// Returns the settings an agent needs, with the commands' real place.
fn own(agent: Agent, folder: &Path, switched_on: &[&str]) -> Result<Value> {
    let mut own: Value = serde_json::from_str(agent.template())
        .map_err(|error| Error::with(ErrorKind::Config, "read the hook template", error))?;
    let groups = own["hooks"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for groups in groups.filter_map(Value::as_array_mut) {
        // `when` is the template's own; agents refuse keys they do not know.
        groups.retain_mut(|group| {
            let when = group.as_object_mut().and_then(|group| group.shift_remove("when"));
            when.is_none_or(|when| when.as_str().is_some_and(|when| switched_on.contains(&when)))
        });
        groups.iter_mut().for_each(|group| place(group, agent, folder));
    }
    Ok(own)
}

/// Writes the real commands into a group.
fn place(group: &mut Value, agent: Agent, folder: &Path) {
    {
        let handlers: Vec<&mut Value> = if group.get("hooks").is_some() {
            group["hooks"].as_array_mut().into_iter().flatten().collect()
        } else {
            vec![group]
        };
        for handler in handlers {
            let command = agent.command(handler["command"].as_str().unwrap_or(""), folder);
            handler["command"] = command.into();
        }
    }
}

/// Names the conditions of the templates that hold.
fn switched_on(config: &Config) -> Vec<&'static str> {
    let conditions = [
        ("compress.wrap", config.compress.wrap),
        ("capture.insights", config.capture.insights.enabled),
    ];
    conditions.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

fn add_own(settings: &mut Value, own: &Value, file: &Path) -> Result<()> {
    if let Some(version) = own.get("version")
        && settings.get("version").is_none()
    {
        settings["version"] = version.clone();
    }
    if settings.get("hooks").is_none() {
        settings["hooks"] = json!({});
    }
    for (event, groups) in own["hooks"].as_object().into_iter().flatten() {
        let slot = &mut settings["hooks"][event.as_str()];
        if slot.is_null() {
            *slot = json!([]);
        }
        let list = slot.as_array_mut().ok_or_else(|| unusable(file))?;
        list.extend(groups.as_array().into_iter().flatten().cloned());
    }
    Ok(())
}

/// Removes postil's handlers, and groups and events that are empty without
/// them; returns whether there were any.
fn remove_own(settings: &mut Value) -> bool {
    let Some(events) = settings.get_mut("hooks").and_then(Value::as_object_mut) else {
        return false;
    };
    let mut had = false;
    events.retain(|_, groups| {
        let Some(groups) = groups.as_array_mut() else { return true };
        let had_before = had;
        had = false;
        groups.retain_mut(|group| {
            if own_command(group).is_some() {
                had = true;
                return false;
            }
            let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
                return true;
            };
            let n = handlers.len();
            handlers.retain(|handler| own_command(handler).is_none());
            had |= handlers.len() < n;
            n == 0 || !handlers.is_empty()
        });
        let is_kept = !had || !groups.is_empty();
        had |= had_before;
        is_kept
    });
    if had && events.is_empty() {
        settings.as_object_mut().map(|settings| settings.shift_remove("hooks"));
    }
    had
}

fn handlers(group: &Value) -> impl Iterator<Item = &Value> {
    let nested = group.get("hooks").and_then(Value::as_array);
    let flat = nested.is_none().then_some(group);
    nested.into_iter().flatten().chain(flat)
}

/// Returns the program of a handler that is postil's: one of its hook binaries,
/// beside a `postil`, or in a folder of that name.
fn own_command(handler: &Value) -> Option<PathBuf> {
    let command = handler.get("command")?.as_str()?;
    let unquoted = command.trim_matches('\'').replace("'\\''", "'");
    let path = PathBuf::from(unquoted);
    let is_hook = ["context-inject", "compress-output", "capture"]
        .iter()
        .any(|name| path.file_name().is_some_and(|file| file == *name));
    let folder = path.parent()?;
    let is_ours = folder.components().any(|part| part.as_os_str() == "postil")
        || folder.join("postil").exists();
    (is_hook && is_ours).then_some(path)
}

/// An empty list of hooks is as good as none.
fn tidied(mut settings: Value) -> Value {
    if let Some(map) = settings.as_object_mut()
        && map.get("hooks").and_then(Value::as_object).is_some_and(Map::is_empty)
    {
        map.shift_remove("hooks");
    }
    settings
}

/// Nothing but what a registration creates.
fn is_bare(settings: &Value) -> bool {
    settings.as_object().is_some_and(|map| map.keys().all(|key| key == "version"))
}

#[cfg(test)]
mod tests;
