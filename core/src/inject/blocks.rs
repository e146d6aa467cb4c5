//! Context blocks: what every session starts with, by the user's configuration.
//!
//! A rendered block is kept in a file and given out byte for byte until its time
//! is up, one of its notes changes, or the index does, which may have a note
//! that fits better; then it is made anew. A valid block costs a read and a
//! `stat` for each of its notes and for the index, which stays closed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::fresh::Stamp;
use crate::config::{Block, Config};
use crate::ingest::key;
use crate::text::fnv1a;

/// First line of a kept block: raise the number when the form changes.
const MAGIC: &str = "postil-block 2";

/// A block as it is given out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rendered {
    /// The text an agent gets.
    pub(super) text: String,
    /// Its passages: hash, tokens, path.
    pub(super) passages: Vec<(u64, usize, String)>,
    /// The files it was made of.
    pub(super) notes: Vec<(String, Stamp)>,
}

/// Returns the blocks for a project, in the order of the configuration.
pub(super) fn for_project<'a>(
    config: &'a Config,
    project: Option<&str>,
) -> impl Iterator<Item = &'a Block> {
    let project = project.map(str::to_owned);
    config.blocks.iter().filter(move |block| {
        block.projects.is_empty()
            || project.as_ref().is_some_and(|project| block.projects.contains(project))
    })
}

/// When and in what state of the index a block is made, or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Seconds since 1970.
    pub(super) now: u64,
    /// Tells whether the index changed; 0 where there is none.
    pub(super) index: u64,
}

impl Moment {
    /// Looks at the index file. To be taken before the index is opened.
    pub(super) fn of(index: &Path, now: u64) -> Self {
        let Some(file) = Stamp::of(index) else { return Self { now, index: 0 } };
        // What SQLite has not moved into the file yet.
        let mut log = index.as_os_str().to_owned();
        log.push("-wal");
        let log = Stamp::of(Path::new(&log)).filter(|log| log.size > 0);
        Self { now, index: fnv1a(format!("{file:?} {log:?}").as_bytes()) }
    }
}

/// Returns the kept block, if it still holds at `moment`.
pub(super) fn load(
    config: &Config,
    block: &Block,
    vault: &Path,
    moment: Moment,
) -> Option<Rendered> {
    let text = fs::read_to_string(file(config, block, vault)).ok()?;
    let (rendered, made) = parse(&text)?;
    // While there is no index, what there was holds.
    if moment.index != 0 && moment.index != made.index {
        return None;
    }
    let age = moment.now.checked_sub(made.now)?;
    let is_unchanged = |(path, stamp): &(String, Stamp)| {
        Stamp::of(&vault.join(key::to_path(path))) == Some(*stamp)
    };
    (age < block.ttl.as_secs() && rendered.notes.iter().all(is_unchanged)).then_some(rendered)
}

/// Keeps a block; that it cannot be kept costs only time.
pub(super) fn save(
    config: &Config,
    block: &Block,
    vault: &Path,
    rendered: &Rendered,
    moment: Moment,
) {
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&config.paths.blocks)?;
        // Mode 0600, and never seen half-written.
        let mut file = tempfile::NamedTempFile::new_in(&config.paths.blocks)?;
        file.write_all(format(rendered, moment).as_bytes())?;
        file.persist(self::file(config, block, vault))?;
        Ok(())
    };
    let _ = write();
}

/// A file for each block of each vault and each state of its configuration.
fn file(config: &Config, block: &Block, vault: &Path) -> PathBuf {
    let Block { name, query, max_tokens, .. } = block;
    let index = config.paths.index.display();
    let excluded = &config.inject.excluded;
    let key = format!("{}\0{index}\0{name}\0{query}\0{max_tokens}\0{excluded:?}", vault.display());
    config.paths.blocks.join(format!("{:016x}", fnv1a(key.as_bytes())))
}

fn format(rendered: &Rendered, made: Moment) -> String {
    let mut out = format!("{MAGIC}\t{}\t{:016x}\n", made.now, made.index);
    for (path, stamp) in &rendered.notes {
        out.push_str(&format!("N\t{}\t{}\t{}\n", stamp.mtime_ns, stamp.size, one_line(path)));
    }
    for (hash, tokens, path) in &rendered.passages {
        out.push_str(&format!("P\t{hash:016x}\t{tokens}\t{}\n", one_line(path)));
    }
    out.push('\n');
    out.push_str(&rendered.text);
    out
}

