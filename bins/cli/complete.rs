//! Completions of `postil` and its commands for bash, zsh and fish.

use crate::{COMMANDS, Command, Flag, Takes};

/// A shell that completions are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// GNU bash 4 and later.
    Bash,
    /// Z shell.
    Zsh,
    /// fish 3 and later.
    Fish,
}

impl Shell {
    /// Returns the shell of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ => None,
        }
    }
}

/// Returns the script that makes `shell` complete `postil`.
pub fn completions(shell: Shell) -> String {
    match shell {
        Shell::Bash => bash(),
        Shell::Zsh => zsh(),
        Shell::Fish => fish(),
    }
}

fn commands() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().copied().filter(|command| command.name != "postil")
}

/// What follows an option in a shell: words, files, folders, or the output of a
/// command, one candidate a line.
enum Source {
    Words(String),
    Files,
    Folders,
    Output(&'static str),
    Free,
}

fn source(takes: Takes) -> Source {
    match takes {
        Takes::Nothing | Takes::Text(_) => Source::Free,
        Takes::File(_) => Source::Files,
        Takes::Folder(_) => Source::Folders,
        Takes::OneOf(_, words) => Source::Words(words.join(" ")),
        Takes::Tag(_) => Source::Output("postil search --names list tags 2>/dev/null"),
        Takes::Note(_) => Source::Output("postil search --names list docs 2>/dev/null"),
    }
}

fn bash() -> String {
    let names: Vec<&str> = commands().map(|command| command.name).collect();
    let mut text = format!(
        "# bash completion of postil; written by `postil completions bash`.\n\
         _postil() {{\n\
         \x20 local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         \x20 local IFS=$'\\n'\n\
         \x20 COMPREPLY=()\n\
         \x20 if [ \"$COMP_CWORD\" -eq 1 ]; then\n\
         \x20   COMPREPLY=($(compgen -W \"$(printf '%s\\n' {} help)\" -- \"$cur\"))\n\
         \x20   return\n\
         \x20 fi\n\
         \x20 case \"${{COMP_WORDS[1]}} $prev\" in\n",
        names.join(" ")
    );
    for command in commands() {
        for flag in command.flags().filter(|flag| flag.takes != Takes::Nothing) {
            let mut pattern = format!("'{} --{}'", command.name, flag.long);
            if let Some(short) = flag.short {
                pattern.push_str(&format!("|'{} -{short}'", command.name));
            }
            let body = match source(flag.takes) {
                Source::Words(words) => {
                    format!("COMPREPLY=($(compgen -W \"$(printf '%s\\n' {words})\" -- \"$cur\"))")
                }
                Source::Files => "COMPREPLY=($(compgen -f -- \"$cur\"))".to_owned(),
                Source::Folders => "COMPREPLY=($(compgen -d -- \"$cur\"))".to_owned(),
                Source::Output(call) => {
                    format!("COMPREPLY=($(compgen -W \"$({call})\" -- \"$cur\"))")
                }
                Source::Free => ":".to_owned(),
            };
            text.push_str(&format!("    {pattern}) {body}; return ;;\n"));
        }
    }
    text.push_str(&format!(
        "  esac\n  case \"${{COMP_WORDS[1]}}\" in\n    help) COMPREPLY=($(compgen -W \"$(printf \
         '%s\\n' {})\" -- \"$cur\")) ;;\n",
        names.join(" ")
    ));
    for command in commands() {
        let mut words: Vec<String> = command.words.iter().map(|&word| word.into()).collect();
        words.extend(command.flags().map(|flag| format!("--{}", flag.long)));
        text.push_str(&format!(
            "    {}) COMPREPLY=($(compgen -W \"$(printf -- '%s\\n' {})\" -- \"$cur\")) ;;\n",
            command.name,
            words.join(" ")
        ));
    }
    text.push_str("  esac\n}\ncomplete -o filenames -F _postil postil\n");
    text
}

fn zsh() -> String {
    let mut text = "#compdef postil\n# zsh completion of postil; written by `postil completions \
                    zsh`.\n_postil_words() {\n  local -a found\n  found=(\"${(@f)$(eval \
                    \"$1\")}\")\n  compadd -a found\n}\n_postil() {\n  local context state line\n  \
                    typeset -A opt_args\n  if (( CURRENT == 2 )); then\n    local -a names\n    \
                    names=(\n"
        .to_owned();
    for command in commands() {
        text.push_str(&format!(
            "      {}\n",
            quote(&format!("{}:{}", command.name, command.summary))
        ));
    }
    text.push_str(
        "      'help:say more about a command'\n    )\n    _describe command names\n    return\n  fi\n  local command=$words[2]\n  \
         shift words\n  (( CURRENT-- ))\n  case $command in\n",
    );
    let names: Vec<&str> = commands().map(|command| command.name).collect();
    text.push_str(&format!("    help) compadd {} ;;\n", names.join(" ")));
    for command in commands() {
        text.push_str(&format!("    {})\n      _arguments -S \\\n", command.name));
        for flag in command.flags() {
            text.push_str(&format!("        {} \\\n", zsh_flag(flag)));
        }
        let rest = match command.words {
            [] => "'*: :_files'".to_owned(),
            words => quote(&format!("*: :({})", words.join(" "))),
        };
        text.push_str(&format!("        {rest} ;;\n"));
    }
    text.push_str(
        "  esac\n}\nif [ \"$funcstack[1]\" = _postil ]; then\n  _postil \"$@\"\nelse\n  \
                   compdef _postil postil\nfi\n",
    );
    text
}

fn zsh_flag(flag: &Flag) -> String {
    let help = flag.help.replace('[', "(").replace(']', ")").replace(':', "\\:");
    let value = match (flag.takes.placeholder(), source(flag.takes)) {
        (None, _) => String::new(),
        (Some(name), Source::Words(words)) => format!(":{name}:({words})"),
        (Some(name), Source::Files) => format!(":{name}:_files"),
        (Some(name), Source::Folders) => format!(":{name}:_files -/"),
        (Some(name), Source::Output(call)) => {
            let call = call.replace(" 2>/dev/null", "");
            format!(":{name}:_postil_words \"{call}\"")
        }
        (Some(name), Source::Free) => format!(":{name}: "),
    };
    let long = quote(&format!("*--{}[{help}]{value}", flag.long));
    match flag.short {
        Some(short) => format!("{long} {}", quote(&format!("*-{short}[{help}]{value}"))),
        None => long,
    }
}

fn fish() -> String {
    let mut text = "# fish completion of postil; written by `postil completions fish`.\n\
                    complete -c postil -f\n"
        .to_owned();
    let names: Vec<&str> = commands().map(|command| command.name).collect();
    text.push_str(&format!(
        "complete -c postil -n __fish_use_subcommand -a help -d 'say more about a command'\n\
         complete -c postil -n '__fish_seen_subcommand_from help' -a '{}'\n",
        names.join(" ")
    ));
    for command in commands() {
        text.push_str(&format!(
            "complete -c postil -n __fish_use_subcommand -a {} -d {}\n",
            command.name,
            quote(command.summary)
        ));
        let seen = format!("-n '__fish_seen_subcommand_from {}'", command.name);
        for flag in command.flags() {
            let short = flag.short.map_or_else(String::new, |short| format!(" -s {short}"));
            let value = match source(flag.takes) {
                Source::Free if flag.takes == Takes::Nothing => String::new(),
                Source::Free => " -x".to_owned(),
                Source::Words(words) => format!(" -x -a {}", quote(&words)),
                Source::Files => " -r -F".to_owned(),
                Source::Folders => " -x -a '(__fish_complete_directories)'".to_owned(),
                Source::Output(call) => format!(" -x -a {}", quote(&format!("({call})"))),
            };
            text.push_str(&format!(
                "complete -c postil {seen} -l {}{short}{value} -d {}\n",
                flag.long,
                quote(flag.help)
            ));
        }
        if !command.words.is_empty() {
            let words = quote(&command.words.join(" "));
            text.push_str(&format!("complete -c postil {seen} -a {words}\n"));
        }
    }
    text
}

/// Single quotes, as all three shells read them.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
