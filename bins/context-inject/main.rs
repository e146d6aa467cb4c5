//! The hook that puts passages of the user's notes into a turn: on prompts,
//! before tool calls, at the start of sessions and subagents.
//!
//! Exits 0 whatever happens, and prints nothing or one JSON object.

mod args;

use std::io::Write;
use std::process::ExitCode;

use postil_core::{hook, inject};

fn main() -> ExitCode {
    match args::parse() {
        Ok(args::Args::Run(overrides)) => hook::run(&inject::HOOK, &overrides, inject::answer),
        Ok(args::Args::Say(text)) => {
            // A reader that closed the pipe has seen enough.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            // Not even a mistyped registration may block an agent: exit code 2
            // would erase the user's prompt.
            let _ = writeln!(std::io::stderr(), "context-inject: {error}");
            ExitCode::SUCCESS
        }
    }
}
