//! Ranks around failures: what failed, where, and what explains it.

#![allow(
    clippy::needless_range_loop,
    reason = "a line's rank is decided with its neighbours in view"
)]

use super::family::is_dated;
use super::hash::{Map, hash};
use super::place::Frame;
use super::rank::{COMMON, MAX_ALIKE, MAX_NAMED, MUST, NOISE, SHOULD, Seen, is_numbered, raise};
use super::signal::Severity;
use super::template::BLANK;

/// Failures, warnings and tallies. What fails is worth more than how: of many
/// details of one kind only the first and the last stay.
pub(super) fn severities(seen: &Seen<'_>, ranks: &mut [u8]) {
    let mut count = vec![0_u32; seen.clusters.size.len()];
    let n = seen.lines.len();
    let mut last_of = vec![usize::MAX; seen.clusters.size.len()];
    for idx in 0..n {
        let signal = seen.signal(idx);
        let size = seen.clusters.size_of(idx);
        let Some(&c) = seen.clusters.of.get(idx).filter(|&&c| c != BLANK) else { continue };
        if signal.ruler {
            continue;
        }
        let nth = count.get(c as usize).copied().unwrap_or(0);
        let usual = size as usize * 4 > n && size > 12 && n > 40;
        let rank = match signal.severity {
            Severity::Strong if named(seen, idx) && nth < MAX_NAMED => MUST,
            Severity::Strong if usual && nth >= 3 => COMMON,
            Severity::Strong if nth >= MAX_ALIKE && size > 2 * MAX_ALIKE => 4,
            Severity::Strong if nth < MAX_NAMED => MUST,
            Severity::Strong => 4,
            // A log that warns with every line says one thing.
            Severity::Warning if usual && (size > 60 || is_dated(seen.lines.get(idx))) => {
                if nth < 2 { SHOULD } else { COMMON }
            }
            Severity::Warning => match nth {
                0..=2 => MUST,
                3..=39 if !seen.failed => SHOULD,
                3..=39 => 3,
                _ => 5,
            },
            Severity::Weak if size <= seen.rare_max => 2,
            Severity::Weak if nth < 2 => 4,
            _ if signal.tally && (size <= 3 || idx + 8 >= n) => MUST,
            _ => continue,
        };
        raise(ranks, idx, rank);
        if let Some(count) = count.get_mut(c as usize) {
            *count += 1;
        }
        if let Some(last) = last_of.get_mut(c as usize) {
            *last = idx;
        }
    }
    for idx in last_of.into_iter().filter(|&idx| idx != usize::MAX) {
        raise(ranks, idx, 2);
    }
}

/// Whether a failing line says what failed: a test's name, or a place.
fn named(seen: &Seen<'_>, idx: usize) -> bool {
    let line = seen.lines.get(idx).trim_ascii_start();
    let detail = line.starts_with(b"E ") || line.starts_with(b"assert");
    let says = [
        b"FAIL".as_slice(),
        b"not ok",
        b"ERROR ",
        "✗".as_bytes(),
        "✕".as_bytes(),
        "✖".as_bytes(),
        "×".as_bytes(),
        "●".as_bytes(),
        "✘".as_bytes(),
    ];
    !detail
        && (seen.signal(idx).place
            || is_numbered(line)
            || says.iter().any(|word| memchr::memmem::find(line, word).is_some()))
}

