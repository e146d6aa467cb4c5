//! The command line.

use std::ffi::OsString;

use lexopt::{Arg, Parser, ValueExt};

/// How it was called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Without arguments.
    Hook,
    /// Output on stdin, extract on stdout.
    Filter(Source),
    /// Run this.
    Run(Vec<OsString>),
    /// The wrapper's last step.
    Finish(Finish),
    Help,
    Version,
}

/// Where an output came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) command: OsString,
    pub(crate) exit_code: i32,
}

/// A wrapped command's output in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) file: OsString,
    pub(crate) source: Source,
}

/// Reads the arguments; the error is a message for a person.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Mode, String> {
    let mut parser = Parser::from_args(args);
    let mut source = Source::default();
    let (mut is_filter, mut file) = (false, None);
    while let Some(arg) = parser.next().map_err(text)? {
        match arg {
            Arg::Long("command") => {
                source.command = parser.value().map_err(text)?;
                is_filter = true;
            }
            Arg::Long("exit-code") => {
                source.exit_code = parser.value().map_err(text)?.parse().map_err(text)?;
                is_filter = true;
            }
            Arg::Long("finish") => file = Some(parser.value().map_err(text)?),
            Arg::Short('h') | Arg::Long("help") => return Ok(Mode::Help),
            Arg::Short('V') | Arg::Long("version") => return Ok(Mode::Version),
            Arg::Value(value) if value == "run" && !is_filter => return command(parser),
            other => return Err(text(other.unexpected())),
        }
    }
    Ok(match file {
        Some(file) => Mode::Finish(Finish { file, source }),
        None if is_filter => Mode::Filter(source),
        None => Mode::Hook,
    })
}

/// `run -- CMD ARGS`: everything after `--` is the command.
fn command(mut parser: Parser) -> Result<Mode, String> {
    let mut rest: Vec<OsString> = parser.raw_args().map_err(text)?.collect();
    if matches!(rest.first().and_then(|arg| arg.to_str()), Some("-h" | "--help")) {
        return Ok(Mode::Help);
    }
    if rest.first().is_some_and(|arg| arg == "--") {
        rest.remove(0);
    }
    if rest.is_empty() { Err("run: no command given".to_owned()) } else { Ok(Mode::Run(rest)) }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Mode, String> {
        parse(args.iter().map(OsString::from))
    }

    #[test]
    fn every_way_to_call_it() {
        assert_eq!(parsed(&[]), Ok(Mode::Hook));
        let source = Source { command: "make -k".into(), exit_code: 2 };
        assert_eq!(parsed(&["--command", "make -k", "--exit-code", "2"]), Ok(Mode::Filter(source)));
        let run = Mode::Run(["ls", "-l", "--help"].map(OsString::from).to_vec());
        assert_eq!(parsed(&["run", "--", "ls", "-l", "--help"]), Ok(run));
        assert_eq!(parsed(&["run", "--help"]), Ok(Mode::Help));
    }

    #[test]
    fn bad_usage_says_what() {
        assert!(parsed(&["--exit-code", "x"]).unwrap_err().contains('x'));
        assert!(parsed(&["--bogus"]).unwrap_err().contains("--bogus"));
        assert!(parsed(&["run", "--"]).unwrap_err().contains("no command"));
    }
}
