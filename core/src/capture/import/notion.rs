//! What Notion's export does to names and to the properties of a page. Pure.

use super::super::name::clean_tag;
use super::super::note::scalar;

/// A name without the 32 hexadecimal digits that Notion puts at its end, also
/// before `_all` as in `Tasks 0123…_all`.
pub(super) fn without_id(name: &str) -> &str {
    let base = name.strip_suffix("_all").unwrap_or(name);
    let Some((before, id)) = base.rsplit_once([' ', '-']) else { return name };
    let is_id = id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit());
    if is_id && !before.trim().is_empty() { before.trim_end() } else { name }
}

/// Properties as lines of frontmatter, and the rest of the page.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) properties: Vec<(String, String)>,
    pub(super) body: String,
}

/// Takes the title and the `Key: value` lines off the top of an exported page;
/// `None` for a page that has none.
pub(super) fn page(text: &str) -> Option<Page> {
    let rest = text.trim_start().strip_prefix("# ")?;
    let (title, rest) = rest.split_once('\n')?;
    let rest = rest.trim_start_matches('\n');
    let (block, body) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let pairs: Option<Vec<(&str, &str)>> = block.lines().map(pair).collect();
    let pairs = pairs.filter(|pairs| !pairs.is_empty())?;
    let properties = pairs.into_iter().filter_map(|(key, value)| property(key, value)).collect();
    let body = body.trim_start_matches('\n').to_owned();
    Some(Page { title: title.trim().to_owned(), properties, body })
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ")?;
    let is_key = key.chars().next().is_some_and(char::is_uppercase)
        && key.chars().count() <= 40
        && key.split_whitespace().count() <= 4
        && key.chars().all(|c| c.is_alphanumeric() || " -_/".contains(c));
    is_key.then_some((key, value.trim()))
}

fn property(key: &str, value: &str) -> Option<(String, String)> {
    let folded = crate::text::fold(key);
    let name = match folded.as_str() {
        "tags" | "tag" | "etiquetas" => "tags",
        "created" | "created time" | "creado" | "fecha de creacion" => "created",
        "last edited time" | "last edited" | "updated" => "updated",
        "url" | "link" | "source" => "source",
        _ => "",
    };
    match name {
        "tags" => {
            let tags: Vec<String> = value.split(',').filter_map(clean_tag).collect();
            Some(("tags".to_owned(), format!("[{}]", tags.join(", "))))
        }
        "created" | "updated" => {
            Some((name.to_owned(), date(value).unwrap_or_else(|| scalar(value))))
        }
        "source" => Some((name.to_owned(), scalar(value))),
        _ if value.is_empty() => None,
        _ => Some((folded.replace([' ', '/'], "-"), scalar(value))),
    }
}

/// `November 30, 2026 10:15 AM`, as Notion writes it in English.
fn date(value: &str) -> Option<String> {
    use chrono::NaiveDateTime;
    let with_time = ["%B %d, %Y %I:%M %p", "%B %d, %Y %H:%M", "%Y/%m/%d %H:%M"];
    let time = with_time.iter().find_map(|form| NaiveDateTime::parse_from_str(value, form).ok());
    if let Some(time) = time {
        return Some(time.format("%Y-%m-%dT%H:%M:%S").to_string());
    }
    let days = ["%B %d, %Y", "%Y-%m-%d", "%Y/%m/%d", "%d/%m/%Y"];
    let day = days.iter().find_map(|form| chrono::NaiveDate::parse_from_str(value, form).ok());
    day.map(|day| day.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_and_other_names_stay() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(without_id(&format!("My page {id}")), "My page");
        assert_eq!(without_id(&format!("Tasks {id}_all")), "Tasks");
        assert_eq!(without_id(id), id);
        assert_eq!(without_id("Chapter 12"), "Chapter 12");
    }

    #[test]
    fn the_lines_on_top_become_properties() {
        let page = page(
            "# T\n\nTags: a b, c\nCreated: November 30, 2026 10:15 AM\nStatus: Done\n\nBody: x\n",
        )
        .unwrap();
        assert_eq!(page.title, "T");
        let expected =
            [("tags", "[a-b, c]"), ("created", "2026-11-30T10:15:00"), ("status", "Done")];
        assert_eq!(page.properties, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(page.body, "Body: x\n");
        assert!(super::page("# T\n\nIt says here, in prose: something.\n").is_none());
        assert!(super::page("no heading\n").is_none());
    }
}
