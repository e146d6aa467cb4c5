//! The report and the progress as text and as JSON.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use postil_core::ingest::key::shown;
use postil_core::ingest::{Progress, Report};
use serde_json::{Value, json};

use crate::profile;

/// A count every so many notes where there is no terminal.
const COUNT_EVERY: usize = 500;

/// Runs shorter than this show no bar.
const BAR_AFTER: Duration = Duration::from_millis(300);

/// Most failures listed by name without `--verbose`.
const MAX_LISTED: usize = 20;

/// How progress is shown.
pub(crate) struct Meter {
    bar: Option<ProgressBar>,
    is_terminal: bool,
    is_quiet: bool,
    started: Instant,
}

impl Meter {
    pub(crate) fn new(is_quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { bar: None, is_terminal, is_quiet, started: Instant::now() }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        if self.is_quiet {
            return;
        }
        let Progress { done, total, bytes, total_bytes } = progress;
        if !self.is_terminal {
            if done.is_multiple_of(COUNT_EVERY) {
                let _ = writeln!(std::io::stderr(), "{done}/{total} notes");
            }
            return;
        }
        if self.bar.is_none() && self.started.elapsed() > BAR_AFTER {
            self.bar = Some(bar(total_bytes));
        }
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{done}/{total} notes"));
            bar.set_position(bytes);
            if done == total {
                bar.set_message("finishing");
                bar.tick();
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total_bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total_bytes), ProgressDrawTarget::stderr());
    let style = "{bar:24} {percent}% {msg}, {binary_bytes_per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn summary(report: &Report, is_verbose: bool) -> String {
    if report.is_busy {
        return "another run is indexing\n".to_owned();
    }
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    if let Some(reason) = &report.rebuilt {
        line(format!("indexed anew: {reason}"));
    }
    if report.is_interrupted {
        let what =
            if report.is_discarded { "the old index stays" } else { "run again for the rest" };
        line(format!("interrupted: {what}"));
    }
    line(format!(
        "{} indexed ({} chunks), {} unchanged, {} renamed, {} removed, {} skipped in {:.1} s",
        report.indexed.len() - report.renamed.len().min(report.indexed.len()),
        report.n_chunks,
        report.n_unchanged,
        report.renamed.len(),
        report.removed.len(),
        report.skipped.len(),
        report.total_ms as f64 / 1000.0,
    ));
    for (name, count) in &report.redacted {
        line(format!("redacted {count} x {name}"));
    }
    for warning in &report.warnings {
        line(format!("warning: {}", shown(warning)));
    }
    if is_verbose {
        verbose(report, &mut line);
    } else if !report.odd.is_empty() {
        line(format!("{} oddities in notes; -v lists them", report.odd.len()));
    }
    skipped(report, is_verbose, &mut line);
    out
}

fn skipped(report: &Report, is_verbose: bool, line: &mut dyn FnMut(String)) {
    let failures = report.skipped.iter().filter(|item| is_verbose || item.reason.is_failure());
    let n_listed = if is_verbose { usize::MAX } else { MAX_LISTED };
    for item in failures.clone().take(n_listed) {
        line(format!("skipped {}: {}", shown(&item.path), shown(&item.reason.to_string())));
    }
    let n_more = failures.count().saturating_sub(n_listed);
    if n_more > 0 {
        line(format!("and {n_more} more that could not be indexed; -v lists them"));
    }
    let n_decided = report.skipped.iter().filter(|item| !item.reason.is_failure()).count();
    if n_decided > 0 && !is_verbose {
        line(format!("{n_decided} passed over (links and the like); -v lists them"));
    }
}

fn verbose(report: &Report, line: &mut dyn FnMut(String)) {
    for (path, n_chunks) in &report.indexed {
        line(format!("indexed {} ({n_chunks})", shown(path)));
    }
    for (old, new) in &report.renamed {
        line(format!("renamed {} to {}", shown(old), shown(new)));
    }
    for path in &report.removed {
        line(format!("removed {}", shown(path)));
    }
    for (path, what) in &report.odd {
        line(format!("odd {}: {}", shown(path), shown(what)));
    }
}

pub(crate) fn json(report: &Report, is_verbose: bool) -> String {
    let skipped: Vec<Value> = report
        .skipped
        .iter()
        .map(|item| {
            json!({
                "path": item.path,
                "reason": item.reason.to_string(),
                "failed": item.reason.is_failure(),
            })
        })
        .collect();
    let odd: Vec<Value> =
        report.odd.iter().map(|(path, what)| json!({"path": path, "what": what})).collect();
    let mut value = json!({
        "busy": report.is_busy,
        "rebuilt": report.rebuilt,
        "interrupted": report.is_interrupted,
        "indexed": report.indexed.len(),
        "chunks": report.n_chunks,
        "bytes": report.bytes,
        "unchanged": report.n_unchanged,
        "touched": report.n_touched,
        "removed": report.removed.len(),
        "renamed": report.renamed.len(),
        "redacted": report.redacted,
        "skipped": skipped,
        "odd": odd,
        "warnings": report.warnings,
        "memory_mb": profile::peak_mb(),
        "ms": {
            "open": report.open_ms,
            "walk": report.walk_ms,
            "write": report.write_ms,
            "put": report.put_ms,
            "links": report.link_ms,
            "finish": report.finish_ms,
            "total": report.total_ms,
            "stages": report.stages_ms.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
        },
    });
    if let Some(object) = value.as_object_mut().filter(|_| is_verbose) {
        let paths: Vec<&String> = report.indexed.iter().map(|(path, _)| path).collect();
        object.insert("indexed_paths".to_owned(), json!(paths));
        object.insert("removed_paths".to_owned(), json!(report.removed));
        object.insert("renamed_paths".to_owned(), json!(report.renamed));
    }
    format!("{value}\n")
}
