//! Regular runs: a crontab line, a systemd user timer, or a launchd agent.
//!
//! What is written is marked and written whole: installing twice changes
//! nothing, and removing leaves everybody else's entries alone. Runs may
//! overlap: the second finds the lock and ends.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use postil_core::config::Config;
use postil_core::error::{Error, ErrorKind, Result};

use crate::args::{Args, Schedule};

const DEFAULT_EVERY: u32 = 10;

/// Ends the crontab line that is ours.
const MARK: &str = "# postil-index";

/// The names of the systemd units and of the launchd agent.
const UNIT: &str = "postil-index";
const AGENT: &str = "dev.postil.index";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheduler {
    Cron,
    Systemd,
    Launchd,
}

/// Does what was asked and returns what to say about it.
pub(crate) fn run(action: Schedule, args: &Args, config: &Config) -> Result<String> {
    let every = args.every.unwrap_or(DEFAULT_EVERY);
    let scheduler = match args.scheduler.as_deref() {
        Some("cron") => Scheduler::Cron,
        Some("systemd") => Scheduler::Systemd,
        Some("launchd") => Scheduler::Launchd,
        Some(other) => {
            return Err(input(format!(
                "no scheduler {other:?}; there are cron, systemd and launchd"
            )));
        }
        None => detect(),
    };
    if action != Schedule::Uninstall {
        config.vault()?;
    }
    let entry = Entry { command: command(args)?, every, home: &config.host.home };
    match (action, scheduler) {
        (Schedule::Print, Scheduler::Cron) => Ok(format!("{}\n", entry.cron_line()?)),
        (Schedule::Print, Scheduler::Systemd) => Ok(entry.print(&entry.systemd_files())),
        (Schedule::Print, Scheduler::Launchd) => Ok(entry.print(&[entry.launchd_file()])),
        (Schedule::Install, Scheduler::Cron) => install_cron(Some(&entry.cron_line()?)),
        (Schedule::Install, Scheduler::Systemd) => install_systemd(&entry),
        (Schedule::Install, Scheduler::Launchd) => install_launchd(&entry),
        (Schedule::Uninstall, _) => uninstall(&entry, args.scheduler.as_ref().map(|_| scheduler)),
    }
}

fn detect() -> Scheduler {
    if cfg!(target_os = "macos") {
        Scheduler::Launchd
    } else if succeeds("systemctl", &["--user", "show-environment"]) {
        Scheduler::Systemd
    } else {
        Scheduler::Cron
    }
}

struct Entry<'a> {
    command: Vec<String>,
    every: u32,
    home: &'a Path,
}

/// Longest line that every cron takes, in bytes.
const MAX_CRON_LINE: usize = 990;

/// This program by its absolute path, with the options and variables that name
/// files: a scheduler starts it without the user's own.
fn command(args: &Args) -> Result<Vec<String>> {
    let exe = std::env::current_exe()
        .and_then(|exe| exe.canonicalize())
        .map_err(|error| Error::with(ErrorKind::Io, "find this program", error))?;
    let mut words = Vec::new();
    for (name, value) in postil_core::config::file_variables() {
        let value = match name.starts_with("POSTIL_") {
            true => std::path::absolute(&value).unwrap_or_else(|_| value.into()),
            // A relative one counts for nothing, here and there.
            false => value.into(),
        };
        words.push(format!("{name}={}", text_of(&value)?));
    }
    if !words.is_empty() {
        words.insert(0, "/usr/bin/env".to_owned());
    }
    words.extend([text_of(&exe)?, "--quiet".to_owned()]);
    let overrides = &args.overrides;
    for (flag, path) in [
        ("--vault", &overrides.vault),
        ("--db", &overrides.db),
        ("--model", &overrides.model),
        ("--config", &overrides.config),
    ] {
        if let Some(path) = path {
            let absolute =
                std::path::absolute(path).map_err(|error| Error::io("find", path, error))?;
            words.push(flag.to_owned());
            words.push(text_of(&absolute)?);
        }
    }
    Ok(words)
}

