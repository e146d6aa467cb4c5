//! The embedder against the real model: equality with model2vec-rs.

use std::path::PathBuf;
use std::sync::LazyLock;

use model2vec_rs::model::StaticModel;

use super::*;

/// The folder of the real model, named by `POSTIL_TEST_MODEL`.
fn model_dir() -> PathBuf {
    #[allow(clippy::disallowed_methods, reason = "a test's input, not the product's configuration")]
    let folder = std::env::var_os("POSTIL_TEST_MODEL");
    let folder = PathBuf::from(folder.expect(
        "POSTIL_TEST_MODEL must name a folder with potion-base-8M's model.safetensors and \
         tokenizer.json; ./tests/run fetches the model and sets it",
    ));
    assert!(folder.join("model.safetensors").exists(), "no model in {}", folder.display());
    folder
}

/// A folder with the model and its compiled table, made once per test run. It
/// lies in the target folder because a static is never dropped.
static COMPILED: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/test-model");
    link_model(&folder);
    compile(&folder).unwrap();
    folder
});

fn link_model(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for name in ["model.safetensors", "tokenizer.json", "config.json"] {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(model_dir().join(name), link).unwrap();
    }
}

static REFERENCE: LazyLock<StaticModel> =
    LazyLock::new(|| StaticModel::from_pretrained(model_dir(), None, None, None).unwrap());

fn embedder() -> Embedder {
    Embedder::open(&COMPILED, &[]).unwrap().unwrap()
}

/// A generator good enough to vary texts, the same in every run (Marsaglia,
/// "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const PASSAGES: &[&str] = &[
    "The migration locks the table for about a minute, so we run it at night.",
    "Antes de desplegar, haz una copia de seguridad de la base de datos y avísale a Íñigo.",
    "¿Cuándo es la reunión? El señor Núñez llegará mañana a las 9:30 — «sin falta».",
    "fn fold(text: &str) -> String { text.nfkd().filter(|c| !is_mark(*c)).collect() }",
    "SELECT id, path FROM notes WHERE updated_at > '2024-01-01' ORDER BY rank LIMIT 10;",
    "kubectl get pods --all-namespaces -o json | jq '.items[].metadata.name'",
    "| col | val |\n|-----|-----|\n| α | 1 |\n| β | 2 |\n",
    "```bash\nexport PATH=\"$HOME/.local/bin:$PATH\"\n```\n",
    "数据库备份需要在迁移之前完成。データベースのバックアップを取る。데이터베이스를 백업한다.",
    "Резервная копия базы данных; Ελληνικά Άλφα; العربية: نسخة احتياطية; हिन्दी में कुछ शब्द।",
    "🚀🇪🇸👩‍👩‍👧‍👦 ✅ done — naïve façade, Ærøskøbing, Łódź, İstanbul, straße, ŉ, ǆ, ﬁ",
    "https://example.org/a/b?c=d#e user@example.org C:\\Users\\x #tag [[note|alias]] ![[img.png]]",
    "[CLS] literal [MASK] tokens [UNK][PAD] and [brackets] that are [not] tokens [SEP",
    "e\u{301}\u{323} o\u{308}\u{304} \u{1100}\u{1161}\u{11A8} \u{200B}zero\u{200D}width\u{FEFF}",
    "x86_64-unknown-linux-gnu 0xDEADBEEF 3.14159e-10 v1.2.3-rc.1+build.5 \u{0}\u{7}\u{1B}[31m\u{85}",
];

/// Thousands of texts of the kinds that reach an index, and some that do not.
fn varied_texts() -> Vec<String> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut texts: Vec<String> = PASSAGES.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(["", " ", "\n\t\r", "a", "ñ", "\u{0}", "����", "[", "]]"].map(str::to_owned));
    texts.push("palabra ".repeat(4_000));
    texts.push("x".repeat(150));
    texts.push("é".repeat(101));
    texts.push("数".repeat(5_000));
    for _ in 0..1_000 {
        texts.push(shuffled_words(&mut random));
    }
    for _ in 0..4_000 {
        texts.push(random_characters(&mut random));
    }
    texts
}

