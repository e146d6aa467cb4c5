//! From the model's files as published to the compiled table, with proof that
//! they are the expected model.
//!
//! The weights are compared by SHA-256. `tokenizer.json` is spelt differently
//! by different sources, so it is compared by what it says: the vocabulary in
//! id order and the settings of normaliser and splitter.

use std::fs;
use std::io::Write;
use std::path::Path;

use model2vec_rs::model::StaticModel;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::coarse;
use super::potion::{self, FILE_NAME, HEAD_SIZE, Head, Potion, ROW_SIZE};
use super::trie::{self, Trie};
use super::wordpiece::{FOLD_END, FOLD_FIRST, fold_entry};
use crate::error::{Error, ErrorKind, Result};
use crate::model::DIM;

/// SHA-256 of `model.safetensors` of potion-base-8M.
pub(super) const WEIGHTS_SHA256: &str =
    "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2";
/// SHA-256 of what its `tokenizer.json` says, see [`Tokenizer::fingerprint`].
const TOKENIZER_SHA256: &str = "74f7bd6e50701b1849fb465a9b984fe4539e6a3421c13b480a43f2c9c1562b12";

/// Verifies the model in `model_dir` and writes the compiled table beside it.
///
/// The table appears whole or not at all. Fails with [`ErrorKind::Model`] when
/// the files are not potion-base-8M's, and when the finished table does not
/// give model2vec-rs's vectors on this machine.
pub fn compile(model_dir: &Path) -> Result<()> {
    let source = Source::read(model_dir)?;
    source.verify(model_dir)?;
    let path = model_dir.join(FILE_NAME);
    write_atomically(&path, &source.layout())?;
    let table = Potion::open(&path)?;
    check_against_reference(&table, model_dir)
}

/// Verifies the model's own files.
pub(super) fn verify_source(model_dir: &Path) -> Result<()> {
    Source::read(model_dir)?.verify(model_dir)
}

/// Verifies the model's files and, where present, the compiled table.
pub fn verify(model_dir: &Path) -> Result<()> {
    verify_source(model_dir)?;
    let path = model_dir.join(FILE_NAME);
    if !path.exists() {
        return Ok(());
    }
    let table = Potion::open(&path)?;
    if Sha256::digest(table.body())[..] != table.head().digest {
        return Err(Error::new(
            ErrorKind::Model,
            format!("{}: damaged; run `postil model compile`", path.display()),
        ));
    }
    check_against_reference(&table, model_dir)
}

/// The model's files in memory.
struct Source {
    weights: Vec<u8>,
    tokenizer: Tokenizer,
}

impl Source {
    fn read(model_dir: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = model_dir.join(name);
            fs::read(&path).map_err(|error| Error::io("read", &path, error))
        };
        let weights = read("model.safetensors")?;
        let tokenizer = Tokenizer::parse(&read("tokenizer.json")?)
            .ok_or_else(|| wrong(model_dir, "tokenizer.json is not a WordPiece tokenizer"))?;
        Ok(Self { weights, tokenizer })
    }

    fn verify(&self, model_dir: &Path) -> Result<()> {
        if hex(&Sha256::digest(&self.weights)) != WEIGHTS_SHA256 {
            return Err(wrong(model_dir, "model.safetensors is not potion-base-8M's"));
        }
        if hex(&self.tokenizer.fingerprint()) != TOKENIZER_SHA256 {
            return Err(wrong(model_dir, "tokenizer.json is not potion-base-8M's"));
        }
        Ok(())
    }

    /// The bytes of the compiled table.
    fn layout(&self) -> Vec<u8> {
        let Tokenizer { vocabulary, added, .. } = &self.tokenizer;
        let keys = vocabulary.iter().zip(0..).map(|(token, id)| (token.clone().into_bytes(), id));
        let nodes = trie::build(keys.collect());
        let trie = Trie { nodes: &nodes };
        let added = potion::added_bytes(added);
        let mut head = Head {
            n_rows: vocabulary.len() as u32,
            n_nodes: nodes.len() as u32,
            continuation: trie.walk(self.tokenizer.prefix.as_bytes()).unwrap_or(u32::MAX),
            unknown: trie.exact(self.tokenizer.unknown.as_bytes()).unwrap_or(u32::MAX),
            max_word_chars: self.tokenizer.max_word_chars,
            added_size: added.len() as u32,
            has_codes: true,
            digest: [0; 32],
        };
        let rows_size = vocabulary.len() * ROW_SIZE;
        let mut bytes = vec![0; HEAD_SIZE];
        bytes.extend_from_slice(&added);
        (FOLD_FIRST..FOLD_END)
            .filter_map(char::from_u32)
            .for_each(|char| bytes.extend_from_slice(&fold_entry(char)));
        bytes.extend_from_slice(nodes.as_flattened());
        bytes.resize(head.rows_at(), 0);
        // The only tensor ends the file: the SHA-256 fixes that.
        let rows = &self.weights[self.weights.len() - rows_size..];
        bytes.extend_from_slice(rows);
        for row in rows.as_chunks::<4>().0.as_chunks::<DIM>().0 {
            bytes.extend_from_slice(&coarse::encode(&row.map(f32::from_le_bytes)));
        }
        head.digest.copy_from_slice(&Sha256::digest(&bytes[HEAD_SIZE..]));
        bytes[..HEAD_SIZE].copy_from_slice(&head.to_bytes());
        bytes
    }
}

