//! Decides what an agent gets to read at an event, and what it already has.
//!
//! `event -> ask -> recall -> gate -> freshen -> ledger -> render -> reply`.
//! Silence is the normal answer, and the first steps, which open nothing, give
//! it most often.

mod around;
mod ask;
mod blocks;
mod errand;
mod fork;
mod fresh;
mod gate;
mod prompt;
mod salient;
mod shell;
mod transcript;

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use self::ask::Ask;
use self::blocks::Moment;
use self::fresh::{Stamp, freshen};
pub use self::gate::passes as clears_gate;
use crate::config::{Block, Config};
use crate::embed::Embedder;
use crate::error::Result;
use crate::hook::session::{Entry, Ledger, now};
use crate::hook::{Agent, Answer, Event, EventKind, Hook, Reply};
use crate::recall::budget::Limits;
use crate::recall::render::{Passage, render};
use crate::recall::{Hit, Options, Query, parse, recall};
use crate::redact::Filter;
use crate::store::{NoteRow, Opened, Reader};
use crate::text::{fnv1a, fold};

/// The hook `context-inject`.
pub const HOOK: Hook = Hook {
    name: "context-inject",
    deadline: |config| config.inject.deadline,
    is_enabled: |config| config.inject.enabled,
};

/// Passages that are looked at for one event; five are shown at most, and some
/// are known already or gone.
const N_HITS: usize = 12;

/// Most tokens the project's own note takes at the start of a session.
const PROJECT_TOKENS: usize = 500;

/// What is known of a passage that may be shown.
struct Candidate {
    passage: Passage,
    hash: u64,
    stamp: Stamp,
}

/// Answers an event.
pub fn answer(event: &Event<'_>, config: &Config) -> Result<Answer> {
    if event.kind == EventKind::SessionStart {
        return session_start(event, config);
    }
    let ask = match ask::ask(event, config) {
        Ok(ask) => ask,
        Err(reason) => return Ok(Answer::Silence(reason)),
    };
    let Some(index) = Index::open(config)? else { return Ok(Answer::Silence("no-index")) };
    let candidates = index.passages(&ask, event.kind == EventKind::PreToolUse, config)?;
    if candidates.is_empty() {
        return Ok(Answer::Silence("nothing-relevant"));
    }
    let tokens = match event.kind {
        EventKind::PreToolUse => config.inject.tool_tokens,
        _ => config.inject.prompt_tokens,
    };
    let mut ledger = Ledger::open(&config.paths.sessions, event)?;
    let mut said = Said::default();
    said.passages(event, config, &ledger, candidates, tokens);
    if said.text.is_empty() {
        return Ok(Answer::Silence("nothing-new"));
    }
    Ok(said.reply(event, config, move |entries| ledger.record(entries)))
}

/// The blocks of the configuration, the project's own note, and after a
/// compaction what the task at hand had brought.
fn session_start(event: &Event<'_>, config: &Config) -> Result<Answer> {
    let source = event.source.as_deref().unwrap_or("");
    let sessions = &config.paths.sessions;
    // First what the agent has, which later events go by whatever is said now.
    match source {
        "compact" | "clear" => Ledger::open(sessions, event)?.reset()?,
        "fork" => fork::inherit(&mut Ledger::open(sessions, event)?, sessions, event, now()),
        _ => {}
    }
    if !event.accepts_context() || !config.inject.sessions {
        return Ok(Answer::Silence("switched-off"));
    }
    if ask::is_inside_vault(event, config) {
        return Ok(Answer::Silence("inside-vault"));
    }
    let mut ledger = Ledger::open(sessions, event)?;
    let project = project_name(event, config);
    let moment = Moment::of(&config.paths.index, now());
    let mut index = LazyIndex::new(config);
    let mut said = Said::default();
    if let Some(vault) = config.vault.as_deref() {
        for block in blocks::for_project(config, project.as_deref()) {
            said.block(event, &ledger, block_text(block, config, vault, moment, &mut index)?);
        }
    }
    if let Some(project) = &project
        && let Some(index) = index.get()?
    {
        let candidates = index.named(project, config)?;
        said.passages(event, config, &ledger, candidates, PROJECT_TOKENS);
    }
    if source == "compact"
        && let Some(task) = ask::task(event)
        && let Some(index) = index.get()?
    {
        let candidates = index.passages(&Ask { text: task, task: None }, false, config)?;
        said.passages(event, config, &ledger, candidates, config.inject.prompt_tokens);
    }
    if said.text.is_empty() {
        return Ok(Answer::Silence("nothing-relevant"));
    }
    Ok(said.reply(event, config, move |entries| ledger.record(entries)))
}

