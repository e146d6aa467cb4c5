//! The command lines of all binaries as one table: what `--help` prints, what
//! the man pages say and what the shells complete is read from it, and that the
//! binaries accept what it holds is tested, so that they cannot differ.
//!
//! A library beside the binaries, because a package's binaries share code only
//! through one.

mod complete;
mod help;
mod man;
mod names;
mod parse;
mod table;

pub use complete::{Shell, completions};
pub use help::help;
pub use man::{man, page_name};
pub use names::is_called;
pub use parse::{Parsed, nearest_command, parse};
pub use table::COMMANDS;

/// One binary, or one command of `postil`.
#[derive(Debug)]
pub struct Command {
    /// What is typed after `postil`.
    pub name: &'static str,
    /// What it does, in one line without a period.
    pub summary: &'static str,
    /// The ways to call it, without its name.
    pub usage: &'static [&'static str],
    /// What has to be known before the options; may be empty.
    pub about: &'static str,
    /// The options, under headings.
    pub groups: &'static [(&'static str, &'static [Flag])],
    /// Words that stand where the query or a subcommand would, for completion.
    pub words: &'static [&'static str],
    /// True where `-word` is a word of the command, not an option.
    pub has_exclusions: bool,
    /// Command lines worth copying, each with what it does.
    pub examples: &'static [(&'static str, &'static str)],
    /// What the exit codes mean.
    pub exit: &'static str,
}

impl Command {
    /// Returns the command of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().copied().find(|command| command.name == name)
    }

    /// Returns every option.
    pub fn flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.groups.iter().flat_map(|(_, flags)| flags.iter())
    }

    fn long(&self, name: &str) -> Option<&'static Flag> {
        self.flags().find(|flag| flag.long == name)
    }

    fn short(&self, name: char) -> Option<&'static Flag> {
        self.flags().find(|flag| flag.short == Some(name))
    }
}

/// Returns what `--help` of the command of that name prints.
pub fn help_of(name: &str) -> String {
    Command::named(name).map(help).unwrap_or_default()
}

/// One option.
#[derive(Debug)]
pub struct Flag {
    /// Its long name, without `--`.
    pub long: &'static str,
    /// Its one-letter name.
    pub short: Option<char>,
    /// What it takes.
    pub takes: Takes,
    /// What it does, in one line without a period.
    pub help: &'static str,
}

/// What an option takes, with the placeholder that `--help` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// Any text or number.
    Text(&'static str),
    /// A file.
    File(&'static str),
    /// A folder.
    Folder(&'static str),
    /// One of these.
    OneOf(&'static str, &'static [&'static str]),
    /// A tag of the vault.
    Tag(&'static str),
    /// A note of the vault.
    Note(&'static str),
}

impl Takes {
    /// Returns the placeholder.
    pub fn placeholder(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Text(name)
            | Self::File(name)
            | Self::Folder(name)
            | Self::OneOf(name, _)
            | Self::Tag(name)
            | Self::Note(name) => Some(name),
        }
    }
}

impl Flag {
    const fn new(long: &'static str, takes: Takes, help: &'static str) -> Self {
        Self { long, short: None, takes, help }
    }

    const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }
}
