//! The exact path: the same questions asked of FTS5 and sqlite-vec themselves.
//!
//! Slow (tens of milliseconds at 50,000 chunks), and the measure of the
//! snapshot: what it ranks must be what these tables rank.

use std::collections::HashMap;

use rusqlite::params;

use super::lexical::{LexicalParams, WeightedTerm, idf};
use super::reader::{Reader, stored_terms};
use super::record::FieldTerms;
use super::schema::sql;
use super::segment::{tf_code, tf_table};
use super::vec_ext;
use super::vector::Code8;
use crate::error::Result;
use crate::model::Vector;

impl Reader {
    /// Finds chunks through FTS5 and scores them by BM25 over their stored
    /// texts, best first. Returns (chunk id, score).
    pub fn lexical_exact(
        &self,
        terms: &[WeightedTerm],
        params: &LexicalParams,
        k: usize,
    ) -> Result<Vec<(i64, f32)>> {
        let (_, n_chunks) = self.counts()?;
        let mean_len = self.mean_len();
        let mut factors = HashMap::new();
        let mut ids = Vec::new();
        for term in terms {
            let found = self.match_exact(&term.term)?;
            let factor = term.weight * idf(n_chunks as u32, found.len() as u32);
            factors.insert(term.term.as_str(), factor * (params.k1 + 1.0));
            ids.extend(found);
        }
        ids.sort_unstable();
        ids.dedup();
        let mut scored = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(fields) = stored_terms(self.conn(), id)? else { continue };
            scored.push((id, score(&fields, &factors, params, mean_len)));
        }
        scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(k);
        Ok(scored)
    }

    fn match_exact(&self, term: &str) -> Result<Vec<i64>> {
        self.conn()
            .prepare_cached("SELECT rowid FROM keyword WHERE keyword MATCH ?1")
            .and_then(|mut select| {
                select
                    .query_map([format!("\"{}\"", term.replace('"', ""))], |row| row.get(0))?
                    .collect()
            })
            .map_err(|error| sql("search the keyword table", error))
    }

    /// Ranks by sqlite-vec's own scan. Returns (chunk id, cosine).
    pub fn nearest_exact(&self, query: &Vector, k: usize) -> Result<Vec<(i64, f32)>> {
        let code = Code8::encode(query).value_bytes();
        vec_ext::load(self.conn()).map_err(|error| sql("load sqlite-vec", error))?;
        let mut hits: Vec<(i64, f32)> = self
            .conn()
            .prepare_cached(
                "SELECT chunk_id, distance FROM vector
                 WHERE code MATCH vec_int8(?1) AND k = ?2",
            )
            .and_then(|mut select| {
                select
                    .query_map(params![&code[..], k as i64], |row| {
                        Ok((row.get(0)?, 1.0 - row.get::<_, f64>(1)? as f32))
                    })?
                    .collect()
            })
            .map_err(|error| sql("search the vector table", error))?;
        hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(hits)
    }
}

/// BM25 of one chunk; `factors` holds each term's weight, inverse document
/// frequency and `k1 + 1` multiplied.
fn score(
    fields: &FieldTerms,
    factors: &HashMap<&str, f32>,
    params: &LexicalParams,
    mean_len: f32,
) -> f32 {
    let [text, section, context] = params.field_weights;
    let table = tf_table(text, section, context);
    let norm = params.k1 * (1.0 - params.b + params.b * fields.len() as f32 / mean_len);
    fields
        .each()
        .filter_map(|(term, [text, section, context])| {
            let tf = table[usize::from(tf_code(text, section, context))];
            Some(factors.get(term)? * tf / (tf + norm))
        })
        .sum()
}
