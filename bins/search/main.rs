//! Finds passages of the vault.

mod args;

use std::io::Write;
use std::process::ExitCode;

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::recall::budget::Limits;
use postil_core::recall::render::{Passage, render};
use postil_core::recall::{Answer, Hit, Options, Place, parse, recall};
use postil_core::store::{Opened, Reader};

use crate::args::{Args, HELP};

fn main() -> ExitCode {
    let args = match args::parse() {
        Ok(args) => args,
        Err(error) => return fail(&format!("{error}; try `search --help`")),
    };
    if args.help {
        return say(HELP, 0);
    }
    if args.version {
        return say(concat!("search ", env!("CARGO_PKG_VERSION"), "\n"), 0);
    }
    match run(&args) {
        Ok(answer) => {
            let text = match (args.json, args.context) {
                (true, _) => json(&answer),
                (_, true) => context(&answer),
                _ => listing(&answer, args.explain),
            };
            say(&text, u8::from(answer.hits.is_empty()))
        }
        Err(error) => fail(&error.to_string()),
    }
}

fn run(args: &Args) -> Result<Answer> {
    let config = Config::load(&args.overrides)?;
    let db = &config.paths.index;
    let reader = match Reader::open(db)? {
        Opened::Ready(reader) => reader,
        Opened::Absent | Opened::Foreign => {
            let doing = format!("no index at {}; run `postil index`", db.display());
            return Err(Error::new(ErrorKind::Store, doing));
        }
    };
    let embedder = Embedder::open(&config.paths.model, &config.tables())?;
    let options =
        Options { limit: args.limit.unwrap_or(10), for_agents: args.context, ..Options::default() };
    recall(&reader, embedder.as_ref(), &parse(&args.query), &options)
}

fn passage(hit: &Hit) -> Passage {
    Passage {
        path: hit.note.path.clone(),
        title: hit.note.meta.title.clone(),
        heading: hit.chunk.heading.clone(),
        date: Some(hit.note.day()),
        source: hit.note.meta.source.clone(),
        is_stale: false,
        text: hit.chunk.text.clone(),
    }
}

fn context(answer: &Answer) -> String {
    let passages: Vec<Passage> = answer.hits.iter().map(passage).collect();
    render(None, &passages, Limits::tokens(1_500)).text
}

fn listing(answer: &Answer, explain: bool) -> String {
    let mut text = String::new();
    for hit in &answer.hits {
        let place = |place: Option<Place>| {
            place.map_or("-".into(), |place| format!("{} ({:.3})", place.rank, place.score))
        };
        text.push_str(&format!("{}:{}", hit.note.path, hit.chunk.line));
        if !hit.chunk.heading.is_empty() {
            text.push_str(&format!("  {}", hit.chunk.heading));
        }
        text.push('\n');
        if explain {
            text.push_str(&format!(
                "  score {:.5}, keyword {}, vector {}\n",
                hit.score,
                place(hit.keyword),
                place(hit.vector)
            ));
        }
        for line in hit.chunk.text.lines().filter(|line| !line.trim().is_empty()).take(4) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

fn json(answer: &Answer) -> String {
    let rank = |place: Option<Place>| place.map(|place| place.rank);
    let hits: Vec<_> = answer
        .hits
        .iter()
        .map(|hit| {
            serde_json::json!({
                "path": hit.note.path,
                "heading": hit.chunk.heading,
                "text": hit.chunk.text,
                "score": hit.score,
                "bm25_rank": rank(hit.keyword),
                "vec_rank": rank(hit.vector),
                "line": hit.chunk.line,
                "title": hit.note.meta.title,
                "tags": hit.note.meta.tags,
                "date": hit.note.day(),
            })
        })
        .collect();
    format!("{}\n", serde_json::Value::from(hits))
}

fn say(text: &str, code: u8) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            fail(&format!("write the answer: {error}"))
        }
        _ => ExitCode::from(code),
    }
}

fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "search: {message}");
    ExitCode::from(2)
}