/// Returns a block from its file, or made anew.
fn block_text(
    block: &Block,
    config: &Config,
    vault: &Path,
    moment: Moment,
    index: &mut LazyIndex<'_>,
) -> Result<blocks::Rendered> {
    if let Some(kept) = blocks::load(config, block, vault, moment) {
        return Ok(kept);
    }
    let Some(index) = index.get()? else { return Ok(blocks::Rendered::default()) };
    let query = parse(&block.query);
    let mut candidates = index.find(&query, config, gate::passes)?;
    if candidates.is_empty() {
        // The user asked for this by name: the nearest there is.
        candidates = index.find(&query, config, |_| true)?;
        candidates.truncate(1);
    }
    // A block is kept until one of its notes changes: nothing else may be in it.
    let alone = |c: &Candidate| Passage {
        around: Default::default(),
        beside: Vec::new(),
        ..c.passage.clone()
    };
    let passages: Vec<Passage> = candidates.iter().map(alone).collect();
    let shown = render(Some(&block.name), &passages, Limits::tokens(block.max_tokens));
    let made = blocks::Rendered {
        passages: shown
            .shown
            .iter()
            .map(|(idx, tokens)| (candidates[*idx].hash, *tokens, passages[*idx].path.clone()))
            .collect(),
        // Headlines come from the others, so all of them keep it valid.
        notes: candidates.iter().map(|c| (c.passage.path.clone(), c.stamp)).collect(),
        text: shown.text,
    };
    if !made.text.is_empty() {
        blocks::save(config, block, vault, &made, moment);
    }
    Ok(made)
}

/// What one reply will say.
#[derive(Default)]
struct Said {
    text: String,
    /// Hash, tokens, path of each passage.
    passages: Vec<(u64, usize, String)>,
}

impl Said {
    fn n_tokens(&self) -> usize {
        self.passages.iter().map(|(_, tokens, _)| tokens).sum()
    }

    /// What the agent's cap leaves.
    fn n_utf16_left(&self, event: &Event<'_>) -> usize {
        max_utf16(event.agent).saturating_sub(crate::text::n_utf16(&self.text) + 1)
    }

    /// Adds what is new of `candidates`, within what is left of the budgets.
    fn passages(
        &mut self,
        event: &Event<'_>,
        config: &Config,
        ledger: &Ledger,
        candidates: Vec<Candidate>,
        tokens: usize,
    ) {
        let is_new = |c: &Candidate| {
            !ledger.has(c.hash) && !self.passages.iter().any(|(hash, ..)| *hash == c.hash)
        };
        let candidates: Vec<Candidate> = candidates.into_iter().filter(is_new).collect();
        let spent = ledger.spent_tokens() + self.n_tokens();
        let limits = Limits {
            tokens: tokens.min(config.inject.session_tokens.saturating_sub(spent)),
            utf16: self.n_utf16_left(event),
            ..Limits::tokens(tokens)
        };
        let mut passages: Vec<Passage> = candidates.iter().map(|c| c.passage.clone()).collect();
        let is_known = |piece: &String| {
            let hash = hash(piece);
            ledger.has(hash) || candidates.iter().any(|c| c.hash == hash)
        };
        for piece in passages.iter_mut().flat_map(|passage| &mut passage.around) {
            *piece = piece.take().filter(|piece| !is_known(piece));
        }
        let shown = render(None, &passages, limits);
        self.add(&shown.text);
        for (idx, tokens) in shown.shown {
            self.passages.push((candidates[idx].hash, tokens, passages[idx].path.clone()));
        }
        for (idx, side) in shown.around {
            if let Some(piece) = &passages[idx].around[side] {
                self.passages.push((hash(piece), 0, passages[idx].path.clone()));
            }
        }
    }

    /// Adds a block, unless the agent has all of it or it does not fit.
    fn block(&mut self, event: &Event<'_>, ledger: &Ledger, block: blocks::Rendered) {
        let is_known = block.passages.iter().all(|(hash, ..)| ledger.has(*hash));
        if !is_known && crate::text::n_utf16(&block.text) <= self.n_utf16_left(event) {
            self.add(&block.text);
            self.passages.extend(block.passages);
        }
    }

    fn add(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// Makes the reply; `record` runs when it is out.
    fn reply(
        self,
        event: &Event<'_>,
        config: &Config,
        record: impl FnOnce(&[Entry]) -> Result<()> + 'static,
    ) -> Answer {
        // Filtered when it was indexed, and again on the way out: an index may
        // be older than a pattern.
        let text = filter(config).scrub(&self.text).text;
        let tokens = self.n_tokens();
        let event_name = event.kind.name();
        let time = now();
        let entries: Vec<Entry> = self
            .passages
            .into_iter()
            .map(|(passage, tokens, path)| Entry {
                time,
                event: event_name.to_owned(),
                passage,
                tokens,
                path,
            })
            .collect();
        let reply = Reply::context(event, text.as_str())
            .count("passages", entries.iter().filter(|entry| entry.tokens > 0).count())
            .count("tokens", tokens);
        // A ledger that cannot be written costs a repetition, not the reply.
        Answer::Reply(reply.on_sent(move || drop(record(&entries))))
    }
}

/// The index with what it takes to ask it.
///
/// Never dropped: the process ends with the reply, and the kernel lets go of
/// files, maps and locks faster than they are closed one by one.
struct Index {
    reader: Box<Reader>,
    embedder: Option<Embedder>,
    vault: PathBuf,
    filter: Filter,
}

impl Index {
    /// Opens the index; `None` where there is none that can be read.
    fn open(config: &Config) -> Result<Option<ManuallyDrop<Self>>> {
        let Opened::Ready(reader) = Reader::open(&config.paths.index)? else { return Ok(None) };
        // Words alone are better than nothing; `doctor` names the reason.
        let embedder = Embedder::open(&config.paths.model, &config.tables()).unwrap_or_default();
        let vault = match &config.vault {
            Some(vault) => vault.clone(),
            None => match reader.meta("vault")? {
                Some(vault) => PathBuf::from(vault),
                None => return Ok(None),
            },
        };
        Ok(Some(ManuallyDrop::new(Self { reader, embedder, vault, filter: filter(config) })))
    }

