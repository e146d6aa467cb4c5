//! The order of the candidates: one score from what the words say, what the
//! vectors say, and how far each is to be trusted.
//!
//! The fused score is `(chunk BM25 + note BM25) / 2 + weight · cosine`, and for
//! the best of them `+ weight · kinship`. Scores
//! are added, not ranks: BM25 is a sum of log-odds, so a rare word that matches
//! outweighs any cosine and a common one does not, which is what Reciprocal
//! Rank Fusion throws away. On the judged collections the sum beat RRF at every
//! weight (see `core/docs/retrieval.md`). Ties fall to the document's number, so the
//! order is total.

use super::{Candidate, Evidence};

/// BM25 nats that a cosine of 1 is worth.
///
/// Between 16 and 32 the mean nDCG@10 over eight collections changes by 0.004;
/// the best single weight of each lies between 20 and 40.
const COSINE_WEIGHT: f32 = 22.0;

/// How much more the cosine counts where the nearest passages are in another
/// language than the query: words do not match across languages, vectors do.
const FOREIGN_BOOST: f32 = 4.0;

/// Weight of the words that a passage has in other words, see
/// [`super::kinship`]: flat from 0.3 to 0.5.
const KINSHIP_WEIGHT: f32 = 0.4;

/// Share of the cosine's boost that kinship gets as well: between 0.5 and 1 the
/// gain across languages is flat.
const KINSHIP_BOOST: f32 = 0.75;

/// How many times its usual weight the cosine gets.
///
/// `foreign` is the share of the nearest passages that are in another language
/// than the query, 0 to 1.
pub(super) fn boost(foreign: f32) -> f32 {
    1.0 + FOREIGN_BOOST * foreign
}

/// The boost that leaves the words a share of `alpha`, 0.5 being the usual
/// weights.
pub(super) fn boost_of(alpha: f32) -> f32 {
    let alpha = alpha.clamp(0.001, 0.999);
    (1.0 - alpha) / alpha
}

/// The share that a boost leaves the words.
pub(super) fn alpha(boost: f32) -> f32 {
    1.0 / (1.0 + boost)
}

/// The fused score of one document; `boost` is how many times its usual weight
/// the cosine gets.
pub(super) fn score(evidence: &Evidence, boost: f32) -> f32 {
    let kinship_boost = 1.0 + KINSHIP_BOOST * (boost - 1.0);
    (evidence.bm25 + evidence.note_bm25) / 2.0
        + COSINE_WEIGHT * boost * evidence.cosine
        + KINSHIP_WEIGHT * kinship_boost * evidence.kinship
}

/// Puts candidates in order, best first.
pub(super) fn sort(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.doc.cmp(&b.doc)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(doc: u32, bm25: f32, cosine: f32, foreign: f32) -> Candidate {
        let evidence = Evidence { bm25, note_bm25: bm25, cosine, ..Evidence::default() };
        Candidate { doc, score: score(&evidence, boost(foreign)), evidence, ..Candidate::default() }
    }

    fn order(mut candidates: Vec<Candidate>) -> Vec<u32> {
        sort(&mut candidates);
        candidates.iter().map(|candidate| candidate.doc).collect()
    }

    #[test]
    fn a_rare_word_outweighs_a_near_vector_and_a_common_one_does_not() {
        assert_eq!(order(vec![candidate(1, 0.0, 0.6, 0.0), candidate(2, 12.0, 0.2, 0.0)]), [2, 1]);
        assert_eq!(order(vec![candidate(1, 0.0, 0.6, 0.0), candidate(2, 2.0, 0.2, 0.0)]), [1, 2]);
    }

    #[test]
    fn vectors_count_for_more_across_languages() {
        assert_eq!(order(vec![candidate(1, 0.0, 0.6, 1.0), candidate(2, 12.0, 0.2, 1.0)]), [1, 2]);
    }

    #[test]
    fn alpha_and_boost_are_two_names_of_one_weight() {
        assert_eq!(boost_of(0.5), boost(0.0));
        for wanted in [0.1, 0.2, 0.5, 0.9] {
            assert!((alpha(boost_of(wanted)) - wanted).abs() < 1e-6, "{wanted}");
        }
        assert!(boost_of(0.0).is_finite() && boost_of(1.0) > 0.0);
    }

    #[test]
    fn ties_are_broken_in_a_total_order() {
        assert_eq!(order(vec![candidate(5, 1.0, 0.5, 0.0), candidate(4, 1.0, 0.5, 0.0)]), [4, 5]);
    }
}
