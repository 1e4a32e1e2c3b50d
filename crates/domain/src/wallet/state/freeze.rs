//! Whether a wallet is frozen: it keeps its credits, and nobody can use them.

use serde::{Deserialize, Serialize};

use super::Wallet;
use crate::{Rejection, text::FreezeReason, time::Timestamp};

/// Since when and why a wallet is frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    /// When it was frozen.
    pub since: Timestamp,
    /// Why, if a reason was given.
    pub reason: Option<FreezeReason>,
}

impl Wallet {
    /// Since when and why it is frozen, if it is.
    pub fn frozen(&self) -> Option<&Freeze> {
        self.frozen.as_deref()
    }

    /// Refuses what a frozen wallet does not do.
    /// # Errors
    /// [`Rejection::Frozen`].
    pub fn refuse_frozen(&self) -> Result<(), Rejection> {
        match &self.frozen {
            None => Ok(()),
            Some(freeze) => Err(Rejection::Frozen {
                reason: freeze.reason.clone(),
            }),
        }
    }
}
