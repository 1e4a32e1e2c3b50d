//! A mutex for each name: of a caller's key, a payment or a project.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The mutexes by name. Cheap to clone. Unused names are removed.
#[derive(Debug, Clone, Default)]
pub struct NamedLocks(Arc<DashMap<Box<str>, Arc<Mutex<()>>>>);

/// Holds a name's mutex until it is dropped.
#[derive(Debug)]
pub struct NamedLock {
    named_locks: NamedLocks,
    name: Box<str>,
    held: Option<OwnedMutexGuard<()>>,
}

impl NamedLocks {
    /// Waits until nobody else holds this name.
    pub async fn take(&self, name: &str) -> NamedLock {
        let lock = Arc::clone(&*self.0.entry(name.into()).or_default());
        NamedLock {
            named_locks: self.clone(),
            name: name.into(),
            held: Some(lock.lock_owned().await),
        }
    }
}

impl Drop for NamedLock {
    fn drop(&mut self) {
        self.held = None;
        let unused = |lock: &Arc<Mutex<()>>| Arc::strong_count(lock) == 1;
        self.named_locks
            .0
            .remove_if(&self.name, |_, lock| unused(lock));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_next_one_waits_and_other_names_do_not() {
        let named_locks = NamedLocks::default();
        let first = named_locks.take("a").await;
        let mut second = Box::pin(named_locks.take("a"));
        assert!((&mut second).now_or_never().is_none());
        assert!(named_locks.take("b").now_or_never().is_some());
        drop(first);
        drop(second.await);
        assert!(named_locks.0.is_empty(), "nothing is left of them");
    }
}
