//! The order of the candidates: one score from what the words say, what the
//! vectors say, and how far each is to be trusted.
//!
//! The fused score is `(chunk BM25 + note BM25) / 2 + weight · cosine`. Scores
//! are added, not ranks: BM25 is a sum of log-odds, so a rare word that matches
//! outweighs any cosine and a common one does not, which is what Reciprocal
//! Rank Fusion throws away. On the judged collections the sum beat RRF at every
//! weight (see `core/README.md`). Ties fall to the document's number, so the
//! order is total.

use super::{Candidate, Place};

/// BM25 nats that a cosine of 1 is worth.
///
/// Between 16 and 32 the mean nDCG@10 over eight collections changes by 0.004;
/// the best single weight of each lies between 20 and 40.
const COSINE_WEIGHT: f32 = 22.0;

/// How much more the cosine counts where the nearest passages are in another
/// language than the query: words do not match across languages, vectors do.
const FOREIGN_BOOST: f32 = 3.0;

/// One document as both paths see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Evidence {
    /// Number of the document.
    pub(super) doc: u32,
    /// Its own BM25 score.
    pub(super) chunk_bm25: f32,
    /// Its note's BM25 score.
    pub(super) note_bm25: f32,
    /// Its cosine with the query; 0 without a vector.
    pub(super) cosine: f32,
    /// Where the keyword path had it.
    pub(super) keyword: Option<Place>,
    /// Where the vector path had it.
    pub(super) vector: Option<Place>,
}

/// Orders the candidates, best first.
///
/// `foreign` is the share of the nearest passages that are in another language
/// than the query, 0 to 1.
pub(super) fn fuse(evidence: &[Evidence], foreign: f32) -> Vec<Candidate> {
    let cosine_weight = COSINE_WEIGHT * (1.0 + FOREIGN_BOOST * foreign);
    let mut fused: Vec<Candidate> = evidence
        .iter()
        .map(|e| Candidate {
            doc: e.doc,
            score: (e.chunk_bm25 + e.note_bm25) / 2.0 + cosine_weight * e.cosine,
            evidence: *e,
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.doc.cmp(&b.doc)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(doc: u32, bm25: f32, cosine: f32) -> Evidence {
        Evidence { doc, chunk_bm25: bm25, note_bm25: bm25, cosine, ..Evidence::default() }
    }

    fn order(evidence: &[Evidence], foreign: f32) -> Vec<u32> {
        fuse(evidence, foreign).iter().map(|candidate| candidate.doc).collect()
    }

    #[test]
    fn a_rare_word_outweighs_a_near_vector_and_a_common_one_does_not() {
        assert_eq!(order(&[evidence(1, 0.0, 0.6), evidence(2, 12.0, 0.2)], 0.0), [2, 1]);
        assert_eq!(order(&[evidence(1, 0.0, 0.6), evidence(2, 2.0, 0.2)], 0.0), [1, 2]);
    }

    #[test]
    fn vectors_count_for_more_across_languages() {
        let both = [evidence(1, 0.0, 0.6), evidence(2, 12.0, 0.2)];
        assert_eq!(order(&both, 1.0), [1, 2]);
    }

    #[test]
    fn ties_are_broken_in_a_total_order() {
        assert_eq!(order(&[evidence(5, 1.0, 0.5), evidence(4, 1.0, 0.5)], 0.0), [4, 5]);
    }
}
