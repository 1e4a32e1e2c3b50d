//! What wakes an endpoint's task, and what is asked of it.

use domain::id::DeliveryId;
use tokio::sync::{mpsc, oneshot, watch};

use super::{delivery::Delivery, note::Replay};

/// A request to an endpoint's task.
pub(super) enum Command {
    /// To reply when nothing is due any more.
    Settle(oneshot::Sender<()>),
    /// To send a delivery again.
    Again(DeliveryId, oneshot::Sender<Result<Delivery, Error>>),
    /// To send part of the log again.
    AllAgain(Replay, oneshot::Sender<Result<(), Error>>),
}

/// The channels that wake the task.
pub(super) struct WakeSources {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) new_events: watch::Receiver<()>,
    pub(super) changed: watch::Receiver<()>,
    pub(super) stopping: watch::Receiver<bool>,
}

/// Why a delivery or event cannot be shown or sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The endpoint has no such delivery, or no longer.
    #[error("no such delivery")]
    UnknownDelivery,
    /// The event is no longer kept.
    #[error("no such event")]
    UnknownEvent,
    /// Too many events wait already.
    #[error("too many events wait")]
    Overloaded,
    /// It could not be logged, or webhooks are not running.
    #[error("webhooks are unavailable")]
    Unavailable,
}

impl From<Error> for wire::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::UnknownDelivery => Self::new(wire::ErrorCode::DeliveryNotFound),
            Error::UnknownEvent => Self::new(wire::ErrorCode::EventNotFound),
            Error::Overloaded => Self::new(wire::ErrorCode::Overloaded),
            Error::Unavailable => Self::new(wire::ErrorCode::Unavailable),
        }
    }
}
