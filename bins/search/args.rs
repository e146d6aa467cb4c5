//! `search`'s command line: the table's options turned into what is asked.

use std::ffi::OsString;

use chrono::{Days, Months, NaiveDate};
use postil_cli::{Command, Parsed, parse as parse_by_table};
use postil_core::config::Overrides;
use postil_core::recall::{Query, parse as parse_query};
use postil_core::store::NoteFilter;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Help,
    Version,
    Find,
    WhyNot(String),
    List(List),
    Show { path: String, line: u32 },
    Pick,
}

/// What `list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Docs,
    Tags,
    Stats,
}

/// How passages are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Listing,
    Json,
    Context,
    Names,
    Rows,
}

/// Where a passage is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opener {
    Editor,
    Obsidian,
}

/// Everything that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) action: Action,
    pub(crate) overrides: Overrides,
    /// The words as typed, for pickers that search again.
    pub(crate) words: String,
    pub(crate) query: Query,
    pub(crate) limit: usize,
    /// Passages are shown however little they have to do with the query.
    pub(crate) all: bool,
    pub(crate) alpha: Option<f32>,
    pub(crate) exact: bool,
    pub(crate) form: Form,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) full: bool,
    pub(crate) explain: bool,
    /// `always`, `never` or nothing.
    pub(crate) color: Option<String>,
    pub(crate) has_pager: bool,
    pub(crate) opener: Option<Opener>,
    pub(crate) llm: Llm,
}

/// What a local language model is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Llm {
    pub(crate) reranks: bool,
    pub(crate) drafts: bool,
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
}

/// The conditions that are options, each by the name it has in a query.
const CONDITIONS: [&str; 7] = ["tag", "type", "domain", "folder", "status", "since", "before"];

pub(crate) fn parse(
    args: impl IntoIterator<Item = OsString>,
    today: NaiveDate,
) -> Result<Args, String> {
    let command = Command::named("search").ok_or("no table")?;
    let parsed = parse_by_table(command, args)?;
    let words = parsed.words.iter().map(|word| requote(word)).collect::<Vec<_>>().join(" ");
    let mut query = parse_query(&with_days(&words, today));
    for name in CONDITIONS {
        for value in parsed.all(name) {
            set_condition(&mut query.filter, name, &value, today)?;
        }
    }
    for word in parsed.all("not") {
        query.excluded.extend(parse_query(&format!("-\"{word}\"")).excluded);
    }
    let limit = parsed.parsed("limit")?.unwrap_or(10);
    let alpha: Option<f32> = parsed.parsed("alpha")?;
    if alpha.is_some_and(|alpha| !(0.0..=1.0).contains(&alpha)) {
        return Err("--alpha must be between 0 and 1".to_owned());
    }
    let action = action(&parsed, &query)?;
    Ok(Args {
        action,
        overrides: parsed.overrides(),
        words,
        query,
        limit,
        all: parsed.has("all"),
        alpha,
        exact: parsed.has("exact"),
        form: form(&parsed)?,
        max_tokens: parsed.parsed("max-tokens")?,
        full: parsed.has("full"),
        explain: parsed.has("explain"),
        color: parsed.all("color").last().filter(|when| when != "auto"),
        has_pager: !parsed.has("no-pager"),
        opener: match (parsed.has("open"), parsed.has("obsidian")) {
            (_, true) => Some(Opener::Obsidian),
            (true, false) => Some(Opener::Editor),
            (false, false) => None,
        },
        llm: Llm {
            reranks: parsed.has("rerank"),
            drafts: parsed.has("hyde"),
            url: parsed.all("llm").last(),
            model: parsed.all("llm-model").last(),
        },
    })
}

fn action(parsed: &Parsed, query: &Query) -> Result<Action, String> {
    if parsed.has("help") {
        return Ok(Action::Help);
    }
    if parsed.has("version") {
        return Ok(Action::Version);
    }
    if let Some(place) = parsed.all("show").last() {
        let (path, line) = place.rsplit_once(':').unwrap_or((&place, "1"));
        let line = line.parse().map_err(|_| format!("--show {place:?} is not PATH:LINE"))?;
        return Ok(Action::Show { path: path.to_owned(), line });
    }
    if !parsed.is_literal && parsed.words == ["list"] {
        return Err(
            "list what: docs, tags or stats? `search -- list` looks for the word".to_owned()
        );
    }
    if let [first, second, ..] = parsed.words.as_slice()
        && first == "list"
        && !parsed.is_literal
        // What else was typed is conditions.
        && query.text == format!("list {second}")
    {
        match second.as_str() {
            "docs" => return Ok(Action::List(List::Docs)),
            "tags" => return Ok(Action::List(List::Tags)),
            "stats" => return Ok(Action::List(List::Stats)),
            _ => {}
        }
    }
    if parsed.has("interactive") {
        return Ok(Action::Pick);
    }
    if query.text.is_empty() && query.filter.is_empty() {
        return Err("what for? give words or conditions".to_owned());
    }
    Ok(match parsed.all("why-not").last() {
        Some(note) => Action::WhyNot(note),
        None => Action::Find,
    })
}

