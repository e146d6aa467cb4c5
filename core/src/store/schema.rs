//! Creates and recognises the schema. Only the writer creates.

use rusqlite::Connection;

use crate::error::{Error, ErrorKind, Result};

/// Version of the tables; another version is treated as "no index" by readers
/// and rebuilt by the writer.
pub const SCHEMA_VERSION: i64 = 4;

/// Marks the file as postil's (`PRAGMA application_id`): "pstl".
pub(super) const APPLICATION_ID: i64 = 0x7073_746c;

/// Large pages: the snapshot is read in 64 KB blocks, and a block of one page
/// costs one look-up (measured: 3.7 against 6.6 ms for a cold query with 4 KB
/// pages, 50,000 chunks).
pub(super) const PAGE_SIZE: i64 = 65_536;

/// Declared apart from the SQL file because the vector table exists only where
/// sqlite-vec is loaded.
const VECTOR_TABLE: &str = "CREATE VIRTUAL TABLE vector USING vec0(
  chunk_id INTEGER PRIMARY KEY, code int8[256] distance_metric=cosine)";

/// Creates all tables in an empty database.
pub(super) fn create(conn: &Connection) -> Result<()> {
    conn.execute_batch("BEGIN IMMEDIATE")
        .and_then(|()| conn.execute_batch(include_str!("../../migrations/0001_init.sql")))
        .and_then(|()| conn.execute_batch(VECTOR_TABLE))
        .and_then(|()| conn.pragma_update(None, "application_id", APPLICATION_ID))
        .and_then(|()| conn.pragma_update(None, "user_version", SCHEMA_VERSION))
        .and_then(|()| conn.execute_batch("COMMIT"))
        .map_err(|error| sql("create the index schema", error))
}

/// Returns the schema version of `conn`, or `None` when the file is empty or
/// not an index of ours.
pub(super) fn version(conn: &Connection) -> Result<Option<i64>> {
    let read = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let id = read("application_id").map_err(|error| sql("read the index header", error))?;
    let version = read("user_version").map_err(|error| sql("read the index header", error))?;
    Ok((id == APPLICATION_ID && version > 0).then_some(version))
}

/// Wraps an SQLite error.
pub(super) fn sql(doing: &str, error: rusqlite::Error) -> Error {
    Error::with(ErrorKind::Store, doing, error)
}
