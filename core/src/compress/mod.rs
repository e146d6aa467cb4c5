//! A tool's output → an extract that holds every fact of it, or nothing.
//!
//! Bytes in, bytes out; pure. The stages: `lines` (what a reader would have
//! seen), `template` (kinds of lines and what differs), `signal` (what a line
//! says by itself), `rank` (what it is worth), `select` (what is shown),
//! `render` (marks for the gaps), `facts` (what must be in the extract, read
//! from the raw text), `check` (a lossy or useless extract is refused).
//! Families whose shape is not a list of lines have a file each.

mod check;
mod facts;
mod lines;
mod rank;
mod render;
mod select;
mod signal;
mod template;
mod words;

use lines::Lines;
use rank::Seen;
use select::Limits;

pub use check::MIN_BYTES;

/// A tool's output and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// The command line; may be empty.
    pub command: &'a [u8],
    /// Its exit status.
    pub exit_code: i32,
    /// Everything it wrote, both streams.
    pub raw: &'a [u8],
    /// What the client would show of it by itself, in bytes: larger extracts
    /// are useless.
    pub shown_by_client: usize,
}

/// An extract that passed its checks; not sealed yet.
#[derive(Debug)]
pub struct Extract {
    body: Vec<u8>,
    /// The family it was read as, for the statistics.
    pub family: &'static str,
    /// Lines of the raw text.
    pub n_lines: u32,
    /// Lines not shown.
    pub n_omitted: u32,
}

impl Extract {
    /// The text that replaces the output: names `path` as the place of the
    /// full text. Ends with a line end.
    pub fn seal(self, path: &[u8]) -> Vec<u8> {
        render::seal(self.body, path)
    }

    /// The text without its closing path.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Replaces the text, for the credential filter.
    pub fn map(self, f: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Self {
        Self { body: f(self.body), ..self }
    }
}

/// Whether `text` is an extract made earlier.
pub fn is_extract(text: &[u8]) -> bool {
    render::is_sealed(text)
}

/// Compresses an output; `None` means: leave it alone.
pub fn compress(output: &Output<'_>) -> Option<Extract> {
    if output.raw.len() < MIN_BYTES || is_extract(output.raw) {
        return None;
    }
    let lines = Lines::new(output.raw);
    let clusters = template::cluster(&lines);
    let seen = Seen::new(&lines, &clusters);
    let ranks = rank::rank(&seen);
    let limits = limits(output);
    let facts = facts::facts(&seen, &ranks);
    let keep = select::select(&seen, &ranks, limits);
    let page = select::page(&seen, &keep);
    let n_omitted = page.n_omitted;
    let notes = facts.notes();
    let mut body = page.into_bytes();
    body.extend(render::closing(lines.n_raw, n_omitted, output.exit_code, &notes));
    let extract = Extract { body, family: "text", n_lines: lines.n_raw, n_omitted };
    check::accept(output, &facts, limits, &extract).then_some(extract)
}

/// The budget: a share of what the client would show; fixed small sizes where
/// the client itself shows next to nothing.
fn limits(output: &Output<'_>) -> Limits {
    let n = output.raw.len();
    if output.exit_code != 0 {
        Limits { soft: (n / 4).clamp(1600, 3200), hard: 9000 }
    } else if n > 30_000 {
        Limits { soft: 1500, hard: 5500 }
    } else {
        Limits { soft: (n / 6).clamp(800, 3000), hard: (n * 2 / 3).max(1500) }
    }
}
