//! Runs that are killed, run out of disk, find damage, or meet other runs and
//! readers: after the next run the index equals one built fresh, row by row.
//!
//! `POSTIL_KILLS=200` sets how many runs are killed (20 without it).

mod damage;
mod disk;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use postil_core::store::{Opened, Reader};
use serde_json::Value;

use crate::harness::{World, run};

/// What the index says of each note, ids and times apart.
fn dump(world: &World, db: &str) -> BTreeMap<String, String> {
    let path = world.home().join(db);
    let Opened::Ready(reader) = Reader::open(&path).unwrap() else { panic!("no index at {db}") };
    let mut ids = Vec::new();
    reader.each_note(|note| ids.push(note.id)).unwrap();
    let path_of = |id: i64| reader.note(id).unwrap().unwrap().path;
    let mut notes = BTreeMap::new();
    for id in ids {
        let note = reader.note(id).unwrap().unwrap();
        let mut text = format!("{:?} {} {:?}\n", note.meta, note.size, note.hash);
        for id in note.first_chunk..note.first_chunk + i64::from(note.n_chunks) {
            let chunk = reader.chunk(id).unwrap().expect("a chunk of a note is missing");
            assert_eq!(chunk.note_id, note.id);
            text.push_str(&format!("{} {} {}\n", chunk.line, chunk.heading, chunk.text));
        }
        for link in reader.links_from(note.id).unwrap() {
            text.push_str(&format!("{:?} -> {:?}\n", link.link, link.to_note.map(path_of)));
        }
        notes.insert(note.path, text);
    }
    notes
}

/// A small generator of its own: runs are repeatable.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Words that some of the notes have, few enough for one answer.
const WORDS: [&str; 8] = ["zqant", "zqbee", "zqcat", "zqdog", "zqemu", "zqfox", "zqgnu", "zqhen"];

fn text(i: u64, version: u64) -> String {
    let words = "plain words about nothing in particular, repeated for length. ".repeat(12);
    format!(
        "---\ntags: [t{}]\n---\n# Note {i}\n\n{} {words}\n\n## Part\n\n[[n{}]] {} {words}\n",
        i % 7,
        WORDS[(i % 8) as usize],
        (i * 7 + version) % 300,
        WORDS[(version % 8) as usize],
    )
}

fn change_some(world: &World, dice: &mut Dice, version: u64) {
    for _ in 0..40 {
        let i = dice.roll(300);
        let path = format!("f{}/n{i}.md", i % 5);
        match dice.roll(5) {
            0 => {
                let _ = fs::remove_file(world.vault().join(&path));
            }
            1 => {
                let to = world.vault().join(format!("f{}/moved{i}.md", i % 3));
                let _ = fs::rename(world.vault().join(&path), to);
            }
            _ => {
                world.note(&path, text(i, version));
            }
        }
    }
}

/// Opens the index as a hook does. It waits 50 ms for a lock and then fails:
/// nothing that an indexer does may take that long.
fn live(world: &World, locked: &Mutex<BTreeMap<String, usize>>) -> Option<Box<Reader>> {
    match Reader::open(&world.home().join("live.db")) {
        Ok(Opened::Ready(reader)) => Some(reader),
        Err(error) if error.to_string().contains("locked") => {
            let cause = std::error::Error::source(&error).map(|cause| format!("{cause:?}"));
            *locked.lock().unwrap().entry(cause.unwrap_or_default()).or_default() += 1;
            None
        }
        other => panic!("no index: {other:?}"),
    }
}

fn fill(world: &World) {
    for i in 0..300 {
        world.note(&format!("f{}/n{i}.md", i % 5), text(i, 0));
    }
}

/// Indexes into a file of its own and compares.
fn assert_equals_fresh(world: &World, what: &str) {
    assert_same(world, "live.db", what);
    // Every entry of the keyword table and the snapshot follows from the texts.
    let report = index_report(world, &["--check"]);
    assert_eq!(report["rebuilt"], Value::Null, "{what}: {report}");
}

