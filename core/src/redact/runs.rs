//! Long unbroken runs of base64 letters: shapes without a prefix, and random
//! keys that a word nearby gives away.

use super::engine::Spans;
use super::random::is_strongly_random;
use super::scan::line_end;
use super::value::Traits;

/// Shortest run worth a look.
const MIN: usize = 24;

const RUN_BYTES: [bool; 256] = {
    let mut set = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        set[byte] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-');
        byte += 1;
    }
    set
};

fn is_run_byte(byte: u8) -> bool {
    RUN_BYTES[usize::from(byte)]
}

/// Finds every maximal run of at least [`MIN`] bytes, looking at about one
/// byte in twenty where there is none, and reads those that are not `known`.
pub(super) fn scan(text: &[u8], known: &[(usize, usize)], spans: &mut Spans) {
    let mut known = known.iter().peekable();
    let mut from = 0;
    while let Some(byte) = text.get(from + MIN - 1) {
        if !is_run_byte(*byte) {
            from += MIN;
            continue;
        }
        let probe = from + MIN - 1;
        let start = (from..probe).rev().find(|i| !is_run_byte(text[*i])).map_or(from, |i| i + 1);
        let end = (probe..text.len()).find(|i| !is_run_byte(text[*i])).unwrap_or(text.len());
        while known.peek().is_some_and(|(_, known_end)| *known_end < end) {
            known.next();
        }
        let is_known = known.peek().is_some_and(|(known_start, _)| *known_start <= start);
        if end - start >= MIN && !is_known {
            run(text, start, end, spans);
        }
        from = end.max(from + 1);
    }
}

fn run(text: &[u8], start: usize, end: usize, spans: &mut Spans) {
    let value = text.get(start..end).unwrap_or_default();
    if let Some(end) = discord(text, start, end) {
        spans.add("discord-bot-token", start, end);
    } else if is_mailgun(value) {
        spans.add("mailgun-key", start, end);
    } else if (32..=512).contains(&value.len()) && is_keylike(value) && !is_block(text, start, end)
    {
        let end = (end..text.len().min(end + 3))
            .find(|i| text[*i] != b'=')
            .unwrap_or(text.len().min(end + 3));
        if is_announced(text, start, end) {
            spans.add("high-entropy", start, end);
        }
    }
}

/// A bot token: the bot's number in base64, a time stamp, a signature.
fn discord(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let is_id = (24..=28).contains(&(end - start))
        && matches!(text[start], b'M' | b'N' | b'O')
        && matches!(text.get(start + 1)?, b'A'..=b'Z' | b'j' | b'z');
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-';
    let stamp = text.get(end + 1..end + 7)?;
    let tail = text.get(end + 8..)?;
    let n = tail.iter().take(120).take_while(|b| is_part(b)).count();
    (is_id && text[end] == b'.' && text[end + 7] == b'.' && stamp.iter().all(is_part) && n >= 27)
        .then_some(end + 8 + n)
}

/// 32, 8 and 8 hexadecimal digits.
fn is_mailgun(value: &[u8]) -> bool {
    value.len() == 50
        && value.iter().enumerate().all(|(i, b)| {
            if i == 32 || i == 41 {
                *b == b'-'
            } else {
                b.is_ascii_digit() || matches!(b, b'a'..=b'f')
            }
        })
}

/// Capitals, small letters and digits in no order.
fn is_keylike(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    traits.upper * 8 >= value.len()
        && traits.lower * 8 >= value.len()
        && traits.digit > 0
        && traits.variety >= 16
        && is_strongly_random(value)
}

