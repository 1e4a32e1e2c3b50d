//! A subscription: the tier in force and how far it is paid. Nothing here changes anything.
//!
//! The tier in force follows from the known reports of the cycle, in any order: the highest tier that was paid for in
//! it, or a higher one of the same interval that the provider names. So an upgrade is in force at once, a downgrade
//! from the next cycle on. A tier whose payment was refunded or disputed is not in force, even while the provider still
//! names it.

use super::dispute::Currency;
use serde::{Deserialize, Serialize};

use crate::{
    id::{OrderSerial, PriceId, ProductId},
    terms::Terms,
    text::{CustomerId, Feature, PageUrl, SubscriptionId},
    time::Timestamp,
};

/// The status of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// No payment is missing.
    Active,
    /// A cycle's payment failed; the provider tries again.
    PastDue,
    /// Paused: it unlocks nothing and brings nothing.
    Paused,
    /// Over, for good.
    Canceled,
}

/// A higher tier that was paid for within a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierSwitch {
    /// The order that paid it.
    pub order: OrderSerial,
    /// The tier that it switched to.
    pub terms: Terms,
    /// When the paid time of the tier begins.
    pub at: Timestamp,
    /// Whether all of that payment was refunded or disputed.
    pub reversed: bool,
}

/// The most remembered switches of one cycle, each of them paid; with more, the oldest are forgotten.
pub const MAX_STEPS: usize = 32;

/// A paid switch: the credits between two tiers, for a part of the cycle. A downgrade is kept if an invoice subtracted
/// it from other lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The order that paid it.
    pub order: OrderSerial,
    /// The product whose credits these are.
    pub product: ProductId,
    /// Credits a cycle before the switch.
    pub from: i64,
    /// Credits a cycle after the switch.
    pub to: i64,
    /// When the switch was made.
    pub at: Timestamp,
    /// When the next switch of the same payment ended it; never if it lasts until the cycle ends.
    pub until: Timestamp,
    /// Whether all of the payment was refunded or disputed.
    pub reversed: bool,
}

/// An unpaid invoice that the buyer can still pay: a card was declined, or its bank asks the buyer to confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenInvoice {
    /// What is left to pay, in the currency's minor unit.
    pub amount_cents: i64,
    /// The currency of that amount.
    pub currency: Currency,
    /// The provider's page on which the buyer pays it.
    pub url: PageUrl,
    /// When the provider retries; `None` if it does not.
    pub next_attempt_at: Option<Timestamp>,
}

/// One subscription of a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Subscription {
    pub id: SubscriptionId,
    /// The provider's name for who pays it.
    pub customer: Option<CustomerId>,
    /// The tier that the cycle began with.
    pub paid_tier: Terms,
    /// The highest tier that it was switched to since.
    pub tier_switch: Option<Box<TierSwitch>>,
    /// The tier that the provider last reported since the cycle was billed.
    pub reported_tier: Option<Box<Terms>>,
    pub status: SubscriptionStatus,
    /// The invoice that the buyer can pay while a payment is missing.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether collecting payments is paused; it keeps its features.
    pub collection_paused: bool,
    pub cycle_start: Timestamp,
    pub cycle_end: Timestamp,
    /// When the current period ends by the provider's report; it may be a cycle ahead of the paid one.
    pub current_period_end: Timestamp,
    /// Whether the subscription ends with that period.
    pub cancel_at_period_end: bool,
    /// Since when a payment is missing.
    pub past_due_since: Option<Timestamp>,
    /// Until when it keeps its features although a payment is missing.
    pub grace_ends_at: Option<Timestamp>,
    /// The order that paid the cycle; `None` if only a switch was reported, or nothing was ever paid.
    pub order: Option<OrderSerial>,
    /// Whether all of that order's payment was refunded or disputed; this ends the cycle's features.
    pub reversed: bool,
    /// The cycle's paid switches, kept so that switching back and forth earns nothing.
    pub steps: Vec<Step>,
    /// When the provider made the last report; older ones are ignored.
    pub reported_at: Timestamp,
    pub cycles_ended: u32,
    /// When the last of them ended: credits returned to an order of an ended cycle expire then.
    pub cycle_ended_at: Option<Timestamp>,
}

/// A subscription that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionOver {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// The last tier; `None`: it ended before its first payment was reported.
    pub last: Option<LastTier>,
}

/// What remains of a subscription that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastTier {
    /// The product that was subscribed to.
    pub product: ProductId,
    /// The tier that was in force.
    pub price: PriceId,
    /// The tier's name.
    pub label: Option<Box<str>>,
    /// When the last period ended, or would have.
    pub current_period_end: Timestamp,
}

/// How high a tier ranks: by its price, then by its credits.
pub(in crate::wallet) const fn rank(terms: &Terms) -> (i64, i64) {
    (terms.amount_cents, terms.credits)
}

impl Subscription {
    /// Whether the wallet still has it: all but canceled ones.
    pub fn is_current(&self) -> bool {
        match self.status {
            SubscriptionStatus::Active
            | SubscriptionStatus::PastDue
            | SubscriptionStatus::Paused => true,
            SubscriptionStatus::Canceled => false,
        }
    }

    /// Whether it continues after its period.
    pub fn goes_on(&self) -> bool {
        self.is_current() && !self.cancel_at_period_end
    }

    /// The tier in force.
    pub fn tier(&self) -> &Terms {
        let paid = self.tier_switch.as_deref().filter(|it| !it.reversed);
        let paid = paid
            .map(|switched| &switched.terms)
            .filter(|terms| rank(terms) >= rank(&self.paid_tier))
            .unwrap_or(&self.paid_tier);
        let reversed = self.tier_switch.as_deref().filter(|it| it.reversed);
        let reversed = reversed.map(|switched| switched.terms.price);
        // While a payment is missing, a tier that was only reported is not in force.
        let reported = self.reported_tier.as_deref();
        reported
            .filter(|_| self.status == SubscriptionStatus::Active)
            .filter(|terms| reversed != Some(terms.price))
            .filter(|terms| terms.interval == paid.interval && rank(terms) >= rank(paid))
            .unwrap_or(paid)
    }

    /// Whether any payment was reported. A subscription without one unlocks nothing; it only keeps the buyer from
    /// starting a second one.
    pub const fn is_paid(&self) -> bool {
        self.order.is_some() || !self.steps.is_empty()
    }

    pub(in crate::wallet) fn last_tier(&self) -> LastTier {
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
        let is_in_force = self.is_in_force(now);
        self.tier().features.iter().filter(move |_| is_in_force)
    }

    /// Whether its tier brings features and limits at this instant.
    pub(crate) fn is_in_force(&self, now: Timestamp) -> bool {
        let unlocks = match self.status {
            SubscriptionStatus::Active => true,
            SubscriptionStatus::PastDue => self.grace_ends_at.is_some_and(|end| now < end),
            SubscriptionStatus::Paused | SubscriptionStatus::Canceled => false,
        };
        unlocks && self.is_paid() && !self.reversed
    }
}
