//! Rankings and judgements to figures: how good retrieval is, how sure one can
//! be of it, and whether one run is better than another.
//!
//! Note level, binary relevance. The measures are those of the trec_eval
//! tradition: recall, nDCG (Järvelin and Kekäläinen 2002), reciprocal rank,
//! success. Pure: reads no files and knows no clock; its random numbers come
//! from a fixed seed, so the same runs give the same figures.

use std::collections::{BTreeMap, HashSet};

/// A question with the notes that answer it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Its name, unique in its file.
    pub id: String,
    /// What is asked.
    pub query: String,
    /// The notes that answer it, by path in the vault.
    pub relevant: Vec<String>,
    /// Only notes below this folder are ranked, where given.
    pub scope: Option<String>,
    /// Notes that are not ranked: the one the question was taken from.
    pub exclude: Vec<String>,
    /// A set of questions that is also reported on its own.
    pub group: Option<String>,
}

/// The measures of one question, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// Share of the relevant notes among the first 5.
    pub recall_5: f64,
    /// Share of the relevant notes among the first 10.
    pub recall_10: f64,
    /// Share of the relevant notes among the first 20.
    pub recall_20: f64,
    /// Normalised discounted cumulative gain of the first 10; the ideal has as
    /// many relevant notes as there are, at most 10.
    pub ndcg_10: f64,
    /// One over the rank of the first relevant note of the first 10, else 0.
    pub mrr_10: f64,
    /// 1 when the first note is relevant.
    pub success_1: f64,
    /// 1 when one of the first 5 is relevant.
    pub success_5: f64,
}

impl Measures {
    /// The names of the measures, as they are reported.
    pub const NAMES: [&str; 7] =
        ["recall@5", "recall@10", "recall@20", "ndcg@10", "mrr@10", "success@1", "success@5"];

    /// The values in the order of [`Measures::NAMES`].
    pub fn values(&self) -> [f64; 7] {
        let Self { recall_5, recall_10, recall_20, ndcg_10, mrr_10, success_1, success_5 } = *self;
        [recall_5, recall_10, recall_20, ndcg_10, mrr_10, success_1, success_5]
    }
}

/// Measures one ranking of distinct notes against the relevant ones.
///
/// A question without relevant notes measures 0 in everything.
pub fn measure(ranking: &[&str], relevant: &[String]) -> Measures {
    let relevant: HashSet<&str> = relevant.iter().map(String::as_str).collect();
    let ranks: Vec<usize> = (0..ranking.len()).filter(|&i| relevant.contains(ranking[i])).collect();
    let found = |k: usize| ranks.iter().filter(|rank| **rank < k).count() as f64;
    let recall = |k: usize| found(k) / relevant.len().max(1) as f64;
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
    let dcg: f64 = ranks.iter().filter(|rank| **rank < 10).map(|rank| gain(*rank)).sum();
    Measures {
        recall_5: recall(5),
        recall_10: recall(10),
        recall_20: recall(20),
        // An empty sum is -0.0.
        ndcg_10: if ideal > 0.0 { dcg / ideal + 0.0 } else { 0.0 },
        mrr_10: ranks.first().filter(|rank| **rank < 10).map_or(0.0, |r| 1.0 / (*r as f64 + 1.0)),
        success_1: found(1).min(1.0),
        success_5: found(5).min(1.0),
    }
}

/// The mean of a measure over questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval, by the normal
    /// approximation; 0 for fewer than two questions.
    pub ci95: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Self {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        if values.len() < 2 {
            return Self { mean, ci95: 0.0 };
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self { mean, ci95: 1.96 * (variance / n).sqrt() }
    }
}

/// The figures of a set of questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Number of questions.
    pub n_questions: usize,
    /// One mean per measure, in the order of [`Measures::NAMES`].
    pub means: [Mean; 7],
}

/// Averages the measures of questions.
pub fn average(measures: &[Measures]) -> Figures {
    let means = std::array::from_fn(|m| {
        Mean::of(&measures.iter().map(|one| one.values()[m]).collect::<Vec<_>>())
    });
    Figures { n_questions: measures.len(), means }
}

/// Averages the measures of each group, by name; questions without a group are
/// in none.
pub fn average_groups(questions: &[Question], measures: &[Measures]) -> BTreeMap<String, Figures> {
    let mut groups: BTreeMap<String, Vec<Measures>> = BTreeMap::new();
    for (question, one) in questions.iter().zip(measures) {
        if let Some(group) = &question.group {
            groups.entry(group.clone()).or_default().push(*one);
        }
    }
    groups.into_iter().map(|(name, group)| (name, average(&group))).collect()
}

