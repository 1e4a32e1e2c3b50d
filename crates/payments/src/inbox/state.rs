//! The unprocessed and the processed events in memory, and how many are processed at once.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    sync::Arc,
};

use domain::id::ProjectId;
use payments_port::ObjectRef;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::{
    named_locks::{NamedLock, NamedLocks},
    note_kinds::{EventKey, StoredEvent},
};

/// Processed events remembered, so that a duplicate costs nothing.
const MAX_REMEMBERED: usize = 65_536;
/// Events processed concurrently in a lane, over all projects and of one project.
const CONCURRENCY: usize = 64;
const PROJECT_CONCURRENCY: u32 = 32;

pub(super) struct Lane {
    at_once: Arc<Semaphore>,
    /// So that a project with a hanging provider leaves some for others.
    of_projects: NamedLocks,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(CONCURRENCY)),
            of_projects: NamedLocks::shared_by(PROJECT_CONCURRENCY),
        }
    }
}

impl Lane {
    /// Waits for a place, which is free again when both are dropped.
    pub(super) async fn enter(
        &self,
        project: ProjectId,
    ) -> (NamedLock, Option<OwnedSemaphorePermit>) {
        let own = self.of_projects.share(&project.to_string()).await;
        // The semaphore is never closed.
        (own, Arc::clone(&self.at_once).acquire_owned().await.ok())
    }
}

#[derive(Default)]
pub(super) struct State {
    /// Events that are not processed yet.
    pub(super) current: HashMap<EventKey, Current>,
    /// How many of them may be about purchases, by project.
    pub(super) purchases: HashMap<ProjectId, usize>,
    pub(super) processed: HashSet<EventKey>,
    processed_in_order: VecDeque<EventKey>,
    pub(super) webhook_projects: HashSet<ProjectId>,
}

pub(super) struct Current {
    /// Becomes true once the event is stored.
    pub(super) stored: watch::Receiver<bool>,
    may_be_purchase: bool,
}

impl State {
    pub(super) fn begin(&mut self, event: &StoredEvent, stored: watch::Receiver<bool>) {
        let may_be_purchase = !matches!(event.content.about, ObjectRef::Payment(_));
        let current = Current {
            stored,
            may_be_purchase,
        };
        if self.current.insert(event.key, current).is_none() && may_be_purchase {
            let purchases = self.purchases.entry(event.key.project).or_default();
            *purchases = purchases.saturating_add(1);
        }
    }

    /// Whether an unprocessed event is stored.
    pub(super) fn has_stored(&self, key: EventKey) -> bool {
        let current = self.current.get(&key);
        current.is_some_and(|event| *event.stored.borrow())
    }

    pub(super) fn end(&mut self, key: EventKey) {
        let ended = self.current.remove(&key);
        if ended.is_some_and(|event| event.may_be_purchase)
            && let Entry::Occupied(mut purchases) = self.purchases.entry(key.project)
        {
            *purchases.get_mut() = purchases.get().saturating_sub(1);
            if *purchases.get() == 0 {
                purchases.remove();
            }
        }
    }

    pub(super) fn finished(&mut self, key: EventKey) {
        self.end(key);
        if self.processed.insert(key) {
            self.processed_in_order.push_back(key);
        }
        if self.processed_in_order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.processed_in_order.pop_front()
        {
            self.processed.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Timestamp, text::PaymentId};
    use futures_util::FutureExt as _;
    use payments_port::{Origin, ProviderEvent};

    use super::*;

    #[tokio::test]
    async fn a_project_leaves_places_to_others_and_a_lane_forgets_it() {
        let lane = Lane::default();
        let mut places = Vec::new();
        for _ in 0..PROJECT_CONCURRENCY {
            places.push(lane.enter(ProjectId(1)).await);
        }
        assert!(lane.enter(ProjectId(1)).now_or_never().is_none());
        assert!(lane.enter(ProjectId(2)).now_or_never().is_some());
        drop(places);
        assert!(lane.of_projects.is_empty());
    }

    #[test]
    fn what_is_being_stored_is_not_known_yet_as_a_crash_would_lose_it() {
        let event = ProviderEvent {
            id: "evt_1".into(),
            kind: "checkout.session.completed".into(),
            at: Timestamp(0),
            about: ObjectRef::Payment(PaymentId::new("pi_1").unwrap()),
            origin: Origin::Ours,
        };
        let event = StoredEvent::new(ProjectId(1), event);
        let (mark_stored, stored) = watch::channel(false);
        let mut state = State::default();
        state.begin(&event, stored);
        assert!(!state.has_stored(event.key));
        mark_stored.send_replace(true);
        assert!(state.has_stored(event.key));
        drop(mark_stored);
        assert!(state.has_stored(event.key));
        state.end(event.key);
        assert!(!state.has_stored(event.key));
    }
}
