//! The properties block at the top of a note, read line by line.
//!
//! Written by hand on purpose: people's blocks are YAML by intention only
//! (`` key: `C:\agent` ``, `title: *Italic*`, tabs, a stray line), and a YAML
//! parser answers one bad line with the loss of the whole block. Here a bad
//! line costs that line. Understood: scalars plain and quoted, `|` and `>`,
//! block and flow lists, comments, `---` and `+++` (TOML) fences. Nested maps
//! are passed over.

/// A property's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing, `null` or `~`.
    Null,
    /// One text, verbatim but for quotes.
    Text(String),
    /// Several texts.
    List(Vec<String>),
    /// A nested map.
    Map,
}

/// A note's properties and where its body starts.
#[derive(Debug, Default)]
pub(super) struct Frontmatter {
    /// Lower-case keys with `-` for spaces and underscores; a key once only,
    /// except for repeated lists, which stand in order.
    pub(super) fields: Vec<(String, Value)>,
    /// Byte offset of the body.
    pub(super) body: usize,
    /// Lines that were not understood.
    pub(super) warnings: Vec<String>,
}

/// Most lines a block may have; a `---` further down closes nothing.
const MAX_LINES: usize = 2_000;

/// Reads the block at the top of `note`, and a second one right below it (some
/// tools put theirs above the writer's own).
pub(super) fn read(note: &str) -> Frontmatter {
    let mut front = Frontmatter::default();
    let mut line = 1;
    while let Some(block) = block(rest(note, front.body)) {
        let first_line = line + 1;
        Reader { block: &block, first_line, front: &mut front }.run();
        let end = front.body + block.end;
        line += newlines(rest(note, front.body), block.end);
        front.body = end;
        let below = rest(note, end);
        let blank = below.len() - below.trim_start_matches(['\n', ' ', '\t']).len();
        if self::block(rest(below, blank)).is_none() {
            break;
        }
        line += newlines(below, blank);
        front.body += blank;
    }
    if front.body == 0
        && opens(note).is_some()
        && note.lines().skip(1).any(|line| key(line, ':').is_some())
    {
        front.warnings.push("line 1: `---` opens no properties block that is closed".to_owned());
    }
    front
}

struct Block<'a> {
    lines: Vec<&'a str>,
    separator: char,
    /// Byte offset after the closing line.
    end: usize,
}

fn opens(note: &str) -> Option<(&'static [&'static str], char)> {
    match note.lines().next()?.trim_end() {
        "---" => Some((&["---", "..."], ':')),
        "+++" => Some((&["+++"], '=')),
        _ => None,
    }
}

/// Finds a block that is closed and starts with a property: a banner between
/// two rules is prose.
fn block(note: &str) -> Option<Block<'_>> {
    let (closers, separator) = opens(note)?;
    let mut end = 0;
    let mut lines = Vec::new();
    for (i, line) in note.split_inclusive('\n').enumerate().take(MAX_LINES) {
        end += line.len();
        let text = line.trim_end();
        if i == 0 {
            continue;
        }
        if closers.contains(&text) {
            let first = lines.iter().copied().find(|line: &&str| !is_blank_or_comment(line));
            let is_properties = first.is_none_or(|line| key(line, separator).is_some());
            return is_properties.then_some(Block { lines, separator, end });
        }
        lines.push(text);
    }
    None
}

struct Reader<'a, 'b> {
    block: &'b Block<'a>,
    first_line: usize,
    front: &'b mut Frontmatter,
}

impl Reader<'_, '_> {
    fn run(mut self) {
        let lines = &self.block.lines;
        let mut i = 0;
        while let Some(line) = lines.get(i).copied() {
            if is_blank_or_comment(line) {
                i += 1;
                continue;
            }
            // An indented property below one with a value is meant as its own.
            let Some((name, value)) = key(line.trim_start(), self.block.separator) else {
                self.warn(i, "not a property, ignored");
                i += 1;
                continue;
            };
            let more = continuation(lines, i + 1, value);
            let below = lines.get(i + 1..i + 1 + more).unwrap_or(&[]);
            let value = self.value(i, value, below);
            self.add(i, name, value);
            i += 1 + more;
        }
    }

    fn add(&mut self, i: usize, name: String, value: Value) {
        let known = self.front.fields.iter().any(|(other, _)| *other == name);
        if known && !matches!(name.as_str(), "tags" | "tag" | "aliases" | "alias") {
            self.warn(i, &format!("{name:?} stands twice, the first counts"));
        } else {
            self.front.fields.push((name, value));
        }
    }

