//! How sure it is that a passage has to do with the query at all: what the gate
//! goes by. Scores rank within an answer; this compares across answers.

use super::Evidence;

/// What the evidence of one query is measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// The BM25 score that a passage with every term would approach.
    pub bm25: f32,
    /// The kinship of a passage with every word; 0 without a model.
    pub kinship: f32,
    /// The fused score of the hundredth candidate, or of the last: what chance
    /// gives.
    pub floor: f32,
    /// How many times its usual weight the cosine got.
    pub boost: f32,
    /// Passages in the index: the more there are, the further one stands out
    /// by chance.
    pub n_docs: u32,
    /// False when only words were compared.
    pub has_model: bool,
}

/// Weights of a logistic regression, in the order of [`Scale::features`].
///
/// Fitted on twelve vaults (the judged collections and three Obsidian vaults):
/// passages that answer a question of their own vault against the best three
/// for questions of the others, each vault with the same weight. The constants
/// are set so that 0.5 stands for 5 % of the foreign questions having any
/// passage above it; `tests/fit gate` fits and cross-validates, and
/// `core/docs/retrieval.md` has the shares by collection.
const WEIGHTS: [f32; 6] = [-9.9, 7.0, 1.3, 5.8, 6.2, 4.1];

/// The same for a passage in another language than the query: what vectors find
/// there is nearer than it looks, so how far it stands out decides. With the
/// cosine among them the weights held less on vaults they were not fitted on.
const WEIGHTS_FOREIGN: [f32; 6] = [-6.6, 0.0, 0.0, 8.4, 15.2, 4.9];

/// The same where there is no model: words alone, fitted within a language.
const WEIGHTS_WITHOUT_MODEL: [f32; 6] = [-6.5, 0.0, 9.0, 9.2, 6.9, 0.0];

/// Share of the logarithm of the number of passages that is a lead of 1.
const LEAD: f32 = 6.6;

/// Passages that a vault counts as having, at least, where passages are in
/// another language than the query.
const MIN_DOCS_FOREIGN: u32 = 500;

/// Standing out further than this says nothing more.
const MAX_LEAD: f32 = 1.5;

impl Scale {
    /// Returns the confidence in a passage, 0 to 1; `is_foreign` tells that it
    /// is in another language than the query.
    pub(super) fn confidence(&self, score: f32, evidence: &Evidence, is_foreign: bool) -> f32 {
        let weights = match (self.has_model, is_foreign) {
            (false, _) => WEIGHTS_WITHOUT_MODEL,
            (true, false) => WEIGHTS,
            (true, true) => WEIGHTS_FOREIGN,
        };
        let sum: f32 = self
            .features(score, evidence, is_foreign)
            .iter()
            .zip(weights)
            .map(|(f, w)| f * w)
            .sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// How far a good answer stands out: inverse document frequencies grow with
    /// the logarithm of the number of passages, and boosted scores lie further
    /// apart. 50 in a vault of 2,000 passages.
    fn reach(&self, is_foreign: bool) -> f32 {
        // In a small vault some passage in another language is always near.
        let n_docs = self.n_docs.max(if is_foreign { MIN_DOCS_FOREIGN } else { 1 });
        LEAD * (n_docs as f32).ln_1p() * self.boost.max(1.0)
    }

    /// A constant; the cosine; the shares of the best possible BM25 that the
    /// passage and its note reach; how far the passage stands out of the
    /// candidates; the share of the query's words that it has in any words.
    fn features(&self, score: f32, evidence: &Evidence, is_foreign: bool) -> [f32; 6] {
        let share = |value: f32, of: f32| if of > 0.0 { value / of } else { 0.0 };
        [
            1.0,
            evidence.cosine,
            share(evidence.bm25, self.bm25),
            share(evidence.note_bm25, self.bm25),
            ((score - self.floor) / self.reach(is_foreign)).min(MAX_LEAD),
            share(evidence.kinship, self.kinship),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale =
        Scale { bm25: 40.0, kinship: 18.0, floor: 8.0, boost: 1.0, n_docs: 2_000, has_model: true };

    #[test]
    fn a_passage_with_the_words_and_the_meaning_is_sure_and_a_chance_hit_is_not() {
        let answer = Evidence {
            bm25: 18.0,
            note_bm25: 20.0,
            cosine: 0.55,
            kinship: 14.0,
            ..Evidence::default()
        };
        let chance = Evidence {
            bm25: 5.0,
            note_bm25: 6.0,
            cosine: 0.35,
            kinship: 6.0,
            ..Evidence::default()
        };
        assert!(SCALE.confidence(38.0, &answer, false) > 0.9);
        assert!(SCALE.confidence(15.0, &chance, false) < 0.2);
    }

    #[test]
    fn no_evidence_is_no_confidence_and_never_a_nan() {
        let nothing = Evidence::default();
        assert!(SCALE.confidence(0.0, &nothing, false) < 0.01);
        assert!(Scale::default().confidence(0.0, &nothing, true) < 0.01);
    }
}
