//! `postil scrub`: text through the credential filter, what would be hidden in
//! it, and how well the filter does on labelled notes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use lexopt::prelude::*;
use postil_core::config::{Config, Overrides};
use postil_core::redact::{Filter, Finding, Score, Secret};
use serde_json::{Value, json};

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
        Err(error) => return fail(&format!("{error}; try `postil scrub --help`"), 2),
    };
    if matches!(mode, Mode::Help) {
        let _ = io::stdout().write_all(postil_cli::help_of("scrub").as_bytes());
        return ExitCode::SUCCESS;
    }
    let filter = Config::load(&Overrides::default()).and_then(|config| config.filter());
    let filter = match filter {
        Ok(filter) => filter,
        Err(error) => return fail(&error.to_string(), 2),
    };
    let done = match mode {
        Mode::Jsonl => scrub_lines(&filter),
        Mode::Report => report(&filter),
        Mode::Score(path) => score(&filter, &path),
        Mode::Text | Mode::Help => scrub(&filter),
    };
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&error.to_string(), 1),
        _ => ExitCode::SUCCESS,
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    let _ = writeln!(io::stderr(), "postil scrub: {message}");
    ExitCode::from(code)
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
    let mut stderr = io::stderr().lock();
    for Finding { name, count } in found {
        writeln!(stderr, "{count:6} {name}")?;
    }
    Ok(())
}

fn scrub_lines(filter: &Filter) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    for (idx, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let note = parse_line(&line, idx)?;
        let text = note["text"].as_str().ok_or_else(|| invalid(idx, "no \"text\""))?;
        let scrubbed = filter.scrub(text);
        let names: Vec<&str> = scrubbed.found.iter().map(|found| found.name.as_str()).collect();
        let out = json!({"text": scrubbed.text.as_str(), "found": names});
        serde_json::to_writer(&mut stdout, &out)?;
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

const MASK: &str = "••••••••";

/// Writes the lines that hold a credential, with masks in place of the values.
fn report(filter: &Filter) -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let text = String::from_utf8_lossy(&input);
    let mut stdout = BufWriter::new(io::stdout().lock());
    let spans = filter.preview(&text);
    let mut line = 1;
    let mut from = 0;
    for (name, range) in &spans {
        line += text.get(from..range.start).unwrap_or_default().matches('\n').count();
        from = range.start;
        let n_chars = text.get(range.clone()).unwrap_or_default().chars().count();
        let shown = masked_line(&text, &spans, range.start);
        // Whatever the masks bring to light goes through the filter again.
        writeln!(stdout, "{line}: {}", filter.scrub(&shown).text)?;
        writeln!(stdout, "    {name}, {n_chars} characters")?;
    }
    let noun = if spans.len() == 1 { "value" } else { "values" };
    writeln!(stdout, "{} {noun} would be hidden", spans.len())?;
    stdout.flush()
}

/// The line around `at`, at most 60 bytes to either side, values masked.
fn masked_line(text: &str, spans: &[(String, Range<usize>)], at: usize) -> String {
    let first = spans.partition_point(|(_, span)| span.end + 60 < at);
    let mut from = text.floor_char_boundary(at.saturating_sub(60));
    from += text.get(from..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
    let mut shown = String::new();
    for (_, span) in spans.iter().skip(first).take_while(|(_, span)| span.start <= at) {
        shown += text.get(from..span.start).unwrap_or_default();
        shown += MASK;
        from = span.end.max(from);
    }
    let next = spans.iter().map(|(_, span)| span.start).find(|start| *start > at);
    let limit = next.unwrap_or(text.len()).min(text.floor_char_boundary(from + 60)).max(from);
    let tail = text.get(from..limit).unwrap_or_default();
    shown + tail.lines().next().unwrap_or_default()
}

fn score(filter: &Filter, path: &Path) -> io::Result<()> {
    let file = fs::File::open(path).map_err(|error| {
        io::Error::new(error.kind(), format!("open {}: {error}", path.display()))
    })?;
    let mut score = Score::default();
    let mut all = String::new();
    for (idx, line) in BufReader::new(file).lines().enumerate() {
        let note = parse_line(&line?, idx)?;
        let text = note["text"].as_str().unwrap_or_default();
        all.push_str(text);
        all.push('\n');
        let class = note["cls"].as_str().unwrap_or("-");
        let id = note["id"].as_str().map_or_else(|| format!("line {}", idx + 1), str::to_owned);
        match note["label"].as_i64() {
            Some(1) => score.add_positive(filter, &id, text, &secrets(&note["secrets"], class)),
            Some(0) => score.add_negative(filter, &id, text, class),
            _ => {}
        }
    }
    print_score(&score)?;
    print_speed(filter, &all)
}

/// Prints the best of five passes over `text` in pieces of 2 KB.
fn print_speed(filter: &Filter, text: &str) -> io::Result<()> {
    let pass = || {
        let mut from = 0;
        while from < text.len() {
            let end = text.ceil_char_boundary(from + 2_048);
            std::hint::black_box(filter.scrub(text.get(from..end).unwrap_or_default()));
            from = end;
        }
    };
    let mut best = f64::INFINITY;
    let mut unit = "second";
    for _ in 0..5 {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        pass();
        let seconds = match (cpu, cpu_seconds()) {
            (Some(from), Some(to)) => {
                unit = "CPU-second";
                to - from
            }
            _ => start.elapsed().as_secs_f64(),
        };
        best = best.min(seconds);
    }
    let speed = text.len() as f64 / 1e6 / best;
    writeln!(io::stdout(), "{speed:.0} MB a {unit} in pieces of 2 KB")
}

/// What this process has used of a processor, where the system says it (Linux).
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = stat.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
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
    let mut out = BufWriter::new(io::stdout().lock());
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
