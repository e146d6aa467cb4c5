//! What a value looks like: a placeholder, a reference to somewhere else, a
//! random key, a password a person chose, or just a word.
//!
//! Everything here reads the value once and nothing around it.

use super::words::{ALGORITHMS, NOUNS, PLACEHOLDERS, is_listed};

/// Counts by kind of character; bytes above ASCII count as letters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digit: usize,
    pub(super) symbol: usize,
    /// Changes between capital and small letters.
    pub(super) turns: usize,
    /// Different bytes.
    pub(super) variety: usize,
    /// Only `0-9a-fA-F`.
    pub(super) is_hex: bool,
}

impl Traits {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut traits = Self { is_hex: true, ..Self::default() };
        let mut seen = [false; 256];
        let mut last_upper = None;
        for byte in value {
            seen[usize::from(*byte)] = true;
            traits.is_hex &= byte.is_ascii_hexdigit();
            match byte {
                b'0'..=b'9' => traits.digit += 1,
                b'A'..=b'Z' | b'a'..=b'z' => {
                    let is_upper = byte.is_ascii_uppercase();
                    traits.turns += usize::from(last_upper.is_some_and(|last| last != is_upper));
                    last_upper = Some(is_upper);
                    if is_upper { traits.upper += 1 } else { traits.lower += 1 }
                }
                0x80.. => traits.lower += 1,
                _ => traits.symbol += 1,
            }
        }
        traits.variety = seen.iter().filter(|seen| **seen).count();
        traits
    }

    fn n_letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// Splits at everything that is neither letter nor digit.
fn segments(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| !byte.is_ascii_alphanumeric() && *byte < 0x80)
        .filter(|segment| !segment.is_empty())
}

/// True for what stands where a credential would: masks, fillers, sequences
/// and "your-key-here". A filler word counts only as a whole segment.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    value.is_empty()
        || is_filler(value)
        || segments(value).any(|segment| segment.len() <= 12 && is_listed(PLACEHOLDERS, segment))
        || segments(value).all(|segment| is_listed(NOUNS, segment))
        || value.ends_with(b"EXAMPLE")
        || value.ends_with(b"EXAMPLEKEY")
}

/// True for masks (`****`, `••••`, `xxxx`, `...`), one byte over and over, and
/// runs of the alphabet or the digits.
fn is_filler(value: &[u8]) -> bool {
    let mut same = 1;
    let mut rising = 1;
    let mut last = None;
    for byte in value {
        same = if last == Some(*byte) { same + 1 } else { 1 };
        let follows = last.is_some_and(|last: u8| last.wrapping_add(1) == *byte);
        rising = if follows && byte.is_ascii_alphanumeric() { rising + 1 } else { 1 };
        last = Some(*byte);
        let mask = match byte {
            b'*' | b'.' => 3,
            b'x' | b'X' => 4,
            b'0'..=b'9' => 9,
            b'a'..=b'z' | b'A'..=b'Z' => 6,
            _ => 8,
        };
        if same >= mask || rising >= 8 {
            return true;
        }
    }
    let masks = ["…", "•", "●", "█", "∙", "⋯"];
    !value.is_ascii() && masks.iter().any(|mask| contains(value, mask.as_bytes()))
}

/// True for a value that is taken from elsewhere: variables, templates,
/// references to a vault, calls, paths, URLs.
pub(super) fn is_reference(value: &[u8], is_quoted: bool) -> bool {
    is_template(value) || is_path(value) || (!is_quoted && is_code(value))
}

fn contains(value: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(value, needle).is_some()
}

