//! Moves notes, keeps every link that leads to or from them leading there, and
//! takes it all back.
//!
//! A note appears under its new name before it goes from the old one, and each
//! step is in the journal before the next, so that a run killed anywhere loses
//! nothing and is finished by the next one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::journal::{Journal, Run, Step};
use crate::capture::edit::{self, Edit};
use crate::capture::links::{self, Target};
use crate::capture::{inside, relative, write};
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::resolve::{Resolution, Resolver, link_name};
use crate::model::Link;

/// A note to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where it is, relative to the vault.
    pub from: String,
    /// The folder it goes to, relative to the vault.
    pub folder: String,
    /// Properties it gets, written as YAML.
    pub properties: Vec<(&'static str, String)>,
}

/// What a run did or took back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Notes moved, as (from, to).
    pub moved: Vec<(String, String)>,
    /// Notes made by a run that were removed again.
    pub removed: Vec<String>,
    /// Notes whose links were changed.
    pub rewritten: Vec<String>,
    /// What could not be done, one line each.
    pub failures: Vec<String>,
}

/// Moves the notes of `moves`, one after the other, and mends the links.
///
/// # Errors
/// When the journal cannot be written; a note that cannot be moved is a line in
/// [`Done::failures`] instead.
pub fn run(vault: &Path, journal: &Journal, name: &str, moves: &[Move]) -> Result<Done> {
    let mut done = Done::default();
    for step in moves {
        match move_note(vault, journal, name, step) {
            Ok(to) => done.moved.push((step.from.clone(), to)),
            Err(error) => done.failures.push(format!("{}: {error}", step.from)),
        }
    }
    mend_links(vault, Some((journal, name)), &mut done)?;
    Ok(done)
}

/// Mends the links of a run that was stopped after its moves.
///
/// # Errors
/// As [`run`].
pub fn finish(vault: &Path, journal: &Journal, run: &Run) -> Result<Done> {
    let mut done = Done::default();
    for step in &run.steps {
        if let Step::Move { from, to, .. } = step {
            // The journal has the move before the old name goes.
            let (old, new) = (vault.join(from), vault.join(to));
            if old.is_file() && new.is_file() {
                fs::remove_file(&old).map_err(|error| Error::io("remove", &old, error))?;
            }
            if new.is_file() {
                done.moved.push((from.clone(), to.clone()));
            }
        }
    }
    mend_links(vault, Some((journal, &run.name)), &mut done)?;
    Ok(done)
}

fn move_note(vault: &Path, journal: &Journal, name: &str, step: &Move) -> Result<String> {
    let from = vault.join(&step.from);
    let folder = inside(vault, &step.folder)?;
    let bytes = fs::read(&from).map_err(|error| Error::io("read", &from, error))?;
    let (edits, contents) = match String::from_utf8(bytes) {
        Ok(text) => {
            let edits = edit::set_properties(&text, &step.properties);
            let edited = edit::apply(&text, &edits);
            let edits = if edited.is_some() { edits } else { Vec::new() };
            (edits, edited.unwrap_or(text).into_bytes())
        }
        // Another encoding: moved as it is.
        Err(error) => (Vec::new(), error.into_bytes()),
    };
    let meta = fs::metadata(&from).map_err(|error| Error::io("read", &from, error))?;
    let stem = from.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ext = from.extension().unwrap_or_default().to_string_lossy().into_owned();
    let to = write::create_new(&folder, &stem, &ext, &contents)?;
    // Time and mode are the note's own; a file system without them is no reason
    // to stop.
    if let Ok(file) = fs::File::options().write(true).open(&to) {
        let _ = file.set_permissions(meta.permissions());
        let _ = meta.modified().and_then(|at| file.set_modified(at));
    }
    let relative = relative(vault, &to);
    let entry = Step::Move { from: step.from.clone(), to: relative.clone(), edits };
    if let Err(error) = journal.write(name, &entry) {
        let _ = fs::remove_file(&to);
        return Err(error);
    }
    fs::remove_file(&from).map_err(|error| Error::io("remove", &from, error))?;
    Ok(relative)
}

/// Rewrites the links that would lead elsewhere now.
fn mend_links(vault: &Path, journal: Option<(&Journal, &str)>, done: &mut Done) -> Result<()> {
    if done.moved.is_empty() {
        return Ok(());
    }
    let now = notes(vault);
    let before = names_before(&now, &done.moved);
    let plan = Plan::new(&now, &before, &done.moved);
    for path in &now {
        let file = vault.join(path);
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let edits = if path.ends_with(".canvas") {
            plan.canvas_edits(&text)
        } else {
            plan.edits(vault, path, &text)
        };
        let Some(edited) = (!edits.is_empty()).then(|| edit::apply(&text, &edits)).flatten() else {
            continue;
        };
        if let Some((journal, name)) = journal {
            journal.write(name, &Step::Rewrite { path: path.clone(), edits })?;
        }
        match write::replace(&file, edited.as_bytes()) {
            Ok(()) => done.rewritten.push(path.clone()),
            Err(error) => done.failures.push(format!("links in {path}: {error}")),
        }
    }
    Ok(())
}

