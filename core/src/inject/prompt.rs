//! What a prompt is: the user's question, a nod, a follow-up, or the agent's own
//! machinery talking.
//!
//! Decided from the text alone, before anything is opened: most calls end here.
//! Word lists are English and Spanish; a prompt in another language counts as a
//! question, and the gate decides.

use crate::analyse::is_function_word;
use crate::text::{fold, prefix};

/// What is to be done with a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    /// It stands on its own.
    Question,
    /// It is understood only with the turn before it.
    FollowUp {
        /// True if it has words of its own worth searching for.
        has_topic: bool,
    },
    /// It asks nothing a note could answer; why, in a word for the log.
    Silence(&'static str),
}

/// Words that carry a conversation on and no topic.
const CHATTER: &str = " adelante again agreed ahead alright anda arriba awesome bien bueno buenas \
    buenos bye carry claro commit confirmed continua continuar continue cool correct correcto dale \
    danke done exactamente exactly exacto excelente excellent fine genial go good got gracias great \
    hazlo haz hecho hello hey hi hola intentalo ja keep lgtm listo look looks luego merci mejor \
    mostly nah neat next nice nope obrigado ok okay okey okk oui perdona perfect perfecta perfecto \
    pls please porfa porfavor por favor proceed procede proceder push resume retry right sale \
    sigue siga seguir seguimos show siguiente sim sip sorry start stop sounds sure thank thanks thx \
    tienes razon try understood vale vamos venga wait weiter wow yeah yep yes yup yay para espera \
    deshaz eres going keep lunch segura seguro soy undo ship merge run vez otra dia dias tarde tardes noche noches day morning evening see let work works ";

/// Words that point back and name nothing.
const GENERIC: &str = " after afterwards antes before cosa cosas despues detail details detalle \
    detalles else explain explica explicame elaborate ejemplo ejemplos example examples happen \
    happened happens later mean means mas more now paso pasa pasar primero same siguiente significa \
    thing things ahora tell know sabes dime cuentame point part parte one ones second first last \
    ultimo ultima segundo segunda previous anterior above remember recuerdas ";

/// Words a follow-up opens with.
const LEADS: &str = " also although and but como cual cuales cuando cuanto donde entonces how \
    however ademas pero plus por porque que quien so tambien then what when where which who why y e ";

/// Words that stand for something said before.
const ANAPHORA: &str = " it its that this those these them they he she him her there ese esa eso \
    esos esas esto esta este estos estas lo le les ello ellos ellas ella aquello aquel aquella \
    alli ahi ";

/// Most words of a prompt that may need the turn before it.
const MAX_FOLLOW_UP_WORDS: usize = 14;

/// Reads a prompt.
pub(super) fn classify(prompt: &str) -> Prompt {
    let prompt = prompt.trim();
    if prompt.is_empty() {
        return Prompt::Silence("empty-prompt");
    }
    if is_machine(prompt) {
        return Prompt::Silence("machine-prompt");
    }
    if is_command(prompt) {
        return Prompt::Silence("slash-command");
    }
    let words = Words::of(prompt);
    if words.n_topic == 0 {
        return if words.is_follow_up(prompt) {
            Prompt::FollowUp { has_topic: false }
        } else {
            Prompt::Silence("short-prompt")
        };
    }
    if words.has_name || words.has_ideographs {
        return Prompt::Question;
    }
    if words.n_topic <= 3 && words.n_all <= MAX_FOLLOW_UP_WORDS && words.points_back() {
        return Prompt::FollowUp { has_topic: true };
    }
    // One plain word is no question; one in a sentence is for the gate to judge.
    if words.n_topic == 1 && words.n_all <= 2 {
        return Prompt::Silence("short-prompt");
    }
    Prompt::Question
}

