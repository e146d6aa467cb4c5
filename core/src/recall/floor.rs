//! Whether an answer has to do with its query at all: a ranking always has its
//! length, however little it bears on what was asked.
//!
//! Far below the gate, which decides what is said to somebody who did not ask.

use super::{Answer, Hit};
use crate::error::Result;
use crate::store::Reader;

/// Confidence below which a passage without a word of the query is nothing.
///
/// On judged vaults of 240 to 2,400 notes the surest passage for words made of
/// random letters has 0.004 to 0.03, and is below in 115 of 120 trials; of 754
/// questions 2 are below, and neither's answer was among the first ten.
const MIN_CONFIDENCE: f32 = 0.03;

/// Passages of a vault in which nothing stands out, so that confidence is always
/// low; there the next two count as well.
const FEW: u64 = 200;

/// Cosine: a question in other words has 0.37 and more, random letters under 0.3.
const MIN_COSINE: f32 = 0.35;

/// Share of the query's words that a passage has in other words.
const MIN_KINSHIP: f32 = 0.25;

impl Answer {
    /// Says whether no passage has a word of the query or comes near it in meaning.
    /// True where there is no passage.
    pub fn is_beside_the_point(&self, reader: &Reader) -> Result<bool> {
        let is_nothing = |hit: &Hit| hit.keyword.is_none() && hit.confidence < MIN_CONFIDENCE;
        let min_kinship = MIN_KINSHIP * self.scale.kinship;
        let is_far =
            |hit: &Hit| hit.evidence.cosine < MIN_COSINE && hit.evidence.kinship <= min_kinship;
        Ok(self.hits.iter().all(is_nothing)
            && (self.hits.iter().all(is_far) || reader.counts()?.1 >= FEW))
    }
}
