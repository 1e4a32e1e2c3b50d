//! `scrip-bench`, also as `scrip bench`: how fast the real server is, how much memory and disk it takes, and
//! how soon it restarts, each figure with its target. It starts the server's binary, loads it over loopback,
//! and removes everything it created. It is never part of a test: a figure is only printed.
//!
//! A suite is a method of [`Bench`]: it starts a server with a project ([`Bench::funded`]), loads it round by round
//! ([`Bench::round`]) and reports.

// Figures are counts or quotients of counts far below 2^53, and a wrong one would be noticed; nothing here
// affects real data.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

mod args;
mod buyers;
mod client;
mod cluster;
mod dashboard;
mod disk;
mod error;
mod folder;
mod format;
mod http;
mod ledger;
mod load;
mod million;
mod noop;
mod process;
mod project;
mod purchases;
mod receiver;
mod report;
mod rounds;
mod server;
mod stop;
mod streams;
mod sustained;
mod waking;
mod webhooks;

use std::{path::Path, process::ExitCode};

use args::{BenchArgs, Suite};
use clap::Parser as _;
use error::{Context as _, Result};
use load::{Load, Template, Wallets};
use project::Project;
use report::Report;
use server::Server;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The same allocator as the server's, for the bare handler.
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
    folder: TempDir,
    report: Report,
    /// For single calls, buyers, receivers and the provider's double: one thread beside the measured server.
    runtime: Runtime,
}

/// A running server with a project.
struct Setup {
    server: Server,
    project: Project,
}

fn run(args: BenchArgs) -> Result<()> {
    if let Some(Suite::Noop { listen, bearer }) = &args.suite {
        return noop::serve(*listen, bearer);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("a runtime")?;
    stop::listen(&runtime)?;
    let suites = match &args.suite {
        Some(suite) if !matches!(suite, Suite::All) => vec![suite.clone()],
        _ => Suite::all(),
    };
    let mut bench = Bench {
        folder: folder::for_this_run(args.data_dir.as_deref())?,
        report: Report::new(!args.quick),
        args,
        runtime,
    };
    bench.machine();
    let outcome = suites.into_iter().try_for_each(|suite| bench.suite(suite));
    // Figures from before a failure are shown, too.
    bench.report.print(bench.args.json)?;
    outcome
}

impl Bench {
    fn suite(&mut self, suite: Suite) -> Result<()> {
        match suite {
            Suite::Http => self.http(),
            Suite::Cluster => self.cluster(),
            Suite::Million => self.million(),
            Suite::Disk => self.disk(),
            Suite::Purchases { deductions } => self.purchases(deductions),
            Suite::Webhooks => self.webhooks(),
            Suite::Streams => self.streams(),
            Suite::Waking => self.waking(),
            Suite::Dashboard {
                wallets,
                entries,
                orders,
            } => self.dashboard(wallets, entries, orders),
            Suite::Ledger {
                wallets,
                skew,
                rate,
            } => self.ledger(wallets, skew, rate),
            Suite::Sustained { minutes, entries } => self.sustained(minutes, entries),
            Suite::All | Suite::Noop { .. } => Ok(()),
        }
    }

    /// Names the machine above the figures.
    fn machine(&mut self) {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        self.report.value("processor cores", cores as f64, "");
        self.report.note(process::machine(self.folder.path()));
    }

    /// Starts the measured server on a data directory, without waiting until it is ready.
    fn server(&self, data: &Path, env: &[(&str, String)]) -> Result<Server> {
        let binary = server::binary(self.args.server.as_deref())?;
        Server::real(self.runtime.handle(), &binary, data, env)
    }

    /// Starts the bare handler, which accepts this bearer token.
    fn bare_handler(&self, bearer: &str) -> Result<Server> {
        Server::bare(
            self.runtime.handle(),
            self.folder.path().join("noop.log"),
            bearer,
        )
    }

    /// Starts the measured server on the data directory of a suite, and creates a project.
    fn start(&self, suite: &str, env: &[(&str, String)]) -> Result<Setup> {
        let mut server = self.server(&self.folder.path().join(suite), env)?;
        server.ready()?;
        let project = Project::create(&server)?;
        Ok(Setup { server, project })
    }

    /// The same with funded wallets, all of it in a checkpoint.
    fn funded(&self, suite: &str, env: &[(&str, String)], wallets: u64) -> Result<Setup> {
        let setup = self.start(suite, env)?;
        self.fund(&setup, wallets)?;
        setup.server.checkpointed()?;
        Ok(setup)
    }

    /// A load of the usual length whose connections send the next request after each response.
    fn load(
        &self,
        server: &Server,
        template: Template,
        connections: usize,
        wallets: Wallets,
    ) -> Load {
        Load {
            server: server.address(),
            connections,
            threads: self.args.load_threads,
            template,
            wallets,
            run: None,
            rate: None,
            may_shed: false,
            warm_up: self.args.warm_up(),
            length: Some(self.args.round()),
        }
    }
}
