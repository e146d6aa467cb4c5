//! `--help`: plain text, at most 80 columns.

use crate::{COMMANDS, Command, Flag};

/// Columns of the text.
const WIDTH: usize = 80;

/// Longest option whose help stands on the same line.
const MAX_NAME: usize = 24;

/// Returns what `--help` prints.
pub fn help(command: &Command) -> String {
    let called = crate::page_name(command).replacen('-', " ", 1);
    let mut text = format!("{called} - {}\n\nUsage:\n", command.summary);
    for usage in command.usage {
        text.push_str(format!("  {called} {usage}").trim_end());
        text.push('\n');
    }
    if !command.about.is_empty() {
        text.push('\n');
        for paragraph in command.about.split("\n\n") {
            text.push_str(&wrap(paragraph, 0));
            text.push('\n');
        }
        text.pop();
    }
    if command.name == "postil" {
        text.push_str("\nCommands:\n");
        let others = COMMANDS.iter().filter(|other| other.name != "postil");
        let column = others.clone().map(|other| other.name.len()).max().unwrap_or(0) + 4;
        for other in others {
            text.push_str(&entry(&format!("  {}", other.name), other.summary, column));
        }
    }
    for (heading, flags) in command.groups {
        text.push_str(&format!("\n{heading}:\n"));
        let names: Vec<String> = flags.iter().map(name).collect();
        let widths = names.iter().map(|name| name.chars().count());
        let column = widths.filter(|width| *width <= MAX_NAME).max().unwrap_or(0) + 4;
        for (flag, name) in flags.iter().zip(&names) {
            text.push_str(&entry(&format!("  {name}"), flag.help, column));
        }
    }
    if !command.examples.is_empty() {
        text.push_str("\nExamples:\n");
        for (line, what) in command.examples {
            text.push_str(&format!("  {line}\n      {what}\n"));
        }
    }
    text.push('\n');
    text.push_str(&wrap(&format!("Exit codes: {}", command.exit), 0));
    text
}

/// `-n, --limit N`, aligned whether or not there is a short name.
fn name(flag: &Flag) -> String {
    let short = flag.short.map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    let value = flag.takes.placeholder().map_or_else(String::new, |name| format!(" {name}"));
    format!("{short}--{}{value}", flag.long)
}

fn entry(name: &str, help: &str, column: usize) -> String {
    let body = wrap(help, column);
    let n = name.chars().count();
    if n + 2 > column {
        return format!("{name}\n{body}");
    }
    let body = body.trim_start();
    format!("{name}{}{body}", " ".repeat(column - n))
}

/// Breaks `text` into lines that begin with `indent` blanks.
fn wrap(text: &str, indent: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut column = 0;
        for word in line.split_whitespace() {
            let n = word.chars().count();
            if column > 0 && column + 1 + n > WIDTH {
                out.push('\n');
                column = 0;
            }
            let blanks = if column == 0 { indent } else { 1 };
            out.extend(std::iter::repeat_n(' ', blanks));
            out.push_str(word);
            column += blanks + n;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_explained_within_80_columns() {
        for command in COMMANDS {
            let text = help(command);
            for flag in command.flags() {
                assert!(text.contains(&format!("--{}", flag.long)), "{text}");
            }
            for line in text.lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }

    #[test]
    fn no_option_stands_twice() {
        for command in COMMANDS {
            let mut longs: Vec<_> = command.flags().map(|flag| flag.long).collect();
            let mut shorts: Vec<_> = command.flags().filter_map(|flag| flag.short).collect();
            let n = (longs.len(), shorts.len());
            longs.sort_unstable();
            longs.dedup();
            shorts.sort_unstable();
            shorts.dedup();
            assert_eq!(n, (longs.len(), shorts.len()), "{}", command.name);
        }
    }
}
