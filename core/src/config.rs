//! Configuration: the only reader of environment variables, of the home folder
//! and of `config.toml`.
//!
//! What holds, from the strongest: a command's flags ([`Overrides`]),
//! `POSTIL_*` variables, the file, the defaults. Every setting has a default;
//! a file with only `vault = "…"` is complete. An unknown key is a warning, a
//! wrong type an error; both name file, line and key.

mod environment;
mod section;
mod settings;
mod write;

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use self::environment::{Environment, NOWHERE, absolute};
use self::section::{Section, Source};
pub use self::settings::{Block, Capture, Compress, Inject, Insights, Pattern, Redact, Triage};
pub use self::write::write_vault;
use crate::error::{Error, ErrorKind, Result};
use crate::redact::{Filter, UserPattern};

/// What a command line says against the configuration.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--vault DIR`
    pub vault: Option<PathBuf>,
    /// `--db FILE`
    pub db: Option<PathBuf>,
    /// `--model DIR`
    pub model: Option<PathBuf>,
    /// `--config FILE`
    pub config: Option<PathBuf>,
}

/// Everything a run goes by.
#[derive(Clone, Debug)]
pub struct Config {
    /// The vault's root folder, absolute, links not resolved.
    pub vault: Option<PathBuf>,
    /// Folders of the vault that are indexed; empty means all of them.
    pub allowed: Vec<String>,
    /// Folders of the vault that are never indexed.
    pub excluded: Vec<String>,
    /// Where files are.
    pub paths: Paths,
    /// `[inject]`: what the hooks add to a turn.
    pub inject: Inject,
    /// `[compress]`: what the hooks do to tool output.
    pub compress: Compress,
    /// `[redact]`: the user's part of the credential filter.
    pub redact: Redact,
    /// `[capture]`: how insights are kept.
    pub capture: Capture,
    /// `[triage]`: how the inbox is sorted.
    pub triage: Triage,
    /// `[[block]]`: what every session starts with.
    pub blocks: Vec<Block>,
    /// What is odd in the file, one line each, for a person to read.
    pub warnings: Vec<String>,
    /// What the process was started by.
    pub host: Host,
    /// How output for people should look.
    pub terminal: Terminal,
}

/// What the environment says about output for people.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    /// `NO_COLOR` is set (no-color.org).
    pub no_color: bool,
    /// The terminal cannot move its cursor or show colours (`TERM=dumb`).
    pub is_dumb: bool,
    /// The pager with its arguments: `POSTIL_PAGER`, else `PAGER`, else `less`;
    /// `None` for `cat`.
    pub pager: Option<String>,
}

impl Terminal {
    fn read(env: &Environment<'_>) -> Self {
        let text = |name| env.var(name).and_then(|value| value.into_string().ok());
        let pager = text("POSTIL_PAGER").or_else(|| text("PAGER")).unwrap_or("less".to_owned());
        Self {
            no_color: env.var("NO_COLOR").is_some(),
            is_dumb: text("TERM").is_some_and(|term| term == "dumb"),
            pager: Some(pager).filter(|pager| pager != "cat"),
        }
    }
}

/// The files and folders of an installation, all absolute.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The configuration file, whether or not it exists.
    pub config: PathBuf,
    /// `~/.local/share/postil`: the index and the model.
    pub data: PathBuf,
    /// `~/.local/state/postil`: the log, ledgers and kept outputs.
    pub state: PathBuf,
    /// The index.
    pub index: PathBuf,
    /// The folder with `model.safetensors` and `tokenizer.json`.
    pub model: PathBuf,
    /// The folder with the word tables, `*.table`.
    pub languages: PathBuf,
    /// The log of the hooks.
    pub log: PathBuf,
    /// The ledgers, one file a session.
    pub sessions: PathBuf,
    /// Full originals of shortened outputs.
    pub outputs: PathBuf,
    /// Rendered context blocks.
    pub blocks: PathBuf,
}

