//! Silence is the normal answer: only what clears the threshold is injected.

use super::errand::MANY;
use crate::recall::Hit;

/// Confidence a passage needs: at this one, 5 % of the questions of other judged
/// collections find a passage, and 86 % of the answers that retrieval puts among
/// its first three get through (see `core/docs/retrieval.md`).
const MIN_CONFIDENCE: f32 = 0.5;

/// What a passage needs where there is less to go by: two words of substance, or
/// a tool's input instead of a question.
///
/// Measured with `tests/gate` on nine judged vaults: of what agents are asked to
/// do with code, 31 % found a passage at 0.5 everywhere, and 2 % of the answers
/// were lost by these two.
const MIN_CONFIDENCE_FEW: f32 = 0.8;

/// The same with one word of substance.
const MIN_CONFIDENCE_ONE: f32 = 0.9;

/// Returns true if a passage is worth an agent's attention, where a question was
/// asked.
pub fn passes(hit: &Hit) -> bool {
    hit.confidence >= MIN_CONFIDENCE
}

/// Returns true if a passage bears on a text with this many subjects; `is_tool`
/// where the text is a tool's input.
pub(super) fn bears_on(n_subjects: usize, is_tool: bool, hit: &Hit) -> bool {
    let min = match n_subjects {
        0 | 1 => MIN_CONFIDENCE_ONE,
        n if n < MANY || is_tool => MIN_CONFIDENCE_FEW,
        _ => MIN_CONFIDENCE,
    };
    hit.confidence >= min
}
