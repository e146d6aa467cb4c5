//! Runs a hook: stdin → event → handler → stdout, exit 0 whatever happens.
//!
//! A handler may fail, the runner cannot. Silence, an error, a panic or the
//! deadline all end the same way: nothing on stdout, exit code 0, one line in
//! the log. Nothing here knows the index or the vault.

mod alarm;
mod guard;
mod json;
pub mod log;
pub mod session;
mod wire;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub use self::json::{Raw, Writer, is_strict, push_text};
use self::log::Log;
pub use self::wire::{Agent, Event, EventKind, Reply};
use crate::config::{Config, Overrides};
use crate::error::{Error, ErrorKind, Result};

/// Longest event that is read. The largest seen is a `Write` over a 6 MB file,
/// 12.2 MB.
const MAX_INPUT_BYTES: usize = 32 << 20;

/// What a handler decided.
pub enum Answer {
    /// Say this.
    Reply(Reply),
    /// Say nothing; the word goes to the log (`short-prompt`, `below-gate`).
    Silence(&'static str),
}

/// A hook: its name in the log and its share of the configuration.
pub struct Hook {
    /// The binary's name.
    pub name: &'static str,
    /// After this time it gives up.
    pub deadline: fn(&Config) -> Duration,
    /// False where the user switched it off.
    pub is_enabled: fn(&Config) -> bool,
}

/// Reads one event, has `handler` answer it and writes the answer.
///
/// Always returns success: an exit code of 2 would block the agent's call.
pub fn run(
    hook: &Hook,
    overrides: &Overrides,
    handler: impl FnOnce(&Event<'_>, &Config) -> Result<Answer>,
) -> ExitCode {
    let start = Instant::now();
    let config = match Config::load(overrides) {
        Ok(config) => config,
        Err(error) => {
            // Without a configuration there is no log either: `doctor` and every
            // other command show the same line.
            let _ = writeln!(std::io::stderr(), "{}: {error}", hook.name);
            return ExitCode::SUCCESS;
        }
    };
    if config.host.is_silenced || !(hook.is_enabled)(&config) {
        return ExitCode::SUCCESS;
    }
    let mut log = Log::new(&config.paths.log, hook.name, start);
    guard::install_panic_hook(log.clone());
    alarm::set((hook.deadline)(&config).saturating_sub(start.elapsed()), log.path(), log.head());
    let answer = read_input().and_then(|input| {
        let event = Event::parse(&input, config.host.is_cursor)
            .ok_or_else(|| Error::new(ErrorKind::Input, "read event: not one of an agent's"))?;
        log.about(event.kind);
        alarm::about(event.kind);
        handler(&event, &config)
    });
    // A panic from here on has a reply that is out, or half of one: either way
    // the exit code stays 0.
    let _ = catch_unwind(AssertUnwindSafe(|| finish(answer, &log)));
    ExitCode::SUCCESS
}

/// Writes the reply, if it is not too late, then the log line.
fn finish(answer: Result<Answer>, log: &Log) {
    if !guard::claim() {
        // The deadline or a panic has it and ends the process any moment.
        return;
    }
    match answer {
        Ok(Answer::Silence(reason)) => log.write(reason, &[]),
        Ok(Answer::Reply(reply)) => {
            // The agent is gone if this fails, and nothing was said.
            if write_reply(reply.to_bytes()).is_ok() {
                let counts = reply.counts().to_vec();
                reply.sent();
                log.write("replied", &counts);
            }
        }
        Err(error) => log.write(
            match error.kind() {
                ErrorKind::Config => "error:config",
                ErrorKind::Io => "error:io",
                ErrorKind::Store => "error:store",
                ErrorKind::Model => "error:model",
                ErrorKind::Input => "error:input",
                ErrorKind::Deadline => "error:deadline",
            },
            &[],
        ),
    }
}

fn read_input() -> Result<Vec<u8>> {
    let mut input = Vec::with_capacity(16 * 1024);
    let limit = u64::try_from(MAX_INPUT_BYTES).unwrap_or(u64::MAX) + 1;
    let read = std::io::stdin().lock().take(limit).read_to_end(&mut input);
    read.map_err(|error| Error::with(ErrorKind::Io, "read stdin", error))?;
    if input.len() > MAX_INPUT_BYTES {
        return Err(Error::new(ErrorKind::Input, "read stdin: event too long"));
    }
    Ok(input)
}

/// Writes to the pipe itself: `Stdout` buffers by line, and a reply has to
/// leave in one piece.
fn write_reply(bytes: &[u8]) -> std::io::Result<()> {
    File::from(std::io::stdout().as_fd().try_clone_to_owned()?).write_all(bytes)
}

#[cfg(test)]
mod tests;
