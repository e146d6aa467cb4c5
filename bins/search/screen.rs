//! The terminal: its size, whether it takes colours, the pager.

use std::io::{IsTerminal, Write};
use std::process::{Command, ExitCode, Stdio};

use postil_core::config::Terminal;

use crate::args::Args;

/// Columns of what is not a terminal, and of no terminal's lines.
const DEFAULT_WIDTH: usize = 100;

/// How output looks.
pub(crate) struct Screen {
    pub(crate) width: usize,
    pub(crate) has_color: bool,
    /// Somebody sits at it: what is typed and what is asked is on a terminal.
    pub(crate) is_attended: bool,
    /// The output is read on it, too, not by a program.
    pub(crate) is_terminal: bool,
    height: usize,
    pager: Option<String>,
}

/// What a piece of output is; decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Title,
    Path,
    Line,
    Dim,
    Tag,
    Match,
}

impl Screen {
    pub(crate) fn new(terminal: &Terminal, args: &Args) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let size = terminal_size::terminal_size().filter(|_| is_terminal);
        let size = size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)));
        let has_color = match args.color.as_deref() {
            Some("always") => true,
            Some(_) => false,
            None => is_terminal && !terminal.no_color && !terminal.is_dumb,
        };
        let is_attended = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let pager = terminal.pager.clone().filter(|_| is_terminal && args.has_pager);
        let (width, height) = size.unwrap_or((DEFAULT_WIDTH, usize::MAX));
        let width = width.clamp(40, 120);
        Self { width, has_color, is_attended, is_terminal, height, pager }
    }

    /// Dresses a text in the colour of its role.
    pub(crate) fn paint(&self, role: Role, text: &str) -> String {
        if !self.has_color || text.is_empty() {
            return text.to_owned();
        }
        let code = match role {
            Role::Title => "1",
            Role::Path => "35",
            Role::Line => "32",
            Role::Dim => "2",
            Role::Tag => "36",
            Role::Match => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Prints a text, through the pager where it is longer than the screen.
    pub(crate) fn page(&self, text: &str, code: u8) -> ExitCode {
        let is_long = text.lines().count() >= self.height;
        let pager = self.pager.as_deref().filter(|_| is_long);
        if pager.is_some_and(|pager| run_pager(pager, text)) {
            return ExitCode::from(code);
        }
        crate::say(text, code)
    }
}

/// Returns false if the pager could not be started.
fn run_pager(pager: &str, text: &str) -> bool {
    let child = Command::new("/bin/sh")
        .args(["-c", pager])
        .env("LESS", "FRX")
        .env("LESSCHARSET", "utf-8")
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut pipe) = child.stdin.take() {
        // The reader may leave before the end.
        let _ = pipe.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

pub(crate) fn is_err_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Drops what a note could drive a terminal with: controls other than line
/// ends and tabs, and characters that turn the direction of writing.
pub(crate) fn printable(text: &str) -> String {
    let is_shown = |c: &char| {
        matches!(c, '\n' | '\t')
            || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    text.chars().filter(is_shown).collect::<String>().replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_cannot_drive_the_terminal() {
        assert_eq!(printable("a\x1b]0;x\x07b\u{202e}c\n\td\r"), "a]0;xbc\n    d");
    }
}
