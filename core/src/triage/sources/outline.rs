//! OPML: lists of feeds and sites, folders as nested outlines.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Items, MAX_ITEMS, one_line};
use crate::error::{Error, ErrorKind, Result};
use crate::triage::signal::Signal;

pub(super) fn read(bytes: &[u8]) -> Result<Items> {
    let mut reader = Reader::from_reader(bytes);
    reader.config_mut().check_end_names = false;
    let mut items = Items::default();
    // The open outlines: a folder has a name, a feed has none.
    let mut open: Vec<Option<String>> = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) if is_outline(&tag) => {
                let outline = Outline::of(&tag);
                open.push(outline.folder());
                outline.add(&open, &mut items);
            }
            Ok(Event::Empty(tag)) if is_outline(&tag) => Outline::of(&tag).add(&open, &mut items),
            Ok(Event::End(tag)) if tag.name().as_ref().eq_ignore_ascii_case("outline") => {
                open.pop();
            }
            Ok(Event::Eof) => return Ok(items),
            Ok(_) => {}
            Err(error) if items.signals.is_empty() => {
                return Err(Error::with(ErrorKind::Input, "read the OPML list", error));
            }
            Err(error) => {
                items.failures.push(format!("the list breaks off: {error}"));
                return Ok(items);
            }
        }
        if items.signals.len() >= MAX_ITEMS {
            return Ok(items);
        }
    }
}

fn is_outline(tag: &BytesStart<'_>) -> bool {
    tag.name().as_ref().eq_ignore_ascii_case("outline")
}

#[derive(Default)]
struct Outline {
    title: String,
    text: String,
    url: String,
    tags: Vec<String>,
    created: Option<String>,
}

impl Outline {
    fn of(tag: &BytesStart<'_>) -> Self {
        let mut outline = Self::default();
        let (mut site, mut feed) = (String::new(), String::new());
        for attribute in tag.html_attributes().with_checks(false).flatten() {
            let raw = attribute.value.into_owned();
            let value = quick_xml::escape::unescape(&raw).map_or(raw.clone(), Into::into);
            let value = value.trim().to_owned();
            match attribute.key.as_ref().to_ascii_lowercase().as_str() {
                "title" => outline.title = one_line(&value),
                "text" if outline.title.is_empty() => outline.title = one_line(&value),
                "description" | "_note" => outline.text = value,
                "htmlurl" => site = value,
                "xmlurl" | "url" => feed = value,
                "category" => {
                    let names = value.split([',', '/']).map(one_line);
                    outline.tags.extend(names.filter(|name| !name.is_empty()));
                }
                "created" => {
                    let date = chrono::DateTime::parse_from_rfc2822(&value).ok();
                    outline.created = date.map(|date| date.format("%Y-%m-%d").to_string());
                }
                _ => {}
            }
        }
        outline.url = if site.is_empty() { feed } else { site };
        outline
    }

    fn folder(&self) -> Option<String> {
        (self.url.is_empty() && !self.title.is_empty()).then(|| self.title.clone())
    }

    fn add(self, open: &[Option<String>], items: &mut Items) {
        if self.url.is_empty() {
            return;
        }
        let mut tags = self.tags;
        for folder in open.iter().rev().flatten() {
            if !tags.contains(folder) {
                tags.push(folder.clone());
            }
        }
        items.signals.push(Signal {
            title: if self.title.is_empty() { self.url.clone() } else { self.title },
            text: self.text,
            source: Some(self.url),
            tags,
            created: self.created,
            ..Signal::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_tags_and_feeds_are_signals() {
        let opml = r#"<?xml version="1.0"?><opml version="2.0"><body>
            <outline text="Systems"><outline type="rss" text="LWN &amp; co" xmlUrl="https://lwn.net/rss"
            htmlUrl="https://lwn.net" description="Linux"/></outline>
            <outline text="X" xmlUrl="https://x.org/feed" category="/a/b,c"/></body></opml>"#;
        let signals = read(opml.as_bytes()).unwrap().signals;
        assert_eq!(signals.len(), 2);
        assert_eq!((signals[0].title.as_str(), signals[0].text.as_str()), ("LWN & co", "Linux"));
        assert_eq!(signals[0].source.as_deref(), Some("https://lwn.net"));
        assert_eq!(signals[0].tags, ["Systems"]);
        assert_eq!(signals[1].tags, ["a", "b", "c"]);
    }
}
