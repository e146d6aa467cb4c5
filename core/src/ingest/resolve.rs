//! Which note a link leads to, as Obsidian decides it (observed on 1.13.7):
//! an exact path in the vault, else the note in the source's own folder, else
//! the one with the shortest path. Case does not matter, names are compared in
//! NFC, aliases never resolve. Pure: knows the notes' names only.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::model::Link;
use crate::text;

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// To the note at this position in the list the resolver was built from.
    Note(usize),
    /// To a file that is no note: an image, a PDF.
    File,
    /// To nothing in the vault.
    Nowhere,
}

/// Endings of files that are no notes; a link to one is not a missing note.
const FILE_ENDINGS: [&str; 28] = [
    "png", "jpg", "jpeg", "gif", "bmp", "svg", "webp", "avif", "heic", "tiff", "mp3", "wav", "m4a",
    "ogg", "3gp", "flac", "mp4", "webm", "ogv", "mov", "mkv", "pdf", "zip", "csv", "json", "txt",
    "html", "base",
];

/// Finds notes by what a link says.
pub struct Resolver<'a> {
    paths: Vec<&'a str>,
    /// File name (see [`link_name`]) → positions.
    by_name: HashMap<String, Vec<usize>, RandomState>,
}

impl<'a> Resolver<'a> {
    /// Builds a resolver over all notes of a vault.
    pub fn new(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let paths: Vec<&str> = paths.into_iter().collect();
        let mut by_name: HashMap<String, Vec<usize>, RandomState> =
            HashMap::with_capacity_and_hasher(paths.len(), RandomState::default());
        for (i, path) in paths.iter().enumerate() {
            by_name.entry(link_name(path)).or_default().push(i);
        }
        Self { paths, by_name }
    }

    /// Finds where `link`, written in the note `source`, leads.
    pub fn resolve(&self, source: &str, link: &Link) -> Resolution {
        if link.target.is_empty() {
            let own = self.paths.iter().position(|path| *path == source);
            return own.map_or(Resolution::Nowhere, Resolution::Note);
        }
        if let Some(note) = self.target(source, &link.target) {
            return Resolution::Note(note);
        }
        // A file name may hold a `#`.
        if let Some(anchor) = &link.anchor
            && let Some(note) = self.target(source, &format!("{}#{anchor}", link.target))
        {
            return Resolution::Note(note);
        }
        if is_file(&link.target) { Resolution::File } else { Resolution::Nowhere }
    }

    fn target(&self, source: &str, target: &str) -> Option<usize> {
        let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_relative = target.starts_with("./") || target.starts_with("../");
        let wanted = if is_relative {
            joined(folder, target)?
        } else {
            target.trim_start_matches('/').to_owned()
        };
        let candidates = self.by_name.get(&link_name(&wanted))?;
        let wanted_path = comparable(&wanted);
        let own = if folder.is_empty() {
            wanted_path.clone()
        } else {
            format!("{}/{wanted_path}", comparable_folder(folder))
        };
        let suffix = format!("/{wanted_path}");
        let rank = |note: &usize| {
            let path = self.paths.get(*note).copied().unwrap_or("");
            let other = comparable(path);
            let tier = if other == wanted_path {
                0
            } else if is_relative || target.starts_with('/') {
                return None;
            } else if other == own {
                1
            } else if other.ends_with(&suffix) {
                2
            } else {
                return None;
            };
            // Twins by case or normal form: the one spelt as written first.
            let is_other_spelling =
                !path.ends_with(&wanted) && !without_ending(path).ends_with(&wanted);
            let length = if tier == 2 { path.encode_utf16().count() } else { 0 };
            Some((tier, length, is_other_spelling, path, *note))
        };
        candidates.iter().filter_map(rank).min().map(|(.., note)| note)
    }
}

