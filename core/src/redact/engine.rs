//! One pass over a text: candidates from the prefilter, each read by its
//! detector; the spans they report are united and replaced.

use std::sync::OnceLock;

use super::pattern::{Match, Program};
use super::prefilter::{self, Owner};
use super::random::{is_wordlike, wordiness};
use super::scan::{byte, line_start, run_end, skip};
use super::table::{Edge, ROWS, Row};
use super::value::{Traits, is_placeholder};
use super::words::Cue;
use super::{command, label, pem, phrase, runs, web};

/// A stretch of bytes to hide and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span<'n> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: &'n str,
    /// Smaller wins the name where spans overlap.
    pub(super) rank: usize,
}

/// What the detectors found so far.
#[derive(Debug, Default)]
pub(super) struct Spans {
    list: Vec<Span<'static>>,
    /// The last unbroken run read: a cue further inside it ends where it ends,
    /// so that `key=key=key=…` is read once.
    run: std::ops::Range<usize>,
    /// The last table read, from its header to its last row.
    pub(super) table: std::ops::Range<usize>,
    /// Where the last line of cookies ended.
    pub(super) cookies: usize,
}

impl Spans {
    /// Adds a span of a detector that is not a row of the shape table.
    pub(super) fn add(&mut self, name: &'static str, start: usize, end: usize) {
        self.list.push(Span { start, end, name, rank: ROWS.len() });
    }

    /// Returns the end of the run at `at`, reading it at most once.
    pub(super) fn run_end(&mut self, at: usize, read: impl FnOnce() -> usize) -> usize {
        if !self.run.contains(&at) {
            self.run = at..read();
        }
        self.run.end
    }
}

static PROGRAMS: [OnceLock<Option<Program>>; ROWS.len()] = [const { OnceLock::new() }; ROWS.len()];

/// Finds every credential the tables know.
pub(super) fn find(text: &[u8]) -> Vec<Span<'static>> {
    let mut spans = Spans::default();
    let mut resume = [0; ROWS.len()];
    prefilter::scan(text, |at, key, owner| match owner {
        Owner::Row(idx) => {
            let idx = usize::from(idx);
            if let (Some(row), Some(from)) = (ROWS.get(idx), resume.get_mut(idx)) {
                *from = shape(text, at, row, idx, *from, &mut spans);
            }
        }
        Owner::Cue(cue) => detect(text, at, key, cue, &mut spans),
    });
    let known = covers(&spans.list);
    runs::scan(text, &known, &mut spans);
    spans.list
}

/// The stretches already hidden, disjoint and in text order.
fn covers(spans: &[Span<'_>]) -> Vec<(usize, usize)> {
    let mut list: Vec<(usize, usize)> = spans.iter().map(|span| (span.start, span.end)).collect();
    list.sort_unstable();
    let mut covers: Vec<(usize, usize)> = Vec::with_capacity(list.len());
    for (start, end) in list {
        match covers.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => covers.push((start, end)),
        }
    }
    covers
}

fn detect(text: &[u8], at: usize, key: &str, cue: Cue, spans: &mut Spans) {
    match cue {
        Cue::Password | Cue::Pass | Cue::Secret | Cue::Key => {
            label::detect(text, at, key, cue, spans);
        }
        Cue::Login => command::login(text, at, key, spans),
        Cue::Authorization => web::authorization(text, at, key, spans),
        Cue::Url => web::url(text, at, spans),
        Cue::Query => web::query(text, at, key, spans),
        Cue::Cookie => web::cookie(text, at, key, spans),
        Cue::Netrc => command::netrc(text, at, spans),
        Cue::Command => command::command(text, at, key, spans),
        Cue::PemBegin => pem::begin(text, at, spans),
        Cue::PemEnd => pem::end(text, at, spans),
        Cue::Putty => pem::putty(text, at, spans),
        Cue::Jwk => pem::jwk(text, at, key, spans),
        Cue::Chpasswd => command::chpasswd(text, at, spans),
        Cue::PgPass => command::pgpass(text, at, key, spans),
        Cue::Seed => phrase::seed(text, at, key, spans),
        Cue::Codes => phrase::codes(text, at, key, spans),
    }
}

