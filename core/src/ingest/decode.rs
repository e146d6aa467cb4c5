//! Bytes of a note file to text: UTF-8 with or without a byte order mark,
//! UTF-16, single bytes of Windows-1252 (which covers Latin-1), NUL.
//!
//! What cannot be decoded never reaches the index as guesswork: binary content
//! is told apart and refused. The file itself is never written.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::key;
use super::source::{MAX_NOTE_BYTES, Reason, SourceFile, kind_name, source_file, unreadable};

/// Hash of a file's raw bytes (XXH3, 128 bits): tells a touched file from a
/// changed one. It guards against chance, not against an attacker.
pub type ContentHash = [u8; 16];

/// The content of one note file.
#[derive(Debug)]
pub struct Source {
    /// The file as it was when it was opened: a later write shows as a change.
    pub file: SourceFile,
    /// Hash of the raw bytes.
    pub hash: ContentHash,
    /// The text: no byte order mark, lines ended by `\n`, no NUL.
    pub text: String,
    /// What was not as it should be.
    pub warnings: Vec<String>,
}

/// Text and what was not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text: no byte order mark, lines ended by `\n`, no NUL.
    pub text: String,
    /// What was not as it should be.
    pub warnings: Vec<String>,
}

/// Reads the note `file` of the vault at `root`.
pub fn read(root: &Path, file: &SourceFile) -> Result<Source, Reason> {
    let (file, bytes) = read_bytes(root, file)?;
    let hash = hash(&bytes);
    let Decoded { text, warnings } = decode(bytes)?;
    Ok(Source { file, hash, text, warnings })
}

/// Reads the note unless its content is what `known` is the hash of.
pub(super) fn read_if(
    root: &Path,
    file: &SourceFile,
    known: Option<&[u8]>,
) -> Result<Option<Source>, Reason> {
    let (file, bytes) = read_bytes(root, file)?;
    let hash = hash(&bytes);
    if known == Some(&hash) {
        return Ok(None);
    }
    let Decoded { text, warnings } = decode(bytes)?;
    Ok(Some(Source { file, hash, text, warnings }))
}

/// Returns the hash of raw content.
pub fn hash(bytes: &[u8]) -> ContentHash {
    xxh3_128(bytes).to_be_bytes()
}

/// Reads the raw bytes of `file` and describes it as it was when opened.
pub fn read_bytes(root: &Path, file: &SourceFile) -> Result<(SourceFile, Vec<u8>), Reason> {
    let mut handle = File::options()
        .read(true)
        // A FIFO that took the file's place must not block the run.
        .custom_flags(libc::O_NONBLOCK)
        .open(root.join(key::to_path(&file.path)))
        .map_err(|error| unreadable(&error))?;
    let meta = handle.metadata().map_err(|error| unreadable(&error))?;
    if !meta.is_file() {
        return Err(Reason::NotAFile(kind_name(meta.file_type())));
    }
    if meta.len() > MAX_NOTE_BYTES {
        return Err(Reason::TooLarge(meta.len()));
    }
    let size = usize::try_from(meta.len()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size + 1);
    handle
        .by_ref()
        .take(MAX_NOTE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MAX_NOTE_BYTES {
        return Err(Reason::TooLarge(bytes.len() as u64));
    }
    Ok((source_file(file.path.clone(), &meta), bytes))
}

/// Decodes the bytes of a note; fails with [`Reason::Binary`] only.
pub fn decode(bytes: Vec<u8>) -> Result<Decoded, Reason> {
    let mut warnings = Vec::new();
    let text = match encoding(&bytes) {
        Encoding::Utf16 { big_endian, mark } => {
            let (text, n_broken) = utf16(bytes.get(mark..).unwrap_or(&[]), big_endian);
            if n_broken > 0 {
                warnings.push(format!("{n_broken} broken UTF-16 units replaced"));
            }
            text
        }
        Encoding::Utf8 { mark } => {
            let bytes = if mark == 0 { bytes } else { bytes.get(mark..).unwrap_or(&[]).to_vec() };
            match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => {
                    if looks_binary(error.as_bytes()) {
                        return Err(Reason::Binary);
                    }
                    let (text, n_single) = utf8_or_1252(error.as_bytes());
                    warnings.push(format!("{n_single} bytes are no UTF-8, read as Windows-1252"));
                    text
                }
            }
        }
    };
    if is_mostly_control(&text) {
        return Err(Reason::Binary);
    }
    Ok(Decoded { text: plain(text, &mut warnings), warnings })
}

enum Encoding {
    Utf8 { mark: usize },
    Utf16 { big_endian: bool, mark: usize },
}

fn encoding(bytes: &[u8]) -> Encoding {
    match bytes {
        [0xEF, 0xBB, 0xBF, ..] => Encoding::Utf8 { mark: 3 },
        [0xFF, 0xFE, ..] => Encoding::Utf16 { big_endian: false, mark: 2 },
        [0xFE, 0xFF, ..] => Encoding::Utf16 { big_endian: true, mark: 2 },
        _ => unmarked(bytes),
    }
}

