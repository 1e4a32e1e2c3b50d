//! The command line of `scrip bench`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Subcommand};

/// Measures this binary on this machine.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// What to measure; everything when left out.
    #[command(subcommand)]
    pub suite: Option<Suite>,
    /// Short rounds and small counts: whether it works, not how fast it is.
    #[arg(long, global = true)]
    pub quick: bool,
    /// Length of each measured round.
    #[arg(long, global = true, value_name = "SECONDS")]
    pub seconds: Option<u64>,
    /// Rounds of each kind, interleaved; the median counts.
    #[arg(long, global = true)]
    pub rounds: Option<usize>,
    /// Threads of the load generator.
    #[arg(long, global = true, default_value_t = 2)]
    pub load_threads: usize,
    /// Where to put the data directories (on a real disk); a folder of its own is made in it and
    /// removed at the end.
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Prints the figures as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Subcommand)]
pub enum Suite {
    /// The server over HTTP beside a handler that does nothing.
    Http,
    /// The wallets over the log, in this process, without HTTP.
    Core,
    /// A wallet with ten million past keys beside a fresh one.
    Keys,
    /// A million wallets: memory while idle, and restarts with ten million entries.
    Million,
    /// Disk in use after ten million operations.
    Disk,
    /// Everything, one after the other.
    All,
    /// The handler that does nothing; started by `http`.
    #[command(hide = true)]
    Noop {
        /// Where to listen.
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
    },
}

impl BenchArgs {
    /// Length of a measured round.
    pub(super) fn round(&self) -> Duration {
        Duration::from_secs(
            self.seconds
                .unwrap_or(if self.quick { 1 } else { 4 })
                .max(1),
        )
    }

    /// Unmeasured time before each.
    pub(super) fn warm_up(&self) -> Duration {
        Duration::from_millis(if self.quick { 300 } else { 700 })
    }

    /// Rounds of each kind.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 }).max(1)
    }

    /// A count of things to make, a hundredth of it when in a hurry.
    pub(super) const fn count(&self, full: u64) -> u64 {
        if self.quick { full / 100 } else { full }
    }
}
