//! Silence is the normal answer: only what clears the threshold is injected.
//!
//! The thresholds follow from twelve files of questions on nine judged vaults
//! (`tests/gate --sample 30`): with them 90 % of the answers that retrieval puts
//! among its first three get through, 81 % where question and note are in different
//! languages, and 3.7 % of the questions of other vaults find anything. When they
//! were chosen, one threshold for all that let as many answers through let through
//! 5.5 % of the latter instead of 4.3 %, and several times as much of what agents
//! are told to do with code.

use super::errand::MANY;
use crate::recall::Hit;

/// Confidence a passage needs where a question has at least [`MANY`] subjects.
const MIN_CONFIDENCE: f32 = 0.4;

/// The same with two, and with one.
const MIN_CONFIDENCE_TWO: f32 = 0.6;
const MIN_CONFIDENCE_ONE: f32 = 0.8;

/// For a tool's input: nobody asked, and what it brings comes late.
const MIN_CONFIDENCE_TOOL: f32 = 0.8;
const MIN_CONFIDENCE_TOOL_ONE: f32 = 0.9;

/// Returns true if a passage is worth an agent's attention, where a question was
/// asked.
pub fn passes(hit: &Hit) -> bool {
    hit.confidence >= MIN_CONFIDENCE
}

/// Returns true if a passage bears on a text with this many subjects; `is_tool`
/// where the text is a tool's input.
pub(super) fn bears_on(n_subjects: usize, is_tool: bool, hit: &Hit) -> bool {
    let min = match (n_subjects, is_tool) {
        (0 | 1, true) => MIN_CONFIDENCE_TOOL_ONE,
        (_, true) => MIN_CONFIDENCE_TOOL,
        (0 | 1, false) => MIN_CONFIDENCE_ONE,
        (n, false) if n < MANY => MIN_CONFIDENCE_TWO,
        (_, false) => MIN_CONFIDENCE,
    };
    hit.confidence >= min
}
