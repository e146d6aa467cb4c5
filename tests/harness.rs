//! A world of its own for each test: a temporary HOME, a vault in it, nothing
//! of the developer's environment, and the real binaries run against it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use tempfile::TempDir;

/// A temporary HOME with a vault in it.
pub(crate) struct World {
    dir: TempDir,
    vars: Vec<(String, String)>,
    /// Whom the binaries run as, when not as the one who runs the tests.
    user: Option<u32>,
}

/// An ordinary user with no rights of its own (`nobody`).
const NOBODY: u32 = 65_534;

impl World {
    /// Creates an empty HOME with an empty vault and a configuration that
    /// names it.
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("postil-test-").tempdir().unwrap();
        let world = Self { dir, vars: Vec::new(), user: None };
        fs::create_dir_all(world.vault()).unwrap();
        let config = world.home().join(".config/postil/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, format!("vault = {:?}\n", world.vault())).unwrap();
        world
    }

    /// Creates a world whose vault holds `notes` (path, text).
    pub(crate) fn with_notes(notes: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (path, text) in notes {
            world.note(path, text);
        }
        world
    }

    /// The temporary HOME.
    pub(crate) fn home(&self) -> &Path {
        self.dir.path()
    }

    /// The vault inside HOME.
    pub(crate) fn vault(&self) -> PathBuf {
        self.home().join("vault")
    }

    /// The index that the configuration names.
    #[allow(dead_code, reason = "not every test file looks inside")]
    pub(crate) fn index_file(&self) -> PathBuf {
        self.home().join(".local/share/postil/index.db")
    }

    /// Opens the index to look inside.
    #[allow(dead_code, reason = "not every test file looks inside")]
    pub(crate) fn reader(&self) -> Box<postil_core::store::Reader> {
        match postil_core::store::Reader::open(&self.index_file()).unwrap() {
            postil_core::store::Opened::Ready(reader) => reader,
            other => panic!("no index: {other:?}"),
        }
    }

    /// Writes a note, creating its folders, and returns its path.
    pub(crate) fn note(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.vault().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    /// Hands everything to an ordinary user when the tests run as root, who may
    /// read and write everything: later runs are that user's.
    pub(crate) fn as_ordinary_user(&mut self) {
        let probe = self.home().join("probe");
        fs::write(&probe, "").unwrap();
        fs::set_permissions(&probe, fs::Permissions::from_mode(0o000)).unwrap();
        let is_root = fs::read(&probe).is_ok();
        fs::remove_file(&probe).unwrap();
        if is_root {
            // The build may stand where only root can enter.
            fs::create_dir_all(self.home().join("bin")).unwrap();
            for name in ["index", "search"] {
                fs::copy(binary_path(name), self.home().join("bin").join(name)).unwrap();
            }
            give_away(self.home());
            self.user = Some(NOBODY);
        }
    }

    /// Sets an environment variable for every later run.
    #[allow(dead_code, reason = "not every test file sets variables")]
    pub(crate) fn var(&mut self, name: &str, value: impl Into<String>) {
        self.vars.push((name.to_owned(), value.into()));
    }

    /// Prepares a run of one of the project's binaries in this world.
    pub(crate) fn command(&self, binary: &str) -> Command {
        match self.user {
            Some(_) => self.prepared(Command::new(self.home().join("bin").join(binary))),
            None => self.prepared(Command::new(binary_path(binary))),
        }
    }

    /// Prepares a run of a shell script in this world.
    #[allow(dead_code, reason = "not every test file needs a shell")]
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        self.prepared(command)
    }

    fn prepared(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("TZ", "UTC")
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Runs a binary to its end with `stdin` as its input.
    pub(crate) fn run(&self, binary: &str, args: &[&str], stdin: impl AsRef<[u8]>) -> Run {
        let mut command = self.command(binary);
        command.args(args);
        run(command, stdin.as_ref())
    }
}

/// Makes everything below `folder` the ordinary user's.
fn give_away(folder: &Path) {
    lchown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            give_away(&path);
        } else {
            lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

/// The path of one of the project's binaries.
pub(crate) fn binary_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_postil")).with_file_name(name)
}

/// Runs `command` to its end; the input is fed from a thread, so that neither
/// side can block the other.
pub(crate) fn run(mut command: Command, stdin: &[u8]) -> Run {
    let shown = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {shown}: {error}"));
    let mut pipe = child.stdin.take().unwrap();
    let input = stdin.to_vec();
    let feeder = std::thread::spawn(move || {
        // The program may end without reading all of it: that is its right.
        let _ = pipe.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Run { shown, status: output.status, stdout: output.stdout, stderr: output.stderr }
}

/// A finished run; its checks print everything when they fail.
pub(crate) struct Run {
    shown: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// All of its standard output.
    pub(crate) stdout: Vec<u8>,
    /// All of its standard error.
    pub(crate) stderr: Vec<u8>,
}

#[allow(dead_code, reason = "not every test file uses every check")]
impl Run {
    /// The standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The standard error as text.
    pub(crate) fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{self}"))
    }

    /// Asserts the exit code and returns the run.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.status.code(), Some(expected), "unexpected exit code\n{self}");
        self
    }

    /// Asserts that it exited 0 with nothing on standard output.
    #[track_caller]
    pub(crate) fn silent(self) -> Self {
        let run = self.code(0);
        assert!(run.stdout.is_empty(), "expected no output\n{run}");
        run
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "command: {}", self.shown)?;
        writeln!(f, "status:  {}", self.status)?;
        writeln!(f, "stdout:\n{}", self.text())?;
        writeln!(f, "stderr:\n{}", self.errors())
    }
}
