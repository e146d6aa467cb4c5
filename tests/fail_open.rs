//! Whatever a hook is given and wherever it runs: exit 0, and on stdout nothing
//! or one JSON object that names its event.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Run, World, run};

const HOOKS: [(&str, &[&str]); 3] =
    [("context-inject", &[]), ("compress-output", &[]), ("capture", &["--hook"])];

/// Far above any deadline: what a hang looks like on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

const PROMPT: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/","prompt":"how does the staging deploy work"}"#;

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/hook");
    ["claude-code.jsonl", "codex.jsonl"]
        .iter()
        .flat_map(|name| {
            let text = fs::read_to_string(folder.join(name)).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

fn world() -> World {
    let world =
        World::with_notes(&[("staging.md", "# Staging\n\nThe staging deploy works by hand.\n")]);
    world.run("index", &[], "").code(0);
    world
}

#[track_caller]
fn check(run: Run, event: &str) {
    let run = run.code(0);
    if run.stdout.is_empty() {
        return;
    }
    let reply = run.json();
    assert!(reply.is_object(), "{run}");
    if let Some(own) = reply.get("hookSpecificOutput") {
        let sent: Value = serde_json::from_str(event).unwrap();
        assert_eq!(own["hookEventName"], sent["hook_event_name"], "{run}");
    }
    if let Some(context) = reply["hookSpecificOutput"]["additionalContext"].as_str() {
        assert!(context.encode_utf16().count() <= 10_000, "{run}");
    }
}

/// Breaks a world in one way.
type Ruin = fn(&World);

#[test]
fn every_recorded_event_is_answered_rightly_or_not_at_all() {
    let world = world();
    for event in fixtures() {
        for (hook, args) in HOOKS {
            let start = Instant::now();
            check(world.run(hook, args, format!("{event}\n")), &event);
            assert!(start.elapsed() < PATIENCE, "{hook}: {event}");
        }
    }
}

#[test]
fn input_that_is_no_event_is_answered_with_nothing() {
    let world = world();
    let truncated: Vec<Vec<u8>> = [1, 20, 60, PROMPT.len() - 1]
        .iter()
        .map(|len| PROMPT.as_bytes()[..*len].to_vec())
        .collect();
    let mut inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"\n \n".to_vec(),
        b"not json".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"{}".to_vec(),
        b"\x00\x01\xfe\xff".to_vec(),
        b"{\"hook_event_name\":7}".to_vec(),
        b"{\"hook_event_name\":\"Unheard\",\"prompt\":\"staging deploy\"}".to_vec(),
        b"{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":{\"x\":1}}".to_vec(),
        b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":[],\"tool_input\":\"x\"}".to_vec(),
        b"{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\"}".to_vec(),
        format!("{PROMPT}{PROMPT}").into_bytes(),
        vec![b'['; 1 << 20],
        "{\"a\":".repeat(100_000).into_bytes(),
        vec![0xff; 12 << 20],
    ];
    inputs.extend(truncated);
    for input in inputs {
        for (hook, args) in HOOKS {
            let shown = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
            let start = Instant::now();
            let run = world.run(hook, args, &input).silent();
            assert!(start.elapsed() < PATIENCE, "{hook}: {shown}\n{run}");
        }
    }
}

#[test]
fn broken_bytes_and_twelve_megabytes_are_no_trouble() {
    let world = world();
    let mut broken = PROMPT.replace("work", "w\u{1}rk").into_bytes();
    let at = broken.iter().position(|b| *b == 1).unwrap();
    broken[at] = 0xff;
    let mut with_mark = b"\xef\xbb\xbf".to_vec();
    with_mark.extend(PROMPT.as_bytes());
    let text = "let staging = deploy();\n".repeat(1 << 18);
    let write = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Write",
        "tool_input": {"file_path": "/p/x.rs", "content": text}});
    let wrote = json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/", "tool_name": "Write",
        "tool_input": {"file_path": "/p/x.rs", "content": text},
        "tool_response": {"type": "update", "originalFile": text, "content": text}});
    for (input, event) in [
        (broken, PROMPT.to_owned()),
        (with_mark, PROMPT.to_owned()),
        (write.to_string().into_bytes(), write.to_string()),
        (wrote.to_string().into_bytes(), wrote.to_string()),
    ] {
        for (hook, args) in HOOKS {
            check(world.run(hook, args, &input), &event);
        }
    }
}

