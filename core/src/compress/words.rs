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

/// Looks a word up, whatever its case. Words over 24 bytes are plain, except
/// names that end in `Error`, `Exception` or `Failure`.
pub(super) fn word(token: &[u8]) -> Word {
    let n = token.len();
    if n < 2 {
        return Word::Plain;
    }
    if n > 7
        && token.first().is_some_and(u8::is_ascii_uppercase)
        && [b"Error".as_slice(), b"Exception", b"Failure", b"Fault"]
            .iter()
            .any(|end| token.ends_with(end))
    {
        return Word::Failure;
    }
    if n > 24 || !token.first().is_some_and(|b| b.is_ascii_alphabetic() || *b >= 0x80) {
        return Word::Plain;
    }
    let mut buf = [0_u8; 24];
    for (to, from) in buf.iter_mut().zip(token) {
        *to = from.to_ascii_lowercase();
    }
    let lower = buf.get(..n).unwrap_or_default();
    let lower = lower.strip_suffix(b"!").unwrap_or(lower);
    let lower = lower.strip_suffix(b".").unwrap_or(lower);
    let within = |list: &[&str]| list.binary_search_by(|entry| entry.as_bytes().cmp(lower)).is_ok();
    if within(FAILURE) {
        Word::Failure
    } else if within(WARNING) {
        Word::Warning
    } else if within(SUCCESS) {
        Word::Success
    } else if within(NEUTRAL) {
        Word::Neutral
    } else {
        Word::Plain
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
