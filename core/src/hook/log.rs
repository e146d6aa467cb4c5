//! The log of the hooks: one line a call, names and counts, never text.
//!
//! `2026-11-30T08:15:02Z context-inject UserPromptSubmit injected ms=4 tokens=812`
//!
//! `postil stats` reads it. Past [`MAX_BYTES`] it becomes `postil.log.old`, so
//! that at most twice that much is kept. Nothing here fails: a hook without a
//! log still answers.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::wire::EventKind;

/// Size at which a log is set aside: about 12,000 calls.
const MAX_BYTES: u64 = 1 << 20;

/// Where and about what a call writes its line.
#[derive(Clone)]
pub(super) struct Log {
    path: PathBuf,
    hook: &'static str,
    start: Instant,
    event: Option<EventKind>,
}

impl Log {
    pub(super) fn new(path: &Path, hook: &'static str, start: Instant) -> Self {
        Self { path: path.to_owned(), hook, start, event: None }
    }

    /// Names the event in all later lines.
    pub(super) fn about(&mut self, event: EventKind) {
        self.event = Some(event);
    }

    /// Where the lines go.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What a line begins with, up to the event.
    pub(super) fn head(&self) -> String {
        format!("{} {} ", timestamp(SystemTime::now()), self.hook)
    }

    /// Appends a line; `outcome` is one of the code's own words.
    pub(super) fn write(&self, outcome: &str, counts: &[(&'static str, usize)]) {
        let event = self.event.map_or("-", EventKind::name);
        let ms = self.start.elapsed().as_millis();
        let mut line = format!("{}{event} {outcome} ms={ms}", self.head());
        for (name, n) in counts {
            line.push_str(&format!(" {name}={n}"));
        }
        line.push('\n');
        // Nowhere to report that a log cannot be written.
        let _ = self.append(&line);
    }

    fn append(&self, line: &str) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = match options.open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fs::create_dir_all(self.path.parent().unwrap_or(Path::new("/")))?;
                options.open(&self.path)?
            }
            opened => opened?,
        };
        // One write: lines of parallel calls do not mix.
        file.write_all(line.as_bytes())?;
        if file.metadata()?.len() > MAX_BYTES {
            fs::rename(&self.path, self.path.with_extension("log.old"))?;
        }
        Ok(())
    }
}

/// `2026-11-30T08:15:02Z`. Written here because a library's formatting adds
/// 40 KB to every hook.
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days to a date in the Gregorian calendar, with years that begin in March
    // (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// A line of the log, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When, in seconds since 1970.
    pub time: u64,
    /// The hook.
    pub hook: String,
    /// The event, by Claude Code's name; `-` where it was not read.
    pub event: String,
    /// What came of it: `replied`, a reason for silence, `deadline`, `panic` or
    /// `error:KIND`.
    pub outcome: String,
    /// How long it took.
    pub ms: u64,
    /// The other numbers.
    pub counts: Vec<(String, u64)>,
}

/// Reads the log at `path` and the one set aside before it, oldest line first;
/// what is not a line of a log is left out.
pub fn read(path: &Path) -> Vec<Line> {
    let text = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let text = text(&path.with_extension("log.old")) + &text(path);
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Line> {
    let mut fields = line.split(' ');
    let time = chrono::DateTime::parse_from_rfc3339(fields.next()?).ok()?.timestamp();
    let [hook, event, outcome] =
        [fields.next()?, fields.next()?, fields.next()?].map(str::to_owned);
    let mut counts: Vec<(String, u64)> = fields
        .filter_map(|field| field.split_once('='))
        .filter_map(|(name, n)| Some((name.to_owned(), n.parse().ok()?)))
        .collect();
    let at = counts.iter().position(|(name, _)| name == "ms")?;
    let ms = counts.remove(at).1;
    Some(Line { time: u64::try_from(time).ok()?, hook, event, outcome, ms, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_back_with_the_one_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("postil.log");
        fs::write(path.with_extension("log.old"), "2026-11-30T08:15:02Z capture - panic ms=1\n")
            .unwrap();
        fs::write(&path, "rubbish\n").unwrap();
        let mut log = Log::new(&path, "context-inject", Instant::now());
        log.about(EventKind::PreToolUse);
        log.write("replied", &[("tokens", 31)]);
        let lines = read(&path);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].hook.as_str(), lines[0].time), ("capture", 1_796_026_502));
        assert_eq!((lines[1].event.as_str(), lines[1].outcome.as_str()), ("PreToolUse", "replied"));
        assert_eq!(lines[1].counts, [("tokens".to_owned(), 31)]);
    }

    #[test]
    fn times_are_written_as_chrono_reads_them() {
        for seconds in [0, 951_782_400, 951_868_799, 1_796_026_502, 1_709_164_800, 4_107_542_399] {
            let text = timestamp(UNIX_EPOCH + std::time::Duration::from_secs(seconds));
            let read = chrono::DateTime::parse_from_rfc3339(&text).unwrap();
            assert_eq!(read.timestamp(), i64::try_from(seconds).unwrap(), "{text}");
        }
    }

    #[test]
    fn lines_are_appended_and_the_log_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/postil.log");
        let mut log = Log::new(&path, "context-inject", Instant::now());
        log.about(EventKind::PreToolUse);
        log.write("injected", &[("passages", 2), ("tokens", 31)]);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("Z context-inject PreToolUse injected ms="), "{text}");
        assert!(text.ends_with(" passages=2 tokens=31\n"), "{text}");

        fs::write(&path, vec![b'x'; usize::try_from(MAX_BYTES).unwrap()]).unwrap();
        log.write("silent", &[]);
        log.write("silent", &[]);
        assert!(fs::metadata(&path).unwrap().len() < 200);
        assert!(path.with_extension("log.old").exists());
    }

    #[test]
    fn a_log_that_cannot_be_written_is_no_error() {
        Log::new(Path::new("/proc/nowhere/x.log"), "capture", Instant::now()).write("silent", &[]);
    }
}
