//! The figures as text and as JSON.

use std::collections::BTreeMap;

use postil_core::eval::{Figures, Measures, Paired};
use serde_json::{Map, Value, json};

/// By which path the first relevant note of the first 10 was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paths {
    pub(super) both: usize,
    pub(super) keyword: usize,
    pub(super) vector: usize,
    pub(super) missed: usize,
}

/// Everything that is reported.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) mode: &'static str,
    pub(super) n_notes: u64,
    pub(super) figures: Figures,
    pub(super) groups: BTreeMap<String, Figures>,
    pub(super) paths: Paths,
    /// One comparison per measure, in the order of [`Measures::NAMES`].
    pub(super) compared: Option<[Paired; 7]>,
}

/// Rounds to six places: what JSON readers compare.
fn rounded(value: f64) -> Value {
    json!((value * 1e6).round() / 1e6)
}

fn figures(figures: &Figures) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("queries".into(), figures.n_questions.into());
    let mut intervals = Map::new();
    for (name, mean) in Measures::NAMES.iter().zip(figures.means) {
        out.insert((*name).into(), rounded(mean.mean));
        intervals.insert((*name).into(), rounded(mean.ci95));
    }
    out.insert("ci95".into(), intervals.into());
    out
}

pub(super) fn to_json(report: &Report) -> String {
    let mut out = figures(&report.figures);
    out.insert("mode".into(), report.mode.into());
    out.insert("notes".into(), report.n_notes.into());
    let n = report.figures.n_questions.max(1) as f64;
    let Paths { both, keyword, vector, missed } = report.paths;
    out.insert(
        "paths".into(),
        json!({
            "both": rounded(both as f64 / n),
            "keyword": rounded(keyword as f64 / n),
            "vector": rounded(vector as f64 / n),
            "missed": rounded(missed as f64 / n),
        }),
    );
    let groups: Map<String, Value> =
        report.groups.iter().map(|(name, group)| (name.clone(), figures(group).into())).collect();
    out.insert("groups".into(), groups.into());
    if let Some(compared) = &report.compared {
        let compared: Map<String, Value> = Measures::NAMES
            .iter()
            .zip(compared)
            .map(|(name, paired)| ((*name).into(), difference(paired)))
            .collect();
        out.insert("compare".into(), compared.into());
    }
    format!("{}\n", Value::from(out))
}

fn difference(paired: &Paired) -> Value {
    json!({
        "difference": rounded(paired.difference.mean),
        "ci95": rounded(paired.difference.ci95),
        "p": rounded(paired.p),
        "better": paired.n_better,
        "worse": paired.n_worse,
    })
}

pub(super) fn to_text(report: &Report) -> String {
    let mut text = format!(
        "{} questions, {} notes, {}\n",
        report.figures.n_questions, report.n_notes, report.mode
    );
    for (idx, name) in Measures::NAMES.iter().enumerate() {
        let mean = report.figures.means[idx];
        text.push_str(&format!("  {name:<10} {:.3} ±{:.3}", mean.mean, mean.ci95));
        if let Some(compared) = &report.compared {
            let Paired { difference, n_better, n_worse, p } = compared[idx];
            text.push_str(&format!(
                "   {:+.3} ±{:.3}, {n_better} better, {n_worse} worse, p {p:.3}",
                difference.mean, difference.ci95
            ));
        }
        text.push('\n');
    }
    for (name, group) in &report.groups {
        let [_, recall, _, ndcg, ..] = group.means;
        text.push_str(&format!(
            "  group {name}: {} questions, recall@10 {:.3}, ndcg@10 {:.3}\n",
            group.n_questions, recall.mean, ndcg.mean
        ));
    }
    let Paths { both, keyword, vector, missed } = report.paths;
    text.push_str(&format!(
        "  found by both paths {both}, by words alone {keyword}, by vectors alone {vector}, missed {missed}\n"
    ));
    text
}
