//! Places in source files, stack frames and quoted source, as tools print
//! them.

/// A stack frame, and whose code it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Frame {
    /// Not a frame.
    #[default]
    None,
    /// In the user's own code, as far as the path tells.
    User,
    /// In a runtime, a library or a test runner.
    Library,
}

/// Finds `path.ext:12`, `path(12,3)` or `"path", line 12`; returns the range
/// of the path and the line number as text.
pub(super) fn place(text: &[u8]) -> Option<(usize, usize)> {
    for sep in memchr::memchr2_iter(b':', b'(', text) {
        if !text.get(sep + 1).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let digits = text.get(sep + 1..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits <= 7 && looks_like_file(text, sep) {
            return Some((file_start(text, sep), sep + 1 + digits));
        }
    }
    if text.starts_with(b"In ") && text.ends_with(b":") {
        // shellcheck: `In x.sh line 9:`
        let line = memchr::memmem::find(text, b" line ")?;
        return Some((3, line + 6));
    }
    let quote = memchr::memchr_iter(b'"', text)
        .find(|&at| text.get(at + 1..).is_some_and(|rest| rest.starts_with(b", line ")))?;
    let start = text.get(..quote)?.iter().rposition(|&b| b == b'"')?;
    let digits = text.get(quote + 8..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    (digits > 0).then_some((start + 1, quote + 8 + digits))
}

fn file_start(text: &[u8], end: usize) -> usize {
    text.get(..end)
        .and_then(|head| {
            head.iter()
                .rposition(|b| matches!(b, b' ' | b'\t' | b'(' | b'"' | b'\'' | b'`' | b'<' | b'['))
        })
        .map_or(0, |at| at + 1)
}

/// A name with an extension or a slash right before `end`.
fn looks_like_file(text: &[u8], end: usize) -> bool {
    let name = text.get(file_start(text, end)..end).unwrap_or_default();
    let Some(dot) = name.iter().rposition(|&b| b == b'.') else {
        return name.len() > 2
            && name.contains(&b'/')
            && memchr::memmem::find(name, b"//").is_none();
    };
    let ext = name.get(dot + 1..).unwrap_or_default();
    dot > 0
        && (1..=10).contains(&ext.len())
        && ext.iter().all(u8::is_ascii_alphanumeric)
        && ext.first().is_some_and(u8::is_ascii_alphabetic)
}

/// `12:5  error …` under a file's name.
pub(super) fn is_position(text: &[u8]) -> bool {
    let digits = |from: usize| {
        text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let line = digits(0);
    let column = digits(line + 1);
    line > 0
        && text.get(line) == Some(&b':')
        && column > 0
        && text.get(line + 1 + column..line + 3 + column) == Some(b"  ")
}

/// `12 | code`, `   | ^^^`, `> 12 | code`, `12 + code`.
pub(super) fn is_quote(text: &[u8]) -> bool {
    let text = text.strip_prefix(b">").unwrap_or(text).trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = text.get(digits..).unwrap_or_default();
    if digits > 6 {
        return false;
    }
    let Some(after) = rest.trim_ascii_start().strip_prefix(b"|") else { return false };
    let code = matches!(after.first(), None | Some(b' ' | b'\t' | b'_'));
    code && (digits > 0 || rest.first() == Some(&b'|'))
        && after.iter().filter(|&&b| b == b'|').count() <= 1
}

/// Path pieces that mark code the user did not write.
const LIBRARY: &[&[u8]] = &[
    b"node_modules",
    b"node:",
    b"site-packages",
    b"dist-packages",
    b"/rustc/",
    b".cargo/registry",
    b"/lib/python3",
    b"<frozen",
    b"java.base/",
    b"jdk.internal",
    b"sun.reflect",
    b"java.util.",
    b"java.lang.",
    b"org.junit",
    b"org.apache.maven",
    b"org.gradle",
    b"/usr/lib/",
    b"/usr/local/go",
    b"/go/src/",
    b"goroutine ",
    b"testing.tRunner",
    b"core::",
    b"std::",
    b"alloc::",
    b"__libc",
    b"libc.so",
    b"/csu/",
    b"sysdeps/",
    b"libsanitizer",
    b"System.Private",
    b"Microsoft.",
    b"/vendor/",
    b"/gems/",
    b"internal/process",
    b"__rustc",
    b"rust_begin_unwind",
    b"test::",
    b"tokio::runtime",
    b"_pytest",
    b"pluggy",
    b"unittest/",
    b"/usr/include/",
    b"vg_replace_malloc",
    b"(in /usr",
];

/// `#1 0x564 in lee src/lee.c:9`, `#0  main () at x.c:3`, `#0 /p/a.php(12): f()`;
/// not a build step, `#14 9.2 npm error`.
fn is_hash_frame(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"#") else { return false };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = rest.get(digits..).unwrap_or_default();
    let call = rest.trim_ascii_start();
    let named = || {
        let open = memchr::memchr(b'(', call).unwrap_or(0);
        let name = call.get(..open).unwrap_or_default().trim_ascii_end();
        !name.is_empty() && !name.contains(&b' ') && !name.starts_with(b"[")
    };
    digits > 0
        && call.len() < rest.len()
        && (call.starts_with(b"0x") || call == b"{main}" || named())
}

pub(super) fn frame(text: &[u8]) -> Frame {
    let hash_frame = is_hash_frame(text);
    let numbered = {
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        (1..=3).contains(&digits)
            && text.get(digits) == Some(&b':')
            && text.get(digits + 1) == Some(&b' ')
            && memchr::memmem::find(text, b"::").is_some()
    };
    let valgrind = text.starts_with(b"==")
        && (memchr::memmem::find(text, b"==    at 0x").is_some()
            || memchr::memmem::find(text, b"==    by 0x").is_some());
    // Go: `\t/src/cart.go:4 +0x2e` under the function's name.
    let go = memchr::memmem::find(text, b" +0x")
        .is_some_and(|at| place(text).is_some_and(|(start, end)| start == 0 && end == at));
    let is = hash_frame
        || numbered
        || go
        || valgrind
        || text.starts_with(b"at ")
            && (text.ends_with(b")")
                || place(text).is_some()
                || text.get(3) == Some(&b'/')
                || memchr::memmem::find(text, b".").is_some() && text.len() < 200)
        || text.starts_with("❯ ".as_bytes()) && place(text).is_some()
        || text.starts_with(b"File \"") && memchr::memmem::find(text, b", line ").is_some()
        || text.starts_with(b"from ") && place(text).is_some();
    if !is {
        return Frame::None;
    }
    if LIBRARY.iter().any(|piece| memchr::memmem::find(text, piece).is_some()) {
        Frame::Library
    } else {
        Frame::User
    }
}
