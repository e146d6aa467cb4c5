//! `index`'s command line.

use std::path::PathBuf;

use postil_core::config::Overrides;

pub(crate) const HELP: &str = "\
index - bring the index up to date with the vault

Usage: index [OPTIONS]

Options:
      --vault DIR   the vault (default: the configured one)
      --db FILE     the index (default: the configured one)
      --model DIR   the folder of the embedding model
      --config FILE another configuration file
      --full        index everything anew; readers keep the old index until then
      --json        print the report as one JSON object
  -v, --verbose     also list what is odd in the notes
  -h, --help        print this
  -V, --version     print the version

Exit codes: 0 all notes are indexed (or another run is at it); 1 some could
not be read; 2 nothing could be done.
";

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) overrides: Overrides,
    pub(crate) full: bool,
    pub(crate) json: bool,
    pub(crate) verbose: bool,
    pub(crate) help: bool,
    pub(crate) version: bool,
}

pub(crate) fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short};
    let mut args = Args::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("vault") => args.overrides.vault = Some(PathBuf::from(parser.value()?)),
            Long("db") => args.overrides.db = Some(PathBuf::from(parser.value()?)),
            Long("model") => args.overrides.model = Some(PathBuf::from(parser.value()?)),
            Long("config") => args.overrides.config = Some(PathBuf::from(parser.value()?)),
            Long("full") => args.full = true,
            Long("json") => args.json = true,
            Short('v') | Long("verbose") => args.verbose = true,
            Short('h') | Long("help") => args.help = true,
            Short('V') | Long("version") => args.version = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(args)
}
