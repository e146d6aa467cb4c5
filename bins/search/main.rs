//! Finds passages of the vault.

mod args;
mod explain;
mod highlight;
mod json;
mod list;
mod listing;
mod llm;
mod open;
mod pick;
mod screen;
mod snippet;
mod vault;
mod why_not;

use std::io::Write;
use std::process::ExitCode;

use postil_cli::{Command, help};
use postil_core::error::Result;
use postil_core::recall::budget::Limits;
use postil_core::recall::render::{Passage, render};
use postil_core::recall::{Answer, Options, recall};

use crate::args::{Action, Args, Form};
use crate::screen::Screen;
use crate::vault::Vault;

/// Units of a block for pasting: no agent's cap holds there.
const MAX_UTF16: usize = 1 << 24;

/// Passages whose headlines a model orders, however few are shown.
const N_RERANKED: usize = 20;

/// Nothing was found.
const NOTHING: u8 = 1;

fn main() -> ExitCode {
    let today = chrono::Local::now().date_naive();
    let args = match args::parse(std::env::args_os().skip(1), today) {
        Ok(args) => args,
        Err(error) => return fail(&format!("{error}; try `postil search --help`")),
    };
    match run(&args) {
        Ok(code) => code,
        Err(error) => fail(&error.to_string()),
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    match &args.action {
        Action::Help => {
            let text = Command::named("search").map(help).unwrap_or_default();
            return Ok(say(&text, 0));
        }
        Action::Version => return Ok(say(concat!("search ", env!("CARGO_PKG_VERSION"), "\n"), 0)),
        _ => {}
    }
    let vault = Vault::open(args)?;
    let screen = Screen::new(&vault.config.terminal, args);
    match &args.action {
        Action::List(list) => {
            let (text, n) = list::list(&vault, args, *list)?;
            Ok(screen.page(&text, if n == 0 { NOTHING } else { 0 }))
        }
        Action::WhyNot(note) => Ok(screen.page(&why_not::why_not(&vault, args, note)?, 0)),
        Action::Show { path, line } => {
            let text = listing::show(&vault, args, &screen, path, *line)?;
            let code = if text.is_empty() { NOTHING } else { 0 };
            Ok(say(&text, code))
        }
        Action::Pick => pick::pick(&vault, args, &screen),
        _ => find(&vault, args, &screen),
    }
}

fn find(vault: &Vault, args: &Args, screen: &Screen) -> Result<ExitCode> {
    let answer = answer(vault, args)?;
    if let (Some(opener), Some(hit)) = (args.opener, answer.hits.first()) {
        let line = snippet::best_line(vault, hit, &args.query.text, answer.language);
        return open::open(vault, opener, &hit.note.path, line);
    }
    let code = if answer.hits.is_empty() { NOTHING } else { 0 };
    let text = match args.form {
        Form::Json => json::hits(&answer, args.explain),
        Form::Context => context(vault, args, &answer),
        Form::Names => names(&answer),
        Form::Rows => listing::rows(&answer, &args.query.text, vault),
        Form::Listing => {
            vault.say_what_is_odd();
            if answer.hits.is_empty() {
                hint(vault, args)?;
            }
            return Ok(screen.page(&listing::listing(&answer, vault, args, screen), code));
        }
    };
    Ok(say(&text, code))
}

/// Answers the query; every text in the answer has passed the filter again,
/// since an index may be older than a pattern.
fn answer(vault: &Vault, args: &Args) -> Result<Answer> {
    let options = options(args);
    let options = match args.llm.reranks {
        true => Options { limit: args.limit.max(N_RERANKED), ..options },
        false => options,
    };
    let mut answer = match args.llm.drafts {
        true => llm::with_draft(vault, args, &options)?,
        false => recall(&vault.reader, vault.embedder.as_ref(), &args.query, &options)?,
    };
    if is_beside_the_point(vault, args, &answer)? {
        let what =
            if args.form == Form::Context { "nothing that agents may see" } else { "nothing" };
        note(&format!("{what} bears on this; --all shows what is least far from it"));
        answer.hits.clear();
    }
    for hit in &mut answer.hits {
        vault.scrub_hit(hit);
    }
    if args.llm.reranks {
        llm::rerank(args, &mut answer.hits);
        answer.hits.truncate(args.limit);
    }
    Ok(answer)
}

/// Says whether there is an answer and nothing in it bears on the query; a ranking
/// asked for by `--all` or `--alpha` is shown as it is.
fn is_beside_the_point(vault: &Vault, args: &Args, answer: &Answer) -> Result<bool> {
    let is_asked = args.all || args.alpha.is_some() || args.query.text.trim().is_empty();
    Ok(!is_asked && answer.is_beside_the_point(&vault.reader)?)
}

fn options(args: &Args) -> Options {
    Options {
        limit: args.limit,
        for_agents: args.form == Form::Context,
        alpha: args.alpha,
        exact: args.exact,
        ..Options::default()
    }
}

fn context(vault: &Vault, args: &Args, answer: &Answer) -> String {
    let passages: Vec<Passage> = answer.hits.iter().map(Passage::from).collect();
    let tokens = args.max_tokens.unwrap_or(vault.config.inject.prompt_tokens);
    let limits = Limits { passages: args.limit, utf16: MAX_UTF16, ..Limits::tokens(tokens) };
    render(None, &passages, limits).text
}

fn names(answer: &Answer) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for hit in &answer.hits {
        if !seen.contains(&hit.note.path.as_str()) {
            seen.push(&hit.note.path);
        }
    }
    seen.iter().map(|path| format!("{path}\n")).collect()
}

/// Says on a terminal what keeps the passages away when there are none.
fn hint(vault: &Vault, args: &Args) -> Result<()> {
    let query = &args.query;
    let is_bare = query.filter.is_empty() && query.phrases.is_empty() && query.excluded.is_empty();
    if is_bare || !screen::is_err_terminal() {
        return Ok(());
    }
    let bare = postil_core::recall::Query { text: query.text.clone(), ..Default::default() };
    let found = recall(&vault.reader, vault.embedder.as_ref(), &bare, &options(args))?;
    if !found.hits.is_empty() {
        let n = found.hits.len();
        note(&format!("nothing meets the conditions; {n} passages without them"));
    }
    Ok(())
}

/// Prints to standard output; a reader that closed the pipe has seen enough.
fn say(text: &str, code: u8) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            fail(&format!("write the answer: {error}"))
        }
        _ => ExitCode::from(code),
    }
}

fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "search: {message}");
}

fn fail(message: &str) -> ExitCode {
    note(message);
    ExitCode::from(2)
}
