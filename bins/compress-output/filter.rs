//! Filter mode: output on stdin, extract on stdout; nothing when it is best
//! left alone.

use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use postil_lean::compress::shown_by_client;
use postil_lean::config::{Config, Overrides};

use crate::args::Source;
use crate::shorten::{Text, is_own, is_skipped, shorten};

/// Shortens stdin to stdout.
pub(crate) fn filter(source: &Source) -> ExitCode {
    let mut raw = Vec::new();
    if let Err(error) = std::io::stdin().lock().read_to_end(&mut raw) {
        return crate::fail(&format!("read stdin: {error}"));
    }
    let config = match Config::load(&Overrides::default()) {
        Ok(config) => config,
        Err(error) => return crate::fail(&error.to_string()),
    };
    let command = source.command.as_bytes();
    if is_own(command, &config) || is_skipped(command, &config) {
        return ExitCode::SUCCESS;
    }
    let text = Text {
        command,
        exit_code: source.exit_code,
        raw: &raw,
        shown_by_client: shown_by_client(raw.len(), source.exit_code),
        is_cut: false,
        cap: usize::MAX,
    };
    match shorten(&text, &config) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(short)) => {
            // A reader that closed the pipe has seen enough.
            let _ = std::io::stdout().lock().write_all(&short.text);
            short.settle(&config);
            ExitCode::SUCCESS
        }
        // Without its original on disk nothing is shortened: the caller has
        // the whole output.
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "compress-output: left alone: {error}");
            ExitCode::SUCCESS
        }
    }
}
