//! Fulfils a completed payment. What it buys becomes visible together and once, however often and late the provider
//! reports the payment.

use super::{
    bill::{Bill, Pays},
    cycle::CyclePosition,
    decision::DecisionBuilder,
    payment::{CycleGrant, credits},
    place_order::{PlaceOrder, UNKNOWN_CODE},
};
use crate::{
    Quantity, Rejection,
    id::{CodeHash, OrderSerial},
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, OrderPaid, SubscriptionEvent},
        order::{OrderKind, OrderStatus, Stage},
        owner::Owner,
    },
};

pub use super::payment::{PaidCycle, Payment};

/// A new recovery code, as a wallet keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintedCode {
    /// The keyed hash by which it will be found.
    pub hash: CodeHash,
    /// The code, encrypted under the server key.
    pub sealed: Box<[u8]>,
}

/// A completed checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pay {
    /// The order that it pays.
    pub order: OrderSerial,
    /// What the order is if it was never placed here: a checkout's, or an automatic top-up's.
    pub kind: OrderKind,
    /// The order as the provider's metadata describes it, in case it was never placed here.
    pub missing_order: Option<PlaceOrder>,
    /// The payment that completed it.
    pub payment: Payment,
    /// The subscription that it starts.
    pub billing: Option<PaidCycle>,
    /// Used if the wallet has no owner yet.
    pub code: MintedCode,
}

impl Wallet {
    /// Decides what a completed payment of an order brings. A failed or expired order is fulfilled too: completed
    /// payments are never discarded.
    /// # Errors
    /// [`Rejection::OrderNotFound`] if the order is not known and [`Pay::missing_order`] does not contain it.
    pub fn pay(
        &self,
        command: Pay,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        let Pay {
            order,
            kind,
            missing_order,
            payment,
            billing,
            code,
        } = command;
        let existing = self.any_order(order, archived);
        if existing.is_some_and(|existing| existing.stage == Stage::Paid) {
            return Ok(Vec::new());
        }
        let id = billing.as_ref().map(|billing| billing.subscription.clone());
        let id = id.as_ref();
        let mut decision = DecisionBuilder::on(self, Some(order), id, archived, now);
        if existing.is_none() {
            let missing = missing_order.filter(|missing| missing.order == order);
            decision.place(kind, UNKNOWN_CODE, missing.ok_or(Rejection::OrderNotFound)?);
        }
        let late = billing.as_ref().is_some_and(|billing| billing.after_end);
        let subscription = id.and_then(|id| decision.wallet.subscription(id));
        let position = subscription
            .zip(billing.as_ref())
            .map(|(subscription, billing)| subscription.position_of(None, billing.cycle()));
        let placed = decision.wallet.order(order);
        let credits = placed.map_or(0, |placed| match &billing {
            Some(billing) => credits(&placed.terms, &payment, billing),
            None => placed.credits(),
        });
        let over = archived.subscription_over
            || position.is_some_and(|position| position != CyclePosition::Current);
        let ends = match &billing {
            Some(billing) if late => Some(billing.current_period_end),
            _ => over.then_some(now),
        };
        let terms = placed.map(|placed| placed.terms.clone());
        decision.fulfil(
            order,
            payment.clone(),
            billing.as_ref(),
            CycleGrant { credits, ends },
        );
        decision.settle_top_up(order);
        let subscription = id.and_then(|id| self.subscription(id));
        if let Some(unpaid) = subscription.filter(|it| late && !it.is_paid()) {
            let subscription_event = Some(SubscriptionEvent::Canceled);
            decision.push_subscription(subscription_event, unpaid.clone().canceled());
        }
        if self.owner == Owner::Order {
            let MintedCode { hash, sealed } = code;
            let former = None;
            decision.push(Change::CodeRotated {
                hash,
                sealed,
                former,
            });
        }
        if let Some((billing, terms)) = billing.zip(terms).filter(|_| ends.is_none()) {
            let first = Bill {
                order,
                is_add_on: false,
                pays: Pays::Cycle,
                terms: None,
                quantity: Quantity::ONE,
                payment,
                billing,
            };
            decision.update_by(&first, terms, None, position);
        }
        Ok(decision.finish())
    }
}

impl DecisionBuilder {
    /// Adds the payment of an unpaid order, with refunds and disputes that were reported before it.
    pub(super) fn fulfil(
        &mut self,
        serial: OrderSerial,
        payment: Payment,
        billing: Option<&PaidCycle>,
        grant: CycleGrant,
    ) {
        let Some(order) = self.wallet.order(serial) else {
            return;
        };
        let room = self.wallet.room(order.terms.fills);
        // A full balance does not refuse a payment: it brings what fits.
        let credits = grant.credits.min(room).max(0);
        let ends = grant.ends.filter(|_| !order.terms.rollover);
        let ends = ends.map(|end| end.max(self.now));
        let expire = order.terms.credits_expire_at(self.now);
        let credits_expire_at = ends.into_iter().chain(expire).min();
        let (kind, reversal, expires_at) = (order.kind, order.reversal, order.expires_at);
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
            kind,
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
        let credits = self.wallet.credits_moved_by(serial, reversal);
        if credits != 0 {
            self.push(Change::OrderReversed {
                order: serial,
                reversal,
                credits,
            });
        }
    }

    /// Whether all of an order's payment was refunded or disputed.
    pub(super) fn is_reversed(&self, order: OrderSerial) -> bool {
        let order = self.wallet.order(order);
        order.is_some_and(|order| order.status() == OrderStatus::Refunded)
    }
}