/// The vault before and after the moves.
struct Plan<'a> {
    now: &'a [String],
    /// The same notes under the names they had before.
    before: &'a [String],
    old_by_new: HashMap<&'a str, &'a str>,
    moves: &'a [(String, String)],
    resolver_now: Resolver<'a>,
    resolver_before: Resolver<'a>,
    /// Names of links that may lead elsewhere now.
    names: HashSet<String>,
}

fn names_before(now: &[String], moves: &[(String, String)]) -> Vec<String> {
    let old: HashMap<&str, &str> =
        moves.iter().map(|(from, to)| (to.as_str(), from.as_str())).collect();
    now.iter()
        .map(|path| old.get(path.as_str()).map_or(path.clone(), |old| (*old).to_owned()))
        .collect()
}

impl<'a> Plan<'a> {
    fn new(now: &'a [String], before: &'a [String], moves: &'a [(String, String)]) -> Self {
        Self {
            now,
            before,
            old_by_new: moves.iter().map(|(from, to)| (to.as_str(), from.as_str())).collect(),
            moves,
            resolver_now: Resolver::new(now.iter().map(String::as_str)),
            resolver_before: Resolver::new(before.iter().map(String::as_str)),
            names: moves.iter().flat_map(|(from, to)| [link_name(from), link_name(to)]).collect(),
        }
    }

    /// The edits that make the links of the note at `path` lead where they led
    /// before.
    fn edits(&self, vault: &Path, path: &str, text: &str) -> Vec<Edit> {
        let old_path = self.old_by_new.get(path).copied();
        let source_before = old_path.unwrap_or(path);
        let mut edits = Vec::new();
        for target in links::targets(text) {
            let is_suspect = old_path.is_some() || self.names.contains(&link_name(&target.text));
            if !is_suspect {
                continue;
            }
            let link = as_link(&target.text, target.is_wiki);
            let new = match self.resolver_before.resolve(source_before, &link) {
                Resolution::Note(note) => self.new_target(note, source_before, path, &target),
                Resolution::File => old_path.and_then(|old| moved_file(vault, old, path, &target)),
                Resolution::Nowhere => None,
            };
            if let Some(new) = new {
                edits.push(Edit::new(text, target.range.clone(), new));
            }
        }
        edits
    }

    /// How a link in `path` to the note at position `note` has to read; `None`
    /// when it is right as it is.
    fn new_target(&self, note: usize, before: &str, path: &str, target: &Target) -> Option<String> {
        let (was, is) = (self.before.get(note)?, self.now.get(note)?);
        let leads_there = |text: &str| {
            let link = as_link(text, target.is_wiki);
            self.resolver_now.resolve(path, &link) == Resolution::Note(note)
        };
        let bare = is.strip_suffix(".md").unwrap_or(is);
        if target.is_wiki {
            let name = bare.rsplit('/').next().unwrap_or(bare);
            let new = if leads_there(name) { name } else { bare };
            return (!leads_there(&target.text)).then(|| new.to_owned());
        }
        // A markdown link that leads there by its place, as every other reader
        // takes it, has to go on doing so.
        let has_ending = target.text.ends_with(".md");
        let by_place = |source: &str, note: &str| {
            let place = links::normal(&Path::new(folder_of(source)).join(&target.text));
            let note = if has_ending { note } else { note.strip_suffix(".md").unwrap_or(note) };
            place.is_some_and(|place| place == Path::new(note))
        };
        let is_right = leads_there(&target.text) && (!by_place(before, was) || by_place(path, is));
        if is_right {
            return None;
        }
        let new = links::relative_path(folder_of(path), if has_ending { is } else { bare });
        let new = if target.is_angled { new } else { links::encoded(&new) };
        Some(new)
    }

    /// A canvas names its notes by their path in the vault.
    fn canvas_edits(&self, text: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (from, to) in self.moves {
            let quoted = |path: &str| serde_json::Value::from(path).to_string();
            let (old, new) = (quoted(from), quoted(to));
            for (at, _) in text.match_indices(&old) {
                let key = text.get(..at).unwrap_or("").trim_end();
                if key.trim_end_matches(':').trim_end().ends_with("\"file\"") {
                    edits.push(Edit::new(text, at..at + old.len(), new.clone()));
                }
            }
        }
        edits.sort_by_key(|edit| edit.at);
        edits
    }
}