#[test]
fn a_broken_installation_is_silent() {
    let ruin: [(&str, Ruin); 8] = [
        ("no index", |world| fs::remove_file(index(world)).unwrap()),
        ("garbage", |world| fs::write(index(world), vec![7; 100_000]).unwrap()),
        ("empty", |world| fs::write(index(world), "").unwrap()),
        ("a folder", |world| {
            fs::remove_file(index(world)).unwrap();
            fs::create_dir(index(world)).unwrap();
        }),
        ("newer schema", |world| {
            // SQLite keeps `user_version` at offset 60 of the file.
            let mut bytes = fs::read(index(world)).unwrap();
            bytes[60..64].copy_from_slice(&99_999_u32.to_be_bytes());
            fs::write(index(world), bytes).unwrap();
        }),
        ("truncated", |world| {
            let bytes = fs::read(index(world)).unwrap();
            fs::write(index(world), &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("wrong configuration", |world| {
            fs::write(world.home().join(".config/postil/config.toml"), "vault = 5\n").unwrap();
        }),
        ("no vault", |world| fs::remove_dir_all(world.vault()).unwrap()),
    ];
    for (what, ruin) in ruin {
        let world = world();
        ruin(&world);
        for (hook, args) in HOOKS {
            let run = world.run(hook, args, PROMPT);
            assert!(run.stdout.is_empty() && run.status.success(), "{what}: {run}");
        }
    }
}

fn index(world: &World) -> std::path::PathBuf {
    let file = world.home().join(".local/share/postil/index.db");
    for suffix in ["-wal", "-shm"] {
        let mut name = file.clone().into_os_string();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
    file
}

#[test]
fn without_a_home_or_a_writable_one_hooks_still_end_well() {
    let world = world();
    for (hook, args) in HOOKS {
        for home in ["", "/proc/nonexistent", "/proc", "/dev/null"] {
            let mut command = world.command(hook);
            command.args(args).env("HOME", home);
            run(command, PROMPT.as_bytes()).silent();
        }
        let mut command = world.command(hook);
        command.args(args).env_remove("HOME");
        run(command, PROMPT.as_bytes()).silent();
    }
}

#[test]
fn a_mistyped_registration_blocks_nothing() {
    let world = world();
    for (hook, args) in HOOKS {
        let mut args = args.to_vec();
        args.push("--no-such-flag");
        let run = world.run(hook, &args, PROMPT);
        assert!(run.stdout.is_empty(), "{run}");
        // Exit code 2 would erase the user's prompt.
        assert_ne!(run.status.code(), Some(2), "{run}");
    }
}

#[test]
fn a_full_or_closed_stdout_is_no_error() {
    let world = world();
    for (hook, args) in HOOKS {
        let mut child = world
            .command(hook)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(File::options().write(true).open("/dev/full").unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(PROMPT.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{hook}");

        let mut child = world
            .command(hook)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(PROMPT.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{hook}");
    }
}

#[test]
fn an_agent_that_never_closes_stdin_waits_no_longer_than_the_deadline() {
    let world = world();
    let config = format!(
        "vault = {:?}\n[inject]\ndeadline_ms = 150\n[compress]\ndeadline_ms = 150\n[capture]\ndeadline_ms = 150\n",
        world.vault()
    );
    fs::write(world.home().join(".config/postil/config.toml"), config).unwrap();
    for (hook, args) in HOOKS {
        let start = Instant::now();
        let mut child = world
            .command(hook)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&PROMPT.as_bytes()[..30]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{hook}");
        assert!(start.elapsed() < PATIENCE, "{hook}");
        drop(stdin);
    }
}

#[test]
fn without_a_home_nothing_is_written_anywhere() {
    let world = World::new();
    let folder = world.home().join("work");
    fs::create_dir(&folder).unwrap();
    for home in [None, Some(""), Some("relative")] {
        for (hook, args) in HOOKS {
            let mut command = world.command(hook);
            command.args(args).current_dir(&folder).env_remove("HOME");
            if let Some(home) = home {
                command.env("HOME", home);
            }
            run(command, PROMPT.as_bytes()).silent();
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    let mut search = world.command("search");
    search.arg("anything").env_remove("HOME");
    let run = run(search, b"").code(2);
    assert!(run.errors().contains("HOME-is-not-set"), "{run}");
    assert_eq!(run.errors().lines().count(), 1, "{run}");
}

#[test]
fn switched_off_hooks_say_nothing() {
    for (name, value) in [("POSTIL_OFF", "1"), ("POSTIL_CHILD", "1")] {
        let mut world = world();
        world.var(name, value);
        for (hook, args) in HOOKS {
            world.run(hook, args, PROMPT).silent();
        }
    }
}