/// `${X}`, `$X`, `%X%`, `{{ x }}`, `<x>`, `[x]`, `!vault`, `op://…`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let inner = |open: u8, close: u8| value.first() == Some(&open) && value.last() == Some(&close);
    let is_name = |name: &[u8]| {
        !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b))
    };
    match value {
        [b'$', b'{' | b'(' | b'\'' | b'[', ..] | [b'{', b'{' | b'%' | b'$', ..] => return true,
        [b'$', rest @ ..]
            if rest.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count() > 2
                && rest.iter().find(|b| !b.is_ascii_alphabetic() && **b != b'_') == Some(&b'(') =>
        {
            return true;
        }
        [b'$', name @ ..] if is_name(name) && !name[0].is_ascii_digit() => {
            return !name.iter().any(u8::is_ascii_digit) || name.contains(&b'_');
        }
        [b'%', name @ .., b'%'] if is_name(name) => return true,
        [b'%', rest @ ..]
            if memchr::memchr(b'%', rest).is_some_and(|n| {
                n > 3 && rest[..n].iter().all(|b| b.is_ascii_uppercase() || *b == b'_')
            }) =>
        {
            return true;
        }
        [b'!' | b'&' | b'@', name @ ..] if name.iter().all(u8::is_ascii_alphabetic) => return true,
        _ => {}
    }
    inner(b'<', b'>')
        || inner(b'[', b']')
        || inner(b'{', b'}')
        || inner(b'(', b')')
        || [&b"${"[..], b"{{", b"$(", b"%(", b"<%", b"://", b"secretsmanager", b"[REDACTED"]
            .iter()
            .any(|mark| contains(value, mark))
}

/// Absolute and relative paths, file names, and slash-separated words.
fn is_path(value: &[u8]) -> bool {
    let n_line = value.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b':').count();
    let value = value.get(..value.len() - n_line).unwrap_or_default();
    const ENDINGS: &[&str] = &[
        "pem", "key", "pub", "crt", "cer", "p12", "pfx", "jks", "json", "yaml", "yml", "toml",
        "txt", "env", "ini", "md", "rs", "py", "js", "ts", "go", "java", "html", "css", "sh",
        "sql", "xml", "csv", "png", "jpg", "svg", "pdf", "gpg", "asc", "kdbx", "cfg", "conf",
        "com", "org", "net", "io", "dev", "dll", "exe", "so", "h", "hpp", "c", "cpp", "cs", "rb",
        "php", "service", "log", "lock", "tgz", "zip", "gz",
    ];
    let starts = [&b"/"[..], b"./", b"../", b"~/", b"C:\\", b"\\\\"];
    let slashes = value.iter().filter(|byte| **byte == b'/').count();
    let longest = value.split(|byte| *byte == b'/').map(<[u8]>::len).max().unwrap_or(0);
    let wordiness = wordiness(value);
    let is_rooted = starts.iter().any(|start| value.starts_with(start));
    if is_rooted && longest < 24 && (slashes > 1 || wordiness > 50) {
        return true;
    }
    if slashes > 0 && wordiness >= 60 {
        return true;
    }
    let Some(dot) = value.iter().rposition(|byte| *byte == b'.') else { return false };
    let (stem, ending) =
        (value.get(..dot).unwrap_or_default(), value.get(dot + 1..).unwrap_or_default());
    is_listed(ENDINGS, ending)
        && !stem.is_empty()
        && stem.iter().all(|b| b.is_ascii_alphanumeric() || b"_.-/@:".contains(b))
}

