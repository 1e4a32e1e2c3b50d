//! One event on its way to one endpoint, and how that went.

use actors::event_number;
use domain::{
    Timestamp,
    id::{DeliveryId, EventId, WalletKey},
};
use notes::as_text;
use persistence::NoticeNumber;
use serde::{Deserialize, Serialize};

use crate::http::field::EventType;

/// Attempts that are kept of a delivery: more than the schedule makes, with those that are asked for by hand.
const KEPT_ATTEMPTS: usize = 20;

/// One event on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivery {
    #[serde(with = "as_text")]
    pub(crate) id: DeliveryId,
    #[serde(with = "as_text")]
    pub(crate) event: EventId,
    #[serde(with = "as_text")]
    pub(crate) kind: EventType,
    /// Whose event it is: the next one of that wallet waits for it.
    #[serde(with = "as_text")]
    pub(crate) wallet: WalletKey,
    pub(crate) origin: Origin,
    pub(crate) status: Status,
    /// Oldest first.
    pub(crate) attempts: Vec<Attempt>,
    /// How many of those that were ever made the schedule asked for: whoever asks for more by hand takes
    /// none away from it.
    pub(crate) scheduled: usize,
    /// Of one that is pending.
    pub(crate) next_at: Option<Timestamp>,
}

/// Why an event is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// It happened.
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
    /// Given up.
    Failed,
}

/// One attempt to deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) at: Timestamp,
    /// `None`: there was no answer.
    pub(crate) status_code: Option<u16>,
    /// What went wrong; `None`: nothing did.
    pub(crate) error: Option<Box<str>>,
    pub(crate) millis: u32,
}

impl Delivery {
    /// Where its event lies in the log.
    pub(super) const fn number(&self) -> NoticeNumber {
        event_number(self.event)
    }

    /// Adds an attempt; the oldest are forgotten.
    pub(super) fn tried(&mut self, attempt: Attempt, by_hand: bool) {
        if !by_hand {
            self.scheduled = self.scheduled.saturating_add(1);
        }
        if self.attempts.len() >= KEPT_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(attempt);
    }

    /// That it ended.
    pub(super) fn ended(&mut self, status: Status) {
        self.status = status;
        self.next_at = None;
    }
}
