//! The load generator: HTTP/1.1 over epoll, a few threads, one request in flight on each connection. It shares
//! the processor with the server, so it must cost next to nothing: requests are built once and only their
//! digits patched, and no more of a response is read than it takes to tell a good one from a bad one. A bad one
//! is always an error.
//!
//! Requests are sent as fast as responses come, or at a given rate: then the latency of a request that had to
//! wait for a connection counts from when it was due, as its sender would see it.

mod connection;
mod response;
mod schedule;
mod template;
mod worker;

use std::{
    net::SocketAddr,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hdrhistogram::Histogram;

pub(super) use response::{Head, parse_head};
use template::Expected;
pub(super) use template::{Template, user};

use super::{
    error::{Context, Error, Result},
    stop,
};
use schedule::Schedule;
use worker::{Pace, Worker};

/// Which wallet each request is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wallets {
    /// A random one of this many, evenly.
    Random(u64),
    /// Always this one.
    Hot(u64),
    /// Each of the first `wallets` wallets, `times` times in a row; then the load ends.
    InOrder {
        /// Number of wallets.
        wallets: u64,
        /// Requests per wallet.
        times: u64,
    },
    /// A total of `items` requests (or items of a batch), each on a random one of `wallets` wallets.
    Count {
        /// Total number of items.
        items: u64,
        /// Number of wallets.
        wallets: u64,
    },
}

/// A load to run against a server.
pub(super) struct Load<'a> {
    /// The server's address.
    pub(super) server: SocketAddr,
    /// Number of connections.
    pub(super) connections: usize,
    /// Number of threads.
    pub(super) threads: usize,
    /// The request to send.
    pub(super) template: &'a Template,
    /// The wallets that requests are for.
    pub(super) wallets: Wallets,
    /// Requests per second, independent of responses; `None`: the next one after each response.
    pub(super) rate: Option<f64>,
    /// Whether a request that the server sheds (503) is tried again after a moment; otherwise that is an error.
    pub(super) patient: bool,
    /// Duration that is not measured.
    pub(super) warm_up: Duration,
    /// Duration that is measured. [`Duration::MAX`]: until [`Wallets`] ends it.
    pub(super) length: Duration,
}

/// The result of a load.
pub(super) struct Outcome {
    /// Responses within the measured time.
    pub(super) answers: u64,
    /// Requests that were shed, where that is not an error.
    pub(super) shed: u64,
    /// The measured time.
    pub(super) elapsed: Duration,
    /// Nanoseconds from the first byte sent, or from when it was due, to the last byte received.
    pub(super) latency: Histogram<u64>,
}

impl Outcome {
    /// Responses per second.
    pub(super) fn rate(&self) -> f64 {
        self.answers as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// A percentile of the latency.
    pub(super) fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.latency.value_at_percentile(percent))
    }
}

/// A histogram of nanoseconds, up to two minutes, three digits.
pub(super) fn histogram() -> Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, 120_000_000_000, 3).context("a histogram")
}

/// A new number for a load, so that no idempotency key is reused, not even by other runs on the same data.
fn next_run() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_micros() as u64);
    let last = LAST.fetch_max(now, Ordering::Relaxed).max(now);
    LAST.fetch_max(last + 1, Ordering::Relaxed);
    last + 1
}

impl Load<'_> {
    /// Runs the load to its end. Any unexpected response is an error.
    pub(super) fn run(&self) -> Result<Outcome> {
        let run = next_run();
        let threads = self.threads.clamp(1, self.connections.max(1));
        // No thread starts before all connections are open.
        let barrier = Barrier::new(threads);
        let started = Instant::now();
        let outcomes = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|thread| {
                    let barrier = &barrier;
                    scope.spawn(move || self.work(run, thread, threads, barrier))
                })
                .collect();
            running
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(Error("a load thread panicked".into())))
                })
                .collect::<Vec<_>>()
        });
        stop::check()?;
        let mut total = Outcome {
            answers: 0,
            shed: 0,
            elapsed: Duration::ZERO,
            latency: histogram()?,
        };
        for outcome in outcomes {
            let outcome = outcome?;
            total.answers += outcome.answers;
            total.shed += outcome.shed;
            total.elapsed = total.elapsed.max(outcome.elapsed);
            total
                .latency
                .add(&outcome.latency)
                .context("adding latencies")?;
        }
        if total.answers == 0 {
            return Err(Error(format!("no answer in {:.1?}", started.elapsed())));
        }
        Ok(total)
    }

    fn work(&self, run: u64, thread: usize, threads: usize, barrier: &Barrier) -> Result<Outcome> {
        let worker = Worker::connect(
            self.server,
            share(self.connections as u64, thread, threads).1 as usize,
            self.template.for_thread(run, thread),
            self.wallets.part(thread, threads, self.template.items()),
        );
        barrier.wait();
        let now = Instant::now();
        let schedule = self
            .rate
            .map(|rate| Schedule::share(now, rate, thread, threads));
        let pace = Pace::from(now, self.warm_up, self.length);
        worker?.run(pace, schedule, self.patient)
    }
}

/// A thread's share of `count` things: the first, and how many.
fn share(count: u64, thread: usize, threads: usize) -> (u64, u64) {
    let (thread, threads) = (thread as u64, threads as u64);
    let first = count * thread / threads;
    (first, count * (thread + 1) / threads - first)
}

impl Wallets {
    fn part(self, thread: usize, threads: usize, items: u64) -> worker::Choice {
        let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(thread as u64 + 1);
        match self {
            Self::Random(wallets) => worker::Choice::random(wallets, seed, u64::MAX),
            Self::Hot(wallet) => worker::Choice::Hot(wallet),
            Self::InOrder { wallets, times } => {
                // Only whole batches: the caller passes a multiple.
                let (from, part) = share(wallets * times / items, thread, threads);
                let next = from * items;
                worker::Choice::InOrder {
                    next,
                    end: next + part * items,
                    times,
                }
            }
            Self::Count {
                items: count,
                wallets,
            } => {
                let (_, part) = share(count / items, thread, threads);
                worker::Choice::random(wallets, seed, part * items)
            }
        }
    }
}
