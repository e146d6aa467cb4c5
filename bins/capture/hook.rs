//! `capture --hook`: answers `/capture TEXT` without a request to the model.
//! The text comes as JSON and goes through no shell.

use std::path::Path;
use std::process::ExitCode;

use postil_core::capture::indexing::index_now;
use postil_core::capture::{self, Draft, Place, Stored};
use postil_core::config::{Config, Overrides};
use postil_core::error::Result;
use postil_core::hook::{self, Answer, Event, EventKind, Hook, Raw, Reply};

use crate::{insight, project, store};

/// The agents' own cap is 10,000 UTF-16 units; a reason is for a person.
const MAX_SHOWN_BYTES: usize = 4_000;

pub(crate) fn run(overrides: &Overrides) -> ExitCode {
    let hook =
        Hook { name: "capture", deadline: |config| config.capture.deadline, is_enabled: |_| true };
    hook::run(&hook, overrides, answer)
}

fn answer(event: &Event<'_>, config: &Config) -> Result<Answer> {
    if matches!(event.kind, EventKind::PostToolUse | EventKind::Stop) {
        return insight::keep(event, config).map(Answer::Silence);
    }
    let Some(typed) = typed(event) else { return Ok(Answer::Silence("not-ours")) };
    let cwd = event.cwd.as_deref();
    Ok(match keep(&typed, &event.session_id, cwd, config) {
        Ok(stored) => {
            let reply = Reply::ended(event, &told(&stored));
            let (config, path) = (config.clone(), stored.path);
            // Once the person has the answer; the agent waits for the end of the
            // process, so the next prompt finds the note. What fails here, the
            // next run of `index` makes good.
            let reply = reply.on_sent(move || {
                let _ = index_now(&config, Some(&path));
            });
            Answer::Reply(reply.count("captured", usize::from(stored.is_new)))
        }
        // The prompt is gone from the screen once it is answered, so the answer
        // holds the text.
        Err(error) => {
            let filter = config.filter()?;
            let text = filter.scrub(&typed).text;
            let shown = postil_core::text::prefix(&text, MAX_SHOWN_BYTES);
            let cut = if shown.len() < text.len() { "\u{2026}" } else { "" };
            let text = match shown.trim() {
                "" => String::new(),
                _ => format!("\n\nYour text was:\n{shown}{cut}"),
            };
            let reason = format!("not captured: {error}{text}");
            Answer::Reply(Reply::ended(event, &reason).count("failed", 1))
        }
    })
}

/// What was typed after `/capture`, where this event is that.
fn typed(event: &Event<'_>) -> Option<String> {
    match event.kind {
        EventKind::UserPromptExpansion => {
            let name = event.command_name.as_deref()?;
            let name = name.rsplit(':').next()?;
            let args = event.command_args.and_then(Raw::text).unwrap_or_default();
            (name == "capture").then(|| args.into_owned())
        }
        // Agents without that event send the prompt as it was typed.
        EventKind::UserPromptSubmit => {
            let prompt = event.prompt?.text()?;
            let rest = prompt.trim_start().strip_prefix("/capture")?;
            (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.to_owned())
        }
        _ => None,
    }
}

fn keep(typed: &str, session: &str, cwd: Option<&Path>, config: &Config) -> Result<Stored> {
    let (options, text) = capture::args::parse(typed)?;
    let draft = Draft {
        text: text.to_owned(),
        title: options.title,
        kind: options.kind,
        domain: options.domain,
        tags: options.tags,
        source: options.source,
        session: Some(session.to_owned()),
        project: project(config, cwd),
        ..Draft::default()
    };
    store(&draft, &Place::of(config)?, config)
}

/// What the person reads.
fn told(stored: &Stored) -> String {
    let verb = if stored.is_new { "captured" } else { "already captured" };
    let mut lines = vec![format!("{verb}: {} \u{2192} {}", stored.title, stored.relative)];
    if !stored.related.is_empty() {
        let links: Vec<String> = stored.related.iter().map(|note| format!("[[{note}]]")).collect();
        lines.push(format!("related: {}", links.join(", ")));
    }
    for finding in &stored.redacted {
        lines.push(format!("redacted {} x {}", finding.count, finding.name));
    }
    lines.extend(stored.warnings.iter().cloned());
    lines.join("\n")
}
