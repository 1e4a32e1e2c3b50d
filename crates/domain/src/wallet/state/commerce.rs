//! The purchases that a wallet keeps: those that can still change by themselves. They are behind one pointer, so
//! that a wallet that never bought anything stays small.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{
    Wallet,
    instruction::NamedSubscription,
    order::{Order, Reversal},
    subscription::Subscription,
};
use crate::{
    Rejection,
    id::{OrderSerial, ProductId, PublicSubscriptionId},
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
    pub(in crate::wallet) fn remove_pending(&mut self, serial: OrderSerial) {
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
        commerce
            .subscriptions
            .iter()
            .find(|existing| existing.id == *id)
    }

    /// All subscriptions that are not over, in the order in which they started.
    pub fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        let all = self.commerce.iter().flat_map(|c| &c.subscriptions);
        all.filter(|subscription| subscription.is_current())
    }

    /// What callers call one of the wallet's subscriptions.
    #[must_use]
    pub fn public_id(&self, subscription: &Subscription) -> PublicSubscriptionId {
        PublicSubscriptionId::of(self.project, &subscription.id)
    }

    /// The subscription that a caller names, if it is not over. Of several to a product, which only a race can make,
    /// that is the only one that goes on.
    ///
    /// # Errors
    ///
    /// [`Rejection::SubscriptionNotFound`], and [`Rejection::SubscriptionAmbiguous`] where a product's are several, and
    /// not one of them alone goes on.
    pub fn named_subscription(&self, named: NamedSubscription) -> Result<&Subscription, Rejection> {
        let (id, product) = match named {
            NamedSubscription::Of(product) => (None, Some(product)),
            NamedSubscription::Id(id, product) => (Some(id), product),
        };
        let named: Vec<_> = self
            .subscriptions()
            .filter(|existing| product.is_none_or(|product| existing.tier().product == product))
            .filter(|existing| id.is_none_or(|id| self.public_id(existing) == id))
            .collect();
        if named.is_empty() {
            return Err(Rejection::SubscriptionNotFound);
        }
        let ongoing = named.iter().copied().filter(|existing| existing.goes_on());
        let ongoing: Vec<_> = ongoing.collect();
        match (&*named, &*ongoing) {
            (&[only], _) | (_, &[only]) => Ok(only),
            _ => Err(Rejection::SubscriptionAmbiguous),
        }
    }

    /// The subscriptions that go on although another one to the same product does, too: the buyer pays for both.
    #[must_use]
    pub fn doubled_subscriptions(&self) -> Vec<&Subscription> {
        let ongoing = self.subscriptions().filter(|existing| existing.goes_on());
        let ongoing: Vec<_> = ongoing.collect();
        let product = |existing: &Subscription| existing.tier().product;
        let doubled = ongoing.iter().copied().filter(|existing| {
            let mut others = ongoing.iter().filter(|other| other.id != existing.id);
            others.any(|other| product(other) == product(existing))
        });
        doubled.collect()
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

    /// The customer whose portal can be opened: that of the named subscription; without one that of the last to start of
    /// those that go on, else of those that end with their period, else that of the last payment.
    ///
    /// # Errors
    ///
    /// [`Rejection::SubscriptionNotFound`] for a named one that is not there, [`Rejection::NoPurchase`] if no
    /// subscription and no payment named a customer.
    pub fn portal_customer(
        &self,
        named: Option<PublicSubscriptionId>,
    ) -> Result<&CustomerId, Rejection> {
        let named = named.map(|id| self.named_subscription(NamedSubscription::Id(id, None)));
        if let Some(named) = named.transpose()? {
            return named.customer.as_ref().ok_or(Rejection::NoPurchase);
        }
        let paid = self.subscriptions().filter(|s| s.customer.is_some());
        // The last of those that are equal.
        let current = paid.max_by_key(|s| s.goes_on());
        let current = current.and_then(|s| s.customer.as_ref());
        current.or(self.customer()).ok_or(Rejection::NoPurchase)
    }
}
