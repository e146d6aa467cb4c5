//! The command line of `postil eval`.

use std::ffi::OsString;
use std::path::PathBuf;

use postil_core::config::Overrides;
use postil_core::recall::Mode;

/// How much nDCG@10 may fall before `--gate` fails.
const GATE: f64 = 0.02;

/// What was asked for.
#[derive(Debug, Default)]
pub(super) struct Args {
    pub(super) overrides: Overrides,
    pub(super) queries: Option<PathBuf>,
    pub(super) mode: Mode,
    pub(super) json: bool,
    pub(super) run: Option<PathBuf>,
    pub(super) evidence: Option<PathBuf>,
    pub(super) compare: Option<PathBuf>,
    pub(super) max_drop: Option<f64>,
    pub(super) accept: bool,
    pub(super) gate: bool,
    pub(super) help: bool,
    /// The question and the notes of `add`.
    pub(super) add: Option<Vec<String>>,
}

pub(super) fn parse(args: Vec<OsString>) -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt as _};
    let mut parsed = Args::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("vault") => parsed.overrides.vault = Some(parser.value()?.into()),
            Long("db") => parsed.overrides.db = Some(parser.value()?.into()),
            Long("model") => parsed.overrides.model = Some(parser.value()?.into()),
            Long("config") => parsed.overrides.config = Some(parser.value()?.into()),
            Long("queries") => parsed.queries = Some(parser.value()?.into()),
            Long("mode") => parsed.mode = mode(&parser.value()?.string()?)?,
            Long("json") => parsed.json = true,
            Long("run") => parsed.run = Some(parser.value()?.into()),
            Long("evidence") => parsed.evidence = Some(parser.value()?.into()),
            Long("compare") => parsed.compare = Some(parser.value()?.into()),
            Long("max-drop") => parsed.max_drop = Some(parser.value()?.parse()?),
            Long("accept") => parsed.accept = true,
            Long("gate") => parsed.gate = true,
            Short('h') | Long("help") => parsed.help = true,
            Value(word) => match &mut parsed.add {
                Some(words) => words.push(word.string()?),
                None if word == "add" => parsed.add = Some(Vec::new()),
                None => return Err(Value(word).unexpected()),
            },
            other => return Err(other.unexpected()),
        }
    }
    if parsed.gate {
        parsed.max_drop.get_or_insert(GATE);
    }
    if parsed.add.as_ref().is_some_and(|words| words.len() < 2 && !parsed.help) {
        return Err("`add` takes a question and at least one note".into());
    }
    if parsed.max_drop.is_some() && parsed.compare.is_none() && !parsed.gate {
        return Err("--max-drop needs --compare or --gate".into());
    }
    Ok(parsed)
}

fn mode(name: &str) -> Result<Mode, lexopt::Error> {
    match name {
        "hybrid" => Ok(Mode::Hybrid),
        "bm25" => Ok(Mode::Keyword),
        "vector" => Ok(Mode::Vector),
        _ => Err(format!("--mode is hybrid, bm25 or vector, not {name:?}").into()),
    }
}