/// How a moved note has to name a file that stood where the link said, seen
/// from its old folder.
fn moved_file(vault: &Path, old: &str, new: &str, target: &Target) -> Option<String> {
    let at = |source: &str| links::normal(&Path::new(folder_of(source)).join(&target.text));
    let file = at(old)?;
    let is_by_place = vault.join(&file).is_file();
    let is_still_there = at(new).is_some_and(|file| vault.join(file).is_file());
    if target.text.starts_with('/') || !is_by_place || is_still_there {
        return None;
    }
    // A wiki-link by name alone finds the file anywhere.
    if target.is_wiki {
        return target.text.contains('/').then(|| file.to_string_lossy().into_owned());
    }
    let path = links::relative_path(folder_of(new), &file.to_string_lossy());
    Some(if target.is_angled { path } else { links::encoded(&path) })
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn as_link(target: &str, is_wiki: bool) -> Link {
    Link { target: target.to_owned(), anchor: None, is_embed: false, is_wiki, line: 0 }
}

/// Every note and canvas of the vault, sorted, hidden folders left out. Notes
/// that are not indexed hold links too.
pub fn notes(vault: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let mut folders = vec![vault.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let ext = name.rsplit_once('.').map(|(_, ext)| ext.to_ascii_lowercase());
            if kind.is_dir() {
                folders.push(entry.path());
            } else if matches!(ext.as_deref(), Some("md" | "markdown" | "mdx" | "canvas")) {
                out.push(relative(vault, &entry.path()));
            }
        }
    }
    out.sort();
    out
}

/// Takes back what `run` did, last step first, and writes so in the journal.
///
/// # Errors
/// When the run was taken back before, or the journal cannot be written.
pub fn undo(vault: &Path, journal: &Journal, run: &Run) -> Result<Done> {
    if run.is_undone() {
        let message = format!("run {} is undone already", run.name);
        return Err(Error::new(ErrorKind::Input, message));
    }
    let mut done = Done::default();
    for step in run.steps.iter().rev() {
        let result = match step {
            Step::Move { from, to, edits } => undo_move(vault, from, to, edits, &mut done),
            Step::Rewrite { path, edits } => undo_rewrite(vault, path, edits, &mut done),
            Step::Create { path, hash } => undo_create(vault, path, *hash, &mut done),
            Step::Begin | Step::End | Step::Undone => Ok(()),
        };
        if let Err(error) = result {
            done.failures.push(error.to_string());
        }
    }
    journal.write(&run.name, &Step::Undone)?;
    // Links that were written to the new places since.
    mend_links(vault, None, &mut done)?;
    Ok(done)
}

fn undo_move(vault: &Path, from: &str, to: &str, edits: &[Edit], done: &mut Done) -> Result<()> {
    let (old, new) = (vault.join(from), vault.join(to));
    if old.is_file() && !new.is_file() {
        return Ok(());
    }
    let bytes = fs::read(&new).map_err(|error| Error::io("read", &new, error))?;
    let meta = fs::metadata(&new).map_err(|error| Error::io("read", &new, error))?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => {
            let (text, n_lost) = edit::take_back(&text, edits);
            if n_lost > 0 {
                done.failures.push(format!("{to}: {n_lost} properties were changed since, left"));
            }
            text.into_bytes()
        }
        Err(error) => error.into_bytes(),
    };
    let (folder, name) = from.rsplit_once('/').unwrap_or(("", from));
    let (stem, ext) = name.rsplit_once('.').unwrap_or((name, ""));
    let folder = if folder.is_empty() { vault.to_owned() } else { inside(vault, folder)? };
    let back = write::create_new(&folder, stem, ext, &contents)?;
    if let Ok(file) = fs::File::options().write(true).open(&back) {
        let _ = file.set_permissions(meta.permissions());
        let _ = meta.modified().and_then(|at| file.set_modified(at));
    }
    fs::remove_file(&new).map_err(|error| Error::io("remove", &new, error))?;
    done.moved.push((to.to_owned(), relative(vault, &back)));
    Ok(())
}

fn undo_rewrite(vault: &Path, path: &str, edits: &[Edit], done: &mut Done) -> Result<()> {
    let file = vault.join(path);
    let text = fs::read_to_string(&file).map_err(|error| Error::io("read", &file, error))?;
    let (restored, n_lost) = edit::take_back(&text, edits);
    if n_lost > 0 {
        done.failures.push(format!("{path}: {n_lost} links were changed since, left"));
    }
    if restored != text {
        write::replace(&file, restored.as_bytes())?;
        done.rewritten.push(path.to_owned());
    }
    Ok(())
}

/// Removes a note that triage made, unless it was changed since.
fn undo_create(vault: &Path, path: &str, hash: u64, done: &mut Done) -> Result<()> {
    let file = vault.join(path);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", &file, error)),
    };
    if crate::text::fnv1a(&bytes) != hash {
        done.failures.push(format!("{path}: changed since it was made, left"));
        return Ok(());
    }
    fs::remove_file(&file).map_err(|error| Error::io("remove", &file, error))?;
    done.removed.push(path.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests;
