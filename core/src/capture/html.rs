//! HTML to Markdown, by htmd (html5ever's parser, turndown's rules). Pure.

use std::sync::LazyLock;

use htmd::HtmlToMarkdown;

static CONVERTER: LazyLock<HtmlToMarkdown> = LazyLock::new(|| {
    HtmlToMarkdown::builder()
        .skip_tags(vec!["script", "style", "noscript", "head", "template", "iframe"])
        .build()
});

/// Converts a page or a fragment; text without tags stays as it is.
pub fn to_markdown(html: &str) -> String {
    if !looks_like_html(html) {
        return html.trim().to_owned();
    }
    // The converter reads from memory: there is nothing that can fail.
    CONVERTER.convert(html).unwrap_or_default().trim().to_owned()
}

/// Returns the text of a fragment, tags dropped and entities decoded.
pub fn to_text(html: &str) -> String {
    if !looks_like_html(html) {
        return html.to_owned();
    }
    scraper::Html::parse_fragment(html).root_element().text().collect()
}

/// Returns the title of a page, else its first heading.
pub fn title(html: &str) -> Option<String> {
    let page = scraper::Html::parse_document(html);
    ["title", "h1", "h2"].iter().find_map(|tag| {
        let selector = scraper::Selector::parse(tag).ok()?;
        let text: String = page.select(&selector).next()?.text().collect();
        let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then_some(title)
    })
}

fn looks_like_html(text: &str) -> bool {
    let has_tag = text.match_indices('<').any(|(at, _)| {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
        next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!'))
    });
    has_tag || text.split('&').skip(1).any(|rest| rest.split(';').next().is_some_and(is_entity))
}

fn is_entity(name: &str) -> bool {
    (1..10).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_markdown_and_text_stays() {
        let check = |html: &str, markdown: &str| assert_eq!(to_markdown(html), markdown);
        check("a < b and c > d", "a < b and c > d");
        check("<h2>T</h2><p>x <a href=\"https://x.org\">y</a></p>", "## T\n\nx [y](https://x.org)");
        check("<script>bad()</script><p>ok</p>", "ok");
        assert_eq!(to_text("A <b>b</b> &amp; c"), "A b & c");
    }
}
