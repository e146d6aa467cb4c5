//! `postil init`: names the vault in the configuration, and puts the hooks into
//! the agents' settings or takes them out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::ValueExt;
use postil_core::config::{Config, Host, Overrides, write_vault};
use postil_core::error::{Error, ErrorKind, Result};

use crate::register::{
    Agent, Plan, mcp_by_hand, plugin, register, register_mcp, unregister, unregister_mcp,
};
use crate::vaults;

#[derive(Default)]
struct Args {
    overrides: Overrides,
    vault: Option<PathBuf>,
    agents: Vec<Agent>,
    register: bool,
    unregister: bool,
    preview: bool,
    check: bool,
    help: bool,
}

/// Runs the command; returns what to print, or the message of a failure.
pub(crate) fn run(args: Vec<OsString>, binaries: &Path) -> std::result::Result<String, String> {
    let args = parse(args).map_err(|error| format!("init: {error}; try `postil init --help`"))?;
    if args.help {
        return Ok(postil_cli::help_of("init"));
    }
    init(&args, binaries).map_err(|error| error.to_string())
}

fn parse(args: Vec<OsString>) -> std::result::Result<Args, lexopt::Error> {
    use lexopt::prelude::{Long, Short};
    let mut parsed = Args::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("vault") => parsed.vault = Some(PathBuf::from(parser.value()?)),
            Long("config") => parsed.overrides.config = Some(PathBuf::from(parser.value()?)),
            Long("agent") => {
                let name = parser.value()?.string()?;
                let agent = Agent::parse(&name);
                let unknown = || format!("no agent {name:?}: claude-code, codex or cursor");
                parsed.agents.push(agent.ok_or_else(unknown)?);
            }
            Long("register") => parsed.register = true,
            Long("unregister") => parsed.unregister = true,
            Long("preview") => parsed.preview = true,
            Long("check") => parsed.check = true,
            Short('h') | Long("help") => parsed.help = true,
            other => return Err(other.unexpected()),
        }
    }
    if parsed.register && parsed.unregister {
        return Err("--register and --unregister exclude each other".into());
    }
    Ok(parsed)
}

fn init(args: &Args, binaries: &Path) -> Result<String> {
    // A named file that is not there yet is what init is for.
    let named = args.overrides.config.as_deref().filter(|file| !file.exists());
    let overrides = if named.is_some() { Overrides::default() } else { args.overrides.clone() };
    let mut config = Config::load(&overrides)?;
    if let Some(file) = named {
        config.paths.config = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        config.vault = None;
    }
    if args.check {
        return config.vault().map(|vault| format!("vault {}\n", vault.display()));
    }
    let mut out = String::new();
    for warning in &config.warnings {
        out.push_str(&format!("warning: {warning}\n"));
    }
    if args.unregister {
        change(args, &config.host, &mut out, |agent| {
            let hooks = unregister(agent, &config.host)?;
            Ok(std::iter::once(hooks).chain(unregister_mcp(agent, &config.host)?).collect())
        })?;
        return Ok(out);
    }
    match name_vault(args, &config) {
        Ok(line) => out.push_str(&line),
        // Hooks without a vault stay silent; they may come first.
        Err(error) if args.register && args.vault.is_none() => out.push_str(&format!("{error}\n")),
        Err(error) => return Err(error),
    }
    if args.register {
        change(args, &config.host, &mut out, |agent| {
            let hooks = match (agent, plugin(&config.host)) {
                // The plugin has them: they would run twice.
                (Agent::ClaudeCode, Some(_)) => unregister(agent, &config.host)?,
                _ => register(agent, &config, binaries)?,
            };
            let server = register_mcp(agent, &config.host, binaries)?;
            Ok(std::iter::once(hooks).chain(server).collect())
        })?;
        for agent in agents(args, &config.host) {
            match (agent, plugin(&config.host), mcp_by_hand(agent, binaries)) {
                (Agent::ClaudeCode, Some(plugin), _) => {
                    out.push_str(&format!(
                        "claude-code: hooks and MCP server come with the plugin {plugin}\n"
                    ));
                }
                (_, None, Some(way)) => {
                    out.push_str(&format!(
                        "{}: the vault as an MCP server, too: {way}\n",
                        agent.name()
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(out)
}

/// Writes the vault into the configuration where it is not there already.
fn name_vault(args: &Args, config: &Config) -> Result<String> {
    let vault = match (&args.vault, &config.vault) {
        (Some(vault), _) => absolute(vault)?,
        (None, Some(vault)) => {
            return Ok(format!("vault {}, as configured\n", vault.display()));
        }
        (None, None) => only(vaults::find(&config.host))?,
    };
    let file = config.paths.config.display();
    if args.preview {
        return Ok(format!("would write vault {} into {file}\n", vault.display()));
    }
    Ok(match write_vault(&config.paths.config, &vault)? {
        true => format!("wrote vault {} into {file}\n", vault.display()),
        false => format!("vault {}, as configured in {file}\n", vault.display()),
    })
}

fn absolute(vault: &Path) -> Result<PathBuf> {
    let real = vault.canonicalize().map_err(|error| Error::io("open vault", vault, error))?;
    if real.is_dir() {
        return Ok(std::path::absolute(vault).unwrap_or(real));
    }
    Err(Error::new(ErrorKind::Input, format!("{} is not a folder", vault.display())))
}

fn only(mut found: Vec<PathBuf>) -> Result<PathBuf> {
    if found.len() > 1 {
        let list: Vec<String> = found.iter().map(|path| format!("  {}", path.display())).collect();
        let message =
            format!("several vaults found; choose one with --vault:\n{}", list.join("\n"));
        return Err(Error::new(ErrorKind::Input, message));
    }
    found.pop().ok_or_else(|| {
        let message = "no vault found; run `postil init --vault DIR` with the folder of your notes";
        Error::new(ErrorKind::Input, message)
    })
}

/// Changes the settings of each agent, or shows what would change.
fn change(
    args: &Args,
    host: &Host,
    out: &mut String,
    plan: impl Fn(Agent) -> Result<Vec<Plan>>,
) -> Result<()> {
    // All are planned before any is changed: one unreadable file stops it all.
    let plans: Vec<(Agent, Vec<Plan>)> = agents(args, host)
        .into_iter()
        .map(|agent| Ok((agent, plan(agent)?)))
        .collect::<Result<_>>()?;
    for (agent, plans) in plans {
        let name = agent.name();
        let is_new = plans.iter().any(|plan| !plan.is_empty());
        for plan in plans {
            if plan.is_empty() {
                out.push_str(&format!("{name}: nothing to change in {}\n", plan.file.display()));
                continue;
            }
            out.push_str(&format!("{name}:\n{}", plan.diff()));
            if !args.preview {
                for line in plan.apply()? {
                    out.push_str(&format!("{name}: {line}\n"));
                }
            }
        }
        if agent == Agent::Codex && args.register && is_new {
            out.push_str("codex: review the hooks with /hooks before they run\n");
        }
    }
    Ok(())
}

/// The named agents, else those installed here; Claude Code where there is none
/// yet. Cursor only by name: its replies are not measured.
fn agents(args: &Args, host: &Host) -> Vec<Agent> {
    if !args.agents.is_empty() {
        return args.agents.clone();
    }
    if args.unregister {
        return Agent::ALL.to_vec();
    }
    let is_installed = |agent: &Agent| agent.folder(host).is_dir();
    let found: Vec<Agent> =
        [Agent::ClaudeCode, Agent::Codex].into_iter().filter(is_installed).collect();
    if found.is_empty() { vec![Agent::ClaudeCode] } else { found }
}
