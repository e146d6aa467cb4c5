//! One writer at a time: an advisory lock on a file beside the index.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use fs2::FileExt as _;

use crate::error::{Error, Result};

/// Holds the writer lock until dropped; the operating system frees it when the
/// process dies.
#[derive(Debug)]
pub(super) struct WriterLock {
    _file: File,
}

/// Takes the writer lock of the index at `db`, or returns `None` when another
/// process holds it.
pub(super) fn try_lock(db: &Path) -> Result<Option<WriterLock>> {
    let path = lock_path(db);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| Error::io("open", &path, error))?;
    match file.try_lock_exclusive() {
        Ok(()) => Ok(Some(WriterLock { _file: file })),
        Err(error) if error.kind() == fs2::lock_contended_error().kind() => Ok(None),
        Err(error) => Err(Error::io("lock", &path, error)),
    }
}

fn lock_path(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
