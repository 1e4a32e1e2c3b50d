//! Subscriptions.

use domain::{
    Timestamp,
    id::{OrderSerial, ProductId},
    text::{CustomerId, PageUrl, SubscriptionId},
    wallet,
};
use serde::{Deserialize, Serialize};

use super::{
    kind::SubscriptionStatus,
    order::Terms,
    read::{broken, instant, millis, serial, some_text, text},
};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Subscription<'a> {
    id: &'a str,
    customer: Option<&'a str>,
    #[serde(borrow)]
    paid: Terms<'a>,
    switched: Option<Switched<'a>>,
    said: Option<Terms<'a>>,
    status: SubscriptionStatus,
    open_invoice: Option<OpenInvoice<'a>>,
    collection_paused: bool,
    cycle_start: i64,
    cycle_end: i64,
    current_period_end: i64,
    cancel_at_period_end: bool,
    past_due_since: Option<i64>,
    grace_ends_at: Option<i64>,
    order: Option<u128>,
    reversed: bool,
    steps: Vec<Step>,
    reported_at: i64,
    cycles_ended: u32,
    cycle_ended_at: Option<i64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct OpenInvoice<'a> {
    amount_cents: i64,
    currency: [u8; 3],
    url: &'a str,
    next_attempt_at: Option<i64>,
}

impl<'a> From<&'a wallet::OpenInvoice> for OpenInvoice<'a> {
    fn from(from: &'a wallet::OpenInvoice) -> Self {
        Self {
            amount_cents: from.amount_cents,
            currency: from.currency.bytes(),
            url: from.url.as_str(),
            next_attempt_at: millis(from.next_attempt_at),
        }
    }
}

impl OpenInvoice<'_> {
    pub(super) fn read(self) -> Result<Box<wallet::OpenInvoice>, Error> {
        Ok(Box::new(wallet::OpenInvoice {
            amount_cents: self.amount_cents,
            currency: wallet::Currency::from_bytes(self.currency)
                .ok_or_else(|| broken("a bill's currency is no three letters"))?,
            url: text(self.url, PageUrl::new)?,
            next_attempt_at: instant(self.next_attempt_at),
        }))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Switched<'a> {
    order: u128,
    #[serde(borrow)]
    terms: Terms<'a>,
    at: i64,
    reversed: bool,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Step {
    order: u128,
    product: u128,
    from: i64,
    to: i64,
    at: i64,
    reversed: bool,
}

impl<'a> From<&'a wallet::Subscription> for Subscription<'a> {
    fn from(from: &'a wallet::Subscription) -> Self {
        let wallet::Subscription {
            id,
            customer,
            paid,
            switched,
            said,
            status,
            open_invoice,
            collection_paused,
            cycle_start,
            cycle_end,
            current_period_end,
            cancel_at_period_end,
            past_due_since,
            grace_ends_at,
            order,
            reversed,
            steps,
            reported_at,
            cycles_ended,
            cycle_ended_at,
        } = from;
        Self {
            id: id.as_str(),
            customer: customer.as_ref().map(CustomerId::as_str),
            paid: paid.into(),
            switched: switched.as_deref().map(Switched::from),
            said: said.as_deref().map(Terms::from),
            status: (*status).into(),
            open_invoice: open_invoice.as_deref().map(OpenInvoice::from),
            collection_paused: *collection_paused,
            cycle_start: cycle_start.0,
            cycle_end: cycle_end.0,
            current_period_end: current_period_end.0,
            cancel_at_period_end: *cancel_at_period_end,
            past_due_since: millis(*past_due_since),
            grace_ends_at: millis(*grace_ends_at),
            order: order.map(|OrderSerial(order)| order),
            reversed: *reversed,
            steps: steps.iter().map(Step::from).collect(),
            reported_at: reported_at.0,
            cycles_ended: *cycles_ended,
            cycle_ended_at: millis(*cycle_ended_at),
        }
    }
}

impl TryFrom<Subscription<'_>> for wallet::Subscription {
    type Error = Error;

    fn try_from(from: Subscription<'_>) -> Result<Self, Error> {
        let switched = from.switched.map(wallet::Switched::try_from);
        let said = from.said.map(domain::terms::Terms::try_from);
        Ok(Self {
            id: text(from.id, SubscriptionId::new)?,
            customer: some_text(from.customer, CustomerId::new)?,
            paid: from.paid.try_into()?,
            switched: switched.transpose()?.map(Box::new),
            said: said.transpose()?.map(Box::new),
            status: from.status.into(),
            open_invoice: from.open_invoice.map(OpenInvoice::read).transpose()?,
            collection_paused: from.collection_paused,
            cycle_start: Timestamp(from.cycle_start),
            cycle_end: Timestamp(from.cycle_end),
            current_period_end: Timestamp(from.current_period_end),
            cancel_at_period_end: from.cancel_at_period_end,
            past_due_since: instant(from.past_due_since),
            grace_ends_at: instant(from.grace_ends_at),
            order: serial(from.order),
            reversed: from.reversed,
            steps: from.steps.into_iter().map(wallet::Step::from).collect(),
            reported_at: Timestamp(from.reported_at),
            cycles_ended: from.cycles_ended,
            cycle_ended_at: instant(from.cycle_ended_at),
        })
    }
}

impl<'a> From<&'a wallet::Switched> for Switched<'a> {
    fn from(from: &'a wallet::Switched) -> Self {
        let wallet::Switched {
            order,
            terms,
            at,
            reversed,
        } = from;
        Self {
            order: order.0,
            terms: terms.into(),
            at: at.0,
            reversed: *reversed,
        }
    }
}

impl TryFrom<Switched<'_>> for wallet::Switched {
    type Error = Error;

    fn try_from(from: Switched<'_>) -> Result<Self, Error> {
        Ok(Self {
            order: OrderSerial(from.order),
            terms: from.terms.try_into()?,
            at: Timestamp(from.at),
            reversed: from.reversed,
        })
    }
}

impl From<&wallet::Step> for Step {
    fn from(from: &wallet::Step) -> Self {
        let wallet::Step {
            order,
            product,
            from,
            to,
            at,
            reversed,
        } = from;
        Self {
            order: order.0,
            product: product.0,
            from: *from,
            to: *to,
            at: at.0,
            reversed: *reversed,
        }
    }
}

impl From<Step> for wallet::Step {
    fn from(from: Step) -> Self {
        Self {
            order: OrderSerial(from.order),
            product: ProductId(from.product),
            from: from.from,
            to: from.to,
            at: Timestamp(from.at),
            reversed: from.reversed,
        }
    }
}
