//! The hostile vault: every shape of note, name and file that indexers like
//! this one were reported to fail on, built, indexed and compared with what a
//! person would expect. `tests/hostile.sh` prints the whole table.

mod cases;
mod special;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use self::cases::{CASES, Expect, SPECIAL};
use self::table::Table;
use crate::harness::World;

#[test]
fn the_hostile_vault_is_indexed_as_a_person_expects() {
    let mut world = World::new();
    for case in CASES {
        for (path, text) in case.files {
            world.note(path, text);
        }
    }
    special::build(&world);
    let has_device = special::build_device(&world);
    world.as_ordinary_user();
    let before = listing(&world.vault());
    // Unreadable notes, among others, make it 1.
    let report = world.run("index", &["--json", "-v"], "").code(1).json();
    let mut table = Table::new(&world, &report);
    for case in CASES {
        table.check(case.name, case.expected);
    }
    for (name, expected) in SPECIAL {
        table.check(name, expected);
    }
    if has_device {
        table.check("device", &[Expect::Skipped("g/device.md", "device")]);
    }
    let few = ["--json", "--limit", "5", "--folder", "few", "zqstarve"];
    let found = world.run("search", &few, "").json()[0]["path"].to_string();
    table.equal("H65 a folder of one among 400", "search zqstarve", "\"few/one.md\"", &found);
    // C20, C21, G56: no note, however odd, is looked at again.
    let again = world.run("index", &["--json", "-v"], "").code(1).json();
    let n_notes = &report["indexed"];
    table.equal("C20 a second run", "indexed", "0", &again["indexed"].to_string());
    table.equal(
        "C20 a second run",
        "unchanged",
        &n_notes.to_string(),
        &again["unchanged"].to_string(),
    );
    table.equal("C20 a second run", "removed", "0", &again["removed"].to_string());
    let is_untouched = if before == listing(&world.vault()) { "untouched" } else { "written to" };
    table.equal("C19, F42 the vault", "every byte and time of it", "untouched", is_untouched);
    table.end();
    fs::set_permissions(world.vault().join("g/locked"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every path below `folder` with size, times and content.
fn listing(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
            }
            let is_small_file = meta.is_file() && meta.len() < 1 << 20;
            let content = is_small_file.then(|| fs::read(entry.path()).ok()).flatten();
            let times = (meta.mtime_nsec(), meta.ctime_nsec());
            let value = (meta.len(), times.0, times.1, content.unwrap_or_default());
            found.insert(entry.path(), value);
        }
    }
    found
}