/// The agents around this process and where they keep their settings.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The user's home folder.
    pub home: PathBuf,
    /// Claude Code's settings: `$CLAUDE_CONFIG_DIR` or `~/.claude`.
    pub claude: PathBuf,
    /// Codex's home: `$CODEX_HOME` or `~/.codex`.
    pub codex: PathBuf,
    /// Cursor's settings: `~/.cursor`.
    pub cursor: PathBuf,
    /// True inside Cursor, which also runs Claude Code's hooks
    /// (`CURSOR_VERSION`).
    pub is_cursor: bool,
    /// The root of the project the agent works on (`CLAUDE_PROJECT_DIR`).
    pub project: Option<PathBuf>,
    /// The agent's session, in commands it runs (`CLAUDE_CODE_SESSION_ID`).
    pub session: Option<String>,
    /// The user's editor with its arguments: `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// True where hooks have to stay silent: in a process that postil itself
    /// started (`POSTIL_CHILD`), or by the user's wish (`POSTIL_OFF`).
    pub is_silenced: bool,
}

/// The variable that marks the children of a postil process, so that an agent
/// started from one does not trigger hooks that start it again.
pub const CHILD_VARIABLE: &str = "POSTIL_CHILD";

/// Variables that name files and folders: a run that another program starts
/// needs them to find what this one finds.
const FILE_VARIABLES: [&str; 11] = [
    "POSTIL_CONFIG",
    "POSTIL_CONFIG_DIR",
    "POSTIL_DATA_DIR",
    "POSTIL_STATE_DIR",
    "POSTIL_VAULT",
    "POSTIL_DB",
    "POSTIL_MODEL",
    "POSTIL_LANGUAGES",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Returns the variables that are set and name files and folders.
#[allow(clippy::disallowed_methods, reason = "this is the reader the lint points to")]
pub fn file_variables() -> Vec<(&'static str, OsString)> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    FILE_VARIABLES.iter().filter_map(|name| set(*name).map(|value| (*name, value))).collect()
}

impl Config {
    /// Reads the environment and the configuration file.
    ///
    /// A missing file is not an error: then `vault` may be `None`.
    pub fn load(overrides: &Overrides) -> Result<Self> {
        #[allow(clippy::disallowed_methods, reason = "this is the reader the lint points to")]
        let lookup = |name: &str| std::env::var_os(name);
        Self::load_from(&Environment(&lookup), overrides)
    }

    /// Returns the word tables that are installed, in the order of their names.
    pub fn tables(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.paths.languages).into_iter().flatten().flatten();
        let mut tables: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "table"))
            .collect();
        tables.sort();
        tables
    }

    /// Returns the vault, or the error that says how to name one.
    pub fn vault(&self) -> Result<&Path> {
        self.vault.as_deref().ok_or_else(|| {
            let file = self.paths.config.display();
            Error::new(
                ErrorKind::Config,
                format!("no vault is configured in {file}; run `postil init --vault DIR`"),
            )
        })
    }

    /// Builds the credential filter with the user's own patterns.
    pub fn filter(&self) -> Result<Filter> {
        let user = |pattern: &Pattern| UserPattern {
            name: pattern.name.clone(),
            pattern: pattern.regex.clone(),
            keywords: pattern.keywords.clone(),
        };
        let patterns: Vec<UserPattern> = self.redact.patterns.iter().map(user).collect();
        Filter::new(&patterns, &self.redact.allow)
    }

    fn load_from(env: &Environment<'_>, overrides: &Overrides) -> Result<Self> {
        let file = overrides.config.as_deref().map(absolute).or_else(|| env.path("POSTIL_CONFIG"));
        let is_named = file.is_some();
        let file = file.unwrap_or_else(|| {
            env.folder("POSTIL_CONFIG_DIR", "XDG_CONFIG_HOME", ".config").join("config.toml")
        });
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if is_absent(&error) && !is_named => String::new(),
            Err(error) => {
                let doing = format!("read {}", file.display());
                return Err(Error::with(ErrorKind::Config, doing, error));
            }
        };
        let home = env.home();
        let source = Source { path: &file, text: &text, home: home.as_deref() };
        let table = DeTable::parse(&text).map_err(|error| {
            source.error(error.span().map_or(0, |span| span.start), error.message())
        })?;
        Self::read(&source, table.get_ref(), env, overrides)
    }

    fn read(
        source: &Source<'_>,
        table: &DeTable<'_>,
        env: &Environment<'_>,
        overrides: &Overrides,
    ) -> Result<Self> {
        let mut warnings = Vec::new();
        let mut top = Section::top(source, table);
        let configured = top.path("vault")?;
        let vault = overrides
            .vault
            .as_deref()
            .map(absolute)
            .or_else(|| env.path("POSTIL_VAULT"))
            .or_else(|| configured.clone());
        let allowed = top.folders("allowed")?.unwrap_or_default();
        let excluded = top.folders("excluded")?.unwrap_or_default();
        let paths = Paths::read(&mut top, source, env, overrides)?;
        let inject = Inject::read(top.section("inject")?, &mut warnings)?;
        let compress = Compress::read(top.section("compress")?, &mut warnings)?;
        let redact = Redact::read(top.section("redact")?, &mut warnings)?;
        let capture = Capture::read(top.section("capture")?, &mut warnings)?;
        let triage = Triage::read(top.section("triage")?, &mut warnings)?;
        let blocks = top
            .sections("block")?
            .into_iter()
            .map(|block| Block::read(block, &mut warnings))
            .collect::<Result<_>>()?;
        top.finish(&mut warnings);
        let mut config = Self {
            vault,
            allowed,
            excluded,
            paths,
            inject,
            compress,
            redact,
            capture,
            triage,
            blocks,
            warnings,
            host: Host::read(env),
            terminal: Terminal::read(env),
        };
        config.keep_vaults_apart(configured.as_deref(), overrides, env);
        Ok(config)
    }

    /// Gives a vault other than the configured one an index of its own, so that
    /// a look at another folder never replaces the user's index.
    fn keep_vaults_apart(
        &mut self,
        configured: Option<&Path>,
        overrides: &Overrides,
        env: &Environment<'_>,
    ) {
        let is_named = overrides.db.is_some() || env.var("POSTIL_DB").is_some();
        let (Some(vault), Some(configured)) = (self.vault.as_deref(), configured) else { return };
        if is_named || same_folder(vault, configured) {
            return;
        }
        let hash = crate::text::fnv1a(vault.as_os_str().as_encoded_bytes());
        self.paths.index = self.paths.data.join(format!("vaults/{hash:016x}/index.db"));
    }
}

