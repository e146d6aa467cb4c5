//! Silence is the normal answer: only what clears the threshold is injected.

use crate::recall::Hit;

/// Fused score a passage needs.
const MIN_SCORE: f32 = 18.0;

/// Returns true if a passage is worth an agent's attention.
pub(super) fn passes(hit: &Hit) -> bool {
    hit.score >= MIN_SCORE
}
