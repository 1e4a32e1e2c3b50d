//! A project's server that accepts everything at once, and one that accepts nothing and never answers.

use std::{
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{Router, body::Bytes, extract::State};
use hdrhistogram::Histogram;
use tokio::runtime::Runtime;

use crate::{error::Result, load::histogram, shop::one_thread};

const DAY_MILLIS: u64 = 24 * 3600 * 1000;

/// Accepts and counts deliveries, and measures their latency. Dropping it stops it.
pub(super) struct Receiver {
    pub(super) url: String,
    counts: Arc<Counts>,
    _runtime: Runtime,
}

struct Counts {
    ever: AtomicU64,
    counting: AtomicBool,
    counted: AtomicU64,
    latency: Mutex<Histogram<u64>>,
}

impl Receiver {
    pub(super) fn start() -> Result<Self> {
        let counts = Arc::new(Counts {
            ever: AtomicU64::new(0),
            counting: AtomicBool::new(false),
            counted: AtomicU64::new(0),
            latency: Mutex::new(histogram()?),
        });
        let runtime = one_thread()?;
        let router = Router::new().fallback(take).with_state(Arc::clone(&counts));
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = runtime.block_on(tokio::net::TcpListener::bind(anywhere))?;
        let url = format!("http://{}/hooks", listener.local_addr()?);
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self {
            url,
            counts,
            _runtime: runtime,
        })
    }

    /// Sets whether deliveries are counted from now on.
    pub(super) fn count(&self, yes: bool) {
        self.counts.counting.store(yes, Ordering::Relaxed);
    }

    /// Number of deliveries that were counted.
    pub(super) fn received(&self) -> u64 {
        self.counts.counted.load(Ordering::Relaxed)
    }

    /// Number of deliveries, counted or not.
    pub(super) fn received_ever(&self) -> u64 {
        self.counts.ever.load(Ordering::Relaxed)
    }

    /// Nanoseconds from event to arrival of the counted deliveries, to the millisecond.
    pub(super) fn latency(&self) -> Histogram<u64> {
        let latency = self.counts.latency.lock();
        latency.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn take(State(counts): State<Arc<Counts>>, body: Bytes) {
    counts.ever.fetch_add(1, Ordering::Relaxed);
    if !counts.counting.load(Ordering::Relaxed) {
        return;
    }
    counts.counted.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_millis() as u64 % DAY_MILLIS);
    if let Some(then) = time_of_day(&body) {
        let took = (now + DAY_MILLIS - then) % DAY_MILLIS;
        let nanoseconds = Duration::from_millis(took).as_nanos() as u64;
        let mut latency = counts
            .latency
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        latency.saturating_record(nanoseconds);
    }
}

/// Milliseconds since midnight of `"timestamp":"2026-11-18T11:06:40.000Z"`.
fn time_of_day(body: &[u8]) -> Option<u64> {
    let name = b"\"timestamp\":\"";
    let start = memchr::memmem::find(body, name)?;
    let instant = body.get(start + name.len()..)?.get(..24)?;
    let number = |from: usize, length: usize| -> Option<u64> {
        let digits = instant.get(from..from + length)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let seconds = (number(11, 2)? * 60 + number(14, 2)?) * 60 + number(17, 2)?;
    Some(seconds * 1000 + number(20, 3)?)
}

/// Accepts connections, and neither reads nor answers.
pub(super) struct HangingServer {
    pub(super) url: String,
}

impl HangingServer {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/hooks", listener.local_addr()?);
        std::thread::spawn(move || {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                held.push(stream);
            }
        });
        Ok(Self { url })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_events_time_is_read() {
        let body =
            br#"{"type":"wallet.credited","timestamp":"2026-11-18T11:06:40.125Z","data":{}}"#;
        let expected = ((11 * 60 + 6) * 60 + 40) * 1000 + 125;
        assert_eq!(time_of_day(body), Some(expected));
        assert_eq!(time_of_day(b"{\"timestamp\":\"soon\"}"), None);
        assert_eq!(time_of_day(b"{}"), None);
    }
}
