//! Sets where links lead, once the notes they stand in are written.

use std::collections::HashSet;

use rusqlite::{Params, Row, params};

use super::schema::sql;
use super::writer::Writer;
use crate::error::Result;
use crate::model::Link;

/// Up to so many notes are looked up one by one; for more, one pass over all
/// links is cheaper.
const MAX_LOOKUPS: usize = 256;

const DOING: &str = "resolve links";

macro_rules! due_links {
    ($condition:literal) => {
        concat!(
            "SELECT link.note_id, seq, to_note, path, line, target, anchor, is_embed, is_wiki
             FROM link JOIN note ON note.id = link.note_id ",
            $condition
        )
    };
}

/// A link that is resolved again.
struct Due {
    note_id: i64,
    seq: i64,
    old: Option<i64>,
    path: String,
    link: Link,
}

impl Writer {
    /// Sets the target of the links that stand in `notes`, or in any note, and
    /// of those whose target `is_due`, if that is given: `resolve(path of the
    /// note, link)` returns the id of the note it leads to.
    pub fn relink(
        &mut self,
        notes: Option<&HashSet<i64>>,
        is_due: Option<&dyn Fn(&str) -> bool>,
        mut resolve: impl FnMut(&str, &Link) -> Option<i64>,
    ) -> Result<()> {
        let mut changed = Vec::new();
        let mut visit = |due: Due| {
            let new = resolve(&due.path, &due.link);
            if new != due.old {
                changed.push((due.note_id, due.seq, new));
            }
        };
        match notes {
            Some(notes) if notes.len() <= MAX_LOOKUPS => self.few_due(notes, is_due, &mut visit),
            _ => self.many_due(notes, is_due, &mut visit),
        }
        .map_err(|error| sql(DOING, error))?;
        for (note_id, seq, to_note) in changed {
            self.begin()?;
            self.execute(
                DOING,
                "UPDATE link SET to_note = ?3 WHERE note_id = ?1 AND seq = ?2",
                params![note_id, seq, to_note],
            )?;
        }
        Ok(())
    }

    /// Reads all links and visits those that are due.
    fn many_due(
        &self,
        notes: Option<&HashSet<i64>>,
        is_due: Option<&dyn Fn(&str) -> bool>,
        visit: &mut dyn FnMut(Due),
    ) -> rusqlite::Result<()> {
        self.each_due(due_links!(""), [], &mut |due| {
            let stands_in = notes.is_none_or(|notes| notes.contains(&due.note_id));
            if stands_in || is_due.is_some_and(|is_due| is_due(&due.link.target)) {
                visit(due);
            }
        })
    }

    /// Looks the links of each note up; of the others it reads the targets, and
    /// no more than those unless they are due.
    fn few_due(
        &self,
        notes: &HashSet<i64>,
        is_due: Option<&dyn Fn(&str) -> bool>,
        visit: &mut dyn FnMut(Due),
    ) -> rusqlite::Result<()> {
        for note in notes {
            self.each_due(due_links!("WHERE link.note_id = ?1"), [note], visit)?;
        }
        let Some(is_due) = is_due else { return Ok(()) };
        let mut select = self.conn.prepare("SELECT note_id, seq, target FROM link")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (note, seq): (i64, i64) = (row.get(0)?, row.get(1)?);
            if is_due(row.get_ref(2)?.as_str()?) && !notes.contains(&note) {
                let condition = due_links!("WHERE link.note_id = ?1 AND seq = ?2");
                self.each_due(condition, [note, seq], visit)?;
            }
        }
        Ok(())
    }

    fn each_due(
        &self,
        query: &str,
        args: impl Params,
        visit: &mut dyn FnMut(Due),
    ) -> rusqlite::Result<()> {
        let mut select = self.conn.prepare_cached(query)?;
        let mut rows = select.query(args)?;
        while let Some(row) = rows.next()? {
            visit(due_link(row)?);
        }
        Ok(())
    }
}

fn due_link(row: &Row<'_>) -> rusqlite::Result<Due> {
    Ok(Due {
        note_id: row.get(0)?,
        seq: row.get(1)?,
        old: row.get(2)?,
        path: row.get(3)?,
        link: Link {
            line: row.get(4)?,
            target: row.get(5)?,
            anchor: row.get(6)?,
            is_embed: row.get(7)?,
            is_wiki: row.get(8)?,
        },
    })
}
