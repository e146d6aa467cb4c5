//! Signals from outside the vault: bookmarks, feeds, subscription lists, JSON
//! lines. Pure: bytes in, signals out.

mod bookmarks;
mod feed;
mod lines;
mod outline;

use super::signal::Signal;
use crate::error::{Error, ErrorKind, Result};

/// Most items taken from one source.
pub const MAX_ITEMS: usize = 50_000;

/// What a source holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// The signals, in the order of the source.
    pub signals: Vec<Signal>,
    /// What could not be read, one line each.
    pub failures: Vec<String>,
}

/// Reads a source; what it is, its content says: a bookmarks file (HTML), a
/// feed (RSS, Atom, JSON Feed), an OPML list or JSON lines.
///
/// # Errors
/// When it is none of these or damaged beyond its first item.
pub fn read(bytes: &[u8]) -> Result<Items> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let head = String::from_utf8_lossy(bytes.get(..2_000.min(bytes.len())).unwrap_or(&[]));
    let head = head.trim_start().to_lowercase();
    let is_html = head.starts_with("<!doctype netscape") || head.starts_with("<!doctype html");
    if is_html || head.contains("<dl") || head.starts_with("<html") {
        return Ok(bookmarks::read(&String::from_utf8_lossy(bytes)));
    }
    if head.contains("<opml") {
        return outline::read(bytes);
    }
    if head.starts_with('<') || head.contains("jsonfeed.org/version") {
        return feed::read(bytes);
    }
    if head.starts_with(['{', '[']) {
        return lines::read(&String::from_utf8_lossy(bytes));
    }
    let message = "neither bookmarks, a feed, an OPML list nor JSON lines";
    Err(Error::new(ErrorKind::Input, message))
}

/// A URL in the form in which two are compared: no fragment, no tracking
/// parameters, no final slash, `https` for `http`, no `www.`.
pub fn canonical_url(url: &str) -> String {
    let url = url.trim();
    let url = url.split('#').next().unwrap_or(url);
    let (base, query) = url.split_once('?').map_or((url, ""), |(base, query)| (base, query));
    let is_tracking = |pair: &&str| {
        let key = pair.split('=').next().unwrap_or(pair).to_ascii_lowercase();
        key.starts_with("utm_")
            || matches!(key.as_str(), "fbclid" | "gclid" | "mc_cid" | "mc_eid" | "ref")
    };
    let query: Vec<&str> =
        query.split('&').filter(|pair| !pair.is_empty() && !is_tracking(pair)).collect();
    let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = host.to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let path = path.trim_end_matches('/');
    let scheme = if scheme == "http" { "https" } else { scheme };
    let mut out = format!("{scheme}://{host}");
    for (mark, part) in [("/", path), ("?", &query.join("&"))] {
        if !part.is_empty() {
            out.push_str(mark);
            out.push_str(part);
        }
    }
    out
}

/// One line of a text, blanks folded.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The day of a Unix time in seconds, milliseconds or microseconds.
fn day_of(time: i64) -> Option<String> {
    let seconds = match time {
        t if t > 100_000_000_000_000 => t / 1_000_000,
        t if t > 100_000_000_000 => t / 1_000,
        t => t,
    };
    let at = chrono::DateTime::from_timestamp(seconds, 0).filter(|_| seconds > 0)?;
    Some(at.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_compared_without_what_does_not_matter() {
        let check = |url: &str, expected: &str| assert_eq!(canonical_url(url), expected);
        check("http://www.X.org/a/?utm_source=b&id=1#top", "https://x.org/a?id=1");
        check("https://x.org/", "https://x.org");
        check("https://x.org/A?b", "https://x.org/A?b");
    }

    #[test]
    fn what_it_is_the_content_says() {
        assert!(read(b"hello").is_err());
        assert_eq!(read(b"{\"title\":\"T\",\"url\":\"https://x.org\"}").unwrap().signals.len(), 1);
        assert!(read(b"<rss><channel><item><title>cut").is_err());
    }
}
