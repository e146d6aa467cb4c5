//! One table of the configuration file: typed access that names file, line and
//! key when a value has the wrong type, and remembers which keys were asked
//! for, so that what is left over can be reported with the nearest known key.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::error::{Error, ErrorKind, Result};

/// The file a section comes from.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    /// What `~/` stands for.
    pub(super) home: Option<&'a Path>,
}

impl Source<'_> {
    /// Returns the line, from 1, of a byte offset.
    fn line(&self, offset: usize) -> usize {
        1 + memchr::memchr_iter(b'\n', crate::text::prefix(self.text, offset).as_bytes()).count()
    }

    pub(super) fn error(&self, offset: usize, message: &str) -> Error {
        let line = self.line(offset);
        Error::new(ErrorKind::Config, format!("{}:{line}: {message}", self.path.display()))
    }
}

/// A table being read; `None` stands for one the file does not have.
pub(super) struct Section<'a> {
    source: &'a Source<'a>,
    name: &'a str,
    table: Option<&'a DeTable<'a>>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// Opens the top level of the file, whose keys have no section name.
    pub(super) fn top(source: &'a Source<'a>, table: &'a DeTable<'a>) -> Self {
        Self { source, name: "", table: Some(table), known: Vec::new() }
    }

    /// Opens the table `name` of this one, present or not.
    pub(super) fn section(&mut self, name: &'static str) -> Result<Section<'a>> {
        let table = match self.value(name) {
            None => None,
            Some(value) => match value.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => return Err(self.wrong(name, value, "a table")),
            },
        };
        Ok(Section { source: self.source, name, table, known: Vec::new() })
    }

    /// Opens each table of the array of tables `name` (`[[name]]`).
    pub(super) fn sections(&mut self, name: &'static str) -> Result<Vec<Section<'a>>> {
        let Some(value) = self.value(name) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(name, value, "an array of tables");
        let DeValue::Array(array) = value.get_ref() else { return Err(wrong()) };
        array
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(table) => {
                    Ok(Section { source: self.source, name, table: Some(table), known: Vec::new() })
                }
                _ => Err(wrong()),
            })
            .collect()
    }

    /// Returns a string.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(text.to_string())),
            _ => Err(self.wrong(key, value, "a string")),
        }
    }

    /// Returns a string that has to be there and not be empty.
    pub(super) fn required_text(&mut self, key: &'static str) -> Result<String> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.source.error(
                self.offset(key),
                &format!("[{}] needs a `{key}` that is not empty", self.name),
            )),
        }
    }

    /// Returns a list of strings; a single string counts as a list of one.
    pub(super) fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let wrong = || self.wrong(key, value, "a list of strings");
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(vec![text.to_string()])),
            DeValue::Array(array) => {
                strings(array).map(Some).ok_or_else(|| self.invalid(key, "must hold strings only"))
            }
            _ => Err(wrong()),
        }
    }

    /// Returns folders of the vault: relative, `/` between the parts, without a
    /// leading `./` or a trailing `/`.
    pub(super) fn folders(&mut self, key: &'static str) -> Result<Option<Vec<String>>> {
        let Some(names) = self.texts(key)? else { return Ok(None) };
        let folder = |name: String| {
            let parts: Option<Vec<&str>> = Path::new(&name)
                .components()
                .filter(|part| *part != Component::CurDir)
                .map(|part| match part {
                    Component::Normal(part) => part.to_str(),
                    _ => None,
                })
                .collect();
            parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/")).ok_or_else(|| {
                let message = format!("{key:?}: {name:?} is not a folder inside the vault");
                self.source.error(self.offset(key), &message)
            })
        };
        names.into_iter().map(folder).collect::<Result<_>>().map(Some)
    }

    /// Returns true or false.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<Option<bool>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong(key, value, "true or false")),
        }
    }

    /// Returns a whole number, zero or more.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<usize>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        whole_number(value.get_ref())
            .map(Some)
            .ok_or_else(|| self.wrong(key, value, "a whole number, zero or more"))
    }

    /// Returns a number with or without a fraction.
    pub(super) fn number(&mut self, key: &'static str) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Float(float) => decimal(float.as_str()),
            other => whole_number(other).and_then(|n| u32::try_from(n).ok()).map(f64::from),
        };
        number.map(Some).ok_or_else(|| self.wrong(key, value, "a number"))
    }

    /// Returns a length of time: `"90s"`, `"30m"`, `"12h"`, `"7d"`, or whole
    /// seconds.
    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<Duration>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let seconds = match value.get_ref() {
            DeValue::String(text) => seconds(text),
            other => whole_number(other).and_then(|n| u64::try_from(n).ok()),
        };
        seconds
            .map(|seconds| Some(Duration::from_secs(seconds)))
            .ok_or_else(|| self.wrong(key, value, "a time such as \"30m\", \"12h\" or \"7d\""))
    }

    /// Returns a path: `~/` expanded, relative ones taken from the folder of
    /// the configuration file.
    pub(super) fn path(&mut self, key: &'static str) -> Result<Option<PathBuf>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if text.is_empty() {
            return Err(self.source.error(self.offset(key), &format!("{key:?} is empty")));
        }
        let rest = text.strip_prefix("~/").or((text == "~").then_some(""));
        let path = match (rest, self.source.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.source.path.parent().unwrap_or(Path::new("")).join(&text),
        };
        Ok(Some(path))
    }

    /// Returns the table `key` under this section as (key, list of strings)
    /// pairs: for sections whose keys are the user's own words.
    pub(super) fn lists(&mut self, key: &'static str) -> Result<Vec<(String, Vec<String>)>> {
        let section = self.section(key)?;
        let Some(table) = section.table else { return Ok(Vec::new()) };
        let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key: &std::borrow::Cow<'_, str> = key.get_ref();
            let list = match value.get_ref() {
                DeValue::String(text) => Some(vec![text.to_string()]),
                DeValue::Array(array) => strings(array),
                _ => None,
            };
            list.map(|list| (key.to_string(), list))
                .ok_or_else(|| section.wrong(key, value, "a list of strings"))
        };
        table.iter().map(pair).collect()
    }

    /// Returns the string tables under this section as (key, value) pairs: for
    /// sections whose keys are the user's own words.
    pub(super) fn pairs(&mut self, key: &'static str) -> Result<Vec<(String, String)>> {
        let section = self.section(key)?;
        let Some(table) = section.table else { return Ok(Vec::new()) };
        let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key: &std::borrow::Cow<'_, str> = key.get_ref();
            match value.get_ref() {
                DeValue::String(text) => Ok((key.to_string(), text.to_string())),
                _ => Err(section.wrong(key, value, "a string")),
            }
        };
        table.iter().map(pair).collect()
    }

    /// Ends reading: adds a warning to `warnings` for each key nobody asked for.
    pub(super) fn finish(self, warnings: &mut Vec<String>) {
        let Some(table) = self.table else { return };
        for key in table.keys() {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            let place =
                if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) };
            let hint = nearest(name, &self.known)
                .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            let line = self.source.line(key.span().start);
            let path = self.source.path.display();
            warnings.push(format!("{path}:{line}: unknown key {name:?}{place}{hint}"));
        }
    }

    /// The error of a value that is of the right type but makes no sense.
    pub(super) fn invalid(&self, key: &str, message: &str) -> Error {
        self.source.error(self.offset(key), &format!("{key:?} {message}"))
    }

    fn value(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.push(key);
        self.table?.get(key)
    }

    fn offset(&self, key: &str) -> usize {
        let Some(table) = self.table else { return 0 };
        let own = table.get_key_value(key).map(|(key, _)| key.span().start);
        let first = || table.keys().map(|key| key.span().start).min();
        own.or_else(first).unwrap_or(0)
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> Error {
        let place =
            if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) };
        let found = value.get_ref().type_str();
        self.source
            .error(value.span().start, &format!("{key:?}{place} must be {wanted}, not {found}"))
    }
}

