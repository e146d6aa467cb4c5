//! The part of a long text that says what it is about: prose first, then error
//! lines, then the names that stand out.

use std::collections::HashMap;

use super::prompt::is_identifier;
use crate::analyse::is_function_word;
use crate::text::{fold, prefix, slice};

/// A prompt up to this long is its own query.
const MAX_WHOLE_BYTES: usize = 700;

/// What is taken from the beginning and from the end of a longer one.
const END_BYTES: usize = 300;

/// Error lines that are kept, and how much of each.
const MAX_ERRORS: usize = 4;
const MAX_ERROR_BYTES: usize = 200;

/// Shortens a pasted wall of text to what it asks: beginning and end of the
/// prose, where questions stand, then error lines of the rest.
pub(super) fn condense(text: &str) -> String {
    let text = text.trim();
    if text.len() <= MAX_WHOLE_BYTES {
        return text.to_owned();
    }
    let prose = without_fences(text);
    let prose = prose.trim();
    let mut parts = vec![if prose.len() <= 2 * END_BYTES {
        prose.to_owned()
    } else {
        let tail = slice(prose, prose.len() - END_BYTES, prose.len());
        format!("{}\n{tail}", prefix(prose, END_BYTES))
    }];
    parts.extend(errors(text));
    parts.join("\n")
}

/// Returns the lines that report an error, each once, timestamps and paths
/// included: the analysis drops what is not a word.
pub(super) fn errors(text: &str) -> Vec<String> {
    const SIGNS: [&str; 16] = [
        "error",
        "exception",
        "panicked",
        "traceback",
        "fatal",
        "failed",
        "failure",
        "undefined",
        "cannot ",
        "can't ",
        "not found",
        "no such",
        "denied",
        "refused",
        "segfault",
        "timed out",
    ];
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = prefix(line.trim(), MAX_ERROR_BYTES);
        let folded = line.to_ascii_lowercase();
        if SIGNS.iter().any(|sign| folded.contains(sign))
            && !found.iter().any(|known| known == line)
        {
            found.push(line.to_owned());
            if found.len() == MAX_ERRORS {
                break;
            }
        }
    }
    found
}

/// Returns the `n` words of a piece of code or prose that tell it from others,
/// in order of appearance.
///
/// A word counts by how often it stands there (damped), by its length and by
/// being an identifier; keywords of programming languages do not count.
pub(super) fn names(text: &str, n: usize) -> Vec<String> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    for (at, word) in text.split(|c| !is_part(c)).enumerate() {
        let word = word.trim_matches(['-', '_']);
        let len = word.chars().count();
        if !(3..=48).contains(&len) || !word.chars().any(char::is_alphabetic) || is_random(word) {
            continue;
        }
        let folded = fold(word);
        if !is_function_word(&folded) && !is_keyword(&folded) {
            counts.entry(word.to_owned()).or_insert((0, at)).0 += 1;
        }
    }
    let weight = |word: &str, count: usize| {
        let length = word.chars().count().min(14);
        let bonus = if is_identifier(word) { 3 } else { 2 };
        // Square-root damping, in whole numbers, so that order is exact.
        (count.min(16) * 64).isqrt() * length * bonus
    };
    let mut words: Vec<(usize, usize, String)> =
        counts.into_iter().map(|(word, (count, at))| (weight(&word, count), at, word)).collect();
    words.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    words.truncate(n);
    words.sort_by_key(|(_, at, _)| *at);
    words.into_iter().map(|(_, _, word)| word).collect()
}

fn without_fences(text: &str) -> String {
    let mut is_inside = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_inside ^= is_fence;
        if !is_inside && !is_fence {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Hashes, ids and encoded data.
fn is_random(word: &str) -> bool {
    let n_digits = word.chars().filter(char::is_ascii_digit).count();
    let is_hex = word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    (is_hex && n_digits > 0) || n_digits * 2 > word.len() || (word.len() > 24 && n_digits >= 4)
}

fn is_keyword(folded: &str) -> bool {
    const KEYWORDS: &str = " abstract args assert async await bool boolean break byte case catch \
        char class clone const constructor continue debug def default defer delete derive dict div \
        double elif else elseif end endif enum eprintln err export extends extern fallback false \
        final finally float fmt fn foreach format from func function global goto http https impl \
        implements import include inline instanceof int integer interface internal iter lambda len \
        let list log loop map match mod module mut namespace new nil none null object option \
        override package panic pass print printf println private protected pub public raise range \
        readonly ref require return self set show sizeof span src start static std str string struct \
        super switch template test tests text then this throw throws todo trait true try tuple type \
        typedef typeof undefined union unsafe unsigned unwrap use using val value values var vec \
        virtual void volatile where while with yield ";
    KEYWORDS.split_ascii_whitespace().any(|keyword| keyword == folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_kept_and_a_long_one_condensed() {
        assert_eq!(condense("  why does it loop  "), "why does it loop");
        let log = (0..200).map(|n| format!("{n} compiling unit\n")).collect::<String>();
        let text = format!(
            "The importer dies since Tuesday.\n```\n{log}error[E0277]: `Rc<X>` cannot be sent\n\
             error[E0277]: `Rc<X>` cannot be sent\n```\nHow did we fix it last year?"
        );
        assert_eq!(
            condense(&text),
            "The importer dies since Tuesday.\nHow did we fix it last year?\n\
             error[E0277]: `Rc<X>` cannot be sent"
        );
        let prose = "una frase sobre el proyecto. ".repeat(500);
        assert!(condense(&prose).len() < 700);
    }

    #[test]
    fn names_of_code_are_found_and_keywords_are_not() {
        let code = "pub fn retry_payment(gateway: &Gateway, attempts: u32) -> Result<Receipt> {\n\
                    let backoff = Backoff::exponential(attempts);\n gateway.charge(backoff)\n}\n";
        let names = names(code, 5);
        assert!(names.contains(&"retry_payment".to_owned()), "{names:?}");
        assert!(names.contains(&"exponential".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name == "pub" || name == "let"), "{names:?}");
    }

    #[test]
    fn names_are_the_same_every_time_and_hashes_do_not_count() {
        let text = "alpha beta gamma delta d41d8cd98f00b204 1234567 alpha ñandú";
        assert_eq!(names(text, 3), names(text, 3));
        assert_eq!(names(text, 9), ["alpha", "beta", "gamma", "delta", "ñandú"]);
    }
}
