//! Maps a file into memory: the one unsafe step of reading a 30 MB table
//! without copying it.
#![allow(unsafe_code, reason = "mapping a file is unsafe: its bytes can change under the program")]

use std::fs::File;
use std::io;

use memmap2::{Advice, Mmap};

/// Maps the whole of `file` for reading.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the tables are installed by renaming a finished file into place
    // and are never written again, so the mapped inode does not change. Bytes
    // are only ever read through checked slices, so even a file that someone
    // edits in place can give wrong vectors, not an invalid value.
    let map = unsafe { Mmap::map(file) }?;
    // A query touches a few dozen scattered pages; read-ahead would fault in
    // megabytes around each. Where the advice is unknown, nothing is lost.
    let _ = map.advise(Advice::Normal);
    Ok(map)
}
