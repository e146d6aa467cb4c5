//! What an extract must hold, read from the whole output before anything is
//! dropped.

use super::rank::{MUST, Seen};
use super::render::shown;
use super::signal::Severity;

/// A piece of text that must be found in the extract.
pub(super) struct Fact {
    /// As it is shown.
    pub(super) text: Vec<u8>,
}

/// All facts of an output.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) list: Vec<Fact>,
    n_warnings: u32,
}

impl Facts {
    /// Counts that no line states.
    pub(super) fn notes(&self) -> Vec<String> {
        if self.n_warnings > 1 {
            vec![format!("{} warning lines", self.n_warnings)]
        } else {
            Vec::new()
        }
    }
}

/// Collects the facts: every line of the highest rank.
pub(super) fn facts(seen: &Seen<'_>, ranks: &[u8]) -> Facts {
    let mut facts = Facts::default();
    for (idx, &rank) in ranks.iter().enumerate() {
        let signal = seen.signal(idx);
        if signal.severity == Severity::Warning && signal.place {
            facts.n_warnings += 1;
        }
        if rank != MUST {
            continue;
        }
        let mut text = Vec::new();
        shown(seen.lines.get(idx), &mut text);
        facts.list.push(Fact { text: text.trim_ascii().to_vec() });
    }
    facts
}
