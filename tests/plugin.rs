//! The Claude Code plugin: its hooks are those that `postil init` registers, and
//! its launcher finds the installed binaries. That the real client takes it is
//! checked by tests/client/plugin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{World, binary_path, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join(path)).unwrap()).unwrap()
}

#[test]
fn its_hooks_are_the_registered_ones() {
    let registered = fs::read_to_string(root().join("hooks/claude-code.json")).unwrap();
    let registered: Value = serde_json::from_str(&registered).unwrap();
    let plugin = json("hooks/claude-plugin/hooks/hooks.json");
    let events = registered["hooks"].as_object().unwrap();
    assert_eq!(events.len(), plugin["hooks"].as_object().unwrap().len());
    for (event, groups) in events {
        let (groups, ours) = (groups.as_array().unwrap(), &plugin["hooks"][event]);
        assert_eq!(groups.len(), ours.as_array().unwrap().len(), "{event}");
        for (group, ours) in groups.iter().zip(ours.as_array().unwrap()) {
            assert_eq!(group.get("matcher"), ours.get("matcher"), "{event}");
            let (hook, ours) = (&group["hooks"][0], &ours["hooks"][0]);
            assert_eq!(ours["command"], "${CLAUDE_PLUGIN_ROOT}/run", "{event}");
            assert_eq!(hook["timeout"], ours["timeout"], "{event}");
            let name = hook["command"].as_str().unwrap().rsplit('/').next().unwrap();
            let mut args = vec![Value::from(name)];
            args.extend(hook["args"].as_array().unwrap().iter().cloned());
            assert_eq!(&args, ours["args"].as_array().unwrap(), "{event}");
        }
    }
}

#[test]
fn the_marketplace_names_the_plugin() {
    let market = json(".claude-plugin/marketplace.json");
    let source = market["plugins"][0]["source"].as_str().unwrap();
    let plugin = json(&format!("{source}/.claude-plugin/plugin.json"));
    assert_eq!(market["plugins"][0]["name"], plugin["name"]);
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_launcher_starts_what_is_installed_and_else_is_silent() {
    let world = World::new();
    let launcher = root().join("hooks/claude-plugin/run");
    let launch = |args: &[&str]| {
        let mut command = Command::new(&launcher);
        command.env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin").args(args);
        run(command, b"{}")
    };
    launch(&["context-inject"]).silent();
    let missing = launch(&["vault-mcp"]).code(1);
    assert!(missing.errors().contains("install.sh"), "{missing}");
    let lib = world.home().join(".local/lib/postil");
    fs::create_dir_all(&lib).unwrap();
    std::os::unix::fs::symlink(binary_path("search"), lib.join("search")).unwrap();
    let version = launch(&["search", "--version"]).code(0);
    assert!(version.text().starts_with("search "), "{version}");
}
