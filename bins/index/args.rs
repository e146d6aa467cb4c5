//! `index`'s command line.

use std::path::PathBuf;

use postil_core::config::Overrides;

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) overrides: Overrides,
    pub(crate) file: Option<PathBuf>,
    pub(crate) full: bool,
    pub(crate) check: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) profile: bool,
    pub(crate) help: bool,
    pub(crate) version: bool,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) every: Option<u32>,
    pub(crate) scheduler: Option<String>,
}

/// What to do about the regular runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    Install,
    Uninstall,
    Print,
}

pub(crate) fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, ValueExt as _};
    let mut args = Args::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("vault") => args.overrides.vault = Some(PathBuf::from(parser.value()?)),
            Long("db") => args.overrides.db = Some(PathBuf::from(parser.value()?)),
            Long("model") => args.overrides.model = Some(PathBuf::from(parser.value()?)),
            Long("config") => args.overrides.config = Some(PathBuf::from(parser.value()?)),
            Long("file") => args.file = Some(PathBuf::from(parser.value()?)),
            Long("full") => args.full = true,
            Long("check") => args.check = true,
            Long("json") => args.json = true,
            Short('q') | Long("quiet") => args.quiet = true,
            Short('v') | Long("verbose") => args.verbose = true,
            Long("profile") => args.profile = true,
            Short('h') | Long("help") => args.help = true,
            Short('V') | Long("version") => args.version = true,
            Long("install-cron") => args.schedule = Some(Schedule::Install),
            Long("uninstall-cron") => args.schedule = Some(Schedule::Uninstall),
            Long("print-cron") => args.schedule = Some(Schedule::Print),
            Long("every") => args.every = Some(parser.value()?.parse_with(minutes)?),
            Long("scheduler") => args.scheduler = Some(parser.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if args.full && args.file.is_some() {
        return Err("--file and --full exclude each other".into());
    }
    if args.schedule.is_none() && (args.every.is_some() || args.scheduler.is_some()) {
        return Err("--every and --scheduler go with --install-cron".into());
    }
    Ok(args)
}

fn minutes(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(minutes @ 1..=1440) => Ok(minutes),
        _ => Err("not a number of minutes from 1 to 1440".to_owned()),
    }
}
