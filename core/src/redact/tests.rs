//! Properties of the whole filter, and what each detector hides and leaves.
//! Secrets are assembled from recipes, see [`super::sample`].

use super::sample::{Dice, assemble};
use super::table::ROWS;
use super::*;

/// `@` in `text` stands for the secret, `{…}` for recipes.
#[track_caller]
fn hides(recipe: &str, text: &str) {
    for seed in 0..20 {
        let secret = assemble(recipe, seed);
        let full = text.replace('@', &secret).replace('#', "@");
        let out = Filter::builtin().scrub(&full);
        assert!(!out.text.contains(&secret), "left in {full:?} -> {:?}", out.text.as_str());
        assert!(out.text.contains("[REDACTED:"), "{full:?}");
    }
}

#[track_caller]
fn leaves(text: &str) {
    let out = Filter::builtin().scrub(text);
    assert_eq!(out.text.as_str(), text);
    assert!(out.found.is_empty());
}

const PASSWORD: &str = "Tr{l3}9_{a6}4";
const TOKEN: &str = "{a9}7{a9}Q{a9}d";
const HEX: &str = "{h15}a1{h15}";

#[test]
fn labels_in_settings_code_and_prose_announce_passwords() {
    for text in [
        "DB_PASSWORD=@",
        "password: \"@\"",
        "{\"smtp\": {\"pass\": \"@\"}}",
        "const dbPassword: string = \"@\";",
        "<admin_pass>@</admin_pass>",
        "- name: DB_PASSWORD\n  value: @",
        "password: >-\n  @",
        "contraseña del router: @",
        "contrasen\u{303}a: @",
        "contraseña：@",
        "| clave wifi | @ |",
        "**Clave:** `@`",
        "clave:: @",
        "la contraseña del NAS es @",
        "the password for the NAS is `@`",
        "Contraseña → @",
        "usuario/contraseña: ana / @",
        "credenciales: ana / @",
        "\u{1b}[1mpassword\u{1b}[0m: @",
        "<td>Password</td><td>@</td>",
        "Server=db;Uid=ana;Pwd=@;Encrypt=True",
        "mount -o username=ana,password=@,uid=1000",
        "CREATE USER app IDENTIFIED BY '@';",
        "SET PASSWORD FOR 'ana'#'%' = '@';",
        "usuario y contraseña: ana @",
        "the password (@) still works",
        "&quot;password&quot;: &quot;@&quot;",
    ] {
        hides(PASSWORD, text);
    }
}

#[test]
fn headers_of_tables_and_lists_announce_their_column() {
    hides(PASSWORD, "| Host | Usuario | Contraseña |\n|---|---|---|\n| nas | ana | @ |\n");
    hides(TOKEN, "| Entorno | API token |\n|:--|--:|\n| prod | `@` |");
    hides(PASSWORD, "user,password,url\nana,@,https://x.es\n");
}

#[test]
fn labels_announce_tokens_and_keys() {
    for text in [
        "API_KEY=@",
        "\"clientSecret\": \"@\",",
        "X-Api-Key: @",
        "| auth token | `@` |",
        "### Stripe secret\n\n```\n@\n```",
        "The signing key is @",
        "clave maestra: @",
        "{\"name\":\"JWT_SECRET\",\"value\":\"@\"}",
        "os.environ['API_TOKEN'] = '@'",
        "tool --api-key @ run",
        "https://api.example.com/v1?access_token=@&x=1",
    ] {
        hides(TOKEN, text);
        hides(HEX, text);
    }
}

#[test]
fn requests_urls_and_commands_carry_credentials() {
    hides(TOKEN, "curl -H 'Authorization: Bearer @' https://x.es");
    hides(TOKEN, "{\"Authorization\": \"Bearer @\"}");
    hides(TOKEN, "Cookie: theme=dark; sessionid=@");
    hides(TOKEN, "https://x.blob.core.windows.net/c?se=2027-01-01&sig=@%3D");
    for text in [
        "postgres://app:@@db.lan:5432/app",
        "https://ana:@@git.example.org/x.git",
        "curl -u ana:@ https://nas.lan/api",
        "mysql -uroot -p@ app",
        "sshpass -p '@' ssh root@nas.lan",
        "docker login -u ana -p @ registry.lan",
        "smbclient //nas/x -U ana%@",
        "machine git.lan login ana password @",
        "db.lan:5432:app:ana:@",
        "echo 'ana:@' | sudo chpasswd",
        "restic --password=@ backup",
    ] {
        let text = text.replace("@@", "@\u{0}").replace("root@", "root\u{0}");
        for seed in 0..10 {
            let secret = assemble(PASSWORD, seed);
            let full = text.replace('@', &secret).replace('\u{0}', "@");
            let out = Filter::builtin().scrub(&full);
            assert!(!out.text.contains(&secret), "left in {full:?} -> {:?}", out.text.as_str());
        }
    }
}

