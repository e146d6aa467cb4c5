//! RSS, Atom and JSON Feed files on disk, read by feed-rs.

use super::{Items, MAX_ITEMS, one_line};
use crate::capture::html;
use crate::error::{Error, ErrorKind, Result};
use crate::triage::signal::Signal;

pub(super) fn read(bytes: &[u8]) -> Result<Items> {
    let feed = feed_rs::parser::parse(bytes)
        .map_err(|error| Error::with(ErrorKind::Input, "read the feed", error))?;
    let mut items = Items::default();
    for entry in feed.entries.into_iter().take(MAX_ITEMS) {
        let content = entry.content.and_then(|content| content.body);
        let summary = entry.summary.map(|summary| summary.content);
        let text = content.or(summary).map(|text| html::to_markdown(&text)).unwrap_or_default();
        let link = entry
            .links
            .iter()
            .find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"))
            .or(entry.links.first());
        let title = entry.title.map(|title| one_line(&html::to_text(&title.content)));
        let date = entry.published.or(entry.updated);
        items.signals.push(Signal {
            title: title.unwrap_or_default(),
            text,
            source: link.map(|link| link.href.clone()),
            tags: entry.categories.into_iter().map(|category| category.term).collect(),
            author: entry.authors.into_iter().next().and_then(|author| author.name),
            created: date.map(|date| date.format("%Y-%m-%d").to_string()),
            domain: None,
        });
    }
    items.signals.retain(|signal| !signal.title.is_empty() || !signal.text.is_empty());
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSS: &str = r#"<?xml version="1.0"?><rss version="2.0"><channel><title>F</title>
        <item><title>A &amp; B</title><link>https://x.org/1</link><category>rust</category>
        <pubDate>Mon, 30 Nov 2026 10:00:00 GMT</pubDate>
        <description>&lt;p&gt;One &lt;b&gt;bold&lt;/b&gt; step.&lt;/p&gt;</description></item></channel></rss>"#;
    const ATOM: &str = r#"<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>
        <id>f</id><updated>2026-11-30T10:00:00Z</updated><entry><id>e</id><title>T</title>
        <updated>2026-11-29T10:00:00Z</updated><author><name>Ana</name></author>
        <link href="https://x.org/2"/><summary>Plain</summary></entry></feed>"#;

    #[test]
    fn rss_and_atom() {
        let signal = read(RSS.as_bytes()).unwrap().signals.remove(0);
        assert_eq!((signal.title.as_str(), signal.text.trim()), ("A & B", "One **bold** step."));
        assert_eq!(signal.source.as_deref(), Some("https://x.org/1"));
        assert_eq!(signal.created.as_deref(), Some("2026-11-30"));
        assert_eq!(signal.tags, ["rust"]);
        let signal = read(ATOM.as_bytes()).unwrap().signals.remove(0);
        assert_eq!((signal.title.as_str(), signal.text.trim()), ("T", "Plain"));
        assert_eq!(signal.author.as_deref(), Some("Ana"));
    }
}
