//! `read_note` and the resources: a note as its file stands now.

use std::path::{Component, Path};

use postil_core::error::ErrorKind;
use postil_core::ingest::source::{Scope, SourceFile, find};
use postil_core::ingest::{decode, document, key};
use postil_core::store::{NoteFilter, NoteRow, Reader};
use postil_core::text::{fold, n_tokens};

use crate::notes::{Failure, Notes};
use crate::shape::{Note, ReadNote};

/// How many notes a suggestion names.
const N_SUGGESTED: usize = 5;

impl Notes {
    pub(crate) fn read(&self, args: &ReadNote) -> Result<Note, Failure> {
        let reader = self.reader()?;
        let root = self.root(&reader)?;
        let file = self.locate(&reader, &root, &args.path)?;
        let text = self.text(&root, &file)?;
        let row = reader.note_at(&file.path)?;
        let (links, backlinks) = match &row {
            Some(row) => self.neighbours(&reader, row)?,
            None => (Vec::new(), Vec::new()),
        };
        let note = document::read(&text, &file.path, document::stem(&file.path));
        let lines: Vec<&str> = text.lines().collect();
        let from = args.from_line.unwrap_or(1).max(1);
        if from > lines.len().max(1) {
            return Err(Failure::new(
                "input",
                format!("line {from} is past the end: {} has {} lines", file.path, lines.len()),
                "leave out from_line",
            ));
        }
        let budget = args.max_tokens.unwrap_or(self.max_tokens).clamp(50, self.max_tokens);
        let (text, n_taken) = take(lines.get(from - 1..).unwrap_or_default(), budget);
        let next = from + n_taken;
        Ok(Note {
            title: note.meta.title.clone(),
            date: row
                .map(|row| row.day())
                .or(note.meta.updated)
                .or(note.meta.created)
                .unwrap_or_default(),
            tags: note.meta.tags,
            links,
            backlinks,
            from_line: from,
            n_lines: lines.len(),
            next_line: (next <= lines.len()).then_some(next),
            text,
            path: file.path,
        })
    }

    /// Reads a file that [`Notes::locate`] found, filtered; refuses a note that
    /// says `agent: false` now, whatever the index knows.
    pub(crate) fn text(&self, root: &Path, file: &SourceFile) -> Result<String, Failure> {
        let source = decode::read(root, file).map_err(|reason| {
            Failure::new("unreadable", format!("{}: {reason}", file.path), "try another note")
        })?;
        let text = self.scrub(&document::text_of(&file.path, source.text));
        let note = document::read(&text, &file.path, document::stem(&file.path));
        if !note.meta.for_agents {
            return Err(hidden(&file.path));
        }
        Ok(text)
    }

    /// Finds the file of a note by its path, or by a name only one note has.
    pub(crate) fn locate(
        &self,
        reader: &Reader,
        root: &Path,
        name: &str,
    ) -> Result<SourceFile, Failure> {
        let relative = relative(root, name)?;
        let scope =
            Scope { allowed: self.config.allowed.clone(), excluded: self.config.excluded.clone() };
        let with_ending = format!("{relative}.md");
        for path in [relative.as_str(), with_ending.as_str()] {
            match find(root, &scope, &key::to_path(path)) {
                Ok(Some(file)) if !self.is_excluded(&file.path) => return Ok(file),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Input => return Err(outside(name)),
                Err(error) => return Err(error.into()),
            }
        }
        let notes = self.visible(reader, &NoteFilter::default())?;
        let called: Vec<&NoteRow> =
            notes.iter().filter(|note| is_called(note, &relative)).collect();
        match called.as_slice() {
            [note] => match find(root, &scope, &key::to_path(&note.path)) {
                Ok(Some(file)) => Ok(file),
                _ => Err(missing(name, &[])),
            },
            [] => Err(missing(name, &similar(&notes, &relative))),
            several => {
                let paths: Vec<&str> =
                    several.iter().take(20).map(|note| note.path.as_str()).collect();
                let message = format!("{} notes are called {name:?}", several.len());
                Err(Failure::new(
                    "ambiguous",
                    message,
                    format!("give one path: {}", paths.join(", ")),
                ))
            }
        }
    }

    fn neighbours(
        &self,
        reader: &Reader,
        note: &NoteRow,
    ) -> Result<(Vec<String>, Vec<String>), Failure> {
        let mut links = Vec::new();
        for link in reader.links_from(note.id)? {
            if let Some(to) = link.to_note {
                self.add_path(reader, to, &mut links)?;
            }
        }
        let mut backlinks = Vec::new();
        for link in reader.links_to(note.id)? {
            self.add_path(reader, link.note_id, &mut backlinks)?;
        }
        Ok((links, backlinks))
    }

