//! How much each line is worth: 0 must stay, 9 is noise.
//!
//! The order of worth: verdicts, failures, places, tallies, lines unlike their
//! neighbours (0-1); what explains a failure, by distance (1-4); the first and
//! last of each kind (6-7); more of the same kind (8); rulers, blank lines and
//! frames of libraries (9).
#![allow(
    clippy::needless_range_loop,
    reason = "a line's rank is decided with its neighbours in view"
)]

use super::blame;
use super::hash::{Map, hash};
use super::lines::Lines;
use super::place::Frame;
use super::render::show;
use super::signal::{Severity, Signal, signal};
use super::template::{BLANK, Clusters};

/// Lines that must stay.
pub(super) const MUST: u8 = 0;
/// Lines that stay unless the hard limit forbids it.
pub(super) const SHOULD: u8 = 1;
/// The best rank of a line that only shows what its kind looks like.
pub(super) const SAMPLE: u8 = 6;
/// More of the same kind.
pub(super) const COMMON: u8 = 8;
/// Nothing is lost without these.
pub(super) const NOISE: u8 = 9;

/// Names of failures, and errors with their place, are all kept up to so many
/// of a kind; of more, these and the last.
pub(super) const MAX_NAMED: u32 = 120;
/// Details of one kind that are all kept.
pub(super) const MAX_ALIKE: u32 = 8;

/// An output seen line by line.
pub(super) struct Seen<'a> {
    pub(super) lines: &'a Lines,
    pub(super) clusters: &'a Clusters,
    pub(super) signals: Vec<Signal>,
    /// The largest cluster whose lines still count as rare.
    pub(super) rare_max: u32,
    /// Share of non-blank lines that are rare.
    pub(super) rare_share: f64,
    /// Where the shown part of each line ends; 0 shows all of it.
    pub(super) cuts: Vec<u32>,
    /// The command failed.
    pub(super) failed: bool,
}

impl<'a> Seen<'a> {
    /// Reads the signals of all lines.
    pub(super) fn new(lines: &'a Lines, clusters: &'a Clusters, failed: bool) -> Self {
        let mut signals: Vec<Signal> = lines.iter().map(signal).collect();
        if failed {
            for (signal, line) in signals.iter_mut().zip(lines.iter()) {
                if is_numbered(line) && !signal.pass {
                    signal.severity = Severity::Strong;
                }
            }
        }
        let n = signals.iter().filter(|s| !s.blank).count().max(1);
        let rare_max = u32::try_from(n / 100).unwrap_or(4).clamp(1, 4);
        let rare =
            (0..lines.len()).filter(|&i| (1..=rare_max).contains(&clusters.size_of(i))).count();
        Self {
            lines,
            clusters,
            signals,
            rare_max,
            rare_share: rare as f64 / n as f64,
            cuts: Vec::new(),
            failed,
        }
    }

    /// Whether this is a text to be read: hardly two lines alike, hardly a
    /// word of failure.
    pub(super) fn is_prose(&self) -> bool {
        let bad = self.signals.iter().filter(|s| s.severity >= Severity::Warning).count();
        self.rare_share > 0.6 && bad * 50 <= self.signals.len()
    }

    /// Whether line `idx` is of a kind hardly seen in this output.
    pub(super) fn is_rare(&self, idx: usize) -> bool {
        (1..=self.rare_max).contains(&self.clusters.size_of(idx))
    }

    /// Whether line `idx` is one of many of its kind.
    pub(super) fn is_usual(&self, idx: usize) -> bool {
        let size = self.clusters.size_of(idx) as usize;
        size > 12 && size * 16 > self.lines.len() && !self.clusters.is_outlier(idx)
    }

    /// Appends line `idx` as it is shown.
    pub(super) fn show(&self, idx: usize, exact: bool, out: &mut Vec<u8>) {
        let line = self.lines.get(idx);
        match self.cuts.get(idx) {
            Some(&cut) if cut > 0 => {
                show(line.get(..cut as usize).unwrap_or(line), exact, out);
                out.extend_from_slice(" …".as_bytes());
            }
            _ => show(line, exact, out),
        }
    }

    /// Whether line `idx` is a verdict on the whole: kept before any other.
    pub(super) fn is_verdict(&self, idx: usize) -> bool {
        let signal = self.signal(idx);
        signal.tally
            || idx + 3 >= self.lines.len()
            || signal.severity == Severity::Strong && self.clusters.size_of(idx) <= 3
    }

    pub(super) fn signal(&self, idx: usize) -> Signal {
        self.signals.get(idx).copied().unwrap_or_default()
    }
}

/// `  1) Caja cierra con saldo`: how test runners number what failed.
pub(super) fn is_numbered(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (1..=3).contains(&digits) && text.get(digits..digits + 2) == Some(b") ")
}

/// Ranks all lines.
pub(super) fn rank(seen: &Seen<'_>) -> Vec<u8> {
    let mut ranks = vec![COMMON; seen.lines.len()];
    kinds(seen, &mut ranks);
    rare(seen, &mut ranks);
    blame::severities(seen, &mut ranks);
    blame::explanations(seen, &mut ranks);
    blame::frames(seen, &mut ranks);
    blame::arrows(seen, &mut ranks);
    blame::findings(seen, &mut ranks);
    blame::lists(seen, &mut ranks);
    blame::repeated_in_summary(seen, &mut ranks);
    blame::headings(seen, &mut ranks);
    ends(seen, &mut ranks);
    block_heads(seen, &mut ranks);
    duplicates(seen, &mut ranks);
    ranks
}

