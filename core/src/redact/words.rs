//! The words that announce a credential, in the languages notes are written
//! in, and the words that say it is not one.

/// What a cue announces, and so which detector reads on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// A word that means a password and nothing else.
    Password,
    /// A word that also means something else: "pass", "clave".
    Pass,
    /// `secret`, `token`, `credential`.
    Secret,
    /// `key` and its translations, `auth`, `pat`: everyday words.
    Key,
    /// `user: x / y`.
    Login,
    /// `Authorization:` and `Bearer`.
    Authorization,
    /// The `://` of a URL with a password.
    Url,
    /// `?sig=…`, `&k=…`: names that mean a secret only in a query.
    Query,
    /// `Cookie:` headers and options.
    Cookie,
    /// `machine … login … password …`.
    Netrc,
    /// A command that takes a password as an argument.
    Command,
    /// `-----BEGIN … PRIVATE KEY`.
    PemBegin,
    /// `-----END … PRIVATE KEY`.
    PemEnd,
    /// `Private-Lines: N` in a PuTTY key file.
    Putty,
    /// The private part of a JSON web key.
    Jwk,
    /// `echo user:x | chpasswd`.
    Chpasswd,
    /// A line of `.pgpass`.
    PgPass,
    /// Twelve words that restore a wallet.
    Seed,
    /// A list of one-time codes.
    Codes,
}

/// Cue words and what they announce. Three bytes or more, small letters.
pub(super) const CUES: &[(&str, Cue)] = &[
    ("password", Cue::Password),
    ("passwd", Cue::Password),
    ("passphrase", Cue::Password),
    ("passcode", Cue::Password),
    ("passwort", Cue::Password),
    ("pwd", Cue::Password),
    ("contrase", Cue::Password),
    ("kennwort", Cue::Password),
    ("senha", Cue::Password),
    ("identified by '", Cue::Password),
    ("identified by \"", Cue::Password),
    ("securestring", Cue::Password),
    ("mot de passe", Cue::Password),
    ("frase de paso", Cue::Password),
    ("palabra de paso", Cue::Password),
    ("pass", Cue::Pass),
    ("pw:", Cue::Pass),
    ("pw=", Cue::Pass),
    ("pw ", Cue::Pass),
    ("pw*", Cue::Pass),
    ("pw`", Cue::Pass),
    ("pw\"", Cue::Pass),
    ("psk=", Cue::Pass),
    ("contra:", Cue::Pass),
    ("clave", Cue::Pass),
    ("secret", Cue::Secret),
    ("secreto", Cue::Secret),
    ("secreta", Cue::Secret),
    ("token", Cue::Secret),
    ("credential", Cue::Secret),
    ("credencial", Cue::Secret),
    ("apikey", Cue::Secret),
    ("key", Cue::Key),
    ("llave", Cue::Key),
    ("auth", Cue::Key),
    ("api", Cue::Key),
    ("_pat", Cue::Key),
    (" pat", Cue::Key),
    ("hmac", Cue::Key),
    ("webhook", Cue::Key),
    ("login", Cue::Login),
    ("credentials", Cue::Login),
    ("credenciales", Cue::Login),
    ("usuario", Cue::Login),
    ("user", Cue::Login),
    ("acceso", Cue::Login),
    ("authorization", Cue::Authorization),
    ("bearer", Cue::Authorization),
    ("basic ", Cue::Authorization),
    ("://", Cue::Url),
    ("sig=", Cue::Query),
    ("signature=", Cue::Query),
    ("x-amz-signature=", Cue::Query),
    ("x-goog-signature=", Cue::Query),
    ("session=", Cue::Query),
    ("sessionid=", Cue::Query),
    ("code=", Cue::Query),
    ("?k=", Cue::Query),
    ("&k=", Cue::Query),
    ("cookie", Cue::Cookie),
    (" -b ", Cue::Cookie),
    ("machine ", Cue::Netrc),
    ("curl", Cue::Command),
    ("http", Cue::Command),
    ("httpie", Cue::Command),
    ("lftp", Cue::Command),
    ("smbclient", Cue::Command),
    ("rpcclient", Cue::Command),
    ("mysql", Cue::Command),
    ("mysqldump", Cue::Command),
    ("mysqladmin", Cue::Command),
    ("mariadb", Cue::Command),
    ("xfreerdp", Cue::Command),
    ("sshpass", Cue::Command),
    ("docker login", Cue::Command),
    ("podman login", Cue::Command),
    ("helm registry login", Cue::Command),
    ("az login", Cue::Command),
    ("mongosh", Cue::Command),
    ("mongodump", Cue::Command),
    ("redis-cli", Cue::Command),
    ("valkey-cli", Cue::Command),
    ("ldapsearch", Cue::Command),
    ("ldapadd", Cue::Command),
    ("ldapmodify", Cue::Command),
    ("unzip", Cue::Command),
    ("zip", Cue::Command),
    ("htpasswd", Cue::Command),
    ("-----begin", Cue::PemBegin),
    ("---- begin ssh2", Cue::PemBegin),
    ("private-lines:", Cue::Putty),
    ("\"d\":", Cue::Jwk),
    ("\"k\":", Cue::Jwk),
    ("chpasswd", Cue::Chpasswd),
    (":5432:", Cue::PgPass),
    ("-----end", Cue::PemEnd),
    ("seed", Cue::Seed),
    ("recovery", Cue::Seed),
    ("mnem", Cue::Seed),
    ("semilla", Cue::Seed),
    ("recuperaci", Cue::Seed),
    ("backup phrase", Cue::Seed),
    ("recovery code", Cue::Codes),
    ("backup code", Cue::Codes),
    ("2fa code", Cue::Codes),
    ("mfa code", Cue::Codes),
    ("recovery_codes", Cue::Codes),
    ("recovery-codes", Cue::Codes),
    ("digos de recuperaci", Cue::Codes),
    ("digos de respaldo", Cue::Codes),
    ("digos de emergencia", Cue::Codes),
    ("digos 2fa", Cue::Codes),
];