/// Whether a link's target names a file that is no note.
pub fn is_file(target: &str) -> bool {
    target
        .rsplit_once('.')
        .is_some_and(|(_, end)| FILE_ENDINGS.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// The name under which a link or a note is looked up: the last part of the
/// path without its note ending, lower case, NFC. Links with equal names may
/// change where they lead when a note of that name comes or goes.
pub fn link_name(path: &str) -> String {
    let path = path.trim_end_matches('/');
    comparable(path.rsplit('/').next().unwrap_or(path))
}

/// Without the note ending, lower case, NFC.
fn comparable(path: &str) -> String {
    comparable_folder(without_ending(path))
}

fn comparable_folder(path: &str) -> String {
    if path.is_ascii() { path.to_ascii_lowercase() } else { text::nfc(path).to_lowercase() }
}

/// Cuts `.md` and its kin; a canvas keeps its ending, as Obsidian wants it
/// written.
fn without_ending(path: &str) -> &str {
    for ending in [".md", ".markdown", ".mdx"] {
        let at = path.len().saturating_sub(ending.len());
        if at > 0 && path.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(ending)) {
            return text::prefix(path, at);
        }
    }
    path
}

/// Resolves `./` and `../` against `folder`; `None` above the vault.
fn joined(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], source: &str, target: &str, expected: Option<&str>) {
        let resolver = Resolver::new(paths.iter().copied());
        let (target, anchor) = match target.split_once('#') {
            Some((target, anchor)) => (target, Some(anchor.to_owned())),
            None => (target, None),
        };
        let link =
            Link { target: target.to_owned(), anchor, is_embed: false, is_wiki: true, line: 1 };
        let found = match resolver.resolve(source, &link) {
            Resolution::Note(note) => Some(paths[note]),
            Resolution::File => Some("(file)"),
            Resolution::Nowhere => None,
        };
        assert_eq!(found, expected, "[[{target}]] in {source} among {paths:?}");
    }

    #[test]
    fn an_exact_path_wins_then_the_own_folder_then_the_shortest_path() {
        let notes = ["zzzz/Note.md", "a/b/Note.md", "zzzz/deep/src.md", "b/src.md", "b/Note.md"];
        check(&notes, "zzzz/deep/src.md", "Note", Some("b/Note.md"));
        check(&notes, "zzzz/other.md", "Note", Some("zzzz/Note.md"));
        check(&notes, "b/src.md", "b/Note", Some("b/Note.md"));
        check(&["a/b/Note.md", "zzzz/Note.md"], "x.md", "Note", Some("a/b/Note.md"));
        check(&["Note.md", "b/Note.md"], "b/src.md", "Note", Some("Note.md"));
        check(&["x/b/Note.md", "y/Note.md"], "s.md", "b/Note", Some("x/b/Note.md"));
        check(&["x/ab/Note.md"], "s.md", "b/Note", None);
    }

    #[test]
    fn case_endings_and_normal_forms_do_not_matter() {
        check(&["Log.md"], "s.md", "log", Some("Log.md"));
        check(&["Log.md"], "s.md", "LOG", Some("Log.md"));
        check(&["Ext.md"], "s.md", "Ext.MD", Some("Ext.md"));
        check(&["Sq]uare.md"], "s.md", "Sq]uare", Some("Sq]uare.md"));
        check(&["cafe\u{301}.md"], "s.md", "caf\u{e9}", Some("cafe\u{301}.md"));
        check(&["readme.md", "README.md"], "s.md", "README", Some("README.md"));
        check(&["readme.md", "README.md"], "s.md", "readme", Some("readme.md"));
        check(&["v1.2 plan.md"], "s.md", "v1.2 plan", Some("v1.2 plan.md"));
    }

    #[test]
    fn files_headings_relative_paths_and_nothing() {
        check(&["a.md"], "s.md", "Figure 1.png", Some("(file)"));
        check(&["a.md"], "s.md", "https://x.y", None);
        check(&["s.md", "a.md"], "s.md", "#H", Some("s.md"));
        check(&["a.md"], "s.md", "a#H", Some("a.md"));
        check(&["C #1.md"], "s.md", "C #1", Some("C #1.md"));
        check(&["up/n.md", "n.md"], "up/deep/s.md", "../n", Some("up/n.md"));
        check(&["up/n.md"], "up/s.md", "./n.md", Some("up/n.md"));
        check(&["n.md"], "s.md", "../n", None);
        check(&["x/n.md"], "s.md", "./n", None);
        check(&["x/n.md"], "s.md", "/n", None);
        check(&["Map.canvas"], "s.md", "Map.canvas", Some("Map.canvas"));
    }
}
