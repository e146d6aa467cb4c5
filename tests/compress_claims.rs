//! What `compress-output` promises beyond a short text: permissions of every
//! level, signals and background jobs under the wrapper, every shape of
//! result, originals that go away again, and the figures about it all.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::compress_output::{
    bash_event, event, failing_run, filter, original, shell, turn_on, wrap,
};
use crate::harness::World;

fn settings(folder: &std::path::Path, name: &str, permissions: &Value) {
    fs::create_dir_all(folder.join(".claude")).unwrap();
    let text = json!({ "permissions": permissions }).to_string();
    fs::write(folder.join(".claude").join(name), text).unwrap();
}

#[test]
fn rules_of_every_settings_level_are_read() {
    for (level, file) in [("", "settings.json"), ("", "settings.local.json")] {
        // In the home folder these are the user's, in a project the project's.
        for project in [false, true] {
            let mut world = World::new();
            turn_on(&world, &json!({}));
            let folder =
                if project { world.home().join("work/project") } else { world.home().to_owned() };
            settings(&folder, file, &json!({"allow": ["Bash(make:*)"]}));
            if project {
                world.var("CLAUDE_PROJECT_DIR", folder.to_str().unwrap());
            }
            assert!(wrap(&world, "make all", "default").is_some(), "{level} {file} {project}");
            assert_eq!(wrap(&world, "make all; rm x", "default"), None);
            // A stricter rule anywhere else comes first.
            for stop in ["deny", "ask"] {
                let world = World::new();
                turn_on(&world, &json!({"permissions": {"allow": ["Bash"]}}));
                settings(world.home(), "settings.local.json", &json!({stop: ["Bash(make *)"]}));
                assert_eq!(wrap(&world, "make all", "default"), None, "{stop}");
                assert_eq!(wrap(&world, "make all", "bypassPermissions"), None, "{stop}");
                assert!(wrap(&world, "cargo build", "default").is_some(), "{stop}");
            }
        }
    }
}

#[test]
fn settings_that_are_no_json_allow_nothing() {
    let world = World::new();
    turn_on(&world, &json!({"permissions": {"allow": ["Bash"]}}));
    assert!(wrap(&world, "make", "default").is_some());
    for text in
        ["{\"permissions\": {\"allow\": [\"Bash\"],}}", "{} // x", "", "[1 2]", "{\"a\": tru}"]
    {
        fs::write(world.home().join(".claude/settings.local.json"), text).unwrap();
        assert_eq!(wrap(&world, "make", "default"), None, "{text}");
        assert_eq!(wrap(&world, "make", "bypassPermissions"), None, "{text}");
    }
}

#[test]
fn plan_and_unknown_modes_are_left_to_the_agent() {
    let world = World::new();
    turn_on(&world, &json!({"permissions": {"allow": ["Bash"]}}));
    for mode in ["plan", "auto", "a mode of next year"] {
        let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "permission_mode": mode,
            "cwd": world.home(), "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"});
        world.run("compress-output", &[], event.to_string()).silent();
    }
    for mode in ["acceptEdits", "dontAsk"] {
        assert!(wrap(&world, "make", mode).is_some(), "{mode}");
    }
}

/// Starts a wrapped command with its output in a file, as Claude Code does.
fn start(world: &World, command: &str) -> (std::process::Child, std::path::PathBuf) {
    let file = world.home().join("task.output");
    let out = fs::File::create(&file).unwrap();
    let child = Command::new("/bin/bash")
        .args(["-c", command])
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(world.home())
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    (child, file)
}

