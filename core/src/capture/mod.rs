//! Capture: a text becomes a note in the inbox, scrubbed of secrets, whole on
//! the disk or not there at all, and only once.
//!
//! Owns the shape of captured notes and the way files are created in the
//! vault. Indexing the new note is left to the caller.

pub mod args;
pub mod edit;
pub mod html;
pub mod import;
pub mod indexing;
pub mod insight;
pub(crate) mod links;
pub mod name;
pub mod note;
pub mod related;
pub mod write;

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::NaiveDateTime;
use fs2::FileExt;

use self::note::Fields;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::redact::{Filter, Finding};

/// Longest text that is taken for one note, in bytes.
pub const MAX_TEXT_BYTES: usize = 8 << 20;
/// Most links offered as `related`.
const MAX_RELATED: usize = 3;
/// How long a capture waits for others before it goes on without the lock: a
/// name is unique even then, only a double may slip through.
const LOCK_WAIT: Duration = Duration::from_secs(3);

/// A note to be: what the caller was given, not yet checked or scrubbed.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The text; must have something other than blanks.
    pub text: String,
    /// A title, else one is made from the text.
    pub title: Option<String>,
    /// `note` when absent.
    pub kind: Option<String>,
    /// The domain.
    pub domain: Option<String>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// A URL or a name.
    pub source: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The project worked in.
    pub project: Option<String>,
    /// `inbox` when absent.
    pub status: Option<&'static str>,
    /// What triage scored it, from 0 to 1.
    pub score: Option<f64>,
    /// The day it is from, ISO `YYYY-MM-DD`, when that is not today.
    pub date: Option<String>,
}

/// Where captures go.
#[derive(Clone, Debug)]
pub struct Place {
    /// The vault, absolute.
    pub vault: PathBuf,
    /// The folder for the note, relative to the vault.
    pub folder: String,
    /// Folders, relative to the vault, in which the same note counts as
    /// already captured.
    pub known: Vec<String>,
    /// A file that captures take turns with.
    pub lock: PathBuf,
}

impl Place {
    /// The inbox of the configured vault.
    ///
    /// # Errors
    /// When no vault is configured.
    pub fn of(config: &Config) -> Result<Self> {
        Ok(Self {
            vault: config.vault()?.to_owned(),
            folder: config.capture.inbox.clone(),
            known: vec![config.triage.folder.clone()],
            lock: config.paths.state.join("capture.lock"),
        })
    }
}

/// What became of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The note, absolute.
    pub path: PathBuf,
    /// The same, relative to the vault, with `/`.
    pub relative: String,
    /// Its title.
    pub title: String,
    /// False when the same note was there before.
    pub is_new: bool,
    /// Link targets it got as `related`.
    pub related: Vec<String>,
    /// What the credential filter hid.
    pub redacted: Vec<Finding>,
    /// Parts of the draft that were left out, one line each.
    pub warnings: Vec<String>,
}

/// Stores `draft` as a new note.
///
/// `related` names notes near a text, nearest first, as link targets.
///
/// # Errors
/// `Input` for an empty or oversized text and for a domain or type that is not
/// a plain name; `Io` when the note cannot be written, and then there is none.
pub fn store(
    draft: &Draft,
    place: &Place,
    now: NaiveDateTime,
    filter: &Filter,
    related: &dyn Fn(&str) -> Vec<String>,
) -> Result<Stored> {
    let mut scrubber = Scrubber { filter, found: Vec::new() };
    let (mut fields, warnings) = check(draft, now, &mut scrubber)?;
    let redacted = scrubber.found;
    let folder = inside(&place.vault, &place.folder)?;
    let _turn = take_turn(&place.lock);
    write::sweep(&folder);
    if let Some(path) = find_same(&fields, place) {
        let title = fields.title;
        let relative = relative(&place.vault, &path);
        let related = Vec::new();
        return Ok(Stored { path, relative, title, is_new: false, related, redacted, warnings });
    }
    fields.related = related(&format!("{}\n{}", fields.title, fields.body));
    fields.related.truncate(MAX_RELATED);
    let stem = name::stem(&now.format("%Y-%m-%d").to_string(), &fields.title);
    // Once more over the whole: what the parts hide may show when they meet.
    let note = filter.scrub(&note::render(&fields)).text;
    let path = write::create_new(&folder, &stem, "md", note.as_bytes())?;
    Ok(Stored {
        relative: relative(&place.vault, &path),
        path,
        title: fields.title,
        is_new: true,
        related: fields.related,
        redacted,
        warnings,
    })
}

