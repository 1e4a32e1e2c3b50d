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
mod help;
mod import;
mod listen;
mod local;
mod notify;
mod openapi;
mod print;
mod progress;
mod project;
mod rates;
mod reconcile;
mod remote;
mod restore;
mod secrets;
mod serve;
mod table;
mod trigger;
mod verify;

use std::{convert::Infallible, fs, io, path::Path, process::ExitCode};

use clap::{FromArgMatches as _, Parser, Subcommand};

/// A credit wallet and checkout service in one binary.
#[derive(Debug, Parser)]
#[command(name = "scrip", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The commands, in the order of their groups in `scrip --help`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Run a server to try things out, with a demo project and its keys.
    Dev(dev::DevArgs),
    /// Run the server.
    Serve(serve::ServeArgs),
    /// Change a project's catalog to match a file.
    Apply(apply::ApplyArgs),
    /// Print a project's catalog as the file that `scrip apply` takes.
    Pull(apply::pull::PullArgs),
    /// Fill a rate card with the prices of models.
    Rates(rates::RatesArgs),
    /// List, create, change and revoke API keys.
    Keys(api::KeysArgs),
    /// Import balances from a CSV file, or subscriptions from Stripe.
    ///
    /// Each item is imported once, however often the command runs.
    Import(import::ImportArgs),
    /// Check configuration, disk, secrets, database, network and providers.
    Doctor(doctor::DoctorArgs),
    /// Check that the server of this configuration answers.
    Health(health::HealthArgs),
    /// Back up all data, with or without a running server.
    ///
    /// A later backup to the same directory writes only what changed.
    Backup(backup::BackupArgs),
    /// Restore a backup into an empty data directory.
    Restore(restore::RestoreArgs),
    /// Check the data of a server that is not running.
    ///
    /// Exits with 0 only if there are no problems.
    Verify(verify::VerifyArgs),
    /// Write ledgers as JSON Lines or CSV, with or without a running server.
    Export(export::ExportArgs),
    /// Compare the payment provider's records with the orders.
    ///
    /// Exits with 0 only if they add up.
    Reconcile(reconcile::ReconcileArgs),
    /// Invite people to the dashboard, and change what they may do.
    Users(api::UsersArgs),
    /// Replace the administrator's token.
    AdminToken(secrets::AdminTokenArgs),
    /// Replace the key that encrypts recovery codes and providers' secrets.
    ServerKey(secrets::ServerKeyArgs),
    /// Show and change the processes that share a log in PostgreSQL.
    Cluster(cluster::ClusterArgs),
    /// Show events as they happen, and forward them to a local program.
    Listen(listen::ListenArgs),
    /// Trigger a sandbox event.
    Trigger(trigger::TriggerArgs),
    /// Call an operation of the API or the admin API; without one, list them.
    Api(api::ApiArgs),
    /// Print the OpenAPI document.
    Openapi(openapi::OpenapiArgs),
    /// Measure this server on this machine, by the program `scrip-bench`.
    Bench(bench::BenchArgs),
    /// Print a shell's completion script.
    Completions(completions::CompletionsArgs),
    /// Print the manual.
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

/// Completes a day to its midnight in UTC; anything else is left to the server.
fn instant(text: &str) -> Result<String, Infallible> {
    Ok(match text.is_empty() || text.contains('T') {
        true => text.to_owned(),
        false => format!("{text}T00:00:00Z"),
    })
}

/// Parses the command line and runs the command.
pub fn run() -> ExitCode {
    operations::data_dir::make_all_private();
    let matches = help::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let done = match cli.command {
        Command::Dev(args) => dev::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Apply(args) => apply::run(args),
        Command::Pull(args) => apply::pull::run(&args),
        Command::Rates(args) => rates::run(args),
        Command::Keys(args) => api::run(&args),
        Command::Import(args) => import::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Health(args) => health::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Restore(args) => restore::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Export(args) => export::run(args),
        Command::Reconcile(args) => reconcile::run(&args),
        Command::Users(args) => api::run(&args),
        Command::AdminToken(args) => secrets::admin_token(args),
        Command::ServerKey(args) => secrets::server_key(args),
        Command::Cluster(args) => cluster::run(args),
        Command::Listen(args) => listen::run(args),
        Command::Trigger(args) => trigger::run(args),
        Command::Api(args) => api::run(&args),
        Command::Openapi(args) => openapi::run(&args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => completions::complete(&args, help::command()),
        Command::Man(args) => completions::man(&args, help::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::error(&format!("scrip: {failure}"));
            ExitCode::FAILURE
        }
    }
}
