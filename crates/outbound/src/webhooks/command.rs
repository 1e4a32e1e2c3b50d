//! What wakes an endpoint's task, and what is asked of it.

use domain::id::DeliveryId;
use tokio::sync::{mpsc, oneshot, watch};
use wire::ErrorCode;

use super::{delivery::Delivery, note::Replay};

/// A request to an endpoint's task.
pub(super) enum Command {
    /// To reply when nothing is due any more.
    Settle(oneshot::Sender<()>),
    /// To send a delivery again.
    Again(DeliveryId, oneshot::Sender<Result<Delivery, ErrorCode>>),
    /// To send part of the log again.
    AllAgain(Replay, oneshot::Sender<Result<(), ErrorCode>>),
}

/// The channels that wake the task.
pub(super) struct WakeSources {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) new_events: watch::Receiver<()>,
    pub(super) changed: watch::Receiver<()>,
    pub(super) stopping: watch::Receiver<bool>,
}
