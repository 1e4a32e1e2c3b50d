//! Subscriptions and their invoices.

use serde::{Deserialize, Serialize};

use super::{Head, Interval, Metadata, is_default};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// The first payment is on its way.
    Incomplete,
    /// It did not come.
    IncompleteExpired,
    Trialing,
    Active,
    PastDue,
    /// Its trial ended without a way to pay: nothing is billed until it is resumed.
    Paused,
    Canceled,
}

impl Standing {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::IncompleteExpired => "incomplete_expired",
            Self::Trialing => "trialing",
            Self::Active => "active",
            Self::PastDue => "past_due",
            Self::Paused => "paused",
            Self::Canceled => "canceled",
        }
    }

    /// Whether it runs.
    pub(crate) const fn is_running(self) -> bool {
        matches!(
            self,
            Self::Trialing | Self::Active | Self::PastDue | Self::Paused
        )
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

/// What becomes of invoices while nothing is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Meanwhile {
    KeepAsDraft,
    MarkUncollectible,
    Void,
}

impl Meanwhile {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::KeepAsDraft => "keep_as_draft",
            Self::MarkUncollectible => "mark_uncollectible",
            Self::Void => "void",
        }
    }
}

/// The shop collects nothing for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub(crate) behavior: Meanwhile,
    pub(crate) resumes_at: Option<i64>,
}

/// What happens when a trial ends and there is no card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cardless {
    #[default]
    CreateInvoice,
    Cancel,
    Pause,
}

impl Cardless {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::CreateInvoice => "create_invoice",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
        }
    }
}

/// Time that costs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) cardless: Cardless,
    /// Whether it was told that it will end soon.
    pub(crate) announced: bool,
}

/// A trial's end is announced so long before.
const ANNOUNCED_SECONDS: i64 = 3 * 24 * 3600;

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
    /// The plan that changes tiers by itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) schedule: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) pause: Option<Pause>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) trial: Option<Trial>,
    /// Whether there is no card to charge.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) no_card: bool,
    /// Prorations that wait for the next invoice.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) waiting: Vec<InvoiceLine>,
}

impl Subscription {
    /// When something happens to it by itself.
    pub(crate) fn next_step(&self) -> Option<i64> {
        let resumes = self.pause.as_ref().and_then(|pause| pause.resumes_at);
        let next = match self.status {
            Standing::Active => Some(self.period_end),
            Standing::Trialing => Some(self.announces_at().unwrap_or(self.period_end)),
            Standing::PastDue => self.retry.as_ref().map(|retry| retry.next_at),
            _ => None,
        };
        match resumes.filter(|_| self.status.is_running()) {
            Some(resumes) => Some(next.map_or(resumes, |next| next.min(resumes))),
            None => next,
        }
    }

    /// When it is to be told that the trial ends soon, if it was not yet.
    pub(crate) fn announces_at(&self) -> Option<i64> {
        let trial = self.trial.as_ref().filter(|trial| !trial.announced)?;
        let at = trial.end.saturating_sub(ANNOUNCED_SECONDS);
        Some(at.max(trial.start))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScheduleStatus {
    Active,
    Released,
    Canceled,
}

impl ScheduleStatus {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Released => "released",
            Self::Canceled => "canceled",
        }
    }
}

/// A stretch of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Phase {
    pub(crate) price: String,
    pub(crate) quantity: i64,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// A plan for a subscription: the tier that runs, and what comes after it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Schedule {
    pub(crate) head: Head,
    pub(crate) subscription: String,
    pub(crate) customer: String,
    pub(crate) currency: String,
    pub(crate) status: ScheduleStatus,
    pub(crate) phases: Vec<Phase>,
    /// When it was let go or called off.
    pub(crate) ended_at: Option<i64>,
    pub(crate) metadata: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InvoiceStatus {
    /// It may still change, and nobody pays it.
    Draft,
    Open,
    Paid,
    Void,
    Uncollectible,
}

impl InvoiceStatus {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Draft => "draft",
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
    /// Of something that was bought once.
    Manual,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Where it is a draft: when it stops being one by itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) finalizes_at: Option<i64>,
    /// Where it was one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) finalized_at: Option<i64>,
    /// Of the customer's money from before: below zero is theirs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) balance: i64,
    /// When it was given up, as void or uncollectible.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) ended_at: Option<i64>,
}

impl Invoice {
    pub(crate) fn subtotal(&self) -> i64 {
        let amounts = self.lines.iter().map(|line| line.amount);
        amounts.fold(0, i64::saturating_add)
    }

    /// What it comes to: below zero where more is given back than asked for.
    pub(crate) fn total(&self) -> i64 {
        self.subtotal().saturating_sub(self.discount)
    }

    /// What is to be paid: never less than nothing.
    pub(crate) fn due_amount(&self) -> i64 {
        self.total().saturating_add(self.balance).max(0)
    }

    /// What of the customer's money is left after it, below zero.
    pub(crate) fn balance_after(&self) -> i64 {
        self.total().saturating_add(self.balance).min(0)
    }

    pub(crate) fn paid(&self) -> i64 {
        if self.status == InvoiceStatus::Paid {
            self.due_amount()
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
