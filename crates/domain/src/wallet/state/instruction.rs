//! Instructions to the provider, as a wallet remembers them.

use serde::{Deserialize, Serialize};

use crate::{
    id::{OrderSerial, ProductId, PublicSubscriptionId},
    text::{IdempotencyKey, PaymentId, SubscriptionId},
};

/// How a caller names a subscription of a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NamedSubscription {
    /// The continuing one to this product.
    Of(ProductId),
    /// The one with this id; if a product is named, only one to that product.
    Id(PublicSubscriptionId, Option<ProductId>),
}

/// What the provider is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instruction {
    /// Refund an order, in full or in part.
    Refund {
        /// The order to refund.
        order: OrderSerial,
        /// The requested amount, in the currency's minor unit; `None` for all that was left.
        requested: Option<i64>,
        /// The amount to refund, in the same unit.
        cents: i64,
        /// What each of its payments gives back, in this order; the sum is `cents`.
        parts: Vec<RefundPart>,
        /// How often the provider refused the rest of a refund under this key after a part of it succeeded.
        round: u32,
    },
    /// End a subscription.
    Cancel {
        /// The subscription to end.
        subscription: SubscriptionId,
        /// How the caller named it.
        named: NamedSubscription,
        /// Whether it ends with its period rather than at once.
        at_period_end: bool,
    },
    /// Undo that a subscription ends with its period, or that it is paused.
    Resume {
        /// The subscription to resume.
        subscription: SubscriptionId,
        /// How the caller named it.
        named: NamedSubscription,
    },
}

/// What one payment of an order gives back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundPart {
    /// The provider's payment.
    pub payment: PaymentId,
    /// The amount, in the currency's minor unit.
    pub cents: i64,
}

impl Instruction {
    /// The subscription that it is about, unless it is a refund.
    pub const fn subscription(&self) -> Option<&SubscriptionId> {
        match self {
            Self::Refund { .. } => None,
            Self::Cancel { subscription, .. } | Self::Resume { subscription, .. } => {
                Some(subscription)
            }
        }
    }
}

impl InstructionStage {
    /// The provider refused, and nothing was done.
    pub const REFUSED: Self = Self::Refused { given_cents: 0 };
}

/// The stage of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InstructionStage {
    /// It was requested; its outcome is unknown.
    Requested,
    /// The provider did it.
    Done,
    /// The provider refused.
    Refused {
        /// The part of the refund that had succeeded, in the currency's minor unit; usually 0.
        given_cents: i64,
    },
}

/// An instruction under its caller's key, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionRecord {
    /// The caller's key, unique in the wallet among instructions of one kind.
    pub key: IdempotencyKey,
    /// What is to be done.
    pub instruction: Instruction,
    /// The stage at that moment.
    pub stage: InstructionStage,
}

impl InstructionRecord {
    /// Whether the provider did it.
    pub fn is_done(&self) -> bool {
        self.stage == InstructionStage::Done
    }
}
