//! What `postil stats` tells of shortened outputs: tokens against what the
//! client would have shown by itself, by kind of output, and how often a full
//! original was opened again.

use postil_core::compress::ledger::{Savings, Totals};
use serde_json::{Map, Value, json};

/// Lines for a person; nothing where no output was shortened.
pub(crate) fn text(savings: &Savings) -> String {
    let all = &savings.all;
    if all.n == 0 {
        return String::new();
    }
    let mut out = format!(
        "compressed   {} outputs, {} tokens saved ({}), {} opened in full\n",
        all.n,
        all.saved_tokens(),
        share(all),
        savings.n_opened
    );
    for (family, totals) in &savings.families {
        out.push_str(&format!(
            "  {family:<10} {:>5} outputs, {:>8} of {:>8} tokens saved ({})\n",
            totals.n,
            totals.saved_tokens(),
            totals.client_tokens,
            share(totals)
        ));
    }
    out
}

fn share(totals: &Totals) -> String {
    format!("{:.0} %", percent(totals))
}

/// The share saved of what the client would have shown; negative where its
/// preview is shorter than the extract.
fn percent(totals: &Totals) -> f64 {
    totals.saved_tokens() as f64 * 100.0 / totals.client_tokens.max(1) as f64
}

/// The same as an object.
pub(crate) fn json(savings: &Savings) -> Value {
    let one = |totals: &Totals| {
        json!({
            "outputs": totals.n,
            "raw_tokens": totals.raw_tokens,
            "client_tokens": totals.client_tokens,
            "shown_tokens": totals.shown_tokens,
            "tokens_saved": totals.saved_tokens(),
            "percent_saved": (percent(totals) * 10.0).round() / 10.0,
        })
    };
    let families: Map<String, Value> =
        savings.families.iter().map(|(family, totals)| (family.clone(), one(totals))).collect();
    let mut all = one(&savings.all);
    all["opened"] = savings.n_opened.into();
    all["families"] = families.into();
    all
}
