//! `postil links`: what a note links to and what links to it; the notes that
//! nothing links to; the links that lead nowhere.

use std::ffi::OsString;
use std::path::PathBuf;

use postil_cli::is_called;
use postil_core::config::{Config, Overrides};
use postil_core::ingest::key::shown;
use postil_core::ingest::resolve::is_file;
use postil_core::store::{NoteRow, Opened, Reader};
use serde_json::{Value, json};

#[derive(Default)]
struct Args {
    overrides: Overrides,
    note: Option<String>,
    is_orphans: bool,
    is_missing: bool,
    is_json: bool,
    is_help: bool,
}

/// Returns what to print and whether there was anything to list.
pub(crate) fn run(args: Vec<OsString>) -> Result<(String, bool), String> {
    let args = parse(args).map_err(|error| format!("{error}; try `postil links --help`"))?;
    if args.is_help {
        return Ok((postil_cli::help_of("links"), true));
    }
    let config = Config::load(&args.overrides).map_err(|error| error.to_string())?;
    let db = &config.paths.index;
    let reader = match Reader::open(db).map_err(|error| error.to_string())? {
        Opened::Ready(reader) => reader,
        Opened::Absent | Opened::Foreign => {
            return Err(format!("no index at {}; run `postil index`", db.display()));
        }
    };
    let answer = match &args.note {
        _ if args.is_orphans => orphans(&reader),
        _ if args.is_missing => missing(&reader),
        Some(path) => note(&reader, path),
        None => return Err("name a note, or --orphans, or --missing".to_owned()),
    };
    let answer = answer?;
    let text = text(&answer);
    let is_any = !text.is_empty();
    Ok((if args.is_json { format!("{answer}\n") } else { text }, is_any))
}

fn parse(args: Vec<OsString>) -> Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short, Value, ValueExt as _};
    let mut parsed = Args::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("orphans") => parsed.is_orphans = true,
            Long("missing") => parsed.is_missing = true,
            Long("json") => parsed.is_json = true,
            Long("vault") => parsed.overrides.vault = Some(PathBuf::from(parser.value()?)),
            Long("db") => parsed.overrides.db = Some(PathBuf::from(parser.value()?)),
            Long("config") => parsed.overrides.config = Some(PathBuf::from(parser.value()?)),
            Short('h') | Long("help") => parsed.is_help = true,
            Value(path) if parsed.note.is_none() => parsed.note = Some(path.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(parsed)
}

fn orphans(reader: &Reader) -> Result<Value, String> {
    reader.orphans().map(Value::from).map_err(|error| error.to_string())
}

fn missing(reader: &Reader) -> Result<Value, String> {
    let links = reader.unresolved().map_err(|error| error.to_string())?;
    let missing = links.into_iter().filter(|(_, _, target)| !is_file(target));
    Ok(missing
        .map(|(path, line, target)| json!({"path": path, "line": line, "target": target}))
        .collect())
}

fn note(reader: &Reader, path: &str) -> Result<Value, String> {
    let fail = |error: postil_core::error::Error| error.to_string();
    let note = find(reader, path)?;
    let of = |id: i64| reader.note(id).map_err(fail);
    let mut to = Vec::new();
    for link in reader.links_from(note.id).map_err(fail)? {
        let target = match link.to_note {
            Some(id) => of(id)?.map(|note: NoteRow| note.path),
            None => None,
        };
        let wanted = &link.link.target;
        to.push(json!({"line": link.link.line, "target": wanted, "path": target}));
    }
    let mut from = Vec::new();
    for link in reader.links_to(note.id).map_err(fail)? {
        let source = of(link.note_id)?.map(|note| note.path);
        from.push(json!({"path": source, "line": link.link.line}));
    }
    Ok(json!({"path": note.path, "to": to, "from": from}))
}

/// Finds the note that is called `name`; the error says which ones might be meant.
fn find(reader: &Reader, name: &str) -> Result<NoteRow, String> {
    let fail = |error: postil_core::error::Error| error.to_string();
    if let Some(note) = reader.note_at(name).map_err(fail)? {
        return Ok(note);
    }
    let mut called: Vec<NoteRow> = Vec::new();
    reader
        .each_note(|note| {
            if is_called(&note.path, &note.meta.title, name) {
                called.push(note);
            }
        })
        .map_err(fail)?;
    match called.len() {
        0 => Err(format!("no note {name:?} in the index; `postil search list docs` names them")),
        1 => Ok(called.remove(0)),
        _ => {
            let paths: Vec<String> = called.iter().map(|note| shown(&note.path)).collect();
            Err(format!("{name:?} may be {}", paths.join(" or ")))
        }
    }
}

fn text(answer: &Value) -> String {
    let word = |value: &Value| shown(value.as_str().unwrap_or_default());
    let mut out = String::new();
    match answer {
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::Object(link) => out.push_str(&format!(
                        "{}:{} [[{}]]\n",
                        word(&link["path"]),
                        link["line"],
                        word(&link["target"])
                    )),
                    path => out.push_str(&format!("{}\n", word(path))),
                }
            }
        }
        note => {
            for link in note["to"].as_array().into_iter().flatten() {
                let (target, path) = (word(&link["target"]), word(&link["path"]));
                let path = if path.is_empty() { "nowhere".to_owned() } else { path };
                out.push_str(&format!("-> {path}  (line {}, [[{target}]])\n", link["line"]));
            }
            for link in note["from"].as_array().into_iter().flatten() {
                out.push_str(&format!("<- {}:{}\n", word(&link["path"]), link["line"]));
            }
        }
    }
    out
}
