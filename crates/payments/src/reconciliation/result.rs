//! The result of reconciling the provider's lists with the orders, as it is stored and shown.

use domain::text::PaymentId;
use payments_port::ProviderCharge;
use serde::{Deserialize, Serialize};

use super::compare::Attribution;

/// The most stored differences; further ones are only counted.
const MAX_STORED: usize = 100;

/// The result of a reconciliation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Reconciliation {
    /// The start of the span whose items were read, in milliseconds since 1970, by the project's clock.
    pub from: i64,
    /// The end of that span, exclusive.
    pub until: i64,
    /// When it began, in milliseconds since 1970, by Scrip's clock.
    pub began_at: i64,
    /// When it ended; 0 while it runs.
    pub ended_at: i64,
    pub charges: u64,
    pub refunds: u64,
    pub disputes: u64,
    /// Items that matched after their objects were fetched again.
    pub mended: u64,
    pub differences: u64,
    /// The amounts charged, by currency.
    pub sums: Vec<CurrencySum>,
    /// The first hundred differences.
    pub found: Vec<Difference>,
}

/// The amounts charged in one currency, in its minor unit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrencySum {
    /// The ISO 4217 code, in capitals.
    pub currency: Box<str>,
    /// Charged for orders.
    pub orders_cents: i64,
    /// Charged in unfulfilled payments, open or decided.
    pub unfulfilled_cents: i64,
    /// Charged for other products in the same account.
    pub other_cents: i64,
    /// Charged in payments that differ.
    pub differing_cents: i64,
}

/// How an item of the provider's differs from the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Money was taken for an order that is not paid here.
    Unpaid,
    /// Money was taken for something of the project's, and no order got it.
    Unplaced,
    /// More or less was taken than the order says.
    Amount,
    /// It was taken in another currency than the order says.
    Currency,
    /// More or less was refunded than the order says.
    Refund,
    /// A bank withholds or took an amount that the order does not show.
    Dispute,
}

impl DifferenceKind {
    /// The name that the API, the command line and the dashboard use.
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

/// A provider's item that differs from the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Difference {
    pub kind: DifferenceKind,
    pub id: String,
    pub payment: Option<PaymentId>,
    pub order: Option<String>,
    /// The provider's amount, in the currency's minor unit.
    pub provider_cents: i64,
    /// The order's amount, in the minor unit of the order's currency.
    pub order_cents: Option<i64>,
    pub currency: Box<str>,
}

impl Reconciliation {
    /// Whether every cent is accounted for.
    pub const fn adds_up(&self) -> bool {
        self.differences == 0
    }

    /// Adds a charge to the sum of its currency.
    pub(super) fn add_charge(
        &mut self,
        charge: &ProviderCharge,
        attribution: &Attribution,
        differs: bool,
    ) {
        let currency = &*charge.currency;
        let mut sums = self.sums.iter().map(|sum| &*sum.currency);
        let index = sums.position(|other| other == currency);
        let index = index.unwrap_or_else(|| {
            self.sums.push(CurrencySum {
                currency: currency.into(),
                ..CurrencySum::default()
            });
            self.sums.len().saturating_sub(1)
        });
        let Some(sum) = self.sums.get_mut(index) else {
            return;
        };
        let part = match attribution {
            _ if differs => &mut sum.differing_cents,
            Attribution::Order(_) => &mut sum.orders_cents,
            // One that should be an order's without a difference was refunded in full.
            Attribution::Unfulfilled | Attribution::Ours(_) => &mut sum.unfulfilled_cents,
            Attribution::Nothing => &mut sum.other_cents,
        };
        *part = part.saturating_add(charge.amount_cents);
    }

    pub(super) fn differs(&mut self, difference: Difference) {
        self.differences = self.differences.saturating_add(1);
        if self.found.len() < MAX_STORED {
            self.found.push(difference);
        }
    }
}
