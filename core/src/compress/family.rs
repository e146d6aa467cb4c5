//! What kind of output it is, from its text first and the command second: a
//! script's name says nothing, and a pipe may have changed the shape.

use super::lines::{Lines, is_blank};
use super::place::place;

/// A kind of output that is read in a way of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Test runs, builds, linters, traces, logs, installers, progress.
    Text,
    /// One JSON document.
    Json,
    /// A document in XML that may be a report.
    Xml,
    /// Matches of a search, `path:line:text`.
    Search,
    /// Paths or directory entries.
    Listing,
    /// A unified diff.
    Diff,
    /// `git log`.
    Log,
    /// A tree drawn with branches.
    Tree,
    /// The text of a file: not noise, a reader asked for it.
    File,
}

impl Family {
    /// The name in the statistics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Search => "search",
            Self::Listing => "listing",
            Self::Diff => "diff",
            Self::Log => "git log",
            Self::Tree => "tree",
            Self::File => "file",
        }
    }
}

/// What the statistics call an output that is read as plain text: by the
/// program that wrote it, else by what its lines look like.
pub(super) fn label(command: &[u8], lines: &Lines) -> &'static str {
    let has = |words: &[&str]| {
        words.iter().any(|word| memchr::memmem::find(command, word.as_bytes()).is_some())
    };
    if has(&["test", "spec", "jest", "mocha", "rspec", "phpunit", "tox", "ctest", "nextest"]) {
        return "test";
    }
    if has(&[
        "clippy",
        "lint",
        "ruff",
        "flake8",
        "mypy",
        "pyright",
        "rubocop",
        "phpstan",
        "shellcheck",
        "tsc",
        "--check",
        "pre-commit",
    ]) {
        return "lint";
    }
    if has(&[
        "npm i",
        "npm ci",
        "pip",
        "apt",
        "yarn",
        "pnpm",
        "brew",
        "dnf",
        "bundle install",
        "composer",
        "poetry",
        "cargo add",
    ]) {
        return "install";
    }
    if has(&[
        "build", "make", "gcc", "clang", "ninja", "mvn", "gradle", "webpack", "vite", "javac",
        "bazel", "cargo", "compile", "swift", "dotnet",
    ]) {
        return "build";
    }
    let n = lines.len().clamp(1, SAMPLE);
    if (1..n).filter(|&idx| lines.no(idx) == lines.no(idx - 1)).count() * 3 > n {
        return "progress";
    }
    let sample = || lines.iter().take(SAMPLE);
    if sample().filter(|line| is_dated(line) || line.starts_with(b"{")).count() * 2 > n {
        return "log";
    }
    if sample().any(|line| super::signal::signal(line).frame != super::place::Frame::None) {
        return "trace";
    }
    "text"
}

/// How many lines are looked at.
const SAMPLE: usize = 400;

/// Decides the family of an output.
pub(super) fn family(command: &[u8], raw: &[u8], lines: &Lines) -> Family {
    let programs = programs(command);
    let last = programs.last().copied().unwrap_or_default();
    if matches!(raw.trim_ascii_start().first(), Some(b'{' | b'['))
        && matches!(raw.trim_ascii_end().last(), Some(b'}' | b']'))
    {
        return Family::Json;
    }
    let opens = raw.get(..raw.len().min(400)).unwrap_or_default();
    let roots: [&[u8]; 3] = [b"<?xml ", b"<testsuite", b"<checkstyle"];
    if roots.iter().any(|root| memchr::memmem::find(opens, root).is_some()) {
        return Family::Xml;
    }
    let n = lines.len().min(SAMPLE);
    let texts =
        || (0..n).map(|idx| lines.get(idx * lines.len() / n.max(1))).filter(|line| !is_blank(line));
    let total = texts().count().max(1);
    let share = |test: fn(&[u8]) -> bool| texts().filter(|line| test(line)).count() * 100 / total;
    let first =
        lines.iter().take(60).any(|l| l.starts_with(b"diff --git ") || l.starts_with(b"@@ -"));
    if first && share(is_diff_line) >= 90 {
        return Family::Diff;
    }
    if lines.get(0).starts_with(b"commit ")
        && lines.iter().take(6).any(|l| l.starts_with(b"Date: "))
    {
        return Family::Log;
    }
    if (reads_source(&programs, command) || asks_for_help(command)) && share(is_dated) < 30 {
        return Family::File;
    }
    if share(is_branch) >= 60 {
        return Family::Tree;
    }
    let status = last == b"git"
        && memchr::memmem::find(command, b"status").is_some()
        && share(|line| line.starts_with(b"\t")) >= 50;
    if share(is_path) >= 85 || share(is_entry) >= 80 || status {
        return Family::Listing;
    }
    let searches = [b"grep".as_slice(), b"rg", b"egrep", b"fgrep", b"ag", b"ack", b"git"]
        .contains(&last)
        || programs.iter().any(|p| [b"grep".as_slice(), b"rg", b"ag", b"ack"].contains(p))
            && lines.iter().take(40).all(|l| is_blank(l) || is_match(l) || is_match_row(l));
    if searches && (share(is_match) >= 80 || share(is_match_row) >= 85) {
        return Family::Search;
    }
    Family::Text
}

