//! Freezes and unfreezes wallets. A frozen wallet refuses what takes credits: deductions, holds, draws, checkouts. What
//! was promised before goes on: holds are settled for what they set aside and released, payments under way are
//! fulfilled, refunds and expiries take theirs.

use crate::{
    text::FreezeReason,
    wallet::state::{Wallet, event::Change},
};

/// What to do with a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetFrozen {
    /// Freeze it, or replace the reason.
    Freeze(Option<FreezeReason>),
    /// Let it be used again.
    Unfreeze,
}

impl Wallet {
    /// The change, or `None` if it makes no difference.
    #[must_use]
    pub fn set_frozen(&self, command: SetFrozen) -> Option<Change> {
        match (command, self.frozen()) {
            (SetFrozen::Freeze(reason), Some(freeze)) if freeze.reason == reason => None,
            (SetFrozen::Freeze(reason), _) => Some(Change::Frozen { reason }),
            (SetFrozen::Unfreeze, Some(_)) => Some(Change::Unfrozen),
            (SetFrozen::Unfreeze, None) => None,
        }
    }
}
