//! `index` through its life: what changed and only that, what it reports, what
//! survives and what heals.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{World, run};

impl World {
    /// Indexes the vault and returns the report.
    #[track_caller]
    fn indexed(&self, args: &[&str]) -> Value {
        let args = [&["--json", "-v"], args].concat();
        self.run("index", &args, "").code(0).json()
    }

    /// The notes that a search for the word finds, sorted.
    #[track_caller]
    fn finds(&self, word: &str, expected: &[&str]) {
        let run = self.run("search", &["--json", "--limit", "20", word], "");
        let hits = run.json();
        let mut paths: Vec<&str> =
            hits.as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths, expected, "notes found for {word}\n{run}");
    }

    fn set_mtime(&self, path: &str, secs: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(secs);
        let file = fs::File::options().write(true).open(self.vault().join(path)).unwrap();
        file.set_modified(time).unwrap();
    }
}

fn counts(report: &Value) -> [u64; 5] {
    ["indexed", "unchanged", "touched", "renamed", "removed"]
        .map(|name| report[name].as_u64().unwrap())
}

fn three() -> World {
    World::with_notes(&[
        ("a.md", "# A\n\nzqalpha stands in the first note.\n"),
        ("b.md", "# B\n\nzqbeta stands in the second note, see [[a]].\n"),
        ("sub/c.md", "# C\n\nzqgamma stands in the third note.\n"),
    ])
}

#[test]
fn only_what_changed_is_indexed() {
    let world = three();
    assert_eq!(counts(&world.indexed(&[])), [3, 0, 0, 0, 0]);
    assert_eq!(counts(&world.indexed(&[])), [0, 3, 0, 0, 0]);
    world.note("a.md", "# A\n\nzqdelta stands in the first note now.\n");
    assert_eq!(counts(&world.indexed(&[])), [1, 2, 0, 0, 0]);
    world.finds("zqalpha", &[]);
    world.finds("zqdelta", &["a.md"]);
    world.finds("zqbeta", &["b.md"]);
}

#[test]
fn a_deleted_note_is_found_no_more() {
    let world = three();
    world.indexed(&[]);
    fs::remove_file(world.vault().join("a.md")).unwrap();
    fs::remove_dir_all(world.vault().join("sub")).unwrap();
    let report = world.indexed(&[]);
    assert_eq!(counts(&report), [0, 1, 0, 0, 2]);
    world.finds("zqalpha", &[]);
    world.finds("zqgamma", &[]);
}

#[test]
fn the_last_note_can_go() {
    let world = World::with_notes(&[("a.md", "zqalpha alone in the vault\n")]);
    world.indexed(&[]);
    fs::remove_file(world.vault().join("a.md")).unwrap();
    world.indexed(&[]);
    world.finds("zqalpha", &[]);
}

#[test]
fn a_renamed_note_has_its_new_name_only() {
    let world = three();
    world.set_mtime("a.md", 1_700_000_000);
    world.indexed(&[]);
    fs::rename(world.vault().join("a.md"), world.vault().join("sub/renamed.md")).unwrap();
    let report = world.indexed(&[]);
    assert_eq!(counts(&report), [1, 2, 0, 1, 0]);
    assert_eq!(report["renamed_paths"][0][1], "sub/renamed.md");
    world.finds("zqalpha", &["sub/renamed.md"]);
}

#[test]
fn two_notes_that_swap_names_keeping_time_and_size_are_seen() {
    let world = World::with_notes(&[("a.md", "zqone is here\n"), ("b.md", "zqtwo is here\n")]);
    world.set_mtime("a.md", 1_700_000_000);
    world.set_mtime("b.md", 1_700_000_000);
    world.indexed(&[]);
    let path = |name: &str| world.vault().join(name);
    fs::rename(path("a.md"), path("t")).unwrap();
    fs::rename(path("b.md"), path("a.md")).unwrap();
    fs::rename(path("t"), path("b.md")).unwrap();
    world.indexed(&[]);
    world.finds("zqone", &["b.md"]);
    world.finds("zqtwo", &["a.md"]);
}

