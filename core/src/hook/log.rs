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
use std::time::Instant;

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

    /// Appends a line; `outcome` is one of the code's own words.
    pub(super) fn write(&self, outcome: &str, counts: &[(&'static str, usize)]) {
        let now = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%SZ");
        let event = self.event.map_or("-", EventKind::name);
        let ms = self.start.elapsed().as_millis();
        let mut line = format!("{now} {} {event} {outcome} ms={ms}", self.hook);
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

#[cfg(test)]
mod tests {
    use super::*;

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