/// What `tokenizer.json` says, as far as ids depend on it.
struct Tokenizer {
    /// Tokens in id order.
    vocabulary: Vec<String>,
    /// Tokens matched literally in the text, with their ids.
    added: Vec<(String, u32)>,
    unknown: String,
    prefix: String,
    max_word_chars: u32,
    /// Normaliser and splitter, spelt one way.
    settings: String,
}

impl Tokenizer {
    /// Reads the parts that matter; `None` when one is missing or of a shape
    /// that this crate's WordPiece does not reproduce.
    fn parse(json: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(json).ok()?;
        let (model, normalizer) = (&json["model"], &json["normalizer"]);
        let entries = model["vocab"].as_object()?;
        let mut vocabulary = vec![String::new(); entries.len()];
        for (token, id) in entries {
            let place = vocabulary.get_mut(usize::try_from(id.as_u64()?).ok()?)?;
            token.clone_into(place);
        }
        let lowercase = normalizer["lowercase"].as_bool().unwrap_or(true);
        let settings = format!(
            "{} clean_text={} handle_chinese_chars={} lowercase={lowercase} strip_accents={} {}",
            normalizer["type"].as_str()?,
            normalizer["clean_text"].as_bool().unwrap_or(true),
            normalizer["handle_chinese_chars"].as_bool().unwrap_or(true),
            // Absent means "as lowercase says", both here and in the library.
            normalizer["strip_accents"].as_bool().unwrap_or(lowercase),
            json["pre_tokenizer"]["type"].as_str()?,
        );
        Some(Self {
            added: parse_added(&json["added_tokens"], &vocabulary)?,
            vocabulary,
            unknown: model["unk_token"].as_str()?.to_owned(),
            prefix: model["continuing_subword_prefix"].as_str()?.to_owned(),
            max_word_chars: u32::try_from(model["max_input_chars_per_word"].as_u64()?).ok()?,
            settings,
        })
    }

    /// SHA-256 over the settings, one per line, and then every token of the
    /// vocabulary in id order, each followed by a line feed.
    fn fingerprint(&self) -> [u8; 32] {
        let Self { unknown, prefix, max_word_chars, settings, .. } = self;
        let mut hash = Sha256::new();
        hash.update(format!("{settings}\n{unknown}\n{prefix}\n{max_word_chars}\n"));
        for token in &self.vocabulary {
            hash.update(token);
            hash.update("\n");
        }
        hash.finalize().into()
    }
}

/// Reads the added tokens; each must be the vocabulary's token of that id and
/// begin with a bracket, which is what the reader of texts looks for.
fn parse_added(json: &Value, vocabulary: &[String]) -> Option<Vec<(String, u32)>> {
    let mut added = Vec::new();
    for token in json.as_array().map_or(&[][..], Vec::as_slice) {
        let content = token["content"].as_str()?;
        let id = u32::try_from(token["id"].as_u64()?).ok()?;
        if !content.starts_with('[') || vocabulary.get(id as usize)? != content {
            return None;
        }
        added.push((content.to_owned(), id));
    }
    Some(added)
}

