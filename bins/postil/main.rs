//! The front door: runs its siblings as git runs git-*, and has the few
//! commands that belong to no sibling.

mod doctor;
mod eval;
mod init;
mod links;
mod model;
mod register;
mod scrub;
mod shell;
mod stats;
mod vaults;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Commands that are binaries of their own, beside this one.
const SIBLINGS: [&str; 7] =
    ["capture", "compress-output", "context-inject", "index", "search", "triage", "vault-mcp"];

const HELP: &str = "\
postil - your own notes in the margin of every turn of a coding agent

Usage: postil COMMAND [ARGS]

Commands:
  init             name your vault, register the hooks
  doctor           check the installation
  index            bring the index up to date with the vault
  search           find passages
  capture          write an insight to the inbox
  triage           sort the inbox into domain folders
  context-inject   the hook that adds passages to a turn
  compress-output  the hook that shortens tool output
  vault-mcp        serve the vault to MCP clients
  links            what links to a note, orphans, links to nothing
  stats            what was injected and what it was good for
  scrub            hide the credentials in a text
  model            install, compile or check the embedding model
  eval             measure retrieval on questions with known answers
  completions      make bash, zsh or fish complete all this
  man              write the man pages

`postil COMMAND --help` says more about each.
";

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(command) = args.next() else {
        return say(HELP, 2);
    };
    let rest: Vec<OsString> = args.collect();
    match command.to_str() {
        Some("-h" | "--help" | "help") => say(HELP, 0),
        Some("-V" | "--version") => say(concat!("postil ", env!("CARGO_PKG_VERSION"), "\n"), 0),
        Some("eval") => eval::run(rest),
        Some("init") => match init::run(rest, &folder()) {
            Ok(text) => say(&text, 0),
            Err(message) => fail(&message),
        },
        Some("doctor") => match doctor::run(rest, &folder()) {
            Ok(report) => say(&report.text, u8::from(!report.is_well)),
            Err(message) => fail(&message),
        },
        Some("stats") => match stats::run(rest) {
            Ok(text) => say(&text, 0),
            Err(message) => fail(&message),
        },
        Some("links") => match links::run(rest) {
            Ok(text) => say(&text, 0),
            Err(message) => fail(&message),
        },
        Some("completions") => match shell::complete(rest) {
            Ok(text) => say(&text, 0),
            Err(message) => fail(&message),
        },
        Some("man") => match shell::pages(rest) {
            Ok(text) => say(&text, 0),
            Err(message) => fail(&message),
        },
        Some("scrub") => scrub::run(rest),
        Some("model") => match model::run(rest) {
            Ok(text) => say(&text, 0),
            Err(message) => fail(&message),
        },
        Some(name) if SIBLINGS.contains(&name) => run_sibling(name, rest),
        _ => fail(&format!("no command {:?}; try `postil --help`", command.to_string_lossy())),
    }
}

/// Becomes the binary `name` that lies beside this one, so that signals reach
/// it alone and its exit code is ours.
fn run_sibling(name: &str, args: Vec<OsString>) -> ExitCode {
    let path = sibling_path(name);
    let error = Command::new(&path).args(args).exec();
    fail(&format!("run {}: {error}", path.display()))
}

fn sibling_path(name: &str) -> PathBuf {
    folder().join(name)
}

/// The folder this binary really lies in, with its siblings.
fn folder() -> PathBuf {
    let exe = std::env::current_exe().map(|exe| exe.canonicalize().unwrap_or(exe));
    exe.ok().and_then(|exe| exe.parent().map(PathBuf::from)).unwrap_or_default()
}

fn say(text: &str, code: u8) -> ExitCode {
    // A reader that closed the pipe has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "postil: {message}");
    ExitCode::from(2)
}