/// The same for the index at `db`.
fn assert_same(world: &World, db: &str, what: &str) {
    let fresh = world.home().join("fresh.db");
    for ending in ["db", "db-wal", "db-shm", "db.lock"] {
        let _ = fs::remove_file(fresh.with_extension(ending));
    }
    world.run("index", &["--db", fresh.to_str().unwrap(), "--json"], "").code(0);
    let (found, expected) = (dump(world, db), dump(world, "fresh.db"));
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "{what}: other notes"
    );
    for (path, text) in &expected {
        assert_eq!(found.get(path), Some(text), "{what}: {path} differs");
    }
    // Both ways of finding agree with the tables of record.
    for word in WORDS {
        assert_eq!(search(world, db, word), search(world, "fresh.db", word), "{what}: {word}");
    }
}

fn search(world: &World, db: &str, query: &str) -> Vec<String> {
    let db = world.home().join(db);
    let args = ["--json", "--limit", "400", "--db", db.to_str().unwrap(), query];
    let run = world.run("search", &args, "");
    let hits = run.json();
    let mut paths: Vec<String> = hits
        .as_array()
        .unwrap_or_else(|| panic!("no hits for {query}\n{run}"))
        .iter()
        .map(|hit| hit["path"].as_str().unwrap().to_owned())
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

fn index(world: &World, args: &[&str]) -> Command {
    let mut command = world.command("index");
    command.arg("--db").arg(world.home().join("live.db")).arg("--json").args(args);
    command
}

fn index_report(world: &World, args: &[&str]) -> Value {
    run(index(world, args), b"").code(0).json()
}

/// How many runs are killed.
fn n_kills() -> usize {
    let given = std::env::vars().find(|(name, _)| name == "POSTIL_KILLS");
    given.map_or(20, |(_, n)| n.parse().unwrap())
}

/// Starts runs on a vault that keeps changing and ends them at random moments
/// with `end`; what they leave, the next run makes whole. Returns how many
/// ended by themselves first.
fn kill_runs(n_kills: usize, seed: u64, end: impl Fn(&mut Child, &mut Dice) -> bool) -> usize {
    let world = World::new();
    fill(&world);
    let mut dice = Dice(seed);
    // How long a whole run takes decides when it is killed.
    let started = Instant::now();
    index_report(&world, &[]);
    let whole_us = started.elapsed().as_micros() as u64;
    let (mut n_killed, mut n_early, mut version) = (0, 0, 1);
    while n_killed < n_kills {
        change_some(&world, &mut dice, version);
        version += 1;
        let is_full = dice.roll(4) == 0;
        if dice.roll(8) == 0 {
            for ending in ["db", "db-wal", "db-shm"] {
                let _ = fs::remove_file(world.home().join("live").with_extension(ending));
            }
        }
        let args: &[&str] = if is_full { &["--full"] } else { &[] };
        let mut child =
            index(&world, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(dice.roll(whole_us * 5 / 4)));
        if !end(&mut child, &mut dice) {
            n_early += 1;
            assert!(n_early <= n_kills * 20, "runs end before they can be killed");
            continue;
        }
        n_killed += 1;
        let report = index_report(&world, &[]);
        // A killed run is no damage: nothing has to be built anew for it.
        assert_eq!(report["rebuilt"], Value::Null, "kill {n_killed}: {report}");
        assert!(!world.home().join("live.db.building").exists());
        assert_equals_fresh(&world, &format!("kill {n_killed}"));
    }
    n_early
}

#[test]
fn killed_runs_leave_nothing_half_done() {
    let n = n_kills();
    let n_early = kill_runs(n, 0x9E37_79B9_7F4A_7C15, |child, _| {
        child.kill().unwrap();
        child.wait().unwrap().code().is_none()
    });
    println!("{n} runs killed by SIGKILL ({n_early} ended first), 0 inconsistent");
}

#[test]
fn interrupted_runs_end_in_order_and_leave_nothing_half_done() {
    let n = n_kills().div_ceil(2);
    let n_reports = Cell::new(0);
    let n_early = kill_runs(n, 0xD1B5_4A32_D192_ED03, |child, dice| {
        let signal = ["-INT", "-TERM", "-HUP"][dice.roll(3) as usize];
        // The second signal does not wait for the note in hand.
        for _ in 0..1 + dice.roll(2) {
            Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        }
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let Some(code) = child.wait().unwrap().code() else { return true };
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(code, i32::from(report["interrupted"] == true), "{text}");
        n_reports.set(n_reports.get() + usize::from(code == 1));
        code == 1
    });
    println!(
        "{n} runs interrupted ({n_early} ended first), {} ended with a report, 0 inconsistent",
        n_reports.get()
    );
}

#[test]
fn notes_that_come_change_and_vanish_during_a_run_are_right_after_the_next() {
    let world = World::new();
    fill(&world);
    index_report(&world, &[]);
    let is_over = AtomicBool::new(false);
    let n_changes = std::thread::scope(|threads| {
        let changer = threads.spawn(|| {
            let (mut dice, mut n) = (Dice(11), 0);
            while !is_over.load(Ordering::Relaxed) {
                change_some(&world, &mut dice, n);
                n += 1;
            }
            n * 40
        });
        for run_no in 0..12 {
            let args: &[&str] = if run_no % 4 == 3 { &["--full"] } else { &[] };
            let run = run(index(&world, args), b"");
            // 1 where a note could not be read at its moment.
            assert!(matches!(run.status.code(), Some(0 | 1)), "{run}");
            let report = run.json();
            for item in report["skipped"].as_array().unwrap() {
                assert!(item["reason"].as_str().unwrap().contains("vanished"), "{report}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
        changer.join().unwrap()
    });
    index_report(&world, &[]);
    assert_equals_fresh(&world, "a vault that never rests");
    println!("{n_changes} changes during 12 runs, 0 inconsistent");
}

#[test]
fn two_indexers_and_twenty_readers_do_not_meet() {
    let world = World::new();
    fill(&world);
    index_report(&world, &[]);
    let is_over = AtomicBool::new(false);
    let locked = Mutex::new(BTreeMap::new());
    let (n_reads, n_runs, n_busy) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for _ in 0..20 {
            threads.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // No note comes or goes: every reader sees all of them.
                    let Some(reader) = live(&world, &locked) else { continue };
                    assert_eq!(reader.counts().unwrap(), (300, 600));
                    let hits = search(&world, "live.db", WORDS[3]);
                    assert!(hits.len() >= 38, "{} hits", hits.len());
                    n_reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let indexers: Vec<_> = [["--full"].as_slice(), &[]]
            .into_iter()
            .map(|args| {
                let (world, n_runs, n_busy) = (&world, &n_runs, &n_busy);
                threads.spawn(move || {
                    for version in 1..8 {
                        for i in (0..300).step_by(17) {
                            // Whole or not at all, as editors save: an indexer
                            // that reads half a note rightly stores half of it.
                            let fresh = world.home().join(format!("fresh-{}", args.len()));
                            fs::write(&fresh, text(i, version)).unwrap();
                            let note = format!("f{}/n{i}.md", i % 5);
                            fs::rename(&fresh, world.vault().join(note)).unwrap();
                        }
                        let report = index_report(world, args);
                        n_runs.fetch_add(1, Ordering::Relaxed);
                        if report["busy"] == true {
                            n_busy.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        let outcomes: Vec<_> = indexers.into_iter().map(|indexer| indexer.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(outcomes.iter().all(Result::is_ok), "an indexer failed");
    });
    index_report(&world, &[]);
    assert_equals_fresh(&world, "after concurrent runs");
    let locked = locked.into_inner().unwrap();
    assert!(locked.is_empty(), "readers found the index locked: {locked:?}");
    println!(
        "{} runs ({} saw the lock), {} reads by 20 readers, 0 wrong",
        n_runs.into_inner(),
        n_busy.into_inner(),
        n_reads.into_inner()
    );
}
