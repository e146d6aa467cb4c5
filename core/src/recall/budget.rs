//! How much of what was found is shown: tokens, the agents' own cap, and where
//! a passage that is too long is cut.

use crate::text;

/// What a block of context may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most tokens, by [`text::n_tokens`].
    pub tokens: usize,
    /// Most UTF-16 units. Claude Code shows only the first 2,000 of a reply
    /// with more than 10,000.
    pub utf16: usize,
    /// Most passages.
    pub passages: usize,
}

impl Limits {
    /// UTF-16 units of a reply that every agent passes on whole: under 10,000
    /// with room for what the agent writes around it.
    pub const MAX_UTF16: usize = 9_500;

    /// Limits of `tokens` for any agent.
    pub fn tokens(tokens: usize) -> Self {
        Self { tokens, utf16: Self::MAX_UTF16, passages: 5 }
    }

    /// Returns what is left after `text`; `None` if `text` does not fit.
    pub(super) fn after(self, text: &str) -> Option<Self> {
        Some(Self {
            tokens: self.tokens.checked_sub(text::n_tokens(text))?,
            utf16: self.utf16.checked_sub(text::n_utf16(text))?,
            ..self
        })
    }

    /// Returns the limits without `tokens` that are kept for something else.
    pub(super) fn without(self, tokens: usize) -> Self {
        Self { tokens: self.tokens.saturating_sub(tokens), ..self }
    }

    /// Returns true if `text` fits.
    pub(super) fn fits(self, text: &str) -> bool {
        self.after(text).is_some()
    }
}

/// Cuts `text` to at most `max_bytes` bytes at the end of a sentence, else of a
/// line, else of a word, and marks the cut with `…`.
///
/// A boundary in the second half of what fits is good enough; before that a
/// weaker one loses less.
pub fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let room = text::prefix(text, max_bytes.saturating_sub(" …".len()));
    let half = room.len() / 2;
    let end = [last_sentence(room), room.rfind('\n'), room.rfind(char::is_whitespace)]
        .into_iter()
        .flatten()
        .find(|end| *end >= half)
        .unwrap_or(room.len());
    format!("{} …", text::prefix(room, end).trim_end())
}

/// Returns the first sentence of `text`, on one line, at most `max_bytes` long.
pub fn first_sentence(text: &str, max_bytes: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric));
    let line = line.unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let end = sentence_ends(&line).next().unwrap_or(line.len());
    cut(text::prefix(&line, end), max_bytes)
}

fn last_sentence(text: &str) -> Option<usize> {
    sentence_ends(text).last()
}

/// Returns the offsets after each `.`, `!`, `?`, `…` before a blank, and after
/// each full-width one. A dot after one letter or a number ("J. Doe", "1. ") ends
/// nothing.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let mut word = 0;
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            let before = word;
            word = if c.is_alphanumeric() { word + 1 } else { 0 };
            let is_end = match c {
                '.' | '!' | '?' | '…' => {
                    let is_initial = c == '.' && before <= 1 && at > 0;
                    !is_initial && chars.peek().is_none_or(|(_, next)| next.is_whitespace())
                }
                '。' | '！' | '？' => true,
                _ => false,
            };
            if is_end {
                return Some(at + c.len_utf8());
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_with_a_sentence() {
        let text = "First sentence here. Second one is longer! Third is cut in the middle of it.";
        assert_eq!(cut(text, 60), "First sentence here. Second one is longer! …");
        assert_eq!(cut(text, text.len()), text);
        assert_eq!(cut("one two three four five", 15), "one two …");
        assert_eq!(cut("línea uno\nlínea dos\nlínea tres", 27), "línea uno\nlínea dos …");
    }

    #[test]
    fn a_cut_never_exceeds_its_bytes_or_splits_a_character() {
        let text = "añ😀 東京。".repeat(40);
        for max in 4..text.len() {
            assert!(cut(&text, max).len() <= max, "{max}");
        }
    }

    #[test]
    fn first_sentences_are_short_and_on_one_line() {
        assert_eq!(
            first_sentence("\n## \n\nUse `foo.bar` v1.2 now.  More.", 80),
            "Use `foo.bar` v1.2 now."
        );
        assert_eq!(first_sentence("1. Pay J. Doe today. Then rest.", 80), "1. Pay J. Doe today.");
        assert_eq!(first_sentence("", 80), "");
    }

    #[test]
    fn limits_shrink_by_what_was_used() {
        let limits = Limits::tokens(10).after("123456789").unwrap();
        assert_eq!(limits.tokens, 7);
        assert!(!limits.fits(&"x".repeat(22)));
        assert!(limits.fits(&"x".repeat(21)));
    }
}
