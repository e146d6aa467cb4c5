//! What the vault has near a signal, from the index.

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::Result;
use postil_core::recall::{Options, Query, recall};
use postil_core::store::{Opened, Reader};
use postil_core::text;
use postil_core::triage::signal::{Neighbour, Signal};

/// Passages that are looked at; those of signals do not count, so there are
/// more than are kept.
const N_ASKED: usize = 24;
/// Passages that are kept.
const N_KEPT: usize = 5;
/// What is asked of a signal beyond its title, in bytes: the beginning says
/// what it is about.
const MAX_ASKED_BYTES: usize = 600;

/// The index, where there is one.
pub(crate) struct Nearby {
    reader: Option<Box<Reader>>,
    embedder: Option<Embedder>,
    /// Folders that say nothing of what the user keeps.
    left_out: Vec<String>,
}

impl Nearby {
    /// Opens the index; without one every signal is judged by itself.
    pub(crate) fn open(config: &Config) -> Result<Self> {
        let reader = match Reader::open(&config.paths.index)? {
            Opened::Ready(reader) => Some(reader),
            Opened::Absent | Opened::Foreign => None,
        };
        let embedder = Embedder::open(&config.paths.model, &config.tables()).unwrap_or_default();
        let triage = &config.triage;
        let left_out = [&config.capture.inbox, &triage.review, &triage.archive];
        let left_out = left_out.map(|folder| format!("{folder}/")).to_vec();
        Ok(Self { reader, embedder, left_out })
    }

    pub(crate) fn has_index(&self) -> bool {
        self.reader.is_some()
    }

    /// The passages near `signal`, nearest first; `None` without an index.
    pub(crate) fn find(&self, signal: &Signal) -> Result<Option<Vec<Neighbour>>> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let asked = format!("{}\n{}", signal.title, text::prefix(&signal.text, MAX_ASKED_BYTES));
        let options = Options { limit: N_ASKED, ..Options::default() };
        let answer = recall(reader, self.embedder.as_ref(), &Query::plain(&asked), &options)?;
        let is_kept = |path: &str| !self.left_out.iter().any(|folder| path.starts_with(folder));
        let hits = answer.hits.into_iter().filter(|hit| is_kept(&hit.note.path));
        let neighbours = hits.take(N_KEPT).map(|hit| Neighbour {
            title: hit.note.meta.title.clone(),
            domain: hit.note.meta.domain.clone(),
            path: hit.note.path,
            text: hit.chunk.text,
        });
        Ok(Some(neighbours.collect()))
    }
}
