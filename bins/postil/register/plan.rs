//! A change to one file of settings: shown as a diff, made in one step, with the
//! file as it was kept beside it.

use std::fs;
use std::io::{ErrorKind as IoErrorKind, Write};
use std::path::{Path, PathBuf};

use postil_core::error::{Error, ErrorKind, Result};
use serde_json::{Value, json};

/// A change to one file, not made yet.
pub(crate) struct Plan {
    pub(crate) file: PathBuf,
    pub(super) before: Option<String>,
    /// `None`: the file goes.
    pub(super) after: Option<String>,
    /// The file as it was, restored or to be kept.
    pub(super) backup: PathBuf,
    pub(super) is_restore: bool,
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Shows the change line by line.
    pub(crate) fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let [before, after] = [&self.before, &self.after].map(|text| text.as_deref().unwrap_or(""));
        similar::TextDiff::from_lines(before, after)
            .unified_diff()
            .context_radius(2)
            .header(&name, &name)
            .to_string()
    }

    /// Makes the change; returns what was done to which file, a line each.
    pub(crate) fn apply(&self) -> Result<Vec<String>> {
        let mut done = Vec::new();
        let Some(after) = &self.after else {
            fs::remove_file(&self.file).map_err(|error| Error::io("remove", &self.file, error))?;
            // A folder that held nothing else was made for it.
            let _ = self.file.parent().map(fs::remove_dir);
            return Ok(vec![format!("removed {}", self.file.display())]);
        };
        let is_first = !self.backup.exists();
        if let Some(before) = &self.before
            && is_first
            && !before.is_empty()
        {
            write_whole(&self.backup, before, &self.file)?;
            done.push(format!("kept {} as {}", self.file.display(), self.backup.display()));
        }
        write_whole(&self.file, after, &self.file)?;
        done.push(format!("wrote {}", self.file.display()));
        if self.is_restore && fs::remove_file(&self.backup).is_ok() {
            done.push(format!("removed {}", self.backup.display()));
        }
        Ok(done)
    }
}

/// Reads the settings where they really are: dotfiles are often links.
pub(super) fn read(file: &Path) -> Result<(PathBuf, Option<String>)> {
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    match fs::read_to_string(&real) {
        Ok(text) => Ok((real, Some(text))),
        Err(error) if error.kind() == IoErrorKind::NotFound => Ok((real, None)),
        Err(error) => Err(Error::io("read", &real, error)),
    }
}

/// Reads a file of JSON settings; an absent or empty one is an empty object.
pub(super) fn parse(file: &Path, text: Option<&str>) -> Result<Value> {
    let text = text.map_or("", |text| text.trim_start_matches('\u{feff}'));
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_str(text).map_err(|error| {
        let doing = format!("read {}: not valid JSON, so nothing was changed", file.display());
        Error::with(ErrorKind::Config, doing, error)
    })
}

/// Writes with the indentation the file has.
pub(super) fn to_text(settings: &Value, before: Option<&str>) -> String {
    let indent = before
        .and_then(|text| text.lines().find(|line| line.starts_with([' ', '\t'])))
        .map_or("  ", |line| line.get(..line.len() - line.trim_start().len()).unwrap_or("  "));
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing a `Value` to memory cannot fail.
    let _ = serde::Serialize::serialize(settings, &mut serializer);
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

pub(super) fn backup_path(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".before-postil");
    file.with_file_name(name)
}

/// Replaces a file in one step, with the permissions of `like`.
fn write_whole(file: &Path, text: &str, like: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        temporary.write_all(text.as_bytes())?;
        if let Ok(meta) = fs::metadata(like) {
            temporary.as_file().set_permissions(meta.permissions())?;
        }
        temporary.as_file().sync_all()?;
        temporary.persist(file)?;
        Ok(())
    };
    write().map_err(|error| Error::io("write", file, error))
}
