//! `compress-output`: filter, hook, wrapper and `run`, as the agents see them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Run, World, run};

/// A test run with one failure, far over the limit.
pub(crate) fn failing_run() -> String {
    let passed: String = (0..600).map(|i| format!("test caso_{i} ... ok\n")).collect();
    format!(
        "{passed}test suma_iva ... FAILED\nsrc/iva.rs:12: left 1 right 2\ntest result: FAILED. 600 passed; 1 failed\n"
    )
}

pub(crate) fn filter(world: &World, command: &str, code: &str, input: impl AsRef<[u8]>) -> Run {
    world.run("compress-output", &["--command", command, "--exit-code", code], input).code(0)
}

/// The file that an extract names as the full text.
pub(crate) fn original(extract: &str) -> String {
    let (_, rest) = extract.rsplit_once("full text: ").unwrap();
    rest.split(' ').next().unwrap().to_owned()
}

pub(crate) fn event(tool: &str, input: &Value, response: &Value) -> String {
    json!({"session_id": "s", "hook_event_name": "PostToolUse", "permission_mode": "default",
        "tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": "toolu_1"})
    .to_string()
}

pub(crate) fn bash_event(command: &str, stdout: &str) -> String {
    let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
    event("Bash", &json!({"command": command}), &response)
}

#[test]
fn the_filter_keeps_facts_and_stores_the_original() {
    let world = World::new();
    let raw = failing_run();
    let text = filter(&world, "cargo test", "101", &raw).text();
    for fact in [
        "suma_iva ... FAILED",
        "src/iva.rs:12: left 1 right 2",
        "600 passed; 1 failed",
        "exit 101",
        "603 lines",
    ] {
        assert!(text.contains(fact), "{fact} in\n{text}");
    }
    assert!(text.len() * 5 < raw.len());
    let file = original(&text);
    assert_eq!(fs::read_to_string(&file).unwrap(), raw);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The same again, and again on its own output.
    assert_eq!(filter(&world, "cargo test", "101", &raw).text(), text);
    assert_eq!(filter(&world, "cargo test", "101", &text).text(), "");
}

#[test]
fn gaps_name_exactly_the_lines_that_are_missing() {
    let world = World::new();
    let raw = failing_run();
    let text = filter(&world, "cargo test", "101", &raw).text();
    let lines: Vec<&str> = raw.lines().collect();
    let mut rebuilt: Vec<&str> = Vec::new();
    for line in text.lines().take(text.lines().count() - 1) {
        match line.strip_prefix("[… ").and_then(|mark| mark.split([':', ']']).next()) {
            Some(range) => {
                let (from, to) = range.split_once('-').unwrap_or((range, range));
                rebuilt.extend(&lines[from.parse::<usize>().unwrap() - 1..to.parse().unwrap()]);
            }
            None => rebuilt.push(line),
        }
    }
    assert_eq!(rebuilt, lines);
}

#[test]
fn small_empty_and_unwritable_are_left_alone() {
    let mut world = World::new();
    for input in ["", "one line\n", "a few\nlines\n"] {
        assert_eq!(filter(&world, "make", "2", input).text(), "");
    }
    world.var("POSTIL_OUTPUTS", "/proc/nowhere");
    let run = filter(&world, "make", "2", failing_run());
    assert!(run.text().is_empty() && run.errors().contains("left alone"), "{run}");
}

#[test]
fn credentials_do_not_reach_the_extract() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let raw = failing_run().replace("left 1", &format!("token {token} left 1"));
    let text = filter(&world, "cargo test", "101", &raw).text();
    assert!(text.contains("[REDACTED:") && !text.contains(&token), "{text}");
}

