//! A full disk: a small file system in memory where one can be mounted (as
//! root), and everywhere a limit on the size of files, at which a write fails
//! in the same place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Dice, assert_equals_fresh, assert_same, change_some, fill, index_report, search};
use crate::harness::{Run, World, run};

/// A mounted file system of a given size, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where this user may not mount.
    fn mount(at: &Path, kib: u64) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let size = format!("size={kib}k");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        mount.is_ok_and(|mount| mount.status.success()).then(|| Self(at.to_owned()))
    }

    fn resize(&self, kib: u64) {
        let options = format!("remount,size={kib}k");
        assert!(
            Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success()
        );
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Detached at once, gone when the last reader of it is.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn assert_one_line(failed: &Run) {
    let lines = failed.errors();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.contains("no model")).collect();
    assert_eq!(lines.len(), 1, "{failed}");
}

#[test]
fn a_full_disk_at_any_point_leaves_the_index_whole() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(&world.home().join("disk"), 64 << 10) else {
        println!("no disk to fill: mounting one needs root; the limit on files stands for it");
        return;
    };
    fill(&world);
    let db = "disk/live.db";
    let args = |more: &[&'static str]| [&["--json", "--db", "disk/live.db"], more].concat();
    // What a rebuild beside an index takes at most.
    world.run("index", &args(&[]), "").code(0);
    let whole_kib = 4 * fs::metadata(world.home().join(db)).unwrap().len() / 1024;
    let (mut n_failed, mut n_runs, mut version, mut dice) = (0, 0, 500, Dice(5));
    for step in 1..=24 {
        change_some(&world, &mut dice, version);
        version += 1;
        let mut has_index = true;
        for more in [&[][..], &["--full"]] {
            let is_first = dice.roll(4) == 0;
            if is_first {
                has_index = false;
                for file in fs::read_dir(world.home().join("disk")).unwrap() {
                    fs::remove_file(file.unwrap().path()).unwrap();
                }
            }
            // Less than the index has already cannot be asked for.
            let used = used_kib(&world);
            disk.resize((whole_kib * step / 24).max(used + 64));
            let tight = world.run("index", &args(more), "");
            n_runs += 1;
            match tight.status.code() {
                Some(2) => {
                    n_failed += 1;
                    assert_one_line(&tight);
                    let said = tight.errors();
                    assert!(said.contains("full") || said.contains("space"), "{tight}");
                }
                Some(0) => {}
                _ => panic!("{tight}"),
            }
            has_index |= tight.status.success();
            if has_index {
                assert!(!search(&world, db, "particular").is_empty());
            }
        }
        disk.resize(64 << 10);
        world.run("index", &args(&[]), "").code(0);
        assert_same(&world, db, &format!("a disk of {step}/24"));
    }
    assert!(n_failed > 5, "{n_failed} runs met the end of the disk");
    println!("{n_runs} runs on a small disk, {n_failed} found it full, 0 inconsistent");
}

/// By the file system: a file without a name takes room while somebody reads it,
/// and this process's own reader keeps the last index open.
fn used_kib(world: &World) -> u64 {
    let folder = world.home().join("disk");
    let df = Command::new("df").args(["-k", "--output=used"]).arg(folder).output().unwrap();
    let table = String::from_utf8(df.stdout).unwrap();
    table.lines().last().unwrap().trim().parse().unwrap()
}

#[test]
fn a_limit_on_the_size_of_files_leaves_the_index_whole() {
    let world = World::new();
    fill(&world);
    let report = index_report(&world, &[]);
    assert_eq!(report["indexed"], 300);
    let size = fs::metadata(world.home().join("live.db")).unwrap().len();
    let (mut n_failed, mut version) = (0, 100);
    let mut dice = Dice(7);
    // A limit on the size of a file stands for the full disk: a write fails.
    for tenth in 1..=10 {
        change_some(&world, &mut dice, version);
        version += 1;
        for args in ["", "--full"] {
            let blocks = size * tenth / 8 / 512;
            let index = crate::harness::binary_path("index");
            let db = world.home().join("live.db");
            let script = format!(
                "trap '' XFSZ; ulimit -f {blocks}; exec {} --db {} --json {args}",
                index.display(),
                db.display()
            );
            let limited = run(world.shell(&script), b"");
            match limited.status.code() {
                Some(2) => {
                    n_failed += 1;
                    assert_one_line(&limited);
                }
                Some(0) => {}
                _ => panic!("{limited}"),
            }
            // What is there can be read all the same.
            assert!(!search(&world, "live.db", "particular").is_empty());
        }
        index_report(&world, &[]);
        assert_equals_fresh(&world, &format!("disk full at {tenth}/8"));
    }
    assert!(n_failed > 0, "no run met the limit");
    println!("{n_failed} runs met a limit on the size of files, 0 inconsistent");
}
