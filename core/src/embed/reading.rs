//! In which language a text is read: one verdict for all that depends on it.
//!
//! Each word a table knows has a score, the logarithm of how much likelier it
//! is in the table's language than in English. A text whose scores add up is
//! read line by line, because a note is rarely of one language throughout:
//! code, commands and quotations in it keep the model's own reading.

use super::lookup::Hash;
use super::potion::Potion;
use super::tokens::{Kind, Token, Tokens};
use super::wordpiece::WordPiece;
use super::words::{Rows, SCORE_UNITS, Word, WordTable, Words};
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

/// Words without a row and below this score are rather the model's language's.
const UNKNOWN_SCORE: i32 = -SCORE_UNITS / 2;
/// And words as short as this have too many neighbours.
const UNKNOWN_SHORT: usize = 3;
/// Words of this many letters may be read by their cognates. With four, tldr-es
/// lost what squad-es (+0.007 nDCG@10) and xquad (+0.007 across languages) gain.
const COGNATE_LENGTH: usize = 5;

/// A short text that no table claims may still mix languages ("permission
/// denied al hacer push"): at most this many words on one line,
const MIXED_WORDS: usize = 24;
/// of which those with a row and at least this score, or with an accent, are
/// read through the table, if the model's vocabulary lacks one of them
const MIXED_WORD_SCORE: i32 = 2 * SCORE_UNITS;
/// and the scores above [`MIXED_EVIDENCE`] add up to this. With half of each
/// xquad question in either language, nDCG@10 goes from 0.71 to 0.81; of 1,411
/// English questions two are taken for mixed (counting all evidence, eight).
const MIXED_SCORE: i32 = 4 * SCORE_UNITS;
const MIXED_EVIDENCE: i32 = SCORE_UNITS / 2;

/// How to read one text.
pub(super) struct Reading<'t> {
    /// The language of the text: the table's where any line is read through
    /// it, because commands and code outweigh prose in many a manual page.
    pub(super) language: Language,
    way: Way<'t>,
}

