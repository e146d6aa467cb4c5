//! What a shell command is about: its programs, and the words worth searching
//! for. Not a shell: quoting is followed, expansion is not.

use super::prompt::is_identifier;
use crate::text::prefix;

/// Longest part of a command that is looked at: heredocs hold whole files.
const MAX_COMMAND_BYTES: usize = 2_000;

/// Words taken from one command.
const MAX_WORDS: usize = 24;

/// Programs that only look at things, or move them about: what they are run for
/// stands in the prompt, not in the command.
const LOOKING: &str = " [ awk base64 basename bat cal cat cd chmod chown clear cmp column command cp \
    cut date dd df diff dirname dirs du echo egrep env expr eza false fd fgrep file find free git-diff \
    grep head history hostname id jobs jq kill less ll ln ls lsof md5sum mkdir more mv nl nproc od \
    pgrep popd printenv printf ps pushd pwd read readlink realpath rg rm rmdir sed seq set sha256sum \
    sleep sort source stat strings tac tail tee test top touch tr tree true type uname unalias uniq \
    unset uptime wait wc which whoami xargs xxd yes zcat ";

/// Subcommands of git that say nothing about the task.
const GIT_LOOKING: &str = " add blame branch checkout diff fetch log ls-files pull push remote \
    restore rev-parse shortlog show stash status switch tag worktree ";

/// postil's own programs.
const OWN: [&str; 4] = ["postil", "context-inject", "compress-output", "vault-mcp"];

/// Programs in front of the one that is meant.
const PREFIXES: [&str; 9] =
    ["builtin", "command", "doas", "env", "exec", "nice", "nohup", "sudo", "time"];

/// Reads a command: the words to search for, or why there are none.
pub(super) fn words(command: &str) -> Result<Vec<String>, &'static str> {
    let segments = segments(prefix(command, MAX_COMMAND_BYTES));
    let mut words: Vec<String> = Vec::new();
    let mut is_looking = true;
    for segment in &segments {
        let Some(program_idx) = program(segment) else { continue };
        let path = segment[program_idx].as_str();
        let name = path.rsplit('/').next().unwrap_or(path);
        if OWN.contains(&name) || path.contains("/postil/") {
            return Err("own-command");
        }
        let rest = &segment[program_idx + 1..];
        if is_listed(LOOKING, name) || (name == "git" && is_git_looking(rest)) {
            continue;
        }
        is_looking = false;
        words.push(name.to_owned());
        words.extend(without_code(name, rest).flat_map(|word| arguments(word)));
    }
    if is_looking {
        return Err("looking-command");
    }
    words.truncate(MAX_WORDS);
    Ok(words)
}

/// Returns the place of a segment's program, after `A=1`, `sudo` and the like.
fn program(segment: &[String]) -> Option<usize> {
    segment.iter().position(|word| {
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let is_syntax = matches!(
            word.as_str(),
            "if" | "then"
                | "else"
                | "do"
                | "done"
                | "fi"
                | "while"
                | "until"
                | "!"
                | "{"
                | "}"
                | "("
                | ")"
        );
        !is_assignment && !is_syntax && !word.starts_with('-') && !PREFIXES.contains(&word.as_str())
    })
}

/// Leaves out a program that stands on the command line, `node -e '…'`: its
/// words are those of any program.
fn without_code<'a>(name: &str, rest: &'a [String]) -> impl Iterator<Item = &'a String> {
    const LANGUAGES: [&str; 7] = ["bun", "deno", "node", "perl", "php", "python", "ruby"];
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_language = LANGUAGES.contains(&name);
    let is_code = |flag: &String| matches!(flag.as_str(), "-c" | "-e" | "-p" | "-r" | "eval");
    rest.iter().enumerate().filter_map(move |(at, word)| {
        let follows = at.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(is_code);
        (!(is_language && follows)).then_some(word)
    })
}

