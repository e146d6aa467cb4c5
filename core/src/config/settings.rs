//! The sections of the configuration file: their keys, units and defaults.

use std::time::Duration;

use super::section::Section;
use crate::error::Result;

/// `[inject]`: what `context-inject` adds to a turn, and how much.
#[derive(Clone, Debug)]
pub struct Inject {
    /// False switches every injection off.
    pub enabled: bool,
    /// Add passages to prompts (`UserPromptSubmit`).
    pub prompts: bool,
    /// Tools whose calls may bring passages (`PreToolUse`).
    pub tools: Vec<String>,
    /// Start sessions with the configured blocks (`SessionStart`).
    pub sessions: bool,
    /// Give subagents the passages of their task (`SubagentStart`).
    pub subagents: bool,
    /// Most tokens one prompt may bring.
    pub prompt_tokens: usize,
    /// Most tokens one tool call may bring.
    pub tool_tokens: usize,
    /// Most tokens all passages of a session may take together, counted anew
    /// after a compaction.
    pub session_tokens: usize,
    /// Folders of the vault that people may search and agents never see.
    pub excluded: Vec<String>,
    /// After this time the hook gives up and says nothing.
    ///
    /// A cold call takes milliseconds; this is for a machine that swaps, and
    /// short enough that nobody takes the agent for hung.
    pub deadline: Duration,
}

impl Inject {
    pub(super) fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let tools = ["Bash", "Edit", "NotebookEdit", "Write"].map(str::to_owned).to_vec();
        let inject = Self {
            enabled: s.flag("enabled")?.unwrap_or(true),
            prompts: s.flag("prompts")?.unwrap_or(true),
            tools: s.texts("tools")?.unwrap_or(tools),
            sessions: s.flag("sessions")?.unwrap_or(true),
            subagents: s.flag("subagents")?.unwrap_or(true),
            prompt_tokens: s.count("prompt_tokens")?.unwrap_or(1_500),
            tool_tokens: s.count("tool_tokens")?.unwrap_or(500),
            session_tokens: s.count("session_tokens")?.unwrap_or(8_000),
            excluded: s.folders("excluded")?.unwrap_or_default(),
            deadline: milliseconds(&mut s, "deadline_ms", 1_000)?,
        };
        s.finish(warnings);
        Ok(inject)
    }
}

/// `[compress]`: what `compress-output` does to the output of tools.
#[derive(Clone, Debug)]
pub struct Compress {
    /// False switches compression off.
    pub enabled: bool,
    /// Tools whose output may be shortened; a final `*` stands for any ending.
    pub tools: Vec<String>,
    /// Most tokens a shortened output may have.
    pub max_tokens: usize,
    /// Off by default. Run commands through the wrapper, so that the output of failing ones is
    /// shortened too, where the user's own rules already allow the command.
    pub wrap: bool,
    /// Commands never touched: the first word, or the first words.
    pub skip: Vec<String>,
    /// How long full originals are kept.
    pub keep: Duration,
    /// How many megabytes of originals are kept.
    pub keep_megabytes: usize,
    /// After this time the hook gives up and the output stays as it is.
    pub deadline: Duration,
}

impl Compress {
    pub(super) fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let tools =
            ["Agent", "Bash", "Glob", "Grep", "WebFetch", "mcp__*"].map(str::to_owned).to_vec();
        let compress = Self {
            enabled: s.flag("enabled")?.unwrap_or(true),
            tools: s.texts("tools")?.unwrap_or(tools),
            max_tokens: s.count("max_tokens")?.unwrap_or(4_000),
            wrap: s.flag("wrap")?.unwrap_or(false),
            skip: s.texts("skip")?.unwrap_or_default(),
            keep: s.duration("keep")?.unwrap_or(Duration::from_secs(7 * 86_400)),
            keep_megabytes: s.count("keep_megabytes")?.unwrap_or(200),
            deadline: milliseconds(&mut s, "deadline_ms", 2_000)?,
        };
        s.finish(warnings);
        Ok(compress)
    }
}

