//! `triage --eval FILE`: how many labelled signals are judged as a person did.
//! FILE is JSON lines with `id`, `title`, `text`, `source`, and as labels
//! `domain` (empty for noise) and `route` (keep, review, archive).

use std::fs;
use std::path::Path;

use postil_core::config::Config;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::triage::eval::{Accuracy, Outcome, accuracy, confusion};
use postil_core::triage::signal::Signal;
use postil_core::triage::{Judge, Route};
use serde_json::{Value, json};

use crate::args::Args;
use crate::nearby::Nearby;
use crate::report::explained;

pub(crate) fn run(file: &Path, config: &Config, args: &Args) -> Result<String> {
    let text = fs::read_to_string(file).map_err(|error| Error::io("read", file, error))?;
    let nearby = Nearby::open(config)?;
    let judge = Judge::of(&config.triage);
    let mut outcomes = Vec::new();
    let mut shown = String::new();
    for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (mut outcome, signal) = labelled(line).ok_or_else(|| {
            let place = format!("{}:{}", file.display(), idx + 1);
            Error::new(ErrorKind::Input, format!("{place}: no object with `title` and `route`"))
        })?;
        let verdict = judge.judge(&signal, nearby.find(&signal)?.as_deref());
        outcome.got_domain.clone_from(&verdict.choice.domain);
        outcome.got_route = verdict.route;
        outcome.composite = verdict.composite;
        let is_right = outcome.route == outcome.got_route
            && (outcome.domain.is_empty() || outcome.domain == outcome.got_domain);
        if args.explain && !is_right {
            shown.push_str(&format!(
                "{}: {} {} -> {} {} {:.2}\n{}",
                outcome.id,
                outcome.route.name(),
                outcome.domain,
                outcome.got_route.name(),
                outcome.got_domain,
                outcome.composite,
                explained(&verdict)
            ));
        }
        outcomes.push(outcome);
    }
    let accuracy = accuracy(&outcomes);
    Ok(if args.json { as_json(&accuracy) } else { shown + &as_text(&accuracy, &outcomes) })
}

fn labelled(line: &str) -> Option<(Outcome, Signal)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let route = match value["route"].as_str()? {
        "keep" => Route::Keep,
        "review" => Route::Review,
        "archive" => Route::Archive,
        _ => return None,
    };
    let outcome = Outcome {
        id: text("id"),
        domain: text("domain"),
        route,
        got_domain: String::new(),
        got_route: route,
        composite: 0.0,
    };
    let source = Some(text("source")).filter(|source| !source.is_empty());
    let signal = Signal { title: text("title"), text: text("text"), source, ..Signal::default() };
    Some((outcome, signal))
}

fn as_text(accuracy: &Accuracy, outcomes: &[Outcome]) -> String {
    let with_domain = outcomes.iter().filter(|outcome| !outcome.domain.is_empty());
    let domains = confusion(with_domain.map(|o| (o.domain.as_str(), o.got_domain.as_str())));
    let routes = confusion(outcomes.iter().map(|o| (o.route.name(), o.got_route.name())));
    format!(
        "{} signals, {} of them with a domain\nroute right   {:.3}\ndomain right  {:.3}\n\
         both right    {:.3}\nnoise kept    {:.3}\n\nrows: label, columns: answer\n{routes}\n{domains}",
        accuracy.n,
        accuracy.n_domain,
        accuracy.route,
        accuracy.domain,
        accuracy.both,
        accuracy.noise_kept
    )
}

fn as_json(accuracy: &Accuracy) -> String {
    let value = json!({
        "signals": accuracy.n,
        "with_domain": accuracy.n_domain,
        "route": accuracy.route,
        "domain": accuracy.domain,
        "both": accuracy.both,
        "noise_kept": accuracy.noise_kept,
    });
    format!("{value}\n")
}
