//! JSON and YAML blocks of a note as `path.key: value` lines, so that a
//! setting is found by its full name.

use serde_json::Value;

use super::markdown::{Kind, Line};

/// Most bytes of flattened text per block: enough for a configuration file.
const MAX_BYTES: usize = 8_192;

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 16;

/// Flattens the blocks that start in lines `from..to`; empty without any.
pub(super) fn blocks(lines: &[Line<'_>], from: usize, to: usize) -> String {
    let mut flat = String::new();
    let mut i = from;
    while i < to {
        let Some(line) = lines.get(i).filter(|line| line.kind == Kind::Fence) else {
            i += 1;
            continue;
        };
        let end = block_end(lines, i);
        let inner: Vec<&str> =
            lines.get(i + 1..end).unwrap_or(&[]).iter().map(|line| line.text).collect();
        match language(line.text) {
            Some("json" | "jsonc" | "json5") => json(&inner.join("\n"), &mut flat),
            Some("yaml" | "yml") => yaml(&inner, &mut flat),
            _ => {}
        }
        i = end + 1;
    }
    flat
}

/// The line that closes the fence opened at `open`, or the one after the last.
fn block_end(lines: &[Line<'_>], open: usize) -> usize {
    let mark = |i: usize| {
        let text = lines.get(i).map_or("", |line| line.text).trim_start();
        let c = text.chars().next().unwrap_or(' ');
        (c, text.chars().take_while(|other| *other == c).count(), text.trim_end())
    };
    let (c, n, _) = mark(open);
    let mut i = open + 1;
    while lines.get(i).is_some_and(|line| line.kind == Kind::Fence) {
        let (other, m, text) = mark(i);
        if other == c && m >= n && text.chars().all(|x| x == c) {
            return i;
        }
        i += 1;
    }
    i
}

fn language(open: &str) -> Option<&str> {
    let info = open.trim_start().trim_start_matches(['`', '~']).trim();
    info.split([' ', '{', ',', ':']).next().filter(|name| !name.is_empty())
}

fn json(text: &str, flat: &mut String) {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let start = flat.len();
        json_value(&value, &mut String::new(), 0, start, flat);
    }
}

fn json_value(value: &Value, path: &mut String, depth: usize, start: usize, flat: &mut String) {
    if depth > MAX_DEPTH || flat.len() - start > MAX_BYTES {
        return;
    }
    let len = path.len();
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                extend(path, key);
                json_value(value, path, depth + 1, start, flat);
                path.truncate(len);
            }
        }
        Value::Array(items) => {
            for item in items {
                json_value(item, path, depth + 1, start, flat);
            }
        }
        Value::String(text) => line(path, text, flat),
        Value::Null => line(path, "null", flat),
        other => line(path, &other.to_string(), flat),
    }
}

/// Reads block YAML by indentation: enough for configuration, and nothing is
/// lost where it is not, as the text itself is indexed too.
fn yaml(lines: &[&str], flat: &mut String) {
    let start = flat.len();
    let mut stack: Vec<(usize, &str)> = Vec::new();
    for text in lines {
        if flat.len() - start > MAX_BYTES {
            return;
        }
        let mut rest = text.trim_start();
        let mut indent = text.len() - rest.len();
        while let Some(item) = rest.strip_prefix("- ") {
            let inner = item.trim_start();
            indent += rest.len() - inner.len();
            rest = inner;
        }
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("---") {
            continue;
        }
        stack.retain(|(other, _)| *other < indent);
        let (key, value) = match rest.split_once(": ") {
            Some((key, value)) => (Some(key), value.trim()),
            None => match rest.strip_suffix(':') {
                Some(key) => (Some(key), ""),
                None => (None, rest.trim()),
            },
        };
        let mut path = String::new();
        for name in stack.iter().map(|(_, name)| *name).chain(key) {
            extend(&mut path, name.trim_matches(['"', '\'']));
        }
        let value = value.split(" #").next().unwrap_or(value).trim_matches(['"', '\'']);
        if !value.is_empty() && !path.is_empty() {
            line(&path, value, flat);
        }
        if let Some(key) = key.filter(|_| value.is_empty() && stack.len() < MAX_DEPTH) {
            stack.push((indent, key));
        }
    }
}

fn extend(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

fn line(path: &str, value: &str, flat: &mut String) {
    if !flat.is_empty() {
        flat.push('\n');
    }
    flat.push_str(path);
    flat.push_str(": ");
    flat.push_str(crate::text::prefix(value, 400));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::markdown;

    fn check(note: &str, expected: &str) {
        let lines = markdown::lines(note, 0);
        assert_eq!(blocks(&lines, 0, lines.len()), expected, "{note}");
    }

    #[test]
    fn json_is_flattened_by_path() {
        check(
            "x\n```json\n{\"db\": {\"pool\": {\"max\": 5}}, \"on\": [true, \"a b\"]}\n```\ny",
            "db.pool.max: 5\non: true\non: a b",
        );
        check("```json\n{broken\n```", "");
        check("```js\n{\"a\": 1}\n```", "");
    }

    #[test]
    fn yaml_is_flattened_by_indentation() {
        check(
            "~~~yaml\n# c\nservices:\n  web:\n    image: \"nginx:1.2\" # c\n    ports:\n      - 80:80\n  db:\n    image: pg\n~~~",
            "services.web.image: nginx:1.2\nservices.web.ports: 80:80\nservices.db.image: pg",
        );
    }

    #[test]
    fn two_blocks_side_by_side_are_two() {
        check("```json\n{\"a\":1}\n```\n```yaml\nb: 2\n```", "a: 1\nb: 2");
    }
}
