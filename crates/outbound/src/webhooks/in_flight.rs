//! The requests to one endpoint that are in flight, and how many may be.

use std::collections::HashMap;

use domain::id::WalletKey;
use tokio::task::{self, JoinError, JoinSet};

use super::{attempt::AttemptOutcome, queue::QueuedDelivery};

/// Concurrent requests to an endpoint. It starts with one, also after every failure, and earns one more with
/// each success: an endpoint that hangs must not occupy slots that others could use.
const AT_ONCE: usize = 8;

pub(super) struct InFlight {
    tasks: JoinSet<AttemptOutcome>,
    entries: HashMap<task::Id, (WalletKey, QueuedDelivery)>,
    /// 1 to [`AT_ONCE`].
    most: usize,
}

/// A request that has ended: its entry of the queue, and how it went.
pub(super) type Finished = (WalletKey, QueuedDelivery, AttemptOutcome);

impl InFlight {
    pub(super) fn new() -> Self {
        Self {
            tasks: JoinSet::new(),
            entries: HashMap::new(),
            most: 1,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.tasks.len() < self.most
    }

    pub(super) fn start(
        &mut self,
        attempt: impl Future<Output = AttemptOutcome> + Send + 'static,
        wallet: WalletKey,
        entry: QueuedDelivery,
    ) {
        let started = self.tasks.spawn(attempt);
        self.entries.insert(started.id(), (wallet, entry));
    }

    /// Waits for the next to end; `None`: nothing is in flight. Dropping the future loses none.
    pub(super) async fn next(&mut self) -> Option<Finished> {
        let done = self.tasks.join_next_with_id().await?;
        self.finished(done)
    }

    /// One that has ended already.
    pub(super) fn try_next(&mut self) -> Option<Finished> {
        let done = self.tasks.try_join_next_with_id()?;
        self.finished(done)
    }

    fn finished(
        &mut self,
        done: Result<(task::Id, AttemptOutcome), JoinError>,
    ) -> Option<Finished> {
        let (id, outcome) = done.unwrap_or_else(|error| {
            tracing::error!(%error, "An attempt to deliver a webhook panicked");
            (error.id(), AttemptOutcome::Unread)
        });
        let (wallet, entry) = self.entries.remove(&id)?;
        Some((wallet, entry, outcome))
    }

    /// Counts a request that was answered or failed.
    pub(super) fn ended(&mut self, is_accepted: bool) {
        self.most = match is_accepted {
            true => self.most.saturating_add(1).min(AT_ONCE),
            false => 1,
        };
    }

    pub(super) fn abort_all(&mut self) {
        self.tasks.abort_all();
    }
}
