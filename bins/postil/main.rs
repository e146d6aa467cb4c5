//! The front door: runs its siblings as git runs git-*, and has the few
//! commands that belong to no sibling.

mod doctor;
mod eval;
mod init;
mod links;
mod model;
mod register;
mod savings;
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

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(command) = args.next() else {
        return say(&postil_cli::help_of("postil"), 2);
    };
    let rest: Vec<OsString> = args.collect();
    match command.to_str() {
        Some("-h" | "--help") => say(&postil_cli::help_of("postil"), 0),
        Some("help") => explain(&rest),
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
            Ok((text, is_any)) => say(&text, u8::from(!is_any)),
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
        _ => fail(&unknown(&command.to_string_lossy())),
    }
}

/// `postil help [COMMAND]`.
fn explain(rest: &[OsString]) -> ExitCode {
    let name = rest.first().map_or("postil".into(), |name| name.to_string_lossy());
    match postil_cli::Command::named(&name) {
        Some(command) => say(&postil_cli::help(command), 0),
        None => fail(&unknown(&name)),
    }
}

fn unknown(name: &str) -> String {
    match postil_cli::nearest_command(name) {
        Some(near) => format!("no command {name:?}; did you mean `postil {near}`?"),
        None => format!("no command {name:?}; try `postil --help`"),
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