#[test]
fn the_hook_replaces_bash_output_in_the_same_shape() {
    let world = World::new();
    let reply =
        world.run("compress-output", &[], bash_event("cargo test", &failing_run())).code(0).json();
    let output = &reply["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    assert_eq!((&output["stderr"], &output["interrupted"]), (&json!(""), &json!(false)));
    let text = output["stdout"].as_str().unwrap();
    assert!(text.contains("suma_iva ... FAILED") && !text.ends_with('\n'));
    // What it printed is not shortened again, nor is the original read back.
    world.run("compress-output", &[], bash_event("cargo test", text)).silent();
    let read_back = format!("sed -n 1,600p {}", original(text));
    world.run("compress-output", &[], bash_event(&read_back, &failing_run())).silent();
    let read = event("Read", &json!({"file_path": original(text)}), &json!({"type": "text"}));
    world.run("compress-output", &[], read).silent();
    let ledger =
        fs::read_to_string(world.home().join(".local/state/postil/compressions.tsv")).unwrap();
    assert_eq!(
        ledger.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>(),
        ["C", "O", "O"]
    );
}

#[test]
fn a_stored_large_output_is_read_from_its_file() {
    let world = World::new();
    let raw: String = (1..=20_000).map(|i| format!("{i}\n")).collect();
    let file = world.home().join("tool-results.txt");
    fs::write(&file, &raw).unwrap();
    let response = json!({"stdout": raw.get(..30_000), "stderr": "", "interrupted": false, "isImage": false,
        "persistedOutputPath": file, "persistedOutputSize": raw.len()});
    let event = event("Bash", &json!({"command": "seq 1 20000"}), &response);
    let reply = world.run("compress-output", &[], event).code(0).json();
    let output = &reply["hookSpecificOutput"]["updatedToolOutput"];
    assert!(output.get("persistedOutputPath").is_none());
    let text = output["stdout"].as_str().unwrap();
    assert!(text.contains("\n20000\n[20000 lines, ") && text.len() < 400, "{text}");
    assert_eq!(fs::read_to_string(original(text)).unwrap(), raw);
}

#[test]
fn other_tools_keep_their_shapes() {
    let world = World::new();
    let rows: String = (0..300)
        .map(|i| format!("src/file{}.rs:{i}:    let value_{i} = compute({i});\n", i % 9))
        .collect();
    let ask = |tool: &str, response: Value| {
        world.run("compress-output", &[], event(tool, &json!({}), &response)).code(0)
    };
    let output = |run: Run| run.json()["hookSpecificOutput"]["updatedToolOutput"].clone();
    let grep = output(ask(
        "Grep",
        json!({"mode": "content", "numFiles": 0, "filenames": [], "content": rows, "numLines": 300}),
    ));
    assert!(grep["content"].as_str().unwrap().len() < rows.len() && grep["numLines"] == 300);
    let names: Vec<String> =
        (0..900).map(|i| format!("src/module_{}/file_{i}.rs", i % 7)).collect();
    let glob = output(ask(
        "Glob",
        json!({"filenames": names, "durationMs": 8, "numFiles": 900, "truncated": false}),
    ));
    assert!(glob["filenames"].as_array().unwrap().len() < 500 && glob["numFiles"] == 900);
    let mcp = output(ask(
        "mcp__x__y",
        json!([{"type": "text", "text": failing_run()}, {"type": "text", "text": "short"}]),
    ));
    assert!(mcp[0]["text"].as_str().unwrap().contains("suma_iva") && mcp[1]["text"] == "short");
    let agent = output(ask(
        "Agent",
        json!({"status": "completed", "content": [{"type": "text", "text": failing_run()}], "agentId": "a"}),
    ));
    assert!(
        agent["content"][0]["text"].as_str().unwrap().contains("suma_iva")
            && agent["agentId"] == "a"
    );
    for tool in ["Read", "Edit", "Write", "NotebookEdit", "Skill"] {
        ask(
            tool,
            json!({"content": failing_run(), "result": failing_run(), "stdout": failing_run()}),
        )
        .silent();
    }
}

#[test]
fn codex_gets_its_own_form() {
    let world = World::new();
    let event = json!({"session_id": "s", "turn_id": "t", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cargo test"}, "tool_response": failing_run()});
    let reply = world.run("compress-output", &[], event.to_string()).code(0).json();
    assert_eq!(reply["continue"], false);
    assert!(reply["reason"].as_str().unwrap().contains("suma_iva ... FAILED"));
    assert!(reply.get("hookSpecificOutput").is_none());
}

#[test]
fn bad_events_are_answered_with_silence() {
    let world = World::new();
    for event in
        ["", "{", "[]", "{\"hook_event_name\": \"PostToolUse\"}", "{\"hook_event_name\": 5}"]
    {
        world.run("compress-output", &[], event).silent();
    }
    world.run("compress-output", &[], event("Bash", &json!(5), &json!({"stdout": 5}))).silent();
}

pub(crate) fn wrap(world: &World, command: &str, mode: &str) -> Option<String> {
    let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "permission_mode": mode, "cwd": world.home(),
        "tool_name": "Bash", "tool_input": {"command": command, "timeout": 5000}, "tool_use_id": "toolu_1"});
    let run = world.run("compress-output", &[], event.to_string()).code(0);
    if run.stdout.is_empty() {
        return None;
    }
    let output = run.json()["hookSpecificOutput"].clone();
    let decision = if mode == "bypassPermissions" { Value::Null } else { json!("allow") };
    assert_eq!(output.get("permissionDecision").unwrap_or(&Value::Null), &decision);
    assert_eq!(output["updatedInput"]["timeout"], 5000);
    Some(output["updatedInput"]["command"].as_str().unwrap().to_owned())
}

pub(crate) fn turn_on(world: &World, settings: &Value) {
    fs::write(world.home().join(".config/postil/config.toml"), "[compress]\nwrap = true\n")
        .unwrap();
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    fs::write(world.home().join(".claude/settings.json"), settings.to_string()).unwrap();
}

/// Runs a wrapped command as the client does, its output in a file or a pipe.
pub(crate) fn shell(world: &World, command: &str, into_file: bool) -> (Option<i32>, String) {
    let mut shell = Command::new("/bin/bash");
    shell
        .arg("-c")
        .arg(command)
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(world.home());
    if into_file {
        let file = world.home().join("task.output");
        let out = fs::File::create(&file).unwrap();
        let status = shell
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .stdin(Stdio::null())
            .status()
            .unwrap();
        (status.code(), fs::read_to_string(file).unwrap())
    } else {
        let run = run(shell, b"");
        (run.status.code(), run.text())
    }
}

#[test]
fn the_wrapper_is_off_until_it_is_turned_on() {
    let world = World::new();
    assert_eq!(wrap(&world, "make", "bypassPermissions"), None);
}

#[test]
fn a_wrapped_command_behaves_as_before() {
    let world = World::new();
    turn_on(&world, &json!({}));
    fs::create_dir(world.home().join("sub")).unwrap();
    for into_file in [true, false] {
        let failing =
            wrap(&world, "seq 1 5000; echo 'it'\\''s broken'; exit 7", "bypassPermissions")
                .unwrap();
        let (code, text) = shell(&world, &failing, into_file);
        assert_eq!(code, Some(7));
        assert!(
            text.contains("it's broken") && text.contains("exit 7") && text.len() < 500,
            "{text}"
        );
        assert_eq!(fs::read_to_string(original(&text)).unwrap().lines().count(), 5001);

        let moved = wrap(&world, "cd sub && X=1 && seq 1 10", "bypassPermissions").unwrap();
        let (code, text) = shell(&world, &format!("{moved}\nbasename $PWD; echo X=$X"), into_file);
        assert_eq!(code, Some(0));
        assert!(text.ends_with("10\nsub\nX=1\n"), "{text}");

        let heredoc =
            wrap(&world, "cat - /nowhere <<'E'\n$HOME | > x\nE", "bypassPermissions").unwrap();
        let (code, text) = shell(&world, &heredoc, into_file);
        assert_eq!(code, Some(1));
        assert!(text.contains("$HOME | > x"), "{text}");
    }
    let spools = fs::read_dir(world.home().join(".local/state/postil/outputs")).unwrap();
    assert!(spools.flatten().all(|entry| entry.path().extension().is_none_or(|ext| ext != "part")));
}

#[test]
fn the_wrapper_never_widens_what_may_run() {
    let world = World::new();
    let settings = json!({"permissions": {"allow": ["Bash(cargo test:*)"], "ask": ["Bash(cargo test --ask:*)"], "deny": ["Bash(rm:*)"]}});
    turn_on(&world, &settings);
    assert!(wrap(&world, "cargo test -p x", "default").is_some());
    for command in [
        "cargo build",
        "cargo test && touch x",
        "cargo test; curl x",
        "cargo test --ask",
        "cargo test $(touch x)",
    ] {
        assert_eq!(wrap(&world, command, "default"), None, "{command}");
    }
    assert_eq!(wrap(&world, "rm -rf x", "bypassPermissions"), None);
    assert_eq!(wrap(&world, "make && rm x", "bypassPermissions"), None);
}

#[test]
fn run_keeps_exit_codes_arguments_and_partial_output() {
    let world = World::new();
    let script = "seq 1 3000; echo broken; exit 5";
    let text = world.run("compress-output", &["run", "--", "sh", "-c", script], "").code(5).text();
    assert!(text.contains("broken") && text.contains("exit 5") && text.len() < 500, "{text}");
    assert_eq!(
        world.run("compress-output", &["run", "--", "echo", "a  b;c"], "").code(0).text(),
        "a  b;c\n"
    );
    world.run("compress-output", &["run", "--", "no-such-program"], "").code(127);
    world.run("compress-output", &["run", "--", "sh", "-c", "kill -9 $$"], "").code(137);
    let mut command = world.command("compress-output");
    command.args(["run", "--", "sh", "-c", "seq 1 3000; exec sleep 30"]).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let killed = Command::new("/bin/kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    assert!(String::from_utf8_lossy(&output.stdout).contains("[3000 lines, "));
}
