//! The load generator: HTTP/1.1 over epoll, a few threads, one request in flight on each
//! connection. It shares the processor with the server, so it must cost next to nothing: requests
//! are built once and only their digits patched, and no more of an answer is read than it takes to
//! tell a good one from a bad one. It never lets a bad one pass.
//!
//! As fast as answers come, or at a given rate: then a request that had to wait for a connection has
//! waited since it was due, as whoever sent it would see it.

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

/// Which wallet the next request is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wallets {
    /// Any of the first so many, evenly.
    Random(u64),
    /// The same one again and again.
    Hot(u64),
    /// Each of the first so many, so many times in a row; then the load ends.
    InOrder {
        /// How many wallets.
        wallets: u64,
        /// How often each.
        times: u64,
    },
    /// So many requests (or items of a batch), on any of the first so many wallets.
    Count {
        /// How many in all.
        items: u64,
        /// Over how many wallets.
        wallets: u64,
    },
}

/// A load.
pub(super) struct Load<'a> {
    /// Who gets it.
    pub(super) server: SocketAddr,
    /// How many connections.
    pub(super) connections: usize,
    /// On how many threads.
    pub(super) threads: usize,
    /// What is sent.
    pub(super) template: &'a Template,
    /// For whom.
    pub(super) wallets: Wallets,
    /// Requests a second, answered or not; `None`: one as soon as the one before is answered.
    pub(super) rate: Option<f64>,
    /// Whether to try again after a moment where the server sheds load (503); else that is an error
    /// like any other.
    pub(super) patient: bool,
    /// How long it is not counted.
    pub(super) warm_up: Duration,
    /// How long it is counted. [`Duration::MAX`]: until [`Wallets`] ends it.
    pub(super) length: Duration,
}

/// What came of it.
pub(super) struct Outcome {
    /// Requests answered while it counted.
    pub(super) answers: u64,
    /// Requests that were shed, where that is no error.
    pub(super) shed: u64,
    /// Over this time.
    pub(super) elapsed: Duration,
    /// Nanoseconds from the first byte out, or from when it was due, to the last byte in.
    pub(super) latency: Histogram<u64>,
}

impl Outcome {
    /// Answers in a second.
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

/// Names a load, so that no idempotency key is used twice, in other runs on the same data either.
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
    /// Runs it to its end. Any answer but the expected one is an error.
    pub(super) fn run(&self) -> Result<Outcome> {
        let run = next_run();
        let threads = self.threads.clamp(1, self.connections.max(1));
        // Nobody starts before all connections stand.
        let barrier = Barrier::new(threads);
        let begun = Instant::now();
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
            return Err(Error(format!("no answer in {:.1?}", begun.elapsed())));
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

/// The first and the number of what a thread gets of so many things.
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
                // Whole batches only: the caller asks for a multiple.
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