    fn value(&mut self, i: usize, value: &str, below: &[&str]) -> Value {
        if is_block_scalar(value) {
            let join = if value.starts_with('|') { "\n" } else { " " };
            let lines: Vec<&str> = below.iter().map(|line| line.trim()).collect();
            return scalar_or_null(lines.join(join).trim());
        }
        let first = below.iter().map(|line| line.trim()).find(|line| !line.is_empty());
        if without_comment(value).is_empty() {
            return match first {
                Some(first) if is_item(first) => items(below),
                Some(first) if key(first, ':').is_some() => Value::Map,
                Some(_) => folded("", below),
                // `tags: #a #b`: a comment to YAML, tags to a person.
                None if value.starts_with('#') => Value::Text(value.to_owned()),
                None => Value::Null,
            };
        }
        match value.as_bytes().first() {
            Some(b'[') if is_flow_list(value) => self.flow(i, value, below),
            Some(b'{') => Value::Map,
            Some(quote @ (b'"' | b'\'')) => self.quoted(i, char::from(*quote), value, below),
            _ => folded(value, below),
        }
    }

    fn flow(&mut self, i: usize, value: &str, below: &[&str]) -> Value {
        let whole = joined(value, below);
        match flow_items(&whole) {
            Some(items) => Value::List(items),
            None => {
                self.warn(i, "the list is not closed");
                let open = whole.trim_start_matches('[');
                Value::List(open.split(',').map(unquoted).filter(|item| !item.is_empty()).collect())
            }
        }
    }

    fn quoted(&mut self, i: usize, quote: char, value: &str, below: &[&str]) -> Value {
        let whole = joined(value, below);
        if let Some((text, after)) = take_quoted(&whole, quote) {
            if without_comment(after.trim_start()).is_empty() {
                return Value::Text(text);
            }
            // `"A" and "B"`: not YAML, but plainly meant as it stands.
            return Value::Text(whole);
        }
        self.warn(i, "the quote is not closed");
        Value::Text(value.trim_start_matches(quote).to_owned())
    }

    fn warn(&mut self, i: usize, what: &str) {
        self.front.warnings.push(format!("line {}: {what}", self.first_line + i));
    }
}

/// Counts the lines that belong to the property above them: indented ones,
/// items, and what a multi-line scalar or list still needs.
fn continuation(lines: &[&str], from: usize, value: &str) -> usize {
    let is_open = is_flow_list(value) && flow_items(value).is_none();
    let mut open = is_open.then(|| value.to_owned());
    let is_plain = !without_comment(value).is_empty()
        && !is_block_scalar(value)
        && !value.starts_with(['"', '\'', '[', '{']);
    let mut n = 0;
    let mut n_with_text = 0;
    for line in lines.get(from..).unwrap_or(&[]) {
        let indented = line.starts_with([' ', '\t']);
        if let Some(whole) = &mut open {
            if !indented && key(line, ':').is_some() {
                break;
            }
            whole.push(' ');
            whole.push_str(line.trim());
            n += 1;
            n_with_text = n;
            if flow_items(whole).is_some() {
                break;
            }
            continue;
        }
        if is_plain && key(line.trim_start(), ':').is_some() {
            break;
        }
        let is_own_item = without_comment(value).is_empty() && is_item(line);
        if !(line.trim().is_empty() || indented || is_own_item) {
            break;
        }
        n += 1;
        if !line.trim().is_empty() {
            n_with_text = n;
        }
    }
    n_with_text
}

