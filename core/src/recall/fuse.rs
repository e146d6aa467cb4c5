//! The order of the candidates: one score from what the words say, what the
//! vectors say, and how far each is to be trusted.
//!
//! The fused score is `(chunk BM25 + note BM25) / 2 + weight · cosine`, for the
//! best of them `+ weight · kinship`, and for what they link to a little more. Scores
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

/// BM25 nats for each of the best notes that links to a passage's note. Worth
/// 0.02 nDCG@10 and 0.03 recall@10 in two vaults of linked notes, asked with
/// sentences of the vault whose own note does not count; nothing elsewhere.
/// Flat from 1.5 to 3.
const LINK_WEIGHT: f32 = 2.0;

/// Share of the keyword score that a passage in the query's own language loses
/// where all the others are in another: in a translated text it is what the
/// translator left, and there common words of the query match by chance. Worth
/// 0.013 nDCG@10 on Spanish manual pages and 0.004 on Spanish documentation
/// asked in English; flat from 0.6 to 1.
const FRAGMENT_LOSS: f32 = 0.8;

/// How far each kind of evidence is to be trusted for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trust {
    /// How many times its usual weight the cosine gets.
    pub(super) boost: f32,
    /// Share of its keyword score that a passage in the query's language keeps.
    fragment: f32,
}

impl Default for Trust {
    fn default() -> Self {
        Self::new(0.0)
    }
}

impl Trust {
    /// `foreign` is the share of the nearest passages that are in another
    /// language than the query, 0 to 1.
    pub(super) fn new(foreign: f32) -> Self {
        // In a vault of two languages, both are at home.
        let is_translated = (2.0 * foreign - 1.0).max(0.0);
        Self { boost: 1.0 + FOREIGN_BOOST * foreign, fragment: 1.0 - FRAGMENT_LOSS * is_translated }
    }

    /// Leaves the words a share of `alpha`, 0.5 being the usual weights.
    pub(super) fn of_alpha(alpha: f32) -> Self {
        let alpha = alpha.clamp(0.001, 0.999);
        Self { boost: (1.0 - alpha) / alpha, fragment: 1.0 }
    }

    /// The share that is left to the words.
    pub(super) fn alpha(&self) -> f32 {
        1.0 / (1.0 + self.boost)
    }
}

/// The fused score of one document; `is_native` tells that it is in the query's
/// language.
pub(super) fn score(evidence: &Evidence, trust: Trust, is_native: bool) -> f32 {
    let kinship_boost = 1.0 + KINSHIP_BOOST * (trust.boost - 1.0);
    let words = if is_native { trust.fragment } else { 1.0 };
    words * (evidence.bm25 + evidence.note_bm25) / 2.0
        + COSINE_WEIGHT * trust.boost * evidence.cosine
        + KINSHIP_WEIGHT * kinship_boost * evidence.kinship
        + links(evidence, trust)
}

/// The part of the score that comes from links.
pub(super) fn links(evidence: &Evidence, trust: Trust) -> f32 {
    LINK_WEIGHT * trust.boost * evidence.links
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
        let score = score(&evidence, Trust::new(foreign), false);
        Candidate { doc, score, evidence, ..Candidate::default() }
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
    fn words_count_little_in_what_a_translation_left() {
        let words = Evidence { bm25: 10.0, note_bm25: 10.0, ..Evidence::default() };
        let share = |foreign, is_native| score(&words, Trust::new(foreign), is_native) / 10.0;
        assert!((share(1.0, true) - 0.2).abs() < 1e-6);
        assert_eq!([share(1.0, false), share(0.5, true), share(0.0, true)], [1.0; 3]);
    }

    #[test]
    fn alpha_and_boost_are_two_names_of_one_weight() {
        assert_eq!(Trust::of_alpha(0.5), Trust::default());
        for wanted in [0.1, 0.2, 0.5, 0.9] {
            assert!((Trust::of_alpha(wanted).alpha() - wanted).abs() < 1e-6, "{wanted}");
        }
        assert!(Trust::of_alpha(0.0).boost.is_finite() && Trust::of_alpha(1.0).boost > 0.0);
    }

    #[test]
    fn ties_are_broken_in_a_total_order() {
        assert_eq!(order(vec![candidate(5, 1.0, 0.5, 0.0), candidate(4, 1.0, 0.5, 0.0)]), [4, 5]);
    }
}
