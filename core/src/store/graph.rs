//! What the links say of the vault as a whole.

use super::reader::Reader;
use super::schema::sql;
use crate::error::Result;
use crate::text::fold;

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

    /// Returns the notes that link to a note and whose type or file name is one
    /// of `kinds` (a file name also with a word before or after: `rust-moc.md`,
    /// `index of tools.md`), in order of their paths; looks at 40 of them.
    pub fn linking(&self, note_id: i64, kinds: &[&str]) -> Result<Vec<i64>> {
        let doing = "read the notes that link to a note";
        let mut found: Vec<(String, i64)> = Vec::new();
        let mut select = self
            .conn()
            .prepare_cached(
                "SELECT DISTINCT n.id, n.path, n.kind FROM link l JOIN note n ON n.id = l.note_id
                 WHERE l.to_note = ?1 LIMIT 40",
            )
            .map_err(|error| sql(doing, error))?;
        let mut rows = select.query([note_id]).map_err(|error| sql(doing, error))?;
        while let Some(row) = rows.next().map_err(|error| sql(doing, error))? {
            let read = || -> rusqlite::Result<(i64, String, Option<String>)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            };
            let (id, path, kind) = read().map_err(|error| sql(doing, error))?;
            let stem = fold(path.rsplit('/').next().unwrap_or(&path));
            let stem = stem.rsplit_once('.').map_or(stem.as_str(), |(stem, _)| stem);
            let mut words = stem.split(|c: char| !c.is_alphanumeric());
            let (first, last) = (words.next(), words.next_back());
            let is_named = [first, last].into_iter().flatten().any(|word| kinds.contains(&word));
            if is_named || kind.is_some_and(|kind| kinds.contains(&fold(&kind).as_str())) {
                found.push((path, id));
            }
        }
        found.sort();
        Ok(found.into_iter().map(|(_, id)| id).collect())
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
