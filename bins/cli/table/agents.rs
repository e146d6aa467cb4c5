//! The commands that agents run.

use super::{ABOUT, WHERE};
use crate::{Command, Flag, Takes};

/// `context-inject`.
pub(super) const CONTEXT_INJECT: Command = Command {
    name: "context-inject",
    summary: "add passages of your notes to an agent's turn",
    usage: &["[OPTIONS] < EVENT"],
    about: "Reads one hook event (JSON) on standard input and prints a reply, or nothing when no \
            note bears on it. Registered by `postil init --register`.",
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
    about: "\
Without arguments it is a hook: one event on standard input. As a filter it prints nothing and exits \
0 when the output is best left alone. Line ranges that were left out stand in the extract as […\u{a0}FROM-TO]; \
its last line names the file with the full text. Settings: [compress] in config.toml.",
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

/// `vault-mcp`.
pub(super) const VAULT_MCP: Command = Command {
    name: "vault-mcp",
    summary: "serve the vault to agents over the Model Context Protocol",
    usage: &["[OPTIONS]", "[OPTIONS] --http [--port PORT]"],
    about: "\
Speaks MCP on standard input and output until the input ends. Read-only: tools search, read_note, \
list_notes and get_context, and the notes as resources. Notes that say `agent: false`, excluded \
folders and what lies outside the vault are not served; credentials are filtered.",
    groups: &[
        (
            "Options",
            &[
                Flag::new("http", Takes::Nothing, "serve streamable HTTP at /mcp instead"),
                Flag::new(
                    "port",
                    Takes::Text("PORT"),
                    "port on the loopback interface [default: 7337; 0: a free one]",
                ),
                Flag::new(
                    "max-tokens",
                    Takes::Text("N"),
                    "most tokens of one answer [default: 8000]",
                ),
            ],
        ),
        ("Files", WHERE),
        ("Other", ABOUT),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[
        ("claude mcp add postil -- postil vault-mcp", "register it with Claude Code"),
        ("codex mcp add postil -- postil vault-mcp", "register it with Codex"),
    ],
    exit: "0 at the end of input; 2 it could not start.",
};
