//! Text to token ids: BertNormalizer, BertPreTokenizer and WordPiece as the
//! `tokenizers` crate does them, over a trie that lies ready in a file.
//!
//! Everything happens in one pass: characters are normalised into the word
//! being read, and a finished word is split into pieces. Equality with
//! model2vec-rs is what the tests of this module's parent are about.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use super::trie::Trie;

/// First character whose folding the table file holds ready.
pub(super) const FOLD_FIRST: u32 = 0x80;
/// One past the last: Latin-1 Supplement, Latin Extended-A and -B.
pub(super) const FOLD_END: u32 = 0x250;

/// A character's normalised form: one class byte, then up to three bytes of
/// UTF-8, zero-padded.
pub(super) type Fold = [u8; 4];

/// What a normalised character does to the word being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    Punctuation,
}

/// The parts of a compiled table that tokenisation needs, borrowed.
pub(super) struct WordPiece<'a> {
    pub(super) trie: Trie<'a>,
    /// Trie node behind the continuing-subword prefix `##`.
    pub(super) continuation: u32,
    pub(super) unknown: u32,
    /// Longer words are unknown as a whole.
    pub(super) max_word_chars: usize,
    /// Tokens matched literally before normalisation (`[MASK]`), longest first.
    pub(super) added: &'a [(Vec<u8>, u32)],
    /// Folding of the characters from `FOLD_FIRST` to `FOLD_END`.
    pub(super) fold: &'a [Fold],
}

impl WordPiece<'_> {
    /// Appends the ids of `text` to `ids`, unknown words as the unknown id.
    pub(super) fn encode(&self, text: &str, ids: &mut Vec<u32>) {
        let mut reader = Reader { pieces: self, word: Vec::with_capacity(64), ids };
        let mut rest = text;
        let mut searched = 0;
        // Every added token begins with a bracket (the compiler checks it).
        while let Some(at) = memchr::memchr(b'[', rest.as_bytes().get(searched..).unwrap_or(&[])) {
            let at = searched + at;
            let tail = rest.as_bytes().get(at..).unwrap_or(&[]);
            let Some((token, id)) = self.added.iter().find(|(token, _)| tail.starts_with(token))
            else {
                searched = at + 1;
                continue;
            };
            reader.span(rest.get(..at).unwrap_or(""));
            reader.ids.push(*id);
            rest = rest.get(at + token.len()..).unwrap_or("");
            searched = 0;
        }
        reader.span(rest);
    }

    /// Appends the ids of one token of `super::tokens`, already folded.
    pub(super) fn encode_token(&self, folded: &str, ids: &mut Vec<u32>) {
        let bytes = folded.as_bytes();
        let is_sign = matches!(bytes, [byte] if byte.is_ascii_punctuation());
        if is_sign || bytes.iter().all(u8::is_ascii_alphanumeric) {
            self.split_word(bytes, ids);
        } else {
            self.encode(folded, ids);
        }
    }

    /// Tells whether a folded word is one token of the vocabulary.
    pub(super) fn is_token(&self, folded: &str) -> bool {
        self.trie.exact(folded.as_bytes()).is_some()
    }

    /// Greedy longest match; a word with a part that matches nothing is
    /// unknown as a whole.
    fn split_word(&self, word: &[u8], ids: &mut Vec<u32>) {
        if word.len() > self.max_word_chars && n_chars(word) > self.max_word_chars {
            ids.push(self.unknown);
            return;
        }
        let before = ids.len();
        let mut node = Trie::ROOT;
        let mut rest = word;
        while !rest.is_empty() {
            let Some((id, length)) = self.trie.longest_prefix(node, rest) else {
                ids.truncate(before);
                ids.push(self.unknown);
                return;
            };
            ids.push(id);
            rest = rest.get(length..).unwrap_or(&[]);
            node = self.continuation;
        }
    }
}

/// One pass over a text: the word read so far and the ids of those before it.
struct Reader<'a, 'i> {
    pieces: &'a WordPiece<'a>,
    word: Vec<u8>,
    ids: &'i mut Vec<u32>,
}

