//! A delivery: one event on its way to one endpoint, with its attempts.

use std::borrow::Cow;

use actors::event_number;
use domain::{
    Timestamp,
    id::{DeliveryId, EventId, WalletKey},
};
use persistence::EventNumber;
use serde::{Deserialize, Serialize};
use wire::field::EventType;

use super::{schedule, send::refusal};

/// Attempts kept per delivery: more than the schedule makes, as some are asked for by hand.
const KEPT_ATTEMPTS: usize = 20;

/// A new delivery's id, which sorts by time.
pub(super) fn new_id() -> DeliveryId {
    DeliveryId(uuid::Uuid::now_v7().as_u128())
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub id: DeliveryId,
    pub event: EventId,
    pub kind: EventType,
    /// The event's wallet, whose next event waits for this one.
    pub wallet: WalletKey,
    pub origin: Origin,
    pub status: Status,
    /// How each attempt went, oldest first.
    pub attempts: Vec<Attempt>,
    /// How many attempts the schedule has made so far: an attempt asked for by hand uses up none of the
    /// schedule's.
    pub scheduled: usize,
    /// When the next attempt is due; `None` unless it is pending.
    pub next_at: Option<Timestamp>,
}

/// Why an event is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The event happened.
    Live,
    /// Somebody asked for it again.
    Replay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Attempts go on.
    Pending,
    /// The endpoint accepted it.
    Succeeded,
    /// Failed: the last attempt did not succeed.
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub at: Timestamp,
    /// The response's status; `None`: there was no response.
    pub status_code: Option<u16>,
    /// What went wrong; `None`: the receiver accepted it.
    pub error: Option<Box<str>>,
    /// How long it took, in milliseconds.
    pub millis: u32,
}

impl Attempt {
    /// What went wrong, without what the receiver wrote.
    pub fn error_unquoted(&self) -> Option<Cow<'_, str>> {
        let error = self.error.as_deref()?;
        Some(match self.status_code {
            Some(status) => refusal(status, &[]).into(),
            None => error.into(),
        })
    }
}

impl Delivery {
    /// The event's position in the log.
    pub(super) const fn number(&self) -> EventNumber {
        event_number(self.event)
    }

    /// Adds an attempt and what follows from it, with the wait that the receiver asks for.
    pub(super) fn attempted(
        &mut self,
        attempt: Attempt,
        by_hand: bool,
        retry_after: Option<&str>,
        now: Timestamp,
    ) {
        let is_accepted = attempt.error.is_none();
        self.add_attempt(attempt, by_hand);
        let wish = retry_after.and_then(|header| schedule::wish(header, now));
        let random = getrandom::u64().unwrap_or(0);
        self.next_at = match (is_accepted, by_hand) {
            (true, _) => None,
            (false, true) => Some(schedule::after_by_hand(self.next_at, now, wish)),
            (false, false) => schedule::next(self.scheduled, now, wish, random),
        };
        self.status = match (is_accepted, self.next_at) {
            (true, _) => Status::Succeeded,
            (false, Some(_)) => Status::Pending,
            (false, None) => Status::Failed,
        };
    }

    /// Fails it without having sent anything.
    pub(super) fn fail(&mut self, at: Timestamp, why: &str, by_hand: bool) {
        let attempt = Attempt {
            at,
            status_code: None,
            error: Some(why.into()),
            millis: 0,
        };
        self.add_attempt(attempt, by_hand);
        self.status = Status::Failed;
        self.next_at = None;
    }

    /// Adds an attempt; beyond 20 the oldest is dropped.
    fn add_attempt(&mut self, attempt: Attempt, by_hand: bool) {
        if !by_hand {
            self.scheduled = self.scheduled.saturating_add(1);
        }
        if self.attempts.len() >= KEPT_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(attempt);
    }

    /// A new delivery of the same event.
    pub(super) fn again(self, now: Timestamp) -> Self {
        Self {
            id: new_id(),
            origin: Origin::Replay,
            status: Status::Pending,
            attempts: Vec::new(),
            scheduled: 0,
            next_at: Some(now),
            ..self
        }
    }
}
