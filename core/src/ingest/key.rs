//! The name of a note in the index: its path inside the vault as text.
//!
//! File names are bytes on Unix and need not be UTF-8, while the index, JSON
//! and terminals want text. The form here is the path itself, `/` between
//! folders, with each byte that is no UTF-8 written `\xHH`; a backslash that
//! would read as such an escape becomes `\x5C`, so that two files never share
//! a name and every name leads back to its file.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Returns the name of the vault-relative `path`.
pub fn of(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.contains("\\x")
    {
        return text.to_owned();
    }
    let mut name = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some((before, after)) = rest.split_once('\\') {
            name.push_str(before);
            name.push_str(if escaped_byte(after).is_some() { "\\x5C" } else { "\\" });
            rest = after;
        }
        name.push_str(rest);
        for byte in chunk.invalid() {
            name.push_str(&format!("\\x{byte:02X}"));
        }
    }
    name
}

/// Returns the vault-relative path that [`of`] made `name` from.
pub fn to_path(name: &str) -> PathBuf {
    if !name.contains("\\x") {
        return PathBuf::from(name);
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        match escaped_byte(after) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or("");
            }
            None => {
                bytes.push(b'\\');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Reads `xHH` at the start of `text`; only what [`of`] writes counts.
fn escaped_byte(text: &str) -> Option<u8> {
    let digits = text.strip_prefix('x')?.get(..2)?;
    let is_upper_hex = |c: u8| c.is_ascii_digit() || (b'A'..=b'F').contains(&c);
    if !digits.bytes().all(is_upper_hex) {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}

/// Returns the file name without its extension, for a title.
pub fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => {
            stem.strip_suffix(".excalidraw").filter(|short| !short.is_empty()).unwrap_or(stem)
        }
        _ => file,
    }
}

/// Writes a name on one line of a terminal: control characters escaped.
pub fn shown(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// The same for any path.
pub fn shown_path(path: &OsStr) -> String {
    shown(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_file_and_no_two_are_equal() {
        let paths: [&[u8]; 8] = [
            b"plain.md",
            b"a/\xFF\xFEname.md",
            b"a/\\xFF\\xFEname.md",
            b"a/\\xFFname.md",
            b"back\\slash.md",
            b"new\nline.md",
            "caf\u{e9}.md".as_bytes(),
            "cafe\u{301}.md".as_bytes(),
        ];
        let mut names = Vec::new();
        for path in paths {
            let path = Path::new(OsStr::from_bytes(path));
            let name = of(path);
            assert_eq!(to_path(&name), path, "{name}");
            assert!(!names.contains(&name), "{name}");
            names.push(name);
        }
        assert_eq!(names[1], "a/\\xFF\\xFEname.md");
        assert_eq!(names[2], "a/\\x5CxFF\\x5CxFEname.md");
        assert_eq!(names[4], "back\\slash.md");
    }

    #[test]
    fn stem_is_the_title_a_person_sees() {
        assert_eq!(stem("a/b/Note one.md"), "Note one");
        assert_eq!(stem("v1.2 plan.md"), "v1.2 plan");
        assert_eq!(stem("Sketch.excalidraw.md"), "Sketch");
        assert_eq!(stem(".md"), ".md");
    }

    #[test]
    fn a_shown_name_stays_on_its_line() {
        assert_eq!(shown("a\nb\u{1b}[31m.md"), "a\\nb\\u{1b}[31m.md");
    }
}
