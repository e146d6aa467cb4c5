//! Shortens the output of tools without losing a fact of it.
//!
//! Without arguments it is the hook for PostToolUse (and PreToolUse, where the
//! user turned the wrapper on) and exits 0 whatever happens. `run -- CMD` runs
//! a command and shortens what it prints; with `--command` it is a filter.

mod args;
mod filter;
mod permit;
mod post;
mod run;
mod shorten;
mod wrap;

use std::io::Write;
use std::process::ExitCode;

use args::Mode;
use postil_lean::config::Overrides;
use postil_lean::hook::{self, Answer, EventKind, Hook};

const HOOK: Hook = Hook {
    name: "compress-output",
    deadline: |config| config.compress.deadline,
    is_enabled: |config| config.compress.enabled,
};

/// What the table of all commands says of this one. The text, not the table: a
/// hook's binary stays small.
const HELP: &str = include_str!("help.txt");

fn main() -> ExitCode {
    match args::parse(std::env::args_os().skip(1)) {
        Ok(Mode::Hook) => {
            hook::run(&HOOK, &Overrides::default(), |event, config| match event.kind {
                EventKind::PostToolUse => post::answer(event, config),
                EventKind::PreToolUse => Ok(wrap::answer(event, config)),
                _ => Ok(Answer::Silence("other-event")),
            })
        }
        Ok(Mode::Filter(source)) => filter::filter(&source),
        Ok(Mode::Run(command)) => run::run(&command),
        Ok(Mode::Finish(finish)) => run::finish(&finish),
        Ok(Mode::Help) => say(HELP),
        Ok(Mode::Version) => say(concat!("compress-output ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(message) => fail(&format!("{message}; try `postil compress-output --help`")),
    }
}

fn say(text: &str) -> ExitCode {
    // A reader that closed the pipe has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// Bad usage and failures of the command line exit 1: 2 would block an agent's
/// call if a mistyped registration ran this as a hook.
fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "compress-output: {message}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_help_is_the_table_s() {
        let table = postil_cli::help_of("compress-output");
        assert_eq!(super::HELP, table, "put this into help.txt:\n{table}");
    }
}
