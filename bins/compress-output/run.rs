//! `run -- CMD`, and the last step of a wrapped command.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use postil_lean::compress::shown_by_client;
use postil_lean::config::{Config, Overrides};
use rustix::process::{Pid, Signal, kill_process};

use crate::args::Finish;
use crate::shorten::{Short, Text, is_own, is_skipped, shorten};

/// Output beyond this is passed through as it is.
const MAX_OUTPUT: u64 = 256 << 20;
/// How long output is still read after the command has ended: something in
/// the background may hold the pipe open for hours.
const GRACE: Duration = Duration::from_millis(200);
/// How long a command has to end after a signal was passed on to it.
const PARTING: Duration = Duration::from_secs(2);

/// Shortens what a command wrote; `None` leaves it alone, whatever the reason.
fn short(command: &[u8], exit_code: i32, raw: &[u8]) -> Option<(Short, Config)> {
    let config = Config::load(&Overrides::default()).ok()?;
    if config.host.is_silenced
        || !config.compress.enabled
        || is_own(command, &config)
        || is_skipped(command, &config)
    {
        return None;
    }
    let text = Text {
        command,
        exit_code,
        raw,
        shown_by_client: shown_by_client(raw.len(), exit_code),
        is_cut: false,
        cap: 29_000,
    };
    let short = shorten(&text, &config).ok()??;
    Some((short, config))
}

/// Rewrites the output of a wrapped command: in place when standard output is
/// a file, else from the spool file. Nothing it meets makes it
/// fail: the output is there, long or short.
pub(crate) fn finish(finish: &Finish) -> ExitCode {
    let spool = std::path::Path::new(&finish.file);
    let command = finish.source.command.as_bytes();
    let code = finish.source.exit_code;
    let spooled = read_capped(spool).filter(|raw| !raw.is_empty());
    let _ = std::fs::remove_file(spool);
    let Some(raw) = spooled else {
        let _ = rewrite_stdout(command, code);
        return ExitCode::SUCCESS;
    };
    let short = short(command, code, &raw);
    let text = short.as_ref().map_or(raw.as_slice(), |(short, _)| &short.text);
    let written = std::io::stdout().lock().write_all(text);
    if let (Ok(()), Some((short, config))) = (written, short) {
        short.settle(&config);
    }
    ExitCode::SUCCESS
}

fn read_capped(path: &std::path::Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    (file.metadata().ok()?.len() <= MAX_OUTPUT).then_some(())?;
    let mut raw = Vec::new();
    file.take(MAX_OUTPUT).read_to_end(&mut raw).ok()?;
    Some(raw)
}

/// Reads back the file that standard output goes to and replaces its content.
fn rewrite_stdout(command: &[u8], exit_code: i32) -> std::io::Result<()> {
    let mut out = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    if !out.metadata()?.is_file() {
        return Ok(());
    }
    let raw = std::fs::read("/proc/self/fd/1").or_else(|_| std::fs::read("/dev/fd/1"))?;
    let Some((short, config)) = short(command, exit_code, &raw) else { return Ok(()) };
    // The shell and its background jobs share this descriptor's position: what
    // they write later follows the extract.
    out.set_len(0)?;
    out.seek(SeekFrom::Start(0))?;
    if out.write_all(&short.text).is_err() {
        out.set_len(0)?;
        out.seek(SeekFrom::Start(0))?;
        return out.write_all(&raw);
    }
    short.settle(&config);
    Ok(())
}

