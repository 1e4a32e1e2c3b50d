//! Fulfilment: a payment was completed. What it buys becomes visible together, once, however often
//! and late the provider says so.

use std::collections::BTreeMap;

use super::{
    Archived, Change, Event, Owner, Subscription, Wallet,
    draft::Draft,
    event::{OrderPaid, SubscriptionChanged, SubscriptionNews},
    order::{OrderKind, OrderStatus, Stage},
    place_order::PlaceOrder,
    subscription::SubscriptionStatus,
};
use crate::{
    MAX_CREDITS, Rejection,
    id::{CodeHash, OrderSerial},
    terms::Terms,
    text::{CustomerId, Email, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
};

/// What the provider says about a completed payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// What was charged, after discounts; in the currency's minor unit.
    pub amount_cents: i64,
    /// The provider's payment; a payment of nothing has none.
    pub payment: Option<PaymentId>,
    /// The provider's name for the buyer.
    pub customer: Option<CustomerId>,
    /// The buyer's address.
    pub email: Option<Email>,
}

/// The subscription that a payment starts or renews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Billing {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The invoice that was paid.
    pub invoice: Option<InvoiceId>,
    /// When the paid cycle ends.
    pub current_period_end: Timestamp,
    /// When the provider reported this.
    pub reported_at: Timestamp,
}

/// A recovery code drawn for a wallet that nobody can address yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintedCode {
    /// How it will be found.
    pub hash: CodeHash,
    /// The code, encrypted under the server key.
    pub sealed: Box<[u8]>,
}

/// A completed checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pay {
    /// The order that it pays.
    pub order: OrderSerial,
    /// The order itself, as the provider carried it along, should it never have been placed here.
    pub placed: Option<PlaceOrder>,
    /// The payment.
    pub payment: Payment,
    /// The subscription that it starts.
    pub billing: Option<Billing>,
    /// Used if nobody can address the wallet yet.
    pub code: MintedCode,
}

impl Wallet {
    /// Decides what a completed payment of an order brings. Also a failed or expired order is
    /// fulfilled: completed payments are never discarded.
    pub fn pay(
        &self,
        command: Pay,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        let Pay {
            order,
            placed,
            payment,
            billing,
            code,
        } = command;
        let known = self.any_order(order, archived);
        if known.is_some_and(|known| known.stage == Stage::Paid) {
            return Ok(Vec::new());
        }
        let subscription = billing.as_ref().map(|billing| &billing.subscription);
        let mut draft = Draft::on(self, Some(order), subscription, archived, now);
        match known {
            Some(_) => {}
            None => {
                let placed = placed.filter(|placed| placed.order == order);
                let placed = placed.ok_or(Rejection::OrderNotFound)?;
                draft.place(OrderKind::Checkout, placed);
            }
        }
        draft.fulfil(order, payment, billing.as_ref());
        if self.owner == Owner::Order {
            let MintedCode { hash, sealed } = code;
            let former = None;
            draft.push(Change::CodeRotated {
                hash,
                sealed,
                former,
            });
        }
        if let (Some(billing), Some(known)) = (billing, draft.wallet.order(order)) {
            let terms = known.terms.clone();
            draft.start(order, terms, billing, archived);
        }
        Ok(draft.finish())
    }
}

impl Draft {
    /// The payment of an order that is placed and not paid, and what was known of its refunds.
    pub(super) fn fulfil(
        &mut self,
        serial: OrderSerial,
        payment: Payment,
        billing: Option<&Billing>,
    ) {
        let Some(order) = self.wallet.order(serial) else {
            return;
        };
        let account = self.wallet.account(order.terms.fills);
        let room = account.map_or(MAX_CREDITS, super::Account::room);
        // A payment is not refused over a balance that is full: it brings what fits.
        let credits = order.terms.credits.min(room).max(0);
        let credits_expire_at = order.terms.credits_expire_at(self.now);
        let (reversal, expires_at) = (order.reversal, order.expires_at);
        let known_email = order.email.clone();
        let Payment {
            amount_cents,
            payment,
            customer,
            email,
        } = payment;
        self.push(Change::OrderPaid(Box::new(OrderPaid {
            order: serial,
            project: self.wallet.project,
            expires_at,
            amount_cents: amount_cents.max(0),
            credits,
            credits_expire_at,
            payment,
            invoice: billing.and_then(|billing| billing.invoice.clone()),
            subscription: billing.map(|billing| billing.subscription.clone()),
            customer,
            email: email.or(known_email),
        })));
        let credits = self.wallet.moved_by(serial, reversal);
        if credits != 0 {
            self.push(Change::OrderReversed {
                order: serial,
                reversal,
                credits,
            });
        }
    }

    /// Whether all of an order's payment went back.
    pub(super) fn is_reversed(&self, order: OrderSerial) -> bool {
        let order = self.wallet.order(order);
        order.is_some_and(|order| order.status() == OrderStatus::Refunded)
    }

    /// Starts a subscription that the wallet has not heard of. One that is known was renewed before
    /// its first payment was heard of, and stays as it is; of one that is over by now, what the payment
    /// brought ends.
    pub(super) fn start(
        &mut self,
        order: OrderSerial,
        terms: Terms,
        billing: Billing,
        archived: Archived<'_>,
    ) {
        let Billing {
            subscription: id,
            current_period_end,
            reported_at,
            ..
        } = billing;
        let known = self.wallet.subscription(&id);
        if known.is_some() {
            return;
        }
        if archived.subscription_over {
            self.end_cycle(&id);
            return;
        }
        let subscription = Subscription {
            id,
            granted: BTreeMap::from([(terms.fills, terms.credits)]),
            terms,
            status: SubscriptionStatus::Active,
            current_period_end,
            cancel_at_period_end: false,
            past_due_since: None,
            grace_ends_at: None,
            order,
            reversed: self.is_reversed(order),
            reported_at,
            cycles_ended: 0,
            cycle_ended_at: None,
        };
        self.push(Change::SubscriptionChanged(Box::new(SubscriptionChanged {
            news: Some(SubscriptionNews::Started),
            subscription,
        })));
    }
}
