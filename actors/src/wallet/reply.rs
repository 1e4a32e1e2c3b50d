//! The way back to a caller. A reply holds the caller's place in flight until it is used or
//! dropped; dropping it unused tells the caller that the outcome is unknown.

use tokio::sync::oneshot;

use crate::{answer::Error, registry::Permit};

/// Answers one caller.
pub(crate) struct Reply<T> {
    to: oneshot::Sender<Result<T, Error>>,
    /// Given back when the answer is on its way.
    _permit: Permit,
}

impl<T> Reply<T> {
    pub(crate) fn new(permit: Permit) -> (Self, oneshot::Receiver<Result<T, Error>>) {
        let (to, from) = oneshot::channel();
        (
            Self {
                to,
                _permit: permit,
            },
            from,
        )
    }

    /// The caller may have gone: what was decided stands all the same.
    pub(crate) fn send(self, answer: Result<T, Error>) {
        drop(self.to.send(answer));
    }
}