impl Reader<'_, '_> {
    /// Reads a stretch of text without added tokens; words end with it.
    fn span(&mut self, span: &str) {
        let bytes = span.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match ASCII[usize::from(byte)] {
                SPACE => self.flush(),
                lower @ 2.. => self.word.push(lower),
                NOT_WORD if is_plain(byte) => self.punctuation(&[byte]),
                _ => {
                    at = self.other(span, at);
                    continue;
                }
            }
            at += 1;
        }
        self.flush();
    }

    /// Reads a character outside printable ASCII: through the ready-made
    /// foldings where they reach, otherwise the whole run at once, because
    /// canonical decomposition looks at neighbours. Returns where it stopped.
    fn other(&mut self, span: &str, at: usize) -> usize {
        let bytes = span.as_bytes();
        if let (Some(&first @ 0xC2..=0xC9), Some(&second)) = (bytes.get(at), bytes.get(at + 1)) {
            let char = (u32::from(first & 0x1F) << 6) | u32::from(second & 0x3F);
            let fold = self.pieces.fold.get((char - FOLD_FIRST) as usize);
            if let Some(fold) = fold.filter(|fold| fold[0] != FOLD_NONE) {
                self.folded(*fold);
                return at + 2;
            }
        }
        let length = bytes.iter().skip(at).take_while(|byte| !is_plain(**byte)).count();
        let run = span.get(at..at + length).unwrap_or("");
        normalise(run, |char| {
            let mut buffer = [0; 4];
            self.put(classify(char), char.encode_utf8(&mut buffer).as_bytes());
        });
        at + length
    }

    fn folded(&mut self, fold: Fold) {
        let class = match fold[0] {
            FOLD_DROP => return,
            FOLD_SPACE => Class::Space,
            FOLD_PUNCTUATION => Class::Punctuation,
            _ => Class::Word,
        };
        let length = fold[1..].iter().take_while(|byte| **byte != 0).count();
        self.put(class, &fold[1..=length]);
    }

    fn put(&mut self, class: Class, bytes: &[u8]) {
        match class {
            Class::Word => self.word.extend_from_slice(bytes),
            Class::Space => self.flush(),
            Class::Punctuation => self.punctuation(bytes),
        }
    }

    fn punctuation(&mut self, bytes: &[u8]) {
        self.flush();
        self.pieces.split_word(bytes, self.ids);
    }

    fn flush(&mut self) {
        if !self.word.is_empty() {
            self.pieces.split_word(&self.word, self.ids);
            self.word.clear();
        }
    }
}

const FOLD_NONE: u8 = 0;
const FOLD_WORD: u8 = 1;
const FOLD_SPACE: u8 = 2;
const FOLD_PUNCTUATION: u8 = 3;
const FOLD_DROP: u8 = 4;

/// Returns the ready-made folding of a character that belongs to words.
pub(super) fn folded_word(folds: &[Fold], char: char) -> Option<&str> {
    let fold = folds.get(u32::from(char).checked_sub(FOLD_FIRST)? as usize)?;
    let length = fold.iter().skip(1).take_while(|byte| **byte != 0).count();
    let is_word = fold[0] == FOLD_WORD;
    std::str::from_utf8(fold.get(1..=length)?).ok().filter(|_| is_word)
}

/// Computes the entry for one character, for the table compiler.
///
/// Characters that would become several of different classes, or more than
/// three bytes, get an entry that sends the reader the long way.
pub(super) fn fold_entry(char: char) -> Fold {
    let mut fold = [0; 4];
    let mut bytes = Vec::new();
    let mut classes = Vec::new();
    normalise(char.encode_utf8(&mut [0; 4]), |char| {
        classes.push(classify(char));
        bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    });
    fold[0] = match classes.as_slice() {
        [] => FOLD_DROP,
        [Class::Space] => FOLD_SPACE,
        [Class::Punctuation] => FOLD_PUNCTUATION,
        _ if classes.iter().all(|class| *class == Class::Word) => FOLD_WORD,
        _ => FOLD_NONE,
    };
    match fold.get_mut(1..=bytes.len()) {
        Some(place) => place.copy_from_slice(&bytes),
        None => fold[0] = FOLD_NONE,
    }
    fold
}

/// BertNormalizer on a run outside plain ASCII: control characters dropped,
/// white space unified, CJK set apart, marks stripped, lower-cased.
fn normalise(run: &str, put: impl FnMut(char)) {
    run.chars()
        .flat_map(|char| {
            if char == '\0' || char == '\u{FFFD}' || is_control(char) {
                [None; 3]
            } else if char.is_whitespace() {
                [Some(' '), None, None]
            } else if is_cjk(char) {
                [Some(' '), Some(char), Some(' ')]
            } else {
                [Some(char), None, None]
            }
        })
        .flatten()
        .nfd()
        .filter(|char| !char.is_mark_nonspacing())
        .flat_map(char::to_lowercase)
        .for_each(put);
}

fn classify(char: char) -> Class {
    if char.is_whitespace() {
        Class::Space
    } else if char.is_ascii_punctuation() || char.is_punctuation() {
        Class::Punctuation
    } else {
        Class::Word
    }
}

fn is_control(char: char) -> bool {
    !matches!(char, '\t' | '\n' | '\r') && char.is_other()
}

/// The blocks BERT sets apart; hangul and kana are written with spaces or
/// split by pieces and are not among them.
fn is_cjk(char: char) -> bool {
    matches!(u32::from(char),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x2_0000..=0x2_A6DF | 0x2_A700..=0x2_B73F
        | 0x2_B740..=0x2_B81F | 0x2_B920..=0x2_CEAF | 0xF900..=0xFAFF | 0x2_F800..=0x2_FA1F)
}

/// Printable ASCII and the white space that is not a control character.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

fn n_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

/// What an ASCII byte is: its lower case where it belongs to a word, `SPACE`
/// for white space, `NOT_WORD` for punctuation, control and non-ASCII bytes.
const ASCII: [u8; 256] = ascii_classes();
const NOT_WORD: u8 = 0;
const SPACE: u8 = 1;

const fn ascii_classes() -> [u8; 256] {
    let mut classes = [NOT_WORD; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => SPACE,
            _ if byte.is_ascii_alphanumeric() => byte.to_ascii_lowercase(),
            _ => NOT_WORD,
        };
        byte += 1;
    }
    classes
}
