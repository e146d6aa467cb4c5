//! `.indexignore` files: gitignore syntax, in the vault's root and in any
//! folder below it, the nearest file deciding first.
//!
//! The patterns are the `ignore` crate's (ripgrep's own), since gitignore's
//! corner cases are many and known; the walk is ours, since links, reasons and
//! unreadable folders need it. Patterns and paths meet in NFC, so that a
//! pattern typed on one system matches a name stored by another.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::decode;
use crate::text;

/// The name of the files that hold rules.
pub(super) const FILE_NAME: &str = ".indexignore";

/// The rules in force at one point of a walk.
#[derive(Default)]
pub(super) struct Rules {
    /// From the root inwards; only folders that have rules.
    levels: Vec<(PathBuf, Gitignore)>,
}

impl Rules {
    /// Reads the rules of `folder` (vault-relative) whose files are below
    /// `absolute`.
    pub(super) fn enter(&mut self, absolute: &Path, folder: &Path, warnings: &mut Vec<String>) {
        let file = absolute.join(FILE_NAME);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                warnings.push(format!("read {}: {error}", folder.join(FILE_NAME).display()));
                return;
            }
        };
        let Ok(decoded) = decode::decode(bytes) else {
            warnings.push(format!("{} is no text", folder.join(FILE_NAME).display()));
            return;
        };
        let mut builder = GitignoreBuilder::new(composed(folder));
        for (i, line) in decoded.text.lines().enumerate() {
            if let Err(error) = builder.add_line(None, &text::nfc(line)) {
                let place = folder.join(FILE_NAME);
                warnings.push(format!("{}:{}: {error}", place.display(), i + 1));
            }
        }
        match builder.build() {
            Ok(rules) => self.levels.push((folder.to_path_buf(), rules)),
            Err(error) => {
                warnings.push(format!("{}: {error}", folder.join(FILE_NAME).display()));
            }
        }
    }

    /// Forgets the rules of folders that do not contain `path`.
    pub(super) fn leave_until(&mut self, path: &Path) {
        while self.levels.last().is_some_and(|(folder, _)| !path.starts_with(folder)) {
            self.levels.pop();
        }
    }

    /// Whether the nearest rule that speaks of `path` ignores it.
    pub(super) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        if self.levels.is_empty() {
            return false;
        }
        let composed = composed(path);
        for (_, rules) in self.levels.iter().rev() {
            let verdict = rules.matched(&composed, is_folder);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
        }
        false
    }
}

fn composed(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(name) if !name.is_ascii() => PathBuf::from(text::nfc(name)),
        _ => path.to_path_buf(),
    }
}