/// Words that, as a whole segment of a value, say that it is a stand-in.
#[rustfmt::skip]
pub(super) const PLACEHOLDERS: &[&str] = &[
    "your", "votre", "dein", "example", "ejemplo", "exemple", "placeholder", "changeme",
    "changeit", "change", "cambiame", "cambia", "cambiar", "replace", "replaceme", "reemplaza",
    "insert", "inserta", "dummy", "redacted", "censored", "removed", "omitted", "masked",
    "oculto", "todo", "fixme", "tbd", "sample", "fake", "mock", "foobar", "lorem", "goes", "here",
    "aqui", "xxx", "xxxx", "xxxxx", "yyy", "zzz", "undefined", "hackme", "yourpassword",
    "yourkey", "yourtoken", "yoursecret", "mypassword", "mysecret", "mytoken",
];

/// Words of which a value may consist without being a credential.
#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "a", "the", "my", "mi", "tu", "su", "of", "for", "is", "this", "some", "that", "secret",
    "secreto", "token", "key", "password", "pass", "passwd", "pwd", "api", "access", "auth",
    "oauth", "user", "username", "usuario", "admin", "root", "value", "valor", "string", "clave",
    "contrasena", "test", "testing", "demo", "default", "none", "null", "nil", "true", "false",
    "yes", "no", "required", "optional", "super", "app", "dev", "prod", "production", "staging",
    "local", "client", "server", "bearer", "basic", "new", "old", "id", "db", "database", "foo",
    "bar", "baz", "abc", "name", "private", "public", "session", "jwt", "cookie", "hash", "uuid",
    "postgres", "mysql", "guest", "env", "config", "secrets", "credentials", "bot", "service",
    "account", "code", "type", "docker", "secure", "strong", "random", "safe", "long", "very", "twitch", "text", "data", "field", "input", "login", "header", "number",
];

/// Names of algorithms and standards with their digits and signs taken out.
#[rustfmt::skip]
pub(super) const ALGORITHMS: &[&str] = &[
    "rsa", "aes", "scramsha", "des", "shasum", "mdsum", "fido", "ed", "sha", "md", "ecdsa", "ecdh", "dsa", "argon", "argonid", "bcrypt",
    "scrypt", "pbkdf", "chacha", "chachapoly", "salsa", "oauth", "utf", "base", "iso", "http",
    "https", "ipv", "tls", "ssl", "hs", "rs", "es", "ps", "secp", "secpk", "secpr", "curve", "x",
    "blake", "blakeb", "blakes", "wpa", "wpapsk", "wep", "fips", "hmacsha", "aesgcm", "aescbc",
    "crc", "xxh", "siphash", "kdf", "hkdf", "totp", "hotp", "saml", "ldap", "pkcs", "latin",
    "unicode", "ascii", "rfc", "win", "u", "i", "f", "int", "uint", "passwordless",
];

