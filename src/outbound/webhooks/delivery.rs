//! A delivery: one event on its way to one endpoint, with its attempts.

use actors::event_number;
use domain::{
    Timestamp,
    id::{DeliveryId, EventId, WalletKey},
};
use persistence::EventNumber;
use serde::{Deserialize, Serialize};

use crate::http::field::EventType;

/// Attempts kept per delivery: more than the schedule makes, as some are asked for by hand.
const KEPT_ATTEMPTS: usize = 20;

/// A new delivery's id, which sorts by time.
pub(super) fn new_id() -> DeliveryId {
    DeliveryId(uuid::Uuid::now_v7().as_u128())
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivery {
    pub(crate) id: DeliveryId,
    pub(crate) event: EventId,
    pub(crate) kind: EventType,
    /// The event's wallet, whose next event waits for this one.
    pub(crate) wallet: WalletKey,
    pub(crate) origin: Origin,
    pub(crate) status: Status,
    /// How each attempt went, oldest first.
    pub(crate) attempts: Vec<Attempt>,
    /// How many attempts the schedule has made so far: an attempt asked for by hand uses up none of the
    /// schedule's.
    pub(crate) scheduled: usize,
    /// When the next attempt is due; `None` unless it is pending.
    pub(crate) next_at: Option<Timestamp>,
}

/// Why an event is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// The event happened.
    Live,
    /// Somebody asked for it again.
    Replay,
}

/// How a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    Succeeded,
    /// Given up after the last attempt.
    Failed,
}

/// One attempt to deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) at: Timestamp,
    /// The response's status; `None`: there was no response.
    pub(crate) status_code: Option<u16>,
    /// What went wrong; `None`: the receiver accepted it.
    pub(crate) error: Option<Box<str>>,
    pub(crate) millis: u32,
}

impl Delivery {
    /// The event's position in the log.
    pub(super) const fn number(&self) -> EventNumber {
        event_number(self.event)
    }

    /// Adds an attempt; beyond 20 the oldest is dropped.
    pub(super) fn tried(&mut self, attempt: Attempt, by_hand: bool) {
        if !by_hand {
            self.scheduled = self.scheduled.saturating_add(1);
        }
        if self.attempts.len() >= KEPT_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(attempt);
    }

    /// Ends the delivery with this status.
    pub(super) fn ended(&mut self, status: Status) {
        self.status = status;
        self.next_at = None;
    }
}
