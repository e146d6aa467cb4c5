//! `triage`: the inbox, files from outside, a dry run, the way back, and how
//! well it does on the labelled signals it was not tuned on.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::World;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/triage")
}

/// A world with the vault the signals were labelled for, indexed.
fn world() -> World {
    let world = World::new();
    for folder in ["02-areas", "03-resources"] {
        for entry in fs::read_dir(fixtures().join("vault").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            world.note(&format!("{folder}/{name}"), fs::read(path).unwrap());
        }
    }
    world.run("index", &[], "").code(0);
    world
}

fn labelled(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(fixtures().join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Puts a labelled signal into the inbox.
fn put(world: &World, id: &str) -> String {
    let all = [labelled("tuning.jsonl"), labelled("held-out.jsonl")].concat();
    let signal = all.iter().find(|signal| signal["id"] == id).unwrap();
    let path = format!("00-inbox/{id}.md");
    let note = format!(
        "---\ntitle: {}\ntype: signal\nsource: {}\nstatus: inbox\n---\n\n{}\n",
        signal["title"],
        signal["source"],
        signal["text"].as_str().unwrap()
    );
    world.note(&path, note);
    path
}

/// Every file of the vault with its content.
fn snapshot(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let mut pending = vec![world.vault()];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                files.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn signals_go_where_they_belong_and_come_back() {
    let world = world();
    for id in ["data-1", "ai-5", "noise-1"] {
        put(&world, id);
    }
    world.note("00-inbox/own.md", "my own note stays\n");
    world.note("Home.md", "see [[00-inbox/data-1]] and [x](00-inbox/data-1.md)\n");
    let before = snapshot(&world);

    let dry = world.run("triage", &["--dry-run", "--explain"], "").code(0);
    assert!(dry.text().contains("relevance") && dry.text().contains("dry run"), "{dry}");
    assert_eq!(snapshot(&world), before);

    let run = world.run("triage", &["--json"], "").code(0);
    let report = run.json();
    assert_eq!(
        (report["others"].as_u64(), report["failures"].as_array().unwrap().len()),
        (Some(1), 0)
    );
    assert!(world.vault().join("05-signals/data/data-1.md").is_file(), "{run}");
    assert!(world.vault().join("05-signals/ai-tooling/ai-5.md").is_file(), "{run}");
    assert!(world.vault().join("05-signals/archive/noise-1.md").is_file(), "{run}");
    assert!(world.vault().join("00-inbox/own.md").is_file(), "{run}");
    let moved = fs::read_to_string(world.vault().join("05-signals/data/data-1.md")).unwrap();
    assert!(moved.contains("status: triaged\n") && moved.contains("domain: data\n"), "{moved}");
    let home = fs::read_to_string(world.vault().join("Home.md")).unwrap();
    assert_eq!(home, "see [[data-1]] and [x](05-signals/data/data-1.md)\n");
    let found = world.run("search", &["busy_timeout checkpoint", "--json"], "").code(0);
    assert!(found.text().contains("05-signals/data/data-1.md"), "{found}");

    world.run("triage", &["--undo"], "").code(0);
    assert_eq!(snapshot(&world), before);
    world.run("triage", &["--undo"], "").code(2);
}

#[test]
fn the_same_signals_get_the_same_scores() {
    let world = world();
    put(&world, "web-1");
    let run = || world.run("triage", &["--dry-run", "--json"], "").code(0).stdout;
    assert_eq!(run(), run());
}

#[test]
fn a_file_becomes_notes_once() {
    let world = world();
    let file = world.home().join("bookmarks.html");
    fs::write(
        &file,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF=\"https://www.sqlite.org/wal.html\" \
         TAGS=\"sqlite\">SQLite WAL mode: how to use it</A>\n<DT><A HREF=\"https://x.com/a\">look</A></DL>",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let first = world.run("triage", &[file, "--json"], "").code(0).json();
    assert_eq!(first["signals"].as_array().unwrap().len(), 2, "{first}");
    for signal in first["signals"].as_array().unwrap() {
        assert!(world.vault().join(signal["to"].as_str().unwrap()).is_file(), "{signal}");
    }
    let again = world.run("triage", &[file, "--json"], "").code(0).json();
    assert_eq!((again["signals"].as_array().unwrap().len(), again["known"].as_u64()), (0, Some(2)));
    world.run("triage", &["--undo"], "").code(0);
    assert!(
        !world.vault().join("05-signals/archive").read_dir().is_ok_and(|mut d| d.next().is_some())
    );
}

#[test]
fn json_lines_come_on_stdin_and_a_bad_one_is_named() {
    let world = world();
    let line = json!({ "title": "Kubernetes canary deploys: how to", "url": "https://kubernetes.io/x",
        "text": "Use a canary and automatic rollback. 1. send 5%. 2. compare p95 for 10 minutes." });
    let run = world.run("triage", &["-", "--json"], format!("{line}\nbroken\n")).code(1);
    assert!(run.errors().contains("line 2"), "{run}");
    assert_eq!(run.json()["signals"][0]["domain"], "devops", "{run}");
}

#[test]
fn what_cannot_be_read_is_an_error_in_one_line() {
    let world = World::new();
    for args in [&["/no/such/file.html"][..], &["--undo"], &["--undo", "x.html"], &["--nope"]] {
        let run = world.run("triage", args, "");
        assert!(matches!(run.status.code(), Some(1 | 2)), "{run}");
        assert_eq!(run.errors().lines().count(), 1, "{run}");
    }
    // An empty inbox is no error.
    world.run("triage", &[], "").code(0);
}

/// The half that no weight was set on. The bar lies a little below what was
/// measured, so that a change for the worse shows.
#[test]
fn the_held_out_signals_are_judged_as_labelled() {
    let world = world();
    let file = fixtures().join("held-out.jsonl");
    let run = world.run("triage", &["--eval", file.to_str().unwrap(), "--json"], "").code(0);
    let figures = run.json();
    assert!(figures["domain"].as_f64().unwrap() >= 0.9, "{run}");
    assert!(figures["route"].as_f64().unwrap() >= 0.85, "{run}");
    assert_eq!(figures["noise_kept"].as_f64().unwrap(), 0.0, "{run}");
}

#[test]
fn a_kill_loses_no_note() {
    let world = World::new();
    for n in 0..200 {
        world.note(
            &format!("00-inbox/s{n}.md"),
            format!("---\ntype: signal\n---\n[[s{}]]\n", n + 1),
        );
    }
    for wait in [2, 5, 9, 14, 20] {
        let mut child = world
            .command("triage")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait * 10));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    world.run("triage", &[], "").code(0);
    let notes = snapshot(&world);
    let names: std::collections::HashSet<_> = notes
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|ext| ext == "md"))
        .map(|(path, _)| path.file_name().unwrap().to_owned())
        .collect();
    for n in 0..200 {
        assert!(names.contains(std::ffi::OsStr::new(&format!("s{n}.md"))), "s{n} is gone");
    }
    assert!(world.vault().join("00-inbox").read_dir().unwrap().next().is_none());
}
