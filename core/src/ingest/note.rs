//! What a note says of itself: properties, title, tags, days.

use super::date;
use super::frontmatter::{self, Frontmatter, Value};
use super::markdown::{self, Kind, Line};
use crate::model::NoteMeta;

/// Most tags and aliases kept of one note, each.
const MAX_NAMES: usize = 64;

/// Most characters of one property's value that are kept.
const MAX_PROPERTY_CHARS: usize = 400;

/// A note taken apart.
pub(super) struct Parsed<'a> {
    /// What it says of itself.
    pub(super) meta: NoteMeta,
    /// Its lines.
    pub(super) lines: Vec<Line<'a>>,
    /// What kind of body it has.
    pub(super) body_kind: BodyKind,
    /// What was ignored, and where.
    pub(super) warnings: Vec<String>,
}

/// Bodies that are no prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// Prose.
    #[default]
    Prose,
    /// An Excalidraw drawing: only its text elements are words.
    Excalidraw,
    /// A Kanban board.
    Kanban,
}

/// Reads what `note` (redacted) says of itself. `path` is its name in the
/// index; `stem` is what to call it when nothing else does, redacted too.
pub(super) fn parse<'a>(note: &'a str, path: &str, stem: &str) -> Parsed<'a> {
    let Frontmatter { fields, body, mut warnings } = frontmatter::read(note);
    let fields = Fields(&fields);
    let lines = markdown::lines(note, body);
    let body_kind = body_kind(&fields, path);
    let mut meta = NoteMeta {
        title: title(&fields, &lines, body_kind, stem),
        kind: fields.text(&["type", "kind"]),
        domain: fields.text(&["domain", "area"]),
        status: fields.text(&["status"]).map(|status| status.to_lowercase()),
        source: fields.text(&["source", "url", "link"]),
        description: fields.text(&["description", "summary", "abstract", "excerpt"]),
        created: fields.day(&CREATED, &mut warnings),
        updated: fields.day(&UPDATED, &mut warnings),
        tags: tags(&fields, &lines, body_kind),
        aliases: unique(fields.list(&["aliases", "alias"])),
        properties: fields.rest(),
        for_agents: !fields.is_false("agent"),
    };
    meta.aliases.truncate(MAX_NAMES);
    Parsed { meta, lines, body_kind, warnings }
}

const CREATED: [&str; 9] = [
    "created",
    "date",
    "date-created",
    "created-at",
    "creation-date",
    "createdat",
    "pubdate",
    "published",
    "fecha",
];
const UPDATED: [&str; 9] = [
    "updated",
    "modified",
    "date-modified",
    "updated-at",
    "last-modified",
    "lastmod",
    "last-updated",
    "date-updated",
    "actualizado",
];

/// Properties that are not shown as further properties: they have a field of
/// their own or say nothing about the content.
const OWN: [&str; 25] = [
    "title",
    "type",
    "kind",
    "domain",
    "area",
    "status",
    "source",
    "url",
    "link",
    "description",
    "summary",
    "abstract",
    "excerpt",
    "tags",
    "tag",
    "aliases",
    "alias",
    "agent",
    "cssclass",
    "cssclasses",
    "publish",
    "permalink",
    "id",
    "uid",
    "excalidraw-plugin",
];

struct Fields<'a>(&'a [(String, Value)]);

