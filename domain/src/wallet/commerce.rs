//! What a wallet remembers of purchases: orders, subscriptions, the provider's customer. Kept behind
//! one pointer, so that a wallet that never bought anything is as small as before.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    Wallet,
    order::{Order, Reversal},
    subscription::Subscription,
};
use crate::{
    Rejection,
    id::{OrderSerial, ProductId},
    text::{CustomerId, Email, SubscriptionId},
    time::Timestamp,
};

/// A wallet's purchases.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Commerce {
    pub(super) customer: Option<CustomerId>,
    pub(super) orders: BTreeMap<OrderSerial, Order>,
    /// In the order in which they started.
    pub(super) subscriptions: Vec<Subscription>,
    /// Refunds and disputes of orders that are not known yet.
    pub(super) early: BTreeMap<OrderSerial, Reversal>,
    /// Subscriptions that ended before they were known: their payment must not start them.
    pub(super) gone: BTreeSet<SubscriptionId>,
    /// Pending orders by when they expire, so that nothing looks through all orders.
    pub(super) pending: BTreeSet<(Timestamp, OrderSerial)>,
}

impl Commerce {
    /// The pending order that expires first.
    pub(super) fn due(&self) -> Option<(Timestamp, OrderSerial)> {
        self.pending.first().copied()
    }

    /// Pending orders that expire at this instant or before.
    pub(super) fn expiring(&self, until: Timestamp) -> impl Iterator<Item = OrderSerial> {
        let due = self
            .pending
            .iter()
            .take_while(move |(end, _)| *end <= until);
        due.map(|&(_, serial)| serial)
    }

    /// An order that is pending no longer.
    pub(super) fn settle(&mut self, serial: OrderSerial) {
        if let Some(order) = self.orders.get(&serial) {
            self.pending.remove(&(order.expires_at, serial));
        }
    }
}

impl Wallet {
    /// An order.
    #[must_use]
    pub fn order(&self, serial: OrderSerial) -> Option<&Order> {
        self.commerce.as_ref()?.orders.get(&serial)
    }

    /// All orders, by serial.
    pub fn orders(&self) -> impl Iterator<Item = (OrderSerial, &Order)> {
        let orders = self.commerce.iter().flat_map(|commerce| &commerce.orders);
        orders.map(|(&serial, order)| (serial, order))
    }

    /// A subscription, also one that is over.
    #[must_use]
    pub fn subscription(&self, id: &SubscriptionId) -> Option<&Subscription> {
        let commerce = self.commerce.as_ref()?;
        commerce.subscriptions.iter().find(|known| known.id == *id)
    }

    /// Active and past-due subscriptions, in the order in which they started.
    pub fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        let all = self.commerce.iter().flat_map(|c| &c.subscriptions);
        all.filter(|subscription| subscription.is_current())
    }

    /// Whether there is an active or past-due subscription to a product.
    #[must_use]
    pub fn is_subscribed(&self, product: ProductId) -> bool {
        self.subscriptions().any(|s| s.terms.product == product)
    }

    /// What the provider calls the wallet's owner, if a purchase told.
    #[must_use]
    pub fn customer(&self) -> Option<&CustomerId> {
        self.commerce.as_ref()?.customer.as_ref()
    }

    /// The customer whose portal can be opened.
    pub fn portal_customer(&self) -> Result<&CustomerId, Rejection> {
        self.customer().ok_or(Rejection::NoPurchase)
    }

    /// The addresses of paid orders, refunded ones included.
    pub fn paid_emails(&self) -> impl Iterator<Item = &Email> {
        let paid = self.orders().filter(|(_, order)| order.paid_at.is_some());
        paid.filter_map(|(_, order)| order.email.as_ref())
    }

    /// What is known of money going back, also for an order that is not known yet.
    pub(super) fn reversal(&self, serial: OrderSerial) -> Reversal {
        let early = |commerce: &Commerce| commerce.early.get(&serial).copied();
        match self.order(serial) {
            Some(order) => order.reversal,
            None => self.commerce.as_deref().and_then(early).unwrap_or_default(),
        }
    }

    /// Whether a subscription ended before its first payment was heard of.
    pub(super) fn is_gone(&self, id: &SubscriptionId) -> bool {
        self.commerce.as_ref().is_some_and(|c| c.gone.contains(id))
    }
}
