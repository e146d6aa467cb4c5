//! Finds the vaults on this machine: in Obsidian's own list, else by looking
//! into the home folder.

use std::fs;
use std::path::{Path, PathBuf};

use postil_core::config::Host;
use serde_json::Value;

/// Where Obsidian keeps its list of vaults, below the home folder.
const OBSIDIAN_LISTS: [&str; 4] = [
    ".config/obsidian/obsidian.json",
    ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json",
    "snap/obsidian/current/.config/obsidian/obsidian.json",
    "Library/Application Support/obsidian/obsidian.json",
];

/// What marks a folder as a vault.
const MARKS: [&str; 3] = [".obsidian", ".indexignore", "00-inbox"];

/// How deep below the home folder vaults are looked for, and in how many
/// folders at most: a second's work even on a slow disk.
const MAX_DEPTH: usize = 3;
const MAX_FOLDERS: usize = 20_000;

/// Folders that hold no vaults and much else.
const PASSED_OVER: [&str; 8] =
    ["AppData", "Applications", "Library", "build", "go", "node_modules", "snap", "target"];

/// Returns the vaults, the one in use last first; with what Obsidian knows, the
/// home folder is not searched.
pub(crate) fn find(host: &Host) -> Vec<PathBuf> {
    let mut known: Vec<(u64, PathBuf)> =
        OBSIDIAN_LISTS.iter().flat_map(|list| listed(&host.home.join(list))).collect();
    known.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    known.dedup_by(|a, b| a.1 == b.1);
    if known.is_empty() {
        search(&host.home)
    } else {
        known.into_iter().map(|(_, path)| path).collect()
    }
}

/// Reads a list of Obsidian's: path and time of last use of each vault that
/// exists; an open one counts as used now.
fn listed(list: &Path) -> Vec<(u64, PathBuf)> {
    let Some(list) =
        fs::read(list).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok())
    else {
        return Vec::new();
    };
    let vaults = list.get("vaults").and_then(Value::as_object).into_iter().flatten();
    vaults
        .filter_map(|(_, vault)| {
            let path = PathBuf::from(vault.get("path")?.as_str()?);
            let used = vault.get("ts").and_then(Value::as_u64).unwrap_or(0);
            let is_open = vault.get("open").and_then(Value::as_bool).unwrap_or(false);
            path.is_dir().then_some((if is_open { u64::MAX } else { used }, path))
        })
        .collect()
}

/// Looks for marked folders, nearest first; never inside one already found.
fn search(home: &Path) -> Vec<PathBuf> {
    let mut level = vec![home.to_owned()];
    let mut found = Vec::new();
    let mut n_folders = 0;
    for _ in 0..=MAX_DEPTH {
        let mut next = Vec::new();
        for folder in level {
            n_folders += 1;
            if n_folders > MAX_FOLDERS {
                return found;
            }
            if folder != home && MARKS.iter().any(|mark| folder.join(mark).exists()) {
                found.push(folder);
                continue;
            }
            next.extend(subfolders(&folder));
        }
        level = next;
    }
    found
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && !PASSED_OVER.contains(&name.as_ref())
        })
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(home: &Path) -> Host {
        Host { home: home.to_owned(), ..Host::default() }
    }

    #[test]
    fn marked_folders_are_found_nearest_first() {
        let dir = tempfile::tempdir().unwrap();
        for folder in [
            "a/deep/notes/.obsidian",
            "zettel/00-inbox",
            "node_modules/x/.obsidian",
            "zettel/sub/.obsidian",
            ".hidden/.obsidian",
            "work/code",
        ] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let found = find(&host(dir.path()));
        assert_eq!(found, [dir.path().join("zettel"), dir.path().join("a/deep/notes")]);
    }

    #[test]
    fn obsidian_knows_best() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        for folder in ["old", "new", "other/.obsidian", ".config/obsidian"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let list = serde_json::json!({"vaults": {
            "1": {"path": home.join("old"), "ts": 5}, "2": {"path": home.join("new"), "ts": 9},
            "3": {"path": home.join("gone"), "ts": 99}}});
        fs::write(home.join(".config/obsidian/obsidian.json"), list.to_string()).unwrap();
        assert_eq!(find(&host(home)), [home.join("new"), home.join("old")]);
        fs::write(home.join(".config/obsidian/obsidian.json"), "rubbish").unwrap();
        assert_eq!(find(&host(home)), [home.join("other")]);
    }
}
