//! What compression saved: one line a call in `compressions.tsv`, names and
//! counts only, and the sums that `postil stats` shows.
//!
//! Savings are counted against what the client would have shown by itself, not
//! against the raw size: a client that shows a 2 KB preview of 100 KB costs
//! 2 KB.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Size at which the file is set aside.
const MAX_BYTES: u64 = 1 << 20;

/// Bytes per token of tool output, the mean over 58 real outputs under a
/// published tokenizer: twice as dense in symbols as prose.
const BYTES_PER_TOKEN: f64 = 2.37;

/// One shortened output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Seconds since 1970.
    pub time: u64,
    /// What it was read as.
    pub family: String,
    /// Bytes of the whole output.
    pub raw_bytes: usize,
    /// Bytes the client would have shown by itself.
    pub client_bytes: usize,
    /// Bytes of the extract.
    pub shown_bytes: usize,
}

/// The sums of one family, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Outputs shortened.
    pub n: usize,
    /// Tokens of the whole outputs.
    pub raw_tokens: usize,
    /// Tokens the client would have shown by itself.
    pub client_tokens: usize,
    /// Tokens of the extracts.
    pub shown_tokens: usize,
}

impl Totals {
    /// Tokens saved against the client by itself; negative where an extract
    /// says more than the client's preview.
    pub fn saved_tokens(&self) -> i64 {
        i64::try_from(self.client_tokens).unwrap_or(i64::MAX)
            - i64::try_from(self.shown_tokens).unwrap_or(0)
    }
}

/// All that is known about the savings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// Per family, by name.
    pub families: BTreeMap<String, Totals>,
    /// Over all families.
    pub all: Totals,
    /// How often a full original was opened again.
    pub n_opened: usize,
}

/// The ledger's file in the state folder.
pub fn path(state: &Path) -> PathBuf {
    state.join("compressions.tsv")
}

/// Notes a shortened output. A ledger that cannot be written is no reason to
/// fail.
pub fn record(state: &Path, record: &Record) {
    let Record { time, family, raw_bytes, client_bytes, shown_bytes } = record;
    append(state, &format!("C\t{time}\t{family}\t{raw_bytes}\t{client_bytes}\t{shown_bytes}\n"));
}

/// Notes that a full original was opened again.
pub fn record_opened(state: &Path, time: u64) {
    append(state, &format!("O\t{time}\n"));
}

fn append(state: &Path, line: &str) {
    let path = path(state);
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(&path).or_else(|_| {
        fs::create_dir_all(state)?;
        options.open(&path)
    });
    let Ok(mut file) = opened else { return };
    let _ = file.write_all(line.as_bytes());
    if file.metadata().is_ok_and(|meta| meta.len() > MAX_BYTES) {
        let _ = fs::rename(&path, path.with_extension("tsv.old"));
    }
}

/// Sums up the ledger, the part set aside included; `since` is in seconds
/// since 1970. An absent ledger is all zeros.
pub fn savings(state: &Path, since: u64) -> Savings {
    let mut savings = Savings::default();
    let path = path(state);
    for file in [path.with_extension("tsv.old"), path] {
        let text = fs::read(file).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            savings.add(line, since);
        }
    }
    savings
}

impl Savings {
    fn add(&mut self, line: &str, since: u64) {
        let mut fields = line.split('\t');
        let kind = fields.next();
        let time: u64 = fields.next().and_then(|f| f.parse().ok()).unwrap_or(0);
        if time < since {
            return;
        }
        match kind {
            Some("O") => self.n_opened += 1,
            Some("C") => {
                let Some(family) = fields.next() else { return };
                let numbers: Vec<usize> = fields.filter_map(|f| f.parse().ok()).collect();
                let &[raw, client, shown] = numbers.as_slice() else { return };
                for totals in [self.families.entry(family.to_owned()).or_default(), &mut self.all] {
                    totals.n += 1;
                    totals.raw_tokens += tokens(raw);
                    totals.client_tokens += tokens(client);
                    totals.shown_tokens += tokens(shown);
                }
            }
            _ => {}
        }
    }
}

/// Estimates the tokens of tool output.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size, never negative"
)]
pub fn tokens(bytes: usize) -> usize {
    (bytes as f64 / BYTES_PER_TOKEN).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_are_against_the_client_and_damage_costs_a_line() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(savings(dir.path(), 0), Savings::default());
        let one = |time, family: &str, client_bytes| Record {
            time,
            family: family.to_owned(),
            raw_bytes: 23_700,
            client_bytes,
            shown_bytes: 2370,
        };
        record(dir.path(), &one(10, "text", 23_700));
        record(dir.path(), &one(20, "json", 2000));
        record_opened(dir.path(), 30);
        append(dir.path(), "C\t40\tbroken\nrubbish\n");
        let all = savings(dir.path(), 0);
        assert_eq!((all.all.n, all.n_opened, all.families.len()), (2, 1, 2));
        assert_eq!(all.families["text"].saved_tokens(), 9000);
        assert_eq!(all.families["json"].saved_tokens(), -156);
        assert_eq!(savings(dir.path(), 15).all.n, 1);
    }
}