fn shuffled_words(random: &mut Random) -> String {
    let n_words = 1 + random.below(40);
    let words = (0..n_words).map(|_| {
        let words: Vec<&str> = random.pick(PASSAGES).split(' ').collect();
        let word = random.pick(&words);
        if random.below(8) == 0 { word.to_uppercase() } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(random.pick(&[" ", "\n", "  ", "-", ""]))
}

fn random_characters(random: &mut Random) -> String {
    const RANGES: &[(u32, u32)] = &[
        (0x00, 0x7F),
        (0x20, 0x7E),
        (0x80, 0x24F),
        (0x250, 0x52F),
        (0x300, 0x36F),
        (0x590, 0x10FF),
        (0x1E00, 0x206F),
        (0x2000, 0x33FF),
        (0x4DB0, 0xA4CF),
        (0xAC00, 0xD7FF),
        (0xE000, 0xFFFF),
        (0x1_0000, 0x1_FFFF),
        (0x2_0000, 0x3_1000),
        (0, 0x10_FFFF),
    ];
    let n_characters = 1 + random.below(60);
    let mut range = RANGES[random.below(RANGES.len())];
    let mut text = String::new();
    for _ in 0..n_characters {
        if random.below(6) == 0 {
            range = RANGES[random.below(RANGES.len())];
        }
        let code = range.0 + random.below((range.1 - range.0) as usize + 1) as u32;
        text.extend(char::from_u32(code));
    }
    text
}

#[test]
fn vectors_are_those_of_model2vec() {
    let embedder = embedder();
    let texts = varied_texts();
    let expected = REFERENCE.encode_with_args(&texts, None, texts.len());
    for (text, expected) in texts.iter().zip(expected) {
        let (query, chunk) = (embedder.query(text), embedder.chunk(text));
        assert_eq!(query, chunk, "{text:?}");
        let difference =
            query.vector.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference <= 1e-5, "{difference} apart: {text:?}");
    }
}

#[test]
fn every_character_is_normalised_as_model2vec_does() {
    let embedder = embedder();
    // A letter on both sides shows whether the character splits words.
    let characters: Vec<char> = ('\u{1}'..='\u{3_3400}').collect();
    let texts: Vec<String> = characters
        .chunks(32)
        .map(|chars| chars.iter().map(|char| format!("s{char}e ")).collect())
        .collect();
    let expected = REFERENCE.encode_with_args(&texts, None, texts.len());
    for (text, expected) in texts.iter().zip(expected) {
        let vector = embedder.chunk(text).vector;
        assert!(vector.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-5), "{text:?}");
    }
}

#[test]
fn a_text_without_known_tokens_has_the_zero_vector() {
    let embedder = embedder();
    for text in ["", "  \n", "\u{0}\u{200B}"] {
        let embedded = embedder.query(text);
        assert_eq!((embedded.vector, embedded.n_tokens), ([0.0; DIM], 0), "{text:?}");
    }
}

#[test]
fn absent_uncompiled_and_damaged_models_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Embedder::open(folder.path(), &[]).unwrap().is_none());
    std::fs::write(folder.path().join("model.safetensors"), "x").unwrap();
    let error = Embedder::open(folder.path(), &[]).err().unwrap();
    assert!(error.to_string().contains("not compiled"), "{error}");
    for bytes in [&b""[..], b"POTIONTB", &[0; 4096]] {
        std::fs::write(folder.path().join(potion::FILE_NAME), bytes).unwrap();
        let error = Embedder::open(folder.path(), &[]).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Model, "{error}");
    }
}

#[test]
fn verify_notices_one_changed_bit_of_the_compiled_table() {
    let folder = tempfile::tempdir().unwrap();
    link_model(folder.path());
    let mut table = std::fs::read(COMPILED.join(potion::FILE_NAME)).unwrap();
    let path = folder.path().join(potion::FILE_NAME);
    std::fs::write(&path, &table).unwrap();
    verify(folder.path()).unwrap();
    let middle = table.len() / 2;
    table[middle] ^= 1;
    std::fs::write(&path, &table).unwrap();
    assert!(verify(folder.path()).unwrap_err().to_string().contains("damaged"));
}

/// The Spanish table as it ships.
fn spanish() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("languages/es.table")
}

fn bilingual() -> Embedder {
    Embedder::open(&COMPILED, &[spanish()]).unwrap().unwrap()
}

