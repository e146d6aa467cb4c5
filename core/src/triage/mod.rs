//! Triage: a signal gets four scores, a domain and a place in the vault.
//!
//! Judging is pure and repeatable; moving is journalled and can be undone.

pub mod domain;
pub mod eval;
pub mod inbox;
pub mod journal;
pub mod moves;
pub mod score;
pub mod signal;
pub mod sources;
mod words;

use self::domain::{Choice, Domains};
use self::score::{Scale, Scores};
use self::signal::{Neighbour, Signal};
use crate::config::Triage;

/// Where a signal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Route {
    /// To the folder of its domain.
    Keep,
    /// To the review queue: a person decides.
    Review,
    /// To the archive.
    Archive,
}

impl Route {
    /// The word for it in reports and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Review => "review",
            Self::Archive => "archive",
        }
    }
}

/// The folder, relative to the vault, that a verdict sends a signal to.
pub fn folder(config: &Triage, verdict: &Verdict) -> String {
    match verdict.route {
        Route::Review => config.review.clone(),
        Route::Archive => config.archive.clone(),
        Route::Keep => {
            let domain = &verdict.choice.domain;
            let own = config.domains.iter().find(|(name, _)| name == domain);
            own.map_or_else(|| format!("{}/{domain}", config.folder), |(_, folder)| folder.clone())
        }
    }
}

/// The `status` property of a signal that took this way.
pub fn status(route: Route) -> &'static str {
    match route {
        Route::Keep => "triaged",
        Route::Review => "review",
        Route::Archive => "archived",
    }
}

/// What triage goes by.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The domains and their words.
    pub domains: Domains,
    /// The cues and hosts.
    pub scale: Scale,
    /// Composite from which a signal is kept.
    pub keep: f64,
    /// Composite from which it is put up for review.
    pub review: f64,
}

/// What triage makes of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The four scores.
    pub scores: Scores,
    /// Their weighted mean, from 0 to 1.
    pub composite: f64,
    /// The domain.
    pub choice: Choice,
    /// The place.
    pub route: Route,
}

impl Judge {
    /// What the configuration says.
    pub fn of(config: &Triage) -> Self {
        let mut extra = config.keywords.clone();
        // A domain that only has a folder is one too.
        extra.extend(config.domains.iter().map(|(domain, _)| (domain.clone(), Vec::new())));
        Self {
            domains: Domains::new(&extra),
            scale: Scale::new(&config.trusted, &config.distrusted),
            keep: config.threshold,
            review: config.review_threshold,
        }
    }

    /// Judges `signal` by itself and by its `neighbours` in the vault, nearest
    /// first; `None` where there is no index to ask.
    pub fn judge(&self, signal: &Signal, neighbours: Option<&[Neighbour]>) -> Verdict {
        let choice = self.domains.choose(signal, neighbours.unwrap_or(&[]));
        let scores = self.scale.score(signal, &choice, neighbours);
        let composite = scores.composite();
        let route = match composite {
            c if c >= self.keep => Route::Keep,
            c if c >= self.review => Route::Review,
            _ => Route::Archive,
        };
        Verdict { scores, composite, choice, route }
    }
}
