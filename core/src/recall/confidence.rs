//! How sure it is that a passage has to do with the query at all: what the gate
//! goes by. Scores rank within an answer; this compares across answers.

use super::Evidence;

/// What the evidence of one query is measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// The BM25 score that a passage with every term would approach.
    pub bm25: f32,
    /// The kinship of a passage with every word; 0 without a model.
    pub kinship: f32,
    /// The fused score of the hundredth candidate, or of the last: what chance
    /// gives.
    pub floor: f32,
}

impl Scale {
    /// Returns the confidence in a passage, 0 to 1.
    pub(super) fn confidence(&self, score: f32, evidence: &Evidence) -> f32 {
        let share = |value: f32, of: f32| if of > 0.0 { value / of } else { 0.0 };
        let features = [
            1.0,
            evidence.cosine,
            share(evidence.bm25, self.bm25),
            share(evidence.note_bm25, self.bm25),
            (score - self.floor) / 50.0,
            share(evidence.kinship, self.kinship),
        ];
        let weights = [-6.0, 6.0, 2.0, 2.0, 2.0, 3.0];
        let sum: f32 = features.iter().zip(weights).map(|(f, w)| f * w).sum();
        1.0 / (1.0 + (-sum).exp())
    }
}