/// Calls, subscripts, dotted names, types: what stands bare in source code.
fn is_code(value: &[u8]) -> bool {
    let marks = [&b"::"[..], b"()", b"->", b"=>", b"&&", b"||", b"??", b"<-", b"=="];
    // Base64 may end in `==`.
    let n_padding = value.iter().rev().take_while(|b| **b == b'=').count();
    let unpadded = value.get(..value.len() - n_padding).unwrap_or_default();
    if marks.iter().any(|mark| contains(unpadded, mark)) {
        return true;
    }
    let head = value.iter().position(|b| !(b.is_ascii_alphanumeric() || b"_.".contains(b)));
    let head = head.unwrap_or(value.len());
    let name = value.get(..head).unwrap_or_default();
    let is_name = name.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let is_number = |digits: &[u8]| digits.iter().all(|b| b.is_ascii_hexdigit() || *b == b'_');
    if is_constant(value) || value.strip_prefix(b"0x").is_some_and(is_number) {
        return true;
    }
    match value.get(head) {
        Some(b'(' | b'[' | b'{') if is_name => true,
        Some(b'!') if is_name && matches!(value.get(head + 1), Some(b'(' | b'[' | b'{')) => true,
        Some(b'&' | b'*') if head == 0 && is_dotted_name(value.get(1..).unwrap_or_default()) => {
            true
        }
        // `*const`, `&mut`: a pointer or a reference to a name.
        Some(b'*' | b'&') if head == 0 => value.iter().skip(1).all(|b| b.is_ascii_lowercase()),
        _ => is_dotted_name(value) || is_type_name(value),
    }
}

/// `WIN32_ERROR`: words in capitals joined by underscores.
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_')
        && value.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
        && wordiness(value) >= 40
}

/// `import.meta.env.VITE_X`, `cfg.password`, `s3:GetObject`: names joined by
/// dots or a colon.
fn is_dotted_name(value: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        part.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'$')
            && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$')
    };
    let is_word = |part: &[u8]| part.len() <= 4 || wordiness(part) >= 40;
    // `Madrid.Falcon93` is what a person chooses, not a name in a program.
    let n_digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let is_chosen = n_digits >= 2 && value.first().is_some_and(u8::is_ascii_uppercase);
    let is_mark = |b: &u8| matches!(b, b'.' | b':');
    value.iter().any(is_mark)
        && value.split(is_mark).all(is_name)
        && (value.split(is_mark).all(is_word) || value.len() < 12)
        && !is_chosen
}

/// `private_key_pkcs8`: small words joined by underscores.
pub(super) fn is_snake_name(value: &[u8]) -> bool {
    value.contains(&b'_')
        && value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_')
        && segments(value).all(|part| {
            let n = part.iter().take_while(|b| b.is_ascii_alphabetic()).count();
            n > 0 && part.len() - n <= 3
        })
        && wordiness(value) >= 40
}

/// `u32`, `__u32`, `uint32_t`, `char16_t`, `varchar255`.
fn is_type_name(value: &[u8]) -> bool {
    let stem: Vec<u8> =
        value.iter().filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    let types = [
        "u", "i", "f", "int", "uint", "intt", "uintt", "chart", "char", "varchar", "string", "str",
        "float", "bool", "bytes", "nvarchar",
    ];
    value.iter().all(|b| b.is_ascii_alphanumeric() || b"_()".contains(b))
        && types.iter().any(|name| stem == name.as_bytes())
}

/// How much of the value is words, in percent of its letters. Capitals make
/// words only where there are no small letters beside them.
pub(super) fn wordiness(value: &[u8]) -> usize {
    let has_lower = value.iter().any(u8::is_ascii_lowercase);
    let mut letters = 0;
    let mut wordy = 0;
    let mut piece = 0..0;
    let mut close = |piece: &std::ops::Range<usize>| {
        let piece = value.get(piece.clone()).unwrap_or_default();
        let is_shouted = piece.get(1).is_some_and(u8::is_ascii_uppercase);
        if !(is_shouted && has_lower) && is_wordlike(piece) {
            wordy += piece.len();
        }
    };
    for (at, byte) in value.iter().enumerate() {
        let is_letter = byte.is_ascii_alphabetic() || *byte >= 0x80;
        letters += usize::from(is_letter);
        let last = at.checked_sub(1).map_or(b' ', |i| value[i]);
        let is_hump = byte.is_ascii_uppercase() && !last.is_ascii_uppercase();
        let is_drop = byte.is_ascii_lowercase() && last.is_ascii_uppercase() && piece.len() > 1;
        if !is_letter || is_hump || is_drop {
            close(&piece);
            piece.start = if is_letter { at } else { at + 1 };
        }
        piece.end = at + 1;
    }
    close(&piece);
    (wordy * 100).checked_div(letters).unwrap_or(0)
}