/// Texts that reach every branch of the tokeniser.
const PROBES: [&str; 6] = [
    "Back up the database before the migration, then restart the service.",
    "Hago una copia de seguridad de la base de datos; ¿quién la restaura mañana?",
    "fn main() -> Result<(), Error> { let x = vec![1_000, 0xFF]; }",
    "数据库备份 データベース 데이터베이스 قاعدة البيانات база данных 🚀🇪🇸",
    "İstanbul ﬁn ǅ ﷺ e\u{301}\u{323} \u{200B}\u{7}a\u{0}b",
    "",
];

/// Compares the finished table with model2vec-rs on a few texts.
fn check_against_reference(table: &Potion, model_dir: &Path) -> Result<()> {
    let read = |name: &str| {
        let path = model_dir.join(name);
        fs::read(&path).map_err(|error| Error::io("read", &path, error))
    };
    // Its config.json only says whether to normalise.
    let reference = StaticModel::from_bytes(
        read("tokenizer.json")?,
        read("model.safetensors")?,
        "{}",
        Some(true),
    )
    .map_err(|error| Error::with(ErrorKind::Model, "load the model", error))?;
    let probes = PROBES.map(str::to_owned);
    let expected = reference.encode_with_args(&probes, None, probes.len());
    for (probe, expected) in PROBES.iter().zip(expected) {
        let vector = super::embed(table, &[], probe, true).vector;
        if vector.iter().zip(&expected).any(|(a, b)| (a - b).abs() > 1e-5) {
            return Err(wrong(model_dir, "the compiled table disagrees with model2vec-rs"));
        }
    }
    Ok(())
}

fn wrong(model_dir: &Path, why: &str) -> Error {
    Error::new(ErrorKind::Model, format!("model in {}: {why}", model_dir.display()))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file that is either absent or whole.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |error| Error::io("write", path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".potion-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)
        .map_err(fail)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(fail)?;
    file.persist(path).map(drop).map_err(|error| fail(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer(normalizer: &str) -> String {
        format!(
            r###"{{"added_tokens":[{{"id":1,"content":"[UNK]"}}],"normalizer":{normalizer},
            "pre_tokenizer":{{"type":"BertPreTokenizer"}},
            "model":{{"unk_token":"[UNK]","continuing_subword_prefix":"##",
            "max_input_chars_per_word":100,"vocab":{{"[PAD]":0,"[UNK]":1,"a":2,"##b":3}}}}}}"###
        )
    }

    #[test]
    fn fingerprint_ignores_spelling_and_notices_content() {
        let fingerprint = |json: &str| Tokenizer::parse(json.as_bytes()).unwrap().fingerprint();
        let short = tokenizer(r#"{"type":"BertNormalizer","lowercase":true}"#);
        let long = tokenizer(
            r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
            "strip_accents":null,"lowercase":true}"#,
        );
        assert_eq!(fingerprint(&short), fingerprint(&long));
        let cased = tokenizer(r#"{"type":"BertNormalizer","lowercase":false}"#);
        assert_ne!(fingerprint(&short), fingerprint(&cased));
        assert_ne!(fingerprint(&short), fingerprint(&short.replace("\"a\":2", "\"c\":2")));
    }

    #[test]
    fn a_tokenizer_with_gaps_or_odd_added_tokens_is_refused() {
        let good = tokenizer(r#"{"type":"BertNormalizer","lowercase":true}"#);
        for (from, to) in [("\"a\":2", "\"a\":9"), ("\"id\":1,", "\"id\":2,"), ("Bert", "\0")] {
            assert!(Tokenizer::parse(good.replacen(from, to, 1).as_bytes()).is_none(), "{from}");
        }
    }

    #[test]
    fn a_folder_with_other_weights_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("model.safetensors"), "x").unwrap();
        let normalizer = r#"{"type":"BertNormalizer","lowercase":true}"#;
        fs::write(folder.path().join("tokenizer.json"), tokenizer(normalizer)).unwrap();
        let error = compile(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        assert!(error.to_string().contains("model.safetensors"), "{error}");
        assert!(!folder.path().join(FILE_NAME).exists());
    }
}
