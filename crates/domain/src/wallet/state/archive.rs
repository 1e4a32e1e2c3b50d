//! Completed purchases move from the wallet to its history: paid, failed and expired orders, ended subscriptions. So a
//! wallet does not grow with what it once bought. A decision that needs one gets its record, like a key's former use;
//! an order that changes again is recalled first and archived again.

use super::{
    Wallet,
    commerce::Commerce,
    event::Change,
    holds::Holds,
    lots::CycleTag,
    order::{ArchivedOrder, Order, Reversal, Stage},
};
use crate::{id::OrderSerial, text::SubscriptionId, time::Timestamp};

/// What the wallet's history has of the order and the subscription that a command names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Archive<'a> {
    /// The last record of the order, found by [`crate::history::RecordKey::Order`].
    pub order: Option<&'a ArchivedOrder>,
    /// Whether the subscription is over: it has a record under [`crate::history::RecordKey::Subscription`].
    pub subscription_over: bool,
}

impl<'a> Archive<'a> {
    pub(in crate::wallet) fn order(self, serial: OrderSerial) -> Option<&'a Order> {
        let named = self.order.filter(|archived| archived.serial == serial)?;
        Some(&named.order)
    }
}

impl Commerce {
    pub(in crate::wallet) fn archivable(&self) -> Option<Change> {
        // Usually all orders are pending, and nothing is searched.
        if self.orders.len() > self.pending.len() {
            let mut archivable = self.orders.iter();
            let archivable = archivable.find(|(_, order)| order.stage != Stage::Pending);
            if let Some((&order, _)) = archivable {
                return Some(Change::OrderArchived { order });
            }
        }
        let over = self.subscriptions.iter().find(|s| !s.is_current())?;
        Some(Change::SubscriptionGone {
            subscription: over.id.clone(),
        })
    }

    fn sketch(&self, serial: Option<OrderSerial>, archived: Option<&Order>) -> Self {
        let order = serial.and_then(|serial| self.orders.get_key_value(&serial));
        let place = |(&serial, order): (&OrderSerial, &Order)| (order.expires_at, serial);
        let pending = order
            .map(place)
            .filter(|place| self.pending.contains(place));
        let early = serial.and_then(|serial| self.early.get_key_value(&serial));
        let features = archived.into_iter().flat_map(|order| &order.terms.features);
        let unlocked = features.filter_map(|feature| self.unlocked.get_key_value(feature));
        Self {
            customer: self.customer.clone(),
            email: self.email.clone(),
            buyer: self.buyer.clone(),
            locale: self.locale,
            orders: order
                .map(|(&serial, order)| (serial, order.clone()))
                .into_iter()
                .collect(),
            subscriptions: self.subscriptions.clone(),
            early: early
                .map(|(&serial, &early)| (serial, early))
                .into_iter()
                .collect(),
            unlocked: unlocked
                .map(|(feature, &count)| (feature.clone(), count))
                .collect(),
            pending: pending.into_iter().collect(),
        }
    }
}

impl Wallet {
    pub(in crate::wallet) fn any_order<'a>(
        &'a self,
        serial: OrderSerial,
        archived: Archive<'a>,
    ) -> Option<&'a Order> {
        self.order(serial).or_else(|| archived.order(serial))
    }

    /// The last known reversal of an order, also of an unknown order; an empty one if there is none.
    pub(in crate::wallet) fn reversal(
        &self,
        serial: OrderSerial,
        archived: Archive<'_>,
    ) -> Option<Reversal> {
        let early = |commerce: &Commerce| commerce.early.get(&serial).copied();
        match self.any_order(serial, archived) {
            Some(order) => Some(order.reversal),
            None => self.commerce.as_deref().and_then(early),
        }
    }

    /// How many unknown orders reversals are kept for.
    pub(in crate::wallet) fn early_reversals(&self) -> usize {
        self.commerce.as_ref().map_or(0, |c| c.early.len())
    }

    /// An archived order as it is recalled. Credits given back to it end with its cycle. That cycle may have ended
    /// since; it certainly has if the wallet no longer has the subscription, even if the clock stepped back.
    pub(in crate::wallet) fn recall(&self, order: &Order, now: Timestamp) -> Order {
        let mut order = order.clone();
        let Some(id) = order
            .subscription
            .as_ref()
            .filter(|_| !order.terms.rollover)
        else {
            return order;
        };
        let ended = match self.subscription(id) {
            Some(existing) => existing
                .cycle_ended_at
                .filter(|_| existing.cycles_ended > order.cycle)
                .map(|end| end.min(now)),
            None => Some(now),
        };
        order.credits_end = order.credits_end.min(ended.unwrap_or(Timestamp::NEVER));
        order
    }

    /// A copy of what a decision on an order and a subscription can touch, small however many lots, holds and other
    /// orders there are. It is as up to date as this wallet.
    pub(in crate::wallet) fn sketch(
        &self,
        serial: Option<OrderSerial>,
        subscription: Option<&SubscriptionId>,
        archived: Archive<'_>,
    ) -> Self {
        let former = serial.and_then(|serial| archived.order(serial));
        let existing = serial.and_then(|serial| self.any_order(serial, archived));
        let lot = existing.and_then(|order| Some((order.terms.fills, order.lot?)));
        let cycle = subscription.map(|id| CycleTag::of(&self.key, id));
        let accounts = self.accounts.iter().map(|account| {
            let own = lot.filter(|(product, _)| *product == account.product);
            account.sketch(own.map(|(_, lot)| lot), cycle)
        });
        let commerce = self.commerce.as_ref();
        Self {
            key: self.key,
            id: self.id,
            project: self.project,
            owner: self.owner.clone(),
            created_at: self.created_at,
            touched_at: self.touched_at,
            used_at: self.used_at,
            version: self.version,
            records: self.records,
            rotations: self.rotations,
            session_epoch: self.session_epoch,
            accounts: accounts.collect(),
            holds: Holds::new(),
            features: std::collections::BTreeSet::new(),
            frozen: self.frozen.clone(),
            due_at: self.due_at,
            limits: None,
            commerce: commerce.map(|commerce| Box::new(commerce.sketch(serial, former))),
            top_up: self.top_up.clone(),
        }
    }
}
