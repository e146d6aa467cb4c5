//! `postil eval`: builds or reuses an index of the vault in a place of its own,
//! asks every question and reports how well they were answered.

mod args;
mod evidence;
mod questions;
mod rankings;
mod report;

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::eval::{self, Measures, Paired, Question};
use postil_core::ingest::source::Scope;
use postil_core::ingest::{Job, index};
use postil_core::recall::{Answer, Hit, Mode, Options, Place, Query, recall};
use postil_core::store::{Opened, Reader};

use self::args::Args;
use self::rankings::Ranked;
use self::report::{Paths, Report};

/// Notes ranked per question.
const DEPTH: usize = 30;

/// A path counts as having found a passage when it ranks it this high.
const FOUND: usize = 30;

pub(crate) fn run(args: Vec<OsString>) -> ExitCode {
    let args = match args::parse(args) {
        Ok(args) => args,
        Err(error) => return crate::fail(&format!("eval: {error}; try `postil eval --help`")),
    };
    if args.help {
        return crate::say(&postil_cli::help_of("eval"), 0);
    }
    match evaluate(&args) {
        Ok((text, passed)) => crate::say(&text, u8::from(!passed)),
        Err(error) => crate::fail(&format!("eval: {error}")),
    }
}

/// Returns what to print and whether the gate is passed.
fn evaluate(args: &Args) -> Result<(String, bool)> {
    let config = Config::load(&args.overrides)?;
    if let Some([query, notes @ ..]) = args.add.as_deref() {
        let id = questions::add(&config, query, notes)?;
        return Ok((format!("{id} added to {}\n", questions::own_path(&config).display()), true));
    }
    let questions = questions(args, &config)?;
    let before = compared_run(args, &config)?.map(|path| rankings::read(&path)).transpose()?;
    let embedder = Embedder::open(&config.paths.model, &config.tables())?;
    if embedder.is_none() {
        let folder = config.paths.model.display();
        let _ = writeln!(std::io::stderr(), "postil: eval: no model in {folder}: words only");
    }
    let reader = open(args, &config, embedder.as_ref())?;
    let mut paths = Paths::default();
    let mut rankings = Vec::with_capacity(questions.len());
    let mut studied = args.evidence.as_ref().map(|_| String::new());
    for question in &questions {
        let answer = ask(&reader, embedder.as_ref(), question, args.mode)?;
        if let Some(studied) = &mut studied {
            let answer = study(&reader, embedder.as_ref(), question, args.mode)?;
            studied.push_str(&evidence::line(question, &answer));
        }
        count_path(&answer, question, &mut paths);
        rankings.push(ranking(answer, question));
    }
    if let (Some(path), Some(lines)) = (&args.evidence, studied) {
        rankings::save(path, &lines)?;
    }
    let mode = name(args.mode);
    if let Some(path) = &args.run {
        rankings::write(path, &questions, &rankings, &format!("postil-{mode}"))?;
    }
    if args.accept {
        rankings::write(&accepted_path(&config), &questions, &rankings, "accepted")?;
    }
    let measures: Vec<Measures> = questions
        .iter()
        .zip(&rankings)
        .map(|(question, ranking)| {
            let paths: Vec<&str> = ranking.iter().map(|note| note.path.as_str()).collect();
            eval::measure(&paths, &question.relevant)
        })
        .collect();
    let compared = before.map(|before| compare(&questions, &before, &measures));
    let report = Report {
        mode,
        n_notes: reader.counts()?.0,
        figures: eval::average(&measures),
        groups: eval::average_groups(&questions, &measures),
        paths,
        compared,
    };
    let text = if args.json { report::to_json(&report) } else { report::to_text(&report) };
    Ok((text, passes(args, &report)))
}

fn questions(args: &Args, config: &Config) -> Result<Vec<Question>> {
    let own = questions::own_path(config);
    match &args.queries {
        Some(path) => questions::read(path),
        None if own.exists() => questions::read(&own),
        None => {
            let what = "no questions yet; give --queries FILE, or collect your own with \
                        `postil eval add QUESTION NOTE`";
            Err(Error::new(ErrorKind::Input, what))
        }
    }
}

/// The rankings to compare with.
fn compared_run(args: &Args, config: &Config) -> Result<Option<PathBuf>> {
    let accepted = accepted_path(config);
    match &args.compare {
        Some(path) => Ok(Some(path.clone())),
        None if !args.gate => Ok(None),
        None if accepted.exists() => Ok(Some(accepted)),
        None => {
            let what = "nothing to compare with yet; accept a run with `postil eval --accept`";
            Err(Error::new(ErrorKind::Input, what))
        }
    }
}