enum Way<'t> {
    /// As the model alone reads it.
    Plain,
    /// Line by line: through the table where the flag is set.
    Lines(&'t WordTable, Vec<bool>),
    /// Word by word: through the table those that are clearly of its language.
    Words(&'t WordTable),
}

/// What speaks for a table's language.
#[derive(Clone, Copy, Default)]
struct Evidence {
    score: i32,
    n_words: u32,
}

impl<'t> Reading<'t> {
    /// Decides how to read `text`, given the tables at hand.
    pub(super) fn of(text: &str, potion: &Potion, tables: &'t [WordTable]) -> Self {
        let mut reading = Self { language: Language::ENGLISH, way: Way::Plain };
        let mut best = i32::MIN;
        let pieces = potion.pieces();
        for table in tables {
            let words = table.words();
            let lines: Vec<Evidence> =
                text.split('\n').map(|line| weigh(line, &pieces, &words)).collect();
            let score = lines.iter().map(|line| line.score).sum();
            let lines = choose_lines(score, &lines);
            if score > best && lines.contains(&true) {
                best = score;
                reading = Self { language: table.language(), way: Way::Lines(table, lines) };
            }
        }
        if let Way::Plain = reading.way {
            let mixed = tables.iter().find(|table| is_mixed(text, &pieces, &table.words()));
            reading.way = mixed.map_or(Way::Plain, Way::Words);
        }
        reading
    }

    /// Adds the rows of `text` to `sum` and returns how many there were.
    pub(super) fn add(&self, text: &str, potion: &Potion, mapped: bool, sum: &mut Vector) -> usize {
        // A token is rarely shorter than three bytes; a wrong guess costs a copy.
        let mut ids = Vec::with_capacity(text.len() / 3 + 8);
        let mut n_added = 0;
        match &self.way {
            Way::Plain => potion.pieces().encode(text, &mut ids),
            Way::Words(table) => n_added += add_mixed(text, potion, table, mapped, sum, &mut ids),
            Way::Lines(table, lines) => {
                for (line, is_read) in text.split('\n').zip(lines) {
                    if *is_read {
                        read_line(line, potion, table, &mut ids, |rows| {
                            table.add(rows, mapped, sum);
                            n_added += 1;
                        });
                    } else {
                        potion.pieces().encode(line, &mut ids);
                    }
                }
            }
        }
        n_added + potion.add_rows(&ids, mapped, sum)
    }
}

/// Tells for each line whether it is read through the table, given the text's
/// whole score.
fn choose_lines(score: i32, lines: &[Evidence]) -> Vec<bool> {
    let n_words: u32 = lines.iter().map(|line| line.n_words).sum();
    let (above, least_words) = if score > TEXT_SCORE && n_words >= TEXT_WORDS {
        (LINE_SCORE, 0)
    } else {
        (LONE_LINE_SCORE, LONE_LINE_WORDS)
    };
    lines.iter().map(|line| line.score > above && line.n_words >= least_words).collect()
}

/// Reads a line through the table: `take` gets the table's rows, and what it
/// does not know goes to `ids` as word pieces.
pub(super) fn read_line(
    line: &str,
    potion: &Potion,
    table: &WordTable,
    ids: &mut Vec<u32>,
    mut take: impl FnMut(Rows),
) {
    let (pieces, words) = (potion.pieces(), table.words());
    let mut tokens = Tokens::of(line, pieces.fold);
    let mut folded = String::new();
    while let Some(token) = tokens.next(&mut folded) {
        let word = words.get(&folded).filter(|_| token.kind != Kind::Sign);
        if let Some(row) = word.and_then(|word| word.row) {
            take(Rows::One(row));
            continue;
        }
        let score = word.map_or(0, |word| i32::from(word.score));
        if !is_foreign(token, &folded, score, &pieces) {
            pieces.encode_token(&folded, ids);
        } else if let Some(group) = table.stem(&folded).filter(|_| !token.is_capitalised) {
            take(Rows::Mean(group));
        } else {
            let is_long = folded.len() >= COGNATE_LENGTH;
            let cognate =
                is_long.then(|| table.cognate(&folded, |word| pieces.is_token(word))).flatten();
            pieces.encode_token(cognate.as_deref().unwrap_or(&folded), ids);
        }
    }
}

/// Reads a short text word by word; returns how many rows of the table were
/// added.
fn add_mixed(
    text: &str,
    potion: &Potion,
    table: &WordTable,
    mapped: bool,
    sum: &mut Vector,
    ids: &mut Vec<u32>,
) -> usize {
    let (pieces, words) = (potion.pieces(), table.words());
    let mut tokens = Tokens::of(text, pieces.fold);
    let mut folded = String::new();
    let mut n_added = 0;
    while let Some(token) = tokens.next(&mut folded) {
        let word = words.get(&folded).filter(|word| is_clear(token, *word));
        if let Some(row) = word.and_then(|word| word.row) {
            table.add_row(row, mapped, sum);
            n_added += 1;
        } else {
            pieces.encode_token(&folded, ids);
        }
    }
    n_added
}

/// Tells whether a text that no table claims has words of the table's language
/// in it beyond doubt. A known word written with a letter that English does not
/// write is enough.
fn is_mixed(text: &str, pieces: &WordPiece<'_>, words: &Words<'_>) -> bool {
    let text = text.trim();
    if text.contains('\n') || text.split_whitespace().nth(MIXED_WORDS).is_some() {
        return false;
    }
    let mut tokens = Tokens::of(text, pieces.fold);
    let mut folded = String::new();
    let (mut score, mut has_foreign) = (0, false);
    while let Some(token) = tokens.next(&mut folded) {
        if token.kind != Kind::Word || folded.chars().nth(1).is_none() {
            continue;
        }
        let Some(word) = words.get(&folded) else { continue };
        let is_foreign = is_clear(token, word) && !(token.is_ascii && pieces.is_token(&folded));
        has_foreign |= is_foreign;
        score += match i32::from(word.score) {
            _ if is_foreign && !token.is_ascii => MIXED_SCORE,
            evidence if evidence > MIXED_EVIDENCE => evidence,
            _ => 0,
        };
    }
    has_foreign && score >= MIXED_SCORE
}

/// Tells whether a word with a row is the table's language's even among words
/// of the model's.
fn is_clear(token: Token, word: Word) -> bool {
    let least = if token.is_ascii { MIXED_WORD_SCORE } else { 1 };
    word.row.is_some() && i32::from(word.score) >= least
}

/// Tells whether an unknown form is rather the table's language's: then it may
/// be read by its stem, if it is no name, or by its cognate.
fn is_foreign(token: Token, folded: &str, score: i32, pieces: &WordPiece<'_>) -> bool {
    token.kind == Kind::Word
        && score > UNKNOWN_SCORE
        && folded.chars().nth(UNKNOWN_SHORT).is_some()
        && !pieces.is_token(folded)
}

/// Adds up what the words of a line say.
///
/// Every word of every text passes here, so plain ASCII words are hashed where
/// they stand; [`Tokens`] reads the others.
fn weigh(line: &str, pieces: &WordPiece<'_>, words: &Words<'_>) -> Evidence {
    let bytes = line.as_bytes();
    let mut evidence = Evidence::default();
    let mut folded = String::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        let mut hash = Hash::EMPTY;
        let mut is_word = true;
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphanumeric()) {
            is_word &= !byte.is_ascii_digit();
            hash = hash.with(byte.to_ascii_lowercase());
            at += 1;
        }
        folded.clear();
        let word = if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            let mut tokens = Tokens::of(line.get(start..).unwrap_or(""), pieces.fold);
            let token = tokens.next(&mut folded);
            at = line.len() - tokens.n_left();
            let is_word = token.is_some_and(|token| token.kind == Kind::Word);
            (is_word && folded.chars().nth(1).is_some()).then(|| words.get(&folded)).flatten()
        } else {
            (is_word && at - start > 1).then(|| words.get_hashed(hash)).flatten()
        };
        let Some(word) = word else { continue };
        evidence.score += i32::from(word.score);
        if i32::from(word.score) > SCORE_UNITS {
            if folded.is_empty() {
                folded.push_str(line.get(start..at).unwrap_or(""));
                folded.make_ascii_lowercase();
            }
            evidence.n_words += if pieces.is_token(&folded) { 1 } else { 2 };
        }
    }
    evidence
}
