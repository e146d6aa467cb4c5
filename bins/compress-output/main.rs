//! Replaces a tool's output by an extract that holds every fact of it.
fn main() -> std::process::ExitCode {
    use std::io::{Read, Write};
    let mut args = std::env::args().skip(1);
    let (mut command, mut code) = (String::new(), 0);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--command" => command = args.next().unwrap_or_default(),
            "--exit-code" => code = args.next().and_then(|c| c.parse().ok()).unwrap_or(0),
            _ => {}
        }
    }
    let mut raw = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut raw);
    let shown = if code != 0 {
        raw.len().min(10_000)
    } else if raw.len() > 30_000 {
        2000
    } else {
        raw.len()
    };
    let output = postil_core::compress::Output {
        command: command.as_bytes(),
        exit_code: code,
        raw: &raw,
        shown_by_client: shown,
    };
    if let Some(extract) = postil_core::compress::compress(&output) {
        let _ = std::io::stdout().write_all(
            &extract.seal(b"/home/ana/.local/state/postil/outputs/0123456789abcdef.txt"),
        );
    }
    std::process::ExitCode::SUCCESS
}
