//! What the links say of the vault as a whole.

use super::reader::Reader;
use super::schema::sql;
use crate::error::Result;

impl Reader {
    /// Returns the notes that a note links to, each once, in order of their
    /// ids; reads at most `most` of its links.
    pub fn targets(&self, note_id: i64, most: usize) -> Result<Vec<i64>> {
        let mut targets: Vec<i64> = self
            .conn()
            .prepare_cached(
                "SELECT to_note FROM link WHERE note_id = ?1 AND to_note IS NOT NULL LIMIT ?2",
            )
            .and_then(|mut select| {
                select.query_map((note_id, most as i64), |row| row.get(0))?.collect()
            })
            .map_err(|error| sql("follow links", error))?;
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }

    /// Returns the paths of the notes that no other note links to, in order.
    pub fn orphans(&self) -> Result<Vec<String>> {
        let doing = "list orphans";
        self.conn()
            .prepare(
                "SELECT path FROM note WHERE NOT EXISTS
                   (SELECT 1 FROM link WHERE to_note = note.id AND note_id <> note.id)
                 ORDER BY path",
            )
            .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
            .map_err(|error| sql(doing, error))
    }

    /// Returns every link that leads to no note: path of the note it stands
    /// in, line, target; in that order. Links to files that are no notes are
    /// among them.
    pub fn unresolved(&self) -> Result<Vec<(String, u32, String)>> {
        let doing = "list unresolved links";
        self.conn()
            .prepare(
                "SELECT path, line, target FROM link JOIN note ON note.id = note_id
                 WHERE to_note IS NULL ORDER BY path, seq",
            )
            .and_then(|mut select| {
                select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
            })
            .map_err(|error| sql(doing, error))
    }
}
