//! The commands that set postil up, check it and measure it.

use super::{HELP, WHERE};
use crate::{Command, Flag, Takes};

/// `postil eval`.
pub(super) const EVAL: Command = Command {
    name: "eval",
    summary: "measure retrieval on questions whose answers are known",
    usage: &["[OPTIONS]", "add QUESTION NOTE.. [OPTIONS]"],
    about: "\
Without --queries it runs your own questions, which `add` collects: 50 to 100 of them show whether a \
change helped. QUESTION is what you would ask; NOTE is a note that answers it, by its path in the \
vault. A line of the file may also hold \"scope\" (a folder), \"exclude\" and \"group\".",
    groups: &[
        (
            "Options",
            &[
                Flag::new(
                    "queries",
                    Takes::File("FILE"),
                    "JSON lines with id, query and relevant notes",
                ),
                Flag::new(
                    "mode",
                    Takes::OneOf("MODE", &["hybrid", "bm25", "vector"]),
                    "which paths are asked [default: hybrid]",
                ),
                Flag::new("json", Takes::Nothing, "print one JSON object"),
                Flag::new(
                    "run",
                    Takes::File("FILE"),
                    "also write the rankings, `qid Q0 path rank score tag` a line",
                ),
                Flag::new(
                    "evidence",
                    Takes::File("FILE"),
                    "also write what the candidates' scores are made of, JSON lines",
                ),
                Flag::new(
                    "compare",
                    Takes::File("RUN"),
                    "compare with these rankings, question by question",
                ),
                Flag::new(
                    "max-drop",
                    Takes::Text("X"),
                    "with --compare: exit 1 when nDCG@10 fell by more than X",
                ),
                Flag::new(
                    "accept",
                    Takes::Nothing,
                    "keep these rankings as what `--gate` compares with",
                ),
                Flag::new(
                    "gate",
                    Takes::Nothing,
                    "as --compare with the accepted rankings and --max-drop 0.02",
                ),
            ],
        ),
        ("Files", WHERE),
        ("Other", HELP),
    ],
    words: &["add"],
    has_exclusions: false,
    examples: &[],
    exit: "0 done; 1 the gate is not passed; 2 something is missing or wrong.",
};

/// `postil model`.
pub(super) const MODEL: Command = Command {
    name: "model",
    summary: "install, compile or check the embedding model",
    usage: &["install DIR [--model TO]", "compile [--model DIR]", "check [--model DIR]"],
    about: "\
The model is potion-base-8M: model.safetensors and tokenizer.json. `install` verifies a folder's copy \
and compiles it into ~/.local/share/postil/model/potion-base-8M/, unless config.toml or --model says \
otherwise; the word tables, *.table, lie in ~/.local/share/postil/languages/.",
    groups: &[(
        "Options",
        &[
            Flag::new("model", Takes::Folder("DIR"), "where the model lives"),
            Flag::new("help", Takes::Nothing, "print this help").short('h'),
        ],
    )],
    words: &["install", "compile", "check"],
    has_exclusions: false,
    examples: &[],
    exit: "0 all is well; 2 it is not, and standard error says why.",
};

/// `postil scrub`.
pub(super) const SCRUB: Command = Command {
    name: "scrub",
    summary: "hide the credentials in a text",
    usage: &["[OPTIONS] < TEXT"],
    about: "\
Writes the text with every credential replaced by [REDACTED:name]; names and counts go to standard \
error. Bytes that are not UTF-8 pass as they are. The patterns and the allow-list of the \
configuration apply.

A line for --score holds text, label (1 or 0; others are skipped), cls, id and secrets (strings, or \
objects with kind and value); it prints full recall for each kind, false alarms for each class, the \
notes that failed and the speed.",
    groups: &[(
        "Options",
        &[
            Flag::new(
                "jsonl",
                Takes::Nothing,
                "read {\"text\"} lines, write {\"text\",\"found\"} lines",
            ),
            Flag::new(
                "report",
                Takes::Nothing,
                "write what would be hidden, masked: line, name, length",
            ),
            Flag::new("score", Takes::File("FILE"), "score the filter on labelled notes"),
            Flag::new("help", Takes::Nothing, "print this help").short('h'),
        ],
    )],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 done; 1 the input could not be read; 2 wrong usage or configuration.",
};