#[test]
fn a_token_broken_at_the_end_of_lines_goes_whole() {
    for seed in 0..20 {
        let token = assemble("sk-ant-{x}api03-{w93}AA", seed);
        let (first, second) = token.split_at(64);
        let out = Filter::builtin().scrub(&format!("key:\n{first}\n{second}\n\nThe plan."));
        assert!(!out.text.contains(second) && out.text.ends_with("\n\nThe plan."), "{}", out.text);
    }
}

#[test]
fn private_keys_go_whole_or_broken_and_prose_about_them_stays() {
    let body = "{b64}\n{b64}\n{b64}\n{b20}==";
    let begin = ["-----BEGIN RSA", "PRIVATE KEY-----"].join(" ");
    let end = ["-----END RSA", "PRIVATE KEY-----"].join(" ");
    for seed in 0..10 {
        let body = assemble(body, seed);
        for text in [
            format!("{begin}\n{body}\n{end}"),
            format!("{begin}\n{body}\n\nThen the server came back."),
            format!("{body}\n{end}"),
            format!("> {begin}\n> {}\n> {end}", body.replace('\n', "\n> ")),
            format!("KEY=\"{begin}\\n{}\\n{end}\"", body.replace('\n', "\\n")),
        ] {
            let out = Filter::builtin().scrub(&text);
            for line in body.lines() {
                assert!(!out.text.contains(line), "{line} left in {text:?}");
            }
            assert!(!text.contains("came back") || out.text.contains("Then the server came back."));
        }
    }
    leaves(&format!("The file starts with {begin} and ends with {end} so look for both of them."));
    leaves(&format!("{begin}\n...\n{end}"));
}

#[test]
fn phrases_and_codes_restore_what_they_protect() {
    let words = "abandon ability able about above absent absorb abstract absurd abuse access acid";
    for text in [format!("Seed phrase: {words}"), format!("frase de recuperación:\n{words}")] {
        assert!(!Filter::builtin().scrub(&text).text.contains("absorb"), "{text}");
    }
    let out = Filter::builtin().scrub("GitHub recovery codes:\n- a1b2c-3d4e5\n- f6g7h-8i9j0\n");
    assert!(!out.text.contains("3d4e5") && !out.text.contains("8i9j0"), "{}", out.text);
    leaves("recovery codes are printed and in the safe");
    leaves("seed phrase should never be stored in notes, said the talk about wallets and keys");
}

#[test]
fn what_looks_like_a_secret_and_is_none_stays() {
    for text in [
        "apiKey: import.meta.env.VITE_X",
        "password = getpass('Password: ')",
        "token = session.headers.get('X-Token')",
        "api_key = os.environ[\"MAPS_API_KEY\"]",
        "password: ${ADMIN_PASSWORD}",
        "export TOKEN={{ secrets.PUBLISH_KEY }}",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "Contraseña: en el gestor",
        "La contraseña la guarda Luis en su 1Password",
        "password: ask Luis, or KeePass2",
        "Password rules: twelve characters, AES-256 at rest",
        "pass rate: 97.1% (p99=801ms)",
        "--- PASS: TestParse42 (0.00s)",
        "    --- PASS: TestMany/n149 (0.00s)",
        "max_tokens: 2048",
        "the key point: step-step2-step3 in this order",
        "turkey: roast-turkey-for-12345",
        "key: 2027-01-30T09:15:00Z",
        "recordatorio: clave de sol en 4/4",
        "usuario: ana / grupo: taller",
        "CREATE TABLE t (token VARCHAR(255), password CHAR(60));",
        "postgres://postgres:postgres@localhost:5432/app",
        "[REDACTED:github-token] is what was here",
    ] {
        leaves(text);
    }
    for (recipe, text) in [
        ("{h7}..{h7}", "index @ 100644"),
        ("{h40}", "commit @ (rotate the token)"),
        ("{h64}", "key: linux-cache-@"),
        ("{h64}", "sha256 of the token: @"),
        ("{h8}-{h4}-4{h3}-8{h3}-{h12}", "client_id: @"),
        ("{b86}==", "integrity sha512-@"),
        ("{b43}=", "example.org/x/auth v1.2.3 h1:@"),
        ("AAAAC3NzaC1lZDI1NTE5AAAAI{b43}", "ssh-ed25519 @ luis@taller"),
        ("{b300}", "![](data:image/png;base64,iVBORw0KGgo@)"),
        ("{a22}", "x-request-id: @"),
        ("1{w32}", "https://drive.google.com/file/d/@/view?usp=sharing"),
    ] {
        for seed in 0..20 {
            leaves(
                &text
                    .replace("luis@", "luis#")
                    .replace('@', &assemble(recipe, seed))
                    .replace('#', "@"),
            );
        }
    }
}

