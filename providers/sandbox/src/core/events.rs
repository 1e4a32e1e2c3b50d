//! What happened, as webhooks tell it, and when each telling is due. Sends nothing itself.

use super::endpoints;
use crate::core::prelude::*;

/// Seconds before each new attempt at an event that was not taken; after the last it is given up.
const PAUSES: [i64; 12] = [
    2, 5, 15, 60, 300, 900, 3600, 7200, 14_400, 28_800, 57_600, 86_400,
];

impl Books {
    /// Notes that something happened to an object as it is now.
    pub(crate) fn emit<T: Kept>(&mut self, kind: &str, object: &T) {
        let told = Told::new(&object.clone().note());
        let head = self.head("evt_");
        let targets = endpoints::wanting(self, kind).into_iter();
        let targets = targets.map(|endpoint| Target {
            endpoint,
            failures: 0,
            retry_at: None,
        });
        let targets = targets.collect();
        self.put(Event {
            head,
            kind: kind.to_owned(),
            told,
            outgoing: true,
            delivered: 0,
            failures: 0,
            retry_at: None,
            request: self.request.clone(),
            targets,
        });
        while self.events().len() > self.most_events {
            let Some((_, oldest)) = self.events().first_key_value() else {
                return;
            };
            let oldest = oldest.clone();
            self.forget::<Event>(&oldest);
        }
    }
}

impl Event {
    /// Whether somebody still has to hear of it.
    pub(crate) const fn is_pending(&self) -> bool {
        self.outgoing || !self.targets.is_empty()
    }

    /// When it is to be sent to the project's own address, in seconds, if it was not yet.
    fn own_at(&self, delay_seconds: u32) -> Option<i64> {
        let first = self.head.created.saturating_add(i64::from(delay_seconds));
        let at = self.retry_at.map_or(first, |at| at.max(first));
        self.outgoing.then_some(at)
    }

    pub(crate) fn is_own_due(&self, now: i64, delay_seconds: u32) -> bool {
        self.own_at(delay_seconds).is_some_and(|at| at <= now)
    }

    /// The registered endpoints that are to hear of it by now.
    pub(crate) fn targets_due(
        &self,
        now: i64,
        delay_seconds: u32,
    ) -> impl Iterator<Item = &Target> {
        let first = self.head.created.saturating_add(i64::from(delay_seconds));
        let due = move |target: &&Target| target.retry_at.unwrap_or(first).max(first) <= now;
        self.targets.iter().filter(due)
    }

    /// When somebody is to hear of it next, in seconds.
    pub(crate) fn send_at(&self, delay_seconds: u32) -> Option<i64> {
        let first = self.head.created.saturating_add(i64::from(delay_seconds));
        let targets = self.targets.iter();
        let targets = targets.map(|target| target.retry_at.unwrap_or(first).max(first));
        targets.chain(self.own_at(delay_seconds)).min()
    }

    /// A registered endpoint took it, or did not.
    pub(crate) fn told(&mut self, endpoint: &str, taken: bool, now: i64) {
        for target in &mut self.targets {
            if target.endpoint == endpoint && !taken {
                let failures = usize::try_from(target.failures).unwrap_or(usize::MAX);
                target.failures = target.failures.saturating_add(1);
                target.retry_at = PAUSES.get(failures).map(|pause| now.saturating_add(*pause));
            }
        }
        let given_up = |target: &Target| target.failures > 0 && target.retry_at.is_none();
        self.targets
            .retain(|target| !(target.endpoint == endpoint && (taken || given_up(target))));
    }

    /// A copy arrived; done with `wanted` of them.
    pub(crate) const fn arrived(&mut self, wanted: u32) {
        self.delivered = self.delivered.saturating_add(1);
        self.outgoing = self.delivered < wanted;
    }

    /// Whether everybody who was to hear of it did.
    pub(crate) const fn is_delivered(&self) -> bool {
        !self.is_pending() && self.delivered > 0
    }

    /// A copy did not.
    pub(crate) fn missed(&mut self, now: i64) {
        let failures = usize::try_from(self.failures).unwrap_or(usize::MAX);
        self.failures = self.failures.saturating_add(1);
        match PAUSES.get(failures) {
            Some(pause) => self.retry_at = Some(now.saturating_add(*pause)),
            None => self.outgoing = false,
        }
    }
}

/// Those to be sent by now, in the order in which they happened.
pub(crate) fn due(books: &Books, now: i64, delay_seconds: u32) -> Vec<Event> {
    let events = books.outgoing().filter_map(|id| books.get::<Event>(id));
    events
        .filter(|event| event.send_at(delay_seconds).is_some_and(|at| at <= now))
        .cloned()
        .collect()
}

/// When the next one is to be sent.
pub(crate) fn next(books: &Books, delay_seconds: u32) -> Option<i64> {
    let events = books.outgoing().filter_map(|id| books.get::<Event>(id));
    events
        .filter_map(|event| event.send_at(delay_seconds))
        .min()
}
