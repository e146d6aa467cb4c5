//! Passwords that stand as arguments of a command, `.netrc` lines, and `user:
//! x / y` pairs: a position says what the value is, not a name beside it.

use super::engine::Spans;
use super::reference::is_template;
use super::scan::{byte, line_start, run_end, skip};
use super::value::{is_password, is_placeholder};

const NAME: &str = "cli-password";

/// Where a command keeps its password.
#[derive(Clone, Copy)]
enum Place {
    /// The argument after the option.
    After,
    /// The rest of the option itself: `-pSECRET`.
    Glued,
    /// After the mark in the option's argument: `-u user:SECRET`.
    Past(u8),
    /// The third argument that is not an option.
    Third,
}

/// Command, option, place. The option is compared exactly.
const COMMANDS: &[(&str, &str, Place)] = &[
    ("curl", "-u", Place::Past(b':')),
    ("curl", "--user", Place::Past(b':')),
    ("curl", "--proxy-user", Place::Past(b':')),
    ("curl", "-U", Place::Past(b':')),
    ("http", "-a", Place::Past(b':')),
    ("httpie", "-a", Place::Past(b':')),
    ("lftp", "-u", Place::Past(b',')),
    ("smbclient", "-U", Place::Past(b'%')),
    ("rpcclient", "-U", Place::Past(b'%')),
    ("mount.cifs", "-o", Place::Past(b'=')),
    ("mysql", "-p", Place::Glued),
    ("mysqldump", "-p", Place::Glued),
    ("mysqladmin", "-p", Place::Glued),
    ("mariadb", "-p", Place::Glued),
    ("7z", "-p", Place::Glued),
    ("xfreerdp", "/p:", Place::Glued),
    ("sshpass", "-p", Place::After),
    ("sshpass", "-p", Place::Glued),
    ("docker login", "-p", Place::After),
    ("podman login", "-p", Place::After),
    ("helm registry login", "-p", Place::After),
    ("az login", "-p", Place::After),
    ("mongosh", "-p", Place::After),
    ("mongodump", "-p", Place::After),
    ("redis-cli", "-a", Place::After),
    ("valkey-cli", "-a", Place::After),
    ("ldapsearch", "-w", Place::After),
    ("ldapadd", "-w", Place::After),
    ("ldapmodify", "-w", Place::After),
    ("unzip", "-P", Place::After),
    ("zip", "-P", Place::After),
    ("htpasswd", "", Place::Third),
];

/// Reads the arguments of the command `key` that stands at `at`.
pub(super) fn command(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let is_name =
        |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'-' || *b == b'_');
    let before = at.checked_sub(1).and_then(|i| text.get(i));
    if is_name(before) || is_name(text.get(at + key.len())) {
        return;
    }
    let words = arguments(text, at + key.len());
    let is_batch = words.iter().any(|w| w.is_option && w.text(text).contains(&b'b'));
    for (_, option, place) in COMMANDS.iter().filter(|(name, ..)| *name == key) {
        let option = option.as_bytes();
        if matches!(place, Place::Third) {
            if is_batch && let Some(word) = words.iter().filter(|w| !w.is_option).nth(2) {
                add(text, *word, spans);
            }
            continue;
        }
        for (idx, word) in words.iter().enumerate().filter(|(_, w)| w.is_option) {
            let body = word.text(text);
            let argument = match (body == option, body.strip_prefix(option)) {
                (true, _) => words.get(idx + 1).copied(),
                (_, Some([b'=', ..])) => {
                    Some(Word { start: word.start + option.len() + 1, ..*word })
                }
                (_, Some(rest)) if !rest.is_empty() => {
                    Some(Word { start: word.start + option.len(), ..*word })
                }
                _ => None,
            };
            let (Some(argument), is_glued) = (argument, body.len() > option.len()) else {
                continue;
            };
            match place {
                Place::After if !is_glued || body.get(option.len()) == Some(&b'=') => {
                    add(text, argument, spans);
                }
                Place::Glued if is_glued => add(text, argument, spans),
                Place::Past(mark) => {
                    if let Some(n) = memchr::memchr(*mark, argument.text(text)) {
                        add(text, Word { start: argument.start + n + 1, ..argument }, spans);
                    }
                }
                _ => {}
            }
        }
    }
}

/// One shell word without its quotes.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
    is_option: bool,
}