/// `postil init`.
pub(super) const INIT: Command = Command {
    name: "init",
    summary: "name your vault, register the hooks",
    usage: &["[OPTIONS]"],
    about: "\
Without options it writes a configuration for the vault it finds (in Obsidian's list, else in your \
home folder), or says which one is configured. What --register changes is printed; what was there is \
kept, with a copy of the file beside it.",
    groups: &[(
        "Options",
        &[
            Flag::new("vault", Takes::Folder("DIR"), "the folder of your notes"),
            Flag::new(
                "register",
                Takes::Nothing,
                "put the hooks into the settings of the agents found here",
            ),
            Flag::new("unregister", Takes::Nothing, "take them out again"),
            Flag::new(
                "agent",
                Takes::OneOf("NAME", &["claude-code", "codex", "cursor"]),
                "only this agent; repeatable",
            ),
            Flag::new("preview", Takes::Nothing, "print what would change and change nothing"),
            Flag::new("check", Takes::Nothing, "only say whether a vault is configured"),
            Flag::new("config", Takes::File("FILE"), "another configuration file"),
            Flag::new("help", Takes::Nothing, "print this help").short('h'),
        ],
    )],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 done; 2 not done, and standard error says why.",
};

/// `postil doctor`.
pub(super) const DOCTOR: Command = Command {
    name: "doctor",
    summary: "check the installation",
    usage: &["[OPTIONS]"],
    about: "Checks configuration, vault, index, model and registration, then replays a hook event \
            about one of your notes and proves that an agent would use the answer.",
    groups: &[
        (
            "Options",
            &[Flag::new(
                "profile",
                Takes::Nothing,
                "index the vault into a file that is thrown away, and say where the time goes",
            )],
        ),
        ("Files", WHERE),
        ("Other", HELP),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 all is well; 1 something needs mending; 2 bad usage.",
};

/// `postil stats`.
pub(super) const STATS: Command = Command {
    name: "stats",
    summary: "what was injected, what it cost, what was opened",
    usage: &["[OPTIONS]"],
    about: "\
Read from the hooks' log, the sessions' ledgers and, for what was opened, the agents' own transcripts. \
All of it stays on this machine.",
    groups: &[(
        "Options",
        &[
            Flag::new("days", Takes::Text("N"), "only the last N days [default: 30]"),
            Flag::new("json", Takes::Nothing, "print one JSON object"),
            Flag::new("config", Takes::File("FILE"), "another configuration file"),
            Flag::new("help", Takes::Nothing, "print this help").short('h'),
        ],
    )],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 done; 2 bad usage or configuration.",
};

/// `postil completions`.
pub(super) const COMPLETIONS: Command = Command {
    name: "completions",
    summary: "write what makes a shell complete postil",
    usage: &["bash|zsh|fish"],
    about: "",
    groups: &[("Other", HELP)],
    words: &["bash", "zsh", "fish"],
    has_exclusions: false,
    examples: &[
        ("postil completions bash > ~/.local/share/bash-completion/completions/postil", "bash"),
        ("postil completions fish > ~/.config/fish/completions/postil.fish", "fish"),
        ("postil completions zsh > ~/.zfunc/_postil", "zsh, with ~/.zfunc in $fpath"),
    ],
    exit: "0 written; 2 bad usage.",
};

/// `postil man`.
pub(super) const MAN: Command = Command {
    name: "man",
    summary: "write a man page, or all of them into a folder",
    usage: &["[COMMAND]", "--into DIR"],
    about: "",
    groups: &[
        (
            "Options",
            &[Flag::new(
                "into",
                Takes::Folder("DIR"),
                "write postil.1, postil-search.1, ... into this folder",
            )],
        ),
        ("Other", HELP),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[
        ("postil man search | man -l -", "read one"),
        ("postil man --into ~/.local/share/man/man1", "install all"),
    ],
    exit: "0 written; 2 bad usage, or a page could not be written.",
};
