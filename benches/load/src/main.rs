//! `scrip-bench`, also as `scrip bench`: how fast the real server is, how much memory and disk it takes, and
//! how soon it restarts, each figure with its target. It starts the server's binary, loads it over loopback,
//! and removes everything it created. It is never part of a test: a figure is only printed, never judged.

// Figures are counts or quotients of counts far below 2^53, and a wrong one would be noticed; nothing here
// affects real data.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

mod args;
mod body;
mod catch_up;
mod child;
mod client;
mod cluster;
mod core;
mod customer;
mod dashboard;
mod disk;
mod engine;
mod error;
mod foreign;
mod format;
mod holds;
mod http;
mod keys;
mod load;
mod million;
mod noop;
mod orders;
mod place;
mod proc;
mod project;
mod purchases;
mod reconciliation;
mod report;
mod rust_client;
mod series;
mod server;
mod shop;
mod stalled;
mod stop;
mod streams;
mod sustained;
mod webhooks;

use std::{path::Path, process::ExitCode, sync::Arc};

use args::{BenchArgs, Suite};
use child::Server;
use clap::Parser as _;
use error::Result;
use kit::stripe::Stripe;
use place::TempFolder;
use project::Project;
use report::Report;
use server::Binary;
use shop::Shop;

/// The same allocator as the server's, so that what runs in this process is comparable.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match run(BenchArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scrip-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What all suites use.
struct Bench {
    args: BenchArgs,
    place: TempFolder,
    report: Report,
}

/// Runs what the command line asks for.
fn run(args: BenchArgs) -> Result<()> {
    if let Some(Suite::Noop { listen, bearer }) = &args.suite {
        return noop::serve(*listen, bearer);
    }
    stop::listen()?;
    let suite = args.suite.clone().unwrap_or(Suite::All);
    let place = TempFolder::make(args.data_dir.as_deref())?;
    let mut bench = Bench {
        report: Report::new(!args.quick),
        args,
        place,
    };
    let outcome = bench.suite(&suite);
    // Figures from before a failure are shown, too.
    bench.report.print(bench.args.json)?;
    outcome
}

impl Bench {
    /// Starts the measured server on a data directory, without waiting until it is ready.
    fn server(&self, data: &Path, env: &[(&str, String)]) -> Result<Server> {
        let binary = Binary::find(self.args.server.as_deref())?;
        Server::real(&binary, data, env)
    }

    /// Starts the measured server on the data directory of a suite, and creates a project.
    fn start(&self, suite: &str, env: &[(&str, String)]) -> Result<(Server, Project)> {
        let mut server = self.server(&self.place.data(suite), env)?;
        server.ready()?;
        let project = Project::create(&server)?;
        Ok((server, project))
    }

    /// Starts the measured server with a shop at this account of Stripe; see [`shop::environment`].
    fn open_shop(
        &self,
        suite: &str,
        stripe: Stripe,
        per_second: u32,
    ) -> Result<(Server, Project, Arc<Shop>)> {
        let env = shop::environment(&stripe, per_second);
        let (server, project) = self.start(suite, &env)?;
        let shop = Arc::new(Shop::open(&server, &project, stripe)?);
        Ok((server, project, shop))
    }

    fn suite(&mut self, suite: &Suite) -> Result<()> {
        match suite {
            Suite::Http => self.http(),
            Suite::Cluster => self.cluster(),
            Suite::Core => self.core(),
            Suite::Keys => self.keys(),
            Suite::Customer => self.customer(),
            Suite::Million => self.million(),
            Suite::Disk => self.disk(),
            Suite::Purchases { rate, deductions } => self.purchases(*rate, *deductions),
            Suite::CatchUp {
                foreign: Some(foreign),
                webhooks,
                per_second,
                ..
            } => self.beside_others(*foreign, *webhooks, *per_second),
            Suite::CatchUp {
                events, per_second, ..
            } => self.catch_up(*events, *per_second),
            Suite::Reconciliation { charges } => self.reconciliation(*charges),
            Suite::Client => self.rust_client(),
            Suite::Holds => self.holds(),
            Suite::Orders { pending } => self.orders(*pending),
            Suite::Webhooks { rate } => self.webhooks(*rate),
            Suite::Stalled => self.stalled(),
            Suite::Streams => self.streams(),
            Suite::Dashboard {
                wallets,
                entries,
                orders,
            } => self.dashboard(*wallets, *entries, *orders),
            Suite::Sustained { minutes, entries } => self.sustained(*minutes, *entries),
            Suite::All => {
                self.http()?;
                self.core()?;
                self.keys()?;
                self.customer()?;
                self.million()?;
                self.disk()?;
                self.purchases(args::FULFILMENTS, None)?;
                self.catch_up(None, None)?;
                self.beside_others(args::FOREIGN, None, None)?;
                self.beside_others(args::FOREIGN, Some(args::FOREIGN_WEBHOOKS), None)?;
                self.reconciliation(None)?;
                self.rust_client()?;
                self.holds()?;
                self.orders(None)?;
                self.webhooks(args::DELIVERIES)?;
                self.stalled()?;
                self.streams()?;
                self.dashboard(None, None, None)
            }
            Suite::Noop { .. } => Ok(()),
        }
    }
}