/// Returns true for text the agent's own machinery writes in the user's place.
pub(super) fn is_machine(text: &str) -> bool {
    const OPENINGS: [&str; 8] = [
        "[Request interrupted",
        "Caveat: The messages below",
        "This session is being continued from a previous conversation",
        "Another Claude session sent a message",
        "Stop hook feedback",
        "[SYSTEM NOTIFICATION",
        "Base directory for this skill:",
        "# AGENTS.md instructions",
    ];
    let text = text.trim_start();
    if OPENINGS.iter().any(|opening| text.starts_with(opening)) {
        return true;
    }
    let Some(after) = text.strip_prefix('<') else { return false };
    let end = after.find(|c: char| !(c.is_ascii_lowercase() || "-_:".contains(c)));
    let name = prefix(after, end.unwrap_or(after.len()));
    // `<task-notification>`, `<user_instructions>`: HTML tags have neither, and
    // a custom element would have to wrap the whole prompt.
    let is_known = ["task-", "command-", "local-command", "system-", "teammate-", "bash-", "user-"]
        .iter()
        .any(|start| name.starts_with(start));
    let is_compound = name.contains(['-', '_', ':']);
    is_known || (is_compound && text.trim_end().ends_with(&format!("</{name}>")))
}

/// Returns true for `/command …` and `!command …`, but not for a path.
fn is_command(prompt: &str) -> bool {
    if prompt.starts_with('!') {
        return true;
    }
    let Some(rest) = prompt.strip_prefix('/') else { return false };
    let name = rest.split_whitespace().next().unwrap_or("");
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c))
}

/// What the words of a prompt are.
#[derive(Default)]
struct Words {
    n_all: usize,
    n_topic: usize,
    has_name: bool,
    has_ideographs: bool,
    has_lead: bool,
    has_anaphora: bool,
    has_generic: bool,
    is_one_letter: bool,
}

impl Words {
    fn of(prompt: &str) -> Self {
        let mut words = Self::default();
        let mut is_start = true;
        for raw in prompt.split_whitespace() {
            let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
            if word.is_empty() {
                continue;
            }
            let folded = fold(word);
            words.n_all += 1;
            words.has_lead |= words.n_all == 1 && has(LEADS, &folded);
            words.has_anaphora |= has(ANAPHORA, &folded);
            words.has_generic |= has(GENERIC, &folded);
            if is_topic(&folded) {
                words.n_topic += 1;
                words.has_name |= is_name(word, is_start);
                words.has_ideographs |= n_ideographs(word) >= 4;
            }
            is_start = raw.ends_with(['.', '!', '?', ':', '…', '\n']);
        }
        words.is_one_letter =
            words.n_all == 1 && prompt.chars().filter(|c| c.is_alphabetic()).count() < 2;
        words
    }

    /// A prompt without a topic asks on when it is a question, or opens as one.
    fn is_follow_up(&self, prompt: &str) -> bool {
        let asks = prompt.contains(['?', '？', '¿']);
        !self.is_one_letter
            && self.n_all <= MAX_FOLLOW_UP_WORDS
            && (asks && (self.has_lead || self.has_generic || self.has_anaphora)
                || self.has_lead && (self.has_generic || self.n_all == 1)
                || self.has_generic && self.has_anaphora)
    }

