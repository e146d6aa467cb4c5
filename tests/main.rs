//! Drives the real binaries the way a person or an agent does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]
#![allow(clippy::print_stdout, reason = "the hostile vault and the killed runs print their counts")]

mod capture; // notes from arguments, stdin and /capture
mod command_lines; // one table: help, completions, man pages
mod compress_claims; // permissions, signals, shapes, pruning, figures
mod compress_output; // extracts, the hook for tool output, the wrapper
mod crash; // killed runs, a full disk, runs and readers side by side
mod eval; // figures, runs, own questions and their gate
mod fail_open; // every hook, whatever it is given
mod front_door; // `postil` itself: help, version, siblings
mod guides; // the guides: commands that exist, output that is real
mod harness; // a temporary world for each test
mod hooks; // what `context-inject` puts into a turn
mod hostile; // every kind of note, name and file
mod index; // what changed and only that, reports, schedules, healing
mod languages; // training a word table on a toy language
mod mcp; // the server for agents, over its wire
mod model; // `postil model`: install, check, refuse
mod plugin; // the Claude Code plugin and its launcher
mod reports; // what `index` says: to a terminal, a pipe, a program
mod schedule; // crontab lines, timers, agents
mod scrub; // `postil scrub`, and that no credential leaves a note
mod search; // passages for people, pickers, editors, a local model
mod setup; // `postil init` and `postil doctor`
mod tidy; // invariants of the source
mod triage; // signals sorted, taken back, judged

use std::fs;
use std::path::Path;

#[test]
fn no_test_file_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|stem| *stem != "main") else {
            continue;
        };
        assert!(main.contains(&format!("mod {module};")), "tests/main.rs does not list {module}");
    }
}