/// Tries a row around a key; returns where the row's next attempt may start.
fn shape(
    text: &[u8],
    key_at: usize,
    row: &Row,
    idx: usize,
    from: usize,
    spans: &mut Spans,
) -> usize {
    let Some(program) = PROGRAMS[idx].get_or_init(|| Program::parse(row.pattern)) else {
        return from;
    };
    let mut furthest = from;
    for at in key_at.saturating_sub(usize::from(row.back))..=key_at {
        if at < from || !is_edge_left(text, at, row.edge) {
            continue;
        }
        match program.match_at(text, at) {
            Ok(found) if is_edge_right(text, found.end, row.edge) => {
                if is_credential(text, found, row) {
                    let found = Match { end: wrapped_end(text, found, row), ..found };
                    spans.list.push(Span {
                        start: found.start,
                        end: found.end,
                        name: row.name,
                        rank: idx,
                    });
                }
                return found.end;
            }
            Ok(_) => {}
            // A long failed attempt read one run to its end; a later start in
            // the same run ends at the same place.
            Err(read) if read > at + 256 => furthest = furthest.max(read - 64),
            Err(_) => {}
        }
    }
    furthest
}

/// Where a token goes on that was broken at the ends of lines: the next line
/// begins with a run that is no word and is all that stands on it, or is long.
fn wrapped_end(text: &[u8], found: Match, row: &Row) -> usize {
    let mut end = found.end;
    if row.edge == Edge::Both || found.end - found.start < 24 {
        return end;
    }
    for _ in 0..40 {
        let line = skip(text, end, b"\\ \r", 3);
        let start = skip(text, line + 1, b" \t>|", 12);
        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"+/_=.-".contains(&b);
        let next = run_end(text, start, 400, is_part);
        let run = text.get(start..next).unwrap_or_default();
        let is_alone = matches!(byte(text, next), b'\n' | b'\r' | 0);
        // A line that ends well to the right was broken there.
        let is_full = end - line_start(text, end, 120) >= 50;
        let is_tail = match run.len() {
            0 => false,
            1..24 => is_alone && is_full && !is_wordlike(run),
            _ => Traits::of(run).digit > 0 && wordiness(run) < 40,
        };
        // Another token of the same kind is one of its own.
        let is_next = run.get(..4) == text.get(found.start..found.start + 4);
        if byte(text, line) != b'\n' || !is_tail || is_next || run.starts_with(b"-") {
            break;
        }
        end = next;
    }
    end
}

/// True when no letter or digit stands directly before `at`, or it belongs to
/// an escape: `\n` in JSON, the `m` of an ANSI colour, `%3D`.
fn is_edge_left(text: &[u8], at: usize, edge: Edge) -> bool {
    if edge == Edge::Free || at == 0 {
        return true;
    }
    let before = text.get(at.saturating_sub(8)..at).unwrap_or_default();
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'm'] if before.contains(&0x1B) => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., last] if edge == Edge::Alone => !last.is_ascii_alphanumeric() && !is_in_blob(text, at),
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// True when a long run of base64 leads up to `at`.
fn is_in_blob(text: &[u8], at: usize) -> bool {
    let head = text.get(at.saturating_sub(40)..at).unwrap_or_default();
    let is_part = |b: &&u8| b.is_ascii_alphanumeric() || b"+/".contains(b);
    head.iter().rev().take_while(is_part).count() >= 24
}

fn is_edge_right(text: &[u8], end: usize, edge: Edge) -> bool {
    edge != Edge::Both || !text.get(end).is_some_and(u8::is_ascii_alphanumeric)
}

fn is_credential(text: &[u8], found: Match, row: &Row) -> bool {
    let span = text.get(found.start..found.end).unwrap_or_default();
    let mut seen = [false; 256];
    // A filler shows itself early in a long token.
    let span = span.get(..200).unwrap_or(span);
    span.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let variety = seen.iter().filter(|seen| **seen).count();
    variety >= usize::from(row.variety) && (!row.mixed || is_mixed(span)) && !is_placeholder(span)
}

/// True for letters and digits, or letters in both cases, that are no words.
fn is_mixed(span: &[u8]) -> bool {
    let traits = Traits::of(span);
    let has_two_kinds = traits.digit > 0 || traits.turns * 6 >= span.len();
    has_two_kinds && wordiness(span) < 40
}
