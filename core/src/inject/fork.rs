//! A forked session begins with another one's conversation, and so with what
//! that one was told.
//!
//! Claude Code does not say which session was forked, and has not written the
//! new transcript when the session starts. It says how long ago the last answer
//! was: the parent is the one session of the same project whose last answer is
//! that old. Where none is, or several are, nothing is inherited: a passage said
//! again costs tokens, one that is held back is lost.

use std::path::Path;

use super::transcript::last_answer;
use crate::hook::Event;
use crate::hook::session::{Ledger, ledgers_of};

/// Most ledgers that are looked at, the latest first.
const MAX_LEDGERS: usize = 200;

/// How far the two clocks may be apart, in seconds: the client counts from when
/// the answer ended, and rounds.
const TOLERANCE: u64 = 3;

/// Takes over what the session that `event` continues under a new name was told.
pub(super) fn inherit(ledger: &mut Ledger, sessions: &Path, event: &Event<'_>, now: u64) {
    let Some(idle) = event.idle_seconds else { return };
    let Some(own) = event.transcript.as_deref() else { return };
    let Some(project) = own.parent() else { return };
    let is_parent = |transcript: &Path| {
        transcript != own
            && last_answer(transcript)
                .is_some_and(|time| now.saturating_sub(time).abs_diff(idle) <= TOLERANCE)
    };
    let mut parents: Vec<_> = ledgers_of(sessions, project, MAX_LEDGERS)
        .into_iter()
        .filter(|(_, transcript)| is_parent(transcript))
        .collect();
    if let (Some((parent, _)), true) = (parents.pop(), parents.is_empty()) {
        // A fork that knows less repeats itself.
        let _ = ledger.adopt(&parent);
    }
}