/// One measure of two runs over the same questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paired {
    /// Mean of the second run minus mean of the first, with the interval of
    /// the difference.
    pub difference: Mean,
    /// Questions on which the second run is better.
    pub n_better: usize,
    /// Questions on which it is worse.
    pub n_worse: usize,
    /// Two-sided p-value of a randomisation test (Smucker, Allan and
    /// Carterette, CIKM 2007).
    pub p: f64,
}

/// Sign assignments the randomisation test draws.
const N_DRAWS: u32 = 10_000;

/// Compares one measure of two runs, question by question.
pub fn compare(before: &[f64], after: &[f64]) -> Paired {
    let differences: Vec<f64> = before.iter().zip(after).map(|(b, a)| a - b).collect();
    let observed = differences.iter().sum::<f64>().abs();
    let moved: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let mut random = SplitMix(0x9e37_79b9_7f4a_7c15);
    let mut n_as_large = 0_u32;
    for _ in 0..N_DRAWS {
        let (mut sum, mut bits, mut left) = (0.0, 0, 0);
        for difference in &moved {
            if left == 0 {
                (bits, left) = (random.next(), 64);
            }
            sum += if bits & 1 == 0 { *difference } else { -*difference };
            (bits, left) = (bits >> 1, left - 1);
        }
        n_as_large += u32::from(sum.abs() >= observed - 1e-12);
    }
    Paired {
        difference: Mean::of(&differences),
        n_better: differences.iter().filter(|d| **d > 0.0).count(),
        n_worse: differences.iter().filter(|d| **d < 0.0).count(),
        p: f64::from(n_as_large + 1) / f64::from(N_DRAWS + 1),
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): enough for drawing signs.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_perfect_ranking_measures_one() {
        let got = measure(&["a", "b", "x"], &strings(&["b", "a"]));
        assert!((got.ndcg_10 - 1.0).abs() < 1e-12);
        assert_eq!((got.recall_5, got.mrr_10, got.success_1), (1.0, 1.0, 1.0));
    }

    #[test]
    fn measures_follow_their_definitions() {
        // Ranks 2 and 12 of three relevant notes.
        let ranking: Vec<String> = (1..=20).map(|n| format!("n{n}")).collect();
        let ranking: Vec<&str> = ranking.iter().map(String::as_str).collect();
        let got = measure(&ranking, &strings(&["n2", "n12", "elsewhere"]));
        let ideal = 1.0 + 1.0 / 3_f64.log2() + 0.5;
        assert!((got.ndcg_10 - (1.0 / 3_f64.log2()) / ideal).abs() < 1e-12);
        assert!((got.recall_10 - 1.0 / 3.0).abs() < 1e-12);
        assert!((got.recall_20 - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((got.mrr_10, got.success_1, got.success_5), (0.5, 0.0, 1.0));
    }

    #[test]
    fn nothing_found_and_nothing_relevant_measure_zero() {
        assert_eq!(measure(&[], &strings(&["a"])), Measures::default());
        assert_eq!(measure(&["a"], &[]), Measures::default());
    }

    #[test]
    fn groups_are_averaged_apart() {
        let question = |group: Option<&str>| Question {
            group: group.map(str::to_owned),
            ..Question::default()
        };
        let questions = [question(Some("a")), question(None), question(Some("a"))];
        let one = |ndcg_10| Measures { ndcg_10, ..Measures::default() };
        let groups = average_groups(&questions, &[one(1.0), one(0.3), one(0.0)]);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups["a"].n_questions, 2);
        assert!((groups["a"].means[3].mean - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_clear_difference_is_significant_and_noise_is_not() {
        let before = vec![0.2; 40];
        let after: Vec<f64> = (0..40).map(|n| 0.3 + f64::from(n % 3) * 0.1).collect();
        let clear = compare(&before, &after);
        assert!(clear.p < 0.001 && clear.difference.mean > 0.1, "{clear:?}");
        let noise: Vec<f64> = (0..40).map(|n| 0.2 + if n % 2 == 0 { 0.1 } else { -0.1 }).collect();
        let none = compare(&before, &noise);
        assert!(none.p > 0.5 && none.n_better == none.n_worse, "{none:?}");
        assert_eq!(compare(&before, &before).p, 1.0);
    }
}
