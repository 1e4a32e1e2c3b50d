//! Events, and when each is due to be sent to each of its targets. Sends nothing itself.

use super::{api::covers, prelude::*};

/// Seconds before each retry of a rejected event; after the last it fails.
const PAUSES: [i64; 12] = [
    2, 5, 15, 60, 300, 900, 3600, 7200, 14_400, 28_800, 57_600, 86_400,
];

impl Database {
    pub(crate) fn emit<T: StoredObject>(&mut self, kind: &str, object: &T) {
        if self.most_events == 0 {
            return;
        }
        let snapshot = ObjectSnapshot::new(&object.clone().note());
        let subscribed = self.all::<Endpoint>().filter(|endpoint| {
            endpoint.enabled && endpoint.kinds.iter().any(|wanted| covers(wanted, kind))
        });
        let endpoints = subscribed.map(|endpoint| Some(endpoint.head.id.clone()));
        let targets = std::iter::once(None)
            .chain(endpoints)
            .map(Target::new)
            .collect();
        let head = self.head("evt_");
        self.put(Event {
            head,
            kind: kind.to_owned(),
            snapshot,
            delivered: 0,
            request: self.request.clone(),
            targets,
        });
        while self.count::<Event>() > self.most_events
            && let Some(oldest) = self.all::<Event>().min_by_key(|event| event.head.n)
        {
            let oldest = oldest.head.id.clone();
            self.forget::<Event>(&oldest);
        }
    }
}

impl Event {
    /// The pending targets, each with the next time to send, in seconds.
    fn targets_at(&self, delay_seconds: u32) -> impl Iterator<Item = (&Target, i64)> {
        let first = self.head.created.saturating_add(i64::from(delay_seconds));
        let at = move |target: &Target| target.retry_at.unwrap_or(first).max(first);
        self.targets.iter().map(move |target| (target, at(target)))
    }

    pub(crate) fn targets_due(&self, now: i64, delay: u32) -> impl Iterator<Item = &Target> {
        let due = self.targets_at(delay).filter(move |(_, at)| *at <= now);
        due.map(|(target, _)| target)
    }

    pub(crate) fn send_at(&self, delay_seconds: u32) -> Option<i64> {
        self.targets_at(delay_seconds).map(|(_, at)| at).min()
    }

    /// Records whether a target accepted it. The project's own URL needs `copies`.
    pub(crate) fn record_delivery(
        &mut self,
        endpoint: Option<&str>,
        accepted: bool,
        copies: u32,
        now: i64,
    ) {
        let own = endpoint.is_none();
        if own && accepted {
            self.delivered += 1;
        }
        let more = own && self.delivered < copies;
        self.targets.retain_mut(|target| {
            if target.endpoint.as_deref() != endpoint || accepted {
                return target.endpoint.as_deref() != endpoint || more;
            }
            let failures = usize::try_from(target.failures).unwrap_or(usize::MAX);
            target.failures += 1;
            target.retry_at = PAUSES.get(failures).map(|pause| now.saturating_add(*pause));
            target.retry_at.is_some()
        });
    }

    pub(crate) const fn is_delivered(&self) -> bool {
        self.targets.is_empty() && self.delivered > 0
    }
}

fn outgoing(db: &Database) -> impl Iterator<Item = &Event> {
    db.outgoing().filter_map(|id| db.get(id))
}

/// The events to send by now, in the order in which they happened.
pub(crate) fn due(db: &Database, delay_seconds: u32) -> Vec<Event> {
    let is_due = |event: &&Event| {
        let at = event.send_at(delay_seconds);
        at.is_some_and(|at| at <= db.now)
    };
    outgoing(db).filter(is_due).cloned().collect()
}

pub(crate) fn next(db: &Database, delay_seconds: u32) -> Option<i64> {
    let at = outgoing(db).filter_map(|event| event.send_at(delay_seconds));
    at.min()
}
