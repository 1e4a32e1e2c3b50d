//! Credits and money that people give customers: daily limits and approvals apply to them.

use actors::Address;
use domain::{
    catalog::ApprovalRules,
    id::{LedgerId, OrderId, PriceId, ProductId, WalletKey},
    text::{ExternalUserId, PaymentId},
};
use serde::{Deserialize, Serialize};

/// The wallet that a payment is assigned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipient {
    /// A new anonymous wallet.
    New,
    /// A user's wallet, created if there is none.
    User(ExternalUserId),
    Wallet(WalletKey),
}

impl Recipient {
    /// The address of the wallet; `None`: a new one.
    pub fn address(&self) -> Option<Address> {
        match self {
            Self::New => None,
            Self::User(user) => Some(Address::External(user.clone())),
            Self::Wallet(key) => Some(Address::Stored(*key)),
        }
    }
}

/// Credits or money for a customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum OutgoingValue {
    /// Credits that cost nothing.
    Grant {
        /// The wallet that gets them.
        wallet: WalletKey,
        /// The product that the credits are for.
        product: ProductId,
        /// How many credits are granted.
        credits: i64,
        /// When they expire, in milliseconds; `None`: never.
        expires_at: Option<i64>,
    },
    /// Money for an order.
    Refund {
        /// The refunded order.
        order: OrderId,
        /// How much, in the currency's minor unit.
        cents: i64,
    },
    /// The money of a payment that led to no order.
    Payment {
        /// The payment at the provider.
        payment: PaymentId,
        /// How much, in the currency's minor unit.
        cents: i64,
    },
    /// Credits of a deduction.
    Reversal {
        /// The deduction's entry in the ledger.
        deduction: LedgerId,
        /// How many of its credits are reversed.
        credits: i64,
    },
    /// What a price brings beyond a payment that is assigned to it.
    Assignment {
        /// The payment at the provider.
        payment: PaymentId,
        /// The price that it paid for.
        price: PriceId,
        /// The wallet that gets it.
        to: Recipient,
        /// Credits beyond the payment.
        credits: i64,
        /// The rest of the price, in the currency's minor unit.
        cents: i64,
    },
}

impl OutgoingValue {
    /// Its credits; `None`: it is money.
    pub const fn credits(&self) -> Option<i64> {
        match self {
            Self::Grant { credits, .. }
            | Self::Reversal { credits, .. }
            | Self::Assignment { credits, .. } => Some(*credits),
            Self::Refund { .. } | Self::Payment { .. } => None,
        }
    }

    /// Its money, in the currency's minor unit; `None`: it is credits.
    pub const fn cents(&self) -> Option<i64> {
        match self {
            Self::Refund { cents, .. }
            | Self::Payment { cents, .. }
            | Self::Assignment { cents, .. } => Some(*cents),
            Self::Grant { .. } | Self::Reversal { .. } => None,
        }
    }

    /// Whether it requires approval under these rules.
    pub fn needs_approval(&self, rules: ApprovalRules) -> bool {
        let is_above = |much: Option<i64>, above: Option<i64>| {
            much.zip(above).is_some_and(|(much, above)| much > above)
        };
        is_above(self.credits(), rules.above_credits) || is_above(self.cents(), rules.above_cents)
    }
}