/// The program of each simple command, without its folder; those that print
/// next to nothing are left out.
pub(super) fn programs(command: &[u8]) -> Vec<&[u8]> {
    const BEFORE: &[&[u8]] = &[
        b"sudo", b"time", b"env", b"then", b"do", b"!", b"timeout", b"nice", b"xargs", b"command",
    ];
    const SILENT: &[&[u8]] = &[b"cd", b"echo", b"printf", b"pwd", b"true", b"export", b"set"];
    command
        .split(|b| matches!(b, b';' | b'|' | b'&' | b'\n'))
        .filter_map(|part| {
            part.split(u8::is_ascii_whitespace)
                .find(|word| !word.is_empty() && !word.contains(&b'=') && !BEFORE.contains(word))
        })
        .map(|word| word.rsplit(|&b| b == b'/').next().unwrap_or(word))
        .filter(|word| !SILENT.contains(word))
        .collect()
}

/// `--help`, `help` or `man`: a text to be read.
fn asks_for_help(command: &[u8]) -> bool {
    let mut words = command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next();
    first == Some(b"man") || words.any(|word| word == b"--help" || word == b"help" || word == b"-h")
}

/// Extensions of files that are read for their text.
const SOURCE: &[&[u8]] = &[
    b"rs",
    b"py",
    b"js",
    b"ts",
    b"tsx",
    b"jsx",
    b"mjs",
    b"cjs",
    b"go",
    b"c",
    b"h",
    b"cc",
    b"cpp",
    b"hpp",
    b"java",
    b"kt",
    b"rb",
    b"php",
    b"swift",
    b"cs",
    b"sh",
    b"bash",
    b"zsh",
    b"md",
    b"rst",
    b"toml",
    b"yaml",
    b"yml",
    b"ini",
    b"cfg",
    b"conf",
    b"css",
    b"scss",
    b"html",
    b"vue",
    b"svelte",
    b"sql",
    b"lua",
    b"ex",
    b"exs",
    b"scala",
    b"hs",
    b"ml",
    b"el",
    b"vim",
    b"proto",
    b"tf",
    b"cmake",
    b"mk",
    b"dockerfile",
    b"makefile",
    b"xml",
    b"tex",
    b"r",
    b"jl",
    b"dart",
    b"zig",
    b"nix",
];

fn reads_source(programs: &[&[u8]], command: &[u8]) -> bool {
    let reads = programs.iter().all(|p| {
        [
            b"cat".as_slice(),
            b"head",
            b"tail",
            b"sed",
            b"bat",
            b"nl",
            b"less",
            b"more",
            b"awk",
            b"tac",
            b"cut",
        ]
        .contains(p)
    });
    reads
        && !programs.is_empty()
        && command.split(|b| b.is_ascii_whitespace() || matches!(b, b'\'' | b'"')).any(|word| {
            let name = word.rsplit(|&b| b == b'/').next().unwrap_or(word).to_ascii_lowercase();
            let ext = name.rsplit(|&b| b == b'.').next().unwrap_or_default();
            SOURCE.contains(&ext)
        })
}

fn is_diff_line(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'+' | b'-' | b' ' | b'@' | b'\\'))
        || [
            b"diff ".as_slice(),
            b"index ",
            b"new ",
            b"old ",
            b"deleted ",
            b"rename ",
            b"copy ",
            b"similarity ",
            b"dissimilarity ",
            b"Binary ",
            b"commit ",
            b"Author",
            b"Date",
            b"Merge",
        ]
        .iter()
        .any(|head| line.starts_with(head))
}

