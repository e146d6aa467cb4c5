//! `search`'s command line.

use std::path::PathBuf;

use postil_core::config::Overrides;

pub(crate) const HELP: &str = "\
search - find passages of the vault

Usage: search [OPTIONS] QUERY...

The query may hold \"phrases\", -exclusions and filters: tag: type: domain:
folder: status: since: before:

Options:
  -n, --limit N     most passages (default 10)
      --json        print an array of objects
      --context     print the block an agent would get
      --explain     print each passage's rank in both paths
      --vault DIR   the vault (default: the configured one)
      --db FILE     the index (default: the configured one)
      --model DIR   the folder of the embedding model
      --config FILE another configuration file
  -h, --help        print this
  -V, --version     print the version

Exit codes: 0 found, 1 nothing found, 2 error.
";

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) overrides: Overrides,
    pub(crate) query: String,
    pub(crate) limit: Option<usize>,
    pub(crate) json: bool,
    pub(crate) context: bool,
    pub(crate) explain: bool,
    pub(crate) help: bool,
    pub(crate) version: bool,
}

pub(crate) fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt as _};
    let mut args = Args::default();
    let mut words: Vec<String> = Vec::new();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('n') | Long("limit") => args.limit = Some(parser.value()?.parse()?),
            Long("json") => args.json = true,
            Long("context") => args.context = true,
            Long("explain") => args.explain = true,
            Long("vault") => args.overrides.vault = Some(PathBuf::from(parser.value()?)),
            Long("db") => args.overrides.db = Some(PathBuf::from(parser.value()?)),
            Long("model") => args.overrides.model = Some(PathBuf::from(parser.value()?)),
            Long("config") => args.overrides.config = Some(PathBuf::from(parser.value()?)),
            Short('h') | Long("help") => args.help = true,
            Short('V') | Long("version") => args.version = true,
            Value(word) => words.push(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    args.query = words.join(" ");
    Ok(args)
}
