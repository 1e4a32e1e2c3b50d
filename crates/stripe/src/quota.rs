//! Rate limits of an account, and permissions that its key lacks. Stripe takes 100 requests a second in live mode and
//! 25 in test mode from all keys of an account, and 25 of each kind ("Rate limits"): background reads stay well below
//! that, and requests that a buyer waits for go first. A missing permission is remembered until a request that needs it
//! succeeds.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};

use super::object::PAGE_SIZE;

/// Background requests a second: in live mode, in any other mode, and of one kind.
const LIVE_RATE: u32 = 50;
const TEST_RATE: u32 = 12;
const KIND_RATE: u32 = 12;
/// The burst after an idle time: with a second's other requests below Stripe's 25.
const BURST: u32 = 8;
/// Concurrent background operations of an account. Each takes a few requests, and this many finish before their
/// timeout.
const CONCURRENCY: u32 = 8;
/// Buyers' requests delay background requests by at most this, so that these finish before their timeout.
const MAX_DELAY: Duration = Duration::from_secs(2);
/// The most remembered accounts before idle ones are forgotten.
const MAX_REMEMBERED: usize = 1000;

#[derive(Debug)]
pub(super) struct Quotas {
    /// Background requests a second, overall and of each kind; 0 for the mode's default, `None` for no limit.
    per_second: Option<u32>,
    accounts: Mutex<HashMap<[u8; 32], Arc<Quota>>>,
}

#[derive(Debug)]
pub(super) struct Quota {
    rates: Option<Mutex<Rates>>,
    places: Semaphore,
    /// Permissions that the key lacks, by the refused question (`read charges`).
    missing: Mutex<BTreeMap<String, String>>,
    /// Page size to request, in objects; smaller after pages that were too large.
    page: AtomicU8,
}

#[derive(Debug)]
struct Rates {
    all: Rate,
    of_a_kind: HashMap<String, Rate>,
    initial: Rate,
}

/// A number of requests a second with a small burst (the generic cell rate algorithm).
#[derive(Debug, Clone, Copy)]
struct Rate {
    interval: Duration,
    burst: Duration,
    /// When the next request would be due without a burst.
    even: Instant,
}

impl Rate {
    fn new(per_second: u32, now: Instant) -> Self {
        let interval = Duration::from_secs(1).checked_div(per_second);
        let interval = interval.unwrap_or_default();
        let at_once = BURST.min(per_second / 2);
        Self {
            interval,
            burst: interval.saturating_mul(at_once),
            even: now,
        }
    }

    fn earliest(&self, now: Instant) -> Instant {
        let turn = self.even.checked_sub(self.burst);
        turn.map_or(now, |turn| turn.max(now))
    }

    fn take(&mut self, turn: Instant) {
        let from = self.even.max(turn);
        self.even = from.checked_add(self.interval).unwrap_or(from);
    }

    /// Delays background requests by one immediate request.
    fn go_first(&mut self, now: Instant) {
        let delayed = now.checked_add(MAX_DELAY).unwrap_or(now);
        let latest = delayed.max(self.even);
        self.take(now);
        self.even = self.even.min(latest);
    }
}

impl Quotas {
    pub(super) fn new(per_second: u32) -> Self {
        let per_second = Some(per_second);
        Self {
            per_second,
            ..Self::unlimited()
        }
    }

    pub(super) fn unlimited() -> Self {
        Self {
            per_second: None,
            accounts: Mutex::default(),
        }
    }

    pub(super) fn of(&self, key: &str) -> Arc<Quota> {
        let account = Sha256::digest(key).into();
        let mut accounts = self.accounts.lock();
        if let Some(quota) = accounts.get(&account) {
            return Arc::clone(quota);
        }
        if accounts.len() >= MAX_REMEMBERED {
            accounts.retain(|_, quota| Arc::strong_count(quota) > 1);
        }
        let rates = self.per_second.map(|per_second| match per_second {
            0 if key.contains("_live_") => (LIVE_RATE, KIND_RATE),
            0 => (TEST_RATE, KIND_RATE),
            other => (other, other),
        });
        let quota = Arc::new(Quota::new(rates));
        accounts.insert(account, Arc::clone(&quota));
        quota
    }
}

impl Quota {
    /// `rates`: requests a second overall, and of each kind.
    fn new(rates: Option<(u32, u32)>) -> Self {
        let now = Instant::now();
        let at_once = rates.map_or(CONCURRENCY, |(all, _)| all.clamp(1, CONCURRENCY));
        let rates = rates.map(|(all, of_a_kind)| Rates {
            all: Rate::new(all, now),
            of_a_kind: HashMap::new(),
            initial: Rate::new(of_a_kind, now),
        });
        Self {
            rates: rates.map(Mutex::new),
            places: Semaphore::new(at_once as usize),
            missing: Mutex::default(),
            page: AtomicU8::new(PAGE_SIZE),
        }
    }