/// Waits until `path` holds `text`.
fn wait_for(path: &std::path::Path, text: &str) -> String {
    let start = Instant::now();
    loop {
        let found = fs::read_to_string(path).unwrap_or_default();
        if found.contains(text) || start.elapsed() > Duration::from_secs(20) {
            assert!(found.contains(text), "{text} is not in\n{found}");
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_that_is_killed_leaves_what_it_has_written() {
    let world = World::new();
    turn_on(&world, &json!({}));
    let command = wrap(&world, "seq 1 4000; sleep 60; seq 1 9", "bypassPermissions").unwrap();
    // Out of time: nothing can run any more, and the whole output is there.
    let (mut child, file) = start(&world, &command);
    wait_for(&file, "\n4000\n");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 4000);
}

#[test]
fn the_exit_status_of_a_signal_is_kept() {
    let world = World::new();
    turn_on(&world, &json!({}));
    let command = wrap(&world, "seq 1 4000; bash die.sh", "bypassPermissions").unwrap();
    fs::write(world.home().join("die.sh"), "echo out of memory; kill -SEGV $$\n").unwrap();
    for into_file in [true, false] {
        let (code, text) = shell(&world, &command, into_file);
        assert_eq!(code, Some(139), "{text}");
        assert!(text.contains("out of memory") && text.contains("exit 139"), "{text}");
    }
}

#[test]
fn a_background_job_of_the_command_writes_after_the_extract() {
    let world = World::new();
    turn_on(&world, &json!({}));
    fs::write(world.home().join("job.sh"), "(sleep 1; echo late) &\nseq 1 4000\nexit 3\n").unwrap();
    let command = wrap(&world, "bash job.sh", "bypassPermissions").unwrap();
    let (mut child, file) = start(&world, &command);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let text = wait_for(&file, "late");
    assert!(text.contains("[4000 lines, ") && text.ends_with("]\nlate\n"), "{text}");
}

#[test]
fn web_pages_and_every_form_of_mcp_result_keep_their_shape() {
    let world = World::new();
    let ask = |tool: &str, response: &Value| {
        let run = world.run("compress-output", &[], event(tool, &json!({}), response)).code(0);
        run.json()["hookSpecificOutput"]["updatedToolOutput"].clone()
    };
    let page = json!({"bytes": 9, "code": 200, "codeText": "OK", "result": failing_run(), "durationMs": 1.5, "url": "http://x"});
    let fetched = ask("WebFetch", &page);
    assert!(fetched["result"].as_str().unwrap().contains("suma_iva ... FAILED"));
    assert_eq!((&fetched["durationMs"], &fetched["url"]), (&json!(1.5), &json!("http://x")));

    // Structured content arrives as a string, and stays one.
    let items: Vec<Value> = (0..400).map(|i| json!({"id": i, "state": if i == 7 { "lost" } else { "sent" }, "note": "as ordered"})).collect();
    let structured =
        ask("mcp__shop__orders", &json!(json!({"orders": items, "total": 400}).to_string()));
    let text = structured.as_str().unwrap();
    assert!(
        text.contains("\"lost\"") && text.contains("\"total\":400") && text.len() < 6000,
        "{text}"
    );

    // A result that the client has put into a file is read from there.
    let file = world.home().join("result.txt");
    fs::write(&file, failing_run()).unwrap();
    let notice = format!(
        "Error: result (180,000 characters across 1,000 lines) exceeds maximum allowed tokens. Output has been saved to {}.\nUse jq.",
        file.display()
    );
    let padded = format!("{notice}{}", " ".repeat(2000));
    let saved = ask("mcp__shop__log", &json!(padded));
    assert!(saved.as_str().unwrap().contains("600 passed; 1 failed"), "{saved}");
}

#[test]
fn names_that_only_grep_lists_stay_a_list() {
    let world = World::new();
    let names: Vec<String> = (0..900).map(|i| format!("src/mod_{}/f{i}.rs", i % 9)).collect();
    let response = json!({"mode": "files_with_matches", "numFiles": 900, "filenames": names});
    let run = world.run("compress-output", &[], event("Grep", &json!({}), &response)).code(0);
    let output = run.json()["hookSpecificOutput"]["updatedToolOutput"].clone();
    let shown = output["filenames"].as_array().unwrap();
    assert!(
        shown.len() < 300 && output["numFiles"] == 900 && output["mode"] == "files_with_matches"
    );
    assert!(shown.last().unwrap().as_str().unwrap().contains("full text: "));
}

#[test]
fn originals_are_pruned_by_size() {
    let world = World::new();
    fs::write(world.home().join(".config/postil/config.toml"), "[compress]\nkeep_megabytes = 1\n")
        .unwrap();
    let outputs = world.home().join(".local/state/postil/outputs");
    fs::create_dir_all(&outputs).unwrap();
    for n in 0..4_u64 {
        let file = outputs.join(format!("{n:016x}.txt"));
        fs::write(&file, vec![b'x'; 400 << 10]).unwrap();
        let time = SystemTime::now() - Duration::from_secs(3600 * (n + 1));
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }
    let text = filter(&world, "cargo test", "101", failing_run()).text();
    let mut left: Vec<String> = fs::read_dir(&outputs)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| path.ends_with(".txt"))
        .collect();
    left.sort();
    assert_eq!(left.len(), 3, "the new one and the two youngest: {left:?}");
    assert!(left.contains(&original(&text)) && left[0].ends_with("0000000000000000.txt"));
}

#[test]
fn codex_results_that_were_cut_say_so() {
    let world = World::new();
    let cut = format!("Warning: truncated output (original token count: 90000)\n{}", failing_run());
    let event = json!({"session_id": "s", "turn_id": "t", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cargo test"}, "tool_response": cut});
    let reply = world.run("compress-output", &[], event.to_string()).code(0).json();
    let text = reply["reason"].as_str().unwrap();
    assert!(text.contains("text as received: ") && text.contains("suma_iva ... FAILED"), "{text}");
    assert!(text.encode_utf16().count() < 9_000);
    assert_eq!(
        reply.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["continue", "stopReason", "reason"]
    );
}

#[test]
fn stats_tell_savings_by_family_and_how_often_originals_were_opened() {
    let world = World::new();
    let rows: String = (0..500).map(|i| format!("src/f{}.rs:{i}:let x = {i};\n", i % 9)).collect();
    let text = filter(&world, "cargo test", "101", failing_run()).text();
    filter(&world, "grep -rn let src", "0", rows);
    let read_back = format!("sed -n 5,9p {}", original(&text));
    world.run("compress-output", &[], bash_event(&read_back, &failing_run())).silent();
    let stats = world.run("postil", &["stats", "--json"], "").code(0).json();
    let compression = &stats["compressed"];
    assert_eq!(compression["outputs"], 2, "{stats}");
    assert_eq!(compression["opened"], 1, "{stats}");
    for family in ["test", "search"] {
        let saved = compression["families"][family]["tokens_saved"].as_i64().unwrap();
        assert!(saved > 1000, "{family}: {stats}");
    }
    let told = world.run("postil", &["stats"], "").code(0).text();
    assert!(told.contains("search") && told.contains("opened"), "{told}");
}
