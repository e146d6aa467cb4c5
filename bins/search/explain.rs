//! Why a passage stands where it stands, in words.

use postil_core::recall::{Answer, Hit, Place};

use crate::args::Args;
use crate::vault::Vault;

/// One line on what holds for the whole answer.
pub(crate) fn weights(answer: &Answer, args: &Args, vault: &Vault) -> String {
    let by = match (args.alpha, &vault.embedder) {
        (Some(_), _) => "as asked",
        (None, None) => "no model",
        (None, Some(_)) => "automatic",
    };
    let tables = if args.exact { "FTS5 and sqlite-vec" } else { "the snapshot" };
    format!(
        "words {:.0} %, meaning {:.0} % (alpha {:.2}, {by}); read as `{}`; from {tables}",
        answer.alpha * 100.0,
        (1.0 - answer.alpha) * 100.0,
        answer.alpha,
        answer.language.code(),
    )
}

/// One line on one passage.
pub(crate) fn hit(hit: &Hit) -> String {
    let place = |name: &str, unit: &str, place: Option<Place>| {
        place.map_or_else(
            || format!("{name} not among the candidates"),
            |place| format!("{name} rank {} ({unit} {:.3})", place.rank, place.score),
        )
    };
    let gate = match postil_core::inject::clears_gate(hit) {
        true => "an agent would get it",
        false => "below the gate: no agent would get it",
    };
    let kin = match hit.evidence.kinship {
        0.0 => String::new(),
        kinship => format!("; words in other words {kinship:.2}"),
    };
    format!(
        "score {:.3}; {}; {}{kin}; confidence {:.2}: {gate}",
        hit.score,
        place("words", "BM25", hit.keyword),
        place("meaning", "cosine", hit.vector),
        hit.confidence,
    )
}