/// The form of a note's name in the index has no control characters; a name that
/// has all the same makes a block that never validates, not a broken one.
fn one_line(path: &str) -> String {
    path.replace(['\n', '\t'], "\u{fffd}")
}

fn parse(text: &str) -> Option<(Rendered, Moment)> {
    let (head, text) = text.split_once("\n\n")?;
    let mut lines = head.lines();
    let (now, index) = lines.next()?.strip_prefix(MAGIC)?.strip_prefix('\t')?.split_once('\t')?;
    let made = Moment { now: now.parse().ok()?, index: u64::from_str_radix(index, 16).ok()? };
    let mut rendered = Rendered { text: text.to_owned(), ..Rendered::default() };
    for line in lines {
        let mut fields = line.splitn(4, '\t');
        let (kind, a, b, path) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        match kind {
            "N" => {
                let stamp = Stamp { mtime_ns: a.parse().ok()?, size: b.parse().ok()? };
                rendered.notes.push((path.to_owned(), stamp));
            }
            "P" => {
                let hash = u64::from_str_radix(a, 16).ok()?;
                rendered.passages.push((hash, b.parse().ok()?, path.to_owned()));
            }
            _ => return None,
        }
    }
    Some((rendered, made))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Overrides;

    fn fixture() -> (tempfile::TempDir, Config, Block) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "text").unwrap();
        fs::write(dir.path().join("config.toml"), "").unwrap();
        let overrides = Overrides {
            vault: Some(dir.path().to_owned()),
            config: Some(dir.path().join("config.toml")),
            ..Overrides::default()
        };
        let mut config = Config::load(&overrides).unwrap();
        config.paths.blocks = dir.path().join("blocks");
        let block = Block {
            name: "Rules".to_owned(),
            query: "rules".to_owned(),
            max_tokens: 500,
            ttl: Duration::from_secs(60),
            projects: Vec::new(),
        };
        (dir, config, block)
    }

    #[test]
    fn a_block_holds_until_its_time_is_up_or_a_note_changes() {
        let (dir, config, block) = fixture();
        let stamp = Stamp::of(&dir.path().join("a.md")).unwrap();
        let rendered = Rendered {
            text: "the text\n\nof it\n".to_owned(),
            passages: vec![(7, 20, "a.md".to_owned())],
            notes: vec![("a.md".to_owned(), stamp)],
        };
        let vault = dir.path();
        let at = |now, index| Moment { now, index };
        let load = |block: &Block, moment| load(&config, block, vault, moment);
        assert_eq!(load(&block, at(1_000, 7)), None);
        save(&config, &block, vault, &rendered, at(1_000, 7));
        assert_eq!(load(&block, at(1_000, 7)), Some(rendered.clone()));
        assert_eq!(load(&block, at(1_059, 7)), Some(rendered.clone()));
        assert_eq!(load(&block, at(1_060, 7)), None, "its time is up");
        assert_eq!(load(&block, at(999, 7)), None, "made in the future");
        assert_eq!(load(&block, at(1_000, 8)), None, "the index changed");
        assert_eq!(load(&block, at(1_000, 0)), Some(rendered), "there is no index");
        let other = Block { query: "other".to_owned(), ..block.clone() };
        assert_eq!(load(&other, at(1_000, 7)), None);
        fs::write(dir.path().join("a.md"), "another text").unwrap();
        assert_eq!(load(&block, at(1_000, 7)), None, "its note changed");
    }

    #[test]
    fn a_moment_knows_every_state_of_the_index() {
        let dir = tempfile::tempdir().unwrap();
        let index = dir.path().join("index.db");
        let state = || Moment::of(&index, 5).index;
        assert_eq!(state(), 0);
        fs::write(&index, "x").unwrap();
        let first = state();
        assert_ne!(first, 0);
        fs::write(dir.path().join("index.db-wal"), "").unwrap();
        assert_eq!(state(), first, "an empty log has nothing");
        fs::write(dir.path().join("index.db-wal"), "y").unwrap();
        assert_ne!(state(), first);
    }

    #[test]
    fn damage_is_no_block() {
        let (dir, config, block) = fixture();
        let vault = dir.path();
        for bad in [
            "",
            "postil-block 2\t5\t0\n",
            "postil-block 1\t5\n\nx",
            "postil-block 2\t5\t0\nN\t1\n\nx",
        ] {
            fs::create_dir_all(&config.paths.blocks).unwrap();
            fs::write(file(&config, &block, vault), bad).unwrap();
            let moment = Moment { now: 5, index: 0 };
            assert_eq!(load(&config, &block, vault, moment), None, "{bad:?}");
        }
    }
}
