//! Context blocks: what every session starts with, by the user's configuration.
//!
//! A rendered block is kept in a file and given out byte for byte until its time
//! is up or one of its notes changes; then it is made anew. A valid block costs
//! a read and a `stat` for each of its notes; the index stays closed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::fresh::Stamp;
use crate::config::{Block, Config};
use crate::ingest::key;
use crate::text::fnv1a;

/// First line of a kept block: raise the number when the form changes.
const MAGIC: &str = "postil-block 1";

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

/// Returns the kept block, if it still holds at `now`, in seconds.
pub(super) fn load(config: &Config, block: &Block, vault: &Path, now: u64) -> Option<Rendered> {
    let text = fs::read_to_string(file(config, block, vault)).ok()?;
    let (rendered, made) = parse(&text)?;
    let age = now.checked_sub(made)?;
    let is_unchanged = |(path, stamp): &(String, Stamp)| {
        Stamp::of(&vault.join(key::to_path(path))) == Some(*stamp)
    };
    (age < block.ttl.as_secs() && rendered.notes.iter().all(is_unchanged)).then_some(rendered)
}

/// Keeps a block; that it cannot be kept costs only time.
pub(super) fn save(config: &Config, block: &Block, vault: &Path, rendered: &Rendered, now: u64) {
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&config.paths.blocks)?;
        // Mode 0600, and never seen half-written.
        let mut file = tempfile::NamedTempFile::new_in(&config.paths.blocks)?;
        file.write_all(format(rendered, now).as_bytes())?;
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

fn format(rendered: &Rendered, now: u64) -> String {
    let mut out = format!("{MAGIC}\t{now}\n");
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

fn parse(text: &str) -> Option<(Rendered, u64)> {
    let (head, text) = text.split_once("\n\n")?;
    let mut lines = head.lines();
    let made = lines.next()?.strip_prefix(MAGIC)?.strip_prefix('\t')?.parse().ok()?;
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
        assert_eq!(load(&config, &block, vault, 1_000), None);
        save(&config, &block, vault, &rendered, 1_000);
        assert_eq!(load(&config, &block, vault, 1_000), Some(rendered.clone()));
        assert_eq!(load(&config, &block, vault, 1_059), Some(rendered));
        assert_eq!(load(&config, &block, vault, 1_060), None, "its time is up");
        assert_eq!(load(&config, &block, vault, 999), None, "made in the future");
        let other = Block { query: "other".to_owned(), ..block.clone() };
        assert_eq!(load(&config, &other, vault, 1_000), None);
        fs::write(dir.path().join("a.md"), "another text").unwrap();
        assert_eq!(load(&config, &block, vault, 1_000), None, "its note changed");
    }

    #[test]
    fn damage_is_no_block() {
        let (dir, config, block) = fixture();
        let vault = dir.path();
        for bad in
            ["", "postil-block 1\t5\n", "postil-block 2\t5\n\nx", "postil-block 1\t5\nN\t1\n\nx"]
        {
            fs::create_dir_all(&config.paths.blocks).unwrap();
            fs::write(file(&config, &block, vault), bad).unwrap();
            assert_eq!(load(&config, &block, vault, 5), None, "{bad:?}");
        }
    }
}
