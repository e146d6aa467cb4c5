//! Values that are taken from elsewhere: variables, templates, references to a
//! vault, calls, names in a program, paths, URLs.

use super::random::wordiness;
use super::value::{contains, segments};
use super::words::is_listed;

/// True for a value that is taken from elsewhere: variables, templates,
/// references to a vault, calls, paths, URLs.
pub(super) fn is_reference(value: &[u8], is_quoted: bool) -> bool {
    is_template(value) || is_path(value) || (!is_quoted && is_code(value))
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
        || [&b"${"[..], b"{{", b"$(", b"%(", b"<%", b"://", b"=$", b"secretsmanager", b"[REDACTED"]
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
pub(super) fn is_type_name(value: &[u8]) -> bool {
    let stem: Vec<u8> =
        value.iter().filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    let types = [
        "u", "i", "f", "int", "uint", "intt", "uintt", "chart", "char", "varchar", "string", "str",
        "float", "bool", "bytes", "nvarchar",
    ];
    value.iter().all(|b| b.is_ascii_alphanumeric() || b"_()".contains(b))
        && types.iter().any(|name| stem == name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_templates_calls_and_paths_are_no_values() {
        for text in [
            "${API_KEY}",
            "$DEPLOY_TOKEN",
            "%API_KEY%",
            "<token>",
            "!vault",
            "op://Shared/nas/password",
            "import.meta.env.VITE_KEY",
            "os.environ['KEY']",
            "var.admin_password",
            "getpass('x')",
            "team/app/creds-v3",
            "/run/secrets/admin_password",
            "WIN32_ERROR",
            "s3:GetObject",
        ] {
            assert!(is_reference(text.as_bytes(), false), "{text}");
        }
        for text in ["Roble.Nieve41", "9fQ2/xK+7Lm3Zt8Vb1Nc5Rw6Yp4Hd0Gs==", "T4lgo@valle"] {
            assert!(!is_reference(text.as_bytes(), false), "{text}");
        }
    }
}
