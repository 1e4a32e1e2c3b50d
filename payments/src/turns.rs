//! One at a time for each name, so that two callers with one key ask the provider once.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// See the module. Cheap to clone. Names that nobody is at are forgotten.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<DashMap<Box<str>, Arc<Mutex<()>>>>);

/// The turn of one caller; the next one's when it is dropped.
pub(super) struct Turn {
    turns: Turns,
    name: Box<str>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits until nobody else is at this name.
    pub(super) async fn take(&self, name: &str) -> Turn {
        let lock = Arc::clone(&*self.0.entry(name.into()).or_default());
        Turn {
            turns: self.clone(),
            name: name.into(),
            held: Some(lock.lock_owned().await),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.held = None;
        let unused = |lock: &Arc<Mutex<()>>| Arc::strong_count(lock) == 1;
        self.turns.0.remove_if(&self.name, |_, lock| unused(lock));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_next_one_waits_and_other_names_do_not() {
        let turns = Turns::default();
        let first = turns.take("a").await;
        let mut second = Box::pin(turns.take("a"));
        assert!((&mut second).now_or_never().is_none());
        assert!(turns.take("b").now_or_never().is_some());
        drop(first);
        drop(second.await);
        assert!(turns.0.is_empty(), "nothing is left of them");
    }
}
