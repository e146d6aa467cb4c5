//! `capture`: from arguments, from stdin, as the hook of `/capture`, fifty at
//! once, killed, without space.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::{self, Run, World};

const TRICKY: &str = "it's \"quoted\" $(touch INJECTED) `touch INJECTED`; rm -rf / \\ 100% #no\n\nsecond \
                      paragraph: ñandú 👩‍🚀 \u{202e}rtl\n\ttabbed | piped & <b>";

fn expansion(args: &str) -> String {
    let event = json!({
        "session_id": "5e55-10f1", "cwd": "/home/user/project",
        "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
        "command_name": "postil:capture", "command_args": args,
        "prompt": format!("/postil:capture {args}"),
    });
    event.to_string()
}

fn hook(world: &World, args: &str) -> Run {
    world.run("capture", &["--hook"], expansion(args)).code(0)
}

fn inbox(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.vault().join("00-inbox"));
    let mut paths: Vec<PathBuf> =
        entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn only_note(world: &World) -> String {
    let paths = inbox(world);
    assert_eq!(paths.len(), 1, "{paths:?}");
    fs::read_to_string(&paths[0]).unwrap()
}

#[test]
fn arguments_become_a_note_and_its_path_is_printed() {
    let world = World::new();
    let args =
        ["Use WAL mode", "--domain", "data", "--tags", "sqlite,#db", "--source", "https://x.org"];
    let run = world.run("capture", &args, "").code(0);
    let path = PathBuf::from(run.text().trim_end());
    assert_eq!(inbox(&world), std::slice::from_ref(&path), "{run}");
    let note = fs::read_to_string(path).unwrap();
    for line in ["title: Use WAL mode", "type: note", "domain: data", "  - sqlite", "  - db"] {
        assert!(note.lines().any(|have| have == line), "no {line:?} in\n{note}");
    }
    assert!(note.contains("source: \"https://x.org\"\nstatus: inbox\n"), "{note}");
    assert!(note.ends_with("---\n\nUse WAL mode\n"), "{note}");
}

#[test]
fn stdin_is_taken_as_it_is() {
    let world = World::new();
    let run = world.run("capture", &["--json", "--title", "T"], format!("{TRICKY}\n")).code(0);
    assert_eq!(run.json()["created"], true, "{run}");
    assert!(only_note(&world).ends_with(&format!("---\n\n{TRICKY}\n")));
}

#[test]
fn the_hook_ends_the_turn_and_keeps_the_text_exactly() {
    let world = World::new();
    let run = hook(&world, &format!("{TRICKY} --domain web --tags a,b"));
    let reply = run.json();
    assert_eq!(reply["decision"], "block", "{run}");
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "UserPromptExpansion");
    assert!(reply["reason"].as_str().unwrap().contains("00-inbox/"), "{run}");
    let note = only_note(&world);
    assert!(note.ends_with(&format!("---\n\n{TRICKY}\n")), "{note}");
    assert!(note.contains("session: \"5e55-10f1\""), "{note}");
    assert!(!world.home().join("INJECTED").exists());
}

#[test]
fn the_hook_says_what_is_wrong_and_gives_the_text_back() {
    let world = World::new();
    let run = hook(&world, "my thought --domain ../up");
    let reason = run.json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("not captured") && reason.contains("my thought"), "{run}");
    assert!(hook(&world, " ").json()["reason"].as_str().unwrap().contains("empty"));
    assert!(inbox(&world).is_empty());
}

#[test]
fn the_hook_is_silent_about_everything_else() {
    let world = World::new();
    let event = expansion("x").replace("postil:capture", "postil:other");
    for stdin in ["", "nonsense", "{}", "[1]", event.as_str(), "{\"hook_event_name\":\"Stop\"}"] {
        world.run("capture", &["--hook"], stdin).silent();
    }
    world.run("capture", &["--hook", "--no-such-flag"], expansion("x")).silent();
    world.run("capture", &["--hook"], [0xff_u8, 0xfe, 0x00]).silent();
    assert!(inbox(&world).is_empty());
}

#[test]
fn the_same_note_is_stored_once() {
    let world = World::new();
    let first = world.run("capture", &["one thought"], "").code(0);
    let again = world.run("capture", &["one thought"], "").code(0);
    assert_eq!(first.text(), again.text());
    assert!(again.errors().contains("already captured"), "{again}");
    assert!(hook(&world, "one thought").json()["reason"].as_str().unwrap().contains("already"));
    assert_eq!(inbox(&world).len(), 1);
}