/// Runs a command, collects both its streams and prints the extract, or all
/// of it; exits as the command does, 128 + N after signal N.
pub(crate) fn run(command: &[OsString]) -> ExitCode {
    let (line, mut process) = prepare(command);
    let Ok((mut reader, writer)) = std::io::pipe() else { return crate::fail("run: no pipe") };
    let Ok(second) = writer.try_clone() else { return crate::fail("run: no pipe") };
    process.stdout(Stdio::from(writer)).stderr(Stdio::from(second));
    let child = match process.spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "compress-output: run {}: {error}",
                String::from_utf8_lossy(&line)
            );
            return ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound {
                127
            } else {
                126
            });
        }
    };
    drop(process); // holds the pipe's writing ends
    let output = Arc::new(Pipe::default());
    let filled = Arc::clone(&output);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            filled.push(buffer.get(..n).unwrap_or_default());
        }
        filled.close();
    });
    let (raw, code) = collect(child, &output);
    let short = short(&line, code, &raw);
    let text = short.as_ref().map_or(raw.as_slice(), |(short, _)| &short.text);
    let _ = std::io::stdout().lock().write_all(text);
    if let Some((short, config)) = short {
        short.settle(&config);
    }
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// One argument with blanks is a line for the shell; several are a program
/// and its arguments, quoting untouched.
fn prepare(command: &[OsString]) -> (Vec<u8>, Command) {
    let line = command.iter().map(|arg| arg.as_bytes()).collect::<Vec<_>>().join(&b' ');
    let process = match command {
        [one] if one.as_bytes().iter().any(u8::is_ascii_whitespace) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(OsString::from_vec(one.as_bytes().to_vec()));
            shell
        }
        [program, args @ ..] => {
            let mut process = Command::new(program);
            process.args(args);
            process
        }
        [] => Command::new("true"),
    };
    (line, process)
}

/// What a command has written so far, and whether it may write more.
#[derive(Default)]
struct Pipe {
    state: Mutex<(Vec<u8>, bool)>,
    changed: Condvar,
}

impl Pipe {
    fn push(&self, bytes: &[u8]) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0.extend_from_slice(bytes);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.changed.notify_one();
    }

    /// Moves what has come in to `raw`, after at most `wait`; false once
    /// nothing will follow.
    fn take(&self, raw: &mut Vec<u8>, wait: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let quiet = |state: &mut (Vec<u8>, bool)| state.0.is_empty() && !state.1;
        let waited = self.changed.wait_timeout_while(state, wait, quiet);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        raw.append(&mut state.0);
        !state.1
    }
}

/// Waits for the command while its output comes in; passes signals on to it.
fn collect(mut child: Child, output: &Pipe) -> (Vec<u8>, i32) {
    let signals = Signals::catch();
    let mut raw = Vec::new();
    let (mut status, mut parting) = (None, None);
    loop {
        let wait = Duration::from_millis(if status.is_some() { 50 } else { 20 });
        if !output.take(&mut raw, wait) {
            break;
        }
        if let Some(signal) = signals.take() {
            signals.pass_on(&child, signal);
            parting.get_or_insert((std::time::Instant::now() + PARTING, signal));
        }
        if parting.is_some_and(|(until, _)| std::time::Instant::now() > until) {
            break;
        }
        if status.is_none() {
            status =
                child.try_wait().ok().flatten().map(|status| (status, std::time::Instant::now()));
        }
        if status.is_some_and(|(_, at)| at.elapsed() > GRACE) {
            break;
        }
    }
    let ended = match (status, parting) {
        (Some((status, _)), _) => Some(status),
        (None, Some(_)) => child.try_wait().ok().flatten(),
        (None, None) => child.wait().ok(),
    };
    let by_signal = parting.map(|(_, signal)| 128 + signal);
    let code = ended
        .and_then(|status| status.code().or_else(|| status.signal().map(|n| 128 + n)))
        .or(by_signal)
        .unwrap_or(1);
    (raw, code)
}

/// SIGHUP, SIGINT and SIGTERM, as they come: the number of the last one.
struct Signals(Arc<AtomicUsize>);

impl Signals {
    fn catch() -> Self {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or(0);
            // Without a handler the default remains: the process ends.
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&last), number);
        }
        Self(last)
    }

    fn take(&self) -> Option<i32> {
        i32::try_from(self.0.swap(0, Ordering::AcqRel)).ok().filter(|&number| number > 0)
    }

    fn pass_on(&self, child: &Child, number: i32) {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let signal = match number {
            1 => Signal::HUP,
            2 => Signal::INT,
            _ => Signal::TERM,
        };
        if let Some(pid) = pid {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
    }
}
