//! What happens to orders.

use domain::{
    Timestamp,
    id::{OrderSerial, ProjectId},
    text::{CheckoutId, CustomerId, Email, InvoiceId, PaymentId, SubscriptionId},
    wallet::event,
};
use serde::{Deserialize, Serialize};

use super::{
    kind::OrderKind,
    order::{Receipt, Terms},
    read::{self, Pairs, instant, millis, some_text},
};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OrderPlaced<'a> {
    order: u128,
    project: u128,
    kind: OrderKind,
    #[serde(borrow)]
    terms: Terms<'a>,
    quantity: u32,
    metadata: Pairs<'a>,
    checkout: Option<&'a str>,
    email: Option<&'a str>,
    expires_at: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OrderPaid<'a> {
    order: u128,
    project: u128,
    kind: OrderKind,
    expires_at: i64,
    amount_cents: i64,
    credits: i64,
    credits_expire_at: Option<i64>,
    payment: Option<&'a str>,
    invoice: Option<&'a str>,
    subscription: Option<&'a str>,
    customer: Option<&'a str>,
    email: Option<&'a str>,
    receipt: Receipt<'a>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct OrderClosed {
    order: u128,
    project: u128,
    expires_at: i64,
}

impl<'a> From<&'a event::OrderPlaced> for OrderPlaced<'a> {
    fn from(from: &'a event::OrderPlaced) -> Self {
        let event::OrderPlaced {
            order,
            project,
            kind,
            terms,
            quantity,
            metadata,
            checkout,
            email,
            expires_at,
        } = from;
        Self {
            order: order.0,
            project: project.0,
            kind: (*kind).into(),
            terms: terms.into(),
            quantity: quantity.get(),
            metadata: metadata.iter().collect(),
            checkout: checkout.as_ref().map(CheckoutId::as_str),
            email: email.as_ref().map(Email::as_str),
            expires_at: expires_at.0,
        }
    }
}

impl TryFrom<OrderPlaced<'_>> for event::OrderPlaced {
    type Error = Error;

    fn try_from(from: OrderPlaced<'_>) -> Result<Self, Error> {
        Ok(Self {
            order: OrderSerial(from.order),
            project: ProjectId(from.project),
            kind: from.kind.into(),
            terms: from.terms.try_into()?,
            quantity: read::quantity(from.quantity)?,
            metadata: read::metadata(from.metadata)?,
            checkout: some_text(from.checkout, CheckoutId::new)?,
            email: some_text(from.email, Email::new)?,
            expires_at: Timestamp(from.expires_at),
        })
    }
}

impl<'a> From<&'a event::OrderPaid> for OrderPaid<'a> {
    fn from(from: &'a event::OrderPaid) -> Self {
        let event::OrderPaid {
            order,
            project,
            kind,
            expires_at,
            amount_cents,
            credits,
            credits_expire_at,
            payment,
            invoice,
            subscription,
            customer,
            email,
            receipt,
        } = from;
        Self {
            order: order.0,
            project: project.0,
            kind: (*kind).into(),
            expires_at: expires_at.0,
            amount_cents: *amount_cents,
            credits: *credits,
            credits_expire_at: millis(*credits_expire_at),
            payment: payment.as_ref().map(PaymentId::as_str),
            invoice: invoice.as_ref().map(InvoiceId::as_str),
            subscription: subscription.as_ref().map(SubscriptionId::as_str),
            customer: customer.as_ref().map(CustomerId::as_str),
            email: email.as_ref().map(Email::as_str),
            receipt: receipt.into(),
        }
    }
}

impl TryFrom<OrderPaid<'_>> for event::OrderPaid {
    type Error = Error;

    fn try_from(from: OrderPaid<'_>) -> Result<Self, Error> {
        Ok(Self {
            order: OrderSerial(from.order),
            project: ProjectId(from.project),
            kind: from.kind.into(),
            expires_at: Timestamp(from.expires_at),
            amount_cents: from.amount_cents,
            credits: from.credits,
            credits_expire_at: instant(from.credits_expire_at),
            payment: some_text(from.payment, PaymentId::new)?,
            invoice: some_text(from.invoice, InvoiceId::new)?,
            subscription: some_text(from.subscription, SubscriptionId::new)?,
            customer: some_text(from.customer, CustomerId::new)?,
            email: some_text(from.email, Email::new)?,
            receipt: from.receipt.try_into()?,
        })
    }
}

impl From<event::OrderClosed> for OrderClosed {
    fn from(from: event::OrderClosed) -> Self {
        let event::OrderClosed {
            order,
            project,
            expires_at,
        } = from;
        Self {
            order: order.0,
            project: project.0,
            expires_at: expires_at.0,
        }
    }
}

impl From<OrderClosed> for event::OrderClosed {
    fn from(from: OrderClosed) -> Self {
        Self {
            order: OrderSerial(from.order),
            project: ProjectId(from.project),
            expires_at: Timestamp(from.expires_at),
        }
    }
}
