//! `context-inject`'s command line.

use std::path::PathBuf;

use postil_core::config::Overrides;

const HELP: &str = "\
context-inject - add passages of your notes to an agent's turn

Usage: context-inject [OPTIONS] < EVENT

Reads one hook event (JSON) on stdin and prints a reply, or nothing when no
note bears on it. Registered by `postil init --register`.

Options:
      --vault DIR   the vault (default: the configured one)
      --db FILE     the index (default: the configured one)
      --model DIR   the folder of the embedding model
      --config FILE another configuration file
  -h, --help        print this
  -V, --version     print the version

Exit code: always 0.
";

/// What was asked for.
pub(crate) enum Args {
    Run(Overrides),
    Say(&'static str),
}

pub(crate) fn parse() -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short};
    let mut overrides = Overrides::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        let path = match arg {
            Long("vault") => &mut overrides.vault,
            Long("db") => &mut overrides.db,
            Long("model") => &mut overrides.model,
            Long("config") => &mut overrides.config,
            Short('h') | Long("help") => return Ok(Args::Say(HELP)),
            Short('V') | Long("version") => {
                return Ok(Args::Say(concat!("context-inject ", env!("CARGO_PKG_VERSION"), "\n")));
            }
            other => return Err(other.unexpected()),
        };
        *path = Some(PathBuf::from(parser.value()?));
    }
    Ok(Args::Run(overrides))
}
