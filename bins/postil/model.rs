//! `postil model`: installs, compiles and checks the embedding model.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::{Arg, Parser, ValueExt};
use postil_core::config::{Config, Overrides};
use postil_core::embed;

enum Action {
    Help,
    Install(PathBuf),
    Compile,
    Check,
}

/// Runs the command; returns what to print, or the message of a failure.
pub(crate) fn run(args: Vec<OsString>) -> Result<String, String> {
    let mut overrides = Overrides::default();
    let action = parse(args, &mut overrides)
        .map_err(|error| format!("model: {error}; try `postil model --help`"))?;
    if let Action::Help = action {
        return Ok(postil_cli::help_of("model"));
    }
    let paths = Config::load(&overrides).map_err(|error| error.to_string())?.paths;
    match action {
        Action::Help => Ok(postil_cli::help_of("model")),
        Action::Install(from) => embed::install(&from, &paths.model)
            .map(|()| format!("model installed in {}\n", paths.model.display())),
        Action::Compile => embed::compile(&paths.model)
            .map(|()| format!("model compiled in {}\n", paths.model.display())),
        Action::Check => check(&paths.model, &paths.languages),
    }
    .map_err(|error| error.to_string())
}

fn parse(args: Vec<OsString>, overrides: &mut Overrides) -> Result<Action, lexopt::Error> {
    let mut parser = Parser::from_args(args);
    let mut words: Vec<OsString> = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Action::Help),
            Arg::Long("model") => overrides.model = Some(parser.value()?.into()),
            Arg::Value(word) => words.push(word),
            _ => return Err(arg.unexpected()),
        }
    }
    let mut words = words.into_iter();
    let action = match words.next() {
        None => return Err("no action given".into()),
        Some(word) => match word.string()?.as_str() {
            "install" => Action::Install(words.next().ok_or("install: no folder given")?.into()),
            "compile" => Action::Compile,
            "check" => Action::Check,
            other => return Err(format!("no action {other:?}").into()),
        },
    };
    match words.next() {
        Some(extra) => Err(lexopt::Error::UnexpectedArgument(extra)),
        None => Ok(action),
    }
}

/// Verifies everything that vectors depend on.
fn check(model: &Path, languages: &Path) -> postil_core::error::Result<String> {
    embed::verify(model)?;
    let tables = embed::tables_in(languages);
    for table in &tables {
        embed::verify_table(table)?;
    }
    let embedder = embed::Embedder::open(model, &tables)?;
    let hash = embedder.as_ref().map_or("absent", |embedder| embedder.hash());
    Ok(format!("model in {}: {hash}\n", model.display()))
}
