//! `postil completions` and `postil man`: the table of command lines as the
//! shells and man(1) read it.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use postil_cli::{COMMANDS, Command, Shell, completions, help, man, page_name, parse};

/// `postil completions SHELL`; the error is one line for a person.
pub(crate) fn complete(args: Vec<OsString>) -> Result<String, String> {
    let command = named("completions")?;
    let parsed = parse(command, args).map_err(|error| hinted(command, &error))?;
    if parsed.has("help") {
        return Ok(help(command));
    }
    let [shell] = parsed.words.as_slice() else {
        return Err(hinted(command, "which shell: bash, zsh or fish?"));
    };
    let known = Shell::named(shell);
    known.map(completions).ok_or_else(|| hinted(command, &format!("no completions for {shell:?}")))
}

/// `postil man [COMMAND]`; the error is one line for a person.
pub(crate) fn pages(args: Vec<OsString>) -> Result<String, String> {
    let command = named("man")?;
    let parsed = parse(command, args).map_err(|error| hinted(command, &error))?;
    if parsed.has("help") {
        return Ok(help(command));
    }
    if let Some(folder) = parsed.value("into") {
        return write_all(Path::new(folder)).map_err(|error| format!("man: {error}"));
    }
    let name = match parsed.words.as_slice() {
        [] => "postil",
        [name] => name,
        _ => return Err(hinted(command, "one page at a time")),
    };
    let asked = Command::named(name);
    asked.map(man).ok_or_else(|| hinted(command, &format!("no command {name:?}")))
}

fn write_all(folder: &Path) -> postil_core::error::Result<String> {
    use postil_core::error::Error;
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    for command in COMMANDS {
        let file = folder.join(format!("{}.1", page_name(command)));
        fs::write(&file, man(command)).map_err(|error| Error::io("write", &file, error))?;
    }
    Ok(format!("{} pages in {}\n", COMMANDS.len(), folder.display()))
}

fn named(name: &str) -> Result<&'static Command, String> {
    Command::named(name).ok_or_else(|| format!("{name}: not in the table"))
}

fn hinted(command: &Command, error: &str) -> String {
    let name = command.name;
    format!("{name}: {error}; try `postil {name} --help`")
}
