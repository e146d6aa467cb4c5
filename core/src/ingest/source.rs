//! Finds the notes of a vault: walks its folders, applies `.indexignore` and
//! the configured folders, and lists what it passes over with the reason.
//!
//! Nothing is excluded by name except `.obsidian`, `.git` and `.trash`: a
//! folder called `build` or `vendor` may well hold notes. Symbolic links are
//! never followed out of the vault, and a note is listed once, at its own
//! place.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, FileType, Metadata};
use std::io::ErrorKind as IoKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::ignore_rules::Rules;
use super::key;
use crate::error::{Error, Result};
use crate::text;

/// Folders that hold no notes in any vault: an application's settings, a
/// repository's objects, a bin.
const NEVER: [&str; 3] = [".obsidian", ".git", ".trash"];

/// What a note's file name ends with, in any case.
const EXTENSIONS: [&str; 4] = ["md", "markdown", "mdx", "canvas"];

/// Largest note that is indexed, in bytes. A guess: the longest in the
/// measured vaults has 0.6 MB, and memory must not follow the largest file.
pub const MAX_NOTE_BYTES: u64 = 16 << 20;

/// Which folders of a vault are indexed; paths relative to the vault, `/`
/// between folders. An empty `allowed` allows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only notes below these folders.
    pub allowed: Vec<String>,
    /// Never notes below these folders.
    pub excluded: Vec<String>,
}

/// A note file as the walk saw it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Path inside the vault, see [`key`].
    pub path: String,
    /// Time of the last change of content, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Time of the last change of the file or its name, the same way.
    pub ctime_ns: i64,
    /// Size in bytes.
    pub size: u64,
}

/// Why a file or folder is not in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The file system refused, in its own words.
    Unreadable(String),
    /// It was there when the folder was listed and is gone now.
    Vanished,
    /// A FIFO, socket or device with a note's name.
    NotAFile(&'static str),
    /// Larger than [`MAX_NOTE_BYTES`].
    TooLarge(u64),
    /// A note by name, not by content.
    Binary,
    /// A placeholder of a file that the cloud has not delivered.
    NotDownloaded,
    /// A symbolic link whose target does not exist.
    Dangling,
    /// A symbolic link that leads out of the vault.
    Escapes,
    /// A symbolic link to a folder that contains it.
    Loop,
    /// A symbolic link to something in the vault that is listed at its own
    /// place, or left out there on purpose.
    Elsewhere(String),
    /// A resource fork that macOS writes beside the real file.
    AppleDouble,
    /// This program failed on it: a defect, to be reported.
    Defect(String),
}

impl Reason {
    /// True where a person would expect the note in the index: these make the
    /// exit code 1. The others are decisions.
    pub fn is_failure(&self) -> bool {
        !matches!(
            self,
            Self::Vanished | Self::Escapes | Self::Loop | Self::Elsewhere(_) | Self::AppleDouble
        )
    }

    /// True where the note may exist unchanged, so that what the index has of
    /// it must stay.
    pub fn keeps_indexed(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::NotDownloaded)
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(cause) => write!(f, "unreadable: {cause}"),
            Self::Vanished => f.write_str("vanished while it was being read"),
            Self::NotAFile(kind) => write!(f, "not a file but a {kind}"),
            Self::TooLarge(size) => write!(
                f,
                "{:.1} MB, more than the limit of {} MB",
                *size as f64 / 1e6,
                MAX_NOTE_BYTES >> 20
            ),
            Self::Binary => f.write_str("binary content under a note's name"),
            Self::NotDownloaded => f.write_str("not downloaded from the cloud"),
            Self::Dangling => f.write_str("symbolic link to nothing"),
            Self::Escapes => f.write_str("symbolic link out of the vault"),
            Self::Loop => f.write_str("symbolic link to a folder above it"),
            Self::Elsewhere(place) => write!(f, "symbolic link to {place}"),
            Self::AppleDouble => f.write_str("macOS resource fork"),
            Self::Defect(message) => write!(f, "postil failed on it, please report: {message}"),
        }
    }
}

/// Something passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Path inside the vault.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

