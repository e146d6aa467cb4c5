//! The command line of `triage`.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;
use postil_core::config::Overrides;
use postil_core::triage::inbox::Which;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Inbox(Which),
    Files(Vec<PathBuf>),
    Undo(Option<String>),
    Eval(PathBuf),
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) task: Task,
    pub(crate) dry_run: bool,
    pub(crate) explain: bool,
    pub(crate) json: bool,
    pub(crate) overrides: Overrides,
}

pub(crate) enum Command {
    Help,
    Version,
    Run(Box<Args>),
}

/// Reads the command line; the error is one line for a person.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut overrides = Overrides::default();
    let mut files = Vec::new();
    let (mut dry_run, mut explain, mut json, mut all, mut undo) =
        (false, false, false, false, false);
    let (mut run, mut eval): (Option<String>, Option<PathBuf>) = (None, None);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => return Ok(Command::Help),
            Short('V') | Long("version") => return Ok(Command::Version),
            Short('n') | Long("dry-run") => dry_run = true,
            Long("explain") => explain = true,
            Long("json") => json = true,
            Long("all") => all = true,
            Long("undo") => undo = true,
            Long("run") => run = Some(parser.value()?.string()?),
            Long("eval") => eval = Some(parser.value()?.into()),
            Long("vault") => overrides.vault = Some(parser.value()?.into()),
            Long("db") => overrides.db = Some(parser.value()?.into()),
            Long("config") => overrides.config = Some(parser.value()?.into()),
            Value(file) => files.push(PathBuf::from(file)),
            other => return Err(other.unexpected()),
        }
    }
    let n_tasks = usize::from(undo) + usize::from(eval.is_some()) + usize::from(!files.is_empty());
    if n_tasks > 1 || (run.is_some() && !undo) || (all && n_tasks > 0) {
        return Err("FILE, --undo, --eval and --all exclude each other".into());
    }
    let task = match (eval, undo) {
        (Some(file), _) => Task::Eval(file),
        (None, true) => Task::Undo(run),
        (None, false) if files.is_empty() => {
            Task::Inbox(if all { Which::All } else { Which::Signals })
        }
        (None, false) => Task::Files(files),
    };
    Ok(Command::Run(Box::new(Args { task, dry_run, explain, json, overrides })))
}