fn accepted_path(config: &Config) -> PathBuf {
    config.paths.state.join("eval/accepted.run")
}

/// Brings the index for this vault up to date and opens it.
fn open(args: &Args, config: &Config, embedder: Option<&Embedder>) -> Result<Box<Reader>> {
    let vault = config.vault()?;
    if !vault.is_dir() {
        let what = format!("no vault at {}", vault.display());
        return Err(Error::new(ErrorKind::Config, what));
    }
    let db = match &args.overrides.db {
        Some(_) => config.paths.index.clone(),
        None => scratch(config, vault),
    };
    if let Some(folder) = db.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::with(ErrorKind::Io, format!("create {}", folder.display()), error)
        })?;
    }
    let job = Job {
        vault,
        scope: &Scope { allowed: config.allowed.clone(), excluded: config.excluded.clone() },
        db: &db,
        embedder,
        filter: &config.filter()?,
        full: false,
        check: false,
        only: None,
    };
    index(&job, &mut |_| true)?;
    match Reader::open(&db)? {
        Opened::Ready(reader) => Ok(reader),
        Opened::Absent | Opened::Foreign => {
            Err(Error::new(ErrorKind::Store, format!("no index at {}", db.display())))
        }
    }
}

/// An index of its own for each vault, so that the user's is left alone.
fn scratch(config: &Config, vault: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    vault.hash(&mut hasher);
    config.paths.state.join(format!("eval/{:016x}.db", hasher.finish()))
}

fn ask(
    reader: &Reader,
    embedder: Option<&Embedder>,
    question: &Question,
    mode: Mode,
) -> Result<Answer> {
    let query = query(question);
    let limit = DEPTH + question.exclude.len();
    let options = Options { mode, limit, per_note: 1, ..Options::default() };
    recall(reader, embedder, &query, &options)
}

/// Asks for the candidates of a question instead of its notes.
fn study(
    reader: &Reader,
    embedder: Option<&Embedder>,
    question: &Question,
    mode: Mode,
) -> Result<Answer> {
    let n = evidence::N_CANDIDATES;
    let options = Options { mode, limit: n, per_note: n, n_read: n, ..Options::default() };
    recall(reader, embedder, &query(question), &options)
}

fn query(question: &Question) -> Query {
    let mut query = Query::plain(&question.query);
    query.filter.folder = question.scope.as_ref().map(|scope| scope.trim_matches('/').to_owned());
    query
}

fn ranking(answer: Answer, question: &Question) -> Vec<Ranked> {
    answer
        .hits
        .into_iter()
        .filter(|hit| !question.exclude.contains(&hit.note.path))
        .map(|hit| Ranked { path: hit.note.path, score: hit.score })
        .collect()
}

fn count_path(answer: &Answer, question: &Question, paths: &mut Paths) {
    let found = |place: Option<Place>| place.is_some_and(|place| place.rank <= FOUND);
    let relevant = |hit: &&Hit| question.relevant.contains(&hit.note.path);
    match answer.hits.iter().take(10).find(relevant) {
        None => paths.missed += 1,
        Some(hit) => match (found(hit.keyword), found(hit.vector)) {
            (true, false) => paths.keyword += 1,
            (false, true) => paths.vector += 1,
            _ => paths.both += 1,
        },
    }
}

fn compare(
    questions: &[Question],
    before: &std::collections::HashMap<String, Vec<String>>,
    after: &[Measures],
) -> [Paired; 7] {
    let before: Vec<Measures> = questions
        .iter()
        .map(|question| {
            let ranking = before.get(&question.id).map(Vec::as_slice).unwrap_or_default();
            let paths: Vec<&str> = ranking.iter().map(String::as_str).collect();
            eval::measure(&paths, &question.relevant)
        })
        .collect();
    std::array::from_fn(|m| {
        let of = |run: &[Measures]| run.iter().map(|one| one.values()[m]).collect::<Vec<_>>();
        eval::compare(&of(&before), &of(after))
    })
}

/// The gate: nDCG@10 may not fall by more than was allowed.
fn passes(args: &Args, report: &Report) -> bool {
    match (args.max_drop, &report.compared) {
        (Some(max_drop), Some(compared)) => compared[3].difference.mean >= -max_drop,
        _ => true,
    }
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Hybrid => "hybrid",
        Mode::Keyword => "bm25",
        Mode::Vector => "vector",
    }
}