impl Fields<'_> {
    fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        names.iter().flat_map(|name| {
            self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
        })
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        let text = self.values(names).find_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::List(items) => items.first().map(String::as_str),
            Value::Null | Value::Map => None,
        })?;
        let text = markdown_free(text);
        (!text.is_empty() && !is_template(&text)).then_some(text)
    }

    fn list(&self, names: &[&str]) -> Vec<String> {
        let mut items = Vec::new();
        for value in self.values(names) {
            match value {
                Value::Text(text) => items.extend(text.split([',', '\n']).map(str::to_owned)),
                Value::List(list) => items.extend(list.iter().cloned()),
                Value::Null | Value::Map => {}
            }
        }
        items
            .iter()
            .map(|item| markdown_free(item))
            .filter(|item| !item.is_empty() && !is_template(item))
            .collect()
    }

    fn day(&self, names: &[&str], warnings: &mut Vec<String>) -> Option<String> {
        let mut bad = None;
        for value in self.values(names) {
            let Value::Text(text) = value else { continue };
            match date::day(text) {
                Some(day) => return Some(day),
                None if is_template(text) => {}
                None => bad = Some(text),
            }
        }
        if bad.is_some() {
            warnings.push(format!("{:?} is no single day, ignored", names.first()?));
        }
        None
    }

    fn is_false(&self, name: &str) -> bool {
        self.values(&[name]).any(|value| {
            matches!(value, Value::Text(text)
                if ["false", "no", "off", "0"].iter().any(|no| text.eq_ignore_ascii_case(no)))
        })
    }

    fn rest(&self) -> Vec<(String, String)> {
        let known = |key: &String| {
            let key = key.as_str();
            OWN.contains(&key) || CREATED.contains(&key) || UPDATED.contains(&key)
        };
        let rest = self.0.iter().filter(|(key, _)| !known(key)).filter_map(|(key, value)| {
            let text = match value {
                Value::Text(text) => markdown_free(text),
                Value::List(items) => {
                    items.iter().map(|item| markdown_free(item)).collect::<Vec<_>>().join(", ")
                }
                Value::Null | Value::Map => return None,
            };
            let end = text.char_indices().nth(MAX_PROPERTY_CHARS).map_or(text.len(), |(at, _)| at);
            Some((key.clone(), crate::text::prefix(&text, end).to_owned()))
        });
        rest.take(MAX_NAMES).collect()
    }
}

