//! The watchers of wallets, by wallet. Whenever an append of a watched wallet is durable, its watchers are notified
//! that something changed, not what: they read the wallet, like any other caller. To a wallet without watchers this
//! costs one check of an empty field for each append.
//!
//! A watched wallet may sleep: it does not change then, and when it wakes it finds its watchers here.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use dashmap::DashMap;
use domain::id::WalletKey;
use tokio::sync::watch;

/// The most watchers of one wallet.
pub const WATCHERS_PER_WALLET: usize = 8;

/// The watchers of one wallet.
#[derive(Debug)]
pub(crate) struct WalletWatch(watch::Sender<()>);

impl WalletWatch {
    /// Notifies the watchers. Called only when the change is durable.
    pub(crate) fn changed(&self) {
        self.0.send_replace(());
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }
}

/// The watchers of all wallets.
#[derive(Debug)]
pub(crate) struct Watches {
    by_wallet: DashMap<WalletKey, Arc<WalletWatch>>,
    open: AtomicUsize,
    max: usize,
    closed: AtomicBool,
}

/// Why a wallet cannot be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotWatched {
    /// The wallet has [`WATCHERS_PER_WALLET`] watchers.
    Wallet,
    /// The service has the most watchers that it may have, or is stopping.
    Service,
}

/// Is notified of a wallet's changes. Counted until it is dropped.
#[derive(Debug)]
pub struct WalletWatcher {
    wallet: WalletKey,
    watch: Arc<WalletWatch>,
    /// `None` only while it is dropped.
    changes: Option<watch::Receiver<()>>,
    watches: Arc<Watches>,
}

impl Watches {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            by_wallet: DashMap::new(),
            open: AtomicUsize::new(0),
            max,
            closed: AtomicBool::new(false),
        })
    }

    /// The watchers of a wallet that wakes.
    pub(crate) fn of(&self, wallet: &WalletKey) -> Option<Arc<WalletWatch>> {
        self.by_wallet.get(wallet).map(|watch| Arc::clone(&watch))
    }

    /// How many watchers there are.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) fn watch(self: &Arc<Self>, wallet: WalletKey) -> Result<WalletWatcher, NotWatched> {
        let room = |open: usize| (open < self.max).then(|| open.saturating_add(1));
        let counted = self
            .open
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, room);
        if counted.is_err() {
            return Err(NotWatched::Service);
        }
        let subscribed = {
            // The entry stays locked until the watcher is counted at it.
            let entry = self.by_wallet.entry(wallet);
            let watch = entry.or_insert_with(|| Arc::new(WalletWatch(watch::Sender::new(()))));
            let room = watch.0.receiver_count() < WATCHERS_PER_WALLET;
            room.then(|| (Arc::clone(&watch), watch.0.subscribe()))
        };
        let Some((watch, changes)) = subscribed else {
            self.open.fetch_sub(1, Ordering::AcqRel);
            return Err(NotWatched::Wallet);
        };
        let watcher = WalletWatcher {
            wallet,
            watch,
            changes: Some(changes),
            watches: Arc::clone(self),
        };
        // It may have been added while `close` was notifying the others.
        match self.closed.load(Ordering::Acquire) {
            false => Ok(watcher),
            true => Err(NotWatched::Service),
        }
    }

    /// Ends all watching: the service stops.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.by_wallet.iter().for_each(|watch| watch.changed());
    }
}

impl WalletWatcher {
    /// Waits for a change after the last call of this or of [`Self::seen`]. `false`: the service is stopping.
    pub async fn changed(&mut self) -> bool {
        // A watcher keeps its sender alive, so that waiting does not fail.
        if let Some(changes) = &mut self.changes
            && !self.watches.closed.load(Ordering::Acquire)
        {
            drop(changes.changed().await);
        }
        !self.watches.closed.load(Ordering::Acquire)
    }

    /// Forgets the changes so far: the next read of the wallet shows them.
    pub fn seen(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.mark_unchanged();
        }
    }

    pub(crate) fn watch(&self) -> Arc<WalletWatch> {
        Arc::clone(&self.watch)
    }
}

impl Drop for WalletWatcher {
    fn drop(&mut self) {
        // Before the check below: of several watchers that are dropped at once, the last one removes the entry.
        self.changes = None;
        self.watches
            .by_wallet
            .remove_if(&self.wallet, |_, watch| !watch.is_watched());
        self.watches.open.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const ONE: WalletKey = WalletKey([1; 16]);
    const OTHER: WalletKey = WalletKey([2; 16]);

    #[test]
    fn a_wallet_and_the_service_have_so_many_watchers_and_no_more() {
        let watches = Watches::new(10);
        let mut eight: Vec<_> = (0..8).map(|_| watches.watch(ONE).unwrap()).collect();
        assert_eq!(watches.watch(ONE).err(), Some(NotWatched::Wallet));
        let two = [watches.watch(OTHER).unwrap(), watches.watch(OTHER).unwrap()];
        assert_eq!(watches.watch(OTHER).err(), Some(NotWatched::Service));
        drop(two);
        eight.pop();
        assert_eq!(watches.open(), 7);
        eight.push(watches.watch(ONE).unwrap());
        drop(eight);
        assert_eq!((watches.open(), watches.by_wallet.len()), (0, 0));
    }

    #[test]
    fn a_watcher_hears_of_its_own_wallet_and_of_many_changes_once() {
        let watches = Watches::new(10);
        let mut watcher = watches.watch(ONE).unwrap();
        let other = watches.watch(OTHER).unwrap();
        other.watch().changed();
        assert_eq!(watcher.changed().now_or_never(), None);
        for _ in 0..3 {
            watches.of(&ONE).unwrap().changed();
        }
        assert_eq!(watcher.changed().now_or_never(), Some(true));
        assert_eq!(watcher.changed().now_or_never(), None);
        watcher.watch().changed();
        watcher.seen();
        assert_eq!(watcher.changed().now_or_never(), None);
    }

    #[test]
    fn when_the_service_stops_all_hear_of_it_and_nobody_comes() {
        let watches = Watches::new(10);
        let mut watcher = watches.watch(ONE).unwrap();
        watches.close();
        assert_eq!(watcher.changed().now_or_never(), Some(false));
        assert_eq!(watches.watch(ONE).err(), Some(NotWatched::Service));
        drop(watcher);
        assert_eq!(watches.open(), 0);
    }
}
