//! The exact path: FTS5 and sqlite-vec are asked themselves. Slow (tens of
//! milliseconds at 50,000 chunks), and a check of the snapshot: what it does
//! not know is only the share of a note's other chunks in a chunk's score.

use super::fuse::{self, Trust};
use super::{Candidate, Evidence, Found, LEXICAL, N_CANDIDATES, Place, Search};
use crate::error::Result;
use crate::model::Vector;
use crate::store::{Doc, DocFlags, NoteFilter};

/// sqlite-vec refuses more neighbours than this.
const MAX_NEAREST: usize = 4_096;

impl Search<'_> {
    /// Ranks chunks; a candidate's `doc` is the id of its chunk.
    ///
    /// Conditions are checked last, so many more candidates are taken where
    /// there are any.
    pub(super) fn retrieve_exact(
        &self,
        vector: Option<&Vector>,
        filter: &NoteFilter,
    ) -> Result<Found> {
        let n = match filter.is_empty() {
            true => N_CANDIDATES.max(self.options.limit * 2),
            false => MAX_NEAREST,
        };
        let near = match vector {
            Some(vector) => self.reader.nearest_exact(vector, n)?,
            None => Vec::new(),
        };
        let terms = self.weighted();
        let words = self.reader.lexical_exact(&terms, &LEXICAL, n)?;
        let trust = self.options.alpha.map_or_else(Trust::default, Trust::of_alpha);
        let mut candidates = Vec::new();
        for (id, evidence) in evidence(&near, &words) {
            let Some(chunk) = self.reader.chunk(id)? else { continue };
            let Some(note) = self.reader.note(chunk.note_id)? else { continue };
            if !filter.accepts(&note) || self.options.for_agents && !note.meta.for_agents {
                continue;
            }
            let record = Doc {
                chunk_id: id as u32,
                note_id: note.id as u32,
                day: 0,
                language: chunk.language,
                flags: if note.meta.for_agents { 0 } else { DocFlags::PEOPLE_ONLY },
            };
            let is_native = record.language == self.language;
            let score = fuse::score(&evidence, trust, is_native);
            candidates.push(Candidate { doc: id as u32, record, score, evidence });
        }
        fuse::sort(&mut candidates);
        // Rarity and the highest score there could be are the same either way.
        let rarity = self.reader.lexical_with(&terms, &LEXICAL, 1, self.skip, &[])?;
        let (ideal, idf) = (rarity.ideal, rarity.idf);
        let has_model = vector.is_some();
        Ok(Found { candidates, ideal, idf, trust, has_model, ..Found::default() })
    }
}

/// Puts together what both paths know of each chunk.
fn evidence(near: &[(i64, f32)], words: &[(i64, f32)]) -> Vec<(i64, Evidence)> {
    let place = |idx: usize, score: f32| Some(Place { rank: idx + 1, score });
    let mut all: Vec<(i64, Evidence)> = near
        .iter()
        .enumerate()
        .map(|(idx, (id, cosine))| {
            let vector = place(idx, *cosine);
            (*id, Evidence { cosine: *cosine, vector, ..Evidence::default() })
        })
        .collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    let n_near = all.len();
    for (idx, (id, bm25)) in words.iter().enumerate() {
        let of_words = |evidence: Evidence| Evidence {
            bm25: *bm25,
            note_bm25: *bm25,
            keyword: place(idx, *bm25),
            ..evidence
        };
        match all[..n_near].binary_search_by_key(id, |(id, _)| *id) {
            Ok(at) => all[at].1 = of_words(all[at].1),
            Err(_) => all.push((*id, of_words(Evidence::default()))),
        }
    }
    all
}
