//! The command line of `triage`.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;
use postil_core::config::Overrides;
use postil_core::triage::inbox::Which;

pub(crate) const HELP: &str = "\
triage - sort what came in: score each signal and send it where it belongs

Usage:
  triage [OPTIONS]              the signals in the inbox
  triage [OPTIONS] FILE...      a bookmarks file (HTML), a feed (RSS, Atom), an
                                OPML list; `-` for JSON lines on stdin
  triage --undo [--run NAME]    take the last run, or that one, back
  triage --eval FILE            judge labelled signals and print how many are
                                right; changes nothing

A signal is a note of `type: signal`, or one without a type that has a URL as
its source. Its scores, each from 0 to 1: relevance (is it near to what the vault
is about), actionability, depth, authority; together 0.35, 0.25, 0.25, 0.15.
From 0.55 it goes to its domain's folder, from 0.40 to the review queue, else to
the archive. Nothing is deleted or overwritten, and links keep leading to a note
that moved. Items of a file become notes in those folders; a URL that the vault
has already is passed over.

Options:
  --dry-run        say what would happen, and do nothing
  --explain        what raised and lowered each score
  --all            every note of the inbox counts as a signal
  --json           one JSON object on standard output
  --vault DIR, --db FILE, --config FILE
  -h, --help       this text
  -V, --version    the version

Exit code: 0 done, 1 some signals could not be sorted, 2 nothing was done.
";

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