/// UTF-16 without its mark: every other byte of Latin text is NUL.
fn unmarked(bytes: &[u8]) -> Encoding {
    let head = bytes.get(..4096.min(bytes.len()) & !1).unwrap_or(&[]);
    let n_units = head.len() / 2;
    let n_nul = |offset: usize| head.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (n_nul(0), n_nul(1));
    if n_units >= 4 && bytes.len().is_multiple_of(2) && even.max(odd) * 10 >= n_units * 7 {
        let is_text = even.min(odd) * 20 <= n_units;
        if is_text {
            return Encoding::Utf16 { big_endian: even > odd, mark: 0 };
        }
    }
    Encoding::Utf8 { mark: 0 }
}

fn utf16(bytes: &[u8], big_endian: bool) -> (String, usize) {
    let units = bytes.chunks_exact(2).map(|pair| match (pair, big_endian) {
        ([a, b], true) => u16::from_be_bytes([*a, *b]),
        ([a, b], false) => u16::from_le_bytes([*a, *b]),
        _ => 0xFFFD,
    });
    let mut n_broken = bytes.len() % 2;
    let text = char::decode_utf16(units)
        .map(|unit| {
            unit.unwrap_or_else(|_| {
                n_broken += 1;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    (text, n_broken)
}

/// Keeps what is UTF-8 and reads every other byte as Windows-1252: right for
/// Latin-1 files, and for one stray byte in a long UTF-8 file.
fn utf8_or_1252(bytes: &[u8]) -> (String, usize) {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    let mut n_single = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push(windows_1252(*byte));
            n_single += 1;
        }
    }
    (text, n_single)
}

/// The 32 places where Windows-1252 differs from Latin-1 (WHATWG index).
const C1: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9F => C1.get(usize::from(byte) - 0x80).copied().unwrap_or('\u{FFFD}'),
        _ => char::from(byte),
    }
}

/// Whether bytes that are no UTF-8 are no text in a single-byte encoding
/// either: a NUL, or control characters that text does not have.
fn looks_binary(bytes: &[u8]) -> bool {
    let n_control = bytes.iter().filter(|b| is_control(**b)).count();
    bytes.contains(&0) || n_control * 50 > bytes.len()
}

/// Whether decoded text is control characters for a tenth or more.
fn is_mostly_control(text: &str) -> bool {
    let n_control = text.bytes().filter(|b| is_control(*b)).count();
    n_control * 10 > text.len()
}

/// Control characters other than tab, line ends, form feed, backspace and
/// escape (pasted terminal output has those).
fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, 0x08..=0x0D | 0x1B)
}

/// One kind of line end, no byte order mark, no NUL.
fn plain(mut text: String, warnings: &mut Vec<String>) -> String {
    let n_nul = memchr::memchr_iter(0, text.as_bytes()).count();
    if n_nul > 0 {
        warnings.push(format!("{n_nul} NUL characters read as spaces"));
        text = text.replace('\0', " ");
    }
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        text = if memchr::memchr(b'\n', text.as_bytes()).is_some() {
            text.replace("\r\n", "\n")
        } else {
            text.replace('\r', "\n")
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: impl AsRef<[u8]>) -> String {
        decode(bytes.as_ref().to_vec()).unwrap().text
    }

    fn utf16_bytes(text: &str, big_endian: bool, mark: bool) -> Vec<u8> {
        let units = text.encode_utf16();
        let units: Vec<u16> = mark.then_some(0xFEFF).into_iter().chain(units).collect();
        units
            .iter()
            .flat_map(|unit| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    }

    #[test]
    fn marks_and_line_ends_are_not_content() {
        assert_eq!(text("\u{FEFF}---\ntitle: x\n---\n"), "---\ntitle: x\n---\n");
        assert_eq!(text("a\r\nb\r\n"), "a\nb\n");
        assert_eq!(text("a\rb\r"), "a\nb\n");
        assert_eq!(text("progress 1\rprogress 2\n"), "progress 1\rprogress 2\n");
        assert_eq!(text(""), "");
    }

    #[test]
    fn utf16_is_read_in_both_orders_with_and_without_its_mark() {
        let note = "# Año 2024\n\nSeñal 😀 and a longer line of plain text.\n";
        for (big_endian, mark) in [(true, true), (false, true), (true, false), (false, false)] {
            assert_eq!(text(utf16_bytes(note, big_endian, mark)), note, "{big_endian} {mark}");
        }
    }

    #[test]
    fn single_bytes_are_windows_1252_and_only_they() {
        assert_eq!(text(b"# N\n\ncaf\xe9 \x80 5 \x93q\x94"), "# N\n\ncafé € 5 “q”");
        assert_eq!(text(b"caf\xc3\xa9 and caf\xe9"), "café and café");
        let decoded = decode(b"caf\xe9".to_vec()).unwrap();
        assert_eq!(decoded.warnings, ["1 bytes are no UTF-8, read as Windows-1252"]);
    }

    #[test]
    fn a_nul_in_text_is_a_space_and_binary_is_refused() {
        assert_eq!(
            text(b"zq\0after nul, which must be found"),
            "zq after nul, which must be found"
        );
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01".to_vec();
        assert_eq!(decode(png), Err(Reason::Binary));
        let ascii_nul = [b"MZ".as_slice(), &[0; 64]].concat();
        assert_eq!(decode(ascii_nul), Err(Reason::Binary));
        let noise: Vec<u8> =
            (0..4096u32).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
        assert_eq!(decode(noise), Err(Reason::Binary));
    }
}
