//! What every action works on: configuration, index, model and filter.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::ingest::key;
use postil_core::recall::Hit;
use postil_core::redact::Filter;
use postil_core::store::{Opened, Reader};

use crate::args::Args;

/// An open index and what belongs to it.
pub(crate) struct Vault {
    pub(crate) config: Config,
    pub(crate) reader: Box<Reader>,
    /// `None`: words only.
    pub(crate) embedder: Option<Embedder>,
    filter: Filter,
    /// Where the notes are, as far as anybody said.
    pub(crate) root: Option<PathBuf>,
    here: Option<PathBuf>,
}

impl Vault {
    pub(crate) fn open(args: &Args) -> Result<Self> {
        let config = Config::load(&args.overrides)?;
        let db = &config.paths.index;
        let reader = match Reader::open(db)? {
            Opened::Ready(reader) => reader,
            Opened::Absent => {
                let doing = format!("no index at {}; run `postil index`", db.display());
                return Err(Error::new(ErrorKind::Store, doing));
            }
            Opened::Foreign => {
                let doing = format!(
                    "the index at {} is of another version; run `postil index`",
                    db.display()
                );
                return Err(Error::new(ErrorKind::Store, doing));
            }
        };
        let embedder = Embedder::open(&config.paths.model, &config.tables())?;
        let filter = config.filter()?;
        let root = match &config.vault {
            Some(vault) => Some(vault.clone()),
            None => reader.meta("vault")?.map(PathBuf::from),
        };
        let here = std::env::current_dir().ok();
        Ok(Self { config, reader, embedder, filter, root, here })
    }

    /// Filters a text again on its way out.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.filter.scrub(text).text.into_string()
    }

    pub(crate) fn scrub_hit(&self, hit: &mut Hit) {
        for text in [&mut hit.chunk.text, &mut hit.chunk.heading, &mut hit.note.meta.title] {
            *text = self.scrub(text);
        }
    }

    /// The file of a note.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        let path = key::to_path(path);
        self.root.as_ref().map_or_else(|| path.clone(), |root| root.join(&path))
    }

    /// A path that leads to the note from the current folder, for people and
    /// terminals to follow: relative where the vault is below it.
    pub(crate) fn shown(&self, path: &str) -> String {
        let file = self.file(path);
        let below = self.here.as_deref().and_then(|here| file.strip_prefix(here).ok());
        below.map_or(Cow::Borrowed(file.as_path()), Cow::Borrowed).display().to_string()
    }

    /// Says on standard error what makes answers worse than they could be.
    pub(crate) fn say_what_is_odd(&self) {
        for warning in &self.config.warnings {
            crate::note(warning);
        }
        if self.embedder.is_none() {
            let folder = self.config.paths.model.display();
            crate::note(&format!(
                "no model in {folder}: words only; `postil model install DIR` adds meaning"
            ));
        }
    }
}

/// Makes a path that was typed relative to the vault.
pub(crate) fn relative(typed: &str, root: Option<&Path>) -> String {
    let root = root.map(|root| root.to_string_lossy().into_owned());
    let inside = root.and_then(|root| Some(typed.strip_prefix(&root)?.trim_start_matches('/')));
    inside.unwrap_or(typed).to_owned()
}
