//! Looks through the index for damage: pages, FTS5's own structure, tables that
//! are out of step with each other, and, on request, every entry of the keyword
//! table and the snapshot. SQLite's `integrity_check` alone finds the first of
//! these only.

use rusqlite::Connection;

use super::compare;
use super::schema::sql;
use crate::error::Result;

/// Pairs of a claim that is broken and the query that finds a case of it.
const CLAIMS: [(&str, &str); 7] = [
    (
        "chunks without keywords",
        "SELECT 1 FROM chunk LEFT JOIN keyword_docsize d ON d.id = chunk.id
         WHERE d.id IS NULL LIMIT 1",
    ),
    (
        "keywords without a chunk",
        "SELECT 1 FROM keyword_docsize d LEFT JOIN chunk ON chunk.id = d.id
         WHERE chunk.id IS NULL LIMIT 1",
    ),
    (
        "vectors without a chunk",
        "SELECT 1 FROM vector_rowids v LEFT JOIN chunk ON chunk.id = v.rowid
         WHERE chunk.id IS NULL LIMIT 1",
    ),
    (
        "chunks without a vector",
        "SELECT 1 FROM chunk LEFT JOIN vector_rowids v ON v.rowid = chunk.id
         WHERE v.rowid IS NULL
           AND EXISTS (SELECT 1 FROM meta WHERE key = 'model' AND value <> '') LIMIT 1",
    ),
    (
        "chunks without a note",
        "SELECT 1 FROM chunk LEFT JOIN note ON note.id = note_id
           AND chunk.id >= first_chunk AND chunk.id < first_chunk + n_chunks
         WHERE note.id IS NULL LIMIT 1",
    ),
    (
        "notes without their chunks",
        "SELECT 1 WHERE (SELECT coalesce(sum(n_chunks), 0) FROM note)
           <> (SELECT count(*) FROM chunk)",
    ),
    (
        "a snapshot of other chunks",
        "SELECT 1 FROM segment LEFT JOIN
           (SELECT segment.id, count(chunk.id) n FROM segment
              LEFT JOIN chunk ON chunk.id BETWEEN first_chunk AND last_chunk GROUP BY segment.id) c
           ON c.id = segment.id WHERE n_docs - n_dead <> n LIMIT 1",
    ),
];

/// Returns the first damage found, in words; `None` when all is well. An error
/// that the damage itself causes counts as damage. `is_deep` compares every
/// entry with the stored texts, which takes as long as indexing them.
pub(super) fn damage(conn: &Connection, is_deep: bool) -> Result<Option<String>> {
    match look(conn, is_deep) {
        Ok(found) => Ok(found),
        Err(error) if is_damage(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(sql("check the index", error)),
    }
}

fn look(conn: &Connection, is_deep: bool) -> rusqlite::Result<Option<String>> {
    let pages: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if pages != "ok" {
        return Ok(Some(pages));
    }
    conn.execute_batch("INSERT INTO keyword (keyword) VALUES ('integrity-check')")?;
    for (claim, query) in CLAIMS {
        let mut select = conn.prepare(query)?;
        if select.exists([])? {
            return Ok(Some(claim.to_owned()));
        }
    }
    if is_deep { compare::difference(conn) } else { Ok(None) }
}

/// Whether an error of this module speaks of damage to the index, which only
/// building it anew from the vault heals.
pub fn is_damage_error(error: &crate::error::Error) -> bool {
    std::error::Error::source(error)
        .and_then(|cause| cause.downcast_ref::<rusqlite::Error>())
        .is_some_and(is_damage)
}

/// Whether an SQLite error speaks of damage and not of a lock or the disk.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error {
        rusqlite::Error::SqliteFailure(cause, message) => {
            matches!(cause.code, DatabaseCorrupt | NotADatabase)
                // A table that is gone.
                || message.as_deref().is_some_and(|text| text.starts_with("no such table"))
        }
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => true,
        _ => false,
    }
}
