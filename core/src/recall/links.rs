//! What the best candidates link to.
//!
//! A person links a note where it explains what is being said, so a note that
//! several of the best candidates point to is more likely the one that is
//! wanted. Only links out of a candidate count: those into it, and how often a
//! note is linked at all, gained nothing (see `core/docs/retrieval.md`).

use super::Candidate;
use crate::error::Result;
use crate::store::Reader;

/// Notes whose links are followed: 5 gave the same.
const N_FOLLOWED: usize = 3;

/// A note with more links is a table of contents: that it points to a note says
/// little, and reading it costs.
const MAX_LINKS: usize = 64;

/// Counts for each candidate how many of the best notes link to its note;
/// `candidates` come best first.
pub(super) fn follow(reader: &Reader, candidates: &mut [Candidate]) -> Result<()> {
    let mut best: Vec<u32> = Vec::with_capacity(N_FOLLOWED);
    for candidate in candidates.iter() {
        if best.len() == N_FOLLOWED {
            break;
        }
        if !best.contains(&candidate.record.note_id) {
            best.push(candidate.record.note_id);
        }
    }
    for note in best {
        let targets = reader.targets(note.into(), MAX_LINKS + 1)?;
        if targets.is_empty() || targets.len() > MAX_LINKS {
            continue;
        }
        for candidate in candidates.iter_mut() {
            let own = candidate.record.note_id;
            if own != note && targets.binary_search(&own.into()).is_ok() {
                candidate.evidence.links += 1.0;
            }
        }
    }
    Ok(())
}
