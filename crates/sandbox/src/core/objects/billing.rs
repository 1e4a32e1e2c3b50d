//! Subscriptions, their items, trials, pauses and retries.

use serde::{Deserialize, Serialize};

use crate::core::prelude::*;

words! {
    SubscriptionStatus {
        /// The first payment is pending.
        Incomplete,
        /// The first payment failed.
        IncompleteExpired,
        Trialing,
        Active,
        PastDue,
        /// A renewal was not paid and is no longer retried; further invoices stay drafts.
        Unpaid,
        /// Its trial ended without a way to pay: nothing is billed until it is resumed.
        Paused,
        Canceled,
    }
}

impl SubscriptionStatus {
    /// Whether it has begun and has not ended.
    pub(crate) const fn is_running(self) -> bool {
        matches!(
            self,
            Self::Trialing | Self::Active | Self::PastDue | Self::Unpaid | Self::Paused
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiscountEnd {
    Forever,
    /// Until an instant, in seconds.
    Time(i64),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecurringDiscount {
    pub(crate) id: String,
    pub(crate) coupon: String,
    pub(crate) code: Option<String>,
    pub(crate) start: i64,
    pub(crate) until: DiscountEnd,
}

/// A renewal that is not paid yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Retry {
    pub(crate) invoice: String,
    pub(crate) failed_at: i64,
    pub(crate) made: u32,
    pub(crate) next_at: i64,
}

words! {
    /// What happens to invoices while collection is paused.
    PauseBehavior { KeepAsDraft, MarkUncollectible, Void }
    WithoutCard { Cancel, CreateInvoice, Pause }
}

/// A pause of collection by the shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub(crate) behavior: PauseBehavior,
    pub(crate) resumes_at: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) cardless: WithoutCard,
    /// Whether the event that it will end soon was sent.
    pub(crate) announced: bool,
}

/// How long before its end a trial's end is announced.
const ANNOUNCED_SECONDS: i64 = 3 * 24 * 3600;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) created: i64,
    pub(crate) price: String,
    pub(crate) quantity: i64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Subscription {
    #[serde(flatten)]
    pub(crate) head: Head,
    /// The item that the portal switches.
    pub(crate) item: Item,
    /// Further items, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) addons: Vec<Item>,
    pub(crate) customer: String,
    pub(crate) status: SubscriptionStatus,
    pub(crate) interval: Interval,
    pub(crate) currency: String,
    /// The instant that cycles are counted from, in seconds.
    #[serde(rename = "billing_cycle_anchor")]
    pub(crate) anchor: i64,
    /// Number of the current cycle since then, from 1.
    pub(crate) cycle: i64,
    pub(crate) period_start: i64,
    pub(crate) period_end: i64,
    #[serde(rename = "cancel_at_period_end")]
    pub(crate) cancel_at_end: bool,
    pub(crate) canceled_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) why_ended: Option<String>,
    pub(crate) latest_invoice: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) discount: Option<RecurringDiscount>,
    /// The price of the next cycle, if it differs.
    pub(crate) scheduled: Option<String>,
    pub(crate) retry: Option<Retry>,
    /// The schedule that changes its price by itself.
    pub(crate) schedule: Option<String>,
    #[serde(rename = "pause_collection")]
    pub(crate) pause: Option<Pause>,
    pub(crate) trial: Option<Trial>,
    /// Whether there is no card to charge.
    pub(crate) no_card: bool,
    /// Whether it stays unpaid after all retries failed.
    #[serde(default)]
    pub(crate) stays_unpaid: bool,
}

impl Subscription {
    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &Item> {
        std::iter::once(&self.item).chain(&self.addons)
    }

    /// Replaces its items; an empty list changes nothing.
    pub(crate) fn set_items(&mut self, items: Vec<Item>) {
        let mut items = items.into_iter();
        if let Some(first) = items.next() {
            self.item = first;
            self.addons = items.collect();
        }
    }

    /// Begins the first cycle at an instant, from which cycles are counted.
    pub(crate) fn begin(&mut self, now: i64) {
        self.anchor = now;
        self.cycle = 1;
        self.period_start = now;
        self.period_end = after(now, self.interval, 1);
    }

    pub(crate) fn advance(&mut self) {
        self.cycle += 1;
        self.period_start = self.period_end;
        self.period_end = after(self.anchor, self.interval, self.cycle);
    }

    /// The refusal of an action that its status does not allow.
    pub(crate) fn refusal(&self) -> Refusal {
        Refusal::invalid(format!("This subscription is {}.", self.status.word()))
    }

    /// When to announce the trial's end, in seconds, unless done.
    pub(crate) fn announces_at(&self) -> Option<i64> {
        let trial = self.trial.as_ref().filter(|trial| !trial.announced)?;
        let at = trial.end.saturating_sub(ANNOUNCED_SECONDS);
        Some(at.max(trial.start))
    }
}

impl Object for Subscription {
    fn due(&self) -> Option<i64> {
        let resumes = self.pause.as_ref().and_then(|pause| pause.resumes_at);
        let next = match self.status {
            SubscriptionStatus::Active | SubscriptionStatus::Unpaid => Some(self.period_end),
            SubscriptionStatus::Trialing => Some(self.announces_at().unwrap_or(self.period_end)),
            SubscriptionStatus::PastDue => self.retry.as_ref().map(|retry| retry.next_at),
            _ => None,
        };
        let resumes = resumes.filter(|_| self.status.is_running());
        next.into_iter().chain(resumes).min()
    }

    fn shown(&self, db: &Database) -> Value {
        let id = &self.head.id;
        let item = |item: &Item| {
            let price = db.get::<Price>(&item.price);
            json!({
                "id": item.id, "object": "subscription_item", "created": item.created,
                "current_period_end": self.period_end, "current_period_start": self.period_start,
                "price": price.map(|price| price.view(db)), "quantity": item.quantity,
                "subscription": id,
            })
        };
        let items = self.items().rev().map(item).collect();
        let url = format!("/v1/subscription_items?subscription={id}");
        let trial = self.trial.as_ref();
        json!({
            "billing_mode": { "updated_at": self.head.created },
            "cancel_at": self.cancel_at_end.then_some(self.period_end),
            "cancellation_details": { "reason": self.why_ended },
            "discounts": self.discount.iter().map(|discount| &discount.id).collect::<Vec<_>>(),
            "items": shape::list(items, &url),
            "quantity": self.addons.is_empty().then_some(self.item.quantity),
            "start_date": self.head.created,
            "trial_end": trial.map(|trial| trial.end),
            "trial_settings": trial.map(|trial| json!({
                "end_behavior": { "missing_payment_method": trial.cardless.word() },
            })),
            "trial_start": trial.map(|trial| trial.start),
        })
    }
}
