//! What a run of `triage` says it did.

use std::collections::BTreeMap;
use std::fmt::Write;

use postil_core::triage::signal::Signal;
use postil_core::triage::{Route, Verdict};
use serde_json::{Value, json};

/// One signal and what became of it.
pub(crate) struct Entry {
    /// Where it was in the vault; `None` for one from outside.
    pub(crate) from: Option<String>,
    /// Where it is now; `None` when nothing was done.
    pub(crate) to: Option<String>,
    pub(crate) folder: String,
    pub(crate) signal: Signal,
    pub(crate) verdict: Verdict,
}

/// A whole run.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) is_dry: bool,
    pub(crate) entries: Vec<Entry>,
    /// Notes of the inbox that are no signals.
    pub(crate) n_other: usize,
    /// Items that the vault has already.
    pub(crate) n_known: usize,
    pub(crate) rewritten: Vec<String>,
    pub(crate) failures: Vec<String>,
    /// The run that was taken back.
    pub(crate) undone: Option<String>,
    pub(crate) n_back: usize,
    pub(crate) n_removed: usize,
}

impl Report {
    pub(crate) fn text(&self, explain: bool) -> String {
        if let Some(run) = &self.undone {
            let verb = if self.is_dry { "would take back" } else { "took back" };
            return format!(
                "{verb} run {run}: {} notes moved back, {} removed, links in {} notes\n",
                self.n_back,
                self.n_removed,
                self.rewritten.len()
            );
        }
        let mut out = String::new();
        for entry in &self.entries {
            let verdict = &entry.verdict;
            let name = entry.from.as_deref().unwrap_or(&entry.signal.title);
            let to = entry.to.clone().unwrap_or_else(|| format!("{}/", entry.folder));
            let _ = writeln!(
                out,
                "{:7} {:.2} {:11} {name} -> {to}",
                verdict.route.name(),
                verdict.composite,
                verdict.choice.domain
            );
            if explain {
                out.push_str(&explained(verdict));
            }
        }
        let count = |route| self.entries.iter().filter(|e| e.verdict.route == route).count();
        let dry = if self.is_dry { " (dry run, nothing was done)" } else { "" };
        let _ = writeln!(
            out,
            "{} kept, {} for review, {} archived{}{}{}{dry}",
            count(Route::Keep),
            count(Route::Review),
            count(Route::Archive),
            counted(self.n_known, "known already"),
            counted(self.n_other, "no signals"),
            counted(self.rewritten.len(), "notes with changed links"),
        );
        out
    }

    pub(crate) fn json(&self) -> String {
        let signals: Vec<Value> = self.entries.iter().map(entry_json).collect();
        let value = json!({
            "dry_run": self.is_dry,
            "signals": signals,
            "known": self.n_known,
            "others": self.n_other,
            "rewritten": self.rewritten,
            "failures": self.failures,
            "undone": self.undone,
        });
        format!("{value}\n")
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 0 { String::new() } else { format!(", {n} {what}") }
}

pub(crate) fn explained(verdict: &Verdict) -> String {
    let mut out = String::new();
    let choice = &verdict.choice;
    let _ = writeln!(
        out,
        "        domain {}, {:.0} % certain: {}",
        choice.domain,
        choice.certainty * 100.0,
        if choice.because.is_empty() {
            "no word speaks for another".into()
        } else {
            choice.because.join(", ")
        }
    );
    for (name, score) in verdict.scores.named() {
        let _ = writeln!(out, "        {name} {:.2}", score.value);
        for (why, by) in &score.reasons {
            let _ = writeln!(out, "          {by:+.2} {why}");
        }
    }
    out
}

fn entry_json(entry: &Entry) -> Value {
    let verdict = &entry.verdict;
    let scores: BTreeMap<&str, Value> = verdict
        .scores
        .named()
        .into_iter()
        .map(|(name, score)| {
            let reasons: Vec<Value> =
                score.reasons.iter().map(|(why, by)| json!({ "why": why, "by": by })).collect();
            (name, json!({ "value": score.value, "reasons": reasons }))
        })
        .collect();
    json!({
        "title": entry.signal.title,
        "source": entry.signal.source,
        "from": entry.from,
        "to": entry.to,
        "folder": entry.folder,
        "route": verdict.route.name(),
        "composite": verdict.composite,
        "domain": verdict.choice.domain,
        "certainty": verdict.choice.certainty,
        "because": verdict.choice.because,
        "scores": scores,
    })
}