pub(super) fn raise(ranks: &mut [u8], idx: usize, to: u8) {
    if let Some(rank) = ranks.get_mut(idx) {
        *rank = (*rank).min(to);
    }
}

/// The first and the last of each kind; of a kind that makes up the output,
/// as a table's rows do, the first five.
fn kinds(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let mut count = vec![0_u32; seen.clusters.size.len()];
    let mut last = vec![0_usize; seen.clusters.size.len()];
    for (idx, &c) in seen.clusters.of.iter().enumerate() {
        let signal = seen.signal(idx);
        if c == BLANK || signal.ruler {
            ranks[idx] = NOISE;
            continue;
        }
        let Some(nth) = count.get_mut(c as usize) else { continue };
        *nth += 1;
        let size = seen.clusters.size_of(idx) as usize;
        match *nth {
            1 => raise(ranks, idx, SAMPLE),
            2..=5 if size * 2 > n && !signal.pass => raise(ranks, idx, SAMPLE),
            2 if size * 5 > n && !signal.pass => raise(ranks, idx, SAMPLE + 1),
            _ => {}
        }
        if let Some(last) = last.get_mut(c as usize) {
            *last = idx;
        }
    }
    for (cluster, &idx) in last.iter().enumerate() {
        if seen.clusters.size.get(cluster).is_some_and(|&n| n > seen.rare_max) {
            raise(ranks, idx, SAMPLE + 1);
        }
    }
}

/// Lines unlike their neighbours, and lines that differ from their own kind.
fn rare(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let outliers = (0..n).filter(|&i| seen.clusters.is_outlier(i)).count();
    let outlier_rank = if outliers * 12 <= n.max(36) { MUST } else { 4 };
    let mut block = 0_u8;
    for idx in 0..n {
        let signal = seen.signal(idx);
        if signal.blank {
            continue;
        }
        if seen.clusters.is_outlier(idx) && !signal.ruler {
            raise(ranks, idx, outlier_rank);
        }
        if !seen.is_rare(idx) {
            block = 0;
            continue;
        }
        block = block.saturating_add(1);
        if signal.ruler || signal.quote || signal.pass && signal.frame == Frame::None && block > 3 {
            continue;
        }
        let rank = match (seen.rare_share, block) {
            (..=0.35, 1..=4) => MUST,
            (..=0.35, 5..=8) => 2,
            (..=0.35, _) | (..=0.6, 1..=3) => 3,
            (..=0.6, _) => 4,
            _ => 5,
        };
        raise(ranks, idx, rank);
    }
}

/// The first line, the last lines.
fn ends(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let mut kept = 0;
    for idx in (0..n).rev() {
        let signal = seen.signal(idx);
        if signal.blank || signal.ruler || signal.frame == Frame::Library {
            continue;
        }
        kept += 1;
        match kept {
            1 => raise(ranks, idx, MUST),
            2..=4 if seen.is_rare(idx) => raise(ranks, idx, SHOULD),
            2..=6 if seen.is_rare(idx) => raise(ranks, idx, 3),
            _ => {}
        }
        if kept == 6 {
            break;
        }
    }
    if let Some(first) = (0..n).find(|&idx| !seen.signal(idx).blank && !seen.signal(idx).ruler) {
        raise(ranks, first, SHOULD);
    }
    // The heads of a table's columns stand above a ruler.
    for idx in 0..n.min(10) {
        if seen.signal(idx + 1).ruler && !seen.signal(idx).ruler && !seen.signal(idx).blank {
            raise(ranks, idx, SHOULD);
        }
    }
}

/// The fourth of several identical lines adds nothing, unless it is a row
/// under another file's name.
fn duplicates(seen: &Seen<'_>, ranks: &mut [u8]) {
    let mut met: Map<u64, u32> = Map::default();
    for (idx, rank) in ranks.iter_mut().enumerate().filter(|(_, rank)| **rank < COMMON) {
        let line = seen.lines.get(idx).trim_ascii();
        let row = seen.signal(idx).place && line.first().is_some_and(u8::is_ascii_digit);
        let times = met.entry(hash(line)).or_default();
        *times += 1;
        if *times > 3 && !row {
            *rank = (*rank).max(COMMON);
        }
    }
}

/// The head of a block of deeper lines says what the block is about.
fn block_heads(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    for idx in 0..n.saturating_sub(1) {
        let (own, next) = (seen.signal(idx), seen.signal(idx + 1));
        let head = !own.blank
            && !next.blank
            && next.indent > own.indent
            && !own.ruler
            && own.frame == Frame::None
            && !own.quote;
        if head
            && !own.pass
            && seen.clusters.size_of(idx) as usize * 6 < n
            && ranks.get(idx).is_some_and(|&r| r < NOISE)
        {
            raise(ranks, idx, 5);
        }
    }
}

/// Where the shown part of a line ends: in a long list of alike failures the
/// message after ` - ` is cut off from all but the first few.
pub(super) fn cuts(seen: &Seen<'_>, ranks: &[u8]) -> Vec<u32> {
    let mut met: Map<u32, u32> = Map::default();
    (0..seen.lines.len())
        .map(|idx| {
            let many = seen.clusters.size_of(idx) > 2 * MAX_ALIKE;
            if !many
                || ranks.get(idx) != Some(&MUST)
                || seen.signal(idx).severity != Severity::Strong
            {
                return 0;
            }
            let nth = met.entry(seen.clusters.of.get(idx).copied().unwrap_or(BLANK)).or_default();
            *nth += 1;
            let line = seen.lines.get(idx);
            let cut = memchr::memmem::find(line, b" - ")
                .filter(|&at| *nth > MAX_ALIKE && at > 16 && line.len() > at + 12);
            cut.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
        })
        .collect()
}
