//! How fast an account is asked for what nobody waits for. Stripe takes 100 requests a second in live
//! mode and 25 in test mode ("Rate limits"), from everybody who has the account's key: what is read in the
//! background stays well below that, and what a buyer waits for goes first.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};

/// A second, in live mode and in any other.
const LIVE: u32 = 50;
const TEST: u32 = 10;
/// Things of an account that are asked about at once. Each takes a few requests: so many have their turns
/// before anybody's patience ends.
const AT_ONCE: u32 = 8;
/// Requests that somebody waits for put off the others by no more than this, each time: a few in a row end
/// before anybody's patience does.
const LONGEST_DELAY: Duration = Duration::from_secs(2);
/// Accounts that are remembered while nothing is asked of them.
const REMEMBERED: usize = 1000;

/// Of all accounts at one address.
#[derive(Debug)]
pub(super) struct Paces {
    /// Requests a second; 0: as the mode of the key has it.
    per_second: u32,
    accounts: Mutex<HashMap<[u8; 32], Arc<Pace>>>,
}

/// One account's.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    /// When the next one may go that nobody waits for.
    next: Mutex<Instant>,
    places: Semaphore,
}

impl Paces {
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            per_second,
            accounts: Mutex::default(),
        }
    }

    /// That of the account with this key.
    pub(super) fn of(&self, key: &str) -> Arc<Pace> {
        let account = Sha256::digest(key).into();
        let mut accounts = self.accounts.lock();
        if let Some(known) = accounts.get(&account) {
            return Arc::clone(known);
        }
        if accounts.len() >= REMEMBERED {
            accounts.retain(|_, pace| Arc::strong_count(pace) > 1);
        }
        let per_second = match self.per_second {
            0 if key.contains("_live_") => LIVE,
            0 => TEST,
            other => other,
        };
        let pace = Arc::new(Pace::new(per_second));
        accounts.insert(account, Arc::clone(&pace));
        pace
    }
}

impl Pace {
    fn new(per_second: u32) -> Self {
        let interval = Duration::from_secs(1).checked_div(per_second);
        Self {
            interval: interval.unwrap_or_default(),
            next: Mutex::new(Instant::now()),
            places: Semaphore::new(per_second.clamp(1, AT_ONCE) as usize),
        }
    }

    /// A place among the things that are asked about at once.
    pub(super) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        // Closed by nobody.
        self.places.acquire().await.ok()
    }

    /// Waits until it is the turn of a request that nobody waits for.
    pub(super) async fn wait(&self) {
        let turn = {
            let mut next = self.next.lock();
            let turn = Instant::now().max(*next);
            *next = turn.checked_add(self.interval).unwrap_or(turn);
            turn
        };
        tokio::time::sleep_until(turn).await;
    }

    /// A request goes at once, and those that nobody waits for that much later.
    pub(super) fn go_first(&self) {
        let now = Instant::now();
        let mut next = self.next.lock();
        let put_off = now.max(*next).checked_add(self.interval);
        let latest = now.checked_add(LONGEST_DELAY);
        let put_off = put_off
            .zip(latest)
            .map(|(put_off, latest)| put_off.min(latest));
        *next = put_off.unwrap_or(now).max(*next);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    #[test]
    fn the_mode_of_a_key_says_how_fast_unless_it_is_set() {
        let of = |per_second, key| Paces::new(per_second).of(key).interval;
        assert_eq!(of(0, "sk_live_1"), Duration::from_millis(20));
        assert_eq!(of(0, "rk_test_1"), Duration::from_millis(100));
        assert_eq!(of(4, "sk_live_1"), Duration::from_millis(250));
        let paces = Paces::new(0);
        assert!(Arc::ptr_eq(&paces.of("sk_test_1"), &paces.of("sk_test_1")));
        assert!(!Arc::ptr_eq(&paces.of("sk_test_1"), &paces.of("sk_test_2")));
        for number in 0..5000 {
            paces.of(&format!("sk_test_{number}"));
        }
        assert!(paces.accounts.lock().len() <= REMEMBERED);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_waits_for_keeps_to_the_rate() {
        let pace = Pace::new(10);
        let begun = Instant::now();
        join_all((0..101).map(|_| pace.wait())).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(10));
        // What was not asked for meanwhile is not made up for at once.
        tokio::time::sleep(Duration::from_secs(60)).await;
        let begun = Instant::now();
        join_all((0..11).map(|_| pace.wait())).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_somebody_waits_for_goes_first_and_is_made_up_for() {
        let pace = Pace::new(10);
        let begun = Instant::now();
        for _ in 0..20 {
            pace.go_first();
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        pace.wait().await;
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
        // However many buyers there are, the others have their turn.
        for _ in 0..1000 {
            pace.go_first();
        }
        pace.wait().await;
        assert_eq!(begun.elapsed(), Duration::from_secs(4));
    }
}
