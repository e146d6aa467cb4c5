//! Full originals of shortened outputs: byte-identical, mode 0600, named after
//! their content, removed by age and total size.
//!
//! A name made from the content means that the same output gives the same
//! extract, path included, and is stored once.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::hash::hash;
use crate::error::{Error, Result};

/// Stores `raw` in `folder` and returns the file. Fails rather than leave half
/// a file: then nothing may be shortened.
pub fn keep(folder: &Path, raw: &[u8]) -> Result<PathBuf> {
    create_folder(folder)?;
    // Two outputs with one hash are told apart by a suffix.
    for suffix in ["", "-1", "-2", "-3"] {
        let path = folder.join(format!("{:016x}{suffix}.txt", hash(raw)));
        if !path.exists() {
            write_whole(&path, raw).map_err(|error| Error::io("write", &path, error))?;
            return Ok(path);
        }
        if fs::read(&path).is_ok_and(|stored| stored == raw) {
            // Used again: keep it as long as a new one.
            let _ = File::options()
                .write(true)
                .open(&path)
                .and_then(|f| f.set_modified(SystemTime::now()));
            return Ok(path);
        }
    }
    Err(Error::new(crate::error::ErrorKind::Io, "store output: too many with one name"))
}

fn create_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Error::io("create", folder, error))
}

/// Writes under another name first, so that nobody ever reads a part of it.
fn write_whole(path: &Path, raw: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&part).and_then(|mut file| file.write_all(raw));
    let moved = written.and_then(|()| fs::rename(&part, path));
    if moved.is_err() {
        let _ = fs::remove_file(&part);
    }
    moved
}

/// Pruning looks at the folder at most once in this time.
const PRUNE_EVERY: Duration = Duration::from_secs(600);

/// Removes originals older than `max_age`, then the oldest until at most
/// `max_bytes` are left. Does nothing if it was done a short while ago.
pub fn prune(folder: &Path, max_age: Duration, max_bytes: u64, now: SystemTime) {
    let stamp = folder.join(".pruned");
    let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
    if fs::metadata(&stamp).and_then(|m| m.modified()).is_ok_and(|at| age(at) < PRUNE_EVERY) {
        return;
    }
    let _ = File::create(&stamp);
    let files: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|ext| ext == "txt" || ext == "part"))
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some((meta.modified().ok()?, meta.len(), entry.path()))
        })
        .collect();
    // The youngest first; by age and position, so that no sort of its own is
    // compiled for paths.
    let nanoseconds = |modified| usize::try_from(age(modified).as_nanos()).unwrap_or(usize::MAX);
    let mut order: Vec<(usize, usize)> =
        files.iter().enumerate().map(|(at, file)| (nanoseconds(file.0), at)).collect();
    order.sort_unstable();
    let mut total = 0_u64;
    for (modified, len, path) in order.iter().filter_map(|(_, at)| files.get(*at)) {
        total = total.saturating_add(*len);
        if total > max_bytes || age(*modified) > max_age {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_original_is_identical_private_and_stored_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("state/outputs");
        let raw = b"a\0\xff\r\n".repeat(1000);
        let path = keep(&folder, &raw).unwrap();
        assert_eq!(fs::read(&path).unwrap(), raw);
        assert_eq!(keep(&folder, &raw).unwrap(), path);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        // A file of that name with other bytes is left alone.
        fs::write(&path, b"other").unwrap();
        assert_ne!(keep(&folder, &raw).unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        assert!(keep(Path::new("/proc/nowhere"), b"x").is_err());
    }

    #[test]
    fn old_and_excess_originals_go() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (n, days) in [(1, 0), (2, 1), (3, 2), (4, 30)] {
            let path = keep(dir.path(), &vec![n; 1000]).unwrap();
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(now - Duration::from_secs(days * 86_400)).unwrap();
        }
        fs::write(dir.path().join("notes.md"), "not ours").unwrap();
        let week = Duration::from_secs(7 * 86_400);
        prune(dir.path(), week, 2500, now);
        let left = || {
            fs::read_dir(dir.path())
                .unwrap()
                .filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == "txt"))
                .count()
        };
        assert_eq!(left(), 2, "one too old, one too many");
        prune(dir.path(), week, 0, now);
        assert_eq!(left(), 2, "not twice in a short while");
        prune(dir.path(), week, 0, now + Duration::from_secs(3600));
        assert_eq!(left(), 0);
        assert!(dir.path().join("notes.md").exists());
    }
}
