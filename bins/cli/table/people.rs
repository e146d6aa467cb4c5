//! The commands that people run.

use super::{ABOUT, HELP, WHERE, WHERE_NO_MODEL};
use crate::{Command, Flag, Takes};

/// The front door.
pub(super) const POSTIL: Command = Command {
    name: "postil",
    summary: "your own notes in the margin of every turn of a coding agent",
    usage: &["COMMAND [ARGS]"],
    about: "`postil help COMMAND` says more about each command, and `man postil-COMMAND`.",
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
                Flag::new("all", Takes::Nothing, "also when nothing bears on the query: the least far passages"),
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
    about: "\
Which notes count: every .md, .markdown, .mdx and .canvas file below the vault that no .indexignore \
file (gitignore syntax, in any folder) leaves out. The folders .obsidian, .git and .trash never do. \
Nothing is ever written into the vault.",
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
                Flag::new("verbose", Takes::Nothing, "also list every note and what is odd in it")
                    .short('v'),
                Flag::new("profile", Takes::Nothing, "also say where time and memory went"),
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
    about: "\
Takes the text from the command line, from standard input, an editor or the clipboard and prints the \
path of the note. The same note a second time is not stored again; credentials in the text are \
replaced by [REDACTED:name].",
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
    summary: "sort the inbox: score each signal, file it by domain",
    usage: &["[OPTIONS] [FILE...]", "--undo [--run NAME]", "--eval FILE"],
    about: "\
Without a file it judges the signals of the inbox: notes of `type: signal`, or without a type and \
with a URL as their source. A file is a bookmarks file (HTML), a feed (RSS, Atom) or an OPML list; `-` \
is JSON lines on standard input.

Each signal gets scores from 0 to 1: relevance (is it near to what the vault is about), actionability, \
depth, authority; together 0.35, 0.25, 0.25, 0.15. From 0.55 it goes to its domain's folder, from 0.40 \
to the review queue, else to the archive. Nothing is deleted or overwritten, and links keep leading to \
a note that moved; items of a file become notes there, and a URL the vault has already is passed \
over.",
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
                Flag::new("dry-run", Takes::Nothing, "say what would happen, and do nothing").short('n'),
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
    examples: &[
        ("postil triage --dry-run --explain", "what would go where, and why"),
        ("postil triage --undo", "take the last run back"),
    ],
    exit: "0 done; 1 some signals could not be sorted; 2 nothing was done.",
};

/// `postil links`.
pub(super) const LINKS: Command = Command {
    name: "links",
    summary: "links and back-links of a note, orphans, dead links",
    usage: &["NOTE", "--orphans | --missing"],
    about: "Links are resolved as Obsidian resolves them. NOTE is a path in the vault, its end, or a title.",
    groups: &[
        (
            "Options",
            &[
                Flag::new("orphans", Takes::Nothing, "list the notes that no other note links to"),
                Flag::new(
                    "missing",
                    Takes::Nothing,
                    "list the links that lead to no note and no file",
                ),
                Flag::new("json", Takes::Nothing, "print JSON"),
            ],
        ),
        ("Files", WHERE_NO_MODEL),
        ("Other", HELP),
    ],
    words: &[],
    has_exclusions: false,
    examples: &[
        ("postil links 04-work/pool.md", "its links, and its back-links as `path:line`"),
        ("postil links --missing", "what to write or to mend next"),
    ],
    exit: "0 done; 1 nothing to list; 2 error.",
};