#[test]
fn fifty_at_once_are_fifty_notes() {
    let world = World::new();
    let runs: Vec<Run> = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..50)
            .map(|n| {
                let world = &world;
                scope.spawn(move || {
                    world.run("capture", &["--title", "Same title"], format!("thought {n}"))
                })
            })
            .collect();
        jobs.into_iter().map(|job| job.join().unwrap()).collect()
    });
    let printed: HashSet<String> = runs.into_iter().map(|run| run.code(0).text()).collect();
    assert_eq!(printed.len(), 50);
    let bodies: HashSet<String> = inbox(&world)
        .iter()
        .map(|path| fs::read_to_string(path).unwrap().lines().last().unwrap().to_owned())
        .collect();
    assert_eq!((bodies.len(), inbox(&world).len()), (50, 50));
}

#[test]
fn a_kill_leaves_no_half_note() {
    let world = World::new();
    let text = "line of a long note\n".repeat(50_000);
    for n in 0..30 {
        let mut child = world
            .command("capture")
            .args(["--title", &format!("Killed {n}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let text = text.clone();
        let feeder = std::thread::spawn(move || {
            let _ = std::io::Write::write_all(&mut pipe, text.as_bytes());
        });
        std::thread::sleep(std::time::Duration::from_micros(900 * n));
        child.kill().unwrap();
        child.wait().unwrap();
        feeder.join().unwrap();
    }
    for path in inbox(&world) {
        if path.extension().is_some_and(|ext| ext == "md") {
            assert!(fs::read_to_string(&path).unwrap().ends_with(&text), "{}", path.display());
        }
    }
    // The next capture works, whatever the killed ones left.
    world.run("capture", &["after"], "").code(0);
}

#[test]
fn without_space_it_says_so_and_leaves_nothing() {
    let world = World::new();
    // A limit of 4 KB per file stands for the full disk.
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" --title T"])
        .arg(harness::binary_path("capture"))
        .env_clear()
        .env("HOME", world.home());
    let run = harness::run(command, "words ".repeat(10_000).as_bytes()).code(2);
    assert!(run.errors().contains("00-inbox"), "{run}");
    assert!(run.stdout.is_empty(), "{run}");
    assert!(inbox(&world).is_empty());
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let world = World::new();
    for (args, stdin) in [
        (vec!["--title", "T"], "  \n"),
        (vec!["--domain", "../../etc", "x"], ""),
        (vec!["--domain", "a/b", "x"], ""),
        (vec!["--nonsense", "x"], ""),
        (vec![], "\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}"),
    ] {
        let run = world.run("capture", &args, stdin).code(2);
        assert_eq!(run.errors().lines().count(), 1, "{run}");
    }
    assert!(inbox(&world).is_empty());
}

#[test]
fn other_encodings_and_a_megabyte_are_taken() {
    let world = World::new();
    let utf16: Vec<u8> = "\u{feff}año\r\nnuevo".encode_utf16().flat_map(u16::to_le_bytes).collect();
    world.run("capture", &[], utf16).code(0);
    assert!(only_note(&world).ends_with("---\n\naño\nnuevo\n"));
    world
        .run("capture", &["--title", "Long"], "a fairly long line of words\n".repeat(40_000))
        .code(0);
    assert_eq!(inbox(&world).len(), 2);
}

#[test]
fn secrets_stay_out_of_note_name_and_answer() {
    let world = World::new();
    let key = ["ghp_Zk3VtQ8sYw1Lx", "0Rb7NcJ5mHd2PfG9aUe4TiK"].concat();
    let run = world.run("capture", &["--json", &format!("{key} is the token")], "").code(0);
    assert!(!run.text().contains(&key) && !run.errors().contains(&key), "{run}");
    assert!(!only_note(&world).contains(&key));
    assert!(run.json()["redacted"].as_object().is_some_and(|found| !found.is_empty()), "{run}");
    assert!(!hook(&world, &format!("{key} --domain ../x")).text().contains(&key));
}

#[cfg(unix)]
#[test]
fn the_umask_decides_the_mode() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "umask 027; exec \"$0\" text"])
        .arg(harness::binary_path("capture"))
        .env_clear()
        .env("HOME", world.home());
    harness::run(command, b"").code(0);
    assert_eq!(fs::metadata(&inbox(&world)[0]).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn the_editor_writes_the_note() {
    let mut world = World::new();
    let editor = world.home().join("editor.sh");
    fs::write(&editor, "#!/bin/sh\nprintf 'from the editor' > \"$2\"\n").unwrap();
    world.var("EDITOR", format!("/bin/sh {} --wait", editor.display()));
    world.run("capture", &["--editor"], "").code(0);
    assert!(only_note(&world).ends_with("---\n\nfrom the editor\n"));
    world.var("EDITOR", "/bin/false");
    world.run("capture", &["--editor"], "").code(2);
}

#[test]
fn the_next_search_finds_the_note() {
    let world = World::with_notes(&[("a.md", "something else entirely\n")]);
    world.run("index", &[], "").code(0);
    hook(&world, "the zebrafish telemetry quirk");
    let found = world.run("search", &["zebrafish telemetry", "--json"], "").code(0);
    assert!(found.text().contains("00-inbox/"), "{found}");
    world.run("capture", &["a quokka in the pipeline"], "").code(0);
    let found = world.run("search", &["quokka", "--json"], "").code(0);
    assert!(found.text().contains("00-inbox/"), "{found}");
}

#[test]
fn fifty_at_once_are_all_found_after_the_next_run() {
    let world = World::with_notes(&[("a.md", "something else entirely\n")]);
    world.run("index", &[], "").code(0);
    std::thread::scope(|scope| {
        for n in 0..50 {
            let world = &world;
            scope.spawn(move || hook(world, &format!("thought number{n}x --title Same title")));
        }
    });
    assert_eq!(inbox(&world).len(), 50);
    world.run("index", &[], "").code(0);
    for n in [0, 17, 49] {
        world.run("search", &[&format!("number{n}x")], "").code(0);
    }
}

fn fetched(world: &World, session: &str, result: &str) -> Run {
    let event = json!({
        "session_id": session, "cwd": "/home/user/project", "hook_event_name": "PostToolUse",
        "tool_name": "WebFetch", "tool_use_id": "t",
        "tool_input": { "url": "https://x.org/a", "prompt": "How does it work?" },
        "tool_response": { "result": result, "url": "https://x.org/a", "code": 200 },
    });
    world.run("capture", &["--hook"], event.to_string()).silent()
}

#[test]
fn insights_are_kept_only_when_asked_for() {
    let world = World::new();
    let result = "A substantial finding about page caches. ".repeat(20);
    fetched(&world, "s", &result);
    assert!(inbox(&world).is_empty());
    let config = world.home().join(".config/postil/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let on = "[capture.insights]\nenabled = true\nper_session = 2\n";
    fs::write(config, format!("{text}{on}")).unwrap();
    fetched(&world, "s", &result);
    let note = only_note(&world);
    assert!(note.contains("type: signal") && note.contains("https://x.org/a"), "{note}");
    // The same again, a short one, postil's own, one with a secret: nothing.
    fetched(&world, "s", &result);
    fetched(&world, "s", "short");
    fetched(&world, "s", &format!("From the user's own notes (postil), {result}"));
    let key = ["ghp_Zk3VtQ8sYw1Lx", "0Rb7NcJ5mHd2PfG9aUe4TiK"].concat();
    fetched(&world, "s", &format!("{result} other {key}"));
    assert_eq!(inbox(&world).len(), 1);
    // And no more than the rate allows.
    fetched(&world, "s", &result.replace("page", "disk"));
    fetched(&world, "s", &result.replace("page", "row"));
    assert_eq!(inbox(&world).len(), 2);
}

#[test]
fn a_folder_is_imported_with_a_report() {
    let world = World::new();
    let from = world.home().join("old notes");
    fs::create_dir_all(&from).unwrap();
    fs::write(from.join("One.md"), "# One\n\nfirst ![](p.png)\n").unwrap();
    fs::write(from.join("p.png"), "png").unwrap();
    let path = from.to_str().unwrap();
    let dry = world.run("capture", &["--import", path, "--dry-run"], "").code(0);
    assert!(dry.text().contains("dry run") && inbox(&world).is_empty(), "{dry}");
    let report = world.run("capture", &["--import", path, "--json"], "").code(0).json();
    assert_eq!(report["notes"][0]["to"], "00-inbox/old notes/One.md", "{report}");
    assert!(world.vault().join("00-inbox/old notes/p.png").is_file());
    let again = world.run("capture", &["--import", path, "--json"], "").code(0).json();
    assert_eq!((again["known"].as_u64(), again["notes"].as_array().unwrap().len()), (Some(2), 0));
    world.run("capture", &["--import", "/no/such/folder"], "").code(2);
}
