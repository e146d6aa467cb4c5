//! Where the text of a capture comes from: standard input, an editor, the
//! clipboard.

use std::fs;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::Command;

use postil_core::capture::MAX_TEXT_BYTES;
use postil_core::config::Config;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::ingest::decode;

use crate::args::Input;

/// Programs that print the clipboard: macOS, Wayland, X11, Windows under WSL.
const CLIPBOARDS: [&[&str]; 5] = [
    &["pbpaste"],
    &["wl-paste", "--no-newline"],
    &["xclip", "-selection", "clipboard", "-o"],
    &["xsel", "--clipboard", "--output"],
    &["powershell.exe", "-NoProfile", "-Command", "Get-Clipboard -Raw"],
];

/// A text, and the file it was written in.
pub(crate) struct Taken {
    pub(crate) text: String,
    draft: Option<PathBuf>,
}

impl Taken {
    /// Names the file with the text, after it could not be stored.
    pub(crate) fn keep(&self) {
        if let Some(path) = &self.draft {
            let _ = writeln!(std::io::stderr(), "capture: your text is in {}", path.display());
        }
    }
}

/// Takes the text.
pub(crate) fn take(input: &Input, config: &Config) -> Result<Taken> {
    let text = match input {
        Input::Text(text) => text.clone(),
        Input::Editor => return edit(config),
        Input::Clipboard => clipboard()?,
        _ => stdin()?,
    };
    Ok(Taken { text, draft: None })
}

fn stdin() -> Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(input("nothing to capture: give a TEXT, pipe one in, or use --editor"));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX).saturating_mul(2);
    let read = stdin.lock().take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Error::with(ErrorKind::Io, "read standard input", error))?;
    text_of(bytes, "standard input")
}

/// Any text encoding, as for the notes themselves.
fn text_of(bytes: Vec<u8>, name: &str) -> Result<String> {
    match decode::decode(bytes) {
        Ok(decoded) => Ok(decoded.text),
        Err(_) => Err(input(&format!("{name} is not text"))),
    }
}

fn clipboard() -> Result<String> {
    for command in CLIPBOARDS {
        let Some((program, args)) = command.split_first() else { continue };
        let output = Command::new(program).args(args).output();
        if let Ok(output) = output
            && output.status.success()
        {
            return text_of(output.stdout, "the clipboard");
        }
    }
    Err(input(
        "no clipboard to read here; install wl-clipboard, xclip or xsel, or pipe the text in",
    ))
}

/// Has the user write the text in an editor. The file outlives a failure.
fn edit(config: &Config) -> Result<Taken> {
    let editor = config.host.editor.as_deref().unwrap_or("vi");
    let mut words = editor.split_whitespace();
    let program = words.next().ok_or_else(|| input("$EDITOR is empty"))?;
    let folder = &config.paths.state;
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let path = folder.join(format!("capture-{}.md", std::process::id()));
    fs::write(&path, "").map_err(|error| Error::io("write", &path, error))?;
    let status = Command::new(program).args(words).arg(&path).status();
    let status = status.map_err(|error| {
        Error::with(ErrorKind::Input, format!("start the editor {program:?}"), error)
    })?;
    let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    if !status.success() {
        let text = format!("the editor gave up ({status}); your text is in {}", path.display());
        return Err(input(&text));
    }
    let text = text_of(bytes, "the text")?;
    if text.trim().is_empty() {
        let _ = fs::remove_file(&path);
        return Err(input("nothing to capture: the text is empty"));
    }
    Ok(Taken { text, draft: Some(path) })
}

fn input(message: &str) -> Error {
    Error::new(ErrorKind::Input, message)
}