fn text_of(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) if !text.contains(['\n', '\r', '\0']) => Ok(text.to_owned()),
        _ => Err(input(format!("{path:?} cannot stand in a schedule"))),
    }
}

impl Entry<'_> {
    fn cron_line(&self) -> Result<String> {
        let when = match self.every {
            1 => "* * * * *".to_owned(),
            n if n < 60 && 60 % n == 0 => format!("*/{n} * * * *"),
            n if n < 60 => format!("{} * * * *", minutes_of_hour(n)),
            n if n < 1440 => format!("7 */{} * * *", (n / 60).max(1)),
            _ => "7 4 * * *".to_owned(),
        };
        let words: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
        // In a crontab `%` ends the command.
        let command = words.join(" ").replace('%', "\\%");
        let line = format!("{when} {command} {MARK}");
        if line.len() > MAX_CRON_LINE {
            let how = "name the files in the configuration instead";
            return Err(input(format!("the line is too long for a crontab; {how}")));
        }
        Ok(line)
    }

    fn systemd_files(&self) -> [(PathBuf, String); 2] {
        let folder = self.home.join(".config/systemd/user");
        let words: Vec<String> = self.command.iter().map(|word| systemd_quoted(word)).collect();
        let service = format!(
            "[Unit]\nDescription=Index the notes of the vault\n\n[Service]\nType=oneshot\n\
             ExecStart={}\nNice=19\nIOSchedulingClass=idle\nSuccessExitStatus=1\n",
            words.join(" ")
        );
        let timer = format!(
            "[Unit]\nDescription=Index the notes of the vault every {every} minutes\n\n[Timer]\n\
             OnBootSec=1min\nOnUnitActiveSec={every}min\nAccuracySec=30s\n\n[Install]\n\
             WantedBy=timers.target\n",
            every = self.every
        );
        [
            (folder.join(format!("{UNIT}.service")), service),
            (folder.join(format!("{UNIT}.timer")), timer),
        ]
    }

    fn launchd_file(&self) -> (PathBuf, String) {
        let mut words = String::new();
        for word in &self.command {
            let _ = writeln!(words, "    <string>{}</string>", xml(word));
        }
        let plist = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD \
             PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist \
             version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{AGENT}</string>\n  \
             <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
             <key>StartInterval</key>\n  <integer>{}</integer>\n  <key>RunAtLoad</key>\n  \
             <true/>\n  <key>ProcessType</key>\n  <string>Background</string>\n</dict>\n</plist>\n",
            self.every * 60
        );
        (self.home.join(format!("Library/LaunchAgents/{AGENT}.plist")), plist)
    }

    fn print(&self, files: &[(PathBuf, String)]) -> String {
        let mut out = String::new();
        for (path, text) in files {
            let _ = writeln!(out, "# {}\n{text}", path.display());
        }
        out
    }
}

fn minutes_of_hour(every: u32) -> String {
    let minutes: Vec<String> =
        (0..60).step_by(every as usize).map(|minute| minute.to_string()).collect();
    minutes.join(",")
}

/// Quotes a word for the shell where it needs that.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.,:=+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn systemd_quoted(word: &str) -> String {
    let escaped =
        word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

