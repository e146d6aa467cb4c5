//! `--rerank` and `--hyde`: a local language model, asked over the loopback
//! interface. Off unless asked for; on any failure the order before it stands,
//! and never are there fewer passages than without it.
//!
//! The model orders one-line headlines, not texts: that is quicker, and ranked
//! best where it was measured.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::time::Duration;

use postil_core::error::Result;
use postil_core::recall::budget::first_sentence;
use postil_core::recall::{Answer, Hit, Options, Query, recall};
use serde_json::{Value, json};

use crate::args::{Args, Llm};
use crate::listing::name;
use crate::vault::Vault;

/// Where Ollama listens.
const DEFAULT_URL: &str = "http://127.0.0.1:11434";

/// A person waits this long for a small model on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Largest answer that is read.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Longest sentence of a headline, in bytes.
const MAX_HEADLINE_BYTES: usize = 160;

/// Searches with the query and with a drafted answer to it, and merges both:
/// every passage that the query alone finds keeps its place unless one of the
/// draft's is above it in both.
pub(crate) fn with_draft(vault: &Vault, args: &Args, options: &Options) -> Result<Answer> {
    let reader = &vault.reader;
    let mut answer = recall(reader, vault.embedder.as_ref(), &args.query, options)?;
    let prompt = format!(
        "Write the passage of a person's notes that answers this. Two or three plain sentences, \
         no preamble.\n\n{}",
        args.query.text
    );
    let draft = match ask(&args.llm, &prompt) {
        Ok(draft) if !draft.trim().is_empty() => draft,
        Ok(_) => return Ok(answer),
        Err(error) => {
            crate::note(&format!("--hyde: {error}; searched without it"));
            return Ok(answer);
        }
    };
    let query = Query { text: format!("{}\n{draft}", args.query.text), ..args.query.clone() };
    let drafted = recall(reader, vault.embedder.as_ref(), &query, options)?;
    answer.hits = merge(answer.hits, drafted.hits, options.limit);
    Ok(answer)
}

/// Reciprocal rank fusion of two lists, k = 60 (Cormack et al. 2009).
fn merge(first: Vec<Hit>, second: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let mut merged: Vec<(f32, Hit)> = Vec::new();
    for hits in [first, second] {
        for (idx, hit) in hits.into_iter().enumerate() {
            let share = 1.0 / (61.0 + idx as f32);
            match merged.iter_mut().find(|(_, other)| other.chunk.id == hit.chunk.id) {
                Some((score, _)) => *score += share,
                None => merged.push((share, hit)),
            }
        }
    }
    merged.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.chunk.id.cmp(&b.1.chunk.id)));
    merged.into_iter().take(limit).map(|(_, hit)| hit).collect()
}

/// Puts `hits` into the order that the model gives their headlines.
pub(crate) fn rerank(args: &Args, hits: &mut Vec<Hit>) {
    if hits.len() < 2 {
        return;
    }
    let mut prompt = format!(
        "Question: {}\n\nHeadlines of notes:\n",
        args.query.text.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    for (idx, hit) in hits.iter().enumerate() {
        let sentence = first_sentence(&hit.chunk.text, MAX_HEADLINE_BYTES);
        prompt.push_str(&format!("{}. {} — {sentence}\n", idx + 1, name(hit)));
    }
    prompt.push_str(
        "\nOrder them by how well each answers the question, best first. Reply with the numbers \
         only, separated by commas.",
    );
    match ask(&args.llm, &prompt) {
        Ok(reply) => {
            let order = order(&reply, hits.len());
            if order.is_empty() {
                crate::note("--rerank: the reply holds no order; the order before it stands");
                return;
            }
            let mut old: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
            hits.extend(order.iter().filter_map(|&idx| old[idx].take()));
            hits.extend(old.into_iter().flatten());
        }
        Err(error) => crate::note(&format!("--rerank: {error}; the order before it stands")),
    }
}

/// Reads the numbers of a reply, each once, from 0; what is no number of a
/// headline is passed over.
fn order(reply: &str, n: usize) -> Vec<usize> {
    // Models that think aloud close that part with a tag.
    let reply = reply.rsplit("</think>").next().unwrap_or(reply);
    let mut order = Vec::new();
    for number in reply.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok())
    {
        if (1..=n).contains(&number) && !order.contains(&(number - 1)) {
            order.push(number - 1);
        }
    }
    order
}

/// Asks the model; the error says what failed.
fn ask(llm: &Llm, prompt: &str) -> std::result::Result<String, String> {
    let base = llm.url.as_deref().unwrap_or(DEFAULT_URL).trim_end_matches('/');
    check_local(base)?;
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .proxy(None)
        .build()
        .into();
    let model = match &llm.model {
        Some(model) => model.clone(),
        None => first_model(&agent, base)?,
    };
    let body = json!({
        "model": model,
        "prompt": prompt,
        "stream": false,
        "think": false,
        "options": {"temperature": 0, "seed": 0},
    });
    let url = format!("{base}/api/generate");
    let sent = agent.post(&url).content_type("application/json").send(body.to_string());
    let reply = read(sent, &url)?;
    let text = reply.get("response").and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("{url}: no `response` in the reply"))
}

fn first_model(agent: &ureq::Agent, base: &str) -> std::result::Result<String, String> {
    let url = format!("{base}/api/tags");
    let reply = read(agent.get(&url).call(), &url)?;
    let name = reply["models"][0]["name"].as_str();
    name.map(str::to_owned).ok_or_else(|| format!("{url}: the server has no model; pull one"))
}

fn read(
    sent: std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    url: &str,
) -> std::result::Result<Value, String> {
    let mut response = sent.map_err(|error| format!("{url}: {error}"))?;
    let text = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string();
    let text = text.map_err(|error| format!("{url}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{url}: {error}"))
}

/// Refuses servers elsewhere: notes do not leave the machine.
fn check_local(base: &str) -> std::result::Result<(), String> {
    let host = base.strip_prefix("http://").ok_or_else(|| format!("{base}: must be http://"))?;
    let host = host.split('/').next().unwrap_or(host);
    let host = if host.rsplit(']').next().is_some_and(|rest| rest.contains(':')) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let mut found = host.to_socket_addrs().map_err(|error| format!("{base}: {error}"))?;
    let is_local = |ip: IpAddr| ip.is_loopback();
    match found.all(|address| is_local(address.ip())) {
        true => Ok(()),
        false => Err(format!("{base}: not on this machine; notes do not leave it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_out_of_chatter() {
        assert_eq!(order("3, 1,2", 3), [2, 0, 1]);
        assert_eq!(order("<think>1 2</think>Sure: 2. then 2 then 9", 3), [1]);
        assert!(order("none", 3).is_empty());
    }

    #[test]
    fn only_servers_on_this_machine_are_asked() {
        for local in ["http://127.0.0.1:11434", "http://localhost:1/x", "http://[::1]:80"] {
            assert!(check_local(local).is_ok(), "{local}");
        }
        for other in ["http://192.0.2.1:11434", "https://127.0.0.1", "http://127.0.0.1@192.0.2.1"] {
            assert!(check_local(other).is_err(), "{other}");
        }
    }
}