#[test]
fn a_restored_backup_is_seen_though_it_is_older() {
    let world = three();
    world.set_mtime("a.md", 1_700_000_000);
    world.indexed(&[]);
    world.note("a.md", "# A\n\nzqolder stands in the first note.\n");
    world.set_mtime("a.md", 1_600_000_000);
    world.indexed(&[]);
    world.finds("zqolder", &["a.md"]);
    world.finds("zqalpha", &[]);
}

#[test]
fn a_touched_note_costs_a_hash() {
    let world = three();
    world.indexed(&[]);
    world.set_mtime("a.md", 1_600_000_000);
    let report = world.indexed(&[]);
    assert_eq!(counts(&report), [0, 3, 1, 0, 0]);
    assert_eq!(counts(&world.indexed(&[])), [0, 3, 0, 0, 0]);
}

#[test]
fn a_folder_that_is_ignored_later_leaves_the_index_and_comes_back() {
    let world = three();
    world.indexed(&[]);
    world.note(".indexignore", "sub/\n");
    assert_eq!(counts(&world.indexed(&[])), [0, 2, 0, 0, 1]);
    world.finds("zqgamma", &[]);
    world.note(".indexignore", "sub/*\n!sub/c.md\n");
    world.indexed(&[]);
    world.finds("zqgamma", &["sub/c.md"]);
}

#[test]
fn links_follow_notes_that_come_and_go() {
    let world = World::with_notes(&[
        ("src.md", "[[Target]] is linked from this note.\n"),
        ("deep/er/Target.md", "zqdeep target\n"),
    ]);
    let leads_to = |world: &World| {
        let reader = world.reader();
        let src = reader.note_at("src.md").unwrap().unwrap();
        let to = reader.links_from(src.id).unwrap()[0].to_note;
        to.map(|id| reader.note(id).unwrap().unwrap().path)
    };
    world.indexed(&[]);
    assert_eq!(leads_to(&world).as_deref(), Some("deep/er/Target.md"));
    world.note("x/target.md", "zqshorter target\n");
    world.indexed(&[]);
    assert_eq!(leads_to(&world).as_deref(), Some("x/target.md"));
    fs::remove_file(world.vault().join("x/target.md")).unwrap();
    world.indexed(&[]);
    assert_eq!(leads_to(&world).as_deref(), Some("deep/er/Target.md"));
    fs::remove_file(world.vault().join("deep/er/Target.md")).unwrap();
    world.indexed(&[]);
    assert_eq!(leads_to(&world), None);
    world.note("Target.md", "zqnew target\n");
    world.indexed(&["--file", "Target.md"]);
    assert_eq!(leads_to(&world).as_deref(), Some("Target.md"));
}

#[test]
fn links_orphans_and_links_to_nothing_can_be_asked_for() {
    let world = World::with_notes(&[
        ("hub.md", "[[leaf]] and [[gone]] and ![[picture.png]]\n"),
        ("leaf.md", "text\n"),
        ("alone.md", "[[#self]] text\n"),
    ]);
    world.indexed(&[]);
    let links = |args: &[&str]| world.run("postil", &[&["links", "--json"], args].concat(), "");
    assert_eq!(links(&["--orphans"]).code(0).json(), serde_json::json!(["alone.md", "hub.md"]));
    let missing = links(&["--missing"]).code(0).json();
    assert_eq!(missing, serde_json::json!([{"path": "hub.md", "line": 1, "target": "gone"}]));
    let leaf = links(&["leaf.md"]).code(0).json();
    assert_eq!(leaf["from"], serde_json::json!([{"path": "hub.md", "line": 1}]));
    assert_eq!(links(&["hub.md"]).code(0).json()["to"][0]["path"], "leaf.md");
    links(&["nowhere.md"]).code(2);
}

#[test]
fn one_file_is_indexed_alone() {
    let world = three();
    world.indexed(&[]);
    world.note("a.md", "# A\n\nzqsingle stands in the first note.\n");
    world.note("b.md", "# B\n\nzqnotyet stands in the second note.\n");
    let path = world.vault().join("a.md");
    let report = world.indexed(&["--file", path.to_str().unwrap()]);
    assert_eq!(counts(&report), [1, 0, 0, 0, 0]);
    world.finds("zqsingle", &["a.md"]);
    world.finds("zqbeta", &["b.md"]);
    fs::remove_file(path).unwrap();
    assert_eq!(counts(&world.indexed(&["--file", "a.md"])), [0, 0, 0, 0, 1]);
    world.finds("zqsingle", &[]);
    world.indexed(&[]);
    world.finds("zqnotyet", &["b.md"]);
    let outside = world.run("index", &["--file", "/etc/hostname"], "").code(2);
    assert!(outside.errors().contains("not in the vault"), "{outside}");
    world.note(".indexignore", "sub/\n");
    world.indexed(&["--file", "sub/c.md"]);
    world.finds("zqgamma", &[]);
}

