//! Silence is the normal answer: only what clears the threshold is injected.

use crate::recall::Hit;

/// Confidence a passage needs to be injected.
const MIN_CONFIDENCE: f32 = 0.5;

/// Returns true if a passage is worth an agent's attention.
pub fn passes(hit: &Hit) -> bool {
    hit.confidence >= MIN_CONFIDENCE
}