    /// Returns what clears the gate, best first; `is_tool` where a tool's input
    /// asks.
    fn passages(&self, ask: &Ask, is_tool: bool, config: &Config) -> Result<Vec<Candidate>> {
        let text = match &ask.task {
            Some(task) => format!("{}\n{task}", ask.text),
            None => ask.text.clone(),
        };
        let n_subjects = errand::n_subjects(if is_tool { &ask.text } else { &text });
        self.find(&Query::plain(&text), config, |hit| gate::bears_on(n_subjects, is_tool, hit))
    }

    /// Returns the passages of notes that are named like the project.
    fn named(&self, project: &str, config: &Config) -> Result<Vec<Candidate>> {
        let project = fold(project);
        self.find(&Query::plain(&project), config, |hit| {
            let meta = &hit.note.meta;
            let stem = crate::ingest::document::stem(&hit.note.path);
            let names = meta.aliases.iter().map(String::as_str).chain([meta.title.as_str(), stem]);
            names.map(fold).any(|name| name == project)
        })
    }

    fn find(
        &self,
        query: &Query,
        config: &Config,
        is_wanted: impl Fn(&Hit) -> bool,
    ) -> Result<Vec<Candidate>> {
        let options = Options { limit: N_HITS, for_agents: true, ..Options::default() };
        let answer = recall(&self.reader, self.embedder.as_ref(), query, &options)?;
        let is_shown = |hit: &&Hit| is_wanted(hit) && !is_excluded(&hit.note.path, config);
        let mut candidates = Vec::new();
        for hit in answer.hits.iter().filter(is_shown) {
            let Some((mut passage, stamp)) = freshen(hit, &self.vault, &self.filter) else {
                continue;
            };
            // What stands around it is as it was indexed, too.
            if candidates.len() < around::N_WIDENED && passage.text == hit.chunk.text {
                let is_shown = |note: &NoteRow| {
                    !is_excluded(&note.path, config) && Stamp::is_indexed(note, &self.vault)
                };
                passage.around = around::pieces(&self.reader, hit)?;
                passage.beside = around::beside(&self.reader, hit, &answer.hits, is_shown)?;
            }
            candidates.push(Candidate { hash: hash(&passage.text), passage, stamp });
        }
        Ok(candidates)
    }
}

/// An index that is opened when somebody asks.
struct LazyIndex<'a> {
    config: &'a Config,
    index: Option<Option<ManuallyDrop<Index>>>,
}

impl<'a> LazyIndex<'a> {
    fn new(config: &'a Config) -> Self {
        Self { config, index: None }
    }

    fn get(&mut self) -> Result<Option<&Index>> {
        if self.index.is_none() {
            self.index = Some(Index::open(self.config)?);
        }
        Ok(self.index.as_ref().and_then(Option::as_ref).map(|index| &**index))
    }
}

/// What the ledger knows a passage by.
fn hash(text: &str) -> u64 {
    fnv1a(text.as_bytes())
}

/// A pattern of the user's that is no regular expression must not switch the
/// built-in ones off.
fn filter(config: &Config) -> Filter {
    config.filter().unwrap_or_default()
}

/// Folders that people search and agents never see.
fn is_excluded(path: &str, config: &Config) -> bool {
    let folders = config.inject.excluded.iter().chain(&config.excluded);
    folders
        .into_iter()
        .any(|folder| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')))
}

/// Codex cuts at 2,500 tokens of its own count; 9,000 characters pass.
fn max_utf16(agent: Agent) -> usize {
    match agent {
        Agent::Codex => 8_500,
        _ => Limits::MAX_UTF16,
    }
}

/// Returns the name of the project's folder, where it names anything.
fn project_name(event: &Event<'_>, config: &Config) -> Option<String> {
    let root = config.host.project.as_deref().or(event.cwd.as_deref())?;
    if root == config.host.home {
        return None;
    }
    let name = root.file_name()?.to_str()?;
    let common = ["app", "code", "docs", "home", "main", "project", "repo", "root", "src", "tmp"];
    (name.len() >= 3 && !common.contains(&name)).then(|| name.to_owned())
}
