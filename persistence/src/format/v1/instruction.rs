//! What callers have the provider do, and what is left of a subscription that is over.

use domain::{
    Timestamp,
    id::{OrderSerial, PriceId, ProductId},
    text::{IdempotencyKey, SubscriptionId},
    wallet,
};
use serde::{Deserialize, Serialize};

use super::{
    kind::InstructionStage,
    read::{broken, text},
};
use crate::contract::Error;

/// An instruction under its key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Instructed<'a> {
    key: &'a str,
    #[serde(borrow)]
    instruction: Instruction<'a>,
    stage: InstructionStage,
}

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Instruction<'a> {
    Refund {
        order: u128,
        requested: Option<i64>,
        cents: i64,
    },
    Cancel {
        subscription: &'a str,
        product: u128,
        at_period_end: bool,
    },
    Resume {
        subscription: &'a str,
        product: u128,
    },
}

impl<'a> From<&'a wallet::Instructed> for Instructed<'a> {
    fn from(from: &'a wallet::Instructed) -> Self {
        let wallet::Instructed {
            key,
            instruction,
            stage,
        } = from;
        Self {
            key: key.as_str(),
            instruction: instruction.into(),
            stage: (*stage).into(),
        }
    }
}

impl TryFrom<Instructed<'_>> for wallet::Instructed {
    type Error = Error;

    fn try_from(from: Instructed<'_>) -> Result<Self, Error> {
        Ok(Self {
            key: text(from.key, IdempotencyKey::new)?,
            instruction: from.instruction.try_into()?,
            stage: from.stage.into(),
        })
    }
}

impl<'a> From<&'a wallet::Instruction> for Instruction<'a> {
    fn from(from: &'a wallet::Instruction) -> Self {
        match from {
            wallet::Instruction::Refund {
                order,
                requested,
                cents,
            } => Self::Refund {
                order: order.0,
                requested: *requested,
                cents: *cents,
            },
            wallet::Instruction::Cancel {
                subscription,
                product,
                at_period_end,
            } => Self::Cancel {
                subscription: subscription.as_str(),
                product: product.0,
                at_period_end: *at_period_end,
            },
            wallet::Instruction::Resume {
                subscription,
                product,
            } => Self::Resume {
                subscription: subscription.as_str(),
                product: product.0,
            },
        }
    }
}

impl TryFrom<Instruction<'_>> for wallet::Instruction {
    type Error = Error;

    fn try_from(from: Instruction<'_>) -> Result<Self, Error> {
        Ok(match from {
            Instruction::Refund {
                order,
                requested,
                cents,
            } => {
                if cents < 1 {
                    return Err(broken("a refund asks for nothing"));
                }
                Self::Refund {
                    order: OrderSerial(order),
                    requested,
                    cents,
                }
            }
            Instruction::Cancel {
                subscription,
                product,
                at_period_end,
            } => Self::Cancel {
                subscription: text(subscription, SubscriptionId::new)?,
                product: ProductId(product),
                at_period_end,
            },
            Instruction::Resume {
                subscription,
                product,
            } => Self::Resume {
                subscription: text(subscription, SubscriptionId::new)?,
                product: ProductId(product),
            },
        })
    }
}

/// A subscription that is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SubscriptionOver<'a> {
    id: &'a str,
    #[serde(borrow)]
    last: Option<LastTier<'a>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct LastTier<'a> {
    product: u128,
    price: u128,
    label: Option<&'a str>,
    current_period_end: i64,
}

impl<'a> From<&'a wallet::SubscriptionOver> for SubscriptionOver<'a> {
    fn from(from: &'a wallet::SubscriptionOver) -> Self {
        let wallet::SubscriptionOver { id, last } = from;
        Self {
            id: id.as_str(),
            last: last.as_ref().map(LastTier::from),
        }
    }
}

impl TryFrom<SubscriptionOver<'_>> for wallet::SubscriptionOver {
    type Error = Error;

    fn try_from(from: SubscriptionOver<'_>) -> Result<Self, Error> {
        Ok(Self {
            id: text(from.id, SubscriptionId::new)?,
            last: from.last.map(wallet::LastTier::from),
        })
    }
}

impl<'a> From<&'a wallet::LastTier> for LastTier<'a> {
    fn from(from: &'a wallet::LastTier) -> Self {
        let wallet::LastTier {
            product,
            price,
            label,
            current_period_end,
        } = from;
        Self {
            product: product.0,
            price: price.0,
            label: label.as_deref(),
            current_period_end: current_period_end.0,
        }
    }
}

impl From<LastTier<'_>> for wallet::LastTier {
    fn from(from: LastTier<'_>) -> Self {
        Self {
            product: ProductId(from.product),
            price: PriceId(from.price),
            label: from.label.map(Box::from),
            current_period_end: Timestamp(from.current_period_end),
        }
    }
}
