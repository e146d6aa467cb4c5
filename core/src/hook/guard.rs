//! What makes a hook fail open: whoever claims the answer first gives it, and
//! a panic ends the process with 0.

use std::sync::atomic::{AtomicBool, Ordering};

use super::log::Log;

/// Set once, by the reply, the deadline or a panic.
static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Returns true to the first caller and to nobody after.
pub(super) fn claim() -> bool {
    !IS_ANSWERED.swap(true, Ordering::AcqRel)
}

/// Makes a panic in any thread end the process quietly.
///
/// The message is dropped, because it may hold text of the user's.
pub(super) fn install_panic_hook(log: Log) {
    std::panic::set_hook(Box::new(move |_| {
        if claim() {
            log.write("panic", &[]);
            exit();
        }
    }));
}

#[allow(clippy::exit, reason = "a hook that is out of order ends here, with 0")]
fn exit() {
    std::process::exit(0);
}
