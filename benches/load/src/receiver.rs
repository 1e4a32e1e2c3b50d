//! A project's server that accepts everything at once.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{Router, body::Bytes, extract::State};
use hdrhistogram::Histogram;
use serde::Deserialize;
use tokio::runtime::Runtime;

use super::{error::Result, load::histogram};

/// Accepts and counts deliveries, and measures their latency.
pub(crate) struct Receiver {
    pub(crate) url: String,
    counts: Arc<Counts>,
}

struct Counts {
    all: AtomicU64,
    is_measuring: AtomicBool,
    latency: Mutex<Histogram<u64>>,
}

impl Receiver {
    pub(crate) fn start(runtime: &Runtime) -> Result<Self> {
        let counts = Arc::new(Counts {
            all: AtomicU64::new(0),
            is_measuring: AtomicBool::new(false),
            latency: Mutex::new(histogram()?),
        });
        let router = Router::new().fallback(take).with_state(Arc::clone(&counts));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
        let url = format!("http://{}/hooks", listener.local_addr()?);
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, counts })
    }

    /// Sets whether the latency is measured from now on.
    pub(crate) fn measure(&self, is_measuring: bool) {
        let measuring = &self.counts.is_measuring;
        measuring.store(is_measuring, Ordering::Relaxed);
    }

    /// Number of deliveries so far.
    pub(crate) fn received(&self) -> u64 {
        self.counts.all.load(Ordering::Relaxed)
    }

    /// Nanoseconds from event to arrival of the measured deliveries, to the millisecond.
    pub(crate) fn latency(&self) -> Histogram<u64> {
        let latency = self.counts.latency.lock();
        latency.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn take(State(counts): State<Arc<Counts>>, body: Bytes) {
    counts.all.fetch_add(1, Ordering::Relaxed);
    if !counts.is_measuring.load(Ordering::Relaxed) {
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_millis() as u64);
    if let Some(then) = event_millis(&body) {
        let nanoseconds = now.saturating_sub(then) * 1_000_000;
        let latency = counts.latency.lock();
        let mut latency = latency.unwrap_or_else(PoisonError::into_inner);
        latency.saturating_record(nanoseconds);
    }
}

/// When an event was, in milliseconds since 1970.
fn event_millis(body: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Event<'a> {
        timestamp: &'a str,
    }
    let event: Event<'_> = serde_json::from_slice(body).ok()?;
    let timestamp: jiff::Timestamp = event.timestamp.parse().ok()?;
    timestamp.as_millisecond().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_events_time_is_read() {
        let body =
            br#"{"type":"wallet.credited","timestamp":"2026-11-18T11:06:40.125Z","data":{}}"#;
        let midnight = 1_794_960_000_000;
        let time_of_day = ((11 * 60 + 6) * 60 + 40) * 1000 + 125;
        assert_eq!(event_millis(body), Some(midnight + time_of_day));
        assert_eq!(event_millis(b"{\"timestamp\":\"soon\"}"), None);
        assert_eq!(event_millis(b"{}"), None);
    }
}
