//! Panics, hangs and lost races, each in a process of its own: a test runs
//! this same binary again with one more argument, so the product needs no back
//! door.

use std::process::{Command, Output, Stdio};

use super::*;

const HOOK: Hook =
    Hook { name: "test-hook", deadline: |_| Duration::from_millis(200), is_enabled: |_| true };

const EVENT: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"x"}"#;

/// Not a test of its own: what the others run as a child. Does nothing unless
/// it is one.
#[test]
fn child() {
    let Some(mode) = std::env::args().find(|arg| arg.starts_with("child-")) else { return };
    let code = run(&HOOK, &Overrides::default(), |event, _| match mode.as_str() {
        "child-panics" => panic!("with the user's words"),
        "child-panics-in-thread" => {
            let _ = std::thread::spawn(|| panic!("with the user's words")).join();
            Ok(Answer::Reply(Reply::context(event, "late")))
        }
        "child-hangs" => loop {
            std::thread::sleep(Duration::from_secs(60));
        },
        "child-hangs-when-sent" => {
            let hang = || std::thread::sleep(Duration::from_secs(60));
            Ok(Answer::Reply(Reply::context(event, "said").on_sent(hang)))
        }
        "child-computes" => loop {
            std::hint::spin_loop();
        },
        "child-fails" => Err(Error::new(ErrorKind::Store, "open index: with the user's words")),
        "child-panics-when-sent" => {
            Ok(Answer::Reply(Reply::context(event, "said").on_sent(|| panic!("too late"))))
        }
        "child-races" => {
            let lag = u64::from(std::process::id() % 8);
            std::thread::sleep(Duration::from_millis(196 + lag));
            Ok(Answer::Reply(Reply::context(event, &"y".repeat(9_000))))
        }
        _ => Ok(Answer::Reply(Reply::context(event, "said"))),
    });
    #[allow(clippy::exit, reason = "the child ends as a hook's main would")]
    std::process::exit(i32::from(code != ExitCode::SUCCESS));
}

/// Runs the child; returns what it wrote itself, and the log.
fn run_child(mode: &str) -> (Output, String, String) {
    let home = tempfile::tempdir().unwrap();
    // A signal handler makes no folders for the log.
    std::fs::create_dir_all(home.path().join(".local/state/postil")).unwrap();
    // This module may be part of more than one crate.
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([&format!("{module}::child"), "--exact", "--nocapture", "--skip", mode])
        .env_clear()
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    (&stdin).write_all(EVENT.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    // What the test harness prints before it runs the test is not the hook's.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let own = text.split_once("running 1 test\n").map_or("", |(_, own)| own);
    let own = own.split_once("{").map_or(String::new(), |(_, json)| format!("{{{json}"));
    let log = std::fs::read_to_string(home.path().join(".local/state/postil/postil.log"));
    (output, own, log.unwrap_or_default())
}

#[test]
fn whatever_happens_the_exit_code_is_0_and_nothing_leaks() {
    for (mode, outcome) in [
        ("child-panics", " panic "),
        ("child-panics-in-thread", " panic "),
        ("child-hangs", " UserPromptSubmit deadline ms="),
        ("child-computes", " UserPromptSubmit deadline ms="),
        ("child-fails", " error:store "),
    ] {
        let start = Instant::now();
        let (output, own, log) = run_child(mode);
        assert!(output.status.success(), "{mode}: {}", output.status);
        assert_eq!(own, "", "{mode}");
        assert!(log.contains(outcome), "{mode}: {log:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!(log + &stderr).contains("user's words"), "{mode}: {stderr}");
        // A hang would last until the test is killed; a busy machine takes seconds.
        assert!(start.elapsed() < Duration::from_secs(30), "{mode}: {:?}", start.elapsed());
    }
}

#[test]
fn a_reply_is_whole_even_if_what_follows_it_fails() {
    for mode in ["child-answers", "child-panics-when-sent", "child-hangs-when-sent"] {
        let start = Instant::now();
        let (output, own, _) = run_child(mode);
        assert!(output.status.success(), "{mode}");
        assert!(start.elapsed() < Duration::from_secs(30), "{mode}");
        let reply: serde_json::Value = serde_json::from_str(&own).unwrap();
        assert_eq!(reply["hookSpecificOutput"]["additionalContext"], "said");
    }
}

#[test]
fn reply_and_deadline_never_both_answer() {
    let children: Vec<_> =
        (0..24).map(|_| std::thread::spawn(|| run_child("child-races"))).collect();
    for child in children {
        let (output, own, log) = child.join().unwrap();
        assert!(output.status.success());
        if !own.is_empty() {
            assert!(serde_json::from_str::<serde_json::Value>(&own).is_ok(), "a partial reply");
            assert!(!log.contains(" deadline "), "both answered: {log}");
        }
    }
}
