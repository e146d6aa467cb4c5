//! The bookmarks file that every browser exports: HTML in name only, with
//! unclosed tags, which is why a browser's parser reads it.

use scraper::{ElementRef, Html, Selector};

use super::{Items, MAX_ITEMS, day_of, one_line};
use crate::triage::signal::Signal;

/// Folders that say nothing about what is in them.
const SYSTEM_FOLDERS: [&str; 12] = [
    "bookmarks",
    "bookmarks bar",
    "bookmarks toolbar",
    "bookmarks menu",
    "other bookmarks",
    "mobile bookmarks",
    "favorites",
    "favorites bar",
    "barra de marcadores",
    "otros marcadores",
    "marcadores",
    "unsorted bookmarks",
];

pub(super) fn read(html: &str) -> Items {
    let document = Html::parse_document(html);
    let Ok(links) = Selector::parse("a[href]") else { return Items::default() };
    let mut items = Items::default();
    for link in document.select(&links).take(MAX_ITEMS) {
        let attribute = |name: &str| link.value().attr(name).map(str::trim).unwrap_or_default();
        let url = attribute("href");
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            continue;
        }
        let mut tags: Vec<String> =
            attribute("tags").split(',').map(one_line).filter(|tag| !tag.is_empty()).collect();
        for folder in folders(link) {
            if !tags.contains(&folder) {
                tags.push(folder);
            }
        }
        let title = one_line(&link.text().collect::<String>());
        items.signals.push(Signal {
            title: if title.is_empty() { url.to_owned() } else { title },
            text: description(link).unwrap_or_default(),
            source: Some(url.to_owned()),
            tags,
            created: attribute("add_date").parse().ok().and_then(day_of),
            ..Signal::default()
        });
    }
    items
}

/// The names of the folders around a bookmark, innermost first.
fn folders(link: ElementRef<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for list in link.ancestors().filter_map(ElementRef::wrap) {
        if list.value().name() != "dl" {
            continue;
        }
        let heading = list
            .prev_siblings()
            .filter_map(ElementRef::wrap)
            .find(|sibling| matches!(sibling.value().name(), "h3" | "h1"));
        let name = heading.map(|heading| one_line(&heading.text().collect::<String>()));
        names.extend(name.filter(|name| {
            !name.is_empty() && !SYSTEM_FOLDERS.contains(&name.to_lowercase().as_str())
        }));
    }
    names
}

/// The `<DD>` behind a bookmark's `<DT>`.
fn description(link: ElementRef<'_>) -> Option<String> {
    let item = link.ancestors().filter_map(ElementRef::wrap).find(|e| e.value().name() == "dt")?;
    let next = item.next_siblings().filter_map(ElementRef::wrap).next()?;
    if next.value().name() != "dd" {
        return None;
    }
    // Without the list that a missing end tag puts inside.
    let text: String =
        next.children().filter_map(|node| node.value().as_text().map(|t| t.to_string())).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><H3>Rust &amp; co</H3>
        <DL><p>
            <DT><A HREF="https://doc.rust-lang.org/book/?a=1&amp;b=2" ADD_DATE="1700000000" TAGS="rust,lang">The  Book</A>
            <DD>How to learn it
            <DT><A HREF="javascript:void(0)">bookmarklet</A>
        </DL><p>
        <DT><A HREF="https://x.org" ADD_DATE="1700000000000000"></A>
    </DL><p>
</DL><p>"#;

    #[test]
    fn folders_become_tags_and_descriptions_text() {
        let items = read(FILE).signals;
        assert_eq!(items.len(), 2, "{items:?}");
        assert_eq!(items[0].title, "The Book");
        assert_eq!(items[0].source.as_deref(), Some("https://doc.rust-lang.org/book/?a=1&b=2"));
        assert_eq!(items[0].tags, ["rust", "lang", "Rust & co"]);
        assert_eq!(items[0].text, "How to learn it");
        assert_eq!(items[0].created.as_deref(), Some("2023-11-14"));
        assert_eq!((items[1].title.as_str(), items[1].tags.len()), ("https://x.org", 0));
        assert_eq!(items[1].created.as_deref(), Some("2023-11-14"));
    }
}
