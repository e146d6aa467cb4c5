//! Opens a passage where a person edits: at its line in the editor, or its note
//! in Obsidian.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use postil_core::error::{Error, ErrorKind, Result};

use crate::args::Opener;
use crate::vault::Vault;

/// Opens the note at `path`; returns the program's own exit code.
pub(crate) fn open(vault: &Vault, opener: Opener, path: &str, line: u32) -> Result<ExitCode> {
    let file = vault.file(path);
    if !file.is_file() {
        let doing = format!("{} is gone since it was indexed; run `postil index`", file.display());
        return Err(Error::new(ErrorKind::Input, doing));
    }
    let mut command = match (opener, &vault.config.host.editor) {
        (Opener::Obsidian, _) => obsidian(&file),
        (Opener::Editor, Some(editor)) => at_line(editor, &file, line)?,
        (Opener::Editor, None) => {
            let doing = "no editor to open the note in; set VISUAL or EDITOR, or use --obsidian";
            return Err(Error::new(ErrorKind::Config, doing));
        }
    };
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status();
    let status = status.map_err(|error| Error::io("start", Path::new(&name), error))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}

/// Builds the editor's command line, with the line where it is known how that
/// is said.
fn at_line(editor: &str, file: &Path, line: u32) -> Result<Command> {
    let mut words = editor.split_whitespace();
    let Some(program) = words.next() else {
        return Err(Error::new(ErrorKind::Config, "VISUAL or EDITOR is blank"));
    };
    let mut command = Command::new(program);
    command.args(words);
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    match name {
        "vi" | "vim" | "nvim" | "gvim" | "mvim" | "nano" | "pico" | "emacs" | "emacsclient"
        | "kak" | "micro" | "joe" | "ne" | "mg" | "gedit" => {
            command.arg(format!("+{line}")).arg(file);
        }
        "code" | "code-insiders" | "codium" | "cursor" | "windsurf" => {
            command.arg("--goto").arg(format!("{}:{line}", file.display()));
        }
        "hx" | "helix" | "subl" | "zed" => {
            command.arg(format!("{}:{line}", file.display()));
        }
        _ => {
            command.arg(file);
        }
    }
    Ok(command)
}

fn obsidian(file: &Path) -> Command {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(format!("obsidian://open?path={}", percent(&file.to_string_lossy())));
    command.stdin(Stdio::null());
    command
}

/// Percent-encodes all but RFC 3986's unreserved characters.
fn percent(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(editor: &str) -> Vec<String> {
        let command = at_line(editor, Path::new("/v/a b.md"), 7).unwrap();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn editors_are_told_the_line_in_their_own_way() {
        assert_eq!(line_of("/usr/bin/nvim -R"), ["/usr/bin/nvim", "-R", "+7", "/v/a b.md"]);
        assert_eq!(line_of("code --wait"), ["code", "--wait", "--goto", "/v/a b.md:7"]);
        assert_eq!(line_of("hx"), ["hx", "/v/a b.md:7"]);
        assert_eq!(line_of("ed"), ["ed", "/v/a b.md"]);
        assert!(at_line("  ", Path::new("x"), 1).is_err());
    }

    #[test]
    fn links_to_obsidian_are_encoded() {
        assert_eq!(percent("/v/año 1.md"), "%2Fv%2Fa%C3%B1o%201.md");
    }
}