fn form(parsed: &Parsed) -> Result<Form, String> {
    let forms = [
        ("json", Form::Json),
        ("context", Form::Context),
        ("names", Form::Names),
        ("rows", Form::Rows),
    ];
    let mut asked = forms.into_iter().filter(|(name, _)| parsed.has(name));
    match (asked.next(), asked.next()) {
        (None, _) => Ok(Form::Listing),
        (Some((_, form)), None) => Ok(form),
        (Some((one, _)), Some((other, _))) => Err(format!("--{one} or --{other}, not both")),
    }
}

/// Puts the quotes back that the shell took off `tag:"two words"`.
fn requote(word: &str) -> String {
    match word.split_once(':') {
        Some((field, value))
            if CONDITIONS.contains(&field)
                && value.contains(char::is_whitespace)
                && !value.contains('"') =>
        {
            format!("{field}:\"{value}\"")
        }
        _ => word.to_owned(),
    }
}

fn set_condition(
    filter: &mut NoteFilter,
    name: &str,
    value: &str,
    today: NaiveDate,
) -> Result<(), String> {
    let is_day = matches!(name, "since" | "before");
    let value = if is_day { day(value, today).unwrap_or_default() } else { value.to_owned() };
    if filter.set(&format!("{name}:{value}")) {
        return Ok(());
    }
    Err(match is_day {
        true => format!("--{name} wants a day such as 2026-03-01, 2026-03, 30d or today"),
        false => format!("--{name} wants a value"),
    })
}

/// Writes relative days in `since:` and `before:` out, outside quotes.
fn with_days(words: &str, today: NaiveDate) -> String {
    let mut is_quoted = true;
    let parts = words.split('"').map(|part| {
        is_quoted = !is_quoted;
        if is_quoted {
            return part.to_owned();
        }
        let tokens = part.split(' ').map(|token| {
            let found = token
                .split_once(':')
                .filter(|(field, _)| matches!(*field, "since" | "before"))
                .and_then(|(field, value)| Some((field, day(value, today)?)));
            found.map_or_else(|| token.to_owned(), |(field, day)| format!("{field}:{day}"))
        });
        tokens.collect::<Vec<_>>().join(" ")
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// Reads a day as people say it: ISO as it is, `30d`, `6w`, `3m`, `1y` ago,
/// `today`, `yesterday`.
fn day(value: &str, today: NaiveDate) -> Option<String> {
    let day = match value {
        "today" => today,
        "yesterday" => today.pred_opt()?,
        _ => {
            let (count, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
            let Ok(count) = count.parse::<u32>() else { return Some(value.to_owned()) };
            match unit {
                "d" => today.checked_sub_days(Days::new(count.into()))?,
                "w" => today.checked_sub_days(Days::new(u64::from(count) * 7))?,
                "m" => today.checked_sub_months(Months::new(count))?,
                "y" => today.checked_sub_months(Months::new(count.checked_mul(12)?))?,
                _ => return Some(value.to_owned()),
            }
        }
    };
    Some(day.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today() -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 3, 31).unwrap()
    }

    fn args(words: &[&str]) -> Result<Args, String> {
        parse(words.iter().map(OsString::from), today())
    }

    #[test]
    fn days_are_read_as_people_say_them() {
        for (typed, expected) in [
            ("2026-01-02", "2026-01-02"),
            ("2026-01", "2026-01"),
            ("2026", "2026"),
            ("today", "2026-03-31"),
            ("yesterday", "2026-03-30"),
            ("30d", "2026-03-01"),
            ("2w", "2026-03-17"),
            ("1m", "2026-02-28"),
            ("1y", "2025-03-31"),
        ] {
            assert_eq!(day(typed, today()).as_deref(), Some(expected), "{typed}");
        }
        let error = args(&["x", "--since", "soon"]).unwrap_err();
        assert!(error.contains("--since"), "{error}");
    }

    #[test]
    fn options_and_query_conditions_are_one() {
        let found = args(&["pool", "tag:big db", "--type", "howto", "since:30d", "-mysql"]);
        let query = found.unwrap().query;
        assert_eq!(query.text, "pool");
        assert_eq!(query.filter.tags, ["big db"]);
        assert_eq!(query.filter.kind.as_deref(), Some("howto"));
        assert_eq!(query.filter.since.as_deref(), Some("2026-03-01"));
        assert_eq!(query.excluded, ["mysql"]);
    }

    #[test]
    fn a_list_is_asked_for_by_two_words_alone() {
        assert_eq!(args(&["list", "tags"]).unwrap().action, Action::List(List::Tags));
        let with_condition = args(&["list", "docs", "tag:x"]).unwrap();
        assert_eq!(with_condition.action, Action::List(List::Docs));
        assert_eq!(args(&["list", "docs", "x"]).unwrap().action, Action::Find);
        assert_eq!(args(&["list", "of", "tags"]).unwrap().action, Action::Find);
        assert_eq!(args(&["--", "list", "tags"]).unwrap().action, Action::Find);
        assert_eq!(args(&["list tags"]).unwrap().action, Action::Find);
        assert!(args(&["list"]).unwrap_err().contains("docs, tags or stats"));
        assert_eq!(args(&["--", "list"]).unwrap().action, Action::Find);
    }

    #[test]
    fn nothing_to_look_for_is_an_error() {
        assert!(args(&[]).is_err());
        assert!(args(&["-word"]).is_err());
        assert!(args(&["tag:x"]).is_ok());
        assert!(args(&["x", "--json", "--names"]).is_err());
        assert!(args(&["x", "--alpha", "2"]).is_err());
    }
}