/// Returns what an argument says: words of a message, the stem of a path, the
/// name of a long flag.
fn arguments(word: &str) -> Vec<String> {
    if word.contains(char::is_whitespace) {
        return word.split_whitespace().map(str::to_owned).collect();
    }
    if let Some(flag) = word.strip_prefix("--") {
        let name = flag.split('=').next().unwrap_or("");
        return if name.len() >= 5 { vec![name.to_owned()] } else { Vec::new() };
    }
    let is_plain = word.chars().any(char::is_alphabetic)
        && !word.contains(['>', '<'])
        && !word.starts_with(['-', '$']);
    if !is_plain || word.starts_with("/dev/") {
        return Vec::new();
    }
    if word.contains('/') && !word.contains("://") {
        let parts: Vec<&str> = word.split('/').filter(|part| part.len() > 2).collect();
        return parts.iter().rev().take(2).rev().map(|part| (*part).to_owned()).collect();
    }
    if word.len() >= 3 || is_identifier(word) { vec![word.to_owned()] } else { Vec::new() }
}

fn is_git_looking(rest: &[String]) -> bool {
    let subcommand = rest.iter().find(|word| !word.starts_with('-') && !word.contains(['/', '=']));
    subcommand.is_none_or(|name| is_listed(GIT_LOOKING, name))
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Splits a command at `&& || ; | &` and line ends, and each part into words.
fn segments(command: &str) -> Vec<Vec<String>> {
    let mut segments = Vec::new();
    let mut segment = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => word.extend(chars.next().filter(|c| *c != '\n')),
            (None, '"' | '\'') => quote = Some(c),
            // `2>&1` and `&>` redirect; they end no command.
            (None, '&') if word.ends_with('>') || chars.as_str().starts_with('>') => word.push(c),
            (None, c) if c.is_whitespace() || "&|;`()".contains(c) => {
                if !word.is_empty() {
                    segment.push(std::mem::take(&mut word));
                }
                if !c.is_whitespace() || c == '\n' {
                    segments.push(std::mem::take(&mut segment));
                }
            }
            (_, c) => word.push(c),
        }
    }
    if !word.is_empty() {
        segment.push(word);
    }
    segments.push(segment);
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, expected: Result<&[&str], &'static str>) {
        let got = words(command);
        let got = got.as_ref().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(got.as_deref().map_err(|reason| **reason), expected, "{command}");
    }

    #[test]
    fn looking_around_is_no_topic() {
        for command in [
            "ls -la",
            "cat src/main.rs | head -50",
            "cd src && pwd",
            "git status",
            "true",
            "seq 1 400",
            "git -C /tmp/x log --oneline | head",
            "grep -rn needle . ; wc -l x",
            "echo \"cargo test\"",
            "A=1 git diff HEAD~1",
            "sudo ls /root",
            "",
        ] {
            check(command, Err("looking-command"));
        }
    }

    #[test]
    fn code_on_the_command_line_names_nothing() {
        let command = "node -e 'console.log(require(\"./package.json\").version)'";
        assert_eq!(words(command).unwrap(), ["node"]);
        assert_eq!(
            words("python3.12 -c 'import orders; orders.run()' billing").unwrap(),
            ["python3.12", "billing"]
        );
        assert_eq!(words("deploy -e staging").unwrap(), ["deploy", "staging"]);
    }

    #[test]
    fn own_programs_are_left_alone() {
        for command in [
            "postil search x",
            "cd /x && /home/a/.local/bin/postil index",
            "time postil doctor",
            "/home/a/.local/lib/postil/search 'deploy'",
            "context-inject < event.json",
        ] {
            check(command, Err("own-command"));
        }
        check("echo postil", Err("looking-command"));
    }

    #[test]
    fn the_words_of_a_command_are_what_it_names() {
        check(
            "cd web && npm run build -- --no-minify 2>&1 | tail -20",
            Ok(&["npm", "run", "build", "no-minify"]),
        );
        check(
            "RUST_LOG=debug cargo test -p billing retry_payment",
            Ok(&["cargo", "test", "billing", "retry_payment"]),
        );
        check(
            "git commit -m 'Retry payments with backoff'",
            Ok(&["git", "commit", "Retry", "payments", "with", "backoff"]),
        );
        check(
            "kubectl apply -f deploy/staging/ingress.yaml",
            Ok(&["kubectl", "apply", "staging", "ingress.yaml"]),
        );
        check("./scripts/migrate.sh \"año nuevo\"", Ok(&["migrate.sh", "año", "nuevo"]));
    }

    #[test]
    fn unbalanced_quotes_and_long_heredocs_are_no_trouble() {
        assert!(words("python3 -c 'print(1").is_ok());
        assert!(words(&format!("cat > x <<EOF\n{}\nEOF", "ñ ".repeat(100_000))).is_ok());
        assert!(words("a\\").is_ok());
    }
}
