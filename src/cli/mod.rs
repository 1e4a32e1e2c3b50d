//! The command line: one file a command. A command that fails prints one sentence with the reason on standard
//! error and exits with 1.

mod admin_token;
mod api;
pub mod apply;
mod backup;
mod bench;
mod cluster;
mod completions;
mod dev;
mod doctor;
mod export;
mod health;
mod import;
mod keys;
mod listen;
mod notify;
mod openapi;
mod print;
mod progress;
mod project;
mod reconcile;
mod remote;
mod restore;
mod search;
mod secrets;
mod serve;
mod table;
mod trigger;
mod users;
mod verify;
mod wallet;

use std::{fs, io, path::Path, process::ExitCode};

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
    /// Runs a server to try things out, with a demo project, its keys and requests to paste.
    Dev(dev::DevArgs),
    /// Runs the server.
    Serve(serve::ServeArgs),
    /// Changes a running server's catalog to match a file.
    Apply(apply::ApplyArgs),
    /// Measures this binary on this machine, with the program `scrip-bench`.
    Bench(bench::BenchArgs),
    /// Sends one request to a running server's admin API and prints the answer: wallets, orders, keys, projects.
    Api(api::ApiArgs),
    /// Finds wallets, orders and ledger entries of a running server by anything that is known of them.
    Search(search::SearchArgs),
    /// Lists a project's orders, filtered.
    Orders(search::OrdersArgs),
    /// Finds, freezes and thaws wallets of a running server, replaces a code, or reverses a deduction.
    Wallet(wallet::WalletArgs),
    /// Lists, makes, changes and revokes a project's API keys.
    Keys(keys::KeysArgs),
    /// Invites people to a running server's dashboard, changes what they may do, and ends their sessions.
    Users(users::UsersArgs),
    /// Compares the payment providers' books with the orders; exits with 0 only if they add up.
    Reconcile(reconcile::ReconcileArgs),
    /// Shows a project's events as they come, and can forward them.
    Listen(listen::ListenArgs),
    /// Makes something happen in a project that uses the sandbox.
    Trigger(trigger::TriggerArgs),
    /// Shows and changes what processes that share a log in PostgreSQL do.
    Cluster(cluster::ClusterArgs),
    /// Checks what a server needs: configuration, disk, secrets, database, providers, clock.
    Doctor(doctor::DoctorArgs),
    /// Says whether the server of this configuration answers; for containers.
    Health(health::HealthArgs),
    /// Checks everything in a data directory that no server is using; exits with 0 only if there are no
    /// problems.
    Verify(verify::VerifyArgs),
    /// Copies all data to a directory, with or without a running server. A later backup there writes only what
    /// changed.
    Backup(backup::BackupArgs),
    /// Restores a backup into an empty data directory.
    Restore(restore::RestoreArgs),
    /// Replaces the administrator's token.
    AdminToken(secrets::AdminTokenArgs),
    /// Replaces the key that recovery codes and providers' secrets are encrypted under.
    ServerKey(secrets::ServerKeyArgs),
    /// Writes ledgers as JSON Lines or CSV, with or without a running server.
    Export(export::ExportArgs),
    /// Imports what your users have elsewhere, each item once however often it is run: balances from a CSV
    /// file, or subscriptions that run in your Stripe account.
    Import(import::ImportArgs),
    /// Prints the OpenAPI document.
    Openapi(openapi::OpenapiArgs),
    /// Prints a shell's completion script for this command line.
    Completions(completions::CompletionsArgs),
    /// Prints the manual page.
    Man(completions::ManArgs),
}

/// Why a command failed, as a sentence for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    fn new(why: impl std::fmt::Display) -> Self {
        Self(why.to_string())
    }
}

/// Opens a file for reading; `-` is standard input.
fn open(file: &Path) -> io::Result<Box<dyn io::Read>> {
    Ok(match file == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(file)?),
    })
}

/// Parses the command line and runs the command.
#[must_use]
pub fn run() -> ExitCode {
    operations::data_dir::make_all_private();
    let done = match Cli::parse().command {
        Command::Dev(args) => dev::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Apply(args) => apply::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Api(args) => api::run(args),
        Command::Search(args) => search::run(args),
        Command::Orders(args) => search::run_orders(args),
        Command::Wallet(args) => wallet::run(args),
        Command::Keys(args) => keys::run(args),
        Command::Users(args) => users::run(args),
        Command::Reconcile(args) => reconcile::run(&args),
        Command::Listen(args) => listen::run(args),
        Command::Trigger(args) => trigger::run(args),
        Command::Cluster(args) => cluster::run(args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Health(args) => health::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Restore(args) => restore::run(args),
        Command::AdminToken(args) => secrets::admin_token(args),
        Command::ServerKey(args) => secrets::server_key(args),
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
