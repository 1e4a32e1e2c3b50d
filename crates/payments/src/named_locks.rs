//! A lock for each name: of a caller's key, a payment or a project.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The locks by name. Cheap to clone. Unused names are removed.
#[derive(Debug, Clone)]
pub struct NamedLocks {
    of_names: Arc<DashMap<Box<str>, Arc<Semaphore>>>,
    /// How many may share a name.
    places: u32,
}

/// Holds a name until it is dropped.
#[derive(Debug)]
pub struct NamedLock {
    named_locks: NamedLocks,
    name: Box<str>,
    /// `None` while it waits.
    held: Option<OwnedSemaphorePermit>,
}

impl Default for NamedLocks {
    fn default() -> Self {
        Self::shared_by(1)
    }
}

impl NamedLocks {
    /// Locks that at most so many may share at once.
    pub(crate) fn shared_by(places: u32) -> Self {
        Self {
            of_names: Arc::default(),
            places,
        }
    }

    /// Waits until nobody else holds this name.
    pub async fn take(&self, name: &str) -> NamedLock {
        self.enter(name, self.places).await
    }

    /// Waits until this name can be shared with those who share it, too.
    pub(crate) async fn share(&self, name: &str) -> NamedLock {
        self.enter(name, 1).await
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.of_names.is_empty()
    }

    async fn enter(&self, name: &str, places: u32) -> NamedLock {
        let new = || Arc::new(Semaphore::new(usize::try_from(self.places).unwrap_or(1)));
        let of_name = Arc::clone(&*self.of_names.entry(name.into()).or_insert_with(new));
        // Made before it waits, so that a caller who stops waiting removes an unused name, too.
        let mut lock = NamedLock {
            named_locks: self.clone(),
            name: name.into(),
            held: None,
        };
        // The semaphore is never closed.
        lock.held = of_name.acquire_many_owned(places).await.ok();
        lock
    }
}

impl Drop for NamedLock {
    fn drop(&mut self) {
        self.held = None;
        let unused = |lock: &Arc<Semaphore>| Arc::strong_count(lock) == 1;
        let of_names = &self.named_locks.of_names;
        of_names.remove_if(&self.name, |_, lock| unused(lock));
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
        assert!(named_locks.is_empty(), "nothing is left of them");
    }

    #[tokio::test]
    async fn those_who_share_a_name_exclude_only_those_who_take_it() {
        let named_locks = NamedLocks::shared_by(2);
        let first = named_locks.share("a").await;
        let second = named_locks.share("a").now_or_never();
        assert!(second.is_some());
        assert!(named_locks.share("a").now_or_never().is_none(), "no place");
        let mut alone = Box::pin(named_locks.take("a"));
        assert!((&mut alone).now_or_never().is_none());
        drop((first, second));
        let alone = alone.await;
        assert!(named_locks.share("a").now_or_never().is_none());
        drop(alone);
        assert!(named_locks.is_empty(), "nothing is left of them");
    }

    #[tokio::test]
    async fn whose_caller_stops_waiting_leaves_nothing() {
        let named_locks = NamedLocks::default();
        let first = named_locks.take("a").await;
        let mut second = Box::pin(named_locks.take("a"));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        drop(second);
        assert!(named_locks.is_empty(), "nothing is left of them");
    }
}
