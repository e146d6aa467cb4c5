//! JSON lines: one object a line with `title`, `text`, `url` or `source`,
//! `tags`, `domain`, `author`, `date`; or one JSON array of such objects.

use serde_json::Value;

use super::{Items, MAX_ITEMS, day_of, one_line};
use crate::error::{Error, ErrorKind, Result};
use crate::triage::signal::Signal;

pub(super) fn read(text: &str) -> Result<Items> {
    let mut items = Items::default();
    if text.trim_start().starts_with('[') {
        let values: Vec<Value> = serde_json::from_str(text)
            .map_err(|error| Error::with(ErrorKind::Input, "read the JSON array", error))?;
        for (idx, value) in values.iter().take(MAX_ITEMS).enumerate() {
            add(value, &format!("item {}", idx + 1), &mut items);
        }
        return Ok(items);
    }
    for (idx, line) in text.lines().enumerate().take(MAX_ITEMS) {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Value>(line) {
            Ok(value) => add(&value, &format!("line {}", idx + 1), &mut items),
            Err(error) => items.failures.push(format!("line {}: {error}", idx + 1)),
        }
    }
    Ok(items)
}

fn add(value: &Value, place: &str, items: &mut Items) {
    match signal(value) {
        Some(signal) => items.signals.push(signal),
        None => items.failures.push(format!("{place}: no object with a title, a text or a URL")),
    }
}

fn signal(value: &Value) -> Option<Signal> {
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| value.get(name)?.as_str());
        found.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let source = text(&["url", "source", "link", "href"]);
    let body = text(&["text", "body", "content", "description", "summary"]).unwrap_or_default();
    let title = text(&["title", "name"]).map(|title| one_line(&title));
    let title = title.or_else(|| {
        let title = crate::capture::name::title_of(&body);
        Some(title).filter(|title| !title.is_empty()).or_else(|| source.clone())
    })?;
    let tags = match value.get("tags") {
        Some(Value::String(tags)) => tags.split(',').map(one_line).collect(),
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(one_line).collect(),
        _ => Vec::new(),
    };
    let created = text(&["date", "created", "published", "time"])
        .or_else(|| value.get("date").or(value.get("time"))?.as_i64().and_then(day_of));
    Some(Signal {
        title,
        text: body,
        source,
        tags: tags.into_iter().filter(|tag: &String| !tag.is_empty()).collect(),
        domain: text(&["domain"]),
        author: text(&["author", "by"]),
        created: created
            .filter(|day| day.is_char_boundary(10))
            .map(|day| crate::text::prefix(&day, 10).to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_costs_that_line() {
        let text = "{\"title\":\"A\",\"tags\":\"x, y\",\"date\":1700000000}\nnot json\n{}\n\
                    {\"url\":\"https://x.org\",\"tags\":[\"z\"]}\n";
        let items = read(text).unwrap();
        assert_eq!(items.signals.len(), 2);
        assert_eq!(items.signals[0].tags, ["x", "y"]);
        assert_eq!(items.signals[0].created.as_deref(), Some("2023-11-14"));
        assert_eq!(items.signals[1].title, "https://x.org");
        assert_eq!(items.failures.len(), 2);
        assert!(items.failures[0].starts_with("line 2"), "{:?}", items.failures);
    }
}
