//! The commands that people run.

use super::{ABOUT, HELP, WHERE, WHERE_NO_MODEL};
use crate::{Command, Flag, Takes};

/// The front door.
pub(super) const POSTIL: Command = Command {
    name: "postil",
    summary: "your own notes in the margin of every turn of a coding agent",
    usage: &["COMMAND [ARGS]"],
    about: "`postil COMMAND --help` says more about each command.",
    groups: &[("Options", ABOUT)],
    words: &[],
    has_exclusions: false,
    examples: &[
        ("postil search 'race condition tag:rust'", "find passages"),
        (
            "postil completions bash > ~/.local/share/bash-completion/completions/postil",
            "install completions",
        ),
        ("postil man search | man -l -", "read a man page"),
    ],
    exit: "those of the command; 2 for an unknown one.",
};

/// `search`.
pub(super) const SEARCH: Command = Command {
    name: "search",
    summary: "find passages of the vault",
    usage: &["[OPTIONS] QUERY...", "[OPTIONS] list docs|tags|stats", "[OPTIONS] -i [QUERY...]"],
    about: "\
A query may hold \"phrases\", -exclusions and conditions on the note: tag: type: domain: folder: \
status: since: before:. Quote what the shell would take apart. Conditions alone list the notes \
that meet them, the latest first; `--` before the words ends the options and makes `list` a word.",
    groups: &[
        (
            "Conditions",
            &[
                Flag::new("tag", Takes::Tag("TAG"), "has this tag, or one nested below it; repeatable").short('t'),
                Flag::new("type", Takes::Text("TYPE"), "has this `type`"),
                Flag::new("domain", Takes::Text("DOMAIN"), "has this `domain`"),
                Flag::new("folder", Takes::Text("FOLDER"), "lies in this folder of the vault, at any depth"),
                Flag::new("status", Takes::Text("STATUS"), "has this `status`"),
                Flag::new("since", Takes::Text("DAY"), "changed on or after 2026, 2026-03, 2026-03-01, 30d, 6w, 3m, 1y, today or yesterday"),
                Flag::new("before", Takes::Text("DAY"), "changed before that"),
                Flag::new("not", Takes::Text("WORD"), "does not hold this word or phrase; repeatable"),
            ],
        ),
        (
            "Ranking",
            &[
                Flag::new("limit", Takes::Text("N"), "most passages [default: 10]").short('n'),
                Flag::new("alpha", Takes::Text("0..1"), "share of the words in the score, the rest being the meaning's; 1 is words only, 0 meaning only [default: by the languages of query and notes]").short('a'),
                Flag::new("exact", Takes::Nothing, "ask FTS5 and sqlite-vec themselves instead of the snapshot (slower)"),
                Flag::new("rerank", Takes::Nothing, "let a local model order the headlines of what was found"),
                Flag::new("hyde", Takes::Nothing, "let a local model draft an answer and search with that too"),
                Flag::new("llm", Takes::Text("URL"), "an Ollama-compatible server on this machine [default: http://127.0.0.1:11434]"),
                Flag::new("llm-model", Takes::Text("NAME"), "the model it is asked for [default: the first it lists]"),
            ],
        ),
        (
            "Output",
            &[
                Flag::new("json", Takes::Nothing, "an array of objects").short('j'),
                Flag::new("context", Takes::Nothing, "the Markdown block an agent would get, for pasting").short('c'),
                Flag::new("max-tokens", Takes::Text("N"), "size of that block [default: inject.prompt_tokens]"),
                Flag::new("full", Takes::Nothing, "whole passages instead of the lines that match").short('f'),
                Flag::new("explain", Takes::Nothing, "each passage's ranks and scores in both paths, and the weights").short('e'),
                Flag::new("why-not", Takes::Note("NOTE"), "say why a note is not among the passages"),
                Flag::new("names", Takes::Nothing, "names only, one a line: of notes, or of what is listed"),
                Flag::new("rows", Takes::Nothing, "tab-separated rows for pickers: path:line, title, date"),
                Flag::new("show", Takes::Text("PATH:LINE"), "the passage at that place, for previews"),
                Flag::new("color", Takes::OneOf("WHEN", &["auto", "always", "never"]), "colours [default: auto: on a terminal without NO_COLOR]"),
                Flag::new("no-pager", Takes::Nothing, "never start $PAGER"),
            ],
        ),
        (
            "Going there",
            &[
                Flag::new("interactive", Takes::Nothing, "pick with fzf and a preview, or by number where there is no fzf").short('i'),
                Flag::new("open", Takes::Nothing, "open the first passage in $VISUAL or $EDITOR").short('o'),
                Flag::new("obsidian", Takes::Nothing, "open in Obsidian instead"),
            ],
        ),
        ("Files", WHERE),
        ("Other", ABOUT),
    ],
    words: &["list", "docs", "tags", "stats"],
    has_exclusions: true,
    examples: &[
        ("postil search 'connection pool' -mysql --tag db --since 1y", "passages of notes tagged db, changed within a year, without the word mysql"),
        ("postil search tag:rust type:howto", "the notes that meet both conditions, the latest first"),
        ("postil search 'retry budget' --context | wl-copy", "a block to paste into a chat"),
        ("postil search 'retry budget' --why-not 04-work/retries.md", "why that note is not there"),
    ],
    exit: "0 found; 1 nothing found; 2 error.",
};