/// For each letter the letters that follow it in words, as bits from `a`: the
/// 297 pairs that make up 96.5 % of the letter pairs in 16,000 English and
/// Spanish words. 95 % of those words have three of four pairs among them;
/// random pieces of four to ten letters do in 6 to 26 % of cases.
const FOLLOWERS: [u32; 26] = [
    0x13e_bd6e, 0x116_4911, 0x01e_4d95, 0x016_d939, 0x1ff_fb7f, 0x11e_4931, 0x016_69d1, 0x01a_4111,
    0x2ae_f87f, 0x014_4011, 0x004_0110, 0x13c_d919, 0x114_d113, 0x03e_fd7d, 0x0fe_fd6f, 0x01e_c99d,
    0x010_0000, 0x13e_fd7f, 0x15d_ddb5, 0x11e_d9bd, 0x00e_b95f, 0x000_4111, 0x006_6191, 0x008_8110,
    0x00c_e110, 0x000_4111,
];

/// True for a piece of four letters or more that could be (part of) a word.
pub(super) fn is_wordlike(piece: &[u8]) -> bool {
    let letter = |byte: u8| usize::from((byte | 0x20).wrapping_sub(b'a'));
    let is_common = |pair: &[u8]| match pair {
        [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            FOLLOWERS[letter(*a)] >> letter(*b) & 1 == 1
        }
        // Letters beyond ASCII are those of words.
        [a, b] => (*a >= 0x80 || *b >= 0x80) && !a.is_ascii_digit() && !b.is_ascii_digit(),
        _ => false,
    };
    let is_vowel = |byte: &u8| b"aeiouyAEIOUY".contains(byte) || *byte >= 0x80;
    piece.len() >= 4
        && piece.iter().any(is_vowel)
        && piece.windows(2).filter(|pair| is_common(pair)).count() * 20
            >= (piece.len() - 1) * if piece.len() > 10 { 17 } else { 15 }
}

/// 8-4-4-4-12 hexadecimal.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// True for dates, times, numbers with units, versions, ratios.
pub(super) fn is_measure(value: &[u8]) -> bool {
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let is_version = matches!(value, [b'v' | b'V', b'0'..=b'9', ..]) && letters <= 2;
    let is_numeric = value.iter().all(|b| b.is_ascii_digit() || b":.,/-+TZ%xX_".contains(b));
    let starts_with_digit = value.first().is_some_and(u8::is_ascii_digit);
    let unit = value.len()
        - value.iter().rev().take_while(|b| b.is_ascii_alphabetic() || **b == b'%').count();
    let head = value.get(..unit).unwrap_or_default();
    let is_unit = starts_with_digit
        && value.len() - unit <= 4
        && head.iter().all(|b| b.is_ascii_digit() || b".,-/".contains(b))
        && unit < value.len()
        && unit < 7;
    is_version || (is_numeric && (value.len() != digits || digits < 6)) || is_unit
}

/// True for the name of an algorithm or a standard: `AES-256`, `ed25519`.
fn is_algorithm(value: &[u8]) -> bool {
    let stem: Vec<u8> = value.iter().filter(|b| b.is_ascii_alphabetic()).copied().collect();
    value.len() <= 24 && is_listed(ALGORITHMS, &stem)
}

