//! Ranks for outputs whose shape says more than their words: searches,
//! listings, diffs, `git log`, drawn trees.
#![allow(
    clippy::needless_range_loop,
    reason = "a line's rank is decided with its neighbours in view"
)]

use super::family::row;
use super::hash::{Map, hash};
use super::rank::{COMMON, MUST, NOISE, SHOULD, Seen};
use super::signal::Severity;

/// Of each file: the first matches and those of a rare make; of a single file,
/// the ends as well.
pub(super) fn search(seen: &Seen<'_>, ranks: &mut [u8]) {
    let mut per_file: Map<u64, usize> = Map::default();
    let n = seen.lines.len();
    let mut last = None;
    // With many files the counts say more than the first match of each.
    let first = if seen.lines.n_bytes() > 30_000 { 2 } else { MUST };
    for idx in 0..n {
        let line = seen.lines.get(idx);
        let Some((path, _, rest)) = row(line) else {
            ranks[idx] = if line == b"--" { NOISE } else { ranks[idx].min(2) };
            continue;
        };
        let context = rest.first() == Some(&b'-');
        let nth = per_file.entry(hash(path)).or_default();
        *nth += usize::from(!context);
        ranks[idx] = match *nth {
            _ if context => 6,
            1 => first,
            2..=3 => 3,
            4..=8 => 4,
            _ => 5,
        };
        let odd = seen.is_rare(idx) && seen.rare_share < 0.35 || seen.clusters.is_outlier(idx);
        if odd && !context {
            ranks[idx] = SHOULD;
        }
        if !context {
            last = Some(idx);
        }
    }
    if let Some(last) = last {
        ranks[last] = MUST;
    }
}

/// Counts the matches of every file, folder by folder, in at most about
/// `max_bytes`; `None` for a single file.
pub(super) fn by_file(seen: &Seen<'_>, max_bytes: usize) -> Option<Vec<u8>> {
    let mut files: Vec<(&[u8], usize)> = Vec::new();
    let mut known: Map<u64, usize> = Map::default();
    for line in seen.lines.iter() {
        let Some((path, _, rest)) = row(line) else { continue };
        if rest.first() == Some(&b'-') {
            continue;
        }
        let at = *known.entry(hash(path)).or_insert_with(|| {
            files.push((path, 0));
            files.len() - 1
        });
        if let Some((_, n)) = files.get_mut(at) {
            *n += 1;
        }
    }
    if files.len() < 2 {
        return None;
    }
    files.sort_unstable_by(|a, b| split_path(a.0).cmp(&split_path(b.0)));
    let total: usize = files.iter().map(|(_, n)| n).sum();
    let mut out = format!("[{total} matches in {} files:", files.len()).into_bytes();
    let mut folder: Option<&[u8]> = None;
    for (nth, (path, n)) in files.iter().enumerate() {
        let (own, name) = split_path(path);
        if out.len() > max_bytes {
            out.extend_from_slice(format!("; {} more files", files.len() - nth).as_bytes());
            break;
        }
        if folder == Some(own) {
            out.extend_from_slice(b", ");
        } else {
            out.extend_from_slice(if folder.is_some() { b"; " } else { b" " });
            out.extend_from_slice(own);
        }
        folder = Some(own);
        out.extend_from_slice(name);
        out.extend_from_slice(format!(" {n}").as_bytes());
    }
    out.extend_from_slice(b"]\n");
    Some(out)
}

/// Folder with its slash, and name.
fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    let slash = path.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    (path.get(..slash).unwrap_or_default(), path.get(slash..).unwrap_or_default())
}

/// Of each folder: the first entries; names whose extension is rare.
pub(super) fn listing(seen: &Seen<'_>, ranks: &mut [u8]) {
    let mut folders: Map<u64, usize> = Map::default();
    let mut extensions: Map<u64, usize> = Map::default();
    let n = seen.lines.len();
    let parts = |idx: usize| {
        let line = seen.lines.get(idx).trim_ascii();
        let slash = line.iter().rposition(|&b| b == b'/').unwrap_or(0);
        let name = line.get(slash..).unwrap_or_default();
        let dot = name.iter().rposition(|&b| b == b'.').unwrap_or(name.len());
        (hash(line.get(..slash).unwrap_or_default()), hash(name.get(dot..).unwrap_or_default()))
    };
    for idx in 0..n {
        let (_, ext) = parts(idx);
        *extensions.entry(ext).or_default() += 1;
    }
    for idx in 0..n {
        let (folder, ext) = parts(idx);
        let nth = folders.entry(folder).or_default();
        *nth += 1;
        let rare = extensions.get(&ext).is_some_and(|&n_ext| n_ext <= 2)
            && n > 40
            && extensions.len() * 8 < n;
        let signal = seen.signal(idx);
        let base = match *nth {
            _ if signal.blank => NOISE,
            1 => 3,
            2 => 5,
            _ => COMMON,
        };
        let odd = signal.severity == Severity::Strong
            || !seen.lines.get(idx).contains(&b'/') && seen.is_rare(idx);
        ranks[idx] = if odd {
            MUST
        } else if rare {
            2
        } else {
            base
        };
    }
}

