//! Placing an order: a buyer was sent to the provider's checkout.

use std::collections::BTreeSet;

use super::decision::DecisionBuilder;
use crate::{
    Quantity, Rejection,
    id::OrderSerial,
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, Email, Feature},
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, OrderPlaced},
        order::{OrderKind, Stage},
    },
};

/// For how long an order stays pending: 24 hours.
pub const PENDING_SECONDS: i64 = 86_400;
/// The most pending orders of one wallet: each is kept with the wallet, and buyers pay one or none of them.
pub const MAX_PENDING: usize = 100;

/// The replacements of a code before an order of which it is not known under which code it was opened.
pub(super) const UNKNOWN_CODE: u32 = 0;

/// A request to place an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceOrder {
    /// The order's serial: it is placed once.
    pub order: OrderSerial,
    /// What it buys.
    pub terms: Terms,
    /// The quantity that it buys.
    pub quantity: Quantity,
    /// The caller's own data about it.
    pub metadata: Metadata,
    /// The provider's checkout session.
    pub checkout: Option<CheckoutId>,
    /// The buyer's email address, if it is known.
    pub email: Option<Email>,
    /// Whether whoever opened the checkout named the wallet by its code.
    pub names_code: bool,
}

impl PlaceOrder {
    /// The order that a paid invoice makes, without a checkout.
    pub(super) fn from_invoice(order: OrderSerial, terms: Terms) -> Self {
        Self {
            order,
            terms,
            quantity: Quantity::ONE,
            metadata: Metadata::default(),
            checkout: None,
            email: None,
            names_code: false,
        }
    }
}

impl Wallet {
    /// Checks whether an order of this quantity and terms may be placed, before the buyer is sent to the provider.
    /// A payment that comes nevertheless is fulfilled.
    ///
    /// # Errors
    ///
    /// [`Rejection::Frozen`], [`Rejection::AlreadySubscribed`], [`Rejection::AlreadyOwned`], [`Rejection::CurrencyMismatch`],
    /// [`Rejection::TooManyPending`], or [`Rejection::BalanceLimit`] for a quantity that has no
    /// [total](Terms::times).
    pub fn check_order(&self, terms: &Terms, quantity: Quantity) -> Result<(), Rejection> {
        self.refuse_frozen()?;
        if terms.recurs() && self.is_subscribed(terms.product) {
            let mut existing = self.subscriptions();
            let open_invoice = existing.find_map(|existing| {
                existing
                    .open_invoice
                    .clone()
                    .filter(|_| existing.tier().product == terms.product)
            });
            return Err(Rejection::AlreadySubscribed { open_invoice });
        }
        if terms.is_unlock() && !terms.repeatable && self.owns(&terms.features) {
            return Err(Rejection::AlreadyOwned);
        }
        let bound = self.bound_currency().filter(|_| terms.recurs());
        if let Some(currency) = bound.filter(|&currency| currency != &*terms.currency) {
            return Err(Rejection::CurrencyMismatch {
                currency: currency.into(),
            });
        }
        let pending = self.commerce.as_ref();
        if pending.is_some_and(|commerce| commerce.pending.len() >= MAX_PENDING) {
            return Err(Rejection::TooManyPending);
        }
        if terms.times(quantity).is_none() {
            return Err(Rejection::BalanceLimit);
        }
        Ok(())
    }

    /// Whether one-time orders that are paid, or whose money is on its way, unlock all of these.
    fn owns(&self, features: &BTreeSet<Feature>) -> bool {
        let mut bought = self.unlocked_by_orders();
        let coming = self.orders().map(|(_, order)| order);
        let coming = coming.filter(|order| order.is_processing() && !order.terms.recurs());
        bought.extend(coming.flat_map(|order| &order.terms.features));
        features.iter().all(|feature| bought.contains(feature))
    }

    /// The currency that the wallet's customer is bound to at the provider: that of a subscription, or of an open
    /// checkout of one.
    #[must_use]
    pub fn bound_currency(&self) -> Option<&str> {
        let subscribed = self
            .subscriptions()
            .map(|existing| &*existing.paid_tier.currency);
        let open = self.orders().map(|(_, order)| order);
        let open = open.filter(|order| order.stage == Stage::Pending && order.terms.recurs());
        subscribed.chain(open.map(|it| &*it.terms.currency)).next()
    }

    /// Decides a new order. One that is known is not placed again: its payment may have been faster.
    ///
    /// # Errors
    ///
    /// As [`check_order`](Self::may_order).
    pub fn place_order(
        &self,
        command: PlaceOrder,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        if self.any_order(command.order, archived).is_some() {
            return Ok(Vec::new());
        }
        self.check_order(&command.terms, command.quantity)?;
        let mut decision = DecisionBuilder::on(self, Some(command.order), None, archived, now);
        decision.place(OrderKind::Checkout, self.rotations, command);
        Ok(decision.finish())
    }
}

impl DecisionBuilder {
    /// Places an order that was opened when the code had been replaced so many times.
    pub(super) fn place(&mut self, kind: OrderKind, rotations: u32, command: PlaceOrder) {
        let PlaceOrder {
            order,
            terms,
            quantity,
            metadata,
            checkout,
            email,
            names_code,
        } = command;
        let expires_at = self.now.plus_seconds(PENDING_SECONDS);
        self.push(Change::OrderPlaced(Box::new(OrderPlaced {
            order,
            project: self.wallet.project,
            kind,
            terms,
            quantity,
            metadata,
            checkout,
            email,
            expires_at,
            names_code,
            rotations,
        })));
    }
}
