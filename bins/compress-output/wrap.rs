//! PreToolUse: has a command's output shortened at its end, so that a failing
//! one, which PostToolUse never sees, is shortened too. Off until the user
//! turns it on.
//!
//! The command itself runs unchanged, in the agent's own shell: a trap is set
//! before it that calls `compress-output --finish` when the shell ends. Exit
//! status, `cd`, variables, heredocs, background jobs and signals are what
//! they were. Where the shell's output is a file, as in Claude Code, the file
//! is rewritten in place at the end, so that until then, and after a kill, it
//! holds what the command has written; where it is a pipe, the output goes
//! through a file of its own. Whatever goes wrong, the output is whole.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use postil_lean::config::Config;
use postil_lean::hook::{Agent, Answer, Event, Reply, push_text};

use crate::permit::{Permit, permit};
use crate::post::with_member;
use crate::shorten::{is_own, is_skipped};

/// Answers a PreToolUse event.
pub(crate) fn answer(event: &Event<'_>, config: &Config) -> Answer {
    if !config.compress.wrap {
        return Answer::Silence("wrap-off");
    }
    if event.agent != Agent::ClaudeCode || event.tool_name.as_deref() != Some("Bash") {
        return Answer::Silence("other-tool");
    }
    let Some(command) = event.input_text("command") else { return Answer::Silence("no-command") };
    let background = event.tool_input.and_then(|input| input.get("run_in_background"));
    if background.is_some_and(|value| value.is_true())
        || is_own(command.as_bytes(), config)
        || is_skipped(command.as_bytes(), config)
        || !is_plain(&command)
    {
        return Answer::Silence("not-wrapped");
    }
    let decision = match permit(event, &command, config) {
        Permit::Bypassed => None,
        Permit::Allowed => Some("allow"),
        Permit::No => return Answer::Silence("not-permitted"),
    };
    let Some(input) = event.tool_input else { return Answer::Silence("no-command") };
    let id = event.tool_use_id.as_deref().unwrap_or("call");
    let Some(wrapped) = spool(config, id).and_then(|file| wrapped(&command, &file)) else {
        return Answer::Silence("no-file");
    };
    let mut text = Vec::new();
    push_text(&wrapped, &mut text);
    let input = with_member(input, "command", &text, &[]);
    Answer::Reply(Reply::tool_input(event, &input, decision))
}

/// A private, empty file for the output of a call.
fn spool(config: &Config, id: &str) -> Option<PathBuf> {
    let folder = &config.paths.outputs;
    std::fs::create_dir_all(folder).ok()?;
    let id: String =
        id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(64).collect();
    let file = folder.join(format!("run-{id}-{}.part", std::process::id()));
    std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&file)
        .ok()?;
    Some(file)
}

fn wrapped(command: &str, file: &Path) -> Option<String> {
    let exe = std::env::current_exe().ok()?;
    let (exe, file) =
        (quoted(exe.to_str()?), quoted(std::str::from_utf8(file.as_os_str().as_bytes()).ok()?));
    let finish = format!(
        "__postil=$?; [ -z \"$__postil_fd\" ] || exec 1>&9; {exe} --finish {file} --exit-code $__postil --command {}; exit $__postil",
        quoted(command)
    );
    Some(format!(
        "trap {} EXIT; [ -f /dev/stdout ] || {{ __postil_fd=9; exec 9>&1 >{file} 2>&1; trap 'exit 143' TERM; trap 'exit 130' INT; }}\n{command}",
        quoted(&finish)
    ))
}

/// Whether a command has been through the wrapper: its output is done.
pub(crate) fn is_wrapped(command: &str) -> bool {
    command.starts_with("trap '__postil=$?;") && command.contains(" --finish ")
}