/// `[redact]`: the user's part of the credential filter.
#[derive(Clone, Debug, Default)]
pub struct Redact {
    /// Patterns besides the built-in ones.
    pub patterns: Vec<Pattern>,
    /// Texts that are never taken for a credential.
    pub allow: Vec<String>,
}

/// `[[redact.pattern]]`: a kind of secret of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What `[REDACTED:name]` will say.
    pub name: String,
    /// A regular expression; its first group, if any, is what is replaced.
    pub regex: String,
    /// The pattern is tried only on text that holds one of these, any case.
    pub keywords: Vec<String>,
}

impl Redact {
    pub(super) fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let pattern = |mut s: Section<'_>| -> Result<Pattern> {
            let pattern = Pattern {
                name: s.required_text("name")?,
                regex: s.required_text("regex")?,
                keywords: s.texts("keywords")?.unwrap_or_default(),
            };
            s.finish(warnings);
            Ok(pattern)
        };
        let patterns = s.sections("pattern")?.into_iter().map(pattern).collect::<Result<_>>()?;
        let redact = Self { patterns, allow: s.texts("allow")?.unwrap_or_default() };
        s.finish(warnings);
        Ok(redact)
    }
}

/// `[capture]`: how notes and insights are kept.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The folder of the vault that captures go to.
    pub inbox: String,
    /// Tags every capture gets.
    pub tags: Vec<String>,
    /// After this time the hook gives up.
    pub deadline: Duration,
    /// `[capture.insights]`: what is kept of the agent's work unasked.
    pub insights: Insights,
}

impl Capture {
    pub(super) fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let capture = Self {
            inbox: folder(&mut s, "inbox", "00-inbox")?,
            tags: s.texts("tags")?.unwrap_or_default(),
            deadline: milliseconds(&mut s, "deadline_ms", 5_000)?,
            insights: Insights::read(s.section("insights")?, warnings)?,
        };
        s.finish(warnings);
        Ok(capture)
    }
}

/// `[capture.insights]`: substantial results of the agent's tools, kept as
/// signals for triage.
#[derive(Clone, Debug)]
pub struct Insights {
    /// True switches it on; nothing is kept unasked.
    pub enabled: bool,
    /// Tools whose results are looked at.
    pub tools: Vec<String>,
    /// Shorter results are not kept, in characters.
    pub min_chars: usize,
    /// Longer results are cut to this, in characters.
    pub max_chars: usize,
    /// Results without one of these (regular expressions) are not kept; empty
    /// keeps any.
    pub patterns: Vec<String>,
    /// Results with one of these are never kept.
    pub never: Vec<String>,
    /// Most signals in an hour, all sessions together.
    pub per_hour: usize,
    /// Most signals in a session.
    pub per_session: usize,
}

impl Insights {
    fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let tools = ["WebFetch", "WebSearch", "Agent", "Task"].map(str::to_owned).to_vec();
        let insights = Self {
            enabled: s.flag("enabled")?.unwrap_or(false),
            tools: s.texts("tools")?.unwrap_or(tools),
            min_chars: s.count("min_chars")?.unwrap_or(600),
            max_chars: s.count("max_chars")?.unwrap_or(6_000),
            patterns: s.texts("patterns")?.unwrap_or_default(),
            never: s.texts("never")?.unwrap_or_default(),
            per_hour: s.count("per_hour")?.unwrap_or(6),
            per_session: s.count("per_session")?.unwrap_or(12),
        };
        s.finish(warnings);
        Ok(insights)
    }
}

