//! Subscriptions.

use domain::{
    Timestamp,
    id::{OrderSerial, ProductId},
    text::SubscriptionId,
    wallet,
};
use serde::{Deserialize, Serialize};

use super::{
    kind::SubscriptionStatus,
    order::Terms,
    read::{instant, millis, text},
};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Subscription<'a> {
    id: &'a str,
    #[serde(borrow)]
    terms: Terms<'a>,
    status: SubscriptionStatus,
    current_period_end: i64,
    cancel_at_period_end: bool,
    past_due_since: Option<i64>,
    grace_ends_at: Option<i64>,
    order: u128,
    reversed: bool,
    /// Product and credits.
    granted: Vec<(u128, i64)>,
    reported_at: i64,
    cycles_ended: u32,
    cycle_ended_at: Option<i64>,
}

impl<'a> From<&'a wallet::Subscription> for Subscription<'a> {
    fn from(from: &'a wallet::Subscription) -> Self {
        let wallet::Subscription {
            id,
            terms,
            status,
            current_period_end,
            cancel_at_period_end,
            past_due_since,
            grace_ends_at,
            order,
            reversed,
            granted,
            reported_at,
            cycles_ended,
            cycle_ended_at,
        } = from;
        let granted = granted
            .iter()
            .map(|(product, credits)| (product.0, *credits));
        Self {
            id: id.as_str(),
            terms: terms.into(),
            status: (*status).into(),
            current_period_end: current_period_end.0,
            cancel_at_period_end: *cancel_at_period_end,
            past_due_since: millis(*past_due_since),
            grace_ends_at: millis(*grace_ends_at),
            order: order.0,
            reversed: *reversed,
            granted: granted.collect(),
            reported_at: reported_at.0,
            cycles_ended: *cycles_ended,
            cycle_ended_at: millis(*cycle_ended_at),
        }
    }
}

impl TryFrom<Subscription<'_>> for wallet::Subscription {
    type Error = Error;

    fn try_from(from: Subscription<'_>) -> Result<Self, Error> {
        let granted = from.granted.into_iter();
        Ok(Self {
            id: text(from.id, SubscriptionId::new)?,
            terms: from.terms.try_into()?,
            status: from.status.into(),
            current_period_end: Timestamp(from.current_period_end),
            cancel_at_period_end: from.cancel_at_period_end,
            past_due_since: instant(from.past_due_since),
            grace_ends_at: instant(from.grace_ends_at),
            order: OrderSerial(from.order),
            reversed: from.reversed,
            granted: granted
                .map(|(product, credits)| (ProductId(product), credits))
                .collect(),
            reported_at: Timestamp(from.reported_at),
            cycles_ended: from.cycles_ended,
            cycle_ended_at: instant(from.cycle_ended_at),
        })
    }
}
