//! What is told around a passage: the pieces of its section before and after it
//! where that was cut, and the notes that explain it.
//!
//! Both cost a few reads, so only the best passages get them; whether there is
//! room is for the renderer to say.

use crate::error::Result;
use crate::recall::Hit;
use crate::recall::render::Passage;
use crate::store::{ChunkRow, NoteRow, Reader};

/// Passages that get something around them.
pub(super) const N_WIDENED: usize = 2;

/// Notes that explain, per passage.
const N_BESIDE: usize = 2;

/// Links of a note that are read.
const MAX_LINKS: usize = 256;

/// What notes call themselves whose purpose is to link others.
const MAPS: [&str; 6] = ["moc", "map", "index", "hub", "indice", "mapa"];

/// Returns the pieces of a hit's own section right before and after it.
pub(super) fn pieces(reader: &Reader, hit: &Hit) -> Result<[Option<String>; 2]> {
    let (first, n) = (hit.note.first_chunk, i64::from(hit.note.n_chunks));
    let piece = |id: i64| -> Result<Option<String>> {
        let is_inside = (first..first + n).contains(&id);
        if !is_inside || reader.heading(id)?.as_deref() != Some(&hit.chunk.heading) {
            return Ok(None);
        }
        Ok(reader.chunk(id)?.map(|chunk| chunk.text))
    };
    Ok([piece(hit.chunk.id - 1)?, piece(hit.chunk.id + 1)?])
}

/// Returns what explains a hit: notes of `found` that it links to, then a map of
/// notes that lists it.
pub(super) fn beside(
    reader: &Reader,
    hit: &Hit,
    found: &[Hit],
    is_shown: impl Fn(&NoteRow) -> bool,
) -> Result<Vec<Passage>> {
    let mut beside = Vec::new();
    let targets = reader.targets(hit.note.id, MAX_LINKS)?;
    for other in found {
        let is_linked = other.note.id != hit.note.id && targets.contains(&other.note.id);
        if beside.len() < N_BESIDE && is_linked && is_shown(&other.note) {
            beside.push(Passage::from(other));
        }
    }
    if beside.len() < N_BESIDE
        && let Some(map) = map_of(reader, hit, &is_shown)?
    {
        beside.push(map);
    }
    Ok(beside)
}

/// Returns the first note that lists others and links to the hit's note.
fn map_of(
    reader: &Reader,
    hit: &Hit,
    is_shown: impl Fn(&NoteRow) -> bool,
) -> Result<Option<Passage>> {
    for id in reader.linking(hit.note.id, &MAPS)? {
        let Some(note) = reader.note(id)? else { continue };
        if note.id == hit.note.id || !note.meta.for_agents || !is_shown(&note) {
            continue;
        }
        let chunk: Option<ChunkRow> = reader.chunk(note.first_chunk)?;
        if let Some(chunk) = chunk {
            return Ok(Some(Passage::from(&Hit::unranked(chunk, note))));
        }
    }
    Ok(None)
}