impl Word {
    fn text(self, text: &[u8]) -> &[u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Splits what follows a command on its line, at most 400 bytes; a backslash
/// before the line end continues it.
fn arguments(text: &[u8], from: usize) -> Vec<Word> {
    let limit = text.len().min(from + 400);
    let byte = |i: usize| if i < limit { text[i] } else { b'\n' };
    let mut words = Vec::new();
    let mut at = from;
    while at < limit && words.len() < 40 {
        match byte(at) {
            b' ' | b'\t' => at += 1,
            b'\\' if byte(at + 1) == b'\n' => at += 2,
            b'\n' | b'`' | b'|' | b';' => break,
            quote @ (b'"' | b'\'') => {
                let end = (at + 1..limit)
                    .find(|i| byte(*i) == quote || byte(*i) == b'\n')
                    .unwrap_or(limit);
                words.push(Word { start: at + 1, end, is_option: false });
                at = end + 1;
            }
            first => {
                let end = (at..=limit).find(|i| b" \t\n`|".contains(&byte(*i))).unwrap_or(limit);
                let open = (at..end).find(|i| matches!(byte(*i), b'"' | b'\''));
                let (start, stop) = (
                    at,
                    open.map_or(end, |open| {
                        if byte(end.saturating_sub(1)) == byte(open) { end - 1 } else { end }
                    }),
                );
                words.push(Word {
                    start,
                    end: stop,
                    is_option: first == b'-' || first == b'/' && byte(at + 1) == b'p',
                });
                at = end.max(at + 1);
            }
        }
    }
    words
}

fn add(text: &[u8], word: Word, spans: &mut Spans) {
    let skip = word.text(text).iter().take_while(|b| matches!(b, b'"' | b'\'')).count();
    let word = Word { start: word.start + skip, ..word };
    let value = word.text(text);
    let is_word = value.iter().all(u8::is_ascii_lowercase) && value.len() < 8;
    if value.len() >= 4
        && !value.starts_with(b"-")
        && !is_template(value)
        && !is_placeholder(value)
        && !is_word
    {
        spans.add(NAME, word.start, word.end);
    }
}

/// `machine HOST login USER password SECRET`, on one line or several.
pub(super) fn netrc(text: &[u8], at: usize, spans: &mut Spans) {
    let limit = text.len().min(at + 400);
    let window = text.get(at..limit).unwrap_or_default();
    let words: Vec<&[u8]> =
        window.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).take(10).collect();
    if words.get(2) != Some(&&b"login"[..]) {
        return;
    }
    for pair in words.windows(2).skip(4) {
        if let [b"password", value] = pair {
            let offset = value.as_ptr() as usize - window.as_ptr() as usize;
            if value.len() >= 3 && !is_placeholder(value) && !is_template(value) {
                spans.add("netrc-password", at + offset, at + offset + value.len());
            }
            return;
        }
    }
}

/// `login: USER / SECRET`.
pub(super) fn login(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let sign = skip(text, at + key.len(), b"s\"'`*_ ", 6);
    if !matches!(byte(text, sign), b':' | b'=') {
        return;
    }
    let user = skip(text, sign + 1, b" *`\"'", 6);
    let user_end = run_end(text, user, 64, |b| !b" \t\r\n/,`\"'".contains(&b));
    let slash = skip(text, user_end, b" *`\"'", 5);
    if user_end == user || slash == user_end || byte(text, slash) != b'/' {
        return;
    }
    let start = skip(text, slash + 1, b" *`\"'", 5);
    let end = run_end(text, start, 80, |b| !b" \t\r\n\"'`|<>".contains(&b));
    if is_password(text.get(start..end).unwrap_or_default(), 6) {
        spans.add("password", start, end);
    }
}

/// `echo 'USER:SECRET' | chpasswd`, from its `chpasswd`.
pub(super) fn chpasswd(text: &[u8], at: usize, spans: &mut Spans) {
    let start = line_start(text, at, 300);
    let line = text.get(start..at).unwrap_or_default();
    let Some(echo) = memchr::memmem::find(line, b"echo ") else { return };
    let from = skip(text, start + echo + 5, b" -en\"'", 8);
    let user_end = run_end(text, from, 64, |b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    let end = run_end(text, user_end, 200, |b| !b" \t|\"'".contains(&b));
    if byte(text, user_end) == b':' {
        add(text, Word { start: user_end + 1, end, is_option: false }, spans);
    }
}

/// `HOST:PORT:DATABASE:USER:SECRET`, from its port.
pub(super) fn pgpass(text: &[u8], at: usize, key: &str, spans: &mut Spans) {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.-*".contains(&b);
    let database = run_end(text, at + key.len(), 64, is_part);
    let user = run_end(text, database + 1, 64, is_part);
    let end = run_end(text, user + 1, 200, |b| b.is_ascii_graphic() || b >= 0x80);
    if byte(text, database) == b':' && byte(text, user) == b':' {
        add(text, Word { start: user + 1, end, is_option: false }, spans);
    }
}
