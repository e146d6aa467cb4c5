//! Ranks and a budget → which lines are shown, and the page they make.

use super::rank::{COMMON, MUST, NOISE, SHOULD, Seen};
use super::render::{Page, shown};
use super::template::BLANK;

/// Bytes an extract may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Explanations and samples are added up to here.
    pub(super) soft: usize,
    /// Nothing goes beyond here.
    pub(super) hard: usize,
}

impl Limits {
    /// What is left beside `n` bytes that are shown in any case.
    pub(super) fn without(self, n: usize) -> Self {
        if n == 0 {
            return self;
        }
        let soft = self.soft.saturating_sub(n).max(300).min(self.soft);
        Self { soft, hard: self.hard.saturating_sub(n).max(soft) }
    }
}

/// What a gap mark costs, about.
const MARK: usize = 14;
/// A gap note is worth its bytes from this many lines on.
const NOTED: usize = 5;

/// Which lines to show.
pub(super) fn select(seen: &Seen<'_>, ranks: &[u8], limits: Limits) -> Vec<bool> {
    let n = seen.lines.len();
    let mut keep = vec![false; n];
    let mut bytes = 0;
    for level in MUST..NOISE {
        let limit = match level {
            MUST..=SHOULD => limits.hard,
            2..=3 => (limits.soft + limits.soft / 4).min(limits.hard),
            _ => limits.soft,
        };
        let mut members: Vec<usize> =
            (0..n).filter(|&idx| ranks.get(idx) == Some(&level)).collect();
        let total: usize = members.iter().map(|&idx| cost(seen, &keep, idx)).sum();
        if level == COMMON && bytes + total > limit {
            break;
        }
        // What must stay and does not fit is thinned evenly over the output,
        // not cut at its end; verdicts come first.
        let mut stride = 1;
        if level <= SHOULD && bytes + total > limit {
            stride = (bytes + total).div_ceil(limit.saturating_sub(bytes).max(1)).max(2);
            let (verdicts, others): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|&idx| seen.is_verdict(idx));
            members = verdicts;
            members.extend(others);
        }
        for (nth, idx) in members.into_iter().enumerate() {
            let add = cost(seen, &keep, idx);
            if (nth % stride == 0 || stride > 1 && seen.is_verdict(idx)) && bytes + add <= limit {
                keep[idx] = true;
                bytes += add;
            }
        }
    }
    fill(seen, &mut keep);
    keep
}

/// Bytes that showing line `idx` adds.
fn cost(seen: &Seen<'_>, keep: &[bool], idx: usize) -> usize {
    let joined = idx > 0 && keep.get(idx - 1) == Some(&true) || keep.get(idx + 1) == Some(&true);
    let len = match seen.cuts.get(idx) {
        Some(&cut) if cut > 0 => cut as usize + 4,
        _ => seen.lines.get(idx).len().min(720),
    };
    len + 1 + if joined { 0 } else { MARK }
}

/// Shows lines that cost no more than the mark that would replace them.
fn fill(seen: &Seen<'_>, keep: &mut [bool]) {
    let mut out = Vec::new();
    let mut idx = 0;
    while idx < keep.len() {
        if keep[idx] {
            idx += 1;
            continue;
        }
        let end = (idx..keep.len()).find(|&i| keep[i]).unwrap_or(keep.len());
        out.clear();
        if end - idx <= 3 {
            for i in idx..end {
                shown(seen.lines.get(i), &mut out);
                out.push(b'\n');
            }
            if out.len() <= MARK {
                keep[idx..end].iter_mut().for_each(|k| *k = true);
            }
        }
        idx = end;
    }
}

/// Renders the shown lines with marks for the gaps.
pub(super) fn page<'a>(seen: &Seen<'a>, keep: &[bool], exact: bool) -> Page<'a> {
    let mut page = Page::new(seen.lines);
    let mut idx = 0;
    while idx < keep.len() {
        if keep[idx] {
            page.line(|out| seen.show(idx, exact, out));
            idx += 1;
            continue;
        }
        let end = (idx..keep.len()).find(|&i| keep[i]).unwrap_or(keep.len());
        page.gap(&(idx..=end - 1), note(seen, idx, end).as_deref());
        idx = end;
    }
    page
}

/// `149 × test tests::caso_# ... ok` when one kind makes up most of a gap.
fn note(seen: &Seen<'_>, from: usize, to: usize) -> Option<Vec<u8>> {
    if to - from < NOTED {
        return None;
    }
    let mut counts: Vec<(u32, usize, usize)> = Vec::new();
    for idx in from..to {
        let c = seen.clusters.of.get(idx).copied().unwrap_or(BLANK);
        if c == BLANK || seen.signal(idx).ruler {
            continue;
        }
        let known = counts.len();
        match counts.iter_mut().find(|(id, ..)| *id == c) {
            Some((_, n, _)) => *n += 1,
            None if known < 16 => counts.push((c, 1, idx)),
            None => {}
        }
    }
    let &(_, n, idx) = counts.iter().max_by_key(|(_, n, idx)| (*n, usize::MAX - idx))?;
    if n * 2 < to - from || n < NOTED {
        return None;
    }
    let mut text = format!("{n} × ").into_bytes();
    text.extend(pattern(seen.lines.get(idx)));
    Some(text)
}

/// A line with its numbers masked, at most 48 bytes.
fn pattern(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut masked = false;
    for &byte in line.trim_ascii() {
        let digit = byte.is_ascii_digit();
        if digit && !masked {
            out.push(b'#');
        } else if !digit {
            out.push(byte);
        }
        masked = digit;
        if out.len() >= 48 && (byte.is_ascii() || out.len() > 51) {
            out.extend_from_slice("…".as_bytes());
            break;
        }
    }
    out
}
