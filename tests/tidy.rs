//! Invariants of the source that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the core crate; each imports only from those before it.
const ORDER: [&str; 16] = [
    "error", "text", "model", "redact", "analyse", "compress", "eval", "config", "embed", "store",
    "ingest", "recall", "capture", "triage", "hook", "inject",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file below `folder`, with its text.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut pending = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty(), "no sources in {folder}");
    files
}

/// The module of the core crate that a file belongs to.
fn module(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("core/src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

fn position(module: &str) -> usize {
    ORDER
        .iter()
        .position(|known| *known == module)
        .unwrap_or_else(|| panic!("tests/tidy.rs does not know the module `{module}`"))
}

#[test]
fn modules_import_only_from_those_before_them() {
    for (path, text) in sources("core/src") {
        let own = module(&path);
        if own == "lib" {
            continue;
        }
        for (_, rest) in
            text.match_indices("crate::").map(|(at, name)| text.split_at(at + name.len()))
        {
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let is_module = name.chars().next().is_some_and(char::is_lowercase);
            if !is_module || name == own {
                continue;
            }
            let path = path.display();
            assert!(position(&name) < position(&own), "{path}: `{own}` imports `{name}`");
            let pair = (own.as_str(), name.as_str());
            assert!(pair != ("recall", "ingest"), "{path}: the read side imports the write side");
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for folder in ["core/src", "bins", "tests"] {
        for (path, text) in sources(folder) {
            assert!(text.starts_with("//!"), "{} has no module doc", path.display());
        }
    }
}

#[test]
fn only_the_configuration_reads_the_environment() {
    for (path, text) in sources("core/src") {
        let is_reader = module(&path) == "config" || path.ends_with("tests.rs");
        let reads = text.split("#[cfg(test)]").next().unwrap_or_default().contains("env::var");
        assert!(is_reader || !reads, "{} reads the environment", path.display());
    }
}

#[test]
fn only_the_store_knows_sql() {
    for folder in ["core/src", "bins"] {
        for (path, text) in sources(folder) {
            let is_store = path.starts_with(root().join("core/src/store"));
            assert!(is_store || !text.contains("rusqlite::"), "{} uses rusqlite", path.display());
        }
    }
}