/// Splits `key: value` at the first separator that is followed by a space or
/// the line's end; `None` for indented lines, items and prose.
fn key(line: &str, separator: char) -> Option<(String, &str)> {
    if line.starts_with([' ', '\t', '#']) || is_item(line) {
        return None;
    }
    let (name, value) = match line.chars().next()? {
        quote @ ('"' | '\'') => {
            let (name, after) = take_quoted(line, quote)?;
            (name, after.trim_start().strip_prefix(separator)?)
        }
        _ => {
            let at = line.match_indices(separator).map(|(at, _)| at).find(|at| {
                separator == '='
                    || line
                        .get(at + 1..)
                        .is_none_or(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
            })?;
            (line.get(..at)?.trim_end().to_owned(), line.get(at + 1..)?)
        }
    };
    let is_name = !name.is_empty()
        && name.chars().count() <= 80
        && !name.starts_with(['*', '>', '|', '<', '[', '{', '`']);
    let name = name.to_lowercase().replace([' ', '_'], "-");
    is_name.then(|| (name, value.trim()))
}

fn is_blank_or_comment(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    text == "-" || text.starts_with("- ") || text.starts_with("-\t")
}

fn is_block_scalar(value: &str) -> bool {
    let mut chars = value.chars();
    matches!(chars.next(), Some('|' | '>'))
        && without_comment(chars.as_str()).chars().all(|c| matches!(c, '+' | '-' | '1'..='9'))
}

/// `[a, b]`, but not a wiki-link and not a redaction mark.
fn is_flow_list(value: &str) -> bool {
    value.starts_with('[') && !value.starts_with("[[") && !value.starts_with("[REDACTED:")
}

/// Reads block items; lines below an item continue it.
fn items(below: &[&str]) -> Value {
    let mut items: Vec<String> = Vec::new();
    for line in below.iter().map(|line| line.trim()) {
        if is_item(line) {
            let item = line.trim_start_matches('-').trim();
            if is_flow_list(item)
                && let Some(inner) = flow_items(item)
            {
                items.extend(inner);
            } else if item.starts_with('#') {
                items.push(item.to_owned());
            } else {
                items.push(scalar(item));
            }
        } else if let Some(last) = items.last_mut()
            && key(line, ':').is_none()
            && !line.is_empty()
        {
            last.push(' ');
            last.push_str(line);
        }
    }
    items.retain(|item| !item.is_empty() && !is_null(item));
    Value::List(items)
}

/// Reads a closed flow list, nested ones flattened; `None` while it is open.
fn flow_items(text: &str) -> Option<Vec<String>> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut depth = 0usize;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => {
                quote = None;
                item.push(c);
            }
            (Some(_), _) => item.push(c),
            (None, '"' | '\'') if item.trim().is_empty() => {
                quote = Some(c);
                item.push(c);
            }
            (None, '[') => {
                depth += 1;
                if depth > 1 {
                    item.push(c);
                }
            }
            (None, ']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    items.push(std::mem::take(&mut item));
                    items = items.iter().map(|item| unquoted(item)).collect();
                    items.retain(|item| !item.is_empty() && !is_null(item));
                    return Some(items);
                }
                item.push(c);
            }
            (None, ',') if depth == 1 => items.push(std::mem::take(&mut item)),
            (None, _) => item.push(c),
        }
    }
    None
}

fn joined(value: &str, below: &[&str]) -> String {
    let mut whole = value.to_owned();
    for line in below.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        whole.push(' ');
        whole.push_str(line);
    }
    whole
}

/// A plain scalar over one or more lines.
fn folded(value: &str, below: &[&str]) -> Value {
    scalar_or_null(&scalar(joined(without_comment(value), below).trim()))
}

fn scalar_or_null(text: &str) -> Value {
    if text.is_empty() || is_null(text) { Value::Null } else { Value::Text(text.to_owned()) }
}

fn is_null(text: &str) -> bool {
    matches!(text, "~" | "null" | "Null" | "NULL")
}

fn scalar(text: &str) -> String {
    unquoted(without_comment(text))
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => match take_quoted(text, quote) {
            Some((inner, "")) => inner,
            _ => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

/// Cuts a trailing ` # comment` off a plain scalar.
fn without_comment(text: &str) -> &str {
    if text.starts_with(['"', '\'']) {
        return text;
    }
    if text.starts_with('#') {
        return "";
    }
    let at = text.find(" #").or_else(|| text.find("\t#"));
    at.and_then(|at| text.get(..at)).unwrap_or(text).trim_end()
}

/// Reads a quoted text at the start of `text`; returns it and what follows.
fn take_quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            let (_, escaped) = chars.next()?;
            match escaped {
                'n' => inner.push('\n'),
                't' => inner.push('\t'),
                '"' | '\\' | '/' => inner.push(escaped),
                // `"C:\temp"`: a path, whatever YAML says.
                _ => inner.extend(['\\', escaped]),
            }
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == quote) {
                inner.push(quote);
                chars.next();
                continue;
            }
            return Some((inner, text.get(at + c.len_utf8()..)?));
        } else {
            inner.push(c);
        }
    }
    None
}

fn rest(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or("")
}

