//! `postil scrub`: text through the credential filter, what would be hidden in
//! it, and how well the filter does on labelled notes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;
use postil_core::redact::{Filter, Finding, Score, Secret};
use serde_json::{Value, json};

const HELP: &str = "\
postil scrub - hide the credentials in a text

Usage: postil scrub [OPTIONS] < TEXT

Writes the text with every credential replaced by [REDACTED:name]; names and
counts go to stderr. Bytes that are not UTF-8 pass as they are.

Options:
  --jsonl       read {\"text\"} lines, write {\"text\",\"found\":[names]} lines
  --report      write what would be hidden, masked: line, name, length
  --score FILE  score the filter on labelled notes, one JSON object a line:
                text, label (1 or 0; others are skipped), cls, id, and secrets
                (strings, or objects with kind and value). Full recall for each
                kind, false alarms for each class, and the notes that failed.
  -h, --help    this text

Exit codes: 0 done, 1 the input could not be read, 2 wrong usage.
";

enum Mode {
    Text,
    Jsonl,
    Report,
    Score(PathBuf),
    Help,
}

/// Runs the command with its arguments.
pub(crate) fn run(args: Vec<OsString>) -> ExitCode {
    let mode = match parse(args) {
        Ok(mode) => mode,
        Err(error) => {
            let _ = writeln!(io::stderr(), "postil scrub: {error}; try `postil scrub --help`");
            return ExitCode::from(2);
        }
    };
    let filter = Filter::builtin();
    let done = match mode {
        Mode::Help => io::stdout().write_all(HELP.as_bytes()),
        Mode::Text => scrub(&filter),
        Mode::Jsonl => scrub_lines(&filter),
        Mode::Report => report(&filter),
        Mode::Score(path) => score(&filter, &path),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "postil scrub: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(args: Vec<OsString>) -> Result<Mode, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut mode = Mode::Text;
    while let Some(arg) = parser.next()? {
        mode = match arg {
            Long("jsonl") => Mode::Jsonl,
            Long("report") => Mode::Report,
            Long("score") => Mode::Score(parser.value()?.into()),
            Short('h') | Long("help") => return Ok(Mode::Help),
            _ => return Err(arg.unexpected()),
        };
    }
    Ok(mode)
}

fn scrub(filter: &Filter) -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let (output, found) = filter.scrub_bytes(&input);
    io::stdout().lock().write_all(&output)?;
    say_found(&found)
}

fn say_found(found: &[Finding]) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    for Finding { name, count } in found {
        writeln!(stderr, "{count:6} {name}")?;
    }
    Ok(())
}

fn scrub_lines(filter: &Filter) -> io::Result<()> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    for (idx, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let text = parse_line(&line, idx)?;
        let Some(text) = text["text"].as_str() else {
            return Err(invalid(idx, "no \"text\""));
        };
        let scrubbed = filter.scrub(text);
        let names: Vec<&str> = scrubbed.found.iter().map(|found| found.name.as_str()).collect();
        serde_json::to_writer(
            &mut stdout,
            &json!({"text": scrubbed.text.as_str(), "found": names}),
        )?;
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

fn parse_line(line: &str, idx: usize) -> io::Result<Value> {
    serde_json::from_str(line).map_err(|error| invalid(idx, &error.to_string()))
}

fn invalid(idx: usize, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {why}", idx + 1))
}

fn report(filter: &Filter) -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let text = String::from_utf8_lossy(&input);
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let spans = filter.preview(&text);
    for (name, range) in &spans {
        let line = text.get(..range.start).unwrap_or_default().matches('\n').count() + 1;
        let value = text.get(range.clone()).unwrap_or_default();
        writeln!(stdout, "line {line}: {name}, {} characters", value.chars().count())?;
    }
    let plural = if spans.len() == 1 { "value" } else { "values" };
    writeln!(stdout, "{} {plural} would be hidden", spans.len())?;
    stdout.flush()
}

fn score(filter: &Filter, path: &PathBuf) -> io::Result<()> {
    let file = fs::File::open(path).map_err(|error| {
        io::Error::new(error.kind(), format!("open {}: {error}", path.display()))
    })?;
    let mut score = Score::default();
    for (idx, line) in io::BufReader::new(file).lines().enumerate() {
        let note = parse_line(&line?, idx)?;
        let text = note["text"].as_str().unwrap_or_default();
        let class = note["cls"].as_str().unwrap_or("-");
        let id = note["id"].as_str().map_or_else(|| format!("line {}", idx + 1), str::to_owned);
        match note["label"].as_i64() {
            Some(1) => score.add_positive(filter, &id, text, &secrets(&note["secrets"], class)),
            Some(0) => score.add_negative(filter, &id, text, class),
            _ => {}
        }
    }
    print_score(&score)
}

fn secrets(list: &Value, class: &str) -> Vec<Secret> {
    let secret = |item: &Value| {
        let value = item.as_str().or_else(|| item["value"].as_str())?;
        let kind = item["kind"].as_str().unwrap_or(class);
        Some(Secret { kind: kind.to_owned(), value: value.to_owned() })
    };
    list.as_array().into_iter().flatten().filter_map(secret).collect()
}

fn print_score(score: &Score) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "full recall by kind (hidden to the last character / in part / all)")?;
    let mut lowest = 1.0_f64;
    for (kind, r) in &score.kinds {
        let share = r.full as f64 / r.total as f64;
        lowest = lowest.min(share);
        writeln!(out, "  {share:.3} {kind} ({} / {} / {})", r.full, r.partial, r.total)?;
    }
    writeln!(out, "false alarms by class (notes hit / all)")?;
    for (class, (total, hits)) in &score.classes {
        writeln!(out, "  {:.4} {class} ({hits} / {total})", *hits as f64 / *total as f64)?;
    }
    for (id, what) in &score.misses {
        writeln!(out, "failed: {id} {what}")?;
    }
    writeln!(
        out,
        "macro recall {:.4}, lowest kind {lowest:.3}, false alarms {:.2} %, \
         prose swallowed {}, unstable {}",
        score.macro_recall(),
        score.false_rate() * 100.0,
        score.n_swallowed,
        score.n_unstable
    )?;
    out.flush()
}
