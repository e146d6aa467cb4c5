//! Passages as JSON; the names of the fields are fixed.

use postil_core::recall::{Answer, Hit, Place};
use serde_json::{Value, json};

/// Renders all passages as one array and a line end.
pub(crate) fn hits(answer: &Answer, explain: bool) -> String {
    let hits: Vec<Value> = answer
        .hits
        .iter()
        .map(|hit| {
            let mut value = value(hit);
            if explain {
                value["explain"] = explanation(hit, answer);
            }
            value
        })
        .collect();
    format!("{}\n", Value::from(hits))
}

fn value(hit: &Hit) -> Value {
    let rank = |place: Option<Place>| place.map(|place| place.rank);
    json!({
        "path": hit.note.path,
        "heading": hit.chunk.heading,
        "text": hit.chunk.text,
        "score": hit.score,
        "bm25_rank": rank(hit.keyword),
        "vec_rank": rank(hit.vector),
        "line": hit.chunk.line,
        "title": hit.note.meta.title,
        "tags": hit.note.meta.tags,
        "date": hit.note.day(),
    })
}

fn explanation(hit: &Hit, answer: &Answer) -> Value {
    json!({
        "alpha": answer.alpha,
        "language": answer.language.code(),
        "bm25": hit.keyword.map(|place| place.score),
        "cosine": hit.vector.map(|place| place.score),
        "kinship": hit.evidence.kinship,
        "confidence": hit.confidence,
        "passage_language": hit.chunk.language.code(),
        "injected": postil_core::inject::clears_gate(hit),
    })
}
