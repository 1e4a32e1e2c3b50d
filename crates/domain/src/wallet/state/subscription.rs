//! A subscription: the tier in force and how far it is paid. Nothing here changes anything.
//!
//! The tier in force follows from what is known of the cycle, in whatever order it was reported: the highest tier that
//! was paid for in it, or a higher one of the same interval that the provider names. So an upgrade is in force at once,
//! a downgrade from the next cycle on. A tier whose payment was refunded or disputed is not in force, even while the
//! provider goes on naming it.

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
    /// Not billed at present: it unlocks nothing and brings nothing.
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

/// The most switches of one cycle that are remembered. Each one was paid for; with more, the oldest are forgotten.
pub const MAX_STEPS: usize = 32;

/// A paid switch: the credits between two tiers, for some of the cycle's time. A switch down is kept where an invoice took
/// what it gave back off what others cost.
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
    /// When another switch of the same payment ended it; else never, so that it lasts until the cycle ends.
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
    /// When the provider tries again by itself; `None`: it does not.
    pub next_attempt_at: Option<Timestamp>,
}

/// One subscription of a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// The provider's name for who pays it.
    pub customer: Option<CustomerId>,
    /// The tier that the cycle began with.
    pub paid_tier: Terms,
    /// The highest tier that it was switched to since.
    pub tier_switch: Option<Box<TierSwitch>>,
    /// The tier that the provider named last, if it reported one since the cycle was billed.
    pub reported_tier: Option<Box<Terms>>,
    /// The subscription's status.
    pub status: SubscriptionStatus,
    /// The invoice that the buyer can pay while a payment is missing.
    pub open_invoice: Option<Box<OpenInvoice>>,
    /// Whether payments for it are not collected at present; it keeps its features.
    pub collection_paused: bool,
    /// When the paid cycle began.
    pub cycle_start: Timestamp,
    /// When that cycle ends.
    pub cycle_end: Timestamp,
    /// When the current period ends by the provider's report, which may be a cycle ahead of what was paid.
    pub current_period_end: Timestamp,
    /// Whether the subscription ends with that period.
    pub cancel_at_period_end: bool,
    /// Since when a payment is missing.
    pub past_due_since: Option<Timestamp>,
    /// Until when it keeps its features although a payment is missing.
    pub grace_ends_at: Option<Timestamp>,
    /// The order that paid the cycle; `None`: only a switch within it was reported, or nothing was ever paid.
    pub order: Option<OrderSerial>,
    /// Whether all of that order's payment was refunded or disputed, which ends the cycle's features.
    pub reversed: bool,
    /// Switches that were paid within the cycle, kept so that switching back and forth earns nothing.
    pub steps: Vec<Step>,
    /// When the provider made the last report; older ones are ignored.
    pub reported_at: Timestamp,
    /// How many paid cycles have ended.
    pub cycles_ended: u32,
    /// When the last of them ended: credits that are given back to an order of an ended cycle expire then.
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

/// What is kept of a subscription that is over.
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
    #[must_use]
    pub fn is_current(&self) -> bool {
        match self.status {
            SubscriptionStatus::Active
            | SubscriptionStatus::PastDue
            | SubscriptionStatus::Paused => true,
            SubscriptionStatus::Canceled => false,
        }
    }

    /// Whether it does not end with its period.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.is_current() && !self.cancel_at_period_end
    }

    /// The tier in force.
    #[must_use]
    pub fn tier(&self) -> &Terms {
        let paid = self.tier_switch.as_deref().filter(|it| !it.reversed);
        let paid = paid
            .map(|switched| &switched.terms)
            .filter(|terms| rank(terms) >= rank(&self.paid_tier))
            .unwrap_or(&self.paid_tier);
        let reversed = self.tier_switch.as_deref().filter(|it| it.reversed);
        let reversed = reversed.map(|switched| switched.terms.price);
        // While a payment is missing, a tier that is only named is not in force.
        let reported = self.reported_tier.as_deref();
        reported
            .filter(|_| self.status == SubscriptionStatus::Active)
            .filter(|terms| reversed != Some(terms.price))
            .filter(|terms| terms.interval == paid.interval && rank(terms) >= rank(paid))
            .unwrap_or(paid)
    }

    /// Whether any payment was reported. A subscription that the provider began before its first
    /// payment, and that was never paid, unlocks nothing; it only keeps the buyer from buying a second one.
    #[must_use]
    pub const fn is_paid(&self) -> bool {
        self.order.is_some() || !self.steps.is_empty()
    }

    /// What is kept of it once it is over.
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
        let unlocks = match self.status {
            SubscriptionStatus::Active => true,
            SubscriptionStatus::PastDue => self.grace_ends_at.is_some_and(|end| now < end),
            SubscriptionStatus::Paused | SubscriptionStatus::Canceled => false,
        };
        let unlocks = unlocks && self.is_paid() && !self.reversed;
        self.tier().features.iter().filter(move |_| unlocks)
    }
}
