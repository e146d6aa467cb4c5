//! Arguments read by the table.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;

use lexopt::prelude::{Long, Short, Value};
use postil_core::config::Overrides;

use crate::{COMMANDS, Command, Flag, Takes};

/// What was typed: options in order, and the other words.
#[derive(Debug, Default)]
pub struct Parsed {
    values: Vec<(&'static str, OsString)>,
    /// What is not an option.
    pub words: Vec<String>,
    /// True if a `--` stood before the words.
    pub is_literal: bool,
}

impl Parsed {
    /// Says whether an option was given.
    pub fn has(&self, long: &str) -> bool {
        self.values.iter().any(|(name, _)| *name == long)
    }

    /// Returns what the last of the options of this name was given.
    pub fn value(&self, long: &str) -> Option<&OsStr> {
        self.values.iter().rev().find(|(name, _)| *name == long).map(|(_, value)| value.as_os_str())
    }

    /// Returns what each of the options of this name was given, as text.
    pub fn all(&self, long: &str) -> impl Iterator<Item = String> {
        let values = self.values.iter().filter(move |(name, _)| *name == long);
        values.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    /// Reads the value of an option; the error names the option.
    pub fn parsed<T: FromStr>(&self, long: &str) -> Result<Option<T>, String>
    where
        T::Err: std::fmt::Display,
    {
        let Some(value) = self.value(long) else { return Ok(None) };
        let text = value.to_string_lossy();
        text.parse().map(Some).map_err(|error| format!("--{long} {text:?}: {error}"))
    }

    /// Returns the options that every command has against the configuration.
    pub fn overrides(&self) -> Overrides {
        let path = |long| self.value(long).map(PathBuf::from);
        Overrides {
            vault: path("vault"),
            db: path("db"),
            model: path("model"),
            config: path("config"),
        }
    }
}

/// Reads a command's arguments; the error is one line for a person.
pub fn parse(
    command: &Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let args: Vec<OsString> = args.into_iter().collect();
    let args = if command.has_exclusions { shield_exclusions(command, args) } else { args };
    parsed.is_literal = args.first().is_some_and(|arg| arg == "--");
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        let flag = match &arg {
            Long(name) => command.long(name),
            Short(name) => command.short(*name),
            Value(word) => {
                let word = word.to_str().ok_or_else(|| format!("{word:?} is not UTF-8"))?;
                parsed.words.push(word.to_owned());
                continue;
            }
        };
        let Some(flag) = flag else {
            let hint = match &arg {
                Long(name) => nearest(command, name),
                _ => None,
            };
            let hint = hint.map_or_else(String::new, |long| format!(" (did you mean --{long}?)"));
            return Err(format!("{}{hint}", arg.unexpected()));
        };
        let value = match flag.takes {
            Takes::Nothing => OsString::new(),
            _ => parser.value().map_err(|error| error.to_string())?,
        };
        check(flag, &value)?;
        parsed.values.push((flag.long, value));
    }
    Ok(parsed)
}

fn check(flag: &Flag, value: &OsStr) -> Result<(), String> {
    if let Takes::OneOf(_, allowed) = flag.takes
        && !allowed.iter().any(|one| value == *one)
    {
        let value = value.to_string_lossy();
        return Err(format!("--{} {value:?}: one of {}", flag.long, allowed.join(", ")));
    }
    Ok(())
}

/// Rewrites `-word` to `--not=word`, so that a shell word excludes as it does
/// inside a quoted query.
///
/// `-` and two or more letters that are not all one-letter options without a
/// value are a word: `-n5` and `-ie` stay options.
fn shield_exclusions(command: &Command, args: Vec<OsString>) -> Vec<OsString> {
    let mut is_value = false;
    let mut is_literal = false;
    args.into_iter()
        .map(|arg| {
            if std::mem::take(&mut is_value) || is_literal {
                return arg;
            }
            let Some(text) = arg.to_str() else { return arg };
            if text == "--" {
                is_literal = true;
            } else if let Some(long) = text.strip_prefix("--") {
                is_value = command.long(long).is_some_and(|flag| flag.takes != Takes::Nothing);
            } else if let Some(word) = text.strip_prefix('-') {
                if is_exclusion(command, word) {
                    return format!("--not={word}").into();
                }
                let last = word.chars().last().and_then(|c| command.short(c));
                is_value = word.chars().count() == 1
                    && last.is_some_and(|flag| flag.takes != Takes::Nothing);
            }
            arg
        })
        .collect()
}

fn is_exclusion(command: &Command, word: &str) -> bool {
    let mut chars = word.chars();
    let (Some(first), Some(second)) = (chars.next(), chars.next()) else { return false };
    let takes = |c: char| command.short(c).map(|flag| flag.takes);
    let is_cluster = word.chars().all(|c| takes(c) == Some(Takes::Nothing));
    let has_value =
        takes(first).is_some_and(|takes| takes != Takes::Nothing) && !second.is_alphabetic();
    !is_cluster && !has_value
}

/// Returns the option whose name is at most two edits away.
fn nearest(command: &Command, typed: &str) -> Option<&'static str> {
    let distances = command.flags().map(|flag| (distance(typed, flag.long), flag.long));
    distances.filter(|(edits, _)| *edits <= 2).min().map(|(_, long)| long)
}

/// Returns the command whose name is at most two edits from what was typed.
pub fn nearest_command(typed: &str) -> Option<&'static str> {
    let distances = COMMANDS.iter().map(|command| (distance(typed, command.name), command.name));
    distances.filter(|(edits, _)| *edits <= 2).min().map(|(_, name)| name)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(c != *d);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Parsed, String> {
        let command = Command::named("search").unwrap();
        parse(command, args.iter().map(OsString::from))
    }

    fn excluded(args: &[&str]) -> Vec<String> {
        parsed(args).unwrap().all("not").collect()
    }

    #[test]
    fn options_and_words_mix() {
        let found = parsed(&["race", "-n5", "--json", "condition", "--tag", "a", "--tag=b"]);
        let found = found.unwrap();
        assert_eq!(found.words, ["race", "condition"]);
        assert_eq!(found.parsed::<usize>("limit"), Ok(Some(5)));
        assert!(found.has("json") && !found.has("explain"));
        assert_eq!(found.all("tag").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_word_after_a_dash_is_excluded() {
        assert_eq!(excluded(&["rust", "-async", "-windows"]), ["async", "windows"]);
        assert_eq!(excluded(&["-in", "x"]), ["in"]);
        assert_eq!(excluded(&["-n", "5", "x", "-i"]), [""; 0]);
        assert_eq!(excluded(&["--tag", "-odd", "x"]), [""; 0]);
        assert_eq!(parsed(&["--", "-async"]).unwrap().words, ["-async"]);
    }

    #[test]
    fn errors_name_the_option() {
        assert!(parsed(&["--jsno"]).unwrap_err().contains("--json"));
        assert!(parsed(&["--color", "blue"]).unwrap_err().contains("never"));
        assert!(parsed(&["--limit"]).unwrap_err().contains("--limit"));
        let limit = parsed(&["--limit", "x"]).unwrap().parsed::<usize>("limit");
        assert!(limit.unwrap_err().starts_with("--limit \"x\":"));
    }

    #[test]
    fn distances_are_levenshteins() {
        assert_eq!(distance("jsno", "json"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("limit", "limit"), 0);
    }
}