/// True when the words before the run speak of keys and nothing says that it
/// is a hash, a public key, part of a URL or of a block of base64.
fn is_announced(text: &[u8], start: usize, end: usize) -> bool {
    let before = text.get(start.saturating_sub(160)..start).unwrap_or_default();
    // A marker announces nothing: neither its name nor what stood before it.
    let marker = memchr::memmem::rfind(before, b"[REDACTED:").unwrap_or(0);
    let past = memchr::memchr(b']', before.get(marker..).unwrap_or_default()).map_or(0, |n| n + 1);
    let before = if before.get(marker..).is_some_and(|rest| rest.starts_with(b"[REDACTED:")) {
        before.get(marker + past..).unwrap_or_default()
    } else {
        before
    };
    let lines: Vec<&[u8]> = before.rsplitn(4, |b| *b == b'\n').collect();
    let token = before
        .iter()
        .rev()
        .take_while(|b| !b.is_ascii_whitespace() && !b"\"'`(<|".contains(b))
        .count();
    let token = before.get(before.len() - token..).unwrap_or_default().to_ascii_lowercase();
    let not_here: [&[u8]; 12] = [
        b"sha1", b"sha256", b"sha384", b"sha512", b"h1:", b"://", b"base64,", b"/", b"@", b"md5",
        b"#", b".",
    ];
    if not_here.iter().any(|mark| memchr::memmem::find(&token, mark).is_some()) {
        return false;
    }
    let line = lines.first().copied().unwrap_or_default().to_ascii_lowercase();
    if NOT_ON_LINE.iter().any(|word| memchr::memmem::find(&line, word).is_some()) {
        return false;
    }
    let above = lines.get(1).map(|line| line.to_ascii_lowercase()).unwrap_or_default();
    let is_hash = NOT_ABOVE.iter().any(|word| memchr::memmem::find(&above, word).is_some());
    let near = lines.iter().take(3).any(|line| {
        let line = line.to_ascii_lowercase();
        NEAR.iter().any(|word| has_word(&line, word))
    });
    let after = text.get(end..line_end(text, end, 80)).unwrap_or_default().to_ascii_lowercase();
    let marker = memchr::memmem::find(&after, b"[redacted:").unwrap_or(after.len());
    let after = after.get(..marker).unwrap_or_default();
    let is_named_after = NEAR.iter().any(|word| has_word(after, word))
        && !NOT_ON_LINE.iter().any(|word| memchr::memmem::find(after, word).is_some());
    (near || is_named_after) && !is_hash
}

/// True when `word` begins a word of `line`; a short one has to be all of it,
/// so that `keyboard` and `author` say nothing.
fn has_word(line: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find_iter(line, word).any(|at| {
        let before = at.checked_sub(1).is_some_and(|i| line[i].is_ascii_alphabetic());
        let rest = line.get(at + word.len()..).unwrap_or_default();
        let is_end = match rest {
            [b's', next, ..] => !next.is_ascii_alphabetic(),
            [next, ..] => !next.is_ascii_alphabetic(),
            [] => true,
        };
        !before && (is_end || word.len() > 6)
    })
}

/// Words that, on the same line, say that a run is no key to keep.
#[rustfmt::skip]
const NOT_ON_LINE: &[&[u8]] = &[
    b"public", b"ssh-", b"integrity", b"checksum", b"hash", b"digest", b"etag", b"request-id",
    b"request id", b"requestid", b"client_id", b"client id", b"fingerprint", b"certificate",
    b"commit", b"clave p\xC3\xBAblica", b"cid", b"address", b"trace", b"span", b"sha", b"nonce",
    b"publishable", b"sitekey", b"site key", b"recaptcha", b"turnstile", b"dkim", b"nexttoken",
    b"next_token", b"uploadid", b"continuation", b"define",
];

/// Words that say so from the line above.
const NOT_ABOVE: &[&[u8]] = &[b"public", b"ssh-", b"integrity", b"checksum", b"hash", b"digest"];

/// Words that say so of the run on their line or on one of the next two.
#[rustfmt::skip]
const NEAR: &[&[u8]] = &[
    b"secret", b"secreto", b"secreta", b"token", b"key", b"apikey", b"hmac", b"master", b"maestra",
    b"rotate", b"llave", b"clave", b"credential", b"credencial", b"password", b"contrase",
    b"openssl", b"genkey", b"encrypt", b"encryption", b"cifrado", b"signing", b"salt", b"pepper",
    b"auth", b"pwgen", b"webhook", b"fernet", b"firma", b"semilla", b"urandom", b"jwt", b"psk",
    b"passphrase", b"privatekey", b"genpsk",
];

/// True when the line above or below is base64 as well.
fn is_block(text: &[u8], start: usize, end: usize) -> bool {
    let is_base64 = |line: &[u8]| {
        let line = line.trim_ascii();
        line.len() >= 40 && line.iter().all(|b| is_run_byte(*b) || *b == b'=')
    };
    // `\n` in a string of JSON.
    let is_escaped = |at: usize| text.get(at..at + 2) == Some(b"\\n");
    let run_byte = |at: usize| text.get(at).is_some_and(|b| is_run_byte(*b));
    if start >= 3 && is_escaped(start - 2) && run_byte(start - 3)
        || is_escaped(end) && run_byte(end + 30)
    {
        return true;
    }
    let above = text.get(start.saturating_sub(200)..start).unwrap_or_default();
    let below = text.get(end..text.len().min(end + 200)).unwrap_or_default();
    let mut above = above.rsplit(|b| *b == b'\n').skip(1);
    let mut below = below.split(|b| *b == b'\n').skip(1);
    above.next().is_some_and(is_base64) || below.next().is_some_and(is_base64)
}
