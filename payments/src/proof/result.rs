//! What holding the provider's books against the orders came to, as it is kept and shown.

use domain::text::PaymentId;
use serde::{Deserialize, Serialize};

/// Differences that are kept one by one; beyond them they are counted.
const MOST_KEPT: usize = 100;

/// What a proof came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// From when on the books were read, in milliseconds.
    pub from: i64,
    /// Until when.
    pub until: i64,
    /// When it began.
    pub began_at: i64,
    /// When it ended; 0 while it goes on.
    pub ended_at: i64,
    /// Charges that were looked at.
    pub charges: u64,
    /// Refunds.
    pub refunds: u64,
    /// Disputes.
    pub disputes: u64,
    /// Those of them that differed at first, and not after looking again.
    pub mended: u64,
    /// Those that still do.
    pub differences: u64,
    /// What was taken, by currency.
    pub sums: Vec<Sum>,
    /// The first of the differences.
    pub found: Vec<Difference>,
}

/// What was taken in one currency, in its minor unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// In capitals.
    pub currency: Box<str>,
    /// For orders.
    pub orders_cents: i64,
    /// For what waits for a person's decision, or was decided by one.
    pub unfulfilled_cents: i64,
    /// For other products on the same account.
    pub other_cents: i64,
    /// For what differs.
    pub differing_cents: i64,
}

/// What does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Money was taken for an order that is not paid here.
    Unpaid,
    /// Money was taken for something of the project's, and nobody has it.
    Unplaced,
    /// More or less was taken than the order says.
    Amount,
    /// It was taken in another currency.
    Currency,
    /// More or less went back than the order says.
    Refund,
    /// A bank withholds or took what the order does not say.
    Dispute,
}

impl DifferenceKind {
    /// As it is written everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unpaid => "unpaid",
            Self::Unplaced => "unplaced",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::Refund => "refund",
            Self::Dispute => "dispute",
        }
    }
}

/// Something that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What.
    pub kind: DifferenceKind,
    /// The provider's name for the charge, refund or dispute.
    pub id: String,
    /// The payment.
    pub payment: Option<PaymentId>,
    /// The order that it is for.
    pub order: Option<String>,
    /// What the provider says, in the currency's minor unit.
    pub provider_cents: i64,
    /// What the order says.
    pub order_cents: Option<i64>,
    /// Of the provider's amount.
    pub currency: Box<str>,
}

/// Whose money is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Order,
    Unfulfilled,
    Other,
    Nobody,
}

impl Proof {
    /// Whether every cent is accounted for.
    #[must_use]
    pub const fn adds_up(&self) -> bool {
        self.differences == 0
    }

    pub(super) fn took(&mut self, owner: Owner, cents: i64, currency: &str) {
        let known = self.sums.iter().position(|sum| *sum.currency == *currency);
        let place = known.unwrap_or_else(|| {
            self.sums.push(Sum {
                currency: currency.into(),
                orders_cents: 0,
                unfulfilled_cents: 0,
                other_cents: 0,
                differing_cents: 0,
            });
            self.sums.len().saturating_sub(1)
        });
        let Some(sum) = self.sums.get_mut(place) else {
            return;
        };
        let of = match owner {
            Owner::Order => &mut sum.orders_cents,
            Owner::Unfulfilled => &mut sum.unfulfilled_cents,
            Owner::Other => &mut sum.other_cents,
            Owner::Nobody => &mut sum.differing_cents,
        };
        *of = of.saturating_add(cents);
    }

    pub(super) fn differs(&mut self, difference: Difference) {
        self.differences = self.differences.saturating_add(1);
        if self.found.len() < MOST_KEPT {
            self.found.push(difference);
        }
    }
}