/// What a walk found; both lists are sorted by path.
#[derive(Debug, Default)]
pub struct Walk {
    /// The notes.
    pub files: Vec<SourceFile>,
    /// What was passed over.
    pub skipped: Vec<Skipped>,
    /// Complaints about `.indexignore` files and configured folders.
    pub warnings: Vec<String>,
    /// Folders that could not be listed: notes indexed below them stay.
    pub unlisted: Vec<String>,
}

impl Walk {
    /// Returns whether what the index has under `path` must stay although the
    /// walk did not find it.
    pub fn keeps(&self, path: &str) -> bool {
        let below = |folder: &String| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
        };
        self.unlisted.iter().any(below)
            || self.skipped.iter().any(|item| item.path == path && item.reason.keeps_indexed())
    }
}

/// Lists the notes below `root`.
///
/// Fails only when the root itself cannot be listed.
pub fn walk(root: &Path, scope: &Scope) -> Result<Walk> {
    let root = fs::canonicalize(root).map_err(|error| Error::io("open vault", root, error))?;
    let mut walker = Walker::new(root, scope);
    walker.root()?;
    walker.links();
    Ok(walker.finish())
}

/// Returns the file at `path` if a walk would list it: `Ok(None)` when rules
/// or folders leave it out, or when it does not exist.
///
/// `path` may be absolute or relative to the vault.
pub fn find(root: &Path, scope: &Scope, path: &Path) -> Result<Option<SourceFile>> {
    let root = fs::canonicalize(root).map_err(|error| Error::io("open vault", root, error))?;
    let absolute = root.join(path);
    let Some(relative) = relative_to(&root, &absolute) else {
        return Err(Error::new(
            crate::error::ErrorKind::Input,
            format!("{} is not in the vault {}", path.display(), root.display()),
        ));
    };
    let Ok(meta) = fs::symlink_metadata(root.join(&relative)) else { return Ok(None) };
    let mut walker = Walker::new(root, scope);
    let name = relative.file_name().unwrap_or_default();
    if !meta.is_file() || !is_note(name) || walker.is_left_out(&relative) {
        return Ok(None);
    }
    Ok(Some(source_file(key::of(&relative), &meta)))
}

/// Returns the name in the index of the note at `path`, which may be gone.
pub(super) fn name_of(root: &Path, path: &Path) -> Result<String> {
    let root = fs::canonicalize(root).map_err(|error| Error::io("open vault", root, error))?;
    relative_to(&root, &root.join(path)).map(|relative| key::of(&relative)).ok_or_else(|| {
        Error::new(
            crate::error::ErrorKind::Input,
            format!("{} is no path of a note", path.display()),
        )
    })
}

/// Returns the vault-relative form of `absolute`, resolving its folder but not
/// the file itself; `None` outside the vault.
fn relative_to(root: &Path, absolute: &Path) -> Option<PathBuf> {
    let name = absolute.file_name()?;
    let folder = absolute.parent()?;
    match fs::canonicalize(folder) {
        Ok(folder) => Some(folder.strip_prefix(root).ok()?.join(name)),
        // The folder is gone, and the note with it.
        Err(_) => absolute.strip_prefix(root).ok().map(Path::to_path_buf),
    }
}

struct Walker<'a> {
    root: PathBuf,
    scope: &'a Scope,
    rules: Rules,
    found: Walk,
    /// Symbolic links seen, looked at when every note is known.
    pending: Vec<PathBuf>,
}

impl<'a> Walker<'a> {
    fn new(root: PathBuf, scope: &'a Scope) -> Self {
        Self { root, scope, rules: Rules::default(), found: Walk::default(), pending: Vec::new() }
    }

