//! Picks a passage by hand: with fzf where it is installed, which searches again
//! at every key and shows the passage; else by number.

use std::ffi::OsString;
use std::io::{BufRead as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, ExitCode, Stdio};

use postil_core::error::{Error, ErrorKind, Result};
use postil_core::recall::{Hit, parse};

use crate::args::{Args, Opener};
use crate::screen::Screen;
use crate::vault::Vault;
use crate::{listing, open, snippet};

/// Lets a person pick, and opens what was picked; without an editor, or where a
/// program reads the output (`vim $(postil search -i)`), prints its `path:line`.
pub(crate) fn pick(vault: &Vault, args: &Args, screen: &Screen) -> Result<ExitCode> {
    if screen.is_attended
        && let Some(picked) = with_fzf(args, screen)?
    {
        return go(vault, args, screen, picked);
    }
    by_number(vault, args, screen)
}

fn go(
    vault: &Vault,
    args: &Args,
    screen: &Screen,
    picked: Option<(String, u32)>,
) -> Result<ExitCode> {
    let Some((path, line)) = picked else { return Ok(ExitCode::from(crate::NOTHING)) };
    let path = crate::vault::relative(&path, vault.root.as_deref());
    let editor = vault.config.host.editor.as_ref().filter(|_| screen.is_terminal);
    let opener = args.opener.or(editor.map(|_| Opener::Editor));
    match opener {
        Some(opener) => open::open(vault, opener, &path, line),
        None => Ok(crate::say(&format!("{}:{line}\n", vault.shown(&path)), 0)),
    }
}

/// Runs fzf; the outer `None` means that it is not installed.
fn with_fzf(args: &Args, screen: &Screen) -> Result<Option<Option<(String, u32)>>> {
    let own = std::env::current_exe()
        .map_err(|error| Error::with(ErrorKind::Io, "find the path of this program", error))?;
    let own = shell_quote(&own.into_os_string());
    let given = given(args);
    // fzf quotes what it puts in for {q} and {1} itself; an empty query lists
    // nothing, which is no error to show.
    let search = format!("{own} {given} --rows --limit 50 -- {{q}} 2>/dev/null || true");
    let color = if screen.has_color { "always" } else { "never" };
    let preview = format!("{own} {given} --color {color} --show {{1}} -- {{q}}");
    let child = Command::new("fzf")
        .args(["--disabled", "--ansi", "--no-sort", "--delimiter", "\t", "--with-nth", "2.."])
        .args(["--prompt", "notes> ", "--preview-window", "right,60%,wrap"])
        .arg("--query")
        .arg(&args.words)
        .args(["--bind", &format!("start:reload({search})")])
        .args(["--bind", &format!("change:reload({search})")])
        .args(["--preview", &preview])
        // fzf runs its commands through this shell; a fish or a csh would read
        // the quotes otherwise.
        .env("SHELL", "/bin/sh")
        .env("FZF_DEFAULT_COMMAND", search.replace("{q}", &shell_quote(&args.words.clone().into())))
        .stdout(Stdio::piped())
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::with(ErrorKind::Io, "start fzf", error)),
    };
    let output = child.wait_with_output();
    let output = output.map_err(|error| Error::with(ErrorKind::Io, "read from fzf", error))?;
    let row = String::from_utf8_lossy(&output.stdout).into_owned();
    let place = row.split('\t').next().unwrap_or("").trim_end();
    Ok(Some(
        place.rsplit_once(':').and_then(|(path, line)| Some((path.to_owned(), line.parse().ok()?))),
    ))
}

/// The options that the searches inside fzf have to repeat, as shell words.
fn given(args: &Args) -> String {
    let mut words: Vec<OsString> = Vec::new();
    let overrides = &args.overrides;
    let files = [
        ("--vault", &overrides.vault),
        ("--db", &overrides.db),
        ("--model", &overrides.model),
        ("--config", &overrides.config),
    ];
    for (flag, value) in files {
        if let Some(value) = value {
            words.extend([flag.into(), value.clone().into_os_string()]);
        }
    }
    let filter = &args.query.filter;
    let conditions = [
        ("--type", &filter.kind),
        ("--domain", &filter.domain),
        ("--status", &filter.status),
        ("--folder", &filter.folder),
        ("--since", &filter.since),
        ("--before", &filter.before),
    ];
    for (flag, value) in conditions {
        if let Some(value) = value {
            words.extend([flag.into(), OsString::from(value)]);
        }
    }
    for tag in &filter.tags {
        words.extend(["--tag".into(), OsString::from(tag)]);
    }
    for word in &args.query.excluded {
        words.extend(["--not".into(), OsString::from(word)]);
    }
    if let Some(alpha) = args.alpha {
        words.extend(["--alpha".into(), OsString::from(alpha.to_string())]);
    }
    words.iter().map(shell_quote).collect::<Vec<_>>().join(" ")
}

fn shell_quote(word: &OsString) -> String {
    let text = String::from_utf8_lossy(word.as_bytes());
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Lists passages and reads: a number opens, words search again, nothing ends.
///
/// The list is for the person: it goes where the prompt goes when a program reads
/// the output.
fn by_number(vault: &Vault, args: &Args, screen: &Screen) -> Result<ExitCode> {
    let mut args = args.clone();
    let mut hits: Vec<Hit> = Vec::new();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        if !args.query.text.is_empty() || !args.query.filter.is_empty() {
            let answer = crate::answer(vault, &args)?;
            let list = listing::listing(&answer, vault, &args, screen);
            let _ = match screen.is_attended && !screen.is_terminal {
                true => std::io::stderr().write_all(list.as_bytes()),
                false => std::io::stdout().write_all(list.as_bytes()),
            };
            hits = answer.hits;
        }
        let prompt = match hits.len() {
            0 => "words to search for, nothing to end: ".to_owned(),
            n => format!("1-{n} to open, other words to search for, nothing to end: "),
        };
        let _ = std::io::stderr().write_all(prompt.as_bytes());
        let typed = match lines.next() {
            Some(Ok(line)) => line.trim().to_owned(),
            _ => String::new(),
        };
        if typed.is_empty() {
            return Ok(ExitCode::from(if hits.is_empty() { crate::NOTHING } else { 0 }));
        }
        let picked = typed.parse::<usize>().ok().and_then(|n| hits.get(n.checked_sub(1)?));
        if let Some(hit) = picked {
            let line = snippet::best_line(vault, hit, &args.query.text, Default::default());
            return go(vault, &args, screen, Some((hit.note.path.clone(), line)));
        }
        // The conditions that were given as options stay.
        let filter = std::mem::take(&mut args.query.filter);
        args.query = parse(&typed);
        if args.query.filter.is_empty() {
            args.query.filter = filter;
        }
        args.words = typed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_quote(&"it's $(x)".into()), "'it'\\''s $(x)'");
    }
}
