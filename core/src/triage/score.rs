//! The four scores of a signal and what raised and lowered each. Pure: the same
//! signal and the same neighbours give the same figures.
//!
//! The weights below were set on the tuning half of the labelled signals
//! (`tests/fixtures/triage`), never on the other half.

use std::collections::HashSet;

use super::domain::Choice;
use super::signal::{Neighbour, Signal, host};
use super::words::{Phrases, Words, sections};
use crate::analyse;
use crate::model::Language;

const BUILT_IN: &str = include_str!("cues.txt");

/// Share of each score in the composite: relevance, actionability, depth,
/// authority.
pub const SHARES: [f64; 4] = [0.35, 0.25, 0.25, 0.15];

/// One of the four scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// From 0 to 1.
    pub value: f64,
    /// What raised (positive) or lowered it, in the order it was looked at.
    pub reasons: Vec<(String, f64)>,
}

/// All scores of a signal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// How near it is to what the vault is about.
    pub relevance: Score,
    /// Whether there is something to do with it.
    pub actionability: Score,
    /// How much it says, and how exactly.
    pub depth: Score,
    /// How far its source is to be believed.
    pub authority: Score,
}

impl Scores {
    /// The weighted mean, from 0 to 1, to three places.
    pub fn composite(&self) -> f64 {
        let values = self.named().map(|(_, score)| score.value);
        let sum: f64 = values.iter().zip(SHARES).map(|(value, share)| value * share).sum();
        (sum * 1000.0).round() / 1000.0
    }

    /// The four with their names.
    pub fn named(&self) -> [(&'static str, &Score); 4] {
        [
            ("relevance", &self.relevance),
            ("actionability", &self.actionability),
            ("depth", &self.depth),
            ("authority", &self.authority),
        ]
    }
}

/// The tables that the scores go by.
#[derive(Clone, Debug)]
pub struct Scale {
    cues: Phrases,
    hosts: Vec<(String, f64, &'static str)>,
}

/// The kinds of cue, as numbered in the phrase table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cue {
    Action,
    Opinion,
    Reason,
    Promotion,
    Bait,
}

const CUES: [(&str, Cue); 5] = [
    ("action", Cue::Action),
    ("opinion", Cue::Opinion),
    ("reason", Cue::Reason),
    ("promotion", Cue::Promotion),
    ("bait", Cue::Bait),
];

const HOSTS: [(&str, f64, &str); 4] = [
    ("primary", 0.9, "primary source"),
    ("trusted", 0.75, "known source"),
    ("weak", 0.45, "anyone's word"),
    ("poor", 0.1, "made to be clicked"),
];

impl Scale {
    /// Reads the built-in tables; `trusted` and `distrusted` are hosts of the
    /// user's own.
    pub fn new(trusted: &[String], distrusted: &[String]) -> Self {
        let mut cues = Phrases::default();
        let mut hosts = Vec::new();
        hosts.extend(trusted.iter().map(|host| (host.to_lowercase(), 0.9, "trusted by you")));
        hosts.extend(distrusted.iter().map(|host| (host.to_lowercase(), 0.1, "distrusted by you")));
        for (section, items) in sections(BUILT_IN) {
            if let Some((_, cue)) = CUES.iter().find(|(name, _)| *name == section) {
                items.iter().for_each(|phrase| cues.add(phrase, *cue as usize));
            }
            let kind = section.strip_prefix("hosts ");
            let kind = HOSTS.iter().find(|(name, _, _)| Some(*name) == kind);
            if let Some((_, value, why)) = kind {
                hosts.extend(items.iter().map(|host| ((*host).to_owned(), *value, *why)));
            }
        }
        Self { cues, hosts }
    }

    /// Scores `signal`. `neighbours` are the passages that retrieval found for
    /// it, nearest first; `None` where there is no index to ask.
    pub fn score(
        &self,
        signal: &Signal,
        choice: &Choice,
        neighbours: Option<&[Neighbour]>,
    ) -> Scores {
        let facts = Facts::of(signal, &self.cues);
        Scores {
            relevance: relevance(signal, choice, neighbours),
            actionability: actionability(&facts),
            depth: depth(&facts),
            authority: self.authority(signal, &facts),
        }
    }