/// Words that may be glued to the front of a cue: `apikey`, `userpass`.
#[rustfmt::skip]
pub(super) const GLUED: &[&str] = &[
    "api", "access", "secret", "private", "auth", "client", "app", "bot", "session", "refresh",
    "user", "my", "db", "admin", "root", "sudo", "jwt", "webhook", "signing", "encryption",
    "encrypt", "master", "service", "account", "storage", "deploy", "hmac", "license", "consumer",
    "ftp", "smtp", "mail", "wifi", "ldap", "mysql", "pg", "redis", "key", "oauth", "bearer", "x",
    "id", "shared", "security", "authorization", "authentication", "token", "site", "server",
];

/// Words before a key or token that make it public or no credential at all.
#[rustfmt::skip]
pub(super) const NOT_BEFORE: &[&str] = &[
    "public", "pub", "publishable", "primary", "foreign", "sort", "partition", "cache", "row",
    "object", "index", "composite", "candidate", "natural", "surrogate", "unique", "map", "dict",
    "hash", "group", "routing", "idempotency", "dedupe", "translation", "i18n", "react", "json",
    "hot", "arrow", "enter", "escape", "function", "publica", "primaria", "foranea", "ajena",
    "gpg", "pgp", "websocket", "max", "min", "num", "total", "count", "input", "output", "prompt", "completion", "stop",
    "next", "prev", "page", "continuation", "csrf", "xsrf", "palabras", "palabra", "puntos",
    "punto", "site", "fingerprint", "boarding", "first", "second", "ski", "bus", "rail", "season", "day", "no", "without", "forgot", "hashed", "encrypted",
];

/// Words after a cue that make it something about a credential.
#[rustfmt::skip]
pub(super) const NOT_AFTER: &[&str] = &[
    "name", "names", "file", "files", "path", "paths", "type", "types", "count", "counts",
    "length", "len", "size", "limit", "limits", "budget", "policy", "policies", "hash", "hashes",
    "digest", "digests", "url", "uri", "endpoint", "expiry", "expires", "expiration", "ttl",
    "ref", "arn", "manager", "fingerprint", "prefix", "suffix", "regex", "pattern", "patterns",
    "field", "fields", "header", "headers", "param", "params", "selector", "alg", "algorithm",
    "bucket", "buckets", "rotation", "reset", "strength", "hint", "label", "usage", "provider",
    "store", "vault", "scope", "scopes", "format", "kind", "version", "index", "idx", "position",
    "ids", "checksum", "publica", "primaria", "pública", "foránea", "value_from", "secretkeyref",
    "created", "updated", "changed", "at", "date", "time", "lifetime", "rate", "words", "word",
    "insight", "takeaways", "points", "point", "bindings", "binding", "frames", "board", "map",
    "stroke", "press", "through", "thru", "mode", "by", "band", "down", "up", "frame", "tip", "tips", "ctrl", "code", "codes", "event", "events", "generator", "validator", "validation", "parser", "stream", "tree",
];

/// Verbs that join a label and its value.
#[rustfmt::skip]
pub(super) const COPULAS: &[&str] =
    &[
    "is", "es", "era", "was", "son", "are", "sera", "será", "ist", "est", "sk", "to", "a",
];

/// Words that a sentence has and a wallet phrase has not.
#[rustfmt::skip]
pub(super) const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "with", "that", "you", "are", "was", "were", "from", "have", "has",
    "not", "los", "las", "una", "que", "por", "con", "para", "del", "como", "este", "esta",
    "pero", "sus",
];

/// Words that, before "key", say that it is one to keep.
#[rustfmt::skip]
pub(super) const QUALIFIERS: &[&str] = &[
    "api", "access", "secret", "private", "auth", "signing", "encryption", "master", "service",
    "account", "storage", "deploy", "hmac", "license", "session", "shared", "security", "admin",
    "root", "bot", "client", "server", "app", "webhook", "jwt", "token", "acceso", "privada",
    "maestra", "secreta", "preshared", "psk", "cifrado", "ssh", "wireguard", "recovery", "project",
];

/// True when `word` is one of `words`, any case.
pub(super) fn is_listed(words: &[&str], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return false };
    words.iter().any(|listed| {
        let listed = listed.as_bytes();
        listed.len() == word.len()
            && listed[0] == first.to_ascii_lowercase()
            && listed.eq_ignore_ascii_case(word)
    })
}