fn strings(array: &DeArray<'_>) -> Option<Vec<String>> {
    array.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}

fn whole_number(value: &DeValue<'_>) -> Option<usize> {
    let DeValue::Integer(integer) = value else { return None };
    usize::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}

/// Reads `90s`, `30m`, `12h`, `7d`.
fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number: u64 = text.get(..text.len() - 1)?.trim().parse().ok()?;
    number.checked_mul(unit)
}

/// Reads a decimal number of at most 15 digits: then digits and power of ten
/// are exact and so is their quotient's rounding. The standard library's
/// reader of all numbers would add 17 KB to every hook.
fn decimal(text: &str) -> Option<f64> {
    let (text, exponent) = match text.split_once(['e', 'E']) {
        Some((text, exponent)) => (text, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: String = whole.chars().chain(fraction.chars()).filter(|c| *c != '_').collect();
    let n_fraction = i32::try_from(fraction.replace('_', "").len()).ok()?;
    if digits.len() > 15 || digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let power = exponent.checked_sub(n_fraction).filter(|power| power.abs() <= 22)?;
    let ten = (0..power.abs()).fold(1.0, |ten, _| ten * 10.0);
    let digits: u64 = digits.parse().ok()?;
    let high = f64::from(u32::try_from(digits >> 32).ok()?) * 4_294_967_296.0;
    let number = high + f64::from(u32::try_from(digits & 0xffff_ffff).ok()?);
    let number = if power < 0 { number / ten } else { number * ten };
    Some(if is_negative { -number } else { number })
}

/// Returns the known key most like `key`, if one is near enough to be meant.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    // Known keys are ASCII; folding the rest would link the tables of Unicode,
    // 120 KB, into every hook.
    let key = key.to_ascii_lowercase();
    known
        .iter()
        .map(|candidate| (distance(&key, candidate), *candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.len().max(key.len()).div_ceil(2))
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_as_the_standard_library_reads_them() {
        for text in [
            "0.85",
            "1.0",
            "-0.1",
            "+3.25",
            "1e3",
            "6.02E-5",
            "1_000.5",
            "0.1",
            "0.3",
            "123456789.012345",
            "99999999999999.0e-14",
            "0.0",
        ] {
            let expected: f64 = text.replace('_', "").parse().unwrap();
            assert_eq!(decimal(text), Some(expected), "{text}");
        }
        for text in ["nan", "inf", "-inf", "", ".", "1e400", "0.12345678901234567", "x"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds(" 12h "), Some(43_200));
        assert_eq!(seconds("7d"), Some(604_800));
        assert_eq!(seconds("7"), None);
        assert_eq!(seconds("h"), None);
        assert_eq!(seconds("99999999999999999999d"), None);
    }

    #[test]
    fn nearest_finds_the_key_that_was_meant() {
        let known = ["excluded", "allowed", "vault"];
        assert_eq!(nearest("exclude", &known), Some("excluded"));
        assert_eq!(nearest("Vualt", &known), Some("vault"));
        assert_eq!(nearest("zzzzzzzzzzzz", &known), None);
    }
}
