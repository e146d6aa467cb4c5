//! Failed tests of a structured report, each with as much of its message as
//! fits.

use super::lines::Lines;
use super::place::Frame;
use super::render::shown;
use super::signal::signal;

/// A test that did not pass.
pub(super) struct Failure {
    pub(super) name: Vec<u8>,
    pub(super) message: Vec<u8>,
}

/// Lines told of each message, from rich to poor.
const DETAILS: [usize; 5] = [12, 6, 3, 1, 0];

/// Lists failures in about `max_bytes`; all names, whatever they take.
pub(super) fn list(failures: &[Failure], max_bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for most in DETAILS {
        out.clear();
        out.extend_from_slice(b"not passed:\n");
        for failure in failures {
            failure.write(most, &mut out);
        }
        if out.len() <= max_bytes {
            break;
        }
    }
    out
}

impl Failure {
    fn write(&self, most: usize, out: &mut Vec<u8>) {
        shown(&self.name, out);
        out.push(b'\n');
        let lines = Lines::new(&self.message);
        let mut last: &[u8] = b"";
        let mut n = 0;
        for line in lines.iter() {
            let own = !line.trim_ascii().is_empty() && signal(line).frame != Frame::Library;
            // The message often opens the text below it once more.
            if !own || !last.is_empty() && line.trim_ascii().ends_with(last) {
                continue;
            }
            if n == most {
                break;
            }
            n += 1;
            out.extend_from_slice(b"  ");
            shown(line, out);
            out.push(b'\n');
            last = line.trim_ascii();
        }
    }
}
