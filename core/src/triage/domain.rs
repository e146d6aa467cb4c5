//! Which domain a signal belongs to, by the words it uses, by what its
//! neighbours in the vault are filed under, and first of all by what its author
//! said. Pure.

use super::signal::{Neighbour, Signal};
use super::words::{Phrases, Words, sections};

/// The domain of what speaks for no other.
pub const OTHER: &str = "other";

const BUILT_IN: &str = include_str!("domains.txt");

const STRONG: f64 = 3.0;
const WEAK: f64 = 1.0;
/// The user's own words outweigh the built-in ones.
const OWN: f64 = 5.0;
/// Every word of a phrase beyond the first makes it less of an accident.
const PER_WORD: f64 = 1.0;
/// A word in the title or a tag against one in the text.
const IN_TITLE: f64 = 3.5;
/// A word in a code block: code is full of `table`, `index` and `request`.
const IN_CODE: f64 = 0.4;
/// Most that weak words in the text count for together: a long text has some
/// of every domain.
const MOST_WEAK: f64 = 4.0;
/// What a neighbour's own domain adds, by its rank.
const NEIGHBOURS: [f64; 3] = [2.0, 1.0, 0.5];
/// What the author's own word is worth.
const SAID: f64 = 12.0;
/// Less evidence than this is none: one strong word, or a few weak ones, stand
/// in many a text by chance.
const ENOUGH: f64 = 5.0;

/// The domains and their words.
#[derive(Clone, Debug)]
pub struct Domains {
    names: Vec<String>,
    phrases: Phrases,
    /// Domain and weight of each phrase, by its number.
    weights: Vec<(usize, f64)>,
}

/// The domain chosen, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The name; [`OTHER`] when none has enough evidence.
    pub domain: String,
    /// Share of the evidence that speaks for it against the next best, from 0
    /// to 1; 1 where the author said so.
    pub certainty: f64,
    /// Sum of the evidence for it; 0 where there is not enough for any.
    pub evidence: f64,
    /// The words and notes that decided, strongest first.
    pub because: Vec<String>,
}

impl Domains {
    /// Reads the built-in table and adds the user's words, as (domain, words);
    /// a domain that is not built in is a new one.
    pub fn new(extra: &[(String, Vec<String>)]) -> Self {
        let mut domains =
            Self { names: Vec::new(), phrases: Phrases::default(), weights: Vec::new() };
        for (section, words) in sections(BUILT_IN) {
            let (name, kind) = section.split_once(' ').unwrap_or((section, "weak"));
            let weight = if kind == "strong" { STRONG } else { WEAK };
            words.iter().for_each(|word| domains.add(name, word, weight));
        }
        for (name, words) in extra {
            domains.place(name);
            words.iter().for_each(|word| domains.add(name, word, OWN));
        }
        domains.place(OTHER);
        domains
    }