/// Added and removed lines; context by its distance from them.
pub(super) fn diff(seen: &Seen<'_>, ranks: &mut [u8]) {
    let n = seen.lines.len();
    let large = seen.lines.n_bytes() > 30_000;
    let mut generated = false;
    let mut run = 0_usize;
    for idx in 0..n {
        let line = seen.lines.get(idx);
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            generated =
                [b".lock".as_slice(), b"-lock.", b".min.", b".map", b".snap", b".svg", b"go.sum"]
                    .iter()
                    .any(|part| memchr::memmem::find(names, part).is_some());
        }
        let change = matches!(line.first(), Some(b'+' | b'-'))
            && !line.starts_with(b"+++ ")
            && !line.starts_with(b"--- ");
        run = if change { run + 1 } else { 0 };
        ranks[idx] = match line.first() {
            _ if change && generated => 6,
            _ if change && large => {
                if run <= 3 {
                    2
                } else {
                    5
                }
            }
            _ if change && run > 60 => 4,
            _ if change && run > 12 => 3,
            _ if change => SHOULD,
            Some(b' ') => 7,
            _ if line.starts_with(b"index ")
                || line.starts_with(b"--- ")
                || line.starts_with(b"+++ ") =>
            {
                5
            }
            None => 7,
            _ => MUST,
        };
    }
    near_changes(seen, ranks);
}

/// Context right before and after a change is worth more.
fn near_changes(seen: &Seen<'_>, ranks: &mut [u8]) {
    let change = |idx: usize| {
        let line = seen.lines.get(idx);
        matches!(line.first(), Some(b'+' | b'-'))
            && !line.starts_with(b"+++ ")
            && !line.starts_with(b"--- ")
    };
    for idx in 0..seen.lines.len() {
        if ranks[idx] != 7 {
            continue;
        }
        let before = idx > 0 && change(idx - 1);
        if before || change(idx + 1) {
            ranks[idx] = 2;
        } else if change(idx + 2) || idx > 1 && change(idx - 2) {
            ranks[idx] = 4;
        }
    }
}

/// Commits: subject first, then body, hash, author where it changes, date.
pub(super) fn log(seen: &Seen<'_>, ranks: &mut [u8]) {
    let mut author: &[u8] = b"";
    let mut subject = false;
    let mut nth = 0_u32;
    for idx in 0..seen.lines.len() {
        let line = seen.lines.get(idx);
        let late = u8::from(nth > 40) * 2;
        if line.starts_with(b"commit ") {
            nth += 1;
            subject = true;
            ranks[idx] = 2 + late;
        } else if line.starts_with(b"Author: ") {
            ranks[idx] = if line == author { COMMON } else { 3 };
            author = line;
        } else if line.starts_with(b"Date: ") {
            ranks[idx] = 5;
        } else if seen.signal(idx).blank {
            ranks[idx] = NOISE;
        } else if subject {
            subject = false;
            ranks[idx] = if nth <= 40 { SHOULD } else { 3 };
        } else {
            ranks[idx] = (3 + late).min(ranks[idx].max(SHOULD));
        }
    }
}

/// The upper levels of a drawn tree; deeper entries that something is wrong
/// with.
pub(super) fn tree(seen: &Seen<'_>, ranks: &mut [u8]) {
    let columns: Vec<usize> = seen.lines.iter().map(columns).collect();
    // Tools indent by two, three or four columns a level.
    let mut levels = columns.clone();
    levels.sort_unstable();
    levels.dedup();
    for (idx, columns) in columns.iter().enumerate() {
        let line = seen.lines.get(idx);
        let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
        let wrong = (has(b"UNMET") && !has(b"OPTIONAL"))
            || [b" invalid".as_slice(), b" extraneous", b" missing", b"ERR!"]
                .iter()
                .any(|word| has(word));
        ranks[idx] = match levels.binary_search(columns) {
            _ if seen.signal(idx).blank => NOISE,
            _ if wrong => MUST,
            Ok(0) => SHOULD,
            Ok(1) => 2,
            Ok(2) => 4,
            Ok(3) => 6,
            _ => COMMON,
        };
    }
}

/// The columns of branch drawing before an entry.
fn columns(line: &[u8]) -> usize {
    let mut columns = 0_usize;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        match byte {
            b' ' | b'|' | b'+' | b'`' | b'\\' | b'-' => at += 1,
            0xe2 => at += 3,
            0xc2 if line.get(at + 1) == Some(&0xa0) => at += 2,
            _ => break,
        }
        columns += 1;
    }
    columns
}