/// `[[Note|shown]]` as a value is a name, not a link.
fn markdown_free(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix("[[").and_then(|inner| inner.strip_suffix("]]")) {
        Some(inner) if !inner.contains("[[") => {
            inner.rsplit('|').next().unwrap_or(inner).trim().to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Placeholders that a template engine has not filled.
fn is_template(text: &str) -> bool {
    text.contains("<%") || text.contains("{{") || text.contains("${")
}

fn title(fields: &Fields<'_>, lines: &[Line<'_>], body_kind: BodyKind, stem: &str) -> String {
    if let Some(title) = fields.text(&["title"]) {
        return title.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if body_kind == BodyKind::Excalidraw {
        // Its headings are the plugin's.
        return stem.to_owned();
    }
    let h1 = lines.iter().find_map(|line| match &line.kind {
        Kind::Heading(1, text) if !text.is_empty() && !is_template(text) => Some(text.clone()),
        _ => None,
    });
    h1.unwrap_or_else(|| stem.to_owned())
}

fn body_kind(fields: &Fields<'_>, path: &str) -> BodyKind {
    let has = |name: &str| fields.values(&[name]).next().is_some();
    if has("excalidraw-plugin") || path.to_lowercase().ends_with(".excalidraw.md") {
        BodyKind::Excalidraw
    } else if has("kanban-plugin") {
        BodyKind::Kanban
    } else {
        BodyKind::Prose
    }
}

fn tags(fields: &Fields<'_>, lines: &[Line<'_>], body_kind: BodyKind) -> Vec<String> {
    let mut tags: Vec<String> = fields
        .list(&["tags", "tag", "keywords"])
        .iter()
        // A list of words in one text: `tags: a b`; a tag has no spaces.
        .flat_map(|item| item.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .map(|tag| tag.trim_start_matches('#').trim_matches(['"', '\'']).to_owned())
        .collect();
    if body_kind != BodyKind::Excalidraw {
        for line in lines.iter().filter(|line| matches!(line.kind, Kind::Text)) {
            if line.text.contains('#') && !is_indented_code(line.text) {
                body_tags(&markdown::without_code(line.text), &mut tags);
            }
        }
    }
    let mut tags = unique(tags);
    tags.truncate(MAX_NAMES);
    tags
}

fn is_indented_code(line: &str) -> bool {
    (line.starts_with("    ") || line.starts_with('\t'))
        && !line.trim_start().starts_with(['-', '*', '+', '>'])
}

/// Finds `#tag` and `#a/b` at the start of a word; a tag has a character that
/// is no digit, as in Obsidian.
fn body_tags(line: &str, tags: &mut Vec<String>) {
    let mut before = ' ';
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        if c == '#' && (before.is_whitespace() || matches!(before, '(' | ',' | '>' | '|')) {
            let is_tag_char = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
            let end = after.find(|c| !is_tag_char(c)).unwrap_or(after.len());
            let tag = after.get(..end).unwrap_or("").trim_end_matches(['/', '-']);
            if tag.chars().any(|c| !c.is_ascii_digit()) {
                tags.push(tag.to_owned());
            }
        }
        before = c;
        rest = after;
    }
}

/// Keeps the first of each, compared without case and marks.
fn unique(items: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut items: Vec<String> = items.into_iter().map(|item| item.trim().to_owned()).collect();
    items.retain(|item| !item.is_empty() && seen.insert(crate::text::fold(item)));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(note: &str) -> NoteMeta {
        parse(note, "a/File name.md", "File name").meta
    }

    #[test]
    fn the_title_is_the_property_else_the_first_h1_else_the_file_name() {
        assert_eq!(meta("---\ntitle: A: b\n---\n# H").title, "A: b");
        assert_eq!(meta("text\n\n# The *H* `one`\n").title, "The *H* one");
        assert_eq!(meta("Setext title\n====\n").title, "Setext title");
        assert_eq!(meta("```\n# no\n```\n## two").title, "File name");
        assert_eq!(meta("---\ntitle: null\n---\nx").title, "File name");
        assert_eq!(meta("---\ntitle: <% tp.file.title %>\n---\n# {{title}}\n").title, "File name");
        assert_eq!(meta("---\ntitle: 2024\n---\n").title, "2024");
    }

    #[test]
    fn tags_are_found_wherever_people_put_them() {
        let expected = ["a", "b/c", "ñandú"];
        for note in [
            "---\ntags: [a, b/c, ñandú]\n---\n",
            "---\ntags: a, b/c, ñandú\n---\n",
            "---\ntags: a b/c ñandú\n---\n",
            "---\ntags: \"#a #b/c #ñandú\"\n---\n",
            "---\ntags: #a #b/c #ñandú\n---\n",
            "---\ntags:\n- a\n- '#b/c'\n- ñandú\n- A\n---\n",
            "---\ntag: a\nTags: [b/c, ñandú]\n---\n",
            "#a text (#b/c), #ñandú and #123 `#code` x#y http://x/#z\n\n```\n#fence\n```\n# H #no",
        ] {
            let mut tags = meta(note).tags;
            tags.sort();
            assert_eq!(tags, expected, "{note}");
        }
    }

    #[test]
    fn aliases_days_and_the_rest() {
        let note = "---\naliases: [One, 'Two, three', one]\ncreated: 5 enero 2024\n\
                    updated: 2024-02-03T10:00:00+01:00\ntype: [[Book]]\nstatus: DRAFT\nauthor: \
                    [Ann, Bo]\nagent: false\nurl: https://x.y\n---\nB";
        let meta = meta(note);
        assert_eq!(meta.aliases, ["One", "Two, three"]);
        assert_eq!(meta.created.as_deref(), Some("2024-01-05"));
        assert_eq!(meta.updated.as_deref(), Some("2024-02-03"));
        assert_eq!(meta.kind.as_deref(), Some("Book"));
        assert_eq!(meta.status.as_deref(), Some("draft"));
        assert_eq!(meta.source.as_deref(), Some("https://x.y"));
        assert_eq!(meta.properties, [("author".to_owned(), "Ann, Bo".to_owned())]);
        assert!(!meta.for_agents);
    }

    #[test]
    fn a_day_that_is_none_is_ignored_with_a_warning() {
        let parsed = parse("---\ndate: someday\ncreated: null\n---\n", "x.md", "x");
        assert_eq!(parsed.meta.created, None);
        assert_eq!(parsed.warnings, ["\"created\" is no single day, ignored"]);
    }

    #[test]
    fn drawings_and_boards_are_known_by_their_property() {
        let kind = |note: &str, path: &str| parse(note, path, "x").body_kind;
        assert_eq!(kind("---\nexcalidraw-plugin: parsed\n---\n", "d.md"), BodyKind::Excalidraw);
        assert_eq!(kind("{}", "d.excalidraw.md"), BodyKind::Excalidraw);
        assert_eq!(kind("---\n\nkanban-plugin: board\n\n---\n", "k.md"), BodyKind::Kanban);
        assert_eq!(kind("x", "k.md"), BodyKind::Prose);
    }
}
