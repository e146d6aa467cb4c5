//! Brings the index up to date with the vault.

mod args;

use std::io::{IsTerminal as _, Write};
use std::process::ExitCode;

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::Result;
use postil_core::ingest::source::Scope;
use postil_core::ingest::{Job, Progress, Report, index};

use crate::args::{Args, HELP};

fn main() -> ExitCode {
    let args = match args::parse() {
        Ok(args) => args,
        Err(error) => return fail(&format!("{error}; try `index --help`")),
    };
    if args.help {
        return say(HELP);
    }
    if args.version {
        return say(concat!("index ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    match run(&args) {
        Ok(report) => {
            let text = if args.json { json(&report) } else { summary(&report, args.verbose) };
            let _ = std::io::stdout().write_all(text.as_bytes());
            let failed = report.skipped.iter().any(|skipped| skipped.reason.is_failure());
            ExitCode::from(u8::from(failed))
        }
        Err(error) => fail(&error.to_string()),
    }
}

fn run(args: &Args) -> Result<Report> {
    let config = Config::load(&args.overrides)?;
    for warning in &config.warnings {
        let _ = writeln!(std::io::stderr(), "index: {warning}");
    }
    let embedder = Embedder::open(&config.paths.model, &config.tables())?;
    if embedder.is_none() {
        let folder = config.paths.model.display();
        let _ = writeln!(std::io::stderr(), "index: no model in {folder}: words only");
    }
    let job = Job {
        vault: config.vault()?,
        scope: &Scope { allowed: config.allowed.clone(), excluded: config.excluded.clone() },
        db: &config.paths.index,
        embedder: embedder.as_ref(),
        filter: &config.filter()?,
        full: args.full,
    };
    let is_terminal = std::io::stderr().is_terminal();
    index(&job, &mut |progress| {
        show(progress, is_terminal);
        true
    })
}

fn show(progress: Progress, is_terminal: bool) {
    let Progress { done, total } = progress;
    if is_terminal && (done % 50 == 0 || done == total) {
        let _ = write!(std::io::stderr(), "\r{done}/{total} notes");
        if done == total {
            let _ = writeln!(std::io::stderr());
        }
    } else if !is_terminal && done % 500 == 0 {
        let _ = writeln!(std::io::stderr(), "{done}/{total} notes");
    }
}

fn summary(report: &Report, verbose: bool) -> String {
    if report.is_busy {
        return "another run is indexing\n".into();
    }
    let mut text = String::new();
    if let Some(reason) = &report.rebuilt {
        text.push_str(&format!("indexed anew: {reason}\n"));
    }
    text.push_str(&format!(
        "{} indexed ({} chunks), {} unchanged, {} removed, {} skipped\n",
        report.n_indexed,
        report.n_chunks,
        report.n_unchanged,
        report.n_removed,
        report.skipped.len()
    ));
    for finding in &report.redacted {
        text.push_str(&format!("redacted {} x {}\n", finding.count, finding.name));
    }
    for skipped in &report.skipped {
        text.push_str(&format!("skipped {}: {}\n", skipped.path, skipped.reason));
    }
    if verbose {
        for warning in &report.warnings {
            text.push_str(&format!("{warning}\n"));
        }
    }
    text
}

fn json(report: &Report) -> String {
    let redacted: serde_json::Map<_, _> =
        report.redacted.iter().map(|f| (f.name.to_string(), f.count.into())).collect();
    let skipped: Vec<_> = report
        .skipped
        .iter()
        .map(|s| serde_json::json!({"path": s.path, "reason": s.reason.to_string()}))
        .collect();
    let value = serde_json::json!({
        "busy": report.is_busy,
        "rebuilt": report.rebuilt,
        "indexed": report.n_indexed,
        "chunks": report.n_chunks,
        "unchanged": report.n_unchanged,
        "removed": report.n_removed,
        "redacted": redacted,
        "skipped": skipped,
        "warnings": report.warnings,
    });
    format!("{value}\n")
}

fn say(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "index: {message}");
    ExitCode::from(2)
}