/// True for a key no person would choose: hexadecimal, UUID, or letters and
/// digits in no order. At least 16 bytes, or 12 when three kinds are mixed.
pub(super) fn is_random(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    let len = value.len();
    if len < 12 || traits.variety < 7 || is_placeholder(value) || is_measure(value) {
        return false;
    }
    if is_uuid(value) {
        return true;
    }
    let is_key_byte = |b: &u8| b.is_ascii_alphanumeric() || b"+/_-=.~%:$#@!*^&".contains(b);
    let is_range = memchr::memmem::find(value, b"..").is_some();
    if !value.iter().all(is_key_byte) || is_range || is_slug(value) || value.starts_with(b"age1") {
        return false;
    }
    if traits.is_hex {
        return len >= 20 && traits.digit > 0 && traits.n_letters() > 0 && traits.variety >= 8;
    }
    if is_interspersed(value) || is_base32(value) {
        return true;
    }
    let kinds = [traits.lower, traits.upper, traits.digit].iter().filter(|n| **n > 0).count();
    let wordiness = wordiness(value);
    if wordiness >= 50 || traits.symbol * 3 > len {
        return false;
    }
    match kinds {
        3 => true,
        2 if traits.digit > 0 => len >= 16 && traits.digit * 16 >= len && wordiness < 40,
        2 => len >= 20 && traits.turns * 5 >= len && wordiness < 30,
        _ => false,
    }
}

/// The share of letters, in percent, that stand in humps of three or more, as
/// in `camelCaseNames`: about 90 in names, 40 in random keys.
fn camel_share(value: &[u8]) -> usize {
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let mut in_humps = 0;
    let mut at = 0;
    while at < value.len() {
        let start = at;
        at += usize::from(value[at].is_ascii_uppercase());
        while value.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        in_humps += if at - start >= 3 { at - start } else { 0 };
        at = at.max(start + 1);
    }
    (in_humps * 100).checked_div(letters).unwrap_or(0)
}

/// Letters and digits in turns, without a separator: no name is like that.
pub(super) fn is_interspersed(value: &[u8]) -> bool {
    let is_key_byte = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'=');
    let turns = value.windows(2).filter(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    value.len() >= 20 && value.iter().all(is_key_byte) && turns.count() >= 3
}

/// Base32 in capitals, as keys of a second factor are written.
fn is_base32(value: &[u8]) -> bool {
    let is_inner_digit = value.iter().rev().skip(4).any(u8::is_ascii_digit);
    value.len() >= 16
        && value.len().is_multiple_of(8)
        && is_inner_digit
        && value.iter().all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'))
}

/// True for hexadecimal of the length of a hash, and for UUIDs.
pub(super) fn is_hash_like(value: &[u8]) -> bool {
    is_uuid(value) || (value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit))
}

/// `aes256-cts-hmac-sha1-96`, `2024-01-02/deploy`: short parts of one kind
/// each, in one case. (A UUID is no slug: its parts mix letters and digits.)
pub(super) fn is_slug(value: &[u8]) -> bool {
    let has_lower = value.iter().any(u8::is_ascii_lowercase);
    let has_upper = value.iter().any(u8::is_ascii_uppercase);
    let parts = segments(value).count();
    // `mm256` counts as a word, `4f1c` does not.
    let of_one_kind = |part: &&[u8]| {
        let n_letters = part.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let rest = part.get(n_letters..).unwrap_or_default();
        part.len() <= 10 && rest.iter().all(u8::is_ascii_digit)
    };
    !(has_lower && has_upper)
        && parts >= 3
        && segments(value).filter(of_one_kind).count() * 2 >= parts
}

/// A random key without the looks of a mere identifier: what a bare `key` or
/// `auth` needs, where hashes and UUIDs are everyday.
pub(super) fn is_strongly_random(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    value.len() >= 20
        && !traits.is_hex
        && !is_uuid(value)
        && traits.upper > 0
        && traits.lower > 0
        && traits.turns * 8 >= value.len()
        && (wordiness(value) < 35 || is_interspersed(value))
        && camel_share(value) < 75
        && is_random(value)
}

