//! The commands that agents run.

use super::{ABOUT, WHERE};
use crate::{Command, Flag, Takes};

/// `context-inject`.
pub(super) const CONTEXT_INJECT: Command = Command {
    name: "context-inject",
    summary: "add passages of your notes to an agent's turn",
    usage: &["[OPTIONS] < EVENT"],
    about: "Reads one hook event (JSON) on standard input and prints a reply, or nothing when no \
            note bears on it.",
    groups: &[("Files", WHERE), ("Other", ABOUT)],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "always 0.",
};

/// `compress-output`.
pub(super) const COMPRESS_OUTPUT: Command = Command {
    name: "compress-output",
    summary: "shorten a tool's output without losing a fact of it",
    usage: &["< EVENT", "run -- COMMAND ...", "--command CMD [--exit-code N] < OUTPUT"],
    about: "As a filter it prints nothing and exits 0 when the output is best left alone.",
    groups: &[
        (
            "Options",
            &[
                Flag::new(
                    "command",
                    Takes::Text("CMD"),
                    "the command line that produced the output",
                ),
                Flag::new("exit-code", Takes::Text("N"), "its exit status [default: 0]"),
            ],
        ),
        ("Other", ABOUT),
    ],
    words: &["run"],
    has_exclusions: false,
    examples: &[],
    exit: "0; `run` exits as the command does; 1 bad usage or unreadable input.",
};