    /// The names, `other` among them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn add(&mut self, domain: &str, word: &str, weight: f64) {
        let domain = self.place(domain);
        self.phrases.add(word, self.weights.len());
        self.weights.push((domain, weight));
    }

    fn place(&mut self, name: &str) -> usize {
        let at = self.names.iter().position(|known| known == name);
        at.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// Chooses the domain of `signal`.
    pub fn choose(&self, signal: &Signal, neighbours: &[Neighbour]) -> Choice {
        if let Some(domain) = signal.domain.as_deref().and_then(|domain| self.known(domain)) {
            let because = vec!["the note says so".to_owned()];
            return Choice { domain: domain.to_owned(), certainty: 1.0, evidence: SAID, because };
        }
        let mut evidence = vec![0.0; self.names.len()];
        let mut because: Vec<(f64, usize, String)> = Vec::new();
        let mut count = |domain: usize, weight: f64, why: String| {
            if let Some(sum) = evidence.get_mut(domain) {
                *sum += weight;
                because.push((weight, domain, why));
            }
        };
        self.count_words(signal, &mut count);
        let mut seen: Vec<&str> = Vec::new();
        for neighbour in neighbours {
            let domain = neighbour.domain.as_deref().and_then(|domain| self.known(domain));
            let at = domain.and_then(|domain| self.names.iter().position(|name| name == domain));
            if let (Some(at), Some(weight)) = (at, NEIGHBOURS.get(seen.len()))
                && !seen.contains(&neighbour.path.as_str())
            {
                seen.push(&neighbour.path);
                count(at, *weight, format!("near [[{}]]", neighbour.title));
            }
        }
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let of = |domain: &usize| evidence.get(*domain).copied().unwrap_or(0.0);
        order.sort_by(|a, b| of(b).total_cmp(&of(a)).then(a.cmp(b)));
        let (best, next) = (order.first().map_or(0.0, of), order.get(1).map_or(0.0, of));
        let chosen = order.first().filter(|_| best >= ENOUGH);
        let name = chosen.and_then(|chosen| self.names.get(*chosen));
        because.retain(|(_, domain, _)| Some(domain) == chosen);
        because.sort_by(|a, b| b.0.total_cmp(&a.0));
        Choice {
            domain: name.cloned().unwrap_or_else(|| OTHER.to_owned()),
            certainty: if best > 0.0 { best / (best + next) } else { 0.0 },
            evidence: if chosen.is_some() { best } else { 0.0 },
            because: because.into_iter().take(5).map(|(_, _, why)| why).collect(),
        }
    }

    /// Counts each phrase once, where it counts most, and a little more for
    /// repeats.
    fn count_words(&self, signal: &Signal, count: &mut dyn FnMut(usize, f64, String)) {
        let source = signal.source.as_deref().unwrap_or("");
        let (prose, code) = prose_and_code(&signal.text);
        let places = [
            (format!("{} / {}", signal.title, signal.tags.join(" / ")), IN_TITLE),
            (format!("{prose} / {source}"), 1.0),
            (code, IN_CODE),
        ];
        let mut seen: Vec<usize> = Vec::new();
        let mut weak = vec![0.0; self.names.len()];
        for (text, place) in places {
            for found in self.phrases.find(&Words::of(&text)) {
                let Some((domain, weight)) = self.weights.get(found.id) else { continue };
                if seen.contains(&found.id) {
                    continue;
                }
                seen.push(found.id);
                let extra_words = u32::try_from(found.n_words - 1).unwrap_or(0);
                let repeats = 1.0 + (found.count as f64).ln() / 2.0;
                let mut evidence = (weight + PER_WORD * f64::from(extra_words)) * place * repeats;
                if *weight <= WEAK
                    && place <= 1.0
                    && let Some(sum) = weak.get_mut(*domain)
                {
                    evidence = evidence.min(MOST_WEAK - *sum).max(0.0);
                    *sum += evidence;
                }
                count(*domain, evidence, found.phrase.to_owned());
            }
        }
    }

    /// The configured name that `domain` stands for.
    fn known(&self, domain: &str) -> Option<&str> {
        let wanted = crate::text::fold(domain.trim());
        let is_it = |name: &&String| crate::text::fold(name) == wanted;
        self.names.iter().find(is_it).map(String::as_str).filter(|name| *name != OTHER)
    }
}

/// Splits a text at its fenced blocks.
fn prose_and_code(text: &str) -> (String, String) {
    let (mut prose, mut code) = (String::new(), String::new());
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        }
        if is_code { code.push_str(line) } else { prose.push_str(line) }
    }
    (prose, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(title: &str, text: &str) -> Choice {
        let signal = Signal { title: title.into(), text: text.into(), ..Signal::default() };
        Domains::new(&[]).choose(&signal, &[])
    }

    #[test]
    fn twelve_domains_are_built_in() {
        assert_eq!(Domains::new(&[]).names().len(), 12);
    }

    #[test]
    fn words_decide_in_both_languages() {
        assert_eq!(choose("Kubernetes rollback", "canary deploys").domain, "devops");
        assert_eq!(choose("Copia de seguridad", "despliegue en Kubernetes").domain, "devops");
        assert_eq!(choose("A walk", "the sea was calm").domain, OTHER);
    }

    #[test]
    fn the_author_and_the_neighbours_have_a_say() {
        let domains = Domains::new(&[("cooking".into(), vec!["sourdough".into()])]);
        let mut signal = Signal { title: "Sourdough bread".into(), ..Signal::default() };
        assert_eq!(domains.choose(&signal, &[]).domain, "cooking");
        signal.domain = Some("Design".into());
        assert_eq!(domains.choose(&signal, &[]).domain, "design");
        let near = |path: &str| Neighbour {
            path: path.into(),
            domain: Some("career".into()),
            ..Neighbour::default()
        };
        let signal = Signal { title: "A note on the boss".into(), ..Signal::default() };
        assert_eq!(domains.choose(&signal, &[]).domain, OTHER);
        assert_eq!(domains.choose(&signal, &[near("a"), near("b")]).domain, "career");
    }
}
