//! The command line of `capture`.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;
use postil_core::capture::Draft;
use postil_core::config::Overrides;

/// Where the text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Text(String),
    Stdin,
    Editor,
    Clipboard,
    Import { path: PathBuf, into: Option<String>, dry_run: bool },
    Hook,
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) input: Input,
    /// Everything but the text.
    pub(crate) draft: Draft,
    pub(crate) json: bool,
    pub(crate) overrides: Overrides,
}

/// What to do.
pub(crate) enum Command {
    Help,
    Version,
    Run(Box<Args>),
}

/// Reads the command line; the error is one line for a person.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut draft = Draft::default();
    let mut overrides = Overrides::default();
    let mut words: Vec<String> = Vec::new();
    let mut input: Option<Input> = None;
    let (mut import, mut into): (Option<PathBuf>, Option<String>) = (None, None);
    let (mut json, mut dry_run) = (false, false);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => return Ok(Command::Help),
            Short('V') | Long("version") => return Ok(Command::Version),
            Long("domain") => draft.domain = Some(parser.value()?.string()?),
            Long("tags" | "tag") => {
                let tags = parser.value()?.string()?;
                draft.tags.extend(tags.split(',').map(|tag| tag.trim().to_owned()));
            }
            Long("title") => draft.title = Some(parser.value()?.string()?),
            Long("type") => draft.kind = Some(parser.value()?.string()?),
            Long("source" | "url") => draft.source = Some(parser.value()?.string()?),
            Long("editor") => input = Some(Input::Editor),
            Long("clipboard") => input = Some(Input::Clipboard),
            Long("hook") => input = Some(Input::Hook),
            Long("import") => import = Some(parser.value()?.into()),
            Long("into") => into = Some(parser.value()?.string()?),
            Long("dry-run") => dry_run = true,
            Long("json") => json = true,
            Long("vault") => overrides.vault = Some(parser.value()?.into()),
            Long("db") => overrides.db = Some(parser.value()?.into()),
            Long("config") => overrides.config = Some(parser.value()?.into()),
            Value(word) => words.push(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if import.is_none() && (into.is_some() || dry_run) {
        return Err("--into and --dry-run go with --import".into());
    }
    let input = match (import, input) {
        (Some(path), _) => Input::Import { path, into, dry_run },
        (None, Some(input)) => input,
        (None, None) if words.is_empty() || words == ["-"] => Input::Stdin,
        (None, None) => Input::Text(std::mem::take(&mut words).join(" ")),
    };
    if !words.is_empty() && input != Input::Stdin {
        return Err(format!("unexpected text {:?}", words.join(" ")).into());
    }
    Ok(Command::Run(Box::new(Args { input, draft, json, overrides })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &[&str]) -> Result<Args, lexopt::Error> {
        match parse(line.iter().map(OsString::from))? {
            Command::Run(args) => Ok(*args),
            _ => Err("help".into()),
        }
    }

    #[test]
    fn options_and_text_mix() {
        let args =
            args(&["use", "--domain", "web", "fetch", "--tags=a, b", "--tags", "c"]).unwrap();
        assert_eq!(args.input, Input::Text("use fetch".to_owned()));
        assert_eq!(args.draft.tags, ["a", "b", "c"]);
    }

    #[test]
    fn without_text_it_is_stdin() {
        assert_eq!(args(&["--title", "T"]).unwrap().input, Input::Stdin);
        assert_eq!(args(&["-"]).unwrap().input, Input::Stdin);
        assert_eq!(args(&["--", "--x"]).unwrap().input, Input::Text("--x".to_owned()));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert!(args(&["--unknown"]).is_err());
        assert!(args(&["--editor", "text"]).is_err());
        assert!(args(&["--into", "x"]).is_err());
    }
}
