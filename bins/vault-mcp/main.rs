//! Serves the vault to agents over the Model Context Protocol: read-only, on
//! standard input and output or on the loopback interface.

mod http;
mod notes;
mod read;
mod server;
mod shape;

use std::io::Write;
use std::process::ExitCode;

use postil_cli::{Command, Parsed, help, parse};
use postil_core::config::Config;
use rmcp::ServiceExt as _;

use crate::notes::Notes;
use crate::server::Server;

/// Port of `--http` without `--port`.
const DEFAULT_PORT: u16 = 7337;

/// Tokens one answer may take: a third of what Claude Code passes on.
const DEFAULT_MAX_TOKENS: usize = 8_000;

fn main() -> ExitCode {
    let Some(command) = Command::named("vault-mcp") else { return fail("not in the table") };
    let args = match parse(command, std::env::args_os().skip(1)) {
        Ok(args) if args.words.is_empty() => args,
        Ok(args) => {
            return fail(&format!("unexpected {:?}; try `postil vault-mcp --help`", args.words[0]));
        }
        Err(error) => return fail(&format!("{error}; try `postil vault-mcp --help`")),
    };
    if args.has("help") {
        return say(&help(command));
    }
    if args.has("version") {
        return say(concat!("vault-mcp ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn run(args: &Parsed) -> Result<(), String> {
    let port: Option<u16> = args.parsed("port")?;
    let max_tokens = args.parsed("max-tokens")?.unwrap_or(DEFAULT_MAX_TOKENS).max(500);
    let config = Config::load(&args.overrides()).map_err(|error| error.to_string())?;
    for warning in &config.warnings {
        note(warning);
    }
    let server = Server::new(Notes::open(config, max_tokens).map_err(|error| error.to_string())?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("start: {error}"))?;
    let result = runtime.block_on(async {
        if args.has("http") || port.is_some() {
            return http::serve(server, port.unwrap_or(DEFAULT_PORT)).await;
        }
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // A client that leaves before it has said anything is no failure.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(format!("start: {error}")),
        };
        running.waiting().await.map(|_| ()).map_err(|error| error.to_string())
    });
    // A read of standard input that is under way cannot be cancelled.
    runtime.shutdown_background();
    result
}

fn say(text: &str) -> ExitCode {
    // A reader that closed the pipe has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "vault-mcp: {message}");
}

fn fail(message: &str) -> ExitCode {
    note(message);
    ExitCode::from(2)
}
