//! What a registration puts into the settings, and that it comes out again.

use postil_core::config::Overrides;

use super::*;

fn config(dir: &Path) -> Config {
    let file = dir.join("config.toml");
    fs::write(&file, "").unwrap();
    let overrides = Overrides { config: Some(file), ..Overrides::default() };
    let mut config = Config::load(&overrides).unwrap();
    config.host = Host {
        claude: dir.join(".claude"),
        codex: dir.join(".codex"),
        cursor: dir.join(".cursor"),
        ..Host::default()
    };
    config
}

const BIN: &str = "/home/ana/.local/lib/postil";

fn apply(plan: &Plan) {
    if !plan.is_empty() {
        plan.apply().unwrap();
    }
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn registering_twice_is_registering_once() {
    for agent in Agent::ALL {
        let dir = tempfile::tempdir().unwrap();
        let config = config(dir.path());
        let host = config.host.clone();
        apply(&register(agent, &config, Path::new(BIN)).unwrap());
        let once = fs::read_to_string(agent.settings(&host)).unwrap();
        assert!(register(agent, &config, Path::new(BIN)).unwrap().is_empty(), "{agent:?}");
        apply(&register(agent, &config, Path::new("/opt/postil/bin")).unwrap());
        let moved = fs::read_to_string(agent.settings(&host)).unwrap();
        assert_eq!(moved.matches("context-inject").count(), once.matches("context-inject").count());
        assert!(!moved.contains(BIN), "{moved}");
        assert!(registered(&agent.settings(&host)).unwrap().len() >= 2);
        assert!(!moved.contains("${"), "{moved}");
    }
}

#[test]
fn what_is_switched_off_is_not_registered() {
    let folder = Path::new(BIN);
    let few = own(Agent::ClaudeCode, folder, &[]).unwrap().to_string();
    let all =
        own(Agent::ClaudeCode, folder, &["compress.wrap", "capture.insights"]).unwrap().to_string();
    assert!(all.len() > few.len());
    assert!(!few.contains("when") && !all.contains("when"));
    assert_eq!(all.matches("compress-output").count(), few.matches("compress-output").count() + 1);
}

#[test]
fn unregistering_restores_the_file_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let host = config.host.clone();
    let file = host.claude.join("settings.json");
    fs::create_dir_all(&host.claude).unwrap();
    let own = "{\n\t\"model\": \"opus\", \"zeta\": 1,\n\t\"alpha\": [ 1,2 ],\n\t\"hooks\": {\"Stop\": \
               [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}],\n\t\"PreToolUse\": \
               [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}]}}\n";
    fs::write(&file, own).unwrap();
    apply(&register(Agent::ClaudeCode, &config, Path::new(BIN)).unwrap());
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("say done") && text.contains("\"lint\"") && text.contains("context-inject")
    );
    assert!(text.find("zeta").unwrap() < text.find("alpha").unwrap(), "order kept: {text}");
    assert!(text.contains("\n\t\"model\""), "indentation kept: {text}");
    assert_eq!(files(&host.claude), ["settings.json", "settings.json.before-postil"]);
    apply(&unregister(Agent::ClaudeCode, &host).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), own);
    assert_eq!(files(&host.claude), ["settings.json"]);
}

#[test]
fn later_changes_of_the_user_survive_unregistering() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let host = config.host.clone();
    let file = host.claude.join("settings.json");
    fs::create_dir_all(&host.claude).unwrap();
    fs::write(&file, "{\"model\": \"opus\"}").unwrap();
    apply(&register(Agent::ClaudeCode, &config, Path::new(BIN)).unwrap());
    let text = fs::read_to_string(&file).unwrap().replace("\"opus\"", "\"sonnet\"");
    fs::write(&file, text).unwrap();
    apply(&unregister(Agent::ClaudeCode, &host).unwrap());
    let left: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left, json!({"model": "sonnet"}));
}

#[test]
fn a_file_that_was_not_there_is_gone_afterwards() {
    for agent in Agent::ALL {
        let dir = tempfile::tempdir().unwrap();
        let config = config(dir.path());
        let host = config.host.clone();
        apply(&register(agent, &config, Path::new(BIN)).unwrap());
        apply(&unregister(agent, &host).unwrap());
        assert!(!agent.settings(&host).exists(), "{agent:?}");
        assert!(unregister(agent, &host).unwrap().is_empty());
    }
}

#[test]
fn what_cannot_be_read_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let host = config.host.clone();
    let file = host.claude.join("settings.json");
    fs::create_dir_all(&host.claude).unwrap();
    for bad in [
        "{ // comment\n}",
        "[1]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": 5, \"PreToolUse\": 1}}",
    ] {
        fs::write(&file, bad).unwrap();
        assert!(register(Agent::ClaudeCode, &config, Path::new(BIN)).is_err(), "{bad}");
        assert_eq!(fs::read_to_string(&file).unwrap(), bad);
    }
}

#[test]
fn hooks_of_others_with_similar_names_stay() {
    let mut settings = json!({"hooks": {"PreToolUse": [
        {"hooks": [{"type": "command", "command": "/usr/bin/capture"}]},
        {"hooks": [{"type": "command", "command": "postil-like --x"}]}, {"hooks": []}]}});
    let before = settings.clone();
    assert!(!remove_own(&mut settings));
    assert_eq!(settings, before);
}

#[test]
fn a_folder_with_blanks_is_quoted_for_shells_only() {
    let folder = Path::new("/home/ana maría/it's/postil");
    let claude = own(Agent::ClaudeCode, folder, &[]).unwrap();
    let command = &claude["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    assert_eq!(command, "/home/ana maría/it's/postil/context-inject");
    let codex = own(Agent::Codex, folder, &[]).unwrap();
    let handler = &codex["hooks"]["SessionStart"][0]["hooks"][0];
    assert_eq!(handler["command"], "'/home/ana maría/it'\\''s/postil/context-inject'");
    assert_eq!(own_command(handler).unwrap(), folder.join("context-inject"));
}

#[cfg(unix)]
#[test]
fn a_linked_file_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let host = config.host.clone();
    fs::create_dir_all(&host.claude).unwrap();
    let real = dir.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    std::os::unix::fs::symlink(&real, host.claude.join("settings.json")).unwrap();
    apply(&register(Agent::ClaudeCode, &config, Path::new(BIN)).unwrap());
    assert!(host.claude.join("settings.json").is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("context-inject"));
}
