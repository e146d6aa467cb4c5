//! Puts a verified model into the data folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::compile::{self, write_atomically};
use crate::error::{Error, Result};

/// What is copied: weights, tokeniser, and for people and other tools the
/// settings and the model card with its licence. The last two may be missing.
const FILES: [&str; 4] = ["model.safetensors", "tokenizer.json", "config.json", "README.md"];
const N_REQUIRED: usize = 2;

/// Verifies the model in `from`, copies it to `to` and compiles it there.
///
/// `to` is created when it is missing. Each file appears whole or not at all,
/// and nothing is copied from a folder that does not hold the expected model.
pub fn install(from: &Path, to: &Path) -> Result<()> {
    compile::verify_source(from)?;
    fs::create_dir_all(to).map_err(|error| Error::io("create", to, error))?;
    if !is_same_folder(from, to) {
        for (position, name) in FILES.iter().enumerate() {
            let path = from.join(name);
            match fs::read(&path) {
                Ok(bytes) => write_atomically(&to.join(name), &bytes)?,
                Err(error) if position < N_REQUIRED => return Err(Error::io("read", &path, error)),
                Err(_) => {}
            }
        }
    }
    compile::compile(to)
}

/// Lists the word tables, `*.table`, in `folder`, by name; none where there is
/// no such folder.
pub fn tables_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut tables: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "table"))
        .collect();
    tables.sort();
    tables
}

fn is_same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_listed_by_name_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["fr.table", "es.table", "NOTICE"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<_> = tables_in(folder.path())
            .into_iter()
            .map(|path| path.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["es.table", "fr.table"]);
        assert!(tables_in(&folder.path().join("absent")).is_empty());
    }

    #[test]
    fn nothing_is_copied_from_a_folder_without_the_model() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let to = to.path().join("model");
        fs::write(from.path().join("model.safetensors"), "x").unwrap();
        fs::write(from.path().join("tokenizer.json"), "{}").unwrap();
        install(from.path(), &to).unwrap_err();
        assert!(!to.exists());
    }
}
