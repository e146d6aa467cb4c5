//! The steps that every way in shares: compress, filter credentials, store the
//! original, name it in the extract.

use std::os::unix::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use postil_lean::compress::{Output, compress, keep, ledger};
use postil_lean::config::Config;
use postil_lean::error::Result;

/// A text to be shortened.
pub(crate) struct Text<'a> {
    /// The command line, or the tool's name.
    pub(crate) command: &'a [u8],
    pub(crate) exit_code: i32,
    pub(crate) raw: &'a [u8],
    /// Bytes the client shows of it by itself.
    pub(crate) shown_by_client: usize,
    /// The client has cut it already.
    pub(crate) is_cut: bool,
    /// Most bytes the client takes from a hook.
    pub(crate) cap: usize,
}

/// What replaces it.
pub(crate) struct Short {
    pub(crate) text: Vec<u8>,
    record: ledger::Record,
}

/// Shortens a text; `None` leaves it alone. The original is on disk when this
/// returns; when it cannot be stored, that is the error.
pub(crate) fn shorten(text: &Text<'_>, config: &Config) -> Result<Option<Short>> {
    let max_bytes = config.compress.max_tokens.saturating_mul(237) / 100;
    let output = Output {
        command: text.command,
        exit_code: text.exit_code,
        raw: text.raw,
        shown_by_client: text.shown_by_client,
        max_bytes: max_bytes.min(text.cap),
    };
    let Some(extract) = compress(&output) else { return Ok(None) };
    let filter = config.filter()?;
    let extract = extract.map(|body| filter.scrub_bytes(&body).0);
    let path = keep::keep(&config.paths.outputs, text.raw)?;
    let family = extract.family.to_owned();
    let label = if text.is_cut { "text as received" } else { "full text" };
    let short = extract.seal(label, path.as_os_str().as_bytes());
    let record = ledger::Record {
        time: now(),
        family,
        raw_bytes: text.raw.len(),
        client_bytes: text.shown_by_client.min(text.raw.len()),
        shown_bytes: short.len(),
    };
    Ok(Some(Short { text: short, record }))
}

impl Short {
    /// The text as JSON can carry it, without the last line end.
    pub(crate) fn to_text(&self) -> String {
        String::from_utf8_lossy(self.text.trim_ascii_end()).into_owned()
    }

    /// Notes the saving and drops originals that are too old or too many.
    pub(crate) fn settle(self, config: &Config) {
        ledger::record(&config.paths.state, &self.record);
        prune(config);
    }
}

/// Drops originals that are too old or too many.
pub(crate) fn prune(config: &Config) {
    let max_bytes =
        u64::try_from(config.compress.keep_megabytes).unwrap_or(u64::MAX).saturating_mul(1 << 20);
    keep::prune(&config.paths.outputs, config.compress.keep, max_bytes, SystemTime::now());
}

/// Whether a command is the product's own, or reads a stored original back:
/// such output is never shortened.
pub(crate) fn is_own(command: &[u8], config: &Config) -> bool {
    let has = |part: &[u8]| !part.is_empty() && memchr_find(command, part);
    has(b"compress-output")
        || has(b"context-inject")
        || has(b"vault-mcp")
        || reads_original(command, config)
        || first_word(command).ends_with(b"postil")
}

/// Whether a command names a stored original.
pub(crate) fn reads_original(command: &[u8], config: &Config) -> bool {
    let folder = config.paths.outputs.as_os_str().as_bytes();
    let home = config.host.home.as_os_str().as_bytes();
    let below = folder.strip_prefix(home).filter(|_| !home.is_empty());
    memchr_find(command, folder)
        || below.is_some_and(|below| {
            [b"~".as_slice(), b"$HOME", b"${HOME}"]
                .iter()
                .any(|home| memchr_find(command, &[home, below].concat()))
        })
}

/// Whether the user wants a command left alone.
pub(crate) fn is_skipped(command: &[u8], config: &Config) -> bool {
    let command = command.trim_ascii_start();
    config.compress.skip.iter().any(|skip| {
        command.strip_prefix(skip.as_bytes()).is_some_and(|rest| {
            rest.first().is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'-' && *b != b'_')
        })
    })
}

fn first_word(command: &[u8]) -> &[u8] {
    command.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

fn memchr_find(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
