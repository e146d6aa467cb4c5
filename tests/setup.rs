//! `postil init` and `postil doctor`: from nothing to hooks that answer, and
//! back.

use std::fs;

use serde_json::Value;

use crate::harness::World;
use crate::hooks::installed_model;

fn settings(world: &World) -> std::path::PathBuf {
    world.home().join(".claude/settings.json")
}

#[test]
fn init_finds_the_vault_and_says_so() {
    let world = World::new();
    let config = world.home().join(".config/postil/config.toml");
    fs::remove_file(&config).unwrap();
    let check = world.run("postil", &["init", "--check"], "").code(2);
    assert!(check.errors().contains("postil init"), "{check}");
    let none = world.run("postil", &["init"], "").code(2);
    assert!(none.errors().contains("--vault"), "{none}");
    fs::create_dir_all(world.vault().join(".obsidian")).unwrap();
    let run = world.run("postil", &["init"], "").code(0);
    assert!(run.text().contains(world.vault().to_str().unwrap()), "{run}");
    assert!(fs::read_to_string(&config).unwrap().contains("vault = "));
    world.run("postil", &["init", "--check"], "").code(0);
    fs::create_dir_all(world.home().join("second/.obsidian")).unwrap();
    fs::remove_file(&config).unwrap();
    let several = world.run("postil", &["init"], "").code(2);
    assert!(several.errors().contains("second") && several.errors().contains("vault"), "{several}");
    assert!(!config.exists());
}

#[test]
fn init_keeps_the_rest_of_the_configuration() {
    let world = World::new();
    let other = world.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let config = world.home().join(".config/postil/config.toml");
    fs::write(&config, "# mine\nvault = \"/old\" # here\n[inject]\nprompts = false\n").unwrap();
    world.run("postil", &["init", "--vault", other.to_str().unwrap()], "").code(0);
    let expected = format!("# mine\nvault = {other:?} # here\n[inject]\nprompts = false\n");
    assert_eq!(fs::read_to_string(&config).unwrap(), expected);
    let missing = world.run("postil", &["init", "--vault", "/no/such/folder"], "").code(2);
    assert!(missing.errors().contains("/no/such/folder"), "{missing}");
    assert_eq!(fs::read_to_string(&config).unwrap(), expected);
}

#[test]
fn registering_previews_merges_and_comes_out_again() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    let own = "{\n    \"model\": \"opus\",\n    \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \
               \"command\": \"say done\"}]}]}\n}\n";
    fs::write(settings(&world), own).unwrap();
    let preview = world.run("postil", &["init", "--register", "--preview"], "").code(0);
    assert!(preview.text().contains("+") && preview.text().contains("context-inject"), "{preview}");
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), own);

    let first = world.run("postil", &["init", "--register"], "").code(0);
    assert!(first.text().contains("settings.json.before-postil"), "{first}");
    let merged: Value = serde_json::from_slice(&fs::read(settings(&world)).unwrap()).unwrap();
    assert_eq!(merged["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    let handler = &merged["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    assert!(handler["command"].as_str().unwrap().ends_with("/context-inject"));
    assert!(handler["args"].is_array() && handler["timeout"].is_number(), "{handler}");
    let again = world.run("postil", &["init", "--register"], "").code(0);
    assert!(again.text().contains("nothing to change"), "{again}");

    world.run("postil", &["init", "--unregister"], "").code(0);
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), own);
    assert!(!world.home().join(".claude/settings.json.before-postil").exists());
}

#[test]
fn settings_that_are_no_json_are_left_alone() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    fs::write(settings(&world), "{ // mine\n}").unwrap();
    let run = world.run("postil", &["init", "--register"], "").code(2);
    assert!(run.errors().contains("nothing was changed"), "{run}");
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "{ // mine\n}");
}

#[test]
fn doctor_names_what_is_wrong_and_what_mends_it() {
    let world = World::with_notes(&[]);
    let empty = world.run("postil", &["doctor"], "").code(1);
    assert!(
        empty.text().contains("FAIL  index") && empty.text().contains("postil index"),
        "{empty}"
    );
    fs::write(world.home().join(".config/postil/config.toml"), "vault = 5\n").unwrap();
    let wrong = world.run("postil", &["doctor"], "").code(1);
    assert!(wrong.text().contains("config.toml:1"), "{wrong}");
    world.run("postil", &["doctor", "--fix-it"], "").code(2);
}

#[test]
fn doctor_proves_that_an_agent_would_use_the_answer() {
    let mut world = World::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/vault");
    let config = world.home().join(".config/postil/config.toml");
    fs::write(&config, format!("vault = {folder:?}\nexclude = [\"x\"]\n")).unwrap();
    world.var("POSTIL_MODEL", installed_model().to_str().unwrap());
    world.var("POSTIL_LANGUAGES", concat!(env!("CARGO_MANIFEST_DIR"), "/../core/languages"));
    world.run("index", &[], "").code(0);
    world.run("postil", &["init", "--register"], "").code(0);
    let run = world.run("postil", &["doctor"], "").code(0);
    let text = run.text();
    for part in [
        "ok    vault",
        "ok    index",
        "ok    model",
        "ok    hooks",
        "ok    replay    UserPromptSubmit",
    ] {
        assert!(text.contains(part), "{part}: {run}");
    }
    assert!(text.contains("did you mean \"excluded\"?"), "{run}");
    let log = fs::read_to_string(world.home().join(".local/state/postil/postil.log"));
    assert!(log.is_err(), "the check left a trace: {log:?}");
}

