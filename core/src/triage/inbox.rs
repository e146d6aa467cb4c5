//! The signals that wait in the inbox, and the URLs the vault has already.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::moves;
use super::signal::Signal;
use super::sources::canonical_url;
use crate::capture::edit;
use crate::ingest::{decode, document};
use crate::redact::Filter;

/// Which notes of the inbox count as signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Notes of `type: signal`, and notes without a type that have a URL as
    /// their source: what a web clipper leaves.
    Signals,
    /// Every note.
    All,
}

/// What the inbox holds.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// The signals, by path relative to the vault, in order of path.
    pub signals: Vec<(String, Signal)>,
    /// How many notes are not signals and stay.
    pub n_other: usize,
    /// Notes that could not be read, one line each.
    pub failures: Vec<String>,
}

/// Reads the notes below `folder` of the vault. What is read is scrubbed: it is
/// shown and compared, never written back.
pub fn read(vault: &Path, folder: &str, which: Which, filter: &Filter) -> Inbox {
    let mut inbox = Inbox::default();
    let prefix = format!("{folder}/");
    let is_note = |path: &&String| path.starts_with(&prefix) && !path.ends_with(".canvas");
    for path in moves::notes(vault).iter().filter(is_note) {
        let text = fs::read(vault.join(path)).map_err(|error| error.to_string());
        let text = text.and_then(|bytes| {
            decode::decode(bytes).map(|decoded| decoded.text).map_err(|reason| reason.to_string())
        });
        match text {
            Ok(text) => match signal(path, &filter.scrub(&text).text, which) {
                Some(signal) => inbox.signals.push((path.clone(), signal)),
                None => inbox.n_other += 1,
            },
            Err(reason) => inbox.failures.push(format!("{path}: {reason}")),
        }
    }
    inbox
}

fn signal(path: &str, text: &str, which: Which) -> Option<Signal> {
    let meta = document::read(text, path, document::stem(path)).meta;
    let is_clipping =
        meta.kind.is_none() && meta.source.as_deref().is_some_and(|source| source.contains("://"));
    let is_signal = meta.kind.as_deref() == Some("signal") || is_clipping;
    if which == Which::Signals && !is_signal {
        return None;
    }
    let body = text.get(edit::body_start(text)..).unwrap_or(text);
    Some(Signal {
        title: meta.title,
        text: body.trim().to_owned(),
        source: meta.source,
        tags: meta.tags,
        domain: meta.domain,
        author: None,
        created: meta.created,
    })
}

/// The sources of the notes below `folders`, in the form in which URLs are
/// compared.
pub fn known_urls(vault: &Path, folders: &[&str]) -> HashSet<String> {
    let prefixes: Vec<String> = folders.iter().map(|folder| format!("{folder}/")).collect();
    let notes = moves::notes(vault);
    let notes = notes.iter().filter(|path| prefixes.iter().any(|prefix| path.starts_with(prefix)));
    notes
        .filter_map(|path| {
            let text = fs::read_to_string(vault.join(path)).ok()?;
            let end = edit::body_start(&text);
            let meta = document::read(text.get(..end)?, path, "").meta;
            meta.source.filter(|source| source.contains("://")).map(|url| canonical_url(&url))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_and_clippings_are_taken_and_notes_left() {
        let dir = tempfile::tempdir().unwrap();
        let note = |path: &str, text: &str| {
            let file = dir.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        note("00-inbox/a.md", "---\ntitle: A\ntype: signal\ntags: [x]\n---\nbody\n");
        note("00-inbox/b/c.md", "---\nsource: https://x.org/1?utm_source=z\n---\nclipped\n");
        note("00-inbox/own.md", "my own thought\n");
        note("05-signals/d.md", "---\ntype: signal\nurl: http://www.y.org/\n---\n");
        let filter = Filter::builtin();
        let inbox = read(dir.path(), "00-inbox", Which::Signals, &filter);
        let titles: Vec<&str> = inbox.signals.iter().map(|(_, s)| s.title.as_str()).collect();
        assert_eq!((titles, inbox.n_other), (vec!["A", "c"], 1));
        assert_eq!(inbox.signals[0].1.text, "body");
        assert_eq!(read(dir.path(), "00-inbox", Which::All, &filter).signals.len(), 3);
        let urls = known_urls(dir.path(), &["00-inbox", "05-signals"]);
        assert!(urls.contains("https://x.org/1") && urls.contains("https://y.org"), "{urls:?}");
    }
}
