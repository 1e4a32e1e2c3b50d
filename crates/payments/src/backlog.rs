//! Stored events that could not be processed yet, by their next attempt. Events that need a missing permission of the
//! key are not retried one by one: one of them probes for all, and when it succeeds all are due.

use std::collections::{BTreeMap, HashMap};

use domain::{Timestamp, id::ProjectId};
use parking_lot::Mutex;

use super::{
    Error,
    note_kinds::{EventKey, StoredEvent},
};

/// Pauses between attempts, in seconds; the last one repeats.
const PAUSES: [i64; 6] = [1, 5, 30, 120, 600, 3600];
/// The longest pause during an outage, in seconds: buyers wait for the provider's return, and a stopping sweep sends
/// few requests.
const MAX_OUTAGE_PAUSE: i64 = 120;
/// Attempts for an object that the provider does not have, about a day: an event may come before its object can be
/// fetched.
const MAX_MISSING_ATTEMPTS: usize = 29;
/// How often, and for how long, a processing payment is checked.
const PROCESSING_INTERVAL_SECONDS: i64 = 3600;
const MAX_PROCESSING_SECONDS: i64 = 30 * 24 * 3600;
/// How often a missing permission of the key is probed.
const PROBE_INTERVAL_SECONDS: i64 = 30;
const PAGE_SIZE: usize = 64;

/// A stored event that waits for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BacklogEntry {
    pub(crate) event: StoredEvent,
    /// Failed attempts so far.
    attempts: usize,
    /// Whether its payment is still processing.
    is_processing: bool,
    due: Timestamp,
}

#[derive(Debug, Default)]
pub(crate) struct Backlog(Mutex<HashMap<ProjectId, ProjectBacklog>>);

#[derive(Debug, Default)]
struct ProjectBacklog {
    by_time: BTreeMap<(Timestamp, EventKey), BacklogEntry>,
    /// Events by the permission that they need.
    blocked: BTreeMap<String, Blocked>,
}

#[derive(Debug, Default)]
struct Blocked {
    waiting: Vec<BacklogEntry>,
    probe: Timestamp,
}

impl BacklogEntry {
    pub(crate) const fn new(event: StoredEvent) -> Self {
        Self {
            event,
            attempts: 0,
            is_processing: false,
            due: Timestamp(0),
        }
    }

    /// Whether the provider has answered for a day that there is no such object.
    pub(crate) const fn is_missing_for_good(&self, error: &Error) -> bool {
        self.attempts >= MAX_MISSING_ATTEMPTS
            && matches!(error, Error::Provider(payments_port::Error::Missing(_)))
    }

    /// Whether its payment has been processing for 30 days.
    pub(crate) fn processing_timed_out(&self, now: Timestamp, error: &Error) -> bool {
        let end = self.event.content.at.plus_seconds(MAX_PROCESSING_SECONDS);
        matches!(error, Error::PaymentProcessing) && end <= now
    }

    const fn position(&self) -> (Timestamp, EventKey) {
        (self.due, self.event.key)
    }
}

impl Backlog {
    /// Schedules the next attempt after a failed one.
    pub(crate) fn add(&self, mut waiting: BacklogEntry, now: Timestamp, error: &Error) {
        waiting.is_processing = matches!(error, Error::PaymentProcessing);
        let last = PAUSES.last().copied().unwrap_or_default();
        let mut pause = match waiting.is_processing {
            true => PROCESSING_INTERVAL_SECONDS,
            false => PAUSES.get(waiting.attempts).copied().unwrap_or(last),
        };
        if error.is_unanswered() {
            pause = pause.min(MAX_OUTAGE_PAUSE);
        }
        waiting.attempts = waiting.attempts.saturating_add(1);
        let Error::Provider(payments_port::Error::Permission { permission, .. }) = error else {
            return self.put(waiting, now.plus_seconds(pause));
        };
        let mut projects = self.0.lock();
        let backlog = projects.entry(waiting.event.key.project).or_default();
        let blocked = backlog.blocked.entry(permission.clone()).or_default();
        blocked.waiting.push(waiting);
        blocked.probe = blocked.probe.max(now.plus_seconds(PROBE_INTERVAL_SECONDS));
    }

    pub(crate) fn put(&self, waiting: BacklogEntry, due: Timestamp) {
        let waiting = BacklogEntry { due, ..waiting };
        let mut projects = self.0.lock();
        let backlog = projects.entry(waiting.event.key.project).or_default();
        backlog.by_time.insert(waiting.position(), waiting);
    }

