//! Damage that something else did to the file: found, and healed from the vault.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{Dice, assert_equals_fresh, fill, index_report};
use crate::harness::{World, run};

#[test]
fn a_corrupted_page_anywhere_is_found_and_healed() {
    let world = World::new();
    fill(&world);
    index_report(&world, &[]);
    let file = world.home().join("live.db");
    let mut dice = Dice(3);
    let n = 16;
    for round in 0..n {
        let mut bytes = fs::read(&file).unwrap();
        let page = dice.roll(bytes.len() as u64 / 4096) as usize * 4096;
        for byte in &mut bytes[page..page + 4096] {
            *byte = dice.roll(256) as u8;
        }
        fs::write(&file, bytes).unwrap();
        let report = index_report(&world, &[]);
        assert_ne!(report["rebuilt"], Value::Null, "round {round}: {report}");
        assert_equals_fresh(&world, &format!("a bad page at {page}"));
    }
    println!("{n} pages overwritten, all found and healed");
}

#[test]
fn damage_that_leaves_time_and_size_is_found_by_check() {
    let world = World::new();
    fill(&world);
    index_report(&world, &[]);
    let file = world.home().join("live.db");
    let (mut dice, mut n_found) = (Dice(4), 0);
    let n = 12;
    for round in 0..n {
        let bytes = fs::read(&file).unwrap();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        // Large pages are half empty: a place where something stands.
        let page = loop {
            let page = dice.roll(bytes.len() as u64 / 4096) as usize * 4096;
            if bytes[page..page + 4096].iter().any(|byte| *byte != 0) {
                break page;
            }
        };
        let mut bad = bytes;
        bad[page..page + 4096].fill(0);
        fs::write(&file, bad).unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        let report = index_report(&world, &["--check"]);
        n_found += usize::from(report["rebuilt"] != Value::Null);
        // What is left of a moved row may be zero, but nothing may be wrong.
        assert_equals_fresh(&world, &format!("round {round}, a zeroed page at {page}"));
    }
    assert!(n_found > n / 2, "{n_found} of {n} found");
    println!("{n} pages zeroed behind the seal's back: {n_found} in use, all found and healed");
}

/// Statements that any SQLite program may run; after each `integrity_check`
/// says that all is well.
const OUT_OF_STEP: [&str; 4] = [
    "DELETE FROM keyword_docsize WHERE id % 7 = 0",
    "DELETE FROM keyword_data WHERE id > 10",
    "DELETE FROM posting WHERE term LIKE 'zq%'",
    "UPDATE chunk SET heading = 'zqother' WHERE id % 5 = 0",
];

#[test]
fn a_keyword_index_silently_out_of_step_is_found_and_healed() {
    let world = World::new();
    fill(&world);
    index_report(&world, &[]);
    let file = world.home().join("live.db");
    for statement in OUT_OF_STEP {
        for is_unseen in [false, true] {
            let modified = fs::metadata(&file).unwrap().modified().unwrap();
            let script = "import sqlite3, sys\n\
                          db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                          db.execute(sys.argv[2])\n\
                          print(db.execute('PRAGMA integrity_check').fetchone()[0])\n\
                          db.execute('PRAGMA wal_checkpoint(TRUNCATE)')";
            let mut python = Command::new("python3");
            python.args(["-c", script]).arg(&file).arg(statement);
            let done = run(python, b"").code(0);
            assert_eq!(done.text(), "ok\n", "{done}");
            let args: &[&str] = if is_unseen {
                let opened = fs::File::options().write(true).open(&file).unwrap();
                opened.set_modified(modified).unwrap();
                &["--check"]
            } else {
                &[]
            };
            let report = index_report(&world, args);
            assert_ne!(report["rebuilt"], Value::Null, "{statement}: {report}");
            assert_equals_fresh(&world, statement);
        }
    }
    println!("{} ways out of step, twice each: all found and healed", OUT_OF_STEP.len());
}
