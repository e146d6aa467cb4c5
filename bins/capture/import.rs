//! `capture --import`: notes from elsewhere, and the report of what came over.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use postil_core::capture::import::{Job, Report, run as import};
use postil_core::config::Config;
use postil_core::error::Result;
use serde_json::json;

use crate::{index, note, say};

pub(crate) fn run(
    path: &Path,
    into: Option<&str>,
    is_dry: bool,
    as_json: bool,
    config: &Config,
) -> Result<ExitCode> {
    let filter = config.filter()?;
    let inbox = &config.capture.inbox;
    let job = Job { path, vault: config.vault()?, into, inbox, filter: &filter, is_dry };
    let report = import(&job)?;
    if !is_dry && !report.notes.is_empty() {
        index(config, None);
    }
    for failure in &report.failures {
        note(failure);
    }
    let text = if as_json { json(&report, is_dry) } else { text(&report, is_dry) };
    Ok(say(&text, u8::from(!report.failures.is_empty())))
}

fn text(report: &Report, is_dry: bool) -> String {
    let mut out = String::new();
    for (old, new) in report.notes.iter().chain(&report.attachments) {
        out.push_str(&format!("{old} -> {new}\n"));
    }
    for skipped in &report.skipped {
        out.push_str(&format!("skipped {skipped}\n"));
    }
    for finding in &report.redacted {
        out.push_str(&format!("redacted {} x {}\n", finding.count, finding.name));
    }
    out.push_str(&format!(
        "{} notes and {} attachments to {}, {} there already, {} skipped, {} failed{}\n",
        report.notes.len(),
        report.attachments.len(),
        report.folder,
        report.n_known,
        report.skipped.len(),
        report.failures.len(),
        if is_dry { " (dry run, nothing was written)" } else { "" }
    ));
    out
}

fn json(report: &Report, is_dry: bool) -> String {
    let pairs = |pairs: &[(String, String)]| -> Vec<serde_json::Value> {
        pairs.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect()
    };
    let redacted: BTreeMap<&str, usize> =
        report.redacted.iter().map(|finding| (finding.name.as_str(), finding.count)).collect();
    let value = json!({
        "folder": report.folder,
        "dry_run": is_dry,
        "notes": pairs(&report.notes),
        "attachments": pairs(&report.attachments),
        "known": report.n_known,
        "skipped": report.skipped,
        "failures": report.failures,
        "redacted": redacted,
    });
    format!("{value}\n")
}
