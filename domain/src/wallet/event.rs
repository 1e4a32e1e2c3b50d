//! Everything that can happen to a wallet. Events are logged: variants and fields are only ever
//! added at the end, under a new format version.

use serde::{Deserialize, Serialize};

use super::Owner;
use crate::{
    amount::Amount,
    id::{CodeHash, HoldId, ProductId, ProjectId, WalletId},
    text::{Feature, IdempotencyKey, Meta},
    time::{Period, Timestamp},
};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub change: Change,
}

/// A wallet's first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// What callers see.
    pub id: WalletId,
    /// The tenant.
    pub project: ProjectId,
    /// Who may address it.
    pub owner: Owner,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// The wallet came to be.
    Created(Box<Created>),
    /// A leaked code was replaced.
    CodeRotated {
        /// How the new code is found.
        hash: CodeHash,
        /// The new code, encrypted.
        sealed: Box<[u8]>,
    },
    /// A period's free credits.
    FreeGranted {
        /// Whose credits.
        product: ProductId,
        /// How many.
        credits: Amount,
        /// Which kind of period.
        period: Period,
        /// The period's first instant.
        start: Timestamp,
        /// The period's end, when the credits expire; never for `once`.
        end: Timestamp,
    },
    /// What nobody held of a lot when its time came.
    LotExpired {
        /// Whose credits.
        product: ProductId,
        /// The lot's number in its account.
        lot: u64,
        /// How many.
        amount: Amount,
    },
    /// A grant by secret key.
    Granted {
        /// Whose credits.
        product: ProductId,
        /// How many.
        amount: Amount,
        /// When they expire.
        expires_at: Option<Timestamp>,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// Credits used.
    Deducted {
        /// Whose credits.
        product: ProductId,
        /// How many.
        amount: Amount,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// Credits set aside.
    HoldPlaced {
        /// The new hold.
        hold: HoldId,
        /// Whose credits.
        product: ProductId,
        /// How many.
        amount: Amount,
        /// When they come back by themselves.
        expires_at: Timestamp,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// A hold was given more time.
    HoldExtended {
        /// Which.
        hold: HoldId,
        /// Its new end.
        expires_at: Timestamp,
    },
    /// A hold was closed by its cost.
    HoldSettled {
        /// Which.
        hold: HoldId,
        /// Credits deducted; 0 or more, also more than were held.
        amount: i64,
    },
    /// A hold was given back by the caller.
    HoldReleased {
        /// Which.
        hold: HoldId,
    },
    /// A hold was given back by the clock.
    HoldExpired {
        /// Which.
        hold: HoldId,
    },
    /// A feature was unlocked by hand.
    FeatureGranted {
        /// Which.
        feature: Feature,
    },
    /// A manual unlock was taken back.
    FeatureRevoked {
        /// Which.
        feature: Feature,
    },
}
