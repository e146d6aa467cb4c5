//! `run -- CMD`
use crate::args::Finish;
use std::ffi::OsString;
use std::process::ExitCode;
pub(crate) fn run(_command: &[OsString]) -> ExitCode {
    ExitCode::SUCCESS
}
pub(crate) fn finish(_finish: &Finish) -> ExitCode {
    ExitCode::SUCCESS
}
