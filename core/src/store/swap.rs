//! Puts a finished index in the place of an old one.
//!
//! By its name where that can be done: one `rename`, so that there is no moment
//! without an index, nothing is copied, and whoever reads the old file keeps
//! it. The log and the shared memory belong to a name, not to a file: both must
//! be empty of the old index before the name changes hands.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, backup};

use super::check::is_damage;
use super::schema::sql;
use crate::error::{Error, Result};

/// How long a writer waits for readers to let go of the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the end of a run waits for readers, to leave no log behind.
const FOLD_TIMEOUT: Duration = Duration::from_millis(200);

/// Opens a file to be written. Closing it takes no lock: SQLite would fold the
/// log in when the last connection goes, with readers locked out meanwhile (up
/// to 0.2 s after a rebuild). [`fold_log`] does that, beside readers.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open(path)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Makes an index, and with it the files that SQLite puts beside it, its owner's
/// alone: it holds the text of the notes. Where that cannot be had, opening says
/// why.
pub(super) fn keep_private(path: &Path) {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(path);
    let _ = file.and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o600)));
}

/// Folds the log into the file; false while a reader needs the log. Then a
/// later run does it, and this one waits for readers a moment only.
pub(super) fn fold_log(conn: &Connection) -> rusqlite::Result<bool> {
    conn.busy_timeout(FOLD_TIMEOUT)?;
    let folded = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        let (n_pages, n_folded): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(n_pages == n_folded)
    });
    conn.busy_timeout(BUSY_TIMEOUT)?;
    folded
}

/// Puts the index at `new`, which nobody has open, in the place of `old`.
pub(super) fn swap(new: &Path, old: &Path) -> Result<()> {
    if is_free(old)? { rename(new, old) } else { copy(new, old) }
}

/// Gives a file that never was an index another name: `x.db` becomes
/// `x.db.old`.
pub(super) fn set_aside(path: &Path) -> Result<()> {
    let names = std::iter::once(".old".to_owned()).chain((2..).map(|n| format!(".old-{n}")));
    for name in names.map(|suffix| beside(path, &suffix)) {
        // A link fails where the name is taken.
        match fs::hard_link(path, &name).and_then(|()| fs::remove_file(path)) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            moved => return moved.map_err(|error| Error::io("set aside", path, error)),
        }
    }
    Ok(())
}

/// Whether nothing of the old index is in its log any more.
fn is_free(old: &Path) -> Result<bool> {
    if !old.exists() {
        return Ok(true);
    }
    match connect(old).and_then(|conn| fold_log(&conn)) {
        Ok(is_folded) => Ok(is_folded),
        // Nobody can be reading it.
        Err(error) if is_damage(&error) => Ok(true),
        Err(error) => Err(sql(&format!("fold the log of {}", old.display()), error)),
    }
}

fn rename(new: &Path, old: &Path) -> Result<()> {
    let doing = "replace";
    let failed = |error| Error::io(doing, old, error);
    // On the disk before it has the name: it was written without syncing.
    File::open(new).and_then(|file| file.sync_all()).map_err(failed)?;
    remove_log(old)?;
    match fs::rename(new, old) {
        Ok(()) => remove_log(new),
        // A file that is mounted on its own, as containers do, keeps its name.
        Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => copy(new, old),
        Err(error) => Err(failed(error)),
    }
}

/// Copies page by page, as one transaction of the old file: a reader still
/// needs its log.
fn copy(new: &Path, old: &Path) -> Result<()> {
    let copied = || -> rusqlite::Result<()> {
        keep_private(old);
        let from = connect(new)?;
        let mut to = connect(old)?;
        backup::Backup::new(&from, &mut to)?.run_to_completion(
            i32::MAX,
            Duration::from_millis(20),
            None,
        )?;
        fold_log(&to).map(drop)
    };
    copied().map_err(|error| sql(&format!("replace index {}", old.display()), error))?;
    remove(new)
}

/// Removes a database with its log; nothing when it is not there.
pub(super) fn remove(path: &Path) -> Result<()> {
    remove_log(path)?;
    for suffix in ["-journal", ""] {
        remove_file(&beside(path, suffix))?;
    }
    Ok(())
}

fn remove_log(path: &Path) -> Result<()> {
    for suffix in ["-wal", "-shm"] {
        remove_file(&beside(path, suffix))?;
    }
    Ok(())
}

fn remove_file(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", file, error))
        }
        _ => Ok(()),
    }
}

/// The file that `path` leads to: the log of a file stands beside the file, not
/// beside a symbolic link to it.
pub(super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// `path` with something added to its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