    /// Waits for one of the [`CONCURRENCY`] background operations; `None` without rates.
    pub(super) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        self.rates.as_ref()?;
        self.places.acquire().await.ok()
    }

    /// Waits until a background request of this kind may go.
    pub(super) async fn wait(&self, kind: &str) {
        let Some(rates) = &self.rates else {
            return;
        };
        let turn = {
            let mut rates = rates.lock();
            let now = Instant::now();
            let [all, of_kind] = rates.of(kind);
            let turn = all.earliest(now).max(of_kind.earliest(now));
            all.take(turn);
            of_kind.take(turn);
            turn
        };
        tokio::time::sleep_until(turn).await;
    }

    /// Counts an immediate request, which delays background requests.
    pub(super) fn go_first(&self, kind: &str) {
        if let Some(rates) = &self.rates {
            let mut rates = rates.lock();
            let now = Instant::now();
            for rate in rates.of(kind) {
                rate.go_first(now);
            }
        }
    }

    /// Remembers that the key lacks a permission. Logged once.
    pub(super) fn lacks(&self, question: &str, permission: &str) {
        let former = self
            .missing
            .lock()
            .insert(question.into(), permission.into());
        if former.as_deref() != Some(permission) {
            tracing::error!(
                permission,
                question,
                "The payment provider's key lacks a permission; what needs it waits until the key has it"
            );
        }
    }

    pub(super) fn note_granted(&self, question: &str) {
        if let Some(permission) = self.missing.lock().remove(question) {
            tracing::info!(
                permission,
                question,
                "The payment provider's key now has a permission that it lacked"
            );
        }
    }

    pub(super) fn missing_permissions(&self) -> Vec<String> {
        let missing = self.missing.lock();
        let permissions: BTreeSet<_> = missing.values().cloned().collect();
        permissions.into_iter().collect()
    }

    pub(super) fn page(&self) -> u8 {
        self.page.load(Ordering::Relaxed)
    }

    /// Halves the page size after a page of `than` objects was too large or did not arrive.
    pub(super) fn smaller_pages(&self, than: u8) {
        self.page.store((than / 2).max(1), Ordering::Relaxed);
    }

    /// Grows the page size by a quarter after a page of `than` objects was read.
    pub(super) fn larger_pages(&self, than: u8) {
        let larger = than.saturating_add(than / 4).saturating_add(1);
        self.page.store(larger.min(PAGE_SIZE), Ordering::Relaxed);
    }
}

impl Rates {
    /// The rates that a request of this kind counts against.
    fn of(&mut self, kind: &str) -> [&mut Rate; 2] {
        let of_kind = self.of_a_kind.entry(kind.into()).or_insert(self.initial);
        [&mut self.all, of_kind]
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    const KIND: &str = "charges";

    fn intervals(per_second: u32, key: &str) -> [u128; 2] {
        let quota = Quotas::new(per_second).of(key);
        let rates = quota.rates.as_ref().unwrap().lock();
        [rates.all, rates.initial].map(|rate| rate.interval.as_micros())
    }

    #[test]
    fn the_mode_of_a_key_says_how_fast_unless_it_is_set() {
        assert_eq!(intervals(0, "sk_live_1"), [20_000, 83_333]);
        assert_eq!(intervals(0, "rk_test_1"), [83_333, 83_333]);
        assert_eq!(intervals(4, "sk_live_1"), [250_000, 250_000]);
        let quotas = Quotas::new(0);
        assert!(Arc::ptr_eq(
            &quotas.of("sk_test_1"),
            &quotas.of("sk_test_1")
        ));
        assert!(!Arc::ptr_eq(
            &quotas.of("sk_test_1"),
            &quotas.of("sk_test_2")
        ));
        for number in 0..5000 {
            quotas.of(&format!("sk_test_{number}"));
        }
        assert!(quotas.accounts.lock().len() <= MAX_REMEMBERED);
    }

    async fn elapsed(
        requests: usize,
        kind: impl Fn(usize) -> &'static str,
        quota: &Quota,
    ) -> Duration {
        let begun = Instant::now();
        join_all((0..requests).map(|number| quota.wait(kind(number)))).await;
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn background_requests_keep_to_the_rate_after_a_burst() {
        let quota = Quota::new(Some((10, 10)));
        // Five at once, then ten a second.
        assert_eq!(
            elapsed(106, |_| KIND, &quota).await,
            Duration::from_secs(10)
        );
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(elapsed(16, |_| KIND, &quota).await, Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_has_a_rate_of_its_own() {
        let quota = Quota::new(Some((50, 10)));
        let kinds = ["charges", "events", "invoices"];
        let of_all = elapsed(3 * 106, |number| kinds[number % 3], &quota).await;
        assert!(of_all.as_secs() == 10, "{of_all:?}: as if each were alone");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_buyers_go_first_and_delay_the_background() {
        let quota = Quota::new(Some((10, 10)));
        let begun = Instant::now();
        for _ in 0..25 {
            quota.go_first(KIND);
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        quota.wait(KIND).await;
        assert_eq!(begun.elapsed(), Duration::from_millis(1500));
        for _ in 0..1000 {
            quota.go_first(KIND);
        }
        quota.wait(KIND).await;
        assert_eq!(begun.elapsed(), Duration::from_millis(3000));
    }

    #[test]
    fn what_is_missing_is_gone_once_its_question_is_answered() {
        let quota = Quota::new(None);
        quota.lacks("read disputes", "rak_dispute_read");
        quota.lacks("read charges", "rak_charge_read");
        quota.lacks("read charges", "rak_charge_read");
        assert_eq!(
            quota.missing_permissions(),
            ["rak_charge_read", "rak_dispute_read"]
        );
        quota.note_granted("read charges");
        assert_eq!(quota.missing_permissions(), ["rak_dispute_read"]);
    }

    #[test]
    fn pages_shrink_to_one_and_grow_again() {
        let quota = Quota::new(None);
        for expected in [50, 25, 12, 6, 3, 1, 1] {
            quota.smaller_pages(quota.page());
            assert_eq!(quota.page(), expected);
        }
        for _ in 0..20 {
            quota.larger_pages(quota.page());
        }
        assert_eq!(quota.page(), PAGE_SIZE);
    }
}
