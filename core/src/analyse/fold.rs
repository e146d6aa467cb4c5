//! Folding of one word into a reused buffer: lower case, no accents, NFKD.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Appends `word`, folded, to `out`.
pub(super) fn push(word: &str, out: &mut String) {
    for c in word.chars() {
        push_char(c, out);
    }
}

/// Appends one character, folded; combining marks vanish.
pub(super) fn push_char(c: char, out: &mut String) {
    match c {
        '\0'..='\x7f' => out.push(c.to_ascii_lowercase()),
        'à'..='å' | 'À'..='Å' => out.push('a'),
        'è'..='ë' | 'È'..='Ë' => out.push('e'),
        'ì'..='ï' | 'Ì'..='Ï' => out.push('i'),
        'ò'..='ö' | 'Ò'..='Ö' => out.push('o'),
        'ù'..='ü' | 'Ù'..='Ü' => out.push('u'),
        'ñ' | 'Ñ' => out.push('n'),
        'ç' | 'Ç' => out.push('c'),
        // Han, kana and Hangul syllables need no folding, and NFKD would take
        // the syllables apart.
        '\u{3041}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => out.push(c),
        _ => {
            // Compatibility forms may bring symbols (`½` is `1⁄2`): only what
            // can stand in a term is kept.
            for d in [c].into_iter().nfkd().filter(|d| !is_combining_mark(*d)) {
                out.extend(d.to_lowercase().filter(|l| is_word(*l)));
            }
        }
    }
}

/// True for characters a word is made of: letters, numbers and private use.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{e000}'..='\u{f8ff}').contains(&c)
}

/// True for combining marks, which continue a word and vanish in its folding.
pub(super) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

/// True for scripts written without spaces, which are read as bigrams: Han,
/// kana, Hangul, Thai, Lao, Myanmar, Khmer.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// True for Han characters, which are words of their own.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3134f}')
}
