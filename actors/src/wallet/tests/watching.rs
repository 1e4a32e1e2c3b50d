//! Watchers are notified of each change once it is durable, wherever the wallet is.

use futures_util::FutureExt as _;

use super::{PRODUCT, Service, applied, external};
use crate::{Error, WalletWatcher, registry::Sweep, wallet::WatchedView};

/// For whom watchers are counted.
const WHO: (domain::id::ProjectId, Option<std::net::IpAddr>) = (domain::id::ProjectId(1), None);

impl Service {
    async fn watch(&self, user: &str) -> WalletWatcher {
        let view = self
            .handle
            .read(&self.scope, &external(user))
            .await
            .unwrap();
        let mut watcher = self.handle.watch(view.key, WHO).unwrap();
        self.read(user, &mut watcher).await.unwrap();
        watcher
    }

    async fn read(&self, user: &str, watcher: &mut WalletWatcher) -> Result<WatchedView, Error> {
        let address = external(user);
        self.handle
            .read_watched(&self.scope, &address, watcher)
            .await
    }

    /// The balance after the next change.
    async fn next_balance(&self, user: &str, watcher: &mut WalletWatcher) -> i64 {
        assert!(watcher.changed().await);
        let watched = self.read(user, watcher).await.unwrap();
        let balance = watched
            .view
            .balances
            .iter()
            .find(|it| it.product == PRODUCT);
        balance.unwrap().balance
    }
}

#[tokio::test]
async fn a_watcher_is_notified_only_of_durable_changes() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let mut watcher = service.watch("ann").await;
    service.journal.hold();
    let mut deducted = Box::pin(service.deduct("ann", 3, "a"));
    for _ in 0..100 {
        assert!(deducted.as_mut().now_or_never().is_none());
        assert_eq!(watcher.changed().now_or_never(), None);
        let mut read = Box::pin(service.read("ann", &mut watcher));
        assert!(read.as_mut().now_or_never().is_none(), "nor shown it");
        tokio::task::yield_now().await;
    }
    service.journal.release();
    assert_eq!(deducted.await, Ok(applied(7)));
    assert_eq!(
        service
            .read("ann", &mut watcher)
            .await
            .unwrap()
            .view
            .balances[0]
            .balance,
        7
    );
    service.deduct("ann", 2, "b").await.unwrap();
    assert_eq!(service.next_balance("ann", &mut watcher).await, 5);
    // Reading, and what happens to others, is no change.
    service.balance("ann").await.unwrap();
    service.credit("bob", 1).await.unwrap();
    assert_eq!(watcher.changed().now_or_never(), None);
}

#[tokio::test]
async fn a_wallet_that_sleeps_or_is_reloaded_keeps_its_watchers() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let mut watcher = service.watch("ann").await;
    let registry = &service.handle.inner.registry;
    assert_eq!(registry.sweep(Sweep::All), 1, "watching keeps nobody awake");
    service.deduct("ann", 1, "a").await.unwrap();
    assert_eq!(service.next_balance("ann", &mut watcher).await, 9);
    super::durability::panic_in(&service, "broken").await;
    service.deduct("ann", 1, "b").await.unwrap();
    assert_eq!(service.next_balance("ann", &mut watcher).await, 8);
}

#[tokio::test]
async fn a_wallet_forgets_watchers_who_have_gone() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let (one, mut other) = (service.watch("ann").await, service.watch("ann").await);
    assert_eq!(service.handle.stats().watchers, 2);
    drop(one);
    service.deduct("ann", 1, "a").await.unwrap();
    assert_eq!(service.next_balance("ann", &mut other).await, 9);
    drop(other);
    assert_eq!(service.handle.stats().watchers, 0);
    service.deduct("ann", 1, "b").await.unwrap();
    let mut new = service.watch("ann").await;
    service.deduct("ann", 1, "c").await.unwrap();
    assert_eq!(service.next_balance("ann", &mut new).await, 7);
}

#[tokio::test]
async fn a_stop_ends_all_watching() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let mut watcher = service.watch("ann").await;
    service.handle.stop_watching();
    assert!(!watcher.changed().await);
}