fn cosine(a: &str, b: &str) -> f32 {
    let embedder = bilingual();
    let (a, b) = (embedder.query(a).vector, embedder.query(b).vector);
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_shipped_table_is_whole_and_part_of_the_hash() {
    verify_table(&spanish()).unwrap();
    let (plain, bilingual) = (embedder(), bilingual());
    assert!(bilingual.hash().starts_with(plain.hash()), "{}", bilingual.hash());
    assert!(bilingual.hash().contains("+es:"), "{}", bilingual.hash());
}

#[test]
fn spanish_and_english_meet_in_one_space() {
    let question = "¿cómo restauro la base de datos?";
    let close = cosine(question, "how do I restore the database");
    let far = cosine(question, "a recipe for potato omelette");
    assert!(close > 0.6 && close > far + 0.3, "{close} against {far}");
}

#[test]
fn texts_no_table_claims_keep_their_vectors() {
    let (plain, bilingual) = (embedder(), bilingual());
    for text in PASSAGES {
        let embedded = bilingual.chunk(text);
        let is_spanish = embedded.language == Language::SPANISH;
        assert_eq!(is_spanish, text.contains("¿") || text.contains("Antes"), "{text}");
        assert_eq!(embedded.vector == plain.chunk(text).vector, !is_spanish, "{text}");
        assert_eq!(embedded, bilingual.query(text), "{text}");
        assert_eq!(embedded.language, bilingual.language(text), "{text}");
    }
}

/// Texts with the vectors (in 1/10,000) and verdicts of the Python program the
/// Spanish table was developed with.
const SPANISH_REFERENCE: &str = include_str!("fixtures/spanish.jsonl");

#[test]
fn spanish_vectors_are_those_of_the_reference() {
    // The reference knew neither cognates nor texts of mixed language.
    let potion = Potion::open(&COMPILED.join(potion::FILE_NAME)).unwrap();
    let tables = [WordTable::open(&spanish()).unwrap().without_cognates()];
    for line in SPANISH_REFERENCE.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        let embedded = embed(&potion, &tables, text, true);
        assert_eq!(embedded.language.code(), line["language"].as_str().unwrap(), "{text:?}");
        let expected = line["vector"].as_array().unwrap().iter();
        let expected = expected.map(|value| value.as_f64().unwrap() as f32 / 1e4);
        let difference =
            embedded.vector.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference <= 1e-3, "{difference} apart: {text:?}");
    }
}

#[test]
fn a_word_no_one_knows_is_read_by_its_cognate() {
    let close = cosine("La coalición ganó las elecciones", "the coalition");
    let potion = Potion::open(&COMPILED.join(potion::FILE_NAME)).unwrap();
    let table = WordTable::open(&spanish()).unwrap();
    let is_token = |word: &str| potion.pieces().is_token(word);
    assert!(table.words().get("coalicion").is_none_or(|word| word.row.is_none()));
    assert_eq!(table.cognate("coalicion", is_token).as_deref(), Some("coalition"));
    assert_eq!(table.cognate("qwxzcion", is_token), None);
    assert!(close > 0.5, "{close}");
}

#[test]
fn short_texts_that_mix_languages_are_read_word_by_word() {
    let (plain, bilingual) = (embedder(), bilingual());
    for text in ["permission denied al hacer push", "notes about reunión"] {
        assert_ne!(bilingual.query(text).vector, plain.query(text).vector, "{text}");
        assert_eq!(bilingual.language(text), Language::ENGLISH, "{text}");
    }
    for text in ["list all available locales", "sed and awk", "a naïve façade"] {
        assert_eq!(bilingual.query(text), plain.query(text), "{text}");
    }
}

/// Copies `file` to `copy` with bytes changed here and there, the first `sound`
/// left as they are.
fn damage(file: &Path, copy: &Path, sound: usize, random: &mut Random) {
    let mut bytes = std::fs::read(file).unwrap();
    for _ in 0..bytes.len() / 50 {
        let at = sound + random.below(bytes.len() - sound);
        bytes[at] = random.below(256) as u8;
    }
    std::fs::write(copy, bytes).unwrap();
}

#[test]
fn damaged_files_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("es.table");
    let mut random = Random(1);
    for sound in [4096, 64, 16] {
        damage(&spanish(), &table, sound, &mut random);
        let model = COMPILED.join(potion::FILE_NAME);
        damage(&model, &folder.path().join(potion::FILE_NAME), sound, &mut random);
        for model in [COMPILED.as_path(), folder.path()] {
            for tables in [&[spanish()][..], std::slice::from_ref(&table)] {
                let Ok(Some(embedder)) = Embedder::open(model, tables) else { continue };
                for text in PASSAGES {
                    assert_eq!(embedder.query(text).language, embedder.language(text));
                    embedder.chunk(text);
                }
            }
        }
    }
}
