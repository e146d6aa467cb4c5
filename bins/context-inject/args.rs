//! `context-inject`'s command line.

use std::path::PathBuf;

use postil_core::config::Overrides;

/// What was asked for.
pub(crate) enum Args {
    Run(Overrides),
    Say(String),
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
            Short('h') | Long("help") => {
                return Ok(Args::Say(postil_cli::help_of("context-inject")));
            }
            Short('V') | Long("version") => {
                let version = concat!("context-inject ", env!("CARGO_PKG_VERSION"), "\n");
                return Ok(Args::Say(version.to_owned()));
            }
            other => return Err(other.unexpected()),
        };
        *path = Some(PathBuf::from(parser.value()?));
    }
    Ok(Args::Run(overrides))
}
