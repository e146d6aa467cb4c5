//! What an import reads: a folder, a zip file (with the zip files that Notion
//! puts inside it), or one file.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::super::{name, relative};
use crate::error::{Error, ErrorKind, Result};

/// Largest file that is taken over, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Most that a zip file may unpack to, in bytes: a vault is not larger, a bomb
/// is.
const MAX_TOTAL_BYTES: u64 = 16 << 30;

/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Relative to the source, `/` between the parts, never `..`.
    pub(super) path: String,
    /// Time of its last change, local, ISO 8601 without a zone.
    pub(super) modified: Option<String>,
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Zip { archive: usize, idx: usize },
}

/// Where the files come from.
pub(super) struct Source {
    path: PathBuf,
    archives: Vec<ZipArchive<Cursor<Vec<u8>>>>,
    /// The files, in order of path.
    pub(super) entries: Vec<Entry>,
    pub(super) skipped: Vec<String>,
    pub(super) failures: Vec<String>,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let meta = fs::metadata(path).map_err(|error| Error::io("read", path, error))?;
        let mut source = Self {
            path: path.to_owned(),
            archives: Vec::new(),
            entries: Vec::new(),
            skipped: Vec::new(),
            failures: Vec::new(),
        };
        if meta.is_dir() {
            source.walk(path);
        } else {
            let bytes = fs::read(path).map_err(|error| Error::io("read", path, error))?;
            if bytes.starts_with(b"PK\x03\x04") {
                source.unpack(bytes, "")?;
            } else {
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let modified = meta.modified().ok().map(local_time);
                source.entries.push(Entry {
                    path: file,
                    modified,
                    place: Place::File(path.into()),
                });
            }
        }
        source.entries.sort_by(|a, b| a.path.cmp(&b.path));
        source.entries.dedup_by(|a, b| a.path == b.path);
        Ok(source)
    }

    /// A name for the folder in the vault.
    pub(super) fn name(&self) -> String {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
        let stem = stem.unwrap_or_default().to_string_lossy().into_owned();
        // Notion calls every export `Export-` and an id, or `…_Export-…`.
        let is_notion = !path.is_dir() && stem.contains("Export-");
        let name = if is_notion { "Notion".to_owned() } else { name::safe_name(&stem) };
        let name = name::shorten(&name, 80);
        if name.is_empty() { "Import".to_owned() } else { name }
    }

    pub(super) fn read(&mut self, entry: &Entry) -> Result<Vec<u8>> {
        match &entry.place {
            Place::File(path) => fs::read(path).map_err(|error| Error::io("read", path, error)),
            Place::Zip { archive, idx } => {
                let archive = self.archives.get_mut(*archive);
                let archive = archive.ok_or_else(|| damaged("no such part"))?;
                read_entry(archive, *idx)
            }
        }
    }

    fn walk(&mut self, root: &Path) {
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.failures.push(format!("{}: {error}", relative(root, &folder)));
                    continue;
                }
            };
            for entry in entries.flatten() {
                let path = entry.path();
                let shown = relative(root, &path);
                let Ok(meta) = fs::symlink_metadata(&path) else { continue };
                if is_clutter(&entry.file_name().to_string_lossy()) {
                    continue;
                }
                if meta.is_dir() {
                    folders.push(path);
                } else if meta.is_symlink() {
                    self.skipped.push(format!("{shown}: a link"));
                } else if meta.len() > MAX_FILE_BYTES {
                    self.failures.push(format!("{shown}: larger than 1 GB"));
                } else if meta.is_file() {
                    let modified = meta.modified().ok().map(local_time);
                    self.entries.push(Entry { path: shown, modified, place: Place::File(path) });
                }
            }
        }
    }

    /// Lists a zip file; the parts inside it too, one level deep.
    fn unpack(&mut self, bytes: Vec<u8>, inside: &str) -> Result<()> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        let number = self.archives.len();
        let mut parts = Vec::new();
        let mut total = 0_u64;
        for idx in 0..archive.len() {
            let file = match archive.by_index_raw(idx) {
                Ok(file) => file,
                Err(error) => {
                    self.failures.push(format!("entry {idx}: {error}"));
                    continue;
                }
            };
            let Some(path) = file.enclosed_name() else {
                self.failures
                    .push(format!("{:?}: a name that leads out of the zip file", file.name()));
                continue;
            };
            let path = relative(Path::new(""), &path);
            total = total.saturating_add(file.size());
            if file.is_dir() || file.is_symlink() || path.split('/').any(is_clutter) {
                continue;
            }
            if file.size() > MAX_FILE_BYTES || total > MAX_TOTAL_BYTES {
                self.failures.push(format!("{path}: too large"));
                continue;
            }
            if file.encrypted() {
                self.failures.push(format!("{path}: encrypted"));
                continue;
            }
            if inside.is_empty() && path.ends_with(".zip") && path.contains("Part-") {
                parts.push((idx, path));
                continue;
            }
            let modified = file.last_modified().map(zip_time);
            let place = Place::Zip { archive: number, idx };
            self.entries.push(Entry { path, modified, place });
        }
        let mut inner = Vec::new();
        for (idx, path) in parts {
            match read_entry(&mut archive, idx) {
                Ok(bytes) => inner.push((path, bytes)),
                Err(error) => self.failures.push(format!("{path}: {error}")),
            }
        }
        self.archives.push(archive);
        for (path, bytes) in inner {
            if let Err(error) = self.unpack(bytes, &path) {
                self.failures.push(format!("{path}: {error}"));
            }
        }
        Ok(())
    }
}

fn read_entry(archive: &mut ZipArchive<Cursor<Vec<u8>>>, idx: usize) -> Result<Vec<u8>> {
    let file = archive.by_index(idx).map_err(|error| damaged(&error))?;
    let mut bytes = Vec::new();
    // The size in the directory may be a lie.
    let mut limited = file.take(MAX_FILE_BYTES + 1);
    limited.read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(damaged("larger than 1 GB"));
    }
    Ok(bytes)
}

fn damaged(error: impl ToString) -> Error {
    Error::new(ErrorKind::Input, format!("read the zip file: {}", error.to_string()))
}

/// What systems and editors leave behind.
fn is_clutter(name: &str) -> bool {
    name.starts_with('.')
        || matches!(name, "__MACOSX" | "Thumbs.db" | "desktop.ini" | "node_modules")
}

fn local_time(at: std::time::SystemTime) -> String {
    chrono::DateTime::<chrono::Local>::from(at).format("%Y-%m-%dT%H:%M:%S").to_string()
}

fn zip_time(at: zip::DateTime) -> String {
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}