    fn points_back(&self) -> bool {
        self.has_anaphora || self.has_lead && self.has_generic
    }
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// A word that a note could be found by.
pub(super) fn is_topic(folded: &str) -> bool {
    let is_long = folded.chars().nth(1).is_some() || n_ideographs(folded) > 0;
    is_long
        && folded.chars().any(char::is_alphabetic)
        && !is_function_word(folded)
        && ![CHATTER, GENERIC, ANAPHORA, LEADS].iter().any(|list| has(list, folded))
}

/// A proper noun or an identifier: what makes a prompt stand on its own.
pub(super) fn is_name(word: &str, is_sentence_start: bool) -> bool {
    let mut chars = word.chars();
    let is_capital = chars.next().is_some_and(char::is_uppercase);
    let has_inner_capital = chars.clone().any(char::is_uppercase);
    let has_lower = chars.any(char::is_lowercase);
    let is_acronym = is_capital && has_inner_capital && !has_lower && word.len() <= 8;
    is_identifier(word) || is_acronym || (is_capital && !is_sentence_start)
}

/// `snake_case`, `camelCase`, `std::fmt`, `foo.rs`, `E0277`, `--flag`.
pub(super) fn is_identifier(word: &str) -> bool {
    let inner: Vec<char> = word.chars().collect();
    let joins = |pair: &[char]| matches!(pair, [a, '_' | '.' | ':' | '/' | '#' | '@', c] if a.is_alphanumeric() && (c.is_alphanumeric() || *c == ':'));
    let has_digit = inner.iter().any(char::is_ascii_digit);
    let has_letter = inner.iter().any(|c| c.is_alphabetic());
    inner.windows(3).any(joins)
        || inner.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase())
        || (has_digit && has_letter && word.len() >= 3)
}

pub(super) fn n_ideographs(word: &str) -> usize {
    word.chars()
        .filter(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Prompt, prompts: &[&str]) {
        for prompt in prompts {
            assert_eq!(classify(prompt), expected, "{prompt:?}");
        }
    }

    #[test]
    fn nods_ask_nothing() {
        check(
            Prompt::Silence("short-prompt"),
            &[
                "ok",
                "OK!",
                "sí",
                "Si, dale",
                "go on",
                "continue",
                "yes please",
                "thanks, looks good",
                "perfecto, gracias",
                "sigue",
                "adelante",
                "👍",
                "...",
                "do it",
                "hazlo",
                "y",
                "1",
                "no",
                "lgtm, ship it",
                "sim",
                "okay go ahead",
                "vale, sigue con eso",
                "tests",
                "try again",
                "otra vez por favor",
                "buenos días",
            ],
        );
        check(Prompt::Silence("empty-prompt"), &["", " \n "]);
    }

    #[test]
    fn machines_and_commands_are_not_the_user() {
        check(
            Prompt::Silence("machine-prompt"),
            &[
                "<task-notification>\n<task-id>x</task-id>\n</task-notification>",
                "<local-command-caveat>The command below was run</local-command-caveat> rest",
                "<teammate-message from=\"a\">please fix the parser</teammate-message>",
                "<user_instructions>\n# Rules for the parser\n</user_instructions>",
                "[Request interrupted by user for tool use]",
                "This session is being continued from a previous conversation that ran out",
            ],
        );
        check(
            Prompt::Silence("slash-command"),
            &["/capture hello world of notes", "/compact", "/ptk:capture x y", "!cargo test --all"],
        );
        check(
            Prompt::Question,
            &[
                "<div> elements overflow the sidebar container",
                "/usr/lib/libfoo.so is missing on the server",
                "<my-widget> renders twice inside the sidebar",
            ],
        );
    }

    #[test]
    fn questions_stand_on_their_own() {
        check(
            Prompt::Question,
            &[
                "how do we deploy the staging cluster",
                "¿Cómo se configura el proxy inverso?",
                "fix the flaky login test",
                "why does parse_header fail",
                "what about Kubernetes?",
                "and what did Marta decide about it?",
                "E0277",
                "東京の天気予報",
                "explain the retry policy of the payment service",
                "¿De quién son los comités?",
                "and what are the committees",
            ],
        );
    }

    #[test]
    fn follow_ups_need_the_turn_before() {
        check(
            Prompt::FollowUp { has_topic: false },
            &[
                "and then?",
                "¿y qué pasó después?",
                "why?",
                "¿por qué?",
                "what happened next?",
                "what does that mean?",
                "y luego que paso",
                "explain that",
                "can you explain it?",
            ],
        );
        check(
            Prompt::FollowUp { has_topic: true },
            &["is it faster?", "how do I install that?", "¿y eso cuánto cuesta?", "can we test it"],
        );
    }
}