/// A drawn branch, in Unicode or ASCII.
fn is_branch(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    ["├", "└", "│", "|--", "`--", "|   ", "+--", "\\--", "+- ", "|  "]
        .iter()
        .any(|mark| text.starts_with(mark.as_bytes()))
}

/// One path and nothing else, or a test's id, or a path with its state in git.
fn is_path(line: &[u8]) -> bool {
    let state = line.len() > 3
        && line.get(2) == Some(&b' ')
        && line.get(..2).is_some_and(|s| s.iter().all(|b| b" MADRCU?!".contains(b)));
    let line = if state { line.get(3..).unwrap_or_default() } else { line.trim_ascii() };
    if memchr::memmem::find(line, b"::").is_some() {
        return !line.contains(&b' ') || line.ends_with(b": test");
    }
    !line.iter().any(|b| matches!(b, b' ' | b'\t' | b':' | b'(' | b'=' | b'"'))
        && (line.contains(&b'/') || line.starts_with(b"."))
}

/// A row of `ls -l` or of `git diff --stat`, or a heading of `ls -R`.
fn is_entry(line: &[u8]) -> bool {
    let mode = line.len() > 12
        && matches!(line.first(), Some(b'-' | b'd' | b'l' | b'c' | b'b' | b's' | b'p'))
        && line.get(1..10).is_some_and(|mode| mode.iter().all(|b| b"rwxstST-".contains(b)));
    let stat = memchr::memmem::find(line, b" | ").is_some_and(|at| {
        let rest = line.get(at + 3..).unwrap_or_default().trim_ascii_start();
        rest.first().is_some_and(u8::is_ascii_digit)
            && rest.iter().all(|b| b.is_ascii_digit() || b" +-".contains(b))
            || rest.starts_with(b"Bin ")
    });
    mode || stat || line.ends_with(b":") && line.contains(&b'/') || line.starts_with(b"total ")
}

/// `path:12:text`, `path-12-text`, `--`.
fn is_match(line: &[u8]) -> bool {
    line == b"--" || row(line).is_some()
}

/// `12:text` under a heading or of a single file.
fn is_match_row(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    line == b"--" || digits > 0 && matches!(line.get(digits), Some(b':' | b'-')) && !is_dated(line)
}

/// Starts with a date or a clock time.
pub(super) fn is_dated(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (digits == 4 || digits == 2)
        && matches!(text.get(digits), Some(b'-' | b'/' | b':'))
        && text.get(digits + 1).is_some_and(u8::is_ascii_digit)
}

/// Splits a match row: path, line number, the rest with its separator.
pub(super) fn row(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut at = 0;
    while let Some(found) = line.get(at..)?.iter().position(|b| matches!(b, b':' | b'-')) {
        let sep = at + found;
        let digits = line.get(sep + 1..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        let end = sep + 1 + digits;
        if sep > 0
            && (1..=7).contains(&digits)
            && line.get(end) == line.get(sep)
            && !line.get(..sep)?.contains(&b' ')
        {
            let path = line.get(..sep)?;
            let named = path.contains(&b'.')
                || path.contains(&b'/')
                || place(line).is_some()
                || !path.first().is_some_and(u8::is_ascii_digit)
                    && path.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
            return named.then_some((path, line.get(sep + 1..end)?, line.get(end..)?));
        }
        at = sep + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_split_at_the_line_number() {
        assert_eq!(
            row(b"src/a.rs:12:let x: u8 = 3;"),
            Some((b"src/a.rs".as_slice(), b"12".as_slice(), b":let x: u8 = 3;".as_slice()))
        );
        assert_eq!(
            row(b"a-b/c.rs-7-text"),
            Some((b"a-b/c.rs".as_slice(), b"7".as_slice(), b"-text".as_slice()))
        );
        assert_eq!(row(b"at 12:30:10 the clock"), None);
    }

    #[test]
    fn programs_are_found_behind_wrappers_and_pipes() {
        assert_eq!(
            programs(b"cd x && A=1 /usr/bin/grep -rn y . | head -3"),
            [b"grep".as_slice(), b"head"]
        );
    }
}
