//! The watchers of wallets, by wallet. When an append of a watched wallet is durable, its watchers are notified that
//! something changed, and read the wallet like any other caller. A wallet without watchers pays one check of an empty
//! field for each append.
//!
//! A watched wallet may sleep; when it wakes it finds its watchers here.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use dashmap::DashMap;
use domain::id::{ProjectId, WalletKey};
use tokio::sync::watch;

use crate::shares::{HeldPlaces, Shares};

/// The most watchers of one wallet.
pub const MAX_WATCHERS_PER_WALLET: usize = 8;

/// A client may have one watcher of this many left to its project: a client with 256 networks, as a home connection may
/// have, leaves some.
const CLIENT_PART: usize = 100;

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

#[derive(Debug)]
pub(crate) struct Watches {
    by_wallet: DashMap<WalletKey, Arc<WalletWatch>>,
    open: Shares<ProjectId>,
    closed: AtomicBool,
}

/// Why a wallet cannot be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotWatched {
    /// The wallet has [`WATCHERS_PER_WALLET`] watchers.
    Wallet,
    /// The project or the client has its share of the service's watchers, or the service is stopping.
    Service,
}

/// A watcher of a wallet's changes. Counted until dropped.
#[derive(Debug)]
pub struct WalletWatcher {
    wallet: WalletKey,
    watch: Arc<WalletWatch>,
    changes: Option<watch::Receiver<()>>,
    watches: Arc<Watches>,
    _place: HeldPlaces<ProjectId>,
}

impl Watches {
    /// `max` watchers over all projects, shared between clients.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            by_wallet: DashMap::new(),
            open: Shares::new(max).with_client_part(CLIENT_PART),
            closed: AtomicBool::new(false),
        })
    }

    pub(crate) fn of(&self, wallet: &WalletKey) -> Option<Arc<WalletWatch>> {
        self.by_wallet.get(wallet).map(|watch| Arc::clone(&watch))
    }

    pub(crate) fn open(&self) -> usize {
        self.open.held()
    }

    pub(crate) fn watch(
        self: &Arc<Self>,
        wallet: WalletKey,
        (project, client): (ProjectId, Option<IpAddr>),
    ) -> Result<WalletWatcher, NotWatched> {
        let place = self.open.take(project, client).ok_or(NotWatched::Service)?;
        let subscribed = {
            // The entry stays locked until the watcher is counted.
            let entry = self.by_wallet.entry(wallet);
            let watch = entry.or_insert_with(|| Arc::new(WalletWatch(watch::Sender::new(()))));
            let room = watch.0.receiver_count() < MAX_WATCHERS_PER_WALLET;
            room.then(|| (Arc::clone(&watch), watch.0.subscribe()))
        };
        let (watch, changes) = subscribed.ok_or(NotWatched::Wallet)?;
        let watcher = WalletWatcher {
            wallet,
            watch,
            changes: Some(changes),
            watches: Arc::clone(self),
            _place: place,
        };
        // It may have been added while `close` notified the others.
        if self.closed.load(Ordering::Acquire) {
            return Err(NotWatched::Service);
        }
        Ok(watcher)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.by_wallet.iter().for_each(|watch| watch.changed());
    }
}

impl WalletWatcher {
    /// Waits for a change after the last call of this or of [`Self::seen`]. `false` if the service is stopping.
    pub async fn changed(&mut self) -> bool {
        if let Some(changes) = &mut self.changes
            && !self.watches.closed.load(Ordering::Acquire)
        {
            drop(changes.changed().await);
        }
        !self.watches.closed.load(Ordering::Acquire)
    }

    /// Forgets the changes so far, because the next read shows them.
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
        // Before the check below, so that of several watchers dropped at once the last one removes the entry.
        self.changes = None;
        self.watches
            .by_wallet
            .remove_if(&self.wallet, |_, watch| !watch.is_watched());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const ONE: WalletKey = WalletKey([1; 16]);
    const OTHER: WalletKey = WalletKey([2; 16]);
    const WHO: (ProjectId, Option<IpAddr>) = (ProjectId(1), None);

    #[test]
    fn a_wallet_and_the_service_have_so_many_watchers_and_no_more() {
        let watches = Watches::new(20);
        let mut eight: Vec<_> = (0..8).map(|_| watches.watch(ONE, WHO).unwrap()).collect();
        assert_eq!(watches.watch(ONE, WHO).err(), Some(NotWatched::Wallet));
        let two = [
            watches.watch(OTHER, WHO).unwrap(),
            watches.watch(OTHER, WHO).unwrap(),
        ];
        assert_eq!(watches.watch(OTHER, WHO).err(), Some(NotWatched::Service));
        drop(two);
        eight.pop();
        assert_eq!(watches.open(), 7);
        eight.push(watches.watch(ONE, WHO).unwrap());
        drop(eight);
        assert_eq!((watches.open(), watches.by_wallet.len()), (0, 0));
    }

    #[test]
    fn a_watcher_is_notified_of_its_own_wallet_and_of_many_changes_once() {
        let watches = Watches::new(20);
        let mut watcher = watches.watch(ONE, WHO).unwrap();
        let other = watches.watch(OTHER, WHO).unwrap();
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
    fn when_the_service_stops_all_watchers_end_and_no_more_are_added() {
        let watches = Watches::new(20);
        let mut watcher = watches.watch(ONE, WHO).unwrap();
        watches.close();
        assert_eq!(watcher.changed().now_or_never(), Some(false));
        assert_eq!(watches.watch(ONE, WHO).err(), Some(NotWatched::Service));
        drop(watcher);
        assert_eq!(watches.open(), 0);
    }
}
