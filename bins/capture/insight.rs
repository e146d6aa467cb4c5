//! Insight capture, opt-in: substantial results of the agent's tools become
//! signals. Says nothing to the agent.

use std::path::Path;

use postil_core::capture::indexing::index_now;
use postil_core::capture::insight::{Memory, Work, hash, insight};
use postil_core::capture::{Draft, Place};
use postil_core::config::Config;
use postil_core::error::Result;
use postil_core::hook::session::now;
use postil_core::hook::{Event, EventKind, Raw};
use serde_json::{Value, json};

use crate::{project, store};

/// Longest result that is looked at, in bytes of the event.
const MAX_RESULT_BYTES: usize = 4 << 20;

/// Keeps what an event brings, if it is worth it; returns the word for the log.
pub(crate) fn keep(event: &Event<'_>, config: &Config) -> Result<&'static str> {
    let insights = &config.capture.insights;
    if !insights.enabled {
        return Ok("insights-off");
    }
    let is_in_vault = |cwd: &Path| config.vault.as_deref().is_some_and(|v| cwd.starts_with(v));
    if event.cwd.as_deref().is_some_and(is_in_vault) {
        return Ok("in-vault");
    }
    let Some((tool, input, response)) = work(event) else { return Ok("nothing") };
    let work = Work { tool: &tool, input: &input, response: &response };
    let draft = match insight(&work, insights, config.vault()?, &config.filter()?) {
        Ok(draft) => draft,
        Err(reason) => return Ok(reason),
    };
    let path = config.paths.state.join("insights.jsonl");
    let hash = hash(&draft.text);
    let memory = Memory::read(&path, now());
    if let Some(reason) = memory.objection(hash, &event.session_id, insights) {
        return Ok(reason);
    }
    let draft = Draft {
        session: Some(event.session_id.to_string()),
        project: project(config, event.cwd.as_deref()),
        ..draft
    };
    let stored = store(&draft, &Place::of(config)?, config)?;
    memory.add(&path, hash, &event.session_id)?;
    if !stored.is_new {
        return Ok("known");
    }
    let _ = index_now(config, Some(&stored.path));
    Ok("insight-kept")
}

/// The tool, its input and its answer.
fn work(event: &Event<'_>) -> Option<(String, Value, Value)> {
    if event.kind == EventKind::Stop {
        let message = event.last_message?.text_within(MAX_RESULT_BYTES)?;
        return Some(("Stop".to_owned(), json!({}), Value::from(message.as_ref())));
    }
    let input = event.tool_input.filter(is_small)?.to_value()?;
    let response = event.tool_response.filter(is_small)?.to_value()?;
    Some((event.tool_name.as_ref()?.to_string(), input, response))
}

fn is_small(raw: &Raw<'_>) -> bool {
    raw.as_bytes().len() <= MAX_RESULT_BYTES
}
