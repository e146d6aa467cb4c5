//! Puts what was just written into the index, so that the next prompt finds it.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::embed::Embedder;
use crate::error::Result;
use crate::ingest::source::Scope;
use crate::ingest::{Job, index};

/// How long a capture waits for another run that is indexing.
const WAIT: Duration = Duration::from_secs(2);

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// It is in the index.
    Done,
    /// There is no index yet, and making one takes longer than a capture may.
    NoIndex,
    /// Another run holds the index; the next one will see the file.
    Busy,
}

/// Brings the index up to date with the file at `path`, absolute; `None` looks
/// at the whole vault.
///
/// # Errors
/// As indexing: the index cannot be written, or the vault not read.
pub fn index_now(config: &Config, path: Option<&Path>) -> Result<Indexed> {
    if !config.paths.index.exists() {
        return Ok(Indexed::NoIndex);
    }
    let embedder = Embedder::open(&config.paths.model, &config.tables())?;
    let scope = Scope { allowed: config.allowed.clone(), excluded: config.excluded.clone() };
    let filter = config.filter()?;
    let job = Job {
        vault: config.vault()?,
        scope: &scope,
        db: &config.paths.index,
        embedder: embedder.as_ref(),
        filter: &filter,
        full: false,
        check: false,
        only: path,
    };
    let start = Instant::now();
    loop {
        let report = index(&job, &mut |_| true)?;
        if !report.is_busy {
            return Ok(Indexed::Done);
        }
        if start.elapsed() > WAIT {
            return Ok(Indexed::Busy);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