    /// Events that are due, the longest overdue first. They stay until they are removed.
    pub(crate) fn due(
        &self,
        project: ProjectId,
        now: Timestamp,
        missing: &[String],
    ) -> Vec<BacklogEntry> {
        let mut projects = self.0.lock();
        let Some(backlog) = projects.get_mut(&project) else {
            return Vec::new();
        };
        if !backlog.blocked.is_empty() {
            backlog.unblock(now, missing);
        }
        let due = backlog
            .by_time
            .values()
            .take_while(|waiting| waiting.due <= now);
        due.take(PAGE_SIZE).cloned().collect()
    }

    pub(crate) fn remove(&self, waiting: &BacklogEntry) {
        if let Some(backlog) = self.0.lock().get_mut(&waiting.event.key.project) {
            backlog.by_time.remove(&waiting.position());
        }
    }

    pub(crate) fn has(&self, project: ProjectId) -> bool {
        let projects = self.0.lock();
        let backlog = projects.get(&project);
        backlog.is_some_and(|backlog| !backlog.by_time.is_empty() || !backlog.blocked.is_empty())
    }

    pub(crate) fn processing(&self) -> usize {
        let projects = self.0.lock();
        let waiting = projects
            .values()
            .flat_map(|backlog| backlog.by_time.values());
        waiting.filter(|waiting| waiting.is_processing).count()
    }

    pub(crate) fn forget(&self, project: ProjectId) {
        self.0.lock().remove(&project);
    }
}

impl ProjectBacklog {
    fn unblock(&mut self, now: Timestamp, missing: &[String]) {
        let mut due = Vec::new();
        self.blocked.retain(|permission, blocked| {
            if !missing.contains(permission) {
                due.append(&mut blocked.waiting);
            } else if blocked.probe <= now {
                blocked.probe = now.plus_seconds(PROBE_INTERVAL_SECONDS);
                due.extend(blocked.waiting.pop());
            }
            !blocked.waiting.is_empty()
        });
        for waiting in due {
            let waiting = BacklogEntry {
                due: now,
                ..waiting
            };
            self.by_time.insert(waiting.position(), waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::text::PaymentId;
    use payments_port::{ObjectRef, Origin, ProviderEvent};

    use super::*;

    const PROJECT: ProjectId = ProjectId(7);

    fn waiting(id: &str) -> BacklogEntry {
        let event = ProviderEvent {
            id: id.into(),
            kind: "charge.refunded".into(),
            at: Timestamp(0),
            about: ObjectRef::Payment(PaymentId::new("pi_1").unwrap()),
            origin: Origin::Unsaid,
        };
        BacklogEntry::new(StoredEvent::new(PROJECT, event))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp(0).plus_seconds(seconds)
    }

    fn names(due: &[BacklogEntry]) -> Vec<&str> {
        due.iter().map(|it| it.event.content.id.as_str()).collect()
    }

    #[test]
    fn pauses_grow_to_an_hour_and_a_day_of_not_knowing_is_enough() {
        let backlog = Backlog::default();
        let missing = Error::Provider(payments_port::Error::Missing("it".into()));
        let mut it = waiting("evt_1");
        let mut now = at(0);
        for pause in [1, 5, 30, 120, 600, 3600, 3600] {
            backlog.add(it, now, &missing);
            now = now.plus_seconds(pause);
            assert!(backlog.due(PROJECT, now.plus_seconds(-1), &[]).is_empty());
            it = backlog.due(PROJECT, now, &[]).remove(0);
            backlog.remove(&it);
            assert!(!it.is_missing_for_good(&missing) && !backlog.has(PROJECT));
        }
        it.attempts = MAX_MISSING_ATTEMPTS;
        assert!(it.is_missing_for_good(&missing) && !it.is_missing_for_good(&Error::TooEarly));
    }

    #[test]
    fn what_waits_for_a_permission_is_tried_by_one_until_the_key_has_it() {
        let backlog = Backlog::default();
        let lacks = Error::Provider(payments_port::Error::Permission {
            permission: "rak_dispute_read".into(),
            reason: "no".into(),
        });
        let missing = ["rak_dispute_read".to_owned()];
        for id in ["evt_1", "evt_2", "evt_3"] {
            backlog.add(waiting(id), at(0), &lacks);
        }
        assert!(backlog.due(PROJECT, at(29), &missing).is_empty());
        let due = backlog.due(PROJECT, at(30), &missing);
        assert_eq!(due.len(), 1, "{:?}", names(&due));
        for it in due {
            backlog.remove(&it);
            backlog.add(it, at(31), &lacks);
        }
        assert!(backlog.due(PROJECT, at(32), &missing).is_empty());
        assert_eq!(backlog.due(PROJECT, at(33), &[]).len(), 3);
    }
}
