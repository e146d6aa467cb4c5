//! Makes sqlite-vec known to SQLite connections.
#![allow(unsafe_code, reason = "an extension's entry point is a C function")]

use std::ffi::{c_char, c_int};
use std::sync::Once;

use rusqlite::{Connection, ffi};

type Entry = unsafe extern "C" fn(
    *mut ffi::sqlite3,
    *mut *mut c_char,
    *const ffi::sqlite3_api_routines,
) -> c_int;

fn entry() -> Entry {
    // SAFETY: `sqlite3_vec_init` has the signature of an extension entry point;
    // the crate declares it without arguments.
    unsafe { std::mem::transmute::<*const (), Entry>(sqlite_vec::sqlite3_vec_init as *const ()) }
}

/// Makes `vec0` and its functions known to connections opened after this call.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    // SAFETY: SQLite calls an entry point with a connection that is open.
    ONCE.call_once(|| unsafe {
        ffi::sqlite3_auto_extension(Some(entry()));
    });
}

/// Makes them known to one connection: a reader seldom needs them, and opening
/// is a tenth of a cold query.
pub(super) fn load(conn: &Connection) -> rusqlite::Result<()> {
    // SAFETY: the connection is open, and the entry point of an extension that
    // is linked in reads neither of the other arguments when it succeeds; a
    // null message pointer means that no message is wanted.
    let code = unsafe { entry()(conn.handle(), std::ptr::null_mut(), std::ptr::null()) };
    match code {
        ffi::SQLITE_OK => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}
