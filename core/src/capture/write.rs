//! Files appear whole or not at all, and nothing is ever overwritten.
//!
//! The bytes go to a hidden temporary file in the same folder, reach the disk,
//! and then take their name in one step that fails when the name is taken.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, ErrorKind, Result};
use crate::text;

const TEMP_PREFIX: &str = ".postil-";
const TEMP_SUFFIX: &str = ".tmp";
/// Age after which a temporary file belongs to a process that was killed.
const STALE: Duration = Duration::from_secs(600);

/// Writes `contents` to a new file `STEM.EXT` in `folder`, or `STEM 2.EXT` and
/// so on when a file of that name is there, in any mix of cases: what differs
/// only in case here is the same file on the next machine.
///
/// # Errors
/// I/O; then nothing of the file is left.
pub fn create_new(folder: &Path, stem: &str, ext: &str, contents: &[u8]) -> Result<PathBuf> {
    let mut temp = write_temp(folder, contents)?;
    let taken = names_like(folder, stem)?;
    let dot = if ext.is_empty() { "" } else { "." };
    for n in 1..=1_000_000_u32 {
        let name = match n {
            1 => format!("{stem}{dot}{ext}"),
            n => format!("{stem} {n}{dot}{ext}"),
        };
        if taken.contains(&text::fold(&name)) {
            continue;
        }
        let path = folder.join(name);
        match temp.persist_noclobber(&path) {
            Ok(_) => return sync_folder(folder).map(|()| path),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                temp = error.file;
            }
            Err(error) => return Err(Error::io("write", &path, error.error)),
        }
    }
    Err(Error::new(ErrorKind::Io, format!("find a free name for {stem:?} in {}", folder.display())))
}

/// Replaces the contents of the file at `path` in one step and keeps its mode.
///
/// # Errors
/// I/O; then the file is as it was.
pub fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    // A link in the vault stays a link.
    let path = fs::canonicalize(path).map_err(|error| Error::io("read", path, error))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mode = fs::metadata(&path).map_err(|error| Error::io("read", &path, error))?.permissions();
    let temp = write_temp(folder, contents)?;
    fs::set_permissions(temp.path(), mode).map_err(|error| Error::io("write", &path, error))?;
    temp.persist(&path).map_err(|error| Error::io("write", &path, error.error))?;
    sync_folder(folder)
}

/// Writes `contents` to a temporary file in `folder`, which is created when it
/// is missing, and waits for the disk.
fn write_temp(folder: &Path, contents: &[u8]) -> Result<NamedTempFile> {
    // The kind says it all; the name of a temporary file says nothing.
    let fail = |error: std::io::Error| Error::io("write to", folder, error.kind().into());
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let mut builder = Builder::new();
    builder.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask decides, as for any file the user's editor creates.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut temp = builder.tempfile_in(folder).map_err(fail)?;
    temp.write_all(contents).map_err(fail)?;
    temp.as_file().sync_all().map_err(fail)?;
    Ok(temp)
}

/// Removes what killed processes left in `folder`; errors are of no account.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX)) {
            continue;
        }
        let modified = entry.metadata().and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > STALE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The names in `folder` that begin as `stem` does, folded.
fn names_like(folder: &Path, stem: &str) -> Result<Vec<String>> {
    let stem = text::fold(stem);
    let entries = fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))?;
    let names = entries.flatten().map(|entry| text::fold(&entry.file_name().to_string_lossy()));
    Ok(names.filter(|name| name.starts_with(&stem)).collect())
}

/// Makes a rename in `folder` last through a power cut.
fn sync_folder(folder: &Path) -> Result<()> {
    match fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network and FUSE file systems do not offer it.
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            Err(Error::io("sync", folder, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_a_number_in_any_case() {
        let dir = tempfile::tempdir().unwrap();
        let create = |stem: &str| create_new(dir.path(), stem, "md", b"x").unwrap();
        assert_eq!(create("Note"), dir.path().join("Note.md"));
        assert_eq!(create("note"), dir.path().join("note 2.md"));
        assert_eq!(create("NOTE"), dir.path().join("NOTE 3.md"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn threads_that_want_one_name_all_get_one() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| create_new(dir.path(), "same", "md", b"x").unwrap()))
                .collect();
            jobs.into_iter().map(|job| job.join().unwrap()).collect()
        });
        assert_eq!(paths.iter().collect::<std::collections::HashSet<_>>().len(), 8);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 8);
    }

    #[cfg(unix)]
    #[test]
    fn replace_keeps_mode_and_links() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a.md"), dir.path().join("b.md"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn only_old_temporary_files_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join(".postil-a.tmp"), dir.path().join(".postil-b.tmp"));
        fs::write(&new, "").unwrap();
        let file = fs::File::create(&old).unwrap();
        file.set_modified(SystemTime::now() - STALE - STALE).unwrap();
        sweep(dir.path());
        assert!(!old.exists() && new.exists());
    }
}
