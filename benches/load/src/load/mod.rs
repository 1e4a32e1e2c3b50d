//! The load generator: one request in flight on each connection, a few threads. Each request has a key of its own.
//! A bad response ends the load with an error.
//!
//! Requests are sent as fast as responses come, or at a given rate: then the latency of a request that had to
//! wait for a connection counts from when it was due, as its sender would see it.

mod connection;
mod template;
mod zipf;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hdrhistogram::Histogram;
use tokio::{task::JoinSet, time::sleep};

use self::connection::Connection;
pub(super) use self::{
    template::{Template, user},
    zipf::Zipf,
};
use super::{
    error::{Context, Error, Result},
    stop,
};

/// How long the server may be silent.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How often that and the user's wish to end are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// A timer fires up to so much later than it is asked to.
const TIMER: Duration = Duration::from_millis(1);
/// How long to wait after a response that says that the server is too busy.
const SHED_PAUSE: Duration = Duration::from_millis(100);

/// Which wallet each request is for.
#[derive(Debug, Clone)]
pub(super) enum Wallets {
    /// A random one of this many, evenly.
    Random(u64),
    /// Each of the first `wallets` wallets, `times` times in a row; then the load ends.
    InOrder { wallets: u64, times: u64 },
    /// A total of `items` requests (or items of a batch), each for a random one of `wallets` wallets.
    Count { items: u64, wallets: u64 },
    /// A total of `items` requests, most of them for few wallets.
    Zipf { items: u64, zipf: Arc<Zipf> },
}

impl Wallets {
    pub(super) fn wallet(&self, item: u64) -> u64 {
        match self {
            Self::Random(wallets) | Self::Count { wallets, .. } => spread(item, *wallets),
            Self::InOrder { times, .. } => item / times,
            Self::Zipf { zipf, .. } => zipf.wallet(item),
        }
    }

    const fn items(&self) -> u64 {
        match self {
            Self::Random(_) => u64::MAX,
            Self::InOrder { wallets, times } => *wallets * *times,
            Self::Count { items, .. } | Self::Zipf { items, .. } => *items,
        }
    }
}

/// A number below `limit`, evenly spread over the numbers (splitmix64).
pub(super) fn spread(number: u64, limit: u64) -> u64 {
    let mut hash = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((u128::from(hash ^ (hash >> 31)) * u128::from(limit)) >> 64) as u64
}

/// A load to run against a server.
#[derive(Debug, Clone)]
pub(super) struct Load {
    pub(super) server: SocketAddr,
    pub(super) connections: usize,
    pub(super) threads: usize,
    pub(super) template: Template,
    pub(super) wallets: Wallets,
    /// The number in its idempotency keys, of an earlier load to repeat that; `None`: one that no load had.
    pub(super) run: Option<u64>,
    /// Requests per second, independent of responses; `None`: the next one after each response.
    pub(super) rate: Option<f64>,
    /// Whether a request that the server sheds (503) is tried again after a moment; otherwise that is an error.
    pub(super) may_shed: bool,
    /// Duration that is not measured.
    pub(super) warm_up: Duration,
    /// Duration that is measured; `None`: until [`Wallets`] ends it.
    pub(super) length: Option<Duration>,
}

/// The result of a load.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Good responses at any time.
    pub(super) all: u64,
    /// Responses within the measured time.
    pub(super) responses: u64,
    /// Requests that were shed, where that is no error.
    pub(super) shed: u64,
    /// The measured time.
    pub(super) elapsed: Duration,
    /// Nanoseconds from the first byte sent, or from when it was due, to the last byte received; also of the
    /// responses that came after the measured time.
    pub(super) latency: Histogram<u64>,
}

impl Outcome {
    /// Responses per second.
    pub(super) fn rate(&self) -> f64 {
        self.responses as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// A histogram of nanoseconds, up to two minutes, three digits.
pub(super) fn histogram() -> Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, 120_000_000_000, 3).context("a histogram")
}

/// A new number for a load, so that no idempotency key is reused, not even by other runs on the same data.
pub(super) fn next_run() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_micros() as u64);
    let last = LAST.fetch_max(now, Ordering::Relaxed).max(now);
    LAST.fetch_max(last + 1, Ordering::Relaxed);
    last + 1
}

/// A load that is running.
struct Run {
    load: Load,
    number: u64,
    begin: Instant,
    /// When sending ends.
    end: Option<Instant>,
    next_request: AtomicU64,
    results: Mutex<Results>,
}

struct Results {
    all: u64,
    in_time: u64,
    shed: u64,
    last: Instant,
    latency: Histogram<u64>,
}

