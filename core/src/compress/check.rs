//! Refuses an extract that lost a fact, or that is not worth its place.

use super::facts::Facts;
use super::select::Limits;
use super::{Extract, Output};

/// Outputs under this many bytes, about 1,000 tokens, are left alone.
pub const MIN_BYTES: usize = 2300;

/// What the closing path and check sum add, at most.
const SEAL: usize = 120;

/// Whether an extract may replace the output.
pub(super) fn accept(
    output: &Output<'_>,
    facts: &Facts,
    limits: Limits,
    extract: &Extract,
) -> bool {
    worth(output, limits, extract) && holds_all(facts, &extract.body)
}

/// Whether an extract saves enough.
pub(super) fn worth(output: &Output<'_>, limits: Limits, extract: &Extract) -> bool {
    let size = extract.body.len() + SEAL;
    let gain = size * 10 <= output.shown_by_client.min(output.raw.len()) * 9;
    // Where the client shows a bare preview, an extract need not be smaller
    // than that: it holds the facts that the preview does not.
    let instead = output.raw.len() > output.shown_by_client * 2 && size <= limits.hard + SEAL;
    gain || instead
}

fn holds_all(facts: &Facts, body: &[u8]) -> bool {
    facts.list.iter().all(|fact| memchr::memmem::find(body, &fact.text).is_some())
}