    fn add_path(&self, reader: &Reader, id: i64, paths: &mut Vec<String>) -> Result<(), Failure> {
        if let Some(note) = reader.note(id)?
            && self.allows(&note)
            && !paths.contains(&note.path)
        {
            paths.push(note.path);
        }
        Ok(())
    }
}

/// Makes what was given relative to the vault; refuses what leaves it.
fn relative(root: &Path, name: &str) -> Result<String, Failure> {
    let name = name.trim();
    if name.is_empty() {
        return Err(Failure::new("input", "the path is empty", "list_notes gives paths"));
    }
    let path = Path::new(name);
    let path = match path.strip_prefix(root) {
        Ok(inside) => inside,
        Err(_) if path.is_absolute() => return Err(outside(name)),
        Err(_) => path,
    };
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(|part| is_plain(&part)) || name.contains('\0') {
        return Err(outside(name));
    }
    Ok(path.to_string_lossy().trim_start_matches("./").to_owned())
}

fn outside(name: &str) -> Failure {
    Failure::new(
        "outside",
        format!("{name:?} is outside the vault"),
        "give the path of a note relative to the vault, as search and list_notes do",
    )
}

fn hidden(path: &str) -> Failure {
    missing(path, &[])
}

fn missing(name: &str, similar: &[&str]) -> Failure {
    let suggestion = match similar {
        [] => "use search or list_notes to find it".to_owned(),
        paths => format!("did you mean {}?", paths.join(", ")),
    };
    Failure::new("missing", format!("there is no note {name:?}"), suggestion)
}

fn is_called(note: &NoteRow, name: &str) -> bool {
    let (path, name) = (fold(&note.path), fold(name));
    let name = name.strip_suffix(".md").unwrap_or(&name);
    let path = path.strip_suffix(".md").unwrap_or(&path);
    path == name || path.ends_with(&format!("/{name}")) || fold(&note.meta.title) == name
}

/// Notes whose path shares most words with what was asked for.
fn similar<'a>(notes: &'a [NoteRow], name: &str) -> Vec<&'a str> {
    let words = |text: &str| -> Vec<String> {
        let text = fold(text.strip_suffix(".md").unwrap_or(text));
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .map(str::to_owned)
            .collect()
    };
    let wanted = words(name);
    let shared = |note: &NoteRow| {
        let own = words(&format!("{} {}", note.path, note.meta.title));
        wanted.iter().filter(|word| own.contains(word)).count()
    };
    let mut scored: Vec<(usize, &str)> =
        notes.iter().map(|note| (shared(note), note.path.as_str())).collect();
    scored.retain(|(n, _)| *n > 0);
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.into_iter().take(N_SUGGESTED).map(|(_, path)| path).collect()
}

/// Takes lines up to a budget of tokens, at least one; returns how many. A
/// single line that is longer is cut.
fn take(lines: &[&str], budget: usize) -> (String, usize) {
    let mut text = String::new();
    let mut n_taken = 0;
    for line in lines {
        if n_taken > 0 && n_tokens(&text) + n_tokens(line) + 1 > budget {
            break;
        }
        text.push_str(line);
        text.push('\n');
        n_taken += 1;
    }
    if n_tokens(&text) > budget {
        text = postil_core::recall::budget::cut(&text, budget * 3);
    }
    (text, n_taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_the_vault() {
        let root = Path::new("/v/notes");
        for bad in ["../x.md", "a/../../x", "/etc/passwd", "/v/notes-2/x", "", "a\0b"] {
            assert!(relative(root, bad).is_err(), "{bad:?}");
        }
        for (good, expected) in [("a/b.md", "a/b.md"), ("./a", "a"), ("/v/notes/a b.md", "a b.md")]
        {
            assert_eq!(relative(root, good).unwrap(), expected);
        }
    }

    #[test]
    fn a_long_note_is_read_in_pieces() {
        let lines = ["one", "two", "three"];
        assert_eq!(take(&lines, 5), ("one\ntwo\n".to_owned(), 2));
        assert_eq!(take(&lines, 100).1, 3);
        let long = "word ".repeat(100);
        let (text, n) = take(&[&long, "next"], 50);
        assert!(n == 1 && text.len() <= 150, "{text}");
    }
}
