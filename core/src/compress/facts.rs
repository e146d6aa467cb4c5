//! What an extract must hold, read from the whole output before anything is
//! dropped.

use super::family::is_dated;
use super::json::{Doc, Kind};
use super::rank::{MUST, Seen};
use super::select::Limits;
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
pub(super) fn facts(seen: &Seen<'_>, ranks: &[u8], limits: Limits, exact: bool) -> Facts {
    let mut facts = Facts::default();
    for (idx, &rank) in ranks.iter().enumerate() {
        let signal = seen.signal(idx);
        if signal.severity == Severity::Warning && !signal.tally && !is_dated(seen.lines.get(idx)) {
            facts.n_warnings += 1;
        }
        if rank != MUST {
            continue;
        }
        let mut text = Vec::new();
        seen.show(idx, exact, &mut text);
        facts.list.push(Fact { text: text.trim_ascii().to_vec() });
    }
    // More than fit: `select` thins them evenly and the marks count the rest,
    // which still beats the client's own cut.
    let total: usize = facts.list.iter().map(|fact| fact.text.len() + 1).sum();
    if total > limits.hard {
        facts.list.clear();
    }
    facts
}

/// The facts of a JSON document: its own scalar fields.
pub(super) fn of_document(doc: &Doc<'_>) -> Facts {
    let scalars = doc.children(0).filter(|&c| matches!(doc.kind(c), Kind::String | Kind::Other));
    let list = scalars
        .map(|c| Fact { text: doc.text(c).to_vec() })
        .filter(|fact| fact.text.len() <= 100)
        .collect();
    Facts { list, n_warnings: 0 }
}
