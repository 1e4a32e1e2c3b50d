//! The purchases that can still change by themselves. They are behind one pointer, so that a wallet that never bought
//! anything stays small.

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
    catalog::MailLocale,
    id::{OrderSerial, ProductId, PublicSubscriptionId},
    text::{CustomerId, Email, Feature, SubscriptionId},
    time::Timestamp,
};

/// The most unknown orders of one wallet with stored reversals. Beyond it a reversal is refused, so its reporter has to
/// keep it and report it again.
pub(in crate::wallet) const MAX_UNKNOWN_ORDERS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(in crate::wallet) struct Commerce {
    pub(in crate::wallet) customer: Option<CustomerId>,
    /// The address that the wallet's mails go to, where one was set.
    pub(in crate::wallet) email: Option<Email>,
    /// The last buyer's address.
    pub(in crate::wallet) buyer: Option<Email>,
    /// The last buyer's language.
    pub(in crate::wallet) locale: Option<MailLocale>,
    /// Pending orders; one that is completed or recalled is archived by the same decision.
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
    pub(in crate::wallet) fn due(&self) -> Option<(Timestamp, OrderSerial)> {
        self.pending.first().copied()
    }

    /// Removes an order that is no longer pending from the index.
    pub(in crate::wallet) fn remove_pending(&mut self, serial: OrderSerial) {
        if let Some(order) = self.orders.get(&serial) {
            self.pending.remove(&(order.expires_at, serial));
        }
    }
}

impl Wallet {
    /// A pending order.
    pub fn order(&self, serial: OrderSerial) -> Option<&Order> {
        self.commerce.as_ref()?.orders.get(&serial)
    }

    /// Whether the recovery code is still the one under which an order was placed, or that it minted.
    pub const fn has_code_of_order(&self, order: &Order) -> bool {
        order.rotations == self.rotations
    }

    /// All pending orders, by serial.
    pub fn orders(&self) -> impl Iterator<Item = (OrderSerial, &Order)> {
        let orders = self.commerce.iter().flat_map(|commerce| &commerce.orders);
        orders.map(|(&serial, order)| (serial, order))
    }

    /// A subscription that is not over.
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

    /// The identifier of a subscription for callers.
    pub fn public_id(&self, subscription: &Subscription) -> PublicSubscriptionId {
        PublicSubscriptionId::of(self.project, &subscription.id)
    }

    /// The subscription that a caller names, if it is not over. If a race made several to one product, it is the only
    /// one that continues.
    /// # Errors
    /// [`Rejection::SubscriptionNotFound`], or [`Rejection::SubscriptionAmbiguous`] if a product has several and not
    /// exactly one continues.
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

    /// Subscriptions that continue beside another one to the same product: the buyer pays for both.
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
    pub fn is_subscribed(&self, product: ProductId) -> bool {
        self.subscriptions().any(|s| s.tier().product == product)
    }

    /// The features that one-time orders unlock.
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
    pub fn customer(&self) -> Option<&CustomerId> {
        self.commerce.as_ref()?.customer.as_ref()
    }

    /// The address that was set for the wallet's mails.
    pub fn email(&self) -> Option<&Email> {
        self.commerce.as_ref()?.email.as_ref()
    }

    /// Where mails about the wallet go: to the address that was set, else to the last buyer.
    pub fn mail_address(&self) -> Option<&Email> {
        let commerce = self.commerce.as_ref()?;
        commerce.email.as_ref().or(commerce.buyer.as_ref())
    }

    /// The language of mails about the wallet, if a checkout named one.
    pub fn mail_locale(&self) -> Option<MailLocale> {
        self.commerce.as_ref()?.locale
    }

    /// The customer whose portal can be opened: that of the named subscription; else of the last started one that
    /// continues, of one that ends with its period, or of the last payment.
    /// # Errors
    /// [`Rejection::SubscriptionNotFound`] for a named one that is missing, [`Rejection::NoPurchase`] if no
    /// subscription or payment has a customer.
    pub fn portal_customer(
        &self,
        named: Option<PublicSubscriptionId>,
    ) -> Result<&CustomerId, Rejection> {
        let named = named.map(|id| self.named_subscription(NamedSubscription::Id(id, None)));
        if let Some(named) = named.transpose()? {
            return named.customer.as_ref().ok_or(Rejection::NoPurchase);
        }
        let paid = self.subscriptions().filter(|s| s.customer.is_some());
        // Of equal ones `max_by_key` returns the last.
        let current = paid.max_by_key(|s| s.goes_on());
        let current = current.and_then(|s| s.customer.as_ref());
        current.or(self.customer()).ok_or(Rejection::NoPurchase)
    }
}