/// `index`.
pub(super) const INDEX: Command = Command {
    name: "index",
    summary: "bring the index up to date with the vault",
    usage: &[
        "[OPTIONS]",
        "--install-cron [--every MINUTES] [--scheduler NAME] [OPTIONS]",
        "--uninstall-cron | --print-cron",
    ],
    about: "",
    groups: &[
        (
            "Options",
            &[
                Flag::new(
                    "file",
                    Takes::File("PATH"),
                    "only this note, absolute or relative to the vault",
                ),
                Flag::new(
                    "full",
                    Takes::Nothing,
                    "index everything anew; readers keep the old index until then",
                ),
                Flag::new("check", Takes::Nothing, "look through the whole index for damage first"),
                Flag::new("json", Takes::Nothing, "print the report as one JSON object"),
                Flag::new("quiet", Takes::Nothing, "print nothing unless something is wrong")
                    .short('q'),
                Flag::new(
                    "verbose",
                    Takes::Nothing,
                    "also list every note, what is odd in it, and the time spent",
                )
                .short('v'),
            ],
        ),
        (
            "Scheduling",
            &[
                Flag::new("install-cron", Takes::Nothing, "index regularly, as this user"),
                Flag::new("uninstall-cron", Takes::Nothing, "stop that"),
                Flag::new("print-cron", Takes::Nothing, "print what --install-cron would write"),
                Flag::new("every", Takes::Text("MINUTES"), "how often, 1 to 1440 [default: 10]"),
                Flag::new(
                    "scheduler",
                    Takes::OneOf("NAME", &["cron", "systemd", "launchd"]),
                    "which scheduler [default: what the system has]",
                ),
            ],
        ),
        ("Files", WHERE),
        ("Other", ABOUT),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 all notes are indexed, or another run is at it; 1 some could not be read, or the run was interrupted; 2 nothing could be done.",
};

/// `capture`.
pub(super) const CAPTURE: Command = Command {
    name: "capture",
    summary: "keep a thought: a note in the inbox, found by the next search",
    usage: &[
        "[OPTIONS] TEXT...",
        "[OPTIONS] < TEXT",
        "[OPTIONS] --editor | --clipboard",
        "--import PATH [--into FOLDER] [--dry-run]",
        "--hook < EVENT",
    ],
    about: "",
    groups: &[
        (
            "Options",
            &[
                Flag::new(
                    "domain",
                    Takes::Text("D"),
                    "the domain, a plain name (web, ai-tooling, ...)",
                ),
                Flag::new("tags", Takes::Text("A,B"), "tags, with or without #; repeatable"),
                Flag::new(
                    "title",
                    Takes::Text("T"),
                    "the title [default: the first line of the text]",
                ),
                Flag::new(
                    "type",
                    Takes::OneOf("T", &["note", "signal"]),
                    "note, or signal for what `triage` should sort",
                ),
                Flag::new("source", Takes::Text("URL"), "where it is from"),
                Flag::new("editor", Takes::Nothing, "write it in $VISUAL or $EDITOR"),
                Flag::new("clipboard", Takes::Nothing, "take it from the clipboard"),
                Flag::new(
                    "import",
                    Takes::File("PATH"),
                    "take over notes: a folder of Markdown, a Notion export, HTML files",
                ),
                Flag::new("into", Takes::Folder("FOLDER"), "folder of the vault for an import"),
                Flag::new("dry-run", Takes::Nothing, "say what an import would do, and do nothing"),
                Flag::new("hook", Takes::Nothing, "answer an agent's hook event on standard input"),
                Flag::new("json", Takes::Nothing, "one JSON object on standard output"),
            ],
        ),
        ("Files", WHERE_NO_MODEL),
        ("Other", ABOUT),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 stored or there already; 1 an import was not complete; 2 nothing was stored.",
};

/// `postil eval`.
pub(super) const EVAL: Command = Command {
    name: "eval",
    summary: "measure retrieval on questions whose answers are known",
    usage: &["[OPTIONS]", "add QUESTION NOTE.. [OPTIONS]"],
    about: "",
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
                Flag::new("run", Takes::File("FILE"), "also write the rankings"),
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
    about: "",
    groups: &[(
        "Options",
        &[
            Flag::new("model", Takes::Folder("DIR"), "where the model lives"),
            Flag::new("help", Takes::Nothing, "print this").short('h'),
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
    about: "",
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
            Flag::new("help", Takes::Nothing, "print this").short('h'),
        ],
    )],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 done; 1 the input could not be read; 2 wrong usage.",
};

/// `postil init`.
pub(super) const INIT: Command = Command {
    name: "init",
    summary: "name your vault, register the hooks",
    usage: &["[OPTIONS]"],
    about: "",
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
            Flag::new("help", Takes::Nothing, "print this").short('h'),
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
    groups: &[("Files", WHERE), ("Other", HELP)],
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
    about: "",
    groups: &[(
        "Options",
        &[
            Flag::new("days", Takes::Text("N"), "only the last N days [default: 30]"),
            Flag::new("json", Takes::Nothing, "print one JSON object"),
            Flag::new("config", Takes::File("FILE"), "another configuration file"),
            Flag::new("help", Takes::Nothing, "print this").short('h'),
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
