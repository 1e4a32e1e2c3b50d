//! A subscription: the tier in force and how far it is paid. Nothing here changes anything.
//!
//! Which tier is in force follows from what is known of the cycle, in whatever order it was heard: the
//! highest one that was paid for in it, or a higher one of the same interval that the provider names. So
//! a switch up is in force at once, and one down with the next cycle. One whose payment went back is not
//! in force, also while the provider goes on naming it.

use serde::{Deserialize, Serialize};

use super::{dispute::Currency, switch::Step};
use crate::{
    id::{OrderSerial, PriceId, ProductId},
    terms::Terms,
    text::{CustomerId, Feature, PageUrl, SubscriptionId},
    time::Timestamp,
};

/// How a subscription stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// Paid up.
    Active,
    /// A cycle's payment failed; the provider tries again.
    PastDue,
    /// Not billed for the time being: it unlocks nothing and brings nothing.
    Paused,
    /// Over, for good.
    Canceled,
}

/// A higher tier that was paid for within a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    /// The order that paid it.
    pub order: OrderSerial,
    /// The tier.
    pub terms: Terms,
    /// Since when.
    pub at: Timestamp,
    /// Whether all of that payment went back.
    pub reversed: bool,
}

/// A bill that was not paid and still may be: a card was declined, or its bank asks the buyer to confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenInvoice {
    /// What is left to pay, in the currency's minor unit.
    pub amount_cents: i64,
    /// Which that is.
    pub currency: Currency,
    /// The provider's page on which the buyer pays it.
    pub url: PageUrl,
    /// When the provider tries again by itself; `None`: it does not.
    pub next_attempt_at: Option<Timestamp>,
}

/// One subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// The provider's name for who pays it.
    pub customer: Option<CustomerId>,
    /// The tier that the cycle began with.
    pub paid: Terms,
    /// The highest one that it was switched to since.
    pub switched: Option<Box<Switched>>,
    /// The one that the provider named last, if anything was said since the cycle was billed.
    pub said: Option<Box<Terms>>,
    /// How it stands.
    pub status: SubscriptionStatus,
    /// The bill that waits for the buyer while a payment is missing.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether nothing is collected for it for the time being: it keeps its features.
    pub collection_paused: bool,
    /// When the paid cycle began.
    pub cycle_start: Timestamp,
    /// When it ends.
    pub cycle_end: Timestamp,
    /// The same as the provider says it, which may be a cycle ahead of what was paid.
    pub current_period_end: Timestamp,
    /// Whether it ends with that cycle.
    pub cancel_at_period_end: bool,
    /// Since when a payment is missing.
    pub past_due_since: Option<Timestamp>,
    /// Until when it keeps its features in spite of that.
    pub grace_ends_at: Option<Timestamp>,
    /// The order that paid the cycle; `None`: only of a switch within it has been heard, or nothing was
    /// ever paid.
    pub order: Option<OrderSerial>,
    /// Whether all of that order's payment went back, which ends the cycle's features.
    pub reversed: bool,
    /// Switches that were paid within the cycle: switching to and fro earns nothing.
    pub steps: Vec<Step>,
    /// When the provider said the last of this; older reports are old news.
    pub reported_at: Timestamp,
    /// Paid cycles that ended so far, and when the last of them did. What is given back to an order
    /// of a cycle that is over is no younger than that.
    pub cycles_ended: u32,
    /// See there.
    pub cycle_ended_at: Option<Timestamp>,
}

/// A subscription that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionOver {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// What was in force; `None`: it ended before its first payment was heard of.
    pub last: Option<LastTier>,
}

/// What of a subscription that is over can still be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastTier {
    /// To which product.
    pub product: ProductId,
    /// The tier that was in force.
    pub price: PriceId,
    /// The tier's name.
    pub label: Option<Box<str>>,
    /// When the last period ended, or would have.
    pub current_period_end: Timestamp,
}

/// How high a tier is: what it costs, and of those that cost the same, what it brings.
pub(super) const fn rank(terms: &Terms) -> (i64, i64) {
    (terms.amount_cents, terms.credits)
}

impl Subscription {
    /// Whether the wallet still has it: all but canceled ones.
    #[must_use]
    pub fn is_current(&self) -> bool {
        match self.status {
            SubscriptionStatus::Active
            | SubscriptionStatus::PastDue
            | SubscriptionStatus::Paused => true,
            SubscriptionStatus::Canceled => false,
        }
    }

    /// The tier in force.
    #[must_use]
    pub fn tier(&self) -> &Terms {
        let paid = self.switched.as_deref().filter(|it| !it.reversed);
        let paid = paid
            .map(|switched| &switched.terms)
            .filter(|terms| rank(terms) >= rank(&self.paid))
            .unwrap_or(&self.paid);
        let went_back = self.switched.as_deref().filter(|it| it.reversed);
        let went_back = went_back.map(|switched| switched.terms.price);
        // What is not paid up to now is not paid higher either.
        let said = self.said.as_deref();
        said.filter(|_| self.status == SubscriptionStatus::Active)
            .filter(|terms| went_back != Some(terms.price))
            .filter(|terms| terms.interval == paid.interval && rank(terms) >= rank(paid))
            .unwrap_or(paid)
    }

    /// Whether any payment was heard of. One that the provider began before the money came, and did not
    /// come, unlocks nothing and is in nobody's way but a second one's.
    #[must_use]
    pub const fn is_paid(&self) -> bool {
        self.order.is_some() || !self.steps.is_empty()
    }

    /// What is kept of it when it is over.
    pub(super) fn last_tier(&self) -> LastTier {
        let tier = self.tier();
        LastTier {
            product: tier.product,
            price: tier.price,
            label: tier.label.clone(),
            current_period_end: self.current_period_end,
        }
    }

    /// The features that it unlocks at this instant.
    pub fn features(&self, now: Timestamp) -> impl Iterator<Item = &Feature> {
        let unlocks = match self.status {
            SubscriptionStatus::Active => true,
            SubscriptionStatus::PastDue => self.grace_ends_at.is_some_and(|end| now < end),
            SubscriptionStatus::Paused | SubscriptionStatus::Canceled => false,
        };
        let unlocks = unlocks && self.is_paid() && !self.reversed;
        self.tier().features.iter().filter(move |_| unlocks)
    }
}
