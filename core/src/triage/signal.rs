//! A signal: something found or noticed that may be worth keeping, wherever it
//! came from. Plain data.

/// What is known of a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signal {
    /// One line.
    pub title: String,
    /// Markdown or plain text, without frontmatter; may be empty.
    pub text: String,
    /// A URL, or a name of where it came from.
    pub source: Option<String>,
    /// Tags without `#`.
    pub tags: Vec<String>,
    /// The domain its author gave it.
    pub domain: Option<String>,
    /// Who wrote it, where the source says so.
    pub author: Option<String>,
    /// The day it is from, ISO `YYYY-MM-DD`.
    pub created: Option<String>,
}

/// A passage of the vault that retrieval found for a signal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbour {
    /// The note's path in the vault.
    pub path: String,
    /// The note's title.
    pub title: String,
    /// The note's domain.
    pub domain: Option<String>,
    /// The passage.
    pub text: String,
}

/// Returns the host of a URL, lower case, without `www.`.
pub(super) fn host(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?.to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url() {
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        };
        check("https://www.SQLite.org/wal.html", Some("sqlite.org"));
        check("http://user@x.org:8080?q", Some("x.org"));
        check("a note", None);
        check("https://", None);
    }
}