/// Checks and scrubs a draft.
fn check(
    draft: &Draft,
    now: NaiveDateTime,
    scrubber: &mut Scrubber<'_>,
) -> Result<(Fields, Vec<String>)> {
    let mut warnings = Vec::new();
    let body = clean_text(&draft.text);
    if body.is_empty() {
        return Err(input("nothing to capture: the text is empty".to_owned()));
    }
    if body.len() > MAX_TEXT_BYTES {
        let (got, most) = (body.len() >> 20, MAX_TEXT_BYTES >> 20);
        return Err(input(format!("the text has {got} MB; a note takes at most {most} MB")));
    }
    let body = scrubber.scrub(&body);
    let title = scrubber.line(draft.title.as_deref()).unwrap_or_else(|| name::title_of(&body));
    let mut tags: Vec<String> = Vec::new();
    for tag in &draft.tags {
        match name::clean_tag(&scrubber.scrub(tag)) {
            Some(tag) if !tags.contains(&tag) => tags.push(tag),
            Some(_) => {}
            None if tag.trim().is_empty() => {}
            None => warnings.push(format!("tag {tag:?} left out: Obsidian takes no such tag")),
        }
    }
    let fields = Fields {
        title: if title.is_empty() { "Untitled".to_owned() } else { title },
        kind: scrubber.word("type", draft.kind.as_deref())?.unwrap_or_else(|| "note".to_owned()),
        domain: scrubber.word("domain", draft.domain.as_deref())?,
        tags,
        created: now,
        source: scrubber.line(draft.source.as_deref()),
        status: draft.status.unwrap_or("inbox").to_owned(),
        score: draft.score,
        date: scrubber.line(draft.date.as_deref()),
        session: scrubber.line(draft.session.as_deref()),
        project: scrubber.line(draft.project.as_deref()),
        related: Vec::new(),
        body,
    };
    Ok((fields, warnings))
}

/// Takes the secrets out of the parts of a draft and counts them.
struct Scrubber<'a> {
    filter: &'a Filter,
    found: Vec<Finding>,
}

impl Scrubber<'_> {
    fn scrub(&mut self, text: &str) -> String {
        let scrubbed = self.filter.scrub(text);
        for finding in scrubbed.found {
            match self.found.iter_mut().find(|known| known.name == finding.name) {
                Some(known) => known.count += finding.count,
                None => self.found.push(finding),
            }
        }
        scrubbed.text.into_string()
    }

    fn line(&mut self, value: Option<&str>) -> Option<String> {
        let line = name::clean_title(&self.scrub(value?));
        (!line.is_empty()).then_some(line)
    }

    fn word(&mut self, key: &str, value: Option<&str>) -> Result<Option<String>> {
        value.map(|value| plain_name(key, &self.scrub(value))).transpose()
    }
}

/// Gives `text` one kind of line end, drops what surrounds it, and replaces
/// NUL, which makes a file binary, as CommonMark asks.
fn clean_text(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let text = text.replace('\0', "\u{fffd}");
    let body = text.trim_end();
    // Blanks before the first line may be the indent of a list or of code.
    let start = body.find(|c: char| !c.is_whitespace()).unwrap_or(0);
    let (before, _) = body.split_at(start);
    let (_, body) = body.split_at(before.rfind('\n').map_or(0, |at| at + 1));
    body.to_owned()
}

/// A word that can be a property's value and a folder's name: letters, digits,
/// blanks, `-`, `_` and `.`, lower case, blanks as `-`.
fn plain_name(key: &str, value: &str) -> Result<String> {
    let value = value.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
    let value = crate::text::nfc(&value);
    let is_plain = value.chars().all(|c| c.is_alphanumeric() || "-_.&+".contains(c))
        && !value.starts_with('.')
        && value.chars().count() <= 60
        && value.chars().any(char::is_alphanumeric);
    if is_plain {
        return Ok(value);
    }
    Err(input(format!(
        "{key} {value:?} is not a plain name: use letters, digits and `-`, at most 60"
    )))
}

/// Joins a folder named in the configuration to the vault and refuses to leave
/// it, links included.
///
/// # Errors
/// When the vault is missing or the folder lies elsewhere.
pub fn inside(vault: &Path, folder: &str) -> Result<PathBuf> {
    let root = fs::canonicalize(vault).map_err(|error| Error::io("open vault", vault, error))?;
    let path = vault.join(folder);
    let is_below = Path::new(folder).components().all(|part| matches!(part, Component::Normal(_)));
    // The part that exists decides where the rest will come to lie.
    let real = path.ancestors().find_map(|path| fs::canonicalize(path).ok());
    if is_below && real.is_some_and(|real| real.starts_with(&root)) {
        return Ok(path);
    }
    Err(input(format!("{} is not a folder inside the vault {}", path.display(), vault.display())))
}

