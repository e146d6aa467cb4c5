//! In which language a text is read: one verdict for all that depends on it.
//!
//! Each word a table knows has a score, the logarithm of how much likelier it
//! is in the table's language than in English. A text whose scores add up is
//! read line by line, because a note is rarely of one language throughout:
//! code, commands and quotations in it keep the model's own reading.

use super::potion::Potion;
use super::tokens::{Kind, Token, Tokens};
use super::words::{SCORE_UNITS, WordTable};
use crate::model::{Language, Vector};

// All four bounds were chosen together on the judged collections when the
// Spanish table was trained; English texts pass them about once in 3,000.

/// A text's scores must add up to more than this.
const TEXT_SCORE: i32 = SCORE_UNITS;
/// The evidence must come from this many words, those the model's vocabulary
/// lacks counting twice.
const TEXT_WORDS: u32 = 2;
/// In such a text, lines above this are read through the table.
const LINE_SCORE: i32 = -SCORE_UNITS;
/// In any other text, only lines above this are.
const LONE_LINE_SCORE: i32 = 8 * SCORE_UNITS;
/// And only on the evidence of this many words, counted as above.
const LONE_LINE_WORDS: u32 = 6;

/// Words below this score are never read by their stem: it is rather the
/// other language's word.
const STEM_SCORE: i32 = -SCORE_UNITS / 2;
/// Nor are words as short as this.
const STEM_MAX_SHORT: usize = 3;

/// How to read one text.
pub(super) struct Reading<'t> {
    /// The language of the text: the table's where any line is read through
    /// it, because commands and code outweigh prose in many a manual page.
    pub(super) language: Language,
    /// The table through which some lines are read, if any is.
    pub(super) table: Option<&'t WordTable>,
    /// The least line score that is read through the table.
    above: i32,
    least_words: u32,
}

#[derive(Clone, Copy, Default)]
struct Evidence {
    score: i32,
    n_words: u32,
}

impl<'t> Reading<'t> {
    /// Decides how to read `text`, given the tables at hand.
    pub(super) fn of(text: &str, potion: &Potion, tables: &'t [WordTable]) -> Self {
        let mut reading =
            Self { language: Language::ENGLISH, table: None, above: 0, least_words: 0 };
        let mut best = i32::MIN;
        for table in tables {
            let (total, has_lone_line) = weigh_lines(text, potion, table);
            let claims = total.score > TEXT_SCORE && total.n_words >= TEXT_WORDS;
            if (!claims && !has_lone_line) || total.score <= best {
                continue;
            }
            best = total.score;
            reading = if claims {
                Self {
                    language: table.language(),
                    table: Some(table),
                    above: LINE_SCORE,
                    least_words: 0,
                }
            } else {
                Self {
                    language: table.language(),
                    table: Some(table),
                    above: LONE_LINE_SCORE,
                    least_words: LONE_LINE_WORDS,
                }
            };
        }
        reading
    }

    /// Tells whether a line of the text is read through `table`.
    fn takes(&self, line: &str, potion: &Potion, table: &WordTable) -> bool {
        let evidence = weigh(line, potion, table);
        evidence.score > self.above && evidence.n_words >= self.least_words
    }

    /// Adds the rows of `text` to `sum` and returns how many there were.
    pub(super) fn add(&self, text: &str, potion: &Potion, mapped: bool, sum: &mut Vector) -> usize {
        // A token is rarely shorter than three bytes; a wrong guess costs a copy.
        let mut ids = Vec::with_capacity(text.len() / 3 + 8);
        let mut n_added = 0;
        if let Some(table) = self.table {
            for line in text.split('\n') {
                if self.takes(line, potion, table) {
                    n_added += add_line(line, potion, table, mapped, sum, &mut ids);
                } else {
                    potion.pieces().encode(line, &mut ids);
                }
            }
        } else {
            potion.pieces().encode(text, &mut ids);
        }
        n_added + potion.add_rows(&ids, mapped, sum)
    }
}

/// Adds the rows of one word to `sum`, read through `table` where there is one,
/// and returns how many there were.
pub(super) fn add_word(
    word: &str,
    potion: &Potion,
    table: Option<&WordTable>,
    sum: &mut Vector,
) -> usize {
    let mut ids = Vec::new();
    let n_added = match table {
        Some(table) => add_line(word, potion, table, true, sum, &mut ids),
        None => {
            potion.pieces().encode(word, &mut ids);
            0
        }
    };
    n_added + potion.add_rows(&ids, true, sum)
}

/// Reads a line through the table; what the table does not know goes to `ids`
/// as word pieces. Returns how many rows of the table were added.
fn add_line(
    line: &str,
    potion: &Potion,
    table: &WordTable,
    mapped: bool,
    sum: &mut Vector,
    ids: &mut Vec<u32>,
) -> usize {
    let pieces = potion.pieces();
    let mut tokens = Tokens::of(line);
    let mut folded = String::new();
    let mut n_added = 0;
    while let Some(token) = tokens.next(&mut folded) {
        let word = table.word(&folded);
        if let Some(row) = word.and_then(|word| word.row) {
            table.add_row(row, mapped, sum);
            n_added += 1;
            continue;
        }
        let score = word.map_or(0, |word| i32::from(word.score));
        let stem = is_stemmed(token, &folded, score, potion).then(|| table.stem(&folded)).flatten();
        if let Some(group) = stem {
            table.add_mean(group, mapped, sum);
            n_added += 1;
        } else {
            pieces.encode(&folded, ids);
        }
    }
    n_added
}

/// Tells whether an unknown form may be read by its stem: not a name, not a
/// word of the model's own.
fn is_stemmed(token: Token, folded: &str, score: i32, potion: &Potion) -> bool {
    token.kind == Kind::Word
        && !token.is_capitalised
        && score > STEM_SCORE
        && folded.chars().nth(STEM_MAX_SHORT).is_some()
        && !potion.pieces().is_token(folded)
}

/// Weighs a text line by line; also tells whether one line alone is clearly of
/// the table's language.
fn weigh_lines(text: &str, potion: &Potion, table: &WordTable) -> (Evidence, bool) {
    let mut total = Evidence::default();
    let mut has_lone_line = false;
    for line in text.split('\n') {
        let evidence = weigh(line, potion, table);
        total.score += evidence.score;
        total.n_words += evidence.n_words;
        has_lone_line |= evidence.score > LONE_LINE_SCORE && evidence.n_words >= LONE_LINE_WORDS;
    }
    (total, has_lone_line)
}

fn weigh(line: &str, potion: &Potion, table: &WordTable) -> Evidence {
    let mut tokens = Tokens::of(line);
    let mut folded = String::new();
    let mut evidence = Evidence::default();
    while let Some(token) = tokens.next(&mut folded) {
        if token.kind != Kind::Word || folded.chars().nth(1).is_none() {
            continue;
        }
        let Some(word) = table.word(&folded) else { continue };
        let score = i32::from(word.score);
        evidence.score += score;
        if score > SCORE_UNITS {
            evidence.n_words += if potion.pieces().is_token(&folded) { 1 } else { 2 };
        }
    }
    evidence
}
