//! Parses the command line.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Parser, Subcommand};

/// The variable by which `scrip bench` names the server to measure.
pub(crate) const SERVER_VARIABLE: &str = "SCRIP_BENCH_SERVER";

/// Measures a server on this machine.
#[derive(Debug, Clone, Parser)]
#[command(name = "scrip-bench", version)]
pub(crate) struct BenchArgs {
    /// What to measure; everything when left out.
    #[command(subcommand)]
    pub(crate) suite: Option<Suite>,
    /// The server to measure [default: the `scrip` that ran `bench`, otherwise the one beside this program].
    #[arg(long, global = true, value_name = "PATH", env = SERVER_VARIABLE, hide_env = true)]
    pub(crate) server: Option<PathBuf>,
    /// Short rounds and small counts, to see whether it works, not how fast it is.
    #[arg(long, global = true)]
    pub(crate) quick: bool,
    /// Length of each measured round.
    #[arg(long, global = true, value_name = "SECONDS")]
    pub(crate) seconds: Option<u64>,
    /// Rounds of each kind, interleaved; the median counts.
    #[arg(long, global = true)]
    pub(crate) rounds: Option<usize>,
    /// Threads of the load generator.
    #[arg(long, global = true, default_value_t = 2)]
    pub(crate) load_threads: usize,
    /// Where to put the data directories (on a real disk); a folder is created in it and removed at the end.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Prints the figures as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Suite {
    /// The server over HTTP beside a bare handler.
    Http,
    /// The log in PostgreSQL beside the log on the disk, followers and fail-overs. Starts a database of its own.
    Cluster,
    /// A million wallets: memory while idle, and restarts with ten million entries.
    Million,
    /// Disk in use after ten million operations.
    Disk,
    /// Payments fulfilled at a steady rate: what they do to the deductions beside them. By default 5 rounds of 10
    /// seconds.
    Purchases {
        /// Deductions a second; half of what the server can do when left out.
        #[arg(long, value_name = "PER_SECOND", value_parser = positive)]
        deductions: Option<f64>,
    },
    /// Webhooks beside deductions, to ten endpoints of which one hangs; and the disk space that events and
    /// usage take.
    Webhooks,
    /// Ten thousand streams of balances: memory while idle, and deductions beside them and on their wallets.
    Streams,
    /// Ten thousand wallets of 600 past deductions that slept: the first second of deductions beside the tenth.
    Waking,
    /// Each page of the dashboard over a million wallets and ten million entries, then a full and an
    /// incremental backup of them.
    Dashboard {
        /// Number of wallets.
        #[arg(long, value_name = "WALLETS", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
        wallets: Option<u64>,
        /// Number of entries in their ledgers.
        #[arg(long, value_name = "ENTRIES", value_parser = clap::value_parser!(u64).range(10_000..=100_000_000))]
        entries: Option<u64>,
        /// Number of paid orders.
        #[arg(long, value_name = "ORDERS", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
        orders: Option<u64>,
    },
    /// Deductions at a rate that does not wait for answers, most of them from few wallets; then whether balances,
    /// answers and repeated requests agree. By default 3 rounds of 20 seconds.
    Ledger {
        /// Number of wallets.
        #[arg(long, value_name = "WALLETS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
        wallets: u64,
        /// Exponent of the Zipf distribution; 0 takes all wallets alike.
        #[arg(long, value_name = "EXPONENT", default_value_t = 0.99, value_parser = exponent)]
        skew: f64,
        /// Deductions a second.
        #[arg(long, value_name = "PER_SECOND", default_value_t = 10_000.0, value_parser = positive)]
        rate: f64,
    },
    /// Whether it stays fast: single deductions for minutes, then batches up to many entries, measured
    /// every half minute. Not part of `all`.
    Sustained {
        /// Minutes of single deductions.
        #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_440))]
        minutes: u64,
        /// Entries in the ledger after the batches.
        #[arg(long, value_name = "ENTRIES", default_value_t = 50_000_000)]
        entries: u64,
    },
    /// Everything except `cluster` and `sustained`, one after the other.
    All,
    /// The bare handler; started by `http`.
    #[command(hide = true)]
    Noop {
        /// Where to listen.
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        /// The bearer token to accept.
        #[arg(long, default_value = "pay_sk_test_0123456789abcdef")]
        bearer: String,
    },
}

impl Suite {
    /// What [`Self::All`] runs.
    pub(crate) fn all() -> Vec<Self> {
        vec![
            Self::Http,
            Self::Million,
            Self::Disk,
            Self::Purchases { deductions: None },
            Self::Webhooks,
            Self::Streams,
            Self::Waking,
            Self::Ledger {
                wallets: 10_000,
                skew: 0.99,
                rate: 10_000.0,
            },
            Self::Dashboard {
                wallets: None,
                entries: None,
                orders: None,
            },
        ]
    }
}

impl BenchArgs {
    /// Length of a measured round.
    pub(crate) fn round(&self) -> Duration {
        self.round_or(Duration::from_secs(4))
    }

    /// Length of a measured round, `usual` by default.
    pub(crate) fn round_or(&self, usual: Duration) -> Duration {
        match self.seconds {
            Some(seconds) => Duration::from_secs(seconds.max(1)),
            None if self.quick => Duration::from_secs(1),
            None => usual,
        }
    }

    /// Unmeasured time before each round.
    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_millis(if self.quick { 300 } else { 700 })
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds_or(3)
    }

    /// Rounds of each kind, `usual` by default.
    pub(crate) fn rounds_or(&self, usual: usize) -> usize {
        let rounds = self.rounds.unwrap_or(if self.quick { 1 } else { usual });
        rounds.max(1)
    }

    /// A number of things to create; a hundredth of it with `--quick`.
    pub(crate) const fn count(&self, full: u64) -> u64 {
        if self.quick { full / 100 } else { full }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, 0.1, 1e6)
}

fn exponent(text: &str) -> Result<f64, String> {
    number(text, 0.0, 4.0)
}

fn number(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match (least..=most).contains(&number) {
        true => Ok(number),
        false => Err(format!("not between {least} and {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!(positive("250"), Ok(250.0));
        for wrong in ["0", "-1", "inf", "NaN", "many", ""] {
            assert!(positive(wrong).is_err(), "{wrong}");
        }
    }
}
