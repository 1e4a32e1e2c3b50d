//! The command line: one file a command. A command that fails says why in one plain sentence on
//! standard error and exits with 1.

pub mod apply;
mod backup;
mod bench;
mod completions;
mod dev;
mod doctor;
mod export;
mod health;
mod import;
mod keys;
mod listen;
mod openapi;
mod orders;
mod pages;
mod print;
mod progress;
mod project;
mod projects;
mod reconcile;
mod remote;
mod restore;
mod serve;
mod table;
mod trigger;
mod verify;
mod wallet;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

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
    /// A running server's projects.
    Projects(projects::ProjectsArgs),
    /// A project's API keys.
    Keys(keys::KeysArgs),
    /// A look at a wallet, and a grant.
    Wallet(wallet::WalletArgs),
    /// A look at a project's orders.
    Orders(orders::OrdersArgs),
    /// Holds the payment providers' books against the orders; exits with 0 only where they add up.
    Reconcile(reconcile::ReconcileArgs),
    /// Shows a project's events as they come, and sends them on.
    Listen(listen::ListenArgs),
    /// Has something happen in a project that sells through the sandbox.
    Trigger(trigger::TriggerArgs),
    /// Examines what a server needs: configuration, disk, secrets, providers, clock.
    Doctor(doctor::DoctorArgs),
    /// Whether the server of this configuration answers; for containers.
    Health(health::HealthArgs),
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
    /// Brings what your users have elsewhere, each once however often it is done: balances from a CSV file, or
    /// subscriptions that run in your Stripe account.
    Import(import::ImportArgs),
    /// Prints the OpenAPI document.
    Openapi(openapi::OpenapiArgs),
    /// Prints what a shell needs to complete this command line.
    Completions(completions::CompletionsArgs),
    /// Prints the manual page.
    Man(completions::ManArgs),
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
        Command::Projects(args) => projects::run(args),
        Command::Keys(args) => keys::run(args),
        Command::Wallet(args) => wallet::run(args),
        Command::Orders(args) => orders::run(args),
        Command::Reconcile(args) => reconcile::run(&args),
        Command::Listen(args) => listen::run(args),
        Command::Trigger(args) => trigger::run(args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Health(args) => health::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Restore(args) => restore::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Openapi(args) => openapi::run(&args),
        Command::Completions(args) => completions::complete(&args, Cli::command()),
        Command::Man(args) => completions::man(&args, Cli::command()),
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
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }
}