/// `[triage]`: how the inbox is sorted.
#[derive(Clone, Debug)]
pub struct Triage {
    /// The folder of the vault that holds the domains' folders.
    pub folder: String,
    /// The folder of signals that a person has to decide on.
    pub review: String,
    /// The folder of signals that are not worth keeping at hand.
    pub archive: String,
    /// `[triage.domains]`: the folder of each domain that has another than its
    /// name in `folder`, as (domain, folder).
    pub domains: Vec<(String, String)>,
    /// `[triage.keywords]`: words that speak for a domain, as (domain, words);
    /// a domain that is not built in becomes one.
    pub keywords: Vec<(String, Vec<String>)>,
    /// Hosts whose word counts, besides the built-in ones.
    pub trusted: Vec<String>,
    /// Hosts whose word does not.
    pub distrusted: Vec<String>,
    /// Signals that score at least this, from 0 to 1, go to their domain.
    pub threshold: f64,
    /// Signals that score at least this, from 0 to 1, are put up for review.
    pub review_threshold: f64,
}

impl Triage {
    pub(super) fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let domains = s.pairs("domains")?;
        for (domain, folder) in &domains {
            if !is_folder(folder) {
                let message = format!("{domain:?}: {folder:?} is not a folder inside the vault");
                return Err(s.invalid("domains", &message));
            }
        }
        let triage = Self {
            folder: folder(&mut s, "folder", "05-signals")?,
            review: folder(&mut s, "review", "05-signals/review")?,
            archive: folder(&mut s, "archive", "05-signals/archive")?,
            domains,
            keywords: s.lists("keywords")?,
            trusted: s.texts("trusted")?.unwrap_or_default(),
            distrusted: s.texts("distrusted")?.unwrap_or_default(),
            threshold: share(&mut s, "threshold", 0.55)?,
            review_threshold: share(&mut s, "review_threshold", 0.40)?,
        };
        if triage.review_threshold > triage.threshold {
            return Err(s.invalid("review_threshold", "must not be above `threshold`"));
        }
        s.finish(warnings);
        Ok(triage)
    }
}

/// `[[block]]`: a named piece of context that sessions start with.
#[derive(Clone, Debug)]
pub struct Block {
    /// The heading the agent sees.
    pub name: String,
    /// What is searched for, in the syntax of `search`.
    pub query: String,
    /// Most tokens the block may take.
    pub max_tokens: usize,
    /// How long a rendered block holds while its notes stay as they are.
    pub ttl: Duration,
    /// Names of the projects (folder names) that get it; empty means all.
    pub projects: Vec<String>,
}

impl Block {
    pub(super) fn read(mut s: Section<'_>, warnings: &mut Vec<String>) -> Result<Self> {
        let block = Self {
            name: s.required_text("name")?,
            query: s.required_text("query")?,
            max_tokens: s.count("max_tokens")?.unwrap_or(500),
            ttl: s.duration("ttl")?.unwrap_or(Duration::from_secs(12 * 3_600)),
            projects: s.texts("projects")?.unwrap_or_default(),
        };
        s.finish(warnings);
        Ok(block)
    }
}

fn folder(s: &mut Section<'_>, key: &'static str, default: &str) -> Result<String> {
    match s.folders(key)? {
        None => Ok(default.to_owned()),
        Some(folders) => <[String; 1]>::try_from(folders)
            .map(|[folder]| folder)
            .map_err(|_| s.invalid(key, "must be one folder")),
    }
}

fn is_folder(name: &str) -> bool {
    let mut parts = std::path::Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// A number from 0 to 1.
fn share(s: &mut Section<'_>, key: &'static str, default: f64) -> Result<f64> {
    let share = s.number(key)?.unwrap_or(default);
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(s.invalid(key, "must be between 0 and 1"))
}

fn milliseconds(s: &mut Section<'_>, key: &'static str, default: u64) -> Result<Duration> {
    let count = s.count(key)?.and_then(|count| u64::try_from(count).ok()).unwrap_or(default);
    if count == 0 {
        return Err(s.invalid(key, "must be more than 0"));
    }
    Ok(Duration::from_millis(count))
}
