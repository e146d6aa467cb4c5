//! The text of a captured note: frontmatter as Obsidian reads it, then the
//! body as it was given. Pure.

use chrono::NaiveDateTime;

/// Everything a captured note says. All of it has been scrubbed of secrets
/// before it comes here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// One line, not empty.
    pub title: String,
    /// `note`, `signal` or another word.
    pub kind: String,
    /// The domain, when it is known.
    pub domain: Option<String>,
    /// Tags without `#`, as Obsidian takes them.
    pub tags: Vec<String>,
    /// When it was captured, local time.
    pub created: NaiveDateTime,
    /// A URL or the name of where it came from.
    pub source: Option<String>,
    /// `inbox` for what waits to be sorted.
    pub status: String,
    /// What triage scored it, from 0 to 1.
    pub score: Option<f64>,
    /// The day its source is from, when that is known.
    pub date: Option<String>,
    /// The agent's session, when there is one.
    pub session: Option<String>,
    /// The project the session works in, when it is known.
    pub project: Option<String>,
    /// Link targets of notes that resemble this one.
    pub related: Vec<String>,
    /// The text, with `\n` as its only line end.
    pub body: String,
}

/// Lines of the frontmatter in which two captures of the same note may differ:
/// when and where it was captured, and what triage wrote since.
const VOLATILE: [&str; 9] =
    ["created", "updated", "session", "project", "related", "status", "domain", "score", "triaged"];

/// Writes the note out, ending in a line break.
pub fn render(fields: &Fields) -> String {
    let mut out = String::with_capacity(fields.body.len() + 400);
    out.push_str("---\n");
    let created = fields.created.format("%Y-%m-%dT%H:%M:%S").to_string();
    put(&mut out, "title", Some(&fields.title));
    put(&mut out, "type", Some(&fields.kind));
    put(&mut out, "domain", fields.domain.as_deref());
    put_list(&mut out, "tags", &fields.tags);
    out.push_str(&format!("created: {created}\nupdated: {created}\n"));
    put(&mut out, "source", fields.source.as_deref());
    put(&mut out, "status", Some(&fields.status));
    if let Some(score) = fields.score {
        out.push_str(&format!("score: {score:.2}\n"));
    }
    for (key, value) in
        [("date", &fields.date), ("session", &fields.session), ("project", &fields.project)]
    {
        if value.is_some() {
            put(&mut out, key, value.as_deref());
        }
    }
    if !fields.related.is_empty() {
        let links: Vec<String> = fields.related.iter().map(|note| format!("[[{note}]]")).collect();
        put_list(&mut out, "related", &links);
    }
    out.push_str("---\n\n");
    out.push_str(&fields.body);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// True when two notes differ at most in when and where they were captured and
/// in what triage adds.
pub fn is_same(a: &str, b: &str) -> bool {
    match (lasting(a), lasting(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// The lines of a note that identify it; `None` without frontmatter.
fn lasting(note: &str) -> Option<Vec<&str>> {
    let mut lines = note.trim_end().lines();
    if lines.next()?.trim_start_matches('\u{feff}') != "---" {
        return None;
    }
    let mut kept = Vec::new();
    let mut skipping = false;
    let mut inside = true;
    for line in lines {
        if inside {
            let is_item = line.starts_with([' ', '-']) && line != "---";
            skipping = if is_item { skipping } else { is_volatile(line) };
            inside = line != "---";
        }
        if !(inside && skipping) {
            kept.push(line);
        }
    }
    Some(kept)
}

fn is_volatile(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, _)| VOLATILE.contains(&key))
}

fn put(out: &mut String, key: &str, value: Option<&str>) {
    out.push_str(key);
    out.push(':');
    if let Some(value) = value {
        out.push(' ');
        out.push_str(&scalar(value));
    }
    out.push('\n');
}

fn put_list(out: &mut String, key: &str, values: &[String]) {
    out.push_str(key);
    if values.is_empty() {
        out.push_str(": []\n");
        return;
    }
    out.push_str(":\n");
    for value in values {
        out.push_str("  - ");
        out.push_str(&scalar(value));
        out.push('\n');
    }
}

/// Writes `value` as a YAML scalar that every reader takes for the same
/// string: plain where that is certain, else in double quotes.
pub fn scalar(value: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || " _-/.,()+'".contains(c);
    let is_plain = value.starts_with(char::is_alphabetic)
        && value.chars().all(is_word)
        && !value.ends_with(' ')
        && !is_reserved(value);
    if is_plain {
        return value.to_owned();
    }
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Words that some YAML reader takes for something other than a string.
fn is_reserved(value: &str) -> bool {
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "inf", "nan"];
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn fields() -> Fields {
        Fields {
            title: "Use WAL: always".to_owned(),
            kind: "note".to_owned(),
            tags: vec!["sqlite".to_owned(), "área".to_owned()],
            created: chrono::NaiveDate::from_ymd_opt(2026, 11, 30)
                .unwrap()
                .and_hms_opt(9, 5, 0)
                .unwrap(),
            status: "inbox".to_owned(),
            body: "Body: `x`\n".to_owned(),
            ..Fields::default()
        }
    }

    #[test]
    fn the_frontmatter_has_every_field_in_order() {
        let mut note = fields();
        note.source = Some("https://x.org/a#b".to_owned());
        note.related = vec!["SQLite".to_owned()];
        assert_eq!(
            render(&note),
            "---\ntitle: \"Use WAL: always\"\ntype: note\ndomain:\ntags:\n  - sqlite\n  - área\n\
             created: 2026-11-30T09:05:00\nupdated: 2026-11-30T09:05:00\n\
             source: \"https://x.org/a#b\"\nstatus: inbox\nrelated:\n  - \"[[SQLite]]\"\n\
             ---\n\nBody: `x`\n"
        );
    }

    #[test]
    fn scalars_are_quoted_when_yaml_would_read_them_otherwise() {
        let check = |value: &str, yaml: &str| assert_eq!(scalar(value), yaml);
        check("plain words, it's (fine)", "plain words, it's (fine)");
        check("No", "\"No\"");
        check("- x", "\"- x\"");
        check("a: b", "\"a: b\"");
        check("*Italic*", "\"*Italic*\"");
        check("C:\\agent \"q\"", "\"C:\\\\agent \\\"q\\\"\"");
        check("2026-11-30", "\"2026-11-30\"");
        check("a\u{7}\nb", "\"a\\u0007\\nb\"");
    }

    #[test]
    fn the_same_note_is_recognised_at_another_time() {
        let first = fields();
        let mut later = fields();
        later.created += chrono::Duration::days(3);
        later.session = Some("s2".to_owned());
        later.related = vec!["Other".to_owned()];
        later.domain = Some("data".to_owned());
        assert!(is_same(&render(&first), &render(&later)));
        later.body = "Body: `y`\n".to_owned();
        assert!(!is_same(&render(&first), &render(&later)));
        later = fields();
        later.tags.pop();
        assert!(!is_same(&render(&first), &render(&later)));
        assert!(!is_same("no frontmatter", "no frontmatter"));
    }
}
