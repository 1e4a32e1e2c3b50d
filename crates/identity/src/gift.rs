//! What people give customers, of which one person may do so much in a day, or alone.

use actors::Address;
use domain::{
    catalog::ApprovalRules,
    id::{LedgerId, OrderId, PriceId, ProductId, WalletKey},
    text::{ExternalUserId, PaymentId},
};
use serde::{Deserialize, Serialize};

/// Whose wallet a payment is assigned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipient {
    /// Nobody's: a new anonymous wallet.
    New,
    /// A user's, which may not exist yet.
    User(ExternalUserId),
    /// One that exists.
    Wallet(WalletKey),
}

impl Recipient {
    /// The address of the wallet; `None`: a new one.
    #[must_use]
    pub fn address(&self) -> Option<Address> {
        match self {
            Self::New => None,
            Self::User(user) => Some(Address::External(user.clone())),
            Self::Wallet(key) => Some(Address::Stored(*key)),
        }
    }
}

/// What somebody gives a customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Gift {
    /// Credits that cost nothing.
    Grant {
        /// Who gets them.
        wallet: WalletKey,
        /// What they are of.
        product: ProductId,
        /// How many credits are granted.
        credits: i64,
        /// When they expire, in milliseconds; `None`: never.
        expires_at: Option<i64>,
    },
    /// Money for an order.
    Refund {
        /// What was bought.
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
        /// How many of its credits are given back.
        credits: i64,
    },
    /// What a price brings beyond a payment that is assigned to it.
    Assignment {
        /// The payment at the provider.
        payment: PaymentId,
        /// What it is said to have bought.
        price: PriceId,
        /// Who gets it.
        to: Recipient,
        /// Credits that it did not pay for.
        credits: i64,
        /// What it lacks of the price, in the currency's minor unit.
        cents: i64,
    },
}

impl Gift {
    /// Credits that are given; `None`: it is money.
    #[must_use]
    pub const fn credits(&self) -> Option<i64> {
        match self {
            Self::Grant { credits, .. }
            | Self::Reversal { credits, .. }
            | Self::Assignment { credits, .. } => Some(*credits),
            Self::Refund { .. } | Self::Payment { .. } => None,
        }
    }

    /// Money that is given, in the currency's minor unit; `None`: it is credits.
    #[must_use]
    pub const fn cents(&self) -> Option<i64> {
        match self {
            Self::Refund { cents, .. }
            | Self::Payment { cents, .. }
            | Self::Assignment { cents, .. } => Some(*cents),
            Self::Grant { .. } | Self::Reversal { .. } => None,
        }
    }

    /// Whether one person may not give it alone under these rules.
    #[must_use]
    pub fn needs_approval(&self, rules: ApprovalRules) -> bool {
        let is_above = |much: Option<i64>, above: Option<i64>| {
            much.zip(above).is_some_and(|(much, above)| much > above)
        };
        is_above(self.credits(), rules.above_credits) || is_above(self.cents(), rules.above_cents)
    }
}