    fn root(&mut self) -> Result<()> {
        let entries =
            fs::read_dir(&self.root).map_err(|error| Error::io("list vault", &self.root, error))?;
        for folder in self.scope.allowed.iter().chain(&self.scope.excluded) {
            if !self.root.join(folder).is_dir() {
                self.found.warnings.push(format!("configured folder {folder:?} does not exist"));
            }
        }
        self.rules.enter(&self.root, Path::new(""), &mut self.found.warnings);
        let mut folders = self.entries(entries, Path::new(""));
        // Depth first, so that the rules in force are always the path's own.
        while let Some(folder) = folders.pop() {
            self.rules.leave_until(&folder);
            let absolute = self.root.join(&folder);
            match fs::read_dir(&absolute) {
                Ok(entries) => {
                    self.rules.enter(&absolute, &folder, &mut self.found.warnings);
                    folders.extend(self.entries(entries, &folder));
                }
                Err(error) if error.kind() == IoKind::NotFound => {}
                Err(error) => self.unlisted(&folder, &error),
            }
        }
        Ok(())
    }

    /// Takes in one folder's entries and returns its subfolders.
    fn entries(&mut self, entries: fs::ReadDir, folder: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unlisted(folder, &error);
                    continue;
                }
            };
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if !self.is_pruned(&path) {
                        folders.push(path);
                    }
                }
                Ok(kind) => self.entry(path, kind, || entry.metadata()),
                Err(error) => self.skip(&path, unreadable(&error)),
            }
        }
        folders
    }

    fn entry(
        &mut self,
        path: PathBuf,
        kind: FileType,
        metadata: impl FnOnce() -> std::io::Result<Metadata>,
    ) {
        let name = path.file_name().unwrap_or_default();
        let placeholder = cloud_placeholder(name);
        if placeholder.is_none() && !kind.is_symlink() && !is_note(name) {
            return;
        }
        if !self.is_allowed(&path) || self.rules.ignores(&path, false) {
            return;
        }
        if let Some(real) = placeholder {
            self.skip(&path.with_file_name(real), Reason::NotDownloaded);
        } else if kind.is_symlink() {
            self.pending.push(path);
        } else if name.as_bytes().starts_with(b"._") {
            self.skip(&path, Reason::AppleDouble);
        } else if !kind.is_file() {
            self.skip(&path, Reason::NotAFile(kind_name(kind)));
        } else {
            match metadata() {
                Ok(meta) => self.file(&path, &meta),
                Err(error) => self.skip(&path, unreadable(&error)),
            }
        }
    }

    fn file(&mut self, path: &Path, meta: &Metadata) {
        if meta.len() > MAX_NOTE_BYTES {
            self.skip(path, Reason::TooLarge(meta.len()));
        } else {
            self.found.files.push(source_file(key::of(path), meta));
        }
    }

    /// Decides what the symbolic links are once every real note is known. A
    /// link to a file that is no note by its own name is the note.
    fn links(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort();
        let mut seen = HashSet::new();
        for path in pending {
            match self.link(&path) {
                Link::Nothing => {}
                Link::Skip(reason) => self.skip(&path, reason),
                Link::Note(target, meta) if seen.insert(target.clone()) => self.file(&path, &meta),
                Link::Note(target, _) => {
                    let target = target.strip_prefix(&self.root).unwrap_or(&target);
                    self.skip(&path, Reason::Elsewhere(key::of(target)));
                }
            }
        }
    }

    fn link(&self, path: &Path) -> Link {
        let has_note_name = path.file_name().is_some_and(is_note);
        let absolute = self.root.join(path);
        let target = match fs::canonicalize(&absolute) {
            Ok(target) => target,
            // The kernel's own answer to a link that leads to itself.
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return Link::Skip(Reason::Loop);
            }
            Err(_) if !has_note_name => return Link::Nothing,
            Err(error) if error.kind() == IoKind::NotFound => {
                return Link::Skip(Reason::Dangling);
            }
            Err(error) => return Link::Skip(unreadable(&error)),
        };
        let Ok(meta) = fs::metadata(&target) else { return Link::Skip(Reason::Vanished) };
        if !meta.is_dir() && !has_note_name {
            return Link::Nothing;
        }
        let Ok(inside) = target.strip_prefix(&self.root) else {
            return Link::Skip(Reason::Escapes);
        };
        if meta.is_dir() {
            let is_above = absolute.starts_with(&target);
            let elsewhere = Reason::Elsewhere(key::of(inside));
            return Link::Skip(if is_above { Reason::Loop } else { elsewhere });
        }
        if !meta.is_file() {
            return Link::Skip(Reason::NotAFile(kind_name(meta.file_type())));
        }
        let is_hidden = inside.iter().any(|part| NEVER.iter().any(|name| part == *name));
        if inside.file_name().is_some_and(is_note) || is_hidden {
            return Link::Skip(Reason::Elsewhere(key::of(inside)));
        }
        Link::Note(target, meta)
    }

    /// Whether a folder is not entered at all.
    fn is_pruned(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        NEVER.iter().any(|never| name == *never)
            || !self.may_hold_allowed(path)
            || self.rules.ignores(path, true)
    }

    /// Whether rules or folders leave out the note at `path`, looking at every
    /// folder on the way to it as a walk would.
    fn is_left_out(&mut self, path: &Path) -> bool {
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            if !folder.as_os_str().is_empty() && self.is_pruned(folder) {
                return true;
            }
            self.rules.enter(&self.root.join(folder), folder, &mut self.found.warnings);
        }
        !self.is_allowed(path) || self.rules.ignores(path, false)
    }

    fn is_allowed(&self, path: &Path) -> bool {
        let allowed = &self.scope.allowed;
        (allowed.is_empty() || allowed.iter().any(|folder| is_below(path, folder)))
            && !self.scope.excluded.iter().any(|folder| is_below(path, folder))
    }

    fn may_hold_allowed(&self, path: &Path) -> bool {
        let allowed = &self.scope.allowed;
        let leads_to = |folder: &String| {
            is_below(path, folder)
                || is_below(Path::new(folder.trim_matches('/')), &path.to_string_lossy())
        };
        (allowed.is_empty() || allowed.iter().any(leads_to))
            && !self.scope.excluded.iter().any(|folder| is_below(path, folder))
    }

    fn skip(&mut self, path: &Path, reason: Reason) {
        self.found.skipped.push(Skipped { path: key::of(path), reason });
    }

    fn unlisted(&mut self, folder: &Path, error: &std::io::Error) {
        self.found.unlisted.push(key::of(folder));
        self.skip(folder, unreadable(error));
    }

    fn finish(mut self) -> Walk {
        self.found.files.sort();
        self.found.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        // A file that the cloud delivered while its placeholder was listed.
        let paths: HashMap<&str, ()> =
            self.found.files.iter().map(|file| (file.path.as_str(), ())).collect();
        self.found.skipped.retain(|item| {
            item.reason != Reason::NotDownloaded || !paths.contains_key(item.path.as_str())
        });
        self.found
    }
}