#[test]
fn what_cannot_be_read_keeps_what_was_known_of_it() {
    let mut world = three();
    world.as_ordinary_user();
    world.indexed(&[]);
    let path = world.note("a.md", "# A\n\nzqhidden stands in the first note.\n");
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&path, 0o000);
    mode(&world.vault().join("sub"), 0o000);
    let report = world.run("index", &["--json"], "").code(1).json();
    let skipped: Vec<&str> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["path"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, ["a.md", "sub"]);
    assert_eq!(report["removed"], 0);
    world.finds("zqalpha", &["a.md"]);
    world.finds("zqgamma", &["sub/c.md"]);
    mode(&path, 0o644);
    mode(&world.vault().join("sub"), 0o755);
    world.indexed(&[]);
    world.finds("zqhidden", &["a.md"]);
}

#[test]
fn a_missing_vault_removes_nothing() {
    let world = three();
    world.indexed(&[]);
    let away = world.home().join("away");
    fs::rename(world.vault(), &away).unwrap();
    let run = world.run("index", &[], "").code(2);
    assert!(run.errors().contains("vault"), "{run}");
    fs::rename(&away, world.vault()).unwrap();
    assert_eq!(counts(&world.indexed(&[])), [0, 3, 0, 0, 0]);
}

#[test]
fn secrets_are_counted_by_name_and_stored_nowhere() {
    let secret = ["AKIA", "Z7QKPRWMXN4TLBVD"].concat();
    let world = World::with_notes(&[("a.md", &format!("# Keys\n\nThe key {secret} is here.\n"))]);
    let run = world.run("index", &["-v"], "").code(0);
    assert!(run.text().contains("redacted 1 x "), "{run}");
    assert!(!run.text().contains(&secret), "{run}");
    let bytes = fs::read(world.index_file()).unwrap();
    assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
}

#[test]
fn a_second_run_sees_the_first_and_ends() {
    let world = three();
    world.indexed(&[]);
    let lock = world.index_file().with_extension("db.lock");
    // The lock is the system's: any holder will do.
    let mut holder = std::process::Command::new("flock")
        .args([lock.to_str().unwrap(), "sh", "-c", "echo held; cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut line).unwrap();
    let run = world.run("index", &[], "").code(0);
    assert!(run.text().contains("another run"), "{run}");
    assert_eq!(world.run("index", &["--json"], "").code(0).json()["busy"], true);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(counts(&world.indexed(&[])), [0, 3, 0, 0, 0]);
}

#[test]
fn a_file_changed_by_something_else_is_built_anew() {
    let world = three();
    world.indexed(&[]);
    let file = world.index_file();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    for byte in &mut bytes[middle..middle + 512] {
        *byte ^= 0x5A;
    }
    fs::write(&file, bytes).unwrap();
    let report = world.indexed(&[]);
    assert!(report["rebuilt"].as_str().is_some(), "{report}");
    world.finds("zqalpha", &["a.md"]);
    world.finds("zqgamma", &["sub/c.md"]);
    assert_eq!(counts(&world.indexed(&[])), [0, 3, 0, 0, 0]);
}

#[test]
fn a_truncated_an_emptied_and_a_foreign_file() {
    let world = three();
    world.indexed(&[]);
    let file = world.index_file();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 3]).unwrap();
    world.indexed(&[]);
    world.finds("zqalpha", &["a.md"]);
    fs::write(&file, "").unwrap();
    world.indexed(&[]);
    world.finds("zqalpha", &["a.md"]);
    fs::write(&file, "this is a letter to my aunt, not an index\n".repeat(100)).unwrap();
    let run = world.run("index", &[], "");
    if run.status.code() == Some(2) {
        assert!(run.errors().contains("not"), "{run}");
        assert!(fs::read_to_string(&file).unwrap().contains("aunt"), "it was overwritten");
    } else {
        world.finds("zqalpha", &["a.md"]);
    }
}