fn newlines(text: &str, end: usize) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes().get(..end).unwrap_or(&[])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(note: &str, expected: &[(&str, Value)], body: &str) -> Vec<String> {
        let front = read(note);
        let expected: Vec<(String, Value)> =
            expected.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        assert_eq!(front.fields, expected, "{note:?}");
        assert_eq!(rest(note, front.body), body, "{note:?}");
        front.warnings
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    #[test]
    fn a_banner_between_rules_is_prose() {
        let note = "---\n**OSTROWSKI LEGAL**\n---\nBody.\n";
        assert_eq!(check(note, &[], note), [""; 0]);
        let rule = "---\n\nJust prose here\n\n---\nmore\n";
        check(rule, &[], rule);
    }

    #[test]
    fn a_block_that_is_never_closed_is_prose_with_a_warning() {
        let note = "---\ntitle: x\n\nBody\n";
        assert_eq!(check(note, &[], note).len(), 1);
        check("---", &[], "---");
    }

    #[test]
    fn a_block_may_end_the_file_and_be_empty() {
        check("---\ntitle: EOF\n---", &[("title", text("EOF"))], "");
        check("---\n---\nx", &[], "x");
    }

    #[test]
    fn scalars_are_taken_as_they_are_meant() {
        let note = "---\nkey: `C:\\agent`\ntitle: *Italic*\nurl: https://x.y/z#a\nn: null\nt: ~\n\
                    e:\nq: 'it''s'\nd: \"a \\\"b\\\" C:\\temp\"\nc: plain # comment\nf: Foo: bar\n---\n";
        let expected = [
            ("key", text("`C:\\agent`")),
            ("title", text("*Italic*")),
            ("url", text("https://x.y/z#a")),
            ("n", Value::Null),
            ("t", Value::Null),
            ("e", Value::Null),
            ("q", text("it's")),
            ("d", text("a \"b\" C:\temp")),
            ("c", text("plain")),
            ("f", text("Foo: bar")),
        ];
        assert_eq!(check(note, &expected, ""), [""; 0]);
    }

    #[test]
    fn lists_come_in_every_shape() {
        let note = "---\na: [x, \"y, z\", 'w']\nb:\n  - one\n  - [[wiki]]suffix\nc:\n- \"[[q]]\"\n- #tag\n\
                    d: [p,\n  q,\n  r]\ntags: #a #b\nl: [[Note]]\ns: [REDACTED:key]\n---\nB";
        let expected = [
            ("a", list(&["x", "y, z", "w"])),
            ("b", list(&["one", "[[wiki]]suffix"])),
            ("c", list(&["[[q]]", "#tag"])),
            ("d", list(&["p", "q", "r"])),
            ("tags", text("#a #b")),
            ("l", text("[[Note]]")),
            ("s", text("[REDACTED:key]")),
        ];
        assert_eq!(check(note, &expected, "B"), [""; 0]);
    }

    #[test]
    fn long_texts_tabs_maps_and_second_blocks() {
        let note = "---\na: |\n  one\n  two\nb: >-\n  three\n  four\nc: five\n  six\nm:\n  x: 1\n\td: bad\n\
                    e:\n\t- tab\n---\n";
        let expected = [
            ("a", text("one\ntwo")),
            ("b", text("three four")),
            ("c", text("five six")),
            ("m", Value::Map),
            ("e", list(&["tab"])),
        ];
        check(note, &expected, "");
        let twice = "---\ntitle: A\n---\n\n---\ndescription: D\ntitle: B\n---\nBody";
        let warnings = check(twice, &[("title", text("A")), ("description", text("D"))], "Body");
        assert_eq!(warnings, ["line 7: \"title\" stands twice, the first counts"]);
    }

    #[test]
    fn one_bad_line_costs_that_line() {
        let note =
            "---\ntitle: T\nthis is not a property\nbad: [a, b\ntags: [x]\nopen: \"never\n---\nB";
        let expected = [
            ("title", text("T")),
            ("bad", list(&["a", "b"])),
            ("tags", list(&["x"])),
            ("open", text("never")),
        ];
        assert_eq!(check(note, &expected, "B").len(), 3);
    }

    #[test]
    fn toml_blocks_are_read_too() {
        let note = "+++\ntitle = \"T\"\ntags = [\"a\", \"b\"]\n+++\nB";
        check(note, &[("title", text("T")), ("tags", list(&["a", "b"]))], "B");
    }
}
