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
    usage: &["[OPTIONS]"],
    about: "",
    groups: &[
        (
            "Options",
            &[
                Flag::new(
                    "full",
                    Takes::Nothing,
                    "index everything anew; readers keep the old index until then",
                ),
                Flag::new("json", Takes::Nothing, "print the report as one JSON object"),
                Flag::new("verbose", Takes::Nothing, "also list what is odd in the notes")
                    .short('v'),
            ],
        ),
        ("Files", WHERE),
        ("Other", ABOUT),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 all notes are indexed, or another run is at it; 1 some could not be read; 2 nothing could be done.",
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

/// `triage`.
pub(super) const TRIAGE: Command = Command {
    name: "triage",
    summary: "sort what came in: score each signal and send it where it belongs",
    usage: &["[OPTIONS] [FILE...]", "--undo [--run NAME]", "--eval FILE"],
    about: "",
    groups: &[
        (
            "Options",
            &[
                Flag::new("undo", Takes::Nothing, "take the last run back"),
                Flag::new("run", Takes::Text("NAME"), "with --undo: that run"),
                Flag::new(
                    "eval",
                    Takes::File("FILE"),
                    "judge labelled signals and print how many are right",
                ),
                Flag::new("dry-run", Takes::Nothing, "say what would happen, and do nothing"),
                Flag::new("explain", Takes::Nothing, "what raised and lowered each score"),
                Flag::new("all", Takes::Nothing, "every note of the inbox counts as a signal"),
                Flag::new("json", Takes::Nothing, "one JSON object on standard output"),
            ],
        ),
        ("Files", WHERE_NO_MODEL),
        ("Other", ABOUT),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[],
    exit: "0 done; 1 some signals could not be sorted; 2 nothing was done.",
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
