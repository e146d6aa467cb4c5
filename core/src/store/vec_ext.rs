//! Registers sqlite-vec with every SQLite connection this process opens.
#![allow(unsafe_code, reason = "an extension's entry point is a C function")]

use std::sync::Once;

use rusqlite::ffi;

/// Makes `vec0` and its functions known to connections opened after this call.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        type Entry = unsafe extern "C" fn(
            *mut ffi::sqlite3,
            *mut *mut std::ffi::c_char,
            *const ffi::sqlite3_api_routines,
        ) -> std::ffi::c_int;
        // SAFETY: `sqlite3_vec_init` has the signature of an extension entry
        // point; the crate declares it without arguments.
        unsafe {
            let entry: Entry =
                std::mem::transmute::<*const (), Entry>(sqlite_vec::sqlite3_vec_init as *const ());
            ffi::sqlite3_auto_extension(Some(entry));
        }
    });
}