fn xml(word: &str) -> String {
    word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Puts `line` in the place of ours in the user's crontab, or takes ours out.
/// Everybody else's lines stay byte for byte.
fn install_cron(line: Option<&str>) -> Result<String> {
    let old = read_crontab()?;
    let is_ours = |line: &&str| line.trim_end().ends_with(MARK);
    let mut new: String = old.split_inclusive('\n').filter(|line| !is_ours(line)).collect();
    if line.is_none() && new.len() == old.len() {
        return Ok(String::new());
    }
    if let Some(line) = line {
        if !new.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
        new.push_str(line);
        new.push('\n');
    }
    if new.is_empty() {
        must("crontab", &["-r"])?;
    } else if new != old {
        write_crontab(&new)?;
    }
    Ok(match line {
        Some(line) => format!("crontab: {line}\n"),
        None => "removed from the crontab\n".to_owned(),
    })
}

fn read_crontab() -> Result<String> {
    let output = Command::new("crontab").arg("-l").output().map_err(|error| {
        Error::with(ErrorKind::Input, "run crontab (is cron installed?)", error)
    })?;
    if output.status.success() {
        return String::from_utf8(output.stdout)
            .map_err(|_| input("the crontab is not UTF-8: edit it with `crontab -e`".to_owned()));
    }
    let message = String::from_utf8_lossy(&output.stderr).to_lowercase();
    if message.contains("no crontab") {
        return Ok(String::new());
    }
    // Never over a crontab that could not be read.
    Err(input(format!("read the crontab: {}", message.trim())))
}

fn write_crontab(text: &str) -> Result<()> {
    let failed = |error| Error::with(ErrorKind::Io, "write the crontab", error);
    let mut child =
        Command::new("crontab").arg("-").stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(text.as_bytes()).map_err(failed)?;
    }
    if child.wait().map_err(failed)?.success() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Io, "write the crontab: crontab refused it"))
}

fn install_systemd(entry: &Entry<'_>) -> Result<String> {
    let mut said = String::new();
    for (path, text) in entry.systemd_files() {
        write_file(&path, &text)?;
        let _ = writeln!(said, "wrote {}", path.display());
    }
    let timer = format!("{UNIT}.timer");
    must("systemctl", &["--user", "daemon-reload"])?;
    must("systemctl", &["--user", "enable", "--now", &timer])?;
    let _ = writeln!(said, "started {timer}");
    Ok(said)
}

fn install_launchd(entry: &Entry<'_>) -> Result<String> {
    let (path, text) = entry.launchd_file();
    write_file(&path, &text)?;
    let file = text_of(&path)?;
    // Loading over a loaded agent fails; unloading none does no harm.
    succeeds("launchctl", &["unload", &file]);
    must("launchctl", &["load", "-w", &file])?;
    Ok(format!("wrote {file}\nloaded {AGENT}\n"))
}

/// Removes whatever is installed, or only from the scheduler named.
fn uninstall(entry: &Entry<'_>, only: Option<Scheduler>) -> Result<String> {
    let mut said = String::new();
    let is_due = |scheduler| only.is_none_or(|only| only == scheduler);
    if is_due(Scheduler::Systemd) {
        let files = entry.systemd_files();
        if files.iter().any(|(path, _)| path.exists()) {
            succeeds("systemctl", &["--user", "disable", "--now", &format!("{UNIT}.timer")]);
            for (path, _) in &files {
                remove_file(path, &mut said)?;
            }
            succeeds("systemctl", &["--user", "daemon-reload"]);
        }
    }
    if is_due(Scheduler::Launchd) {
        let (path, _) = entry.launchd_file();
        if path.exists() {
            succeeds("launchctl", &["unload", "-w", &text_of(&path)?]);
            remove_file(&path, &mut said)?;
        }
    }
    if is_due(Scheduler::Cron) {
        match install_cron(None) {
            Ok(text) => said.push_str(&text),
            // A system without cron has nothing of ours in it.
            Err(error) if only == Some(Scheduler::Cron) => return Err(error),
            Err(_) => {}
        }
    }
    if said.is_empty() {
        said.push_str("nothing was installed\n");
    }
    Ok(said)
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    }
    std::fs::write(path, text).map_err(|error| Error::io("write", path, error))
}

fn remove_file(path: &Path, said: &mut String) -> Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => {
            let _ = writeln!(said, "removed {}", path.display());
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("remove", path, error)),
    }
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn must(program: &str, args: &[&str]) -> Result<()> {
    let doing = format!("run {program} {}", args.join(" "));
    let output = Command::new(program)
        .args(args)
        .output()
        .map_err(|error| Error::with(ErrorKind::Io, doing.clone(), error))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(ErrorKind::Io, format!("{doing}: {}", why.trim())))
}

fn input(message: String) -> Error {
    Error::new(ErrorKind::Input, message)
}
