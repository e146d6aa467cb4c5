//! The words by which tools state outcomes and severities, in the languages
//! whose locales they are commonly run in. They help to rank lines; nothing is
//! kept or dropped by them alone (see `template` for the language-free part).

/// Lower-case words for a failure. Sorted, for binary search.
const FAILURE: &[&str] = &[
    "abort",
    "aborted",
    "aborting",
    "assert",
    "assertion",
    "broken",
    "cannot",
    "conflict",
    "conflicto",
    "conflicts",
    "corrupt",
    "corrupted",
    "corrupto",
    "crash",
    "crashed",
    "crashloopbackoff",
    "critical",
    "deadlock",
    "denegado",
    "denied",
    "dropped",
    "echec",
    "emerg",
    "err",
    "erreur",
    "erreurs",
    "erro",
    "error",
    "errore",
    "errored",
    "errores",
    "errors",
    "erros",
    "evicted",
    "excepción",
    "exception",
    "exceptions",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "falhou",
    "fallaron",
    "fallido",
    "fallo",
    "fallos",
    "falló",
    "falta",
    "faltan",
    "fatal",
    "fehler",
    "fehlgeschlagen",
    "imagepullbackoff",
    "impossible",
    "invalid",
    "invalido",
    "inválido",
    "killed",
    "ko",
    "leak",
    "mismatch",
    "missing",
    "nullpointerexception",
    "oomkilled",
    "overflow",
    "panic",
    "panicked",
    "refused",
    "rejected",
    "segfault",
    "severe",
    "timeout",
    "unable",
    "uncaught",
    "undefined",
    "unexpected",
    "unhandled",
    "unreachable",
    "unresolved",
    "unsatisfiable",
    "violation",
    "échec",
];

/// Lower-case words for a warning. Sorted.
const WARNING: &[&str] = &[
    "advertencia",
    "advertencias",
    "attention",
    "avertissement",
    "aviso",
    "avisos",
    "avviso",
    "caution",
    "deprecated",
    "deprecation",
    "obsolete",
    "obsoleto",
    "unused",
    "vulnerabilities",
    "warn",
    "warning",
    "warnings",
    "warnung",
    "warnungen",
];

/// Lower-case words for a success. Sorted.
const SUCCESS: &[&str] =
    &["correcto", "done", "ok", "pass", "passed", "passing", "pasó", "succeeded", "success"];

/// Lower-case words for a level or an outcome that are neither. Sorted.
const NEUTRAL: &[&str] = &[
    "cached",
    "debug",
    "ignored",
    "info",
    "informational",
    "not",
    "nota",
    "note",
    "notice",
    "pending",
    "skip",
    "skipped",
    "todo",
    "trace",
    "up-to-date",
    "verbose",
    "xfail",
    "xpass",
];

/// What a word says about its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A failure.
    Failure,
    /// A warning.
    Warning,
    /// A success.
    Success,
    /// A level or outcome that is none of these.
    Neutral,
    /// Nothing.
    Plain,
}

/// Slots of the table of all words: a power of two, a quarter of it in use.
const SLOTS: usize = 512;

/// All words by hash; open addressing.
static TABLE: [(u32, Word); SLOTS] = {
    let mut table = [(0, Word::Plain); SLOTS];
    let lists = [
        (FAILURE, Word::Failure),
        (WARNING, Word::Warning),
        (SUCCESS, Word::Success),
        (NEUTRAL, Word::Neutral),
    ];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].0.len() {
            let key = key(lists[list].0[at].as_bytes());
            let mut slot = key as usize % SLOTS;
            while table[slot].0 != 0 {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = (key, lists[list].1);
            at += 1;
        }
        list += 1;
    }
    table
};

/// FNV-1a over lower-case ASCII; never 0. That no two words share a key, and
/// that plain words rarely hit one, is what the table relies on.
const fn key(word: &[u8]) -> u32 {
    let mut key = 0x811c_9dc5_u32;
    let mut at = 0;
    while at < word.len() {
        key = (key ^ word[at].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    key | 1
}

/// Looks a word up, whatever its case. Words over 24 bytes are plain, except
/// names that end in `Error`, `Exception` or `Failure`.
pub(super) fn word(token: &[u8]) -> Word {
    let n = token.len();
    let first = token.first().copied().unwrap_or(b' ');
    if n > 7
        && first.is_ascii_uppercase()
        && [b"Error".as_slice(), b"Exception", b"Failure", b"Fault"]
            .iter()
            .any(|end| token.ends_with(end))
    {
        return Word::Failure;
    }
    if !(2..=24).contains(&n) || !first.is_ascii_alphabetic() && first < 0x80 {
        return Word::Plain;
    }
    let token = token.strip_suffix(b"!").or_else(|| token.strip_suffix(b".")).unwrap_or(token);
    let key = key(token);
    let mut slot = key as usize % SLOTS;
    loop {
        match TABLE[slot] {
            (0, _) => return Word::Plain,
            (found, word) if found == key => return word,
            _ => slot = (slot + 1) % SLOTS,
        }
    }
}

/// Whether two lines that differ in this word are of different kinds.
pub(super) fn is_status(token: &[u8]) -> bool {
    word(token) != Word::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [FAILURE, WARNING, SUCCESS, NEUTRAL] {
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            assert_eq!(list, sorted);
        }
    }

    #[test]
    fn no_two_words_share_a_key() {
        let mut keys: Vec<u32> = [FAILURE, WARNING, SUCCESS, NEUTRAL]
            .iter()
            .flat_map(|list| list.iter())
            .map(|word| key(word.as_bytes()))
            .collect();
        let n = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), n);
        assert!(n * 3 < SLOTS * 2);
    }

    #[test]
    fn words_are_known_in_any_case_and_language() {
        assert_eq!(word(b"FAILED"), Word::Failure);
        assert_eq!(word("falló".as_bytes()), Word::Failure);
        assert_eq!(word(b"IntegrityError"), Word::Failure);
        assert_eq!(word(b"aviso"), Word::Warning);
        assert_eq!(word(b"ok"), Word::Success);
        assert_eq!(word(b"errorless"), Word::Plain);
        assert_eq!(word(b"a"), Word::Plain);
    }
}
