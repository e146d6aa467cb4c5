//! How well triage does on signals whose domain and place a person has named.
//! Pure.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Route;

/// One labelled signal and what triage said.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The name of the signal in its file.
    pub id: String,
    /// Domain a person gave it; empty for noise, where none is right.
    pub domain: String,
    /// Place a person gave it.
    pub route: Route,
    /// Domain triage gave it.
    pub got_domain: String,
    /// Place triage gave it.
    pub got_route: Route,
    /// Its composite score.
    pub composite: f64,
}

/// Shares of correct answers, from 0 to 1, and how many were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// How many signals there are.
    pub n: usize,
    /// How many of them have a domain.
    pub n_domain: usize,
    /// Place right.
    pub route: f64,
    /// Domain right, where there is one.
    pub domain: f64,
    /// Both right, the domain only where there is one.
    pub both: f64,
    /// Noise that came out as worth keeping, of all noise.
    pub noise_kept: f64,
}

/// Counts the right answers.
pub fn accuracy(outcomes: &[Outcome]) -> Accuracy {
    let share = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
    let count = |is_it: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| is_it(o)).count();
    let n = outcomes.len();
    let n_domain = count(&|o| !o.domain.is_empty());
    let is_right = |o: &Outcome| o.domain.is_empty() || o.domain == o.got_domain;
    Accuracy {
        n,
        n_domain,
        route: share(count(&|o| o.route == o.got_route), n),
        domain: share(count(&|o| !o.domain.is_empty() && is_right(o)), n_domain),
        both: share(count(&|o| o.route == o.got_route && is_right(o)), n),
        noise_kept: share(
            count(&|o| o.domain.is_empty() && o.got_route == Route::Keep),
            n - n_domain,
        ),
    }
}

/// Writes a confusion table: a row for each label, a column for each answer.
pub fn confusion<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for (label, answer) in pairs {
        *counts.entry((label, answer)).or_default() += 1;
        names.extend([label, answer]);
    }
    names.sort_unstable();
    names.dedup();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut out = format!("{:width$}", "");
    for name in &names {
        let _ = write!(out, " {:>6}", crate::text::prefix(name, 6));
    }
    out.push('\n');
    for label in &names {
        let _ = write!(out, "{label:width$}");
        for answer in &names {
            match counts.get(&(*label, *answer)) {
                Some(n) => {
                    let _ = write!(out, " {n:>6}");
                }
                None => out.push_str("      ."),
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(domain: &str, route: Route, got_domain: &str, got_route: Route) -> Outcome {
        Outcome {
            id: String::new(),
            domain: domain.into(),
            route,
            got_domain: got_domain.into(),
            got_route,
            composite: 0.5,
        }
    }

    #[test]
    fn accuracy_counts_noise_for_its_place_only() {
        let outcomes = [
            outcome("web", Route::Keep, "web", Route::Keep),
            outcome("web", Route::Keep, "data", Route::Keep),
            outcome("", Route::Archive, "web", Route::Archive),
            outcome("", Route::Archive, "web", Route::Keep),
        ];
        let accuracy = accuracy(&outcomes);
        assert_eq!((accuracy.route, accuracy.domain, accuracy.both), (0.75, 0.5, 0.5));
        assert_eq!(accuracy.noise_kept, 0.5);
        let table = confusion(outcomes.iter().map(|o| (o.domain.as_str(), o.got_domain.as_str())));
        assert!(table.contains("web       .      1      1"), "{table}");
    }
}
