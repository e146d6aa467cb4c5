//! Takes over notes from elsewhere: a folder of Markdown, a Notion export, Apple
//! Notes or other HTML files. Each becomes a note with frontmatter, attachments
//! come along, links between them are kept, and nothing in the vault is
//! overwritten. The source is only read.

mod convert;
mod notion;
mod source;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use self::source::{Entry, Source};
use super::{inside, name, relative, write};
use crate::error::{Error, ErrorKind, Result};
use crate::redact::{Filter, Finding};
use crate::text;

/// What an import is given.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// A folder, a zip file, or one Markdown or HTML file.
    pub path: &'a Path,
    /// The vault, absolute.
    pub vault: &'a Path,
    /// The folder of the vault for it; `None` for one named after the source
    /// in `inbox`.
    pub into: Option<&'a str>,
    /// The inbox, relative to the vault.
    pub inbox: &'a str,
    /// The credential filter: notes are scrubbed, attachments are copied.
    pub filter: &'a Filter,
    /// True to look and write nothing.
    pub is_dry: bool,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The folder of the vault it went to.
    pub folder: String,
    /// Notes made, as (name in the source, path in the vault).
    pub notes: Vec<(String, String)>,
    /// Attachments copied, likewise.
    pub attachments: Vec<(String, String)>,
    /// Files that were there already, from an earlier import.
    pub n_known: usize,
    /// Files that are of no use here, one line each.
    pub skipped: Vec<String>,
    /// Files that could not be taken over, one line each.
    pub failures: Vec<String>,
    /// What the credential filter hid.
    pub redacted: Vec<Finding>,
}

/// What kind of file an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Markdown,
    Html,
    Attachment,
}

/// Runs an import.
///
/// # Errors
/// When the source cannot be read at all or the folder lies outside the vault;
/// a single file that fails is a line in the report.
pub fn run(job: &Job<'_>) -> Result<Report> {
    let mut source = Source::open(job.path)?;
    let default = format!("{}/{}", job.inbox, source.name());
    let folder = job.into.map_or(default, |into| into.trim_matches('/').to_owned());
    let root = inside(job.vault, &folder)?;
    let mut report = Report { folder, ..Report::default() };
    report.skipped.append(&mut source.skipped);
    report.failures.append(&mut source.failures);
    let names = new_names(&source.entries);
    if names.is_empty() && report.failures.is_empty() {
        let message = format!("{}: nothing to import", job.path.display());
        return Err(Error::new(ErrorKind::Input, message));
    }
    let mut import = Import { job, root, names, report, made: HashSet::new() };
    let entries = std::mem::take(&mut source.entries);
    for entry in &entries {
        if let Err(error) = import.entry(&mut source, entry) {
            import.report.failures.push(format!("{}: {error}", entry.path));
        }
    }
    Ok(import.report)
}

struct Import<'a> {
    job: &'a Job<'a>,
    root: PathBuf,
    /// Old path → new path, both relative, `/` between the parts.
    names: HashMap<String, String>,
    report: Report,
    /// Files written by this run, which are no earlier import.
    made: HashSet<PathBuf>,
}

