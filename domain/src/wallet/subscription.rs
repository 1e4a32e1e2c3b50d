//! A subscription: the tier in force and how far it is paid. Nothing here changes anything.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    id::{OrderSerial, ProductId},
    terms::Terms,
    text::{Feature, SubscriptionId},
    time::Timestamp,
};

/// How a subscription stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// Paid up.
    Active,
    /// A cycle's payment failed; the provider tries again.
    PastDue,
    /// Over, for good.
    Canceled,
}

/// One subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// The tier in force.
    pub terms: Terms,
    /// How it stands.
    pub status: SubscriptionStatus,
    /// When the paid cycle ends.
    pub current_period_end: Timestamp,
    /// Whether it ends with that cycle.
    pub cancel_at_period_end: bool,
    /// Since when a payment is missing.
    pub past_due_since: Option<Timestamp>,
    /// Until when it keeps its features in spite of that.
    pub grace_ends_at: Option<Timestamp>,
    /// The order that paid the cycle; credits for switching up name it.
    pub order: OrderSerial,
    /// Whether all of that order's payment went back, which ends the cycle's features.
    pub reversed: bool,
    /// Credits that this cycle granted, by product: switching to and fro earns nothing.
    pub granted: BTreeMap<ProductId, i64>,
    /// When the provider said the last of this; older reports are old news.
    pub reported_at: Timestamp,
    /// Paid cycles that ended so far, and when the last of them did. What is given back to an order
    /// of a cycle that is over is no younger than that.
    pub cycles_ended: u32,
    /// See there.
    pub cycle_ended_at: Option<Timestamp>,
}

impl Subscription {
    /// Whether the wallet still has it: active or past due.
    #[must_use]
    pub fn is_current(&self) -> bool {
        match self.status {
            SubscriptionStatus::Active | SubscriptionStatus::PastDue => true,
            SubscriptionStatus::Canceled => false,
        }
    }

    /// The features that it unlocks at this instant.
    pub fn features(&self, now: Timestamp) -> impl Iterator<Item = &Feature> {
        let unlocks = match self.status {
            SubscriptionStatus::Active => true,
            SubscriptionStatus::PastDue => self.grace_ends_at.is_some_and(|end| now < end),
            SubscriptionStatus::Canceled => false,
        };
        let unlocks = unlocks && !self.reversed;
        self.terms.features.iter().filter(move |_| unlocks)
    }

    /// Credits of the tier that this cycle has not granted.
    pub(super) fn lacking(&self) -> i64 {
        let granted = self.granted.get(&self.terms.fills).copied().unwrap_or(0);
        self.terms.credits.saturating_sub(granted).max(0)
    }
}