impl Load {
    /// Runs the load to its end.
    pub(super) fn run(&self) -> Result<Outcome> {
        let threads = self.threads.clamp(1, self.connections.max(1));
        let begin = Instant::now() + self.warm_up;
        let run = Arc::new(Run {
            number: self.run.unwrap_or_else(next_run),
            begin,
            end: self.length.map(|length| begin + length),
            next_request: AtomicU64::new(0),
            results: Mutex::new(Results {
                all: 0,
                in_time: 0,
                shed: 0,
                last: begin,
                latency: histogram()?,
            }),
            load: self.clone(),
        });
        let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
            let start = |thread| {
                let run = Arc::clone(&run);
                scope.spawn(move || run.on_thread(thread, threads))
            };
            let running: Vec<_> = (0..threads).map(start).collect();
            let ended = running.into_iter().map(|thread| thread.join());
            let panicked = |_| Err(Error("a load thread panicked".into()));
            ended
                .map(|outcome| outcome.unwrap_or_else(panicked))
                .collect()
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        stop::check()?;
        run.outcome()
    }
}

impl Run {
    /// Runs a thread's share of the connections.
    fn on_thread(self: Arc<Self>, thread: usize, threads: usize) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("a runtime")?;
        runtime.block_on(async {
            let mut connections = JoinSet::new();
            for _ in (thread..self.load.connections).step_by(threads) {
                let connection = Connection::open(self.load.server).await?;
                connections.spawn(Arc::clone(&self).on_connection(connection));
            }
            loop {
                tokio::select! {
                    ended = connections.join_next() => match ended {
                        Some(ended) => ended.context("a connection")??,
                        None => return Ok(()),
                    },
                    () = sleep(CHECK_INTERVAL) => {
                        stop::check()?;
                        let silence = self.results().last.elapsed();
                        if silence > TIMEOUT {
                            return Err(Error(format!("no response for {silence:.0?}")));
                        }
                    }
                }
            }
        })
    }

    async fn on_connection(self: Arc<Self>, mut connection: Connection) -> Result<()> {
        let items = self.load.template.items();
        let requests = self.load.wallets.items() / items;
        let mut request = self.load.template.request(self.number);
        loop {
            let number = self.next_request.fetch_add(1, Ordering::Relaxed);
            if number >= requests {
                return Ok(());
            }
            let Some(mut started) = self.due(number).await else {
                return Ok(());
            };
            let expected = request.expected;
            let wallet = |item| self.load.wallets.wallet(number * items + item);
            let bytes = request.fill(number, wallet);
            while !connection
                .call(bytes, &expected, self.load.may_shed)
                .await?
            {
                self.results().shed += 1;
                sleep(SHED_PAUSE).await;
                if self.is_over(Instant::now()) {
                    return Ok(());
                }
                started = Instant::now();
            }
            self.record(started, Instant::now());
        }
    }

    /// Waits until a request is due; returns when its latency begins, `None` once sending has ended.
    async fn due(&self, number: u64) -> Option<Instant> {
        let now = Instant::now();
        let mut started = now;
        if let Some(rate) = self.load.rate {
            let first = self.begin - self.load.warm_up;
            let due = first + Duration::from_secs_f64(number as f64 / rate);
            if self.is_over(due) {
                return None;
            }
            if due > now {
                tokio::time::sleep_until(due.into()).await;
                started = Instant::now().min(due + TIMER);
            } else {
                started = due;
            }
        }
        (!self.is_over(started)).then_some(started)
    }

    fn is_over(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }

    fn record(&self, started: Instant, now: Instant) {
        let mut results = self.results();
        results.last = now;
        results.all += 1;
        if now >= self.begin {
            let nanoseconds = (now - started).as_nanos() as u64;
            results.latency.saturating_record(nanoseconds);
            results.in_time += u64::from(!self.is_over(now));
        }
    }

    fn results(&self) -> std::sync::MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outcome(&self) -> Result<Outcome> {
        let results = self.results();
        let measured = results.latency.len();
        // A round that is too short for every connection to get a response lasts until its last one.
        let is_short = results.in_time < self.load.connections as u64;
        let (responses, end) = match self.end {
            Some(end) if !is_short => (results.in_time, end),
            _ => (measured, results.last),
        };
        if responses == 0 {
            return Err(Error("no response".into()));
        }
        Ok(Outcome {
            all: results.all,
            responses,
            shed: results.shed,
            elapsed: end.saturating_duration_since(self.begin),
            latency: results.latency.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wallets_are_chosen_evenly_or_in_order() {
        let mut counts = [0; 4];
        for item in 0..4_000 {
            counts[Wallets::Random(4).wallet(item) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)));
        let order = Wallets::InOrder {
            wallets: 2,
            times: 2,
        };
        let wallets = (0..order.items()).map(|item| order.wallet(item));
        assert_eq!(wallets.collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
