//! Checkout sessions, and what the portal's page offers and to whom.

use serde::{Deserialize, Serialize};

use super::{Cardless, Head, Interval, Metadata, is_default};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    Payment,
    Subscription,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Open,
    Complete,
    Expired,
}

impl Status {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Complete => "complete",
            Self::Expired => "expired",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaymentStatus {
    Paid,
    Unpaid,
    NoPaymentRequired,
}

impl PaymentStatus {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Unpaid => "unpaid",
            Self::NoPaymentRequired => "no_payment_required",
        }
    }
}

/// How an asynchronous payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Later {
    Outstanding,
    Settled,
    Failed,
}

/// Something in the basket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) id: String,
    /// Of a stored price, or one that was made up with the line.
    pub(crate) price: String,
    pub(crate) product: String,
    pub(crate) name: String,
    pub(crate) unit_amount: i64,
    pub(crate) quantity: i64,
    pub(crate) interval: Option<Interval>,
}

impl Line {
    pub(crate) const fn amount(&self) -> i64 {
        self.unit_amount.saturating_mul(self.quantity)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) head: Head,
    pub(crate) mode: Mode,
    pub(crate) status: Status,
    pub(crate) payment_status: PaymentStatus,
    pub(crate) later: Option<Later>,
    pub(crate) currency: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) customer: Option<String>,
    /// As it was filled in by the shop.
    pub(crate) customer_email: Option<String>,
    /// As the buyer entered it.
    pub(crate) email: Option<String>,
    pub(crate) always_customer: bool,
    pub(crate) success_url: String,
    pub(crate) cancel_url: Option<String>,
    pub(crate) expires_at: i64,
    pub(crate) reference: Option<String>,
    pub(crate) metadata: Metadata,
    /// For the payment intent or the subscription.
    pub(crate) inner: Metadata,
    pub(crate) description: Option<String>,
    pub(crate) codes_allowed: bool,
    pub(crate) coupon: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) discount: i64,
    pub(crate) intent: Option<String>,
    pub(crate) subscription: Option<String>,
    pub(crate) invoice: Option<String>,
    /// Of the subscription.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) trial: Option<TrialOffer>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) wishes: Wishes,
    /// The buyer's bank asks them who they are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) challenge: Option<Challenge>,
}

/// What the shop wants beside the money.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wishes {
    pub(crate) locale: Option<String>,
    pub(crate) tax: bool,
    pub(crate) tax_ids: bool,
    pub(crate) billing: Option<String>,
    pub(crate) invoice: bool,
    pub(crate) terms: bool,
}

/// A payment that waits for the buyer to prove who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    pub(crate) email: Option<String>,
    /// Of a payment; a subscription has none before it begins.
    pub(crate) intent: Option<String>,
}

/// Time that is to cost nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrialOffer {
    pub(crate) days: Option<i64>,
    /// In seconds, where it is not said in days.
    pub(crate) until: Option<i64>,
    pub(crate) cardless: Cardless,
    /// Whether the buyer gives no card.
    pub(crate) no_card: bool,
}

impl TrialOffer {
    /// When it is over.
    pub(crate) fn ends(&self, now: i64) -> i64 {
        let days = self.days.unwrap_or(0).saturating_mul(24 * 3600);
        self.until.unwrap_or_else(|| now.saturating_add(days))
    }
}

impl Session {
    pub(crate) fn subtotal(&self) -> i64 {
        let amounts = self.lines.iter().map(Line::amount);
        amounts.fold(0, i64::saturating_add)
    }

    pub(crate) fn total(&self) -> i64 {
        if self.trial.is_some() {
            return 0;
        }
        self.subtotal().saturating_sub(self.discount).max(0)
    }
}

/// A product with the prices that can be switched to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tiers {
    pub(crate) product: String,
    pub(crate) prices: Vec<String>,
}

/// What the portal offers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Configuration {
    pub(crate) head: Head,
    pub(crate) updated: i64,
    pub(crate) active: bool,
    pub(crate) name: Option<String>,
    pub(crate) default_return_url: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) invoices: bool,
    pub(crate) payment_method: bool,
    pub(crate) cancel: bool,
    /// Whether a cancellation waits for the period's end.
    pub(crate) cancel_at_end: bool,
    pub(crate) switch: bool,
    pub(crate) allowed_updates: Vec<String>,
    pub(crate) proration: String,
    pub(crate) conditions: Vec<String>,
    pub(crate) tiers: Vec<Tiers>,
}

/// How long a visit to the portal lasts.
const VISIT_SECONDS: i64 = 3600;

/// A visit to the portal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PortalSession {
    pub(crate) head: Head,
    pub(crate) customer: String,
    pub(crate) configuration: String,
    pub(crate) return_url: Option<String>,
}

impl PortalSession {
    pub(crate) const fn closes_at(&self) -> i64 {
        self.head.created.saturating_add(VISIT_SECONDS)
    }
}
