//! Man pages in man(7) macros.

use crate::{COMMANDS, Command, Flag};

/// Returns the page of a command: `postil-NAME(1)`, or `postil(1)`.
pub fn man(command: &Command) -> String {
    let page = page_name(command);
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        ".TH {} 1 \"\" \"postil {version}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
        escape(&page.to_uppercase()),
        escape(&page),
        escape(command.summary)
    );
    for (n, usage) in command.usage.iter().enumerate() {
        let called = page.replace("postil-", "postil ");
        let gap = if n > 0 { ".br\n" } else { "" };
        text.push_str(&format!("{gap}.B {}\n{}\n", escape(&called), escape(usage)));
    }
    if !command.about.is_empty() {
        text.push_str(".SH DESCRIPTION\n");
        for (n, paragraph) in command.about.split("\n\n").enumerate() {
            let gap = if n > 0 { ".PP\n" } else { "" };
            text.push_str(&format!("{gap}{}\n", escape(paragraph)));
        }
    }
    if command.name == "postil" {
        text.push_str(".SH COMMANDS\n");
        for other in COMMANDS.iter().filter(|other| other.name != "postil") {
            let (name, summary) = (escape(other.name), escape(other.summary));
            text.push_str(&format!(
                ".TP\n.B {name}\n{summary}; see \\fB{}\\fR(1).\n",
                escape(&page_name(other))
            ));
        }
    }
    for (heading, flags) in command.groups {
        text.push_str(&format!(".SH {}\n", escape(&heading.to_uppercase())));
        flags.iter().for_each(|flag| text.push_str(&entry(flag)));
    }
    if !command.examples.is_empty() {
        text.push_str(".SH EXAMPLES\n");
        for (line, what) in command.examples {
            text.push_str(&format!(".TP\n.B {}\n{}\n", escape(line), escape(what)));
        }
    }
    text.push_str(&format!(".SH \"EXIT STATUS\"\n{}\n", escape(command.exit)));
    text.push_str(".SH FILES\n.I ~/.config/postil/config.toml\n");
    if command.name != "postil" {
        text.push_str(".SH \"SEE ALSO\"\n.BR postil (1)\n");
    }
    text
}

/// The name of a command's page, without its section.
pub fn page_name(command: &Command) -> String {
    match command.name {
        "postil" => "postil".to_owned(),
        name => format!("postil-{name}"),
    }
}

fn entry(flag: &Flag) -> String {
    let short = flag.short.map_or_else(String::new, |short| format!("\\fB\\-{short}\\fR, "));
    let value = flag.takes.placeholder();
    let value = value.map_or_else(String::new, |name| format!(" \\fI{}\\fR", escape(name)));
    format!(".TP\n{short}\\fB\\-\\-{}\\fR{value}\n{}.\n", escape(flag.long), escape(flag.help))
}

/// Keeps roff from reading anything into the text.
fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "\\(ga");
    let lines = text.lines().map(|line| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_text_is_a_request() {
        assert_eq!(escape(".so /etc/passwd\n'x\na-b\\c"), "\\&.so /etc/passwd\n\\&'x\na\\-b\\ec");
    }

    #[test]
    fn pages_hold_every_option() {
        for command in COMMANDS {
            let page = man(command);
            assert!(page.starts_with(".TH POSTIL"), "{page}");
            for flag in command.flags() {
                assert!(page.contains(&format!("\\-\\-{}", escape(flag.long))), "{page}");
            }
        }
    }
}
