//! A tool's output → an extract that holds every fact of it, or nothing.
//!
//! Bytes in, bytes out; pure but for `keep` (originals on disk) and `ledger`
//! (what was saved). The stages: `lines` (what a reader would have
//! seen), `template` (kinds of lines and what differs), `signal` (what a line
//! says by itself), `rank` (what it is worth), `select` (what is shown),
//! `render` (marks for the gaps), `facts` (what must be in the extract, read
//! from the raw text), `check` (a lossy or useless extract is refused).
//! Families whose shape is not a list of lines have a file each.

mod blame;
mod check;
mod diag;
mod document;
mod events;
mod facts;
mod failures;
mod family;
mod findings;
mod hash;
mod json;
pub mod keep;
pub mod ledger;
mod lines;
mod place;
mod rank;
mod render;
mod report;
mod select;
mod shape;
mod signal;
mod template;
mod words;
mod xml;

#[cfg(test)]
mod tests;

use family::Family;
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
    /// Most bytes an extract may have.
    pub max_bytes: usize,
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
    /// original, which `label` calls `full text` or what else it is. Ends with
    /// a line end.
    pub fn seal(self, label: &str, path: &[u8]) -> Vec<u8> {
        render::seal(self.body, label, path)
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

/// Listings under this many bytes are left alone.
const MIN_LISTING: usize = 8000;

/// Compresses an output; `None` means: leave it alone.
pub fn compress(output: &Output<'_>) -> Option<Extract> {
    if output.raw.len() < MIN_BYTES || is_extract(output.raw) {
        return None;
    }
    let lines = Lines::new(output.raw);
    match family::family(output.command, output.raw, &lines) {
        Family::File => None,
        // Every entry is an answer: a list that fits is left whole.
        Family::Listing if output.raw.len() < MIN_LISTING => None,
        Family::Json => document(output, &lines),
        Family::Xml => {
            xml_report(output, &lines).or_else(|| by_lines(output, Family::Text, &lines))
        }
        family => by_lines(output, family, &events::unwrap(output.raw).unwrap_or(lines)),
    }
}

/// An output that is a list of lines.
fn by_lines(output: &Output<'_>, family: Family, lines: &Lines) -> Option<Extract> {
    let clusters = template::cluster(lines);
    let mut seen = Seen::new(lines, &clusters, output.exit_code != 0);
    if seen.is_prose()
        && output.exit_code == 0
        && output.raw.len() <= MAX_SHOWN
        && family == Family::Text
    {
        return None;
    }
    let mut ranks = rank::rank(&seen);
    match family {
        Family::Search => shape::search(&seen, &mut ranks),
        Family::Listing => shape::listing(&seen, &mut ranks),
        Family::Diff => shape::diff(&seen, &mut ranks),
        Family::Log => shape::log(&seen, &mut ranks),
        Family::Tree => shape::tree(&seen, &mut ranks),
        _ => {}
    }
    seen.cuts = rank::cuts(&seen, &ranks);
    let limits = limits(output, family);
    let findings = (family == Family::Text).then(|| report::fold(&seen, &mut ranks, limits));
    let findings = findings.flatten().unwrap_or_default();
    let rest = limits.without(findings.len());
    let exact = matches!(family, Family::Search | Family::Diff | Family::Listing);
    let facts = facts::facts(&seen, &ranks, rest, exact);
    let keep = select::select(&seen, &ranks, rest);
    let page = select::page(&seen, &keep, exact);
    let n_omitted = page.n_omitted;
    let mut body = page.into_bytes();
    body.extend(findings);
    if family == Family::Search && n_omitted > 0 {
        body.extend(shape::by_file(&seen, limits.soft / 2).unwrap_or_default());
    }
    body.extend(render::closing(lines.n_raw, n_omitted, output.exit_code, &facts.notes()));
    let name =
        if family == Family::Text { family::label(output.command, lines) } else { family.name() };
    let extract = Extract { body, family: name, n_lines: lines.n_raw, n_omitted };
    check::accept(output, &facts, limits, &extract).then_some(extract)
}

/// A JSON document: a linter's report, or arrays shortened, as rich in detail
/// as the budget allows.
fn document(output: &Output<'_>, lines: &Lines) -> Option<Extract> {
    let Some(doc) = json::Doc::parse(output.raw) else {
        return by_lines(
            output,
            Family::Text,
            &events::unwrap(output.raw).unwrap_or_else(|| Lines::new(output.raw)),
        );
    };
    let limits = limits(output, Family::Json);
    let facts = facts::of_document(&doc);
    let closed = |mut body: Vec<u8>| {
        body.extend_from_slice(
            format!("\n[JSON of {} lines, items omitted as […]", lines.n_raw).as_bytes(),
        );
        if output.exit_code != 0 {
            body.extend_from_slice(format!("; exit {}", output.exit_code).as_bytes());
        }
        Extract { body, family: Family::Json.name(), n_lines: lines.n_raw, n_omitted: 0 }
    };
    let target = limits.soft + limits.soft / 4;
    let report =
        diag::tests(&doc, target).or_else(|| diag::render(&doc, target)).map(|mut body| {
            body.pop();
            closed(body)
        });
    report
        .filter(|extract| {
            extract.body.len() <= limits.hard && check::worth(output, limits, extract)
        })
        .or_else(|| {
            document::DETAILS
                .iter()
                .map(|&detail| closed(document::render(&doc, detail)))
                .find(|extract| extract.body.len() <= limits.soft)
                .or_else(|| {
                    document::DETAILS.last().map(|&detail| closed(document::render(&doc, detail)))
                })
                .filter(|extract| check::accept(output, &facts, limits, extract))
        })
}

/// A report in XML.
fn xml_report(output: &Output<'_>, lines: &Lines) -> Option<Extract> {
    let limits = limits(output, Family::Xml);
    let mut body = xml::render(output.raw, limits.soft + limits.soft / 4)?;
    body.extend(format!("[XML of {} lines, items omitted as […]", lines.n_raw).into_bytes());
    if output.exit_code != 0 {
        body.extend_from_slice(format!("; exit {}", output.exit_code).as_bytes());
    }
    let extract = Extract { body, family: Family::Xml.name(), n_lines: lines.n_raw, n_omitted: 0 };
    (extract.body.len() <= limits.hard && check::worth(output, limits, &extract)).then_some(extract)
}

/// The budget: a share of what the client would show; fixed small sizes where
/// the client itself shows next to nothing.
fn limits(output: &Output<'_>, family: Family) -> Limits {
    let n = output.raw.len();
    let rows = matches!(family, Family::Search | Family::Diff | Family::Log | Family::Listing);
    let (soft, hard) = if output.exit_code != 0 {
        ((n * 2 / 5).clamp(2000, if rows { 6000 } else { 3600 }), 9000)
    } else if n > MAX_SHOWN {
        (if rows { 1500 } else { 1100 }, 3000)
    } else if rows {
        // Of commits the bodies count as well.
        (if family == Family::Log { n / 2 } else { n * 2 / 5 }, n * 2 / 3)
    } else {
        ((n / 4).clamp(1000, 4000), (n * 2 / 3).max(1500))
    };
    Limits { soft: soft.min(output.max_bytes), hard: hard.min(output.max_bytes) }
}

/// Characters beyond which Claude Code shows a preview of a successful
/// command's output only.
const MAX_SHOWN: usize = 30_000;
/// What it shows then.
const PREVIEW: usize = 2_000;
/// Characters of a failing command's output that it shows, head and tail.
const MAX_FAILED: usize = 10_000;

/// The bytes that Claude Code shows of an output by itself.
pub fn shown_by_client(n_bytes: usize, exit_code: i32) -> usize {
    match exit_code {
        0 if n_bytes > MAX_SHOWN => PREVIEW,
        0 => n_bytes,
        _ => n_bytes.min(MAX_FAILED),
    }
}
