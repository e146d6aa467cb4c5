//! One writer at a time, and what the last one left: an advisory lock on a file
//! beside the index, which also says how the index file looked when its last
//! run ended.
//!
//! A run opens the seal before its first write and closes it after its last.
//! A file that is not as the seal says was written by something else, or
//! restored, or damaged: nothing in it can be trusted without a look. That
//! costs two `stat`s, where looking through the file would cost a second.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fs2::FileExt as _;

use super::swap::beside;
use crate::error::{Error, Result};

/// What the seal says of the index file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// It is as the last run left it.
    Whole,
    /// A run began and did not end.
    Open,
    /// It was changed since by something else.
    Broken,
    /// There is no seal.
    Absent,
}

/// Holds the writer lock until dropped; the operating system frees it when the
/// process dies.
#[derive(Debug)]
pub(super) struct WriterLock {
    file: File,
}

/// Takes the writer lock of the index at `db`, or returns `None` when another
/// process holds it.
pub(super) fn try_lock(db: &Path) -> Result<Option<WriterLock>> {
    let path = lock_path(db);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|error| Error::io("open", &path, error))?;
    match file.try_lock_exclusive() {
        Ok(()) => Ok(Some(WriterLock { file })),
        Err(error) if error.kind() == fs2::lock_contended_error().kind() => Ok(None),
        Err(error) => Err(Error::io("lock", &path, error)),
    }
}

impl WriterLock {
    /// Compares the index file with the seal.
    pub(super) fn seal(&mut self, db: &Path) -> Seal {
        let mut text = String::new();
        let read = self.file.rewind().and_then(|()| self.file.read_to_string(&mut text));
        match text.trim() {
            _ if read.is_err() => Seal::Absent,
            "" => Seal::Absent,
            "open" => Seal::Open,
            stamp if stamp == stamp_of(db) => Seal::Whole,
            _ => Seal::Broken,
        }
    }

    /// Says that a run has begun.
    pub(super) fn open_seal(&mut self) -> Result<()> {
        self.write("open")
    }

    /// Says that the index file is as it should be.
    pub(super) fn close_seal(&mut self, db: &Path) -> Result<()> {
        self.write(&stamp_of(db))
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file
            .rewind()
            .and_then(|()| self.file.set_len(0))
            .and_then(|()| self.file.write_all(text.as_bytes()))
            .map_err(|error| Error::with(crate::error::ErrorKind::Io, "write the lock file", error))
    }
}

/// Size and time of the file and of its log, where the log holds anything.
fn stamp_of(db: &Path) -> String {
    let one = |path: &Path| match fs::metadata(path) {
        Ok(meta) if meta.len() > 0 => {
            format!("{}:{}.{:09}", meta.len(), meta.mtime(), meta.mtime_nsec())
        }
        _ => "-".to_owned(),
    };
    format!("{} {}", one(db), one(&beside(db, "-wal")))
}

fn lock_path(db: &Path) -> PathBuf {
    beside(db, ".lock")
}
