//! Brings the index up to date with the vault, now or regularly.

mod args;
mod profile;
mod schedule;
mod show;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::ingest::source::Scope;
use postil_core::ingest::{Job, Report, index};

use crate::args::Args;

fn main() -> ExitCode {
    let args = match args::parse() {
        Ok(args) => args,
        Err(error) => return fail(&format!("{error}; try `postil index --help`")),
    };
    if args.help {
        return say(&postil_cli::help_of("index"));
    }
    if args.version {
        return say(concat!("index ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    if let Some(action) = args.schedule {
        let done =
            Config::load(&args.overrides).and_then(|config| schedule::run(action, &args, &config));
        return done.map_or_else(|error| fail(&error.to_string()), |text| say(&text));
    }
    match run(&args) {
        Ok(report) => finish(&args, &report),
        Err(error) => fail(&error.to_string()),
    }
}

fn run(args: &Args) -> Result<Report> {
    let config = Config::load(&args.overrides)?;
    for warning in &config.warnings {
        let _ = writeln!(std::io::stderr(), "index: {warning}");
    }
    let (embedder, is_compiled) = Embedder::open_or_compile(&config.paths.model, &config.tables())?;
    if is_compiled && !args.quiet {
        let folder = config.paths.model.display();
        let _ = writeln!(std::io::stderr(), "index: the model in {folder} was compiled anew");
    }
    if embedder.is_none() && !args.quiet {
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
        check: args.check,
        only: args.file.as_deref(),
    };
    let is_stopped = stop_on_signals()?;
    let mut meter = show::Meter::new(args.quiet || args.json);
    let outcome = index(&job, &mut |progress| {
        meter.show(progress);
        !is_stopped.load(Ordering::Relaxed)
    });
    meter.end();
    outcome
}

/// The first signal ends the run after the note in hand, the second at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    let is_stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_default(signal, Arc::clone(&is_stopped))
            .and_then(|_| flag::register(signal, Arc::clone(&is_stopped)))
            .map_err(|error| Error::with(ErrorKind::Io, "watch for signals", error))?;
    }
    Ok(is_stopped)
}

fn finish(args: &Args, report: &Report) -> ExitCode {
    let is_wrong = report.has_failures() || report.is_interrupted;
    let text = if args.json {
        show::json(report, args.verbose)
    } else if args.quiet && !is_wrong {
        String::new()
    } else {
        show::summary(report, args.verbose)
    };
    let text = match args.profile && !args.json {
        true => text + &profile::table(report),
        false => text,
    };
    // A reader that closed the pipe has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(u8::from(is_wrong))
}

fn say(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "index: {message}");
    ExitCode::from(2)
}
