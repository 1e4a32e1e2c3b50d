//! Placing an order: a buyer was sent to the provider's checkout.

use std::collections::BTreeSet;

use super::decision::DecisionBuilder;
use crate::{
    Quantity, Rejection,
    catalog::MailLocale,
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

/// How long an order stays pending.
pub const PENDING_SECONDS: i64 = 86_400;
/// The most pending orders of one wallet, because each is kept with it.
pub const MAX_PENDING: usize = 100;

/// Rotations of an order opened under an unknown code.
pub(super) const UNKNOWN_CODE: u32 = 0;

/// A request to place an order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct PlaceOrder {
    pub order: OrderSerial,
    pub terms: Terms,
    pub quantity: Quantity,
    pub metadata: Metadata,
    pub checkout: Option<CheckoutId>,
    /// The buyer's email address, if it is known.
    pub email: Option<Email>,
    /// The buyer's language, if it is known and there are mails in it.
    pub locale: Option<MailLocale>,
    /// Whether the checkout was opened with the wallet's code.
    pub names_code: bool,
}

impl PlaceOrder {
    pub(super) fn from_invoice(order: OrderSerial, terms: Terms) -> Self {
        Self {
            order,
            terms,
            quantity: Quantity::ONE,
            metadata: Metadata::default(),
            checkout: None,
            email: None,
            locale: None,
            names_code: false,
        }
    }
}

impl Wallet {
    /// Checks whether this order may be placed, before the buyer is sent to the provider. A payment that arrives
    /// nevertheless is fulfilled.
    /// # Errors
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

    /// Whether paid or processing one-time orders unlock all of these.
    fn owns(&self, features: &BTreeSet<Feature>) -> bool {
        let mut bought = self.unlocked_by_orders();
        let coming = self.orders().map(|(_, order)| order);
        let coming = coming.filter(|order| order.is_processing() && !order.terms.recurs());
        bought.extend(coming.flat_map(|order| &order.terms.features));
        features.iter().all(|feature| bought.contains(feature))
    }

    /// The currency that the provider binds the wallet's customer to: that of a subscription, or of an open checkout of
    /// one.
    pub fn bound_currency(&self) -> Option<&str> {
        let subscribed = self
            .subscriptions()
            .map(|existing| &*existing.paid_tier.currency);
        let open = self.orders().map(|(_, order)| order);
        let open = open.filter(|order| order.stage == Stage::Pending && order.terms.recurs());
        subscribed.chain(open.map(|it| &*it.terms.currency)).next()
    }

    /// Decides a new order. A known one is not placed again: its payment may have been faster.
    /// # Errors
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
    pub(super) fn place(&mut self, kind: OrderKind, rotations: u32, command: PlaceOrder) {
        let PlaceOrder {
            order,
            terms,
            quantity,
            metadata,
            checkout,
            email,
            locale,
            names_code,
        } = command;
        let expires_at = match kind {
            // It ends with its attempt, which the provider is asked about until it tells.
            OrderKind::TopUp => Timestamp::NEVER,
            _ => self.now.plus_seconds(PENDING_SECONDS),
        };
        self.push(Change::OrderPlaced(Box::new(OrderPlaced {
            order,
            project: self.wallet.project,
            kind,
            terms,
            quantity,
            metadata,
            checkout,
            email,
            locale,
            expires_at,
            names_code,
            rotations,
        })));
    }
}