impl Import<'_> {
    fn entry(&mut self, source: &mut Source, entry: &Entry) -> Result<()> {
        let Some(new) = self.names.get(&entry.path).cloned() else { return Ok(()) };
        let bytes = source.read(entry)?;
        let kind = kind(&entry.path);
        let (contents, embedded) = match kind {
            Kind::Attachment => (bytes, Vec::new()),
            Kind::Markdown | Kind::Html => {
                let note = convert::note(bytes, entry, kind == Kind::Html, &self.names)?;
                let scrubbed = self.job.filter.scrub(&note.text);
                self.count(scrubbed.found);
                (scrubbed.text.into_string().into_bytes(), note.embedded)
            }
        };
        for (file, bytes) in embedded {
            let path = format!("{}{file}", folder_prefix(&new));
            self.write(&entry.path, &path, &bytes, Kind::Attachment)?;
        }
        self.write(&entry.path, &new, &contents, kind)
    }

    fn count(&mut self, found: Vec<Finding>) {
        for finding in found {
            let known = self.report.redacted.iter_mut().find(|known| known.name == finding.name);
            match known {
                Some(known) => known.count += finding.count,
                None => self.report.redacted.push(finding),
            }
        }
    }

    /// Writes a file unless the same is there. Another one of that name stays,
    /// and this one gets a number.
    fn write(&mut self, old: &str, new: &str, contents: &[u8], kind: Kind) -> Result<()> {
        let path = self.root.join(new);
        let is_same =
            !self.made.contains(&path) && fs::read(&path).is_ok_and(|have| have == contents);
        if is_same {
            self.report.n_known += 1;
            return Ok(());
        }
        let path = if self.job.is_dry {
            path
        } else {
            let (stem, ext) = stem_and_ext(new.rsplit('/').next().unwrap_or(new));
            let folder = path.parent().unwrap_or(&self.root).to_owned();
            write::create_new(&folder, stem, ext, contents)?
        };
        let shown = relative(self.job.vault, &path);
        self.made.insert(path);
        match kind {
            Kind::Attachment => self.report.attachments.push((old.to_owned(), shown)),
            _ => self.report.notes.push((old.to_owned(), shown)),
        }
        Ok(())
    }
}

fn kind(path: &str) -> Kind {
    match stem_and_ext(path).1.to_ascii_lowercase().as_str() {
        "md" | "markdown" | "mdx" => Kind::Markdown,
        "html" | "htm" | "xhtml" => Kind::Html,
        _ => Kind::Attachment,
    }
}

/// The new name of every entry: without Notion's ids, safe on every system,
/// unique whatever the case.
fn new_names(entries: &[Entry]) -> HashMap<String, String> {
    let mut names = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    for entry in entries {
        let (folder, file) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
        let folder = new_folder(folder, &mut folders, &mut taken);
        let (stem, ext) = stem_and_ext(file);
        let stem = name::shorten(&name::safe_name(notion::without_id(stem)), 120);
        let stem = if stem.is_empty() { "Untitled".to_owned() } else { stem };
        let ext = if kind(file) == Kind::Attachment { name::safe_name(ext) } else { "md".into() };
        let dot = if ext.is_empty() { "" } else { "." };
        let new = unique(&mut taken, |n| match n {
            1 => format!("{folder}{stem}{dot}{ext}"),
            n => format!("{folder}{stem} {n}{dot}{ext}"),
        });
        names.insert(entry.path.clone(), new);
    }
    names
}

/// The new name of a folder, with a final `/`; the same old folder always gets
/// the same new one.
fn new_folder(
    old: &str,
    known: &mut BTreeMap<String, String>,
    taken: &mut HashSet<String>,
) -> String {
    if old.is_empty() {
        return String::new();
    }
    if let Some(new) = known.get(old) {
        return new.clone();
    }
    let (parent, name) = old.rsplit_once('/').unwrap_or(("", old));
    let parent = new_folder(parent, known, taken);
    let name = name::shorten(&name::safe_name(notion::without_id(name)), 100);
    let name = if name.is_empty() { "Untitled".to_owned() } else { name };
    let new = unique(taken, |n| match n {
        1 => format!("{parent}{name}/"),
        n => format!("{parent}{name} {n}/"),
    });
    known.insert(old.to_owned(), new.clone());
    new
}

fn unique(taken: &mut HashSet<String>, name: impl Fn(u32) -> String) -> String {
    let mut n = 1;
    loop {
        let candidate = name(n);
        if taken.insert(text::fold(&candidate)) {
            return candidate;
        }
        n += 1;
    }
}

fn stem_and_ext(file: &str) -> (&str, &str) {
    match file.rsplit_once('.') {
        Some((stem, ext)) if !stem.is_empty() && !ext.contains('/') && ext.len() <= 10 => {
            (stem, ext)
        }
        _ => (file, ""),
    }
}

fn folder_prefix(path: &str) -> &str {
    path.rfind('/').map_or("", |at| text::prefix(path, at + 1))
}

#[cfg(test)]
mod tests;
