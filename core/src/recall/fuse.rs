//! Reciprocal Rank Fusion of the two rankings (Cormack, Clarke and Büttcher,
//! SIGIR 2009).

use super::{Candidate, Place};

/// The constant of the paper: how little the very first ranks stand out.
const K: f32 = 60.0;

/// Fuses two rankings of documents.
///
/// The order is total: score, then documents that both rankings have, then the
/// better single rank, then the document's number.
pub(super) fn fuse(keyword: &[(u32, Place)], vector: &[(u32, Place)]) -> Vec<Candidate> {
    let mut fused: Vec<Candidate> = Vec::with_capacity(keyword.len() + vector.len());
    for (doc, place) in keyword {
        let score = 1.0 / (K + place.rank as f32);
        fused.push(Candidate { doc: *doc, score, keyword: Some(*place), vector: None });
    }
    for (doc, place) in vector {
        let score = 1.0 / (K + place.rank as f32);
        match fused.iter_mut().find(|candidate| candidate.doc == *doc) {
            Some(candidate) => {
                candidate.score += score;
                candidate.vector = Some(*place);
            }
            None => {
                fused.push(Candidate { doc: *doc, score, keyword: None, vector: Some(*place) });
            }
        }
    }
    fused.sort_by(|a, b| {
        let in_both = |c: &Candidate| c.keyword.is_some() && c.vector.is_some();
        b.score
            .total_cmp(&a.score)
            .then_with(|| in_both(b).cmp(&in_both(a)))
            .then_with(|| best_rank(a).cmp(&best_rank(b)))
            .then_with(|| a.doc.cmp(&b.doc))
    });
    fused
}

fn best_rank(candidate: &Candidate) -> usize {
    let rank = |place: Option<Place>| place.map_or(usize::MAX, |place| place.rank);
    rank(candidate.keyword).min(rank(candidate.vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(docs: &[u32]) -> Vec<(u32, Place)> {
        docs.iter()
            .enumerate()
            .map(|(idx, doc)| (*doc, Place { rank: idx + 1, score: 1.0 }))
            .collect()
    }

    fn order(keyword: &[u32], vector: &[u32]) -> Vec<u32> {
        fuse(&ranking(keyword), &ranking(vector)).iter().map(|c| c.doc).collect()
    }

    #[test]
    fn what_both_rankings_have_comes_first() {
        assert_eq!(order(&[1, 2, 3], &[9, 3, 8]), [3, 1, 9, 2, 8]);
    }

    #[test]
    fn ties_are_broken_in_a_total_order() {
        assert_eq!(order(&[5], &[4]), [4, 5]);
        assert_eq!(order(&[5, 4], &[4, 5]), [4, 5]);
    }

    #[test]
    fn one_ranking_alone_keeps_its_order() {
        assert_eq!(order(&[3, 1, 2], &[]), [3, 1, 2]);
        assert_eq!(order(&[], &[3, 1, 2]), [3, 1, 2]);
    }
}