/// What follows a failure explains it: the nearer the more so.
pub(super) fn explanations(seen: &Seen<'_>, ranks: &mut [u8]) {
    let mut distance = u32::MAX;
    let (mut warning, mut many) = (false, false);
    let mut met: Map<u32, u32> = Map::default();
    for idx in 0..seen.lines.len() {
        let signal = seen.signal(idx);
        if signal.blank {
            distance = distance.saturating_add(u32::from(distance > 2) * 2);
            continue;
        }
        if signal.severity >= Severity::Warning && ranks.get(idx).is_some_and(|&r| r <= SHOULD) {
            // The tenth of many alike is explained by the first, or in a line.
            let nth = met.entry(seen.clusters.of.get(idx).copied().unwrap_or(BLANK)).or_default();
            *nth += 1;
            many = seen.clusters.size_of(idx) > 2 * MAX_ALIKE && *nth > MAX_ALIKE;
            distance = 0;
            warning = signal.severity == Severity::Warning;
            continue;
        }
        if signal.pass {
            distance = u32::MAX;
        }
        let usual = seen.is_usual(idx) && !signal.place;
        if distance == u32::MAX || signal.frame != Frame::None || usual {
            continue;
        }
        distance += 1;
        let rank = match distance {
            _ if distance <= 3 && signal.place => MUST,
            1..=2 => SHOULD,
            3..=6 => 2,
            7..=10 => 3,
            11..=14 => 4,
            _ => {
                distance = u32::MAX;
                continue;
            }
        };
        let rank = if signal.ruler {
            NOISE
        } else if many {
            if distance == 1 { 3 } else { 5 }
        } else if signal.quote {
            if is_underline(seen.lines.get(idx)) { 7 } else { rank.max(3) + u8::from(warning) }
        } else if warning && !(signal.place && distance <= 2) {
            rank.max(3)
        } else {
            rank
        };
        raise(ranks, idx, rank);
    }
}

/// A quotation line without letters after the bar.
fn is_underline(line: &[u8]) -> bool {
    let rest = memchr::memchr(b'|', line).and_then(|bar| line.get(bar + 1..)).unwrap_or_default();
    !rest.iter().any(|b| b.is_ascii_alphanumeric() || *b >= 0x80)
}

/// Of each stack: the first frames in the user's own code, then the others.
/// A stack that no failure precedes is a log's decoration.
pub(super) fn frames(seen: &Seen<'_>, ranks: &mut [u8]) {
    let (mut user, mut in_stack, mut since_failure) = (0_u32, 0_u32, u32::MAX);
    let mut above = NOISE;
    let mut met: Map<u64, u32> = Map::default();
    for idx in 0..seen.lines.len() {
        let signal = seen.signal(idx);
        if signal.severity == Severity::Strong {
            since_failure = 0;
        }
        since_failure = since_failure.saturating_add(1);
        if signal.frame == Frame::None {
            // The second line of a two-line frame goes with the first.
            let indented = idx > 0 && signal.indent > seen.signal(idx - 1).indent;
            if in_stack > 0 && indented && seen.signal(idx - 1).frame != Frame::None {
                ranks[idx] = if signal.place { above } else { ranks[idx].max(above.max(3)) };
            } else if !signal.blank {
                in_stack = in_stack.saturating_sub(1);
                user = if in_stack == 0 { 0 } else { user };
            }
            continue;
        }
        in_stack = 2;
        since_failure = since_failure.min(20);
        let times = met.entry(hash(seen.lines.get(idx).trim_ascii())).or_default();
        *times += 1;
        let repeated = idx > 0 && seen.lines.get(idx) == seen.lines.get(idx - 1);
        above = match (signal.frame, user) {
            (Frame::Library, _) => NOISE,
            _ if repeated || *times > 3 => COMMON,
            (_, 0..=1) if since_failure <= 20 => MUST,
            (_, 0..=3) => 2 + u8::from(*times > 1),
            (_, 4..=7) => 4,
            _ => COMMON,
        };
        user += u32::from(signal.frame == Frame::User && !repeated);
        ranks[idx] = above;
    }
}

/// A heading stays with what it heads: `___ test_x ___`, `TASK [x] ***`, and
/// the first line of the paragraph that a failure stands in.
pub(super) fn headings(seen: &Seen<'_>, ranks: &mut [u8]) {
    const RULES: &[&[u8]] =
        &[b"____", b"----", b"====", "────".as_bytes(), "⎯⎯⎯⎯".as_bytes(), b"****"];
    let (mut next_must, mut failure) = (usize::MAX, usize::MAX);
    for idx in (0..seen.lines.len()).rev() {
        let signal = seen.signal(idx);
        let line = seen.lines.get(idx).trim_ascii();
        let ruled = RULES.iter().any(|rule| line.starts_with(rule) || line.ends_with(rule));
        let usual = seen.clusters.size_of(idx) > 2 * MAX_ALIKE;
        let opens = !signal.blank && (idx == 0 || seen.signal(idx - 1).blank);
        if !signal.ruler && opens && failure.saturating_sub(idx) <= 6 && !signal.quote {
            raise(ranks, idx, if signal.pass { 2 } else { SHOULD });
        } else if ruled && !signal.ruler && next_must.saturating_sub(idx) <= 14 {
            raise(ranks, idx, if usual { 4 } else { SHOULD });
        }
        if signal.blank {
            failure = usize::MAX;
        }
        if ranks.get(idx) == Some(&MUST) {
            next_must = idx;
            failure = if signal.severity == Severity::Strong { idx } else { failure };
        }
    }
}