/// Quotes a text for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Programs that talk to a person, and those whose output is an answer of a
/// line or two.
const LEFT_ALONE: &[&str] = &[
    "alias", "bash", "bg", "cd", "date", "echo", "exec", "exit", "export", "fg", "fish", "gdb",
    "htop", "irb", "kill", "less", "lldb", "ls", "man", "mkdir", "more", "mysql", "nano", "nvim",
    "passwd", "pbcopy", "psql", "pwd", "read", "screen", "set", "sftp", "sh", "sleep", "source",
    "sqlite3", "ssh", "su", "sudo", "telnet", "tmux", "top", "touch", "trap", "true", "unset",
    "vi", "vim", "wait", "watch", "which", "whoami", "zsh",
];

/// Whether a command is not piped, redirected, interactive or in the
/// background. `2>&1` and here-documents are no redirections in this sense.
fn is_plain(command: &str) -> bool {
    let mut quote = None;
    let bytes = command.as_bytes();
    let mut at = 0;
    let mut heredoc = false;
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'\\') => at += 1,
            (None, b'\n') if heredoc => break, // its body is data
            (None, b'<') if rest.starts_with(b"<<") => {
                heredoc = !rest.starts_with(b"<<<");
                at += rest.iter().take_while(|b| **b == b'<').count() - 1;
            }
            (None, b'2') if rest.starts_with(b"2>&1") => at += 3,
            (None, b'&' | b'|') if rest.get(1) == Some(&byte) => at += 1,
            (None, b'&' | b'|' | b'<' | b'>') => return false,
            _ => {}
        }
        at += 1;
    }
    quote.is_none() && !command.trim().is_empty() && !is_left_alone(command)
}

/// Whether every program in it is to be left alone, or one is interactive.
fn is_left_alone(command: &str) -> bool {
    let first = |part: &str| {
        let word =
            part.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default().to_owned();
        word.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let line = command.lines().next().unwrap_or_default();
    let programs: Vec<String> =
        line.split([';', '&', '|']).map(first).filter(|name| !name.is_empty()).collect();
    // `bash script.sh` is a program like any other; `bash` alone is a prompt.
    let with_file =
        |name: &str| matches!(name, "bash" | "sh" | "zsh") && line.split_whitespace().count() > 1;
    let alone = |name: &String| LEFT_ALONE.contains(&name.as_str()) && !with_file(name);
    let prompt = matches!(line.trim(), "python" | "python3" | "node" | "irb" | "php -a" | "ghci");
    let tty = [" -it ", " --interactive", " --tty", " -i "]
        .iter()
        .any(|flag| format!("{line} ").contains(flag));
    let hostile = [
        "sudo", "ssh", "su", "vim", "vi", "nano", "less", "more", "top", "htop", "watch", "tmux",
        "screen", "gdb", "lldb", "psql", "mysql", "trap", "exec", "passwd", "read",
    ];
    prompt
        || tty
        || programs.iter().all(alone)
        || programs.iter().any(|name| hostile.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_redirected_interactive_and_background_commands_are_left_alone() {
        for command in [
            "cargo test | tail",
            "cargo test > x",
            "make &",
            "cat < x",
            "vim x",
            "ssh host ls",
            "sudo make",
            "ls",
            "cd x && ls",
            "python3",
            "docker run -it x",
            "bash",
            "",
            "echo hi",
            "make 2>err",
            "make |& tee x",
            "a <(b)",
            "echo 'open",
            "trap x EXIT; make",
        ] {
            assert!(!is_plain(command), "{command}");
        }
        for command in [
            "cargo test",
            "cd x && make -k",
            "make 2>&1",
            "pytest -k 'a | b > c'",
            "python3 - <<'E'\nprint(1) > 2 | x\nE",
            "bash run.sh",
            "false || make",
            "A=1 make; true",
            "git log --format='%h > %s'",
        ] {
            assert!(is_plain(command), "{command}");
        }
    }

    #[test]
    fn quoting_survives_the_shell() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        let text = wrapped("echo 'a b'; false", Path::new("/s/o ut/run.part")).unwrap();
        assert!(text.ends_with("\necho 'a b'; false") && is_wrapped(&text), "{text}");
    }
}
