//! Question files, one JSON object a line, and the user's own set of them.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use postil_core::config::Config;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::eval::Question;
use serde_json::{Value, json};

/// Where the user's own questions are kept: beside the configuration, which is
/// what people back up.
pub(super) fn own_path(config: &Config) -> PathBuf {
    config.paths.config.with_file_name("questions.jsonl")
}

/// Reads a question file. A line that is no question is an error that names it.
pub(super) fn read(path: &Path) -> Result<Vec<Question>> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::with(ErrorKind::Io, format!("read questions {}", path.display()), error)
    })?;
    let mut questions = Vec::new();
    let mut seen = HashSet::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{}:{}", path.display(), n + 1);
        let question = question(line)
            .map_err(|what| Error::new(ErrorKind::Input, format!("{}: {what}", at())))?;
        if !seen.insert(question.id.clone()) {
            let what = format!("{}: id {:?} occurs twice", at(), question.id);
            return Err(Error::new(ErrorKind::Input, what));
        }
        questions.push(question);
    }
    if questions.is_empty() {
        let what = format!("{} holds no questions", path.display());
        return Err(Error::new(ErrorKind::Input, what));
    }
    Ok(questions)
}

fn question(line: &str) -> std::result::Result<Question, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let list = |key: &str| -> Vec<String> {
        let items = value[key].as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let id = match &value["id"] {
        Value::Number(number) => Some(number.to_string()),
        other => other.as_str().map(str::to_owned),
    };
    let question = Question {
        id: id.ok_or("no \"id\"")?,
        query: text("query").ok_or("no \"query\"")?,
        relevant: list("relevant"),
        scope: text("scope").filter(|scope| !scope.is_empty()),
        exclude: list("exclude"),
        group: text("group"),
    };
    match question.relevant.is_empty() {
        true => Err("no \"relevant\" notes".into()),
        false => Ok(question),
    }
}

/// Adds a question to the user's own set and returns its id.
pub(super) fn add(config: &Config, query: &str, notes: &[String]) -> Result<String> {
    let vault = config.vault()?;
    let mut relevant = Vec::new();
    for note in notes {
        relevant.push(in_vault(vault, note)?);
    }
    let path = own_path(config);
    let old = if path.exists() { read(&path)? } else { Vec::new() };
    if let Some(same) = old.iter().find(|question| question.query == query) {
        let what = format!("{} has this question already, as {}", path.display(), same.id);
        return Err(Error::new(ErrorKind::Input, what));
    }
    let last = old.iter().filter_map(|q| q.id.strip_prefix('q')?.parse::<u32>().ok()).max();
    let id = format!("q{:03}", last.unwrap_or(0) + 1);
    append(&path, &json!({"id": id, "query": query, "relevant": relevant}).to_string())?;
    Ok(id)
}

/// Appends a line with one write, so that nothing is half there.
fn append(path: &Path, line: &str) -> Result<()> {
    let failed = |error| Error::with(ErrorKind::Io, format!("write {}", path.display()), error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let text = fs::read(path).unwrap_or_default();
    let lead = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    file.write_all(format!("{lead}{line}\n").as_bytes()).map_err(failed)
}

/// Returns a note's path in the vault, for a path in it or an absolute one.
fn in_vault(vault: &Path, note: &str) -> Result<String> {
    let given = Path::new(note);
    let inside = given.strip_prefix(vault).unwrap_or(given);
    let name = inside.to_string_lossy().replace('\\', "/");
    if inside.is_absolute() || name.split('/').any(|part| part == "..") {
        return Err(Error::new(ErrorKind::Input, format!("{note} is not in {}", vault.display())));
    }
    if !vault.join(inside).is_file() {
        return Err(Error::new(ErrorKind::Input, format!("no note {name} in {}", vault.display())));
    }
    Ok(name.trim_start_matches("./").to_owned())
}