impl Paths {
    fn read(
        top: &mut Section<'_>,
        source: &Source<'_>,
        env: &Environment<'_>,
        overrides: &Overrides,
    ) -> Result<Self> {
        let data = env.folder("POSTIL_DATA_DIR", "XDG_DATA_HOME", ".local/share");
        let state = env.folder("POSTIL_STATE_DIR", "XDG_STATE_HOME", ".local/state");
        let mut pick = |flag: Option<&Path>, variable, key, default: PathBuf| -> Result<PathBuf> {
            let configured = top.path(key)?;
            let flag = flag.map(absolute);
            Ok(flag.or_else(|| env.path(variable)).or(configured).unwrap_or(default))
        };
        Ok(Self {
            config: source.path.to_owned(),
            index: pick(overrides.db.as_deref(), "POSTIL_DB", "index", data.join("index.db"))?,
            model: pick(
                overrides.model.as_deref(),
                "POSTIL_MODEL",
                "model",
                data.join("model/potion-base-8M"),
            )?,
            languages: pick(None, "POSTIL_LANGUAGES", "languages", data.join("languages"))?,
            outputs: pick(None, "POSTIL_OUTPUTS", "outputs", state.join("outputs"))?,
            log: state.join("postil.log"),
            sessions: state.join("sessions"),
            blocks: state.join("blocks"),
            data,
            state,
        })
    }
}

impl Host {
    fn read(env: &Environment<'_>) -> Self {
        let home = env.home().unwrap_or_else(|| PathBuf::from(NOWHERE));
        let text = |name| env.var(name).and_then(|value| value.into_string().ok());
        Self {
            claude: env.path("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: env.path("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            cursor: home.join(".cursor"),
            is_cursor: env.var("CURSOR_VERSION").is_some(),
            project: env.path("CLAUDE_PROJECT_DIR"),
            session: text("CLAUDE_CODE_SESSION_ID"),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            is_silenced: env.flag(CHILD_VARIABLE) || env.flag("POSTIL_OFF"),
            home,
        }
    }
}

/// Returns true where there is no such file, or no folder that it could be in.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), IoErrorKind::NotFound | IoErrorKind::NotADirectory)
}

fn same_folder(a: &Path, b: &Path) -> bool {
    a == b || fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

#[cfg(test)]
mod tests;