/// In a failing report, a place that opens a paragraph is a finding, and so is
/// one that opens a line, unless half the output is made of such lines.
pub(super) fn findings(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n_lines = seen.lines.len();
    let mut n = 0;
    for idx in (0..n_lines).filter(|_| seen.failed) {
        let signal = seen.signal(idx);
        if !signal.place || signal.frame != Frame::None || signal.quote {
            continue;
        }
        let opens = idx == 0 || seen.signal(idx - 1).blank;
        let few = (seen.clusters.size_of(idx) as usize).min(40) * 2 < n_lines.max(16);
        if opens || few && super::report::is_finding(seen.lines.get(idx)) {
            n += 1;
            raise(ranks, idx, if n <= 60 { SHOULD } else { 5 });
        }
    }
}

/// What stands under a heading such as `Failed examples:`, one to a line.
pub(super) fn lists(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let mut idx = 0;
    while idx < n {
        let heading = seen.signal(idx).severity >= Severity::Weak
            && seen.lines.get(idx).trim_ascii().ends_with(b":");
        idx += 1;
        if !heading {
            continue;
        }
        let Some(first) = (idx..n.min(idx + 3)).find(|&at| !seen.signal(at).blank) else {
            continue;
        };
        let kind = seen.clusters.of.get(first).copied().unwrap_or(BLANK);
        let alike = |at: &usize| seen.clusters.of.get(*at) == Some(&kind);
        let end = first + (first..n).take_while(alike).count();
        if end - first >= 2 && seen.signal(first).frame == Frame::None && !seen.signal(first).quote
        {
            for at in first..end.min(first + MAX_NAMED as usize) {
                raise(ranks, at, MUST);
            }
            idx = end;
        }
    }
}

/// `--> path:1:2` under the head of a diagnostic: both stay. In a long report
/// the quotations and proposed edits come after all heads.
pub(super) fn arrows(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let heads: Vec<usize> = (1..n)
        .filter(|&idx| {
            let line = seen.lines.get(idx).trim_ascii_start();
            line.starts_with(b"-->") && seen.signal(idx).place && !seen.signal(idx - 1).blank
        })
        .collect();
    for (nth, &idx) in heads.iter().enumerate() {
        raise(ranks, idx, MUST);
        raise(ranks, idx - 1, MUST);
        let end = heads.get(nth + 1).map_or(n.min(idx + 20), |&next| next - 1);
        for (below, rank) in ranks.iter_mut().enumerate().take(end).skip(idx + 1) {
            let signal = seen.signal(below);
            if heads.len() > 5 && signal.severity < Severity::Warning && !signal.tally {
                *rank = (*rank).max(if signal.quote { 5 } else { 6 });
            }
        }
    }
}

/// A failure that a closing list names again need not stay where it happened.
pub(super) fn repeated_in_summary(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let finder = memchr::memmem::Finder::new(b"short test summary");
    let Some(list) = (0..n).rev().find(|&idx| finder.find(seen.lines.get(idx)).is_some()) else {
        return;
    };
    for idx in 0..list {
        let line = seen.lines.get(idx);
        let status = [b" FAILED".as_slice(), b" ERROR", b"FAILED "]
            .iter()
            .any(|word| memchr::memmem::find(line, word).is_some());
        if status && memchr::memmem::find(line, b"%]").is_some() {
            ranks[idx] = ranks[idx].max(4);
        }
    }
}
