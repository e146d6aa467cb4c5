//! `postil links`: what a note links to and what links to it; the notes that
//! nothing links to; the links that lead nowhere.

use std::ffi::OsString;
use std::path::PathBuf;

use postil_core::config::{Config, Overrides};
use postil_core::ingest::key::shown;
use postil_core::ingest::resolve::is_file;
use postil_core::store::{NoteRow, Opened, Reader};
use serde_json::{Value, json};

const HELP: &str = "\
postil links - the links between notes, as Obsidian resolves them

Usage:
  postil links NOTE         what the note links to, and what links to it
  postil links --orphans    the notes that no other note links to
  postil links --missing    the links that lead to no note and no file

NOTE is its path in the vault.

Options:
      --json         print JSON
      --vault DIR    the vault (default: the configured one)
      --db FILE      the index (default: the configured one)
      --config FILE  another configuration file
";

#[derive(Default)]
struct Args {
    overrides: Overrides,
    note: Option<String>,
    is_orphans: bool,
    is_missing: bool,
    is_json: bool,
    is_help: bool,
}

/// Returns what to print.
pub(crate) fn run(args: Vec<OsString>) -> Result<String, String> {
    let args = parse(args).map_err(|error| format!("{error}; try `postil links --help`"))?;
    if args.is_help {
        return Ok(HELP.to_owned());
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
    Ok(if args.is_json { format!("{answer}\n") } else { text(&answer) })
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
    let note = reader.note_at(path).map_err(fail)?;
    let Some(note) = note else { return Err(format!("no note {path:?} in the index")) };
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
                out.push_str(&format!("{} [[{target}]] -> {path}\n", link["line"]));
            }
            for link in note["from"].as_array().into_iter().flatten() {
                out.push_str(&format!("<- {}:{}\n", word(&link["path"]), link["line"]));
            }
        }
    }
    out
}