#[test]
fn codex_and_cursor_get_hooks_and_the_server_and_give_them_back() {
    let world = World::new();
    let files = [
        (".codex/config.toml", "model = \"gpt\"\n"),
        (".codex/hooks.json", "{\"hooks\": {}}\n"),
        (".cursor/mcp.json", "{\"mcpServers\": {\"other\": {\"url\": \"http://127.0.0.1:1\"}}}\n"),
        (
            ".cursor/hooks.json",
            "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"say\"}]}}\n",
        ),
    ];
    for (file, text) in files {
        let file = world.home().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let read = |file: &str| fs::read_to_string(world.home().join(file)).unwrap();
    let both = ["init", "--agent", "codex", "--agent", "cursor"];
    let preview = world.run("postil", &[&both[..], &["--register", "--preview"]].concat(), "");
    let preview = preview.code(0);
    for part in ["+[mcp_servers.postil]", "mcp.json", "+++", "context-inject", "vault-mcp"] {
        assert!(preview.text().contains(part), "{part}: {preview}");
    }
    assert!(files.iter().all(|(file, text)| read(file) == *text));
    world.run("postil", &[&both[..], &["--register"]].concat(), "").code(0);
    for (file, _) in files {
        let word = if file.contains("hooks") { "context-inject" } else { "vault-mcp" };
        assert_eq!(read(file).matches(word).count(), if word == "vault-mcp" { 1 } else { n(file) });
        assert!(world.home().join(format!("{file}.before-postil")).exists(), "{file}");
    }
    assert!(
        read(".cursor/hooks.json").contains("say") && read(".cursor/mcp.json").contains("other")
    );
    let again = world.run("postil", &[&both[..], &["--register"]].concat(), "").code(0);
    assert_eq!(again.text().matches("nothing to change").count(), 4, "{again}");
    world.run("postil", &["init", "--unregister"], "").code(0);
    for (file, text) in files {
        assert_eq!(read(file), text, "{file}");
        assert!(!world.home().join(format!("{file}.before-postil")).exists(), "{file}");
    }
}

/// How many events `context-inject` is registered for.
fn n(file: &str) -> usize {
    if file.contains("codex") { 3 } else { 2 }
}

#[test]
fn hooks_that_would_run_twice_are_named() {
    let mut world = World::with_notes(&[("a.md", "# A\n\nA note about gardens and walls.\n")]);
    world.var("POSTIL_MODEL", installed_model().to_str().unwrap());
    world.run("index", &[], "").code(0);
    world.run("postil", &["init", "--register"], "").code(0);
    let doctor = |world: &World| world.run("postil", &["doctor"], "").text();
    assert!(!doctor(&world).contains("twice"), "{}", doctor(&world));
    // The project's settings, too.
    let project = world.home().join("project");
    fs::create_dir_all(project.join(".claude")).unwrap();
    fs::copy(settings(&world), project.join(".claude/settings.local.json")).unwrap();
    let mut command = world.command("postil");
    command.arg("doctor").current_dir(&project);
    let run = crate::harness::run(command, b"").code(1);
    assert!(run.text().contains("FAIL  hooks     twice: in .claude/settings.local.json"), "{run}");
    // Cursor runs Claude Code's hooks by itself.
    world.run("postil", &["init", "--register", "--agent", "cursor"], "").code(0);
    assert!(doctor(&world).contains("twice in Cursor"));
    world.run("postil", &["init", "--unregister", "--agent", "cursor"], "").code(0);
    // The plugin beside the settings.
    let mut own: Value = serde_json::from_slice(&fs::read(settings(&world)).unwrap()).unwrap();
    own["enabledPlugins"] = serde_json::json!({"postil@postil": true, "other@x": true});
    fs::write(settings(&world), own.to_string()).unwrap();
    assert!(doctor(&world).contains("in the plugin postil@postil; run `postil init --unregister"));
    // Registering again leaves them to the plugin.
    let run = world.run("postil", &["init", "--register"], "").code(0);
    assert!(run.text().contains("come with the plugin postil@postil"), "{run}");
    assert!(!fs::read_to_string(settings(&world)).unwrap().contains("context-inject"));
    let text = doctor(&world);
    assert!(text.contains("plugin postil@postil") && !text.contains("twice"), "{text}");
}

#[test]
fn the_transcript_is_the_proof_that_a_reply_was_used() {
    let mut world = World::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/vault");
    let config = world.home().join(".config/postil/config.toml");
    fs::write(&config, format!("vault = {folder:?}\n")).unwrap();
    world.var("POSTIL_MODEL", installed_model().to_str().unwrap());
    world.var("POSTIL_LANGUAGES", concat!(env!("CARGO_MANIFEST_DIR"), "/../core/languages"));
    world.run("index", &[], "").code(0);
    let transcript = world.home().join("session.jsonl");
    fs::write(&transcript, "{\"type\":\"user\"}\n").unwrap();
    let event = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/",
        "transcript_path": transcript, "prompt": "How do we roll back a failed deploy?",
    });
    let reply = world.run("context-inject", &[], event.to_string()).code(0).json();
    let dropped = world.run("postil", &["doctor"], "").code(1);
    assert!(dropped.text().contains("FAIL  applied   0 of"), "{dropped}");
    let context = &reply["hookSpecificOutput"]["additionalContext"];
    let line = serde_json::json!({
        "type": "attachment",
        "attachment": {"type": "hook_additional_context", "content": [context]},
    });
    fs::write(&transcript, format!("{{}}\n{line}\n")).unwrap();
    let run = world.run("postil", &["doctor"], "").code(0);
    assert!(run.text().contains("ok    applied   1 of 1 injected notes"), "{run}");
}