#[test]
fn a_read_only_folder_is_an_error_that_names_it_and_can_be_searched() {
    let mut world = three();
    let folder = world.home().join("locked");
    fs::create_dir(&folder).unwrap();
    world.as_ordinary_user();
    let db = folder.join("x.db");
    let db = db.to_str().unwrap();
    world.run("index", &["--db", db], "").code(0);
    let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    for has_index in [true, false] {
        mode(0o555);
        if has_index {
            let hits = world.run("search", &["--json", "--db", db, "zqalpha"], "").code(0).json();
            assert_eq!(hits[0]["path"], "a.md");
        }
        world.note("a.md", format!("# A\n\nzqalpha zqagain {has_index}.\n"));
        for args in [&["--db", db][..], &["--full", "--db", db]] {
            let run = world.run("index", args, "");
            // A file that can be written may be brought up to date.
            if !has_index || run.status.code() != Some(0) {
                let run = run.code(2);
                assert!(run.errors().contains("locked"), "{run}");
                let lines = run.errors().lines().filter(|line| !line.contains("no model")).count();
                assert_eq!(lines, 1, "{run}");
            }
        }
        mode(0o755);
        world.run("index", &["--db", db], "").code(0);
        let hits = world.run("search", &["--json", "--db", db, "zqagain"], "").code(0).json();
        assert_eq!(hits[0]["path"], "a.md");
        for file in fs::read_dir(&folder).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
}

#[test]
fn a_full_disk_costs_nothing_but_the_run() {
    let world = three();
    world.indexed(&[]);
    let words =
        |i: usize| format!("# N{i}\n\n{}\n", format!("zqfull{i} text {i} of it. ").repeat(400));
    for i in 0..200 {
        world.note(&format!("many/n{i}.md"), words(i));
    }
    // A limit on the size of files stands for the full disk: the write fails.
    let index = crate::harness::binary_path("index");
    let script = format!("trap '' XFSZ; ulimit -f 600; exec {} --json", index.display());
    let failed = run(world.shell(&script), b"").code(2);
    assert_eq!(
        failed.errors().lines().filter(|line| !line.contains("no model")).count(),
        1,
        "{failed}"
    );
    world.finds("zqalpha", &["a.md"]);
    let report = world.indexed(&[]);
    assert_eq!(report["rebuilt"], Value::Null, "{report}");
    assert!(world.reader().note_at("many/n7.md").unwrap().is_some());
}

#[test]
fn the_first_interrupt_ends_the_run_after_the_note_in_hand() {
    let world = World::new();
    for i in 0..600 {
        world.note(
            &format!("n{i:03}.md"),
            format!("# N{i}\n\nzqn{i} {}\n", "some text. ".repeat(300)),
        );
    }
    let mut child = world
        .command("index")
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(60));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let mut text = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut text).unwrap();
    let status = child.wait().unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    // A fast machine may have been done already.
    if report["interrupted"] == true {
        assert_eq!(status.code(), Some(1));
        let n = report["indexed"].as_u64().unwrap();
        // Nobody is told that all is indexed.
        let doctor = world.run("postil", &["doctor"], "").text();
        assert!(doctor.contains(&format!("{} notes changed since", 600 - n)), "{doctor}");
        assert_eq!(counts(&world.indexed(&[]))[..2], [600 - n, n]);
    }
    assert!(world.reader().note_at("n599.md").unwrap().is_some());
}

#[test]
fn the_report_can_be_quiet_and_progress_is_a_count() {
    let world = three();
    assert_eq!(world.run("index", &["--quiet"], "").code(0).text(), "");
    for i in 0..600 {
        world.note(&format!("n{i:03}.md"), "some text of a note\n");
    }
    let run = world.run("index", &[], "").code(0);
    assert!(run.errors().contains("\n500/60"), "{run}");
    assert!(!run.errors().contains('\r') && !run.errors().contains('\u{1b}'), "{run}");
    let usage = world.run("index", &["--flul"], "").code(2);
    assert!(usage.errors().contains("--help"), "{usage}");
}
