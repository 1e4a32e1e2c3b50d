//! Subscriptions and their invoices.

use serde::{Deserialize, Serialize};

use super::{Head, Interval, Metadata};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// The first payment is on its way.
    Incomplete,
    /// It did not come.
    IncompleteExpired,
    Active,
    PastDue,
    Canceled,
}

impl Standing {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::IncompleteExpired => "incomplete_expired",
            Self::Active => "active",
            Self::PastDue => "past_due",
            Self::Canceled => "canceled",
        }
    }

    /// Whether it runs.
    pub(crate) const fn is_running(self) -> bool {
        matches!(self, Self::Active | Self::PastDue)
    }
}

/// How long a discount lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Until {
    Forever,
    /// In seconds.
    Time(i64),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TermDiscount {
    pub(crate) id: String,
    pub(crate) coupon: String,
    pub(crate) code: Option<String>,
    pub(crate) start: i64,
    pub(crate) until: Until,
}

/// A renewal that is not paid yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Retry {
    pub(crate) invoice: String,
    pub(crate) failed_at: i64,
    /// Retries made.
    pub(crate) made: u32,
    pub(crate) next_at: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Subscription {
    pub(crate) head: Head,
    pub(crate) item: String,
    pub(crate) customer: String,
    pub(crate) status: Standing,
    pub(crate) price: String,
    pub(crate) quantity: i64,
    pub(crate) interval: Interval,
    pub(crate) currency: String,
    /// From where cycles are counted.
    pub(crate) anchor: i64,
    /// Which cycle since then runs, from 1.
    pub(crate) cycle: i64,
    pub(crate) period_start: i64,
    pub(crate) period_end: i64,
    pub(crate) cancel_at_end: bool,
    pub(crate) canceled_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) why_ended: Option<String>,
    pub(crate) latest_invoice: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) discount: Option<TermDiscount>,
    /// The tier of the next cycle, where it is another one.
    pub(crate) scheduled: Option<String>,
    pub(crate) retry: Option<Retry>,
}

impl Subscription {
    /// When something happens to it by itself.
    pub(crate) fn next_step(&self) -> Option<i64> {
        match self.status {
            Standing::Active => Some(self.period_end),
            Standing::PastDue => self.retry.as_ref().map(|retry| retry.next_at),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InvoiceStatus {
    Open,
    Paid,
    Void,
    Uncollectible,
}

impl InvoiceStatus {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Void => "void",
            Self::Uncollectible => "uncollectible",
        }
    }
}

/// Why there is an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    Create,
    Cycle,
    Update,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InvoiceLine {
    pub(crate) id: String,
    pub(crate) description: String,
    pub(crate) amount: i64,
    pub(crate) quantity: i64,
    pub(crate) price: String,
    pub(crate) product: String,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) proration: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Invoice {
    pub(crate) head: Head,
    pub(crate) customer: String,
    pub(crate) email: Option<String>,
    pub(crate) subscription: String,
    pub(crate) item: String,
    pub(crate) status: InvoiceStatus,
    pub(crate) reason: Reason,
    pub(crate) currency: String,
    pub(crate) lines: Vec<InvoiceLine>,
    pub(crate) discount: i64,
    pub(crate) attempts: u32,
    pub(crate) next_attempt: Option<i64>,
    pub(crate) paid_at: Option<i64>,
    /// The subscription's when it was made.
    pub(crate) metadata: Metadata,
    pub(crate) intent: Option<String>,
}

impl Invoice {
    pub(crate) fn subtotal(&self) -> i64 {
        let amounts = self.lines.iter().map(|line| line.amount);
        amounts.fold(0, i64::saturating_add)
    }

    /// What is to be paid: never less than nothing.
    pub(crate) fn total(&self) -> i64 {
        self.subtotal().saturating_sub(self.discount).max(0)
    }

    pub(crate) fn paid(&self) -> i64 {
        if self.status == InvoiceStatus::Paid {
            self.total()
        } else {
            0
        }
    }
}

/// What pays an invoice.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InvoicePayment {
    pub(crate) head: Head,
    pub(crate) invoice: String,
    pub(crate) intent: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) paid_at: Option<i64>,
}
