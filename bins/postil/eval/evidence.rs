//! What the candidates' scores are made of, for those who fit the weights:
//! one JSON line a question.

use postil_core::eval::Question;
use postil_core::recall::{Answer, Hit, Place};
use serde_json::{Value, json};

/// Candidates written per question, and read: enough that other weights find
/// their best ones among them.
pub(super) const N_CANDIDATES: usize = 50;

pub(super) fn line(question: &Question, answer: &Answer) -> String {
    let hits = answer.hits.iter().filter(|hit| !question.exclude.contains(&hit.note.path));
    let line = json!({
        "id": question.id,
        "query": question.query,
        "relevant": question.relevant,
        "language": answer.language.code(),
        "alpha": answer.alpha,
        "bm25": answer.scale.bm25,
        "kinship": answer.scale.kinship,
        "floor": answer.scale.floor,
        "passages": answer.scale.n_docs,
        "candidates": hits.map(candidate).collect::<Vec<_>>(),
    });
    format!("{line}\n")
}

fn candidate(hit: &Hit) -> Value {
    let rank = |place: Option<Place>| place.map(|place| place.rank);
    json!({
        "path": hit.note.path,
        "line": hit.chunk.line,
        "language": hit.chunk.language.code(),
        "bm25": hit.evidence.bm25,
        "note_bm25": hit.evidence.note_bm25,
        "cosine": hit.evidence.cosine,
        "kinship": hit.evidence.kinship,
        "links": hit.evidence.links,
        "keyword_rank": rank(hit.keyword),
        "vector_rank": rank(hit.vector),
        "score": hit.score,
        "confidence": hit.confidence,
    })
}
