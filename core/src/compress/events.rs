//! Event streams with one JSON object per line, read as the text they carry:
//! `go test -json` (`Output`) and `cargo --message-format=json` (`rendered`).

use super::json::unescape;
use super::lines::Lines;

/// Rewrites an event stream into the lines it carries, each with the number of
/// its event; `None` for anything else.
pub(super) fn unwrap(raw: &[u8]) -> Option<Lines> {
    let first = raw.split(|&b| b == b'\n').take(8).find(|line| line.starts_with(b"{"))?;
    let has = |key: &[u8]| memchr::memmem::find(first, key).is_some();
    if has(b"\"Action\":\"") && (has(b"\"Package\":") || has(b"\"ImportPath\":")) {
        return Some(carried(raw, b"\"Output\":\"", |_| true));
    }
    if has(b"\"reason\":\"") && (has(b"\"package_id\":") || has(b"\"target\":")) {
        return Some(carried(raw, b"\"rendered\":\"", |event| {
            memchr::memmem::find(event, b"\"reason\":\"compiler-artifact\"").is_none()
        }));
    }
    None
}

/// The text under `key` in every event; lines that are no event, and events
/// that `other` wants, stay as they are.
fn carried(raw: &[u8], key: &[u8], other: fn(&[u8]) -> bool) -> Lines {
    let finder = memchr::memmem::Finder::new(key);
    let rendered = key.starts_with(b"\"rendered");
    let mut lines = Lines::empty();
    let body = raw.strip_suffix(b"\n").unwrap_or(raw);
    let mut text = Vec::new();
    for (event, no) in body.split(|&b| b == b'\n').zip(1_u32..) {
        lines.n_raw = no;
        if !event.starts_with(b"{") {
            lines.push_raw(event, no);
            continue;
        }
        let Some(at) = finder.find(event) else {
            if rendered && other(event) {
                lines.push_raw(event, no);
            }
            continue;
        };
        text.clear();
        unescape(event.get(at + key.len()..).unwrap_or_default(), &mut text);
        for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|&b| b == b'\n') {
            lines.push_raw(line, no);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_events_become_their_output() {
        let raw = b"{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"T\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"x: \\\"a\\\"\\tb\\n\"}\nplain\n";
        let lines = unwrap(raw).unwrap();
        assert_eq!(
            (lines.get(0), lines.no(0), lines.get(1), lines.no(1)),
            (b"x: \"a\"\tb".as_slice(), 2, b"plain".as_slice(), 3)
        );
        assert_eq!(lines.n_raw, 3);
        assert!(unwrap(b"{\"level\":\"info\"}\n").is_none());
    }
}