/// A text made of pieces that matter to the detectors.
fn jumble(dice: &mut Dice, n: usize) -> String {
    const PIECES: &[&str] = &[
        "password",
        "contraseña",
        "token",
        "api key",
        "secret",
        ": ",
        "=",
        " is ",
        " es ",
        "\n",
        " ",
        "| ",
        "`",
        "\"",
        "'",
        "**",
        "|---|\n",
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "https://a:",
        "@host/",
        "?sig=",
        "Authorization: Bearer ",
        "cookie: s=",
        "curl -u ",
        "recovery codes:\n",
        "seed: ",
        "the plan",
        "añ",
        "😀",
        "\u{303}",
        "[REDACTED:x-token]",
        "[REDACTED:",
        "]",
        ",",
        "user,password\n",
        "- ",
        "> ",
        "\\n",
        "</td><td>",
        "$",
        "{",
        "…",
    ];
    let mut text = String::new();
    for _ in 0..n {
        match dice.below(6) {
            0 => text += &assemble(ROWS[dice.below(ROWS.len())].like, dice.below(1 << 20) as u64),
            1 => {
                let recipe = dice.pick(&[PASSWORD, TOKEN, HEX, "{b44}=", "{d8}"][..]);
                text += &assemble(recipe, dice.below(1 << 20) as u64);
            }
            _ => text += dice.pick(PIECES),
        }
    }
    text
}

#[test]
fn scrubbing_twice_is_scrubbing_once() {
    let mut dice = Dice::new(1);
    let filter = Filter::builtin();
    for _ in 0..4_000 {
        let n = 1 + dice.below(40);
        let text = jumble(&mut dice, n);
        let once = filter.scrub(&text).text;
        let twice = filter.scrub(&once);
        assert_eq!(twice.text, once, "from {text:?}");
        assert!(twice.found.is_empty());
    }
}

#[test]
fn any_bytes_pass_without_a_panic_and_what_is_not_text_stays() {
    let mut dice = Dice::new(2);
    let filter = Filter::builtin();
    for _ in 0..2_000 {
        let mut bytes = jumble(&mut dice, 20).into_bytes();
        for _ in 0..dice.below(20) {
            let at = dice.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = dice.below(256) as u8;
            }
        }
        bytes.truncate(dice.below(bytes.len() + 1));
        let _ = filter.scrub_bytes(&bytes);
        let _ = filter.scrub(&String::from_utf8_lossy(&bytes));
    }
    let (out, found) = filter.scrub_bytes(b"\xff\xfe caf\xe9 plain \x00");
    assert_eq!(out, b"\xff\xfe caf\xe9 plain \x00");
    assert!(found.is_empty());
}

#[test]
fn no_span_swallows_a_sentence() {
    let mut dice = Dice::new(3);
    let filter = Filter::builtin();
    let prose = "The meeting moved to Thursday and everybody is to bring the printed plan along.";
    for _ in 0..1_000 {
        let text = format!("{}\n\n{prose}\n\n{}", jumble(&mut dice, 12), jumble(&mut dice, 12));
        let out = filter.scrub(&text);
        assert!(out.text.contains(prose), "{text:?} -> {:?}", out.text.as_str());
    }
}

#[test]
fn a_users_pattern_hides_its_group_and_the_list_spares_values() {
    let pattern = UserPattern {
        name: "employee-id".to_owned(),
        pattern: r"\bEMP-(\d{6})\b".to_owned(),
        keywords: vec!["emp-".to_owned()],
    };
    let secret = assemble(TOKEN, 1);
    let allow = [secret.clone(), "Hunter*".to_owned()];
    let filter = Filter::new(&[pattern], &allow).unwrap();
    let out = filter.scrub(&format!("EMP-123456, API_KEY={secret}, password: Hunter22x"));
    let expected = format!("EMP-[REDACTED:employee-id], API_KEY={secret}, password: Hunter22x");
    assert_eq!(out.text.as_str(), expected);
    assert_eq!(out.found, [Finding { name: "employee-id".to_owned(), count: 1 }]);
    for (name, pattern) in [("x", "("), ("Not a name", "x")] {
        let bad = UserPattern { name: name.into(), pattern: pattern.into(), keywords: Vec::new() };
        assert!(Filter::new(&[bad], &[]).is_err(), "{name}");
    }
}

#[test]
fn slices_of_filtered_text_end_on_characters() {
    let text = Filter::builtin().scrub("año nuevo").text;
    assert_eq!(text.slice(0..2).as_str(), "a");
    assert_eq!(text.slice(2..99).as_str(), "ño nuevo");
}