enum Link {
    Nothing,
    Skip(Reason),
    Note(PathBuf, Metadata),
}

/// Whether `path` is `folder` or lies below it; names compared in NFC.
fn is_below(path: &Path, folder: &str) -> bool {
    let folder = text::nfc(folder.trim_matches('/'));
    if matches!(folder.as_str(), "" | ".") {
        return true;
    }
    let path = text::nfc(&path.to_string_lossy());
    path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_note(name: &OsStr) -> bool {
    Path::new(name)
        .extension()
        .and_then(OsStr::to_str)
        .is_some_and(|end| EXTENSIONS.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// `.Name.md.icloud` stands for a `Name.md` that is not on this disk.
fn cloud_placeholder(name: &OsStr) -> Option<&OsStr> {
    let real = name.as_bytes().strip_prefix(b".")?.strip_suffix(b".icloud")?;
    let real = OsStr::from_bytes(real);
    is_note(real).then_some(real)
}

/// Describes the file that `meta` was read from.
pub(super) fn source_file(path: String, meta: &Metadata) -> SourceFile {
    let ns = |secs: i64, nanos: i64| secs.saturating_mul(1_000_000_000).saturating_add(nanos);
    SourceFile {
        path,
        mtime_ns: ns(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: ns(meta.ctime(), meta.ctime_nsec()),
        size: meta.len(),
    }
}

pub(super) fn unreadable(error: &std::io::Error) -> Reason {
    if error.kind() == IoKind::NotFound {
        return Reason::Vanished;
    }
    // Without "(os error 13)", which helps nobody.
    let text = error.to_string();
    Reason::Unreadable(text.split(" (os error").next().unwrap_or(&text).to_lowercase())
}

pub(super) fn kind_name(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "FIFO"
    } else if kind.is_socket() {
        "socket"
    } else if kind.is_dir() {
        "folder"
    } else {
        "device"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::symlink;

    struct Vault(tempfile::TempDir);

    impl Vault {
        fn new(files: &[&str]) -> Self {
            let vault = Self(tempfile::tempdir().unwrap());
            for file in files {
                vault.write(file, "text");
            }
            vault
        }

        fn path(&self) -> PathBuf {
            self.0.path().join("vault")
        }

        fn write(&self, file: impl AsRef<Path>, text: &str) {
            let path = self.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn walk(&self, scope: &Scope) -> Walk {
            walk(&self.path(), scope).unwrap()
        }

        #[track_caller]
        fn check(&self, scope: &Scope, expected: &[&str]) {
            let found = self.walk(scope);
            let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(paths, expected);
            for path in paths {
                let same = find(&self.path(), scope, Path::new(path)).unwrap();
                assert!(same.is_some(), "find misses {path}");
            }
        }
    }

    fn folders(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_note_is_found_and_nothing_else() {
        let vault = Vault::new(&[
            "b.md",
            "a.MD",
            "build/x.md",
            "dist/x.markdown",
            "node_modules/x.md",
            ".github/x.md",
            "c.canvas",
            "d.txt",
            "e.png",
            ".obsidian/x.md",
            "sub/.git/x.md",
            ".trash/x.md",
            "🐘.md",
            "sub/folder.md/x.md",
            "sub/._b.md",
        ]);
        let expected = [
            ".github/x.md",
            "a.MD",
            "b.md",
            "build/x.md",
            "c.canvas",
            "dist/x.markdown",
            "node_modules/x.md",
            "sub/folder.md/x.md",
            "🐘.md",
        ];
        vault.check(&Scope::default(), &expected);
        assert_eq!(vault.walk(&Scope::default()).skipped[0].reason, Reason::AppleDouble);
        let hidden = find(&vault.path(), &Scope::default(), Path::new(".obsidian/x.md")).unwrap();
        assert!(hidden.is_none());
    }

    #[test]
    fn indexignore_works_as_gitignore_does() {
        let vault = Vault::new(&[
            "keep.md",
            "drafts/a.md",
            "drafts/keep.md",
            "private/a.md",
            "sub/private/a.md",
            "sub/x.tmp.md",
            "sub/y.md",
            "sub/deep/z.md",
            "caf\u{e9}/a.md",
        ]);
        vault.write(
            ".indexignore",
            "\u{FEFF}# comment\r\ndrafts/*\r\n!drafts/keep.md\r\n/private/\n*.tmp.md\ncafe\u{301}/\n",
        );
        vault.write("sub/.indexignore", "*.md\n!y.md\n!/private/*.md\n");
        let expected = ["drafts/keep.md", "keep.md", "sub/private/a.md", "sub/y.md"];
        vault.check(&Scope::default(), &expected);
        for path in ["drafts/a.md", "private/a.md", "sub/deep/z.md"] {
            assert!(find(&vault.path(), &Scope::default(), Path::new(path)).unwrap().is_none());
        }
    }

    #[test]
    fn folders_are_allowed_and_excluded_whole() {
        let vault = Vault::new(&["a/x.md", "a/b/x.md", "ab/x.md", "c/x.md", "x.md"]);
        let scope = Scope { allowed: folders(&["a/", "c"]), excluded: folders(&["a/b", "no"]) };
        vault.check(&scope, &["a/x.md", "c/x.md"]);
        assert_eq!(vault.walk(&scope).warnings, ["configured folder \"no\" does not exist"]);
        let scope = Scope { allowed: folders(&["a/b"]), excluded: Vec::new() };
        vault.check(&scope, &["a/b/x.md"]);
    }

    #[test]
    fn links_are_never_followed_out_and_never_twice() {
        let vault = Vault::new(&["real/a.md", "data/b.txt", ".obsidian/c.md"]);
        fs::write(vault.0.path().join("outside.md"), "secret").unwrap();
        fs::create_dir(vault.0.path().join("other")).unwrap();
        let link = |target: &str, name: &str| symlink(target, vault.path().join(name)).unwrap();
        link("real/a.md", "a-link.md");
        link("data/b.txt", "b.md");
        link("data/b.txt", "b2.md");
        link("../outside.md", "escape.md");
        link("../other", "escape");
        link("/etc", "etc");
        link("real", "real-link");
        link("..", "real/up");
        link(".", "self");
        link("loop.md", "loop.md");
        link("gone", "gone.md");
        link("missing.png", "gone.png");
        link(".obsidian/c.md", "hidden.md");
        let found = vault.walk(&Scope::default());
        let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["b.md", "real/a.md"]);
        let reasons: Vec<String> =
            found.skipped.iter().map(|item| format!("{}: {}", item.path, item.reason)).collect();
        assert_eq!(
            reasons,
            [
                "a-link.md: symbolic link to real/a.md",
                "b2.md: symbolic link to data/b.txt",
                "escape: symbolic link out of the vault",
                "escape.md: symbolic link out of the vault",
                "etc: symbolic link out of the vault",
                "gone.md: symbolic link to nothing",
                "hidden.md: symbolic link to .obsidian/c.md",
                "loop.md: symbolic link to a folder above it",
                "real-link: symbolic link to real",
                "real/up: symbolic link to a folder above it",
                "self: symbolic link to a folder above it",
            ]
        );
    }

    #[test]
    fn names_are_bytes() {
        let vault = Vault::new(&["new\nline.md", "caf\u{e9}.md", "cafe\u{301}.md", "A.md", "a.md"]);
        let raw = std::ffi::OsString::from_vec(b"\xFF\xFEx.md".to_vec());
        vault.write(Path::new(&raw), "text");
        let found = vault.walk(&Scope::default());
        assert_eq!(found.files.len(), 6);
        for file in &found.files {
            assert_eq!(super::super::decode::read(&vault.path(), file).unwrap().text, "text");
        }
    }

    #[test]
    fn special_and_large_files_are_listed_with_the_reason() {
        let vault = Vault::new(&["a.md"]);
        let fifo = std::ffi::CString::new(vault.path().join("fifo.md").into_os_string().into_vec())
            .unwrap();
        make_fifo(&fifo);
        std::os::unix::net::UnixListener::bind(vault.path().join("socket.md")).unwrap();
        let large = fs::File::create(vault.path().join("large.md")).unwrap();
        large.set_len(50 << 20).unwrap();
        vault.write(".cloud.md.icloud", "placeholder");
        let found = vault.walk(&Scope::default());
        let reasons: Vec<String> =
            found.skipped.iter().map(|item| format!("{}: {}", item.path, item.reason)).collect();
        assert_eq!(
            reasons,
            [
                "cloud.md: not downloaded from the cloud",
                "fifo.md: not a file but a FIFO",
                "large.md: 52.4 MB, more than the limit of 16 MB",
                "socket.md: not a file but a socket",
            ]
        );
        assert!(found.keeps("cloud.md") && !found.keeps("large.md") && !found.keeps("other.md"));
        let file = SourceFile { path: "fifo.md".to_owned(), mtime_ns: 0, ctime_ns: 0, size: 0 };
        let read = super::super::decode::read(&vault.path(), &file);
        assert_eq!(read.unwrap_err(), Reason::NotAFile("FIFO"));
    }

    fn make_fifo(path: &std::ffi::CStr) {
        let status = std::process::Command::new("mkfifo")
            .arg(OsStr::from_bytes(path.to_bytes()))
            .status()
            .unwrap();
        assert!(status.success());
    }

    #[test]
    fn a_missing_vault_is_an_error_and_a_missing_note_is_none() {
        let vault = Vault::new(&["a.md"]);
        assert!(walk(Path::new("/nonexistent/vault"), &Scope::default()).is_err());
        assert!(find(&vault.path(), &Scope::default(), Path::new("b.md")).unwrap().is_none());
        assert!(find(&vault.path(), &Scope::default(), Path::new("no/b.md")).unwrap().is_none());
        assert!(find(&vault.path(), &Scope::default(), Path::new("/etc/hostname")).is_err());
    }
}
