//! What travels with requests: credentials in URLs, secrets in queries,
//! `Authorization`, cookies.

use super::engine::Spans;
use super::gate::is_query_secret;
use super::random::{is_random, is_slug, is_strongly_random, wordiness};
use super::reference::is_template;
use super::scan::{byte, line_end, run_end, skip};
use super::value::{is_measure, is_password, is_placeholder};

const QUOTES: &[u8] = b"\"'`\\";

/// `scheme://user:password@host`, from its `://`.
pub(super) fn url(text: &[u8], at: usize, spans: &mut Spans) {
    if at == 0 || !byte(text, at - 1).is_ascii_alphanumeric() {
        return;
    }
    let start = at + 3;
    let is_inside = |b: u8| !b.is_ascii_whitespace() && !b"/\"'<>`|\\".contains(&b);
    let end = run_end(text, start, 400, is_inside);
    let authority = text.get(start..end).unwrap_or_default();
    let is_host = |b: &u8| b.is_ascii_alphanumeric() || *b == b'[' || *b >= 0x80;
    let last_at = (0..authority.len())
        .rev()
        .find(|i| authority[*i] == b'@' && authority.get(i + 1).is_some_and(is_host));
    let Some(last_at) = last_at else { return };
    let userinfo = authority.get(..last_at).unwrap_or_default();
    let Some(colon) = memchr::memchr(b':', userinfo) else {
        if is_strongly_random(userinfo) {
            spans.add("url-credentials", start, start + last_at);
        }
        return;
    };
    let (user, password) =
        (userinfo.get(..colon).unwrap_or_default(), userinfo.get(colon + 1..).unwrap_or_default());
    let is_default = user.eq_ignore_ascii_case(password) || is_placeholder(password);
    if password.len() >= 3
        && !is_default
        && !is_template(password)
        && !user.iter().any(|b| b"@[{<$".contains(b))
    {
        spans.add("url-credentials", start + colon + 1, start + last_at);
    }
}

/// `?sig=…`: a name that means a secret only inside a query, at `at`.
pub(super) fn query(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let name = at + key.bytes().take_while(|b| !b.is_ascii_alphanumeric()).count();
    if !matches!(byte(text, name.wrapping_sub(1)), b'?' | b'&' | b';') {
        return;
    }
    let start = at + key.len();
    let end = run_end(text, start, 4096, |b| {
        !b.is_ascii_whitespace() && !b"?&\"'<>`)]|#\\;".contains(&b)
    });
    let value = text.get(start..end).unwrap_or_default();
    if !is_template(value) && is_query_secret(value) {
        spans.add("url-secret", start, end);
    }
}

fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"._~+/=:-".contains(&b)
}

/// `Authorization: SCHEME value` in any quoting, and `Bearer value`, `Basic
/// value` on their own.
pub(super) fn authorization(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let mut at = at + key.len();
    let is_header = key == "authorization";
    if is_header {
        let quoted = skip(text, at, QUOTES, 3);
        let sign = skip(text, quoted, b" \t\r\n", 3);
        if !matches!(byte(text, sign), b':' | b'=' | b',') {
            return;
        }
        at = skip(text, sign + 1, b" \t\r\n\"'`\\", 6);
    }
    let scheme_end = run_end(text, at, 12, |b| b.is_ascii_alphabetic());
    let scheme = text.get(at..scheme_end).unwrap_or_default();
    let schemes =
        ["bearer", "token", "basic", "apikey", "bot", "key", "digest", "negotiate", "genie"];
    let named = schemes.iter().find(|name| scheme.eq_ignore_ascii_case(name.as_bytes()));
    let scheme = if is_header { named.copied() } else { Some(key.trim_end()) };
    if is_header && scheme.is_some() {
        at = scheme_end;
    }
    let start = skip(text, at, b" \t\r\n\"'`:=", 4);
    if scheme.is_some() && start == at && key != "basic " {
        return;
    }
    let end = run_end(text, start, 8192, is_token);
    let value = text.get(start..end).unwrap_or_default();
    if accepts_token(scheme, is_header, value) {
        spans.add(if scheme == Some("basic") { "basic-auth" } else { "bearer-token" }, start, end);
    }
}

fn accepts_token(scheme: Option<&str>, is_header: bool, value: &[u8]) -> bool {
    if is_template(value) {
        return false;
    }
    match scheme {
        Some("basic") => {
            is_user_and_password(value) || (is_header && value.len() >= 12 && is_random(value))
        }
        _ => {
            value.len() >= 16
                && !is_measure(value)
                && (is_random(value) || (is_header && is_password(value, 16) && is_unnamed(value)))
        }
    }
}

fn is_unnamed(value: &[u8]) -> bool {
    wordiness(value) < 40 && !is_slug(value)
}

/// True for base64 of `user:password`.
fn is_user_and_password(value: &[u8]) -> bool {
    let mut bytes = Vec::new();
    let (mut bits, mut n_bits) = (0u32, 0);
    for byte in value.iter().filter(|b| **b != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        (bits, n_bits) = (bits << 6 | u32::from(digit), n_bits + 6);
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits & 0xFF) as u8);
        }
    }
    let Some(colon) = memchr::memchr(b':', &bytes) else { return false };
    let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.chars().any(char::is_control));
    let password = bytes.get(colon + 1..).unwrap_or_default();
    value.len() >= 8 && is_text && !is_placeholder(password) && !is_template(password)
}

/// The pairs after `Cookie:`, `Set-Cookie:`, `-b` and `--cookie`.
pub(super) fn cookie(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let from = at + key.len();
    if at < spans.cookies {
        return;
    }
    let end = line_end(text, from, 4096);
    let line = text.get(from..end).unwrap_or_default();
    let opens = line.first().is_some_and(|b| b":= \"'".contains(b)) || key.ends_with(' ');
    if !opens {
        return;
    }
    spans.cookies = end;
    let mut start = from;
    for part in line.split(|b| b"; ,".contains(b)) {
        let next = start + part.len() + 1;
        if let Some(equals) = memchr::memchr(b'=', part) {
            let name = part.get(..equals).unwrap_or_default().to_ascii_lowercase();
            let value_start = start + equals + 1 + usize::from(part.get(equals + 1) == Some(&b'"'));
            let value_end = run_end(text, value_start, 4096, |b| {
                b.is_ascii_alphanumeric() || b"+/_=%.-:~".contains(&b)
            });
            let value = text.get(value_start..value_end).unwrap_or_default();
            let names =
                [&b"sess"[..], b"sid", b"auth", b"token", b"jwt", b"remember", b"login", b"secret"];
            let is_session = names.iter().any(|word| memchr::memmem::find(&name, word).is_some());
            if value.len() >= 16 && is_session && is_random(value)
                || value.len() >= 24 && is_strongly_random(value)
            {
                spans.add("cookie-session", value_start, value_end);
            }
        }
        start = next;
    }
}
