//! The command line: one file a command. A command that fails says why in one plain sentence on
//! standard error and exits with 1.

pub mod apply;
mod backup;
mod bench;
mod dev;
mod export;
mod import;
mod openapi;
mod print;
mod progress;
mod restore;
mod serve;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A credit wallet and checkout service in one binary.
#[derive(Debug, Parser)]
#[command(name = "scrip", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a server to try things out: a demo project, its keys, a request to paste.
    Dev(dev::DevArgs),
    /// Runs the server.
    Serve(serve::ServeArgs),
    /// Brings a running server's catalog in line with a file.
    Apply(apply::ApplyArgs),
    /// Measures this binary on this machine, by the program `scrip-bench`.
    Bench(bench::BenchArgs),
    /// Re-reads everything in a data directory that no server is using; exits with 0 only when all
    /// is well.
    Verify(verify::VerifyArgs),
    /// Copies all that is stored to a directory, of a running server or of none. A later backup there
    /// writes only what changed.
    Backup(backup::BackupArgs),
    /// Puts a backup into a data directory that holds nothing yet.
    Restore(restore::RestoreArgs),
    /// Writes ledgers from a data directory that no server is using, as JSON Lines or CSV.
    Export(export::ExportArgs),
    /// Grants balances from a CSV file, each once however often it is imported.
    Import(import::ImportArgs),
    /// Prints the OpenAPI document.
    Openapi(openapi::OpenapiArgs),
}

/// Why a command failed, for whoever typed it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    fn new(why: impl std::fmt::Display) -> Self {
        Self(why.to_string())
    }
}

/// Runs what the command line asks for.
#[must_use]
pub fn run() -> ExitCode {
    crate::data_dir::make_all_private();
    let done = match Cli::parse().command {
        Command::Dev(args) => dev::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Apply(args) => apply::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Restore(args) => restore::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Openapi(args) => openapi::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::error(&format!("scrip: {failure}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }
}
