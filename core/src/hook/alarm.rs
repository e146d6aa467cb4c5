//! The deadline: a timer of the kernel's, whose signal ends the process.
//!
//! A signal needs no thread, which would cost a cold start 0.1 ms, and it ends
//! a process that waits for a lock, for stdin or for the disk as well as one
//! that computes. It comes twice: at nine tenths of the deadline, when a hook
//! that has not begun to answer falls silent, and at the deadline itself, when
//! it ends whatever it is doing. The tenth between them is for a reply that is
//! being written, and for the time a busy machine takes to start the process
//! and to let it end.
#![allow(unsafe_code, reason = "signal handlers are set and run by C functions")]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::time::Duration;

use super::guard::claim;
use super::wire::EventKind;

/// What the handler writes to the log, made beforehand: a handler must not
/// allocate.
struct LogLine {
    path: CString,
    /// `2026-11-30T08:15:02Z context-inject `
    head: Vec<u8>,
    /// ` deadline ms=900\n`
    tail: Vec<u8>,
}

/// Null until the alarm is set, then never freed.
static LINE: AtomicPtr<LogLine> = AtomicPtr::new(ptr::null_mut());

/// The event in the log line, as its place in [`EventKind::ALL`] plus one.
static EVENT: AtomicU8 = AtomicU8::new(0);

/// How often the signal came.
static N_SIGNALS: AtomicU8 = AtomicU8::new(0);

/// Ends the process `deadline` from now at the latest, with exit code 0. `head`
/// opens the line that goes to `log` then.
pub(super) fn set(deadline: Duration, log: &Path, head: String) {
    let grace = deadline / 10;
    let first = deadline - grace;
    let Ok(path) = CString::new(log.as_os_str().as_bytes()) else { return };
    let tail = format!(" deadline ms={}\n", first.as_millis());
    let line = Box::new(LogLine { path, head: head.into_bytes(), tail: tail.into_bytes() });
    LINE.store(Box::into_raw(line), Ordering::Release);
    let timer = libc::itimerval { it_value: timeval(first), it_interval: timeval(grace) };
    // SAFETY: both structs are whole and outlive the calls; all zeros is a valid
    // `sigaction`; `ring` does only what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = ring;
        action.sa_sigaction = handler as libc::sighandler_t;
        // The second signal has to end a first one that hangs in the log.
        action.sa_flags = libc::SA_RESTART | libc::SA_NODEFER;
        libc::sigaction(libc::SIGALRM, &action, ptr::null_mut());
        libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut());
    }
}

/// Names the event in the log line.
pub(super) fn about(event: EventKind) {
    let place = EventKind::ALL.iter().position(|kind| *kind == event);
    let place = place.and_then(|place| u8::try_from(place + 1).ok());
    EVENT.store(place.unwrap_or(0), Ordering::Relaxed);
}

fn timeval(time: Duration) -> libc::timeval {
    let seconds = time.as_secs().min(1 << 30);
    libc::timeval {
        tv_sec: libc::time_t::try_from(seconds).unwrap_or(libc::time_t::MAX),
        // A timer of zero never rings.
        tv_usec: libc::suseconds_t::from(time.subsec_micros().max(1) as i32),
    }
}

extern "C" fn ring(_: libc::c_int) {
    let is_first = N_SIGNALS.fetch_add(1, Ordering::AcqRel) == 0;
    if is_first && !claim() {
        // The reply is on its way: it has until the second signal.
        return;
    }
    // SAFETY: open, writev and _exit may be called in a signal handler; the
    // line was made before the timer was set and is never freed.
    unsafe {
        if is_first && let Some(line) = LINE.load(Ordering::Acquire).as_ref() {
            write(line);
        }
        libc::_exit(0);
    }
}

/// # Safety
///
/// Calls only what a signal handler may.
unsafe fn write(line: &LogLine) {
    let place = usize::from(EVENT.load(Ordering::Relaxed));
    let event = EventKind::ALL.get(place.wrapping_sub(1)).map_or("-", |kind| kind.name());
    let parts = [&line.head[..], event.as_bytes(), &line.tail[..]]
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
    let mode: libc::c_uint = 0o600;
    // SAFETY: the path ends in NUL, and the parts are borrowed from what lives
    // longer than the call. The descriptor goes with the process.
    unsafe {
        let file = libc::open(line.path.as_ptr(), flags, mode);
        if file >= 0 {
            // One write: lines of parallel calls do not mix.
            libc::writev(file, parts.as_ptr(), parts.len() as libc::c_int);
        }
    }
}