/// True for a password a person might have chosen or been given: letters with
/// a digit or a symbol inside, no white space, at least `min` characters.
pub(super) fn is_password(value: &[u8], min: usize) -> bool {
    let n_chars = value.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    let traits = Traits::of(value);
    if n_chars < min || traits.variety < 4 || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    if is_placeholder(value)
        || is_measure(value)
        || is_algorithm(value)
        || is_type_name(value)
        || is_email(value)
    {
        return false;
    }
    let inner = value.get(1..value.len() - 1).unwrap_or_default();
    let symbols = inner.iter().filter(|b| b"!@#$%^&*?~+=".contains(b)).count();
    let is_mixed = traits.upper > 0 && traits.lower > 0;
    (traits.digit > 0 && traits.n_letters() > 0)
        || (traits.digit > 0 && traits.symbol > 1 && traits.symbol + traits.digit >= 8)
        || (symbols > 0 && traits.n_letters() > 0 && (is_mixed || symbols > 1))
}

/// True for letters alone that are no words: what a generator without digits
/// gives. Only for labels that leave no doubt.
pub(super) fn is_letter_password(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    value.len() >= 10
        && traits.lower + traits.upper == value.len()
        && traits.lower > 0
        && traits.upper > 0
        && traits.turns >= 2
        && wordiness(value) < 40
        && !is_placeholder(value)
}

fn is_email(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|b| *b == b'@') else { return false };
    let host = value.get(at + 1..).unwrap_or_default();
    at > 0
        && host.contains(&b'.')
        && host.iter().all(|b| b.is_ascii_alphanumeric() || b".-".contains(b))
        && host
            .rsplit(|b| *b == b'.')
            .next()
            .is_some_and(|end| end.len() >= 2 && end.iter().all(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_and_templates_are_not_values() {
        for text in [
            "changeme",
            "YOUR_API_KEY",
            "xoxb-your-bot-token",
            "00000000000000000000",
            "********",
            "sk-...AbCd",
            "AKIAIOSFODNN7EXAMPLE",
            "my-secret-token",
            "ghp_1234567890abcdefghij",
            "••••••",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in [
            "${API_KEY}",
            "$GITHUB_TOKEN",
            "%API_KEY%",
            "<token>",
            "!vault",
            "op://Private/x/y",
            "import.meta.env.VITE_X",
            "os.environ['X']",
            "var.db_password",
            "getpass('x')",
            "prod/db/creds-v2",
            "/run/secrets/db_password",
        ] {
            assert!(is_reference(text.as_bytes(), false), "{text}");
        }
    }

    #[test]
    fn people_choose_passwords_with_digits_and_symbols() {
        for text in [
            "Emb3r_872x",
            "meadow-orbit-gravel-16",
            "Ember50@",
            "Luna3500!",
            "M0nt4ñ4_173!",
            "Jungle2964.",
        ] {
            assert!(is_password(text.as_bytes(), 6), "{text}");
        }
        for text in [
            "unchanged",
            "2026-11-02",
            "v1.2.3",
            "RSA-4096",
            "ed25519",
            "38k",
            "14/15",
            "__u32",
            "ana@example.com",
            "changeme1!changeme",
        ] {
            assert!(!is_password(text.as_bytes(), 6), "{text}");
        }
    }

    #[test]
    fn keys_have_no_words_in_them() {
        for text in [
            "393afbff64d2d42a9c5bc0fe37ce9a1b",
            "725g25gf8mdm5b9tzh7zght8xyfjzrj5",
            "gNEAPTHIMUUOWJYCzsUaUsnmewmUEkvuungHHl7NKIn",
            "uWSQtE_J6yaXTflFpa4OVGMmidYbPvb2Q0LRt0GS",
        ] {
            assert!(is_random(text.as_bytes()), "{text}");
        }
        for text in [
            "north-northeast-32",
            "accountListenerFactory2",
            "MyCompany/Project/Secrets/Manager",
            "callFunctionCheckIfDataTokenAlreadyExists1",
        ] {
            assert!(!is_random(text.as_bytes()), "{text}");
        }
    }
}
