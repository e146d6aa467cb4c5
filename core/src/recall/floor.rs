//! Whether an answer has to do with its query at all: a ranking always has its
//! length, however little it bears on what was asked.
//!
//! Far below the gate, which decides what is said to somebody who did not ask.

use super::{Answer, Hit};

/// Confidence below which a passage without a word of the query is nothing.
///
/// On judged vaults of 240 to 2,400 notes the surest passage for words made of
/// random letters has 0.002 to 0.02, and for the 19 of 450 questions that share no
/// word with what was found, 0.056 and more.
const MIN_CONFIDENCE: f32 = 0.03;

/// In a vault of a few notes nothing stands out, and confidence is always low: there
/// a question in other words has a cosine of 0.37 and more, random letters under
/// 0.3.
const MIN_COSINE: f32 = 0.35;

/// The same as a share of the query's words that the passage has in other words.
const MIN_KINSHIP: f32 = 0.25;

impl Answer {
    /// Says whether no passage has a word of the query, or one of its words in other
    /// words, or comes near it in meaning. True where there is none.
    pub fn is_beside_the_point(&self) -> bool {
        let min_kinship = MIN_KINSHIP * self.scale.kinship;
        let is_nothing = |hit: &Hit| {
            hit.keyword.is_none()
                && hit.evidence.kinship <= min_kinship
                && hit.evidence.cosine < MIN_COSINE
                && hit.confidence < MIN_CONFIDENCE
        };
        self.hits.iter().all(is_nothing)
    }
}