    fn authority(&self, signal: &Signal, facts: &Facts<'_>) -> Score {
        let mut tally = Tally::default();
        match signal.source.as_deref().and_then(host) {
            Some(host) => {
                let known = self.hosts.iter().find(|(name, _, _)| is_host(&host, name));
                let public = [".edu", ".gov", ".mil"].iter().any(|end| host.ends_with(end))
                    || host.contains(".ac.")
                    || host.contains(".gob.")
                    || host.contains(".edu.");
                match known {
                    Some((_, value, why)) => tally.add(format!("{host}: {why}"), *value),
                    None if public => tally.add(format!("{host}: public body"), 0.85),
                    None => tally.add(format!("{host}: unknown source"), 0.5),
                }
            }
            None if facts.n_words >= 20 => tally.add("own note", 0.5),
            None => tally.add("no source", 0.25),
        }
        if signal.author.is_some() {
            tally.add("names its author", 0.05);
        }
        if facts.has_reference {
            tally.add("cites a paper, standard or advisory", 0.1);
        }
        tally.subtract("promotion", 0.1 * facts.n(Cue::Promotion).min(3.0), facts);
        tally.subtract("bait", 0.1 * facts.n(Cue::Bait).min(3.0), facts);
        tally.score()
    }
}

/// How much of what the signal speaks about, its neighbours speak about too,
/// and how surely it belongs to a domain the user keeps.
fn relevance(signal: &Signal, choice: &Choice, neighbours: Option<&[Neighbour]>) -> Score {
    let mut tally = Tally::default();
    if choice.evidence > 0.0 {
        let why = format!("speaks of {} ({})", choice.domain, choice.because.join(", "));
        tally.add(why, 0.3 * (choice.evidence / 15.0).min(1.0));
    }
    match neighbours {
        // Neither near nor far: the other scores decide.
        None => tally.add("no index to compare with", 0.35),
        Some(neighbours) => nearness(signal, neighbours, &mut tally),
    }
    tally.score()
}

fn nearness(signal: &Signal, neighbours: &[Neighbour], tally: &mut Tally) {
    let wanted = topics(signal);
    let total: f64 = wanted.iter().map(|(_, weight)| weight).sum();
    let weight_of = |terms: &[&(String, f64)]| terms.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut best: (f64, Option<&Neighbour>, Vec<&str>) = (0.0, None, Vec::new());
    let mut covered: HashSet<&str> = HashSet::new();
    for neighbour in neighbours {
        let known = terms(&format!("{}\n{}", neighbour.title, neighbour.text));
        let shared: Vec<&(String, f64)> =
            wanted.iter().filter(|(term, _)| known.contains(term)).collect();
        covered.extend(shared.iter().map(|(term, _)| term.as_str()));
        if weight_of(&shared) > best.0 {
            let shown = shared.iter().map(|(term, _)| term.as_str()).take(5).collect();
            best = (weight_of(&shared), Some(neighbour), shown);
        }
    }
    let (weight, Some(neighbour), shown) = best else {
        tally.add("nothing like it in the vault", 0.0);
        return;
    };
    let all: Vec<&(String, f64)> =
        wanted.iter().filter(|(term, _)| covered.contains(term.as_str())).collect();
    let all = weight_of(&all);
    // Two words in common are chance, however short the signal is.
    let enough = (all / 5.0).min(1.0);
    let why = format!("shares {} with [[{}]]", shown.join(", "), neighbour.title);
    tally.add(why, (weight / total / 0.25).min(1.0) * enough * 0.6);
    let why = format!("{:.0} % of its terms near in the vault", all / total * 100.0);
    tally.add(why, (all / total / 0.5).min(1.0) * enough * 0.3);
}

/// The terms a signal is about, weighted by place: title and tags before text.
fn topics(signal: &Signal) -> Vec<(String, f64)> {
    let mut topics: Vec<(String, f64)> = Vec::new();
    let title = format!("{} {}", signal.title, signal.tags.join(" "));
    for (text, weight) in [(title.as_str(), 2.0), (signal.text.as_str(), 1.0)] {
        for term in content_terms(text) {
            if !topics.iter().any(|(known, _)| *known == term) {
                topics.push((term, weight));
            }
        }
    }
    // The first terms say what it is about; a long text has every word.
    topics.truncate(40);
    topics
}

/// Stems of the content words, in both languages at once, so that a Spanish
/// signal meets what it shares with an English note.
fn content_terms(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let language = guess_language(text);
    for term in analyse::query(text, language) {
        let is_word = term.term.chars().any(char::is_alphabetic) && term.term.chars().count() > 2;
        if is_word && term.kind != analyse::TermKind::Exact && !out.contains(&term.term) {
            out.push(term.term);
        }
    }
    out
}

fn terms(text: &str) -> HashSet<String> {
    let mut out = HashSet::new();
    for language in [Language::ENGLISH, Language::SPANISH] {
        analyse::terms(text, language, &mut |term| {
            out.insert(term.to_owned());
        });
    }
    out
}

/// Spanish when its commonest function words are there, else English.
fn guess_language(text: &str) -> Language {
    const SPANISH: [&str; 14] = [
        "de", "la", "el", "en", "los", "las", "un", "una", "para", "con", "por", "del", "y", "que",
    ];
    let words = Words::of(text);
    let n_spanish = words.iter().filter(|word| SPANISH.contains(word)).count();
    if n_spanish * 8 > words.len() { Language::SPANISH } else { Language::ENGLISH }
}

fn actionability(facts: &Facts<'_>) -> Score {
    let mut tally = Tally::default();
    tally.add("anything can be acted on a little", 0.35);
    tally.cues(facts, Cue::Action, "says what to do", 0.09, 5.0);
    if facts.has_fence {
        tally.add("has a code block", 0.15);
    } else if facts.n_inline_code > 0.0 {
        tally.add("has a command or a name in code", 0.05 + 0.03 * facts.n_inline_code.min(3.0));
    }
    if facts.has_list {
        tally.add("has steps or a list", 0.12);
    }
    if facts.n_numbers >= 2.0 {
        tally.add("gives figures to aim at", 0.08);
    }
    tally.subtract("opinion", 0.03 * facts.n(Cue::Opinion).min(3.0), facts);
    tally.subtract("promotion", 0.2 * facts.n(Cue::Promotion).min(3.0), facts);
    tally.subtract("bait", 0.1 * facts.n(Cue::Bait).min(3.0), facts);
    tally.score()
}

fn depth(facts: &Facts<'_>) -> Score {
    let mut tally = Tally::default();
    tally.add(
        format!("{} words", facts.n_words),
        0.15 + 0.35 * (facts.n_words as f64 / 40.0).min(1.0),
    );
    if facts.n_words > 250 {
        tally.add("a long text", 0.1);
    }
    if facts.n_numbers > 0.0 {
        tally.add(format!("{} figures", facts.n_numbers), 0.05 * facts.n_numbers.min(5.0));
    }
    if facts.n_names > 0.0 {
        tally.add(format!("{} exact names", facts.n_names), 0.04 * facts.n_names.min(5.0));
    }
    tally.cues(facts, Cue::Reason, "says why", 0.06, 4.0);
    if facts.has_fence || facts.has_list || facts.has_heading {
        tally.add("has structure", 0.08);
    }
    tally.subtract("opinion", 0.02 * facts.n(Cue::Opinion).min(3.0), facts);
    tally.subtract("promotion", 0.15 * facts.n(Cue::Promotion).min(3.0), facts);
    tally.subtract("bait", 0.15 * facts.n(Cue::Bait).min(3.0), facts);
    if facts.is_shouting {
        tally.add("shouts", -0.15);
    }
    tally.score()
}

/// What can be counted in a signal.
struct Facts<'a> {
    n_words: usize,
    n_numbers: f64,
    n_names: f64,
    n_inline_code: f64,
    has_fence: bool,
    has_list: bool,
    has_heading: bool,
    has_reference: bool,
    is_shouting: bool,
    cues: Vec<(Cue, &'a str)>,
}

impl<'a> Facts<'a> {
    fn of(signal: &Signal, cues: &'a Phrases) -> Self {
        let all = format!("{} / {}", signal.title, signal.text);
        let words = Words::of(&all);
        let found = cues.find(&words);
        let kind =
            |id: usize| CUES.iter().find(|(_, cue)| *cue as usize == id).map(|(_, cue)| *cue);
        let text = signal.text.as_str();
        let lines = || text.lines().map(str::trim_start);
        let tokens: HashSet<&str> = all
            .split_whitespace()
            .map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|token| !token.is_empty())
            .collect();
        let reference = format!("{all} {}", signal.source.as_deref().unwrap_or("")).to_lowercase();
        let marks = ["cve-", "doi.org/", "arxiv", "rfc", "pmc", "isbn"];
        let digits_after = |mark: &str| {
            reference
                .split(mark)
                .skip(1)
                .any(|rest| rest.chars().take(8).any(|c| c.is_ascii_digit()))
        };
        Self {
            n_words: Words::of(text).len(),
            n_numbers: tokens.iter().filter(|token| is_figure(token)).count() as f64,
            n_names: tokens.iter().filter(|token| is_exact_name(token)).count() as f64,
            n_inline_code: (text.replace("```", "").matches('`').count() / 2) as f64,
            has_fence: lines().any(|line| line.starts_with("```") || line.starts_with("~~~")),
            has_list: lines().filter(|line| is_item(line)).count() >= 2
                || ["1. ", "2. "].iter().all(|mark| text.contains(mark)),
            has_heading: lines().any(|line| line.starts_with('#')),
            has_reference: marks.iter().any(|mark| digits_after(mark)),
            is_shouting: is_shouting(&all),
            cues: found
                .iter()
                .filter_map(|found| kind(found.id).map(|cue| (cue, found.phrase)))
                .collect(),
        }
    }

