//! Fulfilment: a payment was completed. What it buys becomes visible together, once, however often
//! and late the provider says so.

use super::{
    Archived, Change, Event, Owner, Subscription, Wallet,
    cycle::Place,
    draft::Draft,
    event::{OrderPaid, SubscriptionNews},
    order::{OrderKind, OrderStatus, Receipt, Stage},
    place_order::PlaceOrder,
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
    /// The provider's invoice of what is paid once; that of a cycle is in its [`Billing`].
    pub invoice: Option<InvoiceId>,
    /// The provider's name for the buyer.
    pub customer: Option<CustomerId>,
    /// The buyer's address.
    pub email: Option<Email>,
    /// Where it was made.
    pub receipt: Receipt,
}

/// The subscription that a payment starts, renews or switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Billing {
    /// The provider's name for it.
    pub subscription: SubscriptionId,
    /// The invoice that was paid.
    pub invoice: Option<InvoiceId>,
    /// When the cycle began that the invoice is about: not the one that is running when it is asked for.
    pub cycle_start: Timestamp,
    /// When that cycle ends.
    pub current_period_end: Timestamp,
    /// Whether that cycle is a trial.
    pub trial: bool,
    /// Whether the subscription was paused when it was asked for: what costs nothing brings nothing then.
    pub paused: bool,
    /// When the provider reported this: when the invoice was made, or the subscription was asked for.
    pub reported_at: Timestamp,
}

/// What a payment brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grant {
    /// Credits, before it is asked what the balance has room for.
    pub(super) credits: i64,
    /// Whether the cycle that it pays is over: what it brings ends at once, unless it rolls over.
    pub(super) over: bool,
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
        let known = subscription.and_then(|id| draft.wallet.subscription(id));
        let place = known.zip(billing.as_ref());
        let place = place.map(|(known, billing)| known.place_of_payment(billing.cycle()));
        let placed = draft.wallet.order(order);
        let credits = placed.map_or(0, |placed| match &billing {
            Some(billing) => credits(&placed.terms, &payment, billing),
            None => placed.credits(),
        });
        let grant = Grant {
            credits,
            // The first one is before all that is known.
            over: archived.subscription_over || place.is_some_and(|it| it != Place::Current),
        };
        let customer = payment.customer.clone();
        draft.fulfil(order, payment, billing.as_ref(), grant);
        if self.owner == Owner::Order {
            let MintedCode { hash, sealed } = code;
            let former = None;
            draft.push(Change::CodeRotated {
                hash,
                sealed,
                former,
            });
        }
        if let Some(billing) = billing.filter(|_| !grant.over) {
            draft.take_cycle(order, customer, &billing);
        }
        Ok(draft.finish())
    }
}

/// Credits for a cycle.
pub(super) fn credits(terms: &Terms, payment: &Payment, billing: &Billing) -> i64 {
    if billing.trial {
        terms.trial_credits
    } else if billing.paused && payment.amount_cents <= 0 {
        0
    } else {
        terms.credits
    }
}

impl Draft {
    /// The payment of an order that is placed and not paid, and what was known of its refunds.
    pub(super) fn fulfil(
        &mut self,
        serial: OrderSerial,
        payment: Payment,
        billing: Option<&Billing>,
        grant: Grant,
    ) {
        let Some(order) = self.wallet.order(serial) else {
            return;
        };
        let account = self.wallet.account(order.terms.fills);
        let room = account.map_or(MAX_CREDITS, super::Account::room);
        // A payment is not refused over a balance that is full: it brings what fits.
        let credits = grant.credits.min(room).max(0);
        let over = (grant.over && !order.terms.rollover).then_some(self.now);
        let credits_expire_at = over.or_else(|| order.terms.credits_expire_at(self.now));
        let (reversal, expires_at) = (order.reversal, order.expires_at);
        let known_email = order.email.clone();
        let Payment {
            amount_cents,
            payment,
            invoice,
            customer,
            email,
            receipt,
        } = payment;
        self.push(Change::OrderPaid(Box::new(OrderPaid {
            order: serial,
            project: self.wallet.project,
            expires_at,
            amount_cents: amount_cents.max(0),
            credits,
            credits_expire_at,
            payment,
            invoice: billing.map_or(invoice, |billing| billing.invoice.clone()),
            subscription: billing.map(|billing| billing.subscription.clone()),
            customer,
            email: email.or(known_email),
            receipt,
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

    /// The payment of a subscription's cycle, which begins with it unless a switch within it was heard
    /// of before.
    pub(super) fn take_cycle(
        &mut self,
        serial: OrderSerial,
        customer: Option<CustomerId>,
        billing: &Billing,
    ) {
        let Some(terms) = self.wallet.order(serial).map(|order| order.terms.clone()) else {
            return;
        };
        let known = self.wallet.subscription(&billing.subscription).cloned();
        let cycle = billing.cycle();
        let (known, news) = match known {
            Some(known) if known.place_of_payment(cycle) == Place::Current => {
                (known, SubscriptionNews::Updated)
            }
            Some(known) => (known.begun(terms.clone(), cycle), SubscriptionNews::Renewed),
            None => {
                let started = Subscription::started(terms.clone(), billing);
                (started, SubscriptionNews::Started)
            }
        };
        let next = Subscription {
            paid: terms,
            order: Some(serial),
            reversed: self.is_reversed(serial),
            cycle_start: cycle.start,
            cycle_end: cycle.end,
            customer: customer.or(known.customer.clone()),
            ..known
        };
        self.push_subscription(Some(news), next.billed(billing));
    }
}