/// A path relative to the vault, with `/` between its parts.
pub fn relative(vault: &Path, path: &Path) -> String {
    let path = path.strip_prefix(vault).unwrap_or(path);
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Holds the lock until it is dropped; `None` when it is not to be had.
fn take_turn(lock: &Path) -> Option<fs::File> {
    if let Some(folder) = lock.parent() {
        fs::create_dir_all(folder).ok()?;
    }
    let file = fs::File::create(lock).ok()?;
    let start = Instant::now();
    while file.try_lock_exclusive().is_err() {
        if start.elapsed() > LOCK_WAIT {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Some(file)
}

/// Looks for the same note in the folders where captures end up. Only files of
/// about the right size are read.
fn find_same(fields: &Fields, place: &Place) -> Option<PathBuf> {
    let wanted = note::render(fields);
    let sizes = wanted.len().saturating_sub(1_000)..=wanted.len() + 4_000;
    let mut folders: Vec<PathBuf> =
        std::iter::once(&place.folder).chain(&place.known).map(|f| place.vault.join(f)).collect();
    folders.sort();
    folders.dedup();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && !folders.contains(&path) {
                folders.push(path);
            } else if kind.is_file()
                && path.extension().is_some_and(|ext| ext == "md")
                && entry.metadata().is_ok_and(|meta| sizes.contains(&(meta.len() as usize)))
                && fs::read_to_string(&path).is_ok_and(|text| note::is_same(&text, &wanted))
            {
                return Some(path);
            }
        }
    }
    None
}

fn input(message: String) -> Error {
    Error::new(ErrorKind::Input, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> NaiveDateTime {
        chrono::NaiveDate::from_ymd_opt(2026, 11, 30).unwrap().and_hms_opt(9, 5, 0).unwrap()
    }

    fn place(dir: &Path) -> Place {
        Place {
            vault: dir.to_owned(),
            folder: "00-inbox".to_owned(),
            known: vec!["05-signals".to_owned()],
            lock: dir.join(".state/lock"),
        }
    }

    fn keep(dir: &Path, draft: &Draft) -> Result<Stored> {
        store(draft, &place(dir), now(), &Filter::builtin(), &|_| vec![])
    }

    fn draft(text: &str) -> Draft {
        Draft { text: text.to_owned(), ..Draft::default() }
    }

    #[test]
    fn the_body_is_exact() {
        let dir = tempfile::tempdir().unwrap();
        let text = "say \"hi\" $(touch X) `id` 'q' \\n\n\n\temoji 👩‍🚀\n  end";
        let stored = keep(dir.path(), &draft(&format!("\n\n{text}\r\n"))).unwrap();
        let note = fs::read_to_string(stored.path).unwrap();
        assert!(note.ends_with(&format!("---\n\n{text}\n")), "{note}");
    }

    #[test]
    fn the_same_note_is_stored_once_wherever_it_is_now() {
        let dir = tempfile::tempdir().unwrap();
        let first = keep(dir.path(), &draft("one thing")).unwrap();
        assert!(first.is_new && !keep(dir.path(), &draft("one thing\n")).unwrap().is_new);
        let moved = dir.path().join("05-signals/data/x.md");
        fs::create_dir_all(moved.parent().unwrap()).unwrap();
        fs::rename(&first.path, &moved).unwrap();
        assert_eq!(keep(dir.path(), &draft("one thing")).unwrap().path, moved);
        let titled = Draft { title: Some("T".to_owned()), ..draft("one thing") };
        assert!(keep(dir.path(), &titled).unwrap().is_new);
    }

    #[test]
    fn bad_drafts_are_refused_and_leave_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let domain = |domain: &str| Draft { domain: Some(domain.to_owned()), ..draft("x") };
        for bad in [draft(" \n\t"), domain("../up"), domain("a/b"), domain(".."), domain("-")] {
            assert_eq!(keep(dir.path(), &bad).unwrap_err().kind(), ErrorKind::Input, "{bad:?}");
        }
        assert_eq!(
            keep(dir.path(), &draft(&"x".repeat(9 << 20))).unwrap_err().kind(),
            ErrorKind::Input
        );
        assert!(!dir.path().join("00-inbox").exists());
        assert!(keep(dir.path(), &domain("AI Tooling")).unwrap().is_new);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_vault_is_not_followed() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), dir.path().join("00-inbox")).unwrap();
        assert!(keep(dir.path(), &draft("x")).is_err());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_field_is_scrubbed() {
        let dir = tempfile::tempdir().unwrap();
        let key = "ghp_Zk3VtQ8sYw1Lx0Rb7NcJ5mHd2PfG9aUe4TiK";
        let secret = Draft {
            text: format!("the token is {key}"),
            title: Some(format!("a {key}")),
            tags: vec![key.to_owned()],
            source: Some(format!("https://x.org/?token={key}")),
            project: Some(key.to_owned()),
            ..Draft::default()
        };
        let stored = keep(dir.path(), &secret).unwrap();
        let note = fs::read_to_string(&stored.path).unwrap();
        assert!(!note.contains("ghp_") && !stored.relative.contains("ghp_"), "{note}");
        assert!(!stored.redacted.is_empty());
    }
}