    fn n(&self, cue: Cue) -> f64 {
        self.cues.iter().filter(|(kind, _)| *kind == cue).count() as f64
    }

    /// Up to four of the phrases of a kind.
    fn shown(&self, cue: Cue) -> String {
        let of_kind = self.cues.iter().filter(|(kind, _)| *kind == cue).take(4);
        of_kind.map(|(_, phrase)| *phrase).collect::<Vec<_>>().join(", ")
    }
}

/// Adds up one score.
#[derive(Default)]
struct Tally(Vec<(String, f64)>);

impl Tally {
    fn add(&mut self, why: impl Into<String>, by: f64) {
        self.0.push((why.into(), (by * 1000.0).round() / 1000.0));
    }

    fn cues(&mut self, facts: &Facts<'_>, cue: Cue, why: &str, each: f64, most: f64) {
        let n = facts.n(cue);
        if n > 0.0 {
            self.add(format!("{why} ({})", facts.shown(cue)), each * n.min(most));
        }
    }

    fn subtract(&mut self, name: &str, by: f64, facts: &Facts<'_>) {
        let cue = CUES.iter().find(|(known, _)| *known == name).map(|(_, cue)| *cue);
        if by > 0.0
            && let Some(cue) = cue
        {
            self.add(format!("{name} ({})", facts.shown(cue)), -by);
        }
    }

