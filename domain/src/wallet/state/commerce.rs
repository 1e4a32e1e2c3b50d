//! The purchases that a wallet keeps: those that can still change by themselves. They are behind one pointer, so
//! that a wallet that never bought anything stays small.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{
    Wallet,
    order::{Order, Reversal},
    subscription::Subscription,
};
use crate::{
    Rejection,
    id::{OrderSerial, ProductId},
    text::{CustomerId, Feature, SubscriptionId},
    time::Timestamp,
};

/// The most unknown orders of one wallet that reversals are kept for. Beyond it the reversal is refused, and its
/// reporter has to keep it and report it again.
pub(in crate::wallet) const MAX_UNKNOWN_ORDERS: usize = 100;

/// A wallet's purchases.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(in crate::wallet) struct Commerce {
    pub(in crate::wallet) customer: Option<CustomerId>,
    /// Pending orders; a settled one is archived by the decision that settles or recalls it.
    pub(in crate::wallet) orders: BTreeMap<OrderSerial, Order>,
    /// Subscriptions that are not canceled, in the order in which they started.
    pub(in crate::wallet) subscriptions: Vec<Subscription>,
    /// Refunds and disputes of orders that are not known yet.
    pub(in crate::wallet) early: BTreeMap<OrderSerial, Reversal>,
    /// How many archived orders unlock each feature.
    pub(in crate::wallet) unlocked: BTreeMap<Feature, u64>,
    /// Pending orders by when they expire, derived from `orders`.
    #[serde(skip)]
    pub(in crate::wallet) pending: BTreeSet<(Timestamp, OrderSerial)>,
}

impl Commerce {
    /// The pending order that expires first.
    pub(in crate::wallet) fn due(&self) -> Option<(Timestamp, OrderSerial)> {
        self.pending.first().copied()
    }

    /// Takes an order that is not pending any more out of the index.
    pub(in crate::wallet) fn settle(&mut self, serial: OrderSerial) {
        if let Some(order) = self.orders.get(&serial) {
            self.pending.remove(&(order.expires_at, serial));
        }
    }
}

impl Wallet {
    /// A pending order.
    #[must_use]
    pub fn order(&self, serial: OrderSerial) -> Option<&Order> {
        self.commerce.as_ref()?.orders.get(&serial)
    }

    /// Whether the recovery code is still the one under which an order was placed, or which it minted.
    #[must_use]
    pub const fn has_code_of_order(&self, order: &Order) -> bool {
        order.rotations == self.rotations
    }

    /// All pending orders, by serial.
    pub fn orders(&self) -> impl Iterator<Item = (OrderSerial, &Order)> {
        let orders = self.commerce.iter().flat_map(|commerce| &commerce.orders);
        orders.map(|(&serial, order)| (serial, order))
    }

    /// A subscription that is not over.
    #[must_use]
    pub fn subscription(&self, id: &SubscriptionId) -> Option<&Subscription> {
        let commerce = self.commerce.as_ref()?;
        commerce.subscriptions.iter().find(|known| known.id == *id)
    }

    /// All subscriptions that are not over, in the order in which they started.
    pub fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        let all = self.commerce.iter().flat_map(|c| &c.subscriptions);
        all.filter(|subscription| subscription.is_current())
    }

    /// Whether there is a subscription to a product that is not over.
    #[must_use]
    pub fn is_subscribed(&self, product: ProductId) -> bool {
        self.subscriptions().any(|s| s.tier().product == product)
    }

    /// The features that one-time orders unlock, whatever else unlocks them.
    #[must_use]
    pub fn unlocked_by_orders(&self) -> BTreeSet<&Feature> {
        let bought = self.orders().filter(|(_, order)| order.unlocks());
        let bought = bought.flat_map(|(_, order)| &order.terms.features);
        let archived = self.commerce.iter().flat_map(|c| c.unlocked.keys());
        bought.chain(archived).collect()
    }

    /// Orders that wait for their payment, by when they expire.
    pub fn pending_orders(&self) -> impl Iterator<Item = OrderSerial> + Clone {
        let commerce = self.commerce.iter();
        let pending = commerce.flat_map(|commerce| &commerce.pending);
        pending.map(|(_, serial)| *serial)
    }

    /// The provider's identifier of the wallet's owner, if a purchase named one.
    #[must_use]
    pub fn customer(&self) -> Option<&CustomerId> {
        self.commerce.as_ref()?.customer.as_ref()
    }

    /// The customer whose portal can be opened: that of the subscription that started last, else that of the last
    /// payment.
    ///
    /// # Errors
    ///
    /// [`Rejection::NoPurchase`] if no subscription and no payment named a customer.
    pub fn portal_customer(&self) -> Result<&CustomerId, Rejection> {
        let current = self.subscriptions().filter_map(|s| s.customer.as_ref());
        let current = current.last();
        current.or(self.customer()).ok_or(Rejection::NoPurchase)
    }
}
