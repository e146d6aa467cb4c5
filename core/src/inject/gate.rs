//! Silence is the normal answer: only what clears the threshold is injected.

use crate::recall::Hit;

/// Confidence a passage needs: at this one, 5 % of the questions of other judged
/// collections find a passage, and 86 % of the answers that retrieval puts among
/// its first three get through (see `core/docs/retrieval.md`).
const MIN_CONFIDENCE: f32 = 0.5;

/// Returns true if a passage is worth an agent's attention.
pub fn passes(hit: &Hit) -> bool {
    hit.confidence >= MIN_CONFIDENCE
}