    fn score(self) -> Score {
        let sum: f64 = self.0.iter().map(|(_, by)| by).sum();
        Score { value: (sum.clamp(0.0, 1.0) * 1000.0).round() / 1000.0 + 0.0, reasons: self.0 }
    }
}

/// A number with a unit, a fraction, a version or a per cent sign; also a plain
/// one of two digits or more.
fn is_figure(token: &str) -> bool {
    let n_digits = token.chars().filter(char::is_ascii_digit).count();
    n_digits > 0 && token.starts_with(|c: char| c.is_ascii_digit())
}

/// `snake_case`, `camelCase`, `a.b.c`, `a/b`, `HTTP2`, `O_DIRECT`: what has an
/// exact spelling.
fn is_exact_name(token: &str) -> bool {
    let inner = token.chars().skip(1);
    token.starts_with(char::is_alphabetic)
        && (inner.clone().any(|c| "_./:=".contains(c))
            || inner.clone().any(char::is_uppercase)
            || inner.clone().any(|c| c.is_ascii_digit()))
        && !token.starts_with("http")
}

fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

/// Three exclamation marks, or mostly capitals.
fn is_shouting(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = text.chars().filter(|c| c.is_uppercase()).count();
    text.matches('!').count() >= 3 || (letters >= 20 && capitals * 3 > letters)
}

/// True when `host` is `name` or below it, or begins with a `name` that ends in
/// a dot.
fn is_host(host: &str, name: &str) -> bool {
    if name.ends_with('.') {
        return host.starts_with(name);
    }
    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale() -> Scale {
        Scale::new(&["example.org".to_owned()], &[])
    }

    fn signal(title: &str, text: &str, source: &str) -> Signal {
        Signal {
            title: title.into(),
            text: text.into(),
            source: Some(source.to_owned()).filter(|source| !source.is_empty()),
            ..Signal::default()
        }
    }

    #[test]
    fn every_score_is_the_sum_of_its_reasons() {
        let near =
            [Neighbour { title: "WAL".into(), text: "SQLite WAL".into(), ..Neighbour::default() }];
        let signal = signal(
            "SQLite WAL: how to",
            "Use `wal` mode. 1. set it. 2. test.",
            "https://sqlite.org",
        );
        let scores = scale().score(&signal, &Choice::default(), Some(&near));
        for (name, score) in scores.named() {
            let sum: f64 = score.reasons.iter().map(|(_, by)| by).sum();
            assert!((sum.clamp(0.0, 1.0) - score.value).abs() < 0.002, "{name}: {score:?}");
        }
        assert_eq!(scores, scale().score(&signal, &Choice::default(), Some(&near)));
        assert!(scores.composite() > 0.5, "{scores:?}");
    }

    #[test]
    fn hosts_match_with_their_subdomains_only() {
        let authority = |url: &str| {
            scale().score(&signal("t", "", url), &Choice::default(), None).authority.value
        };
        assert_eq!(authority("https://blog.example.org/a"), 0.9);
        assert_eq!(authority("https://docs.foo.dev/a"), 0.9);
        assert_eq!(authority("https://x.com/a"), 0.1);
        assert_eq!(authority("https://netflix.com/a"), 0.5);
    }

    #[test]
    fn shouting_and_selling_lower_the_scores() {
        let quiet =
            scale().score(&signal("Tools", "A text about tools.", ""), &Choice::default(), None);
        let loud = scale().score(
            &signal("TOOLS!!!", "Subscribe now, limited time!", ""),
            &Choice::default(),
            None,
        );
        assert!(loud.composite() < quiet.composite());
        assert!(loud.depth.reasons.iter().any(|(why, by)| why == "shouts" && *by < 0.0));
    }
}
