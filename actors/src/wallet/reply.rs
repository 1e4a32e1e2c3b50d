//! A reply to a caller. It holds the caller's permit, if the wallet is awake, until it is sent or dropped; dropping it
//! unsent means an unknown outcome.

use tokio::sync::oneshot;

use crate::{answer::Error, registry::WalletPermit};

pub(crate) struct Reply<T> {
    to: oneshot::Sender<Result<T, Error>>,
    _permit: Option<WalletPermit>,
}

impl<T> Reply<T> {
    pub(crate) fn new(permit: Option<WalletPermit>) -> (Self, oneshot::Receiver<Result<T, Error>>) {
        let (to, from) = oneshot::channel();
        (
            Self {
                to,
                _permit: permit,
            },
            from,
        )
    }

    /// Sends the answer. The caller may be gone; the decision is logged all the same.
    pub(crate) fn send(self, answer: Result<T, Error>) {
        drop(self.to.send(answer));
    }
}
