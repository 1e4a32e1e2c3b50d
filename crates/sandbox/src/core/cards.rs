//! The test cards, and what the bank of each does: Stripe's numbers (docs.stripe.com/testing), and a few of our own,
//! which begin with 424200. Beyond Stripe, which saves no card that it declines, each can be saved, so that each decline
//! can be tried on a card on file.

use self::Bank::{Asks, Declines, DeclinesLater, Pays, Waits};
use crate::core::prelude::*;

/// Seconds that a slow bank takes.
const SLOW: i64 = 3 * 24 * 3600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bank {
    Pays,
    /// Declines with Stripe's word for the reason.
    Declines(&'static str),
    /// Saves the card and declines every payment.
    DeclinesLater,
    /// Wants its customer for each payment.
    Asks,
    /// Answers days later: it pays, or declines for this reason.
    Waits(Option<&'static str>),
}

/// A card's number, and its bank.
pub(crate) type TestCard = (&'static str, Bank);

pub(crate) const CARDS: [TestCard; 16] = [
    ("4242424242424242", Pays),
    ("4000002760003184", Asks),
    ("4000000000000341", DeclinesLater),
    ("4000000000009995", Declines("insufficient_funds")),
    ("4000000000000002", Declines("generic_decline")),
    ("4242000000003012", Declines("do_not_honor")),
    ("4000000000009987", Declines("lost_card")),
    ("4000000000009979", Declines("stolen_card")),
    ("4000000000000069", Declines("expired_card")),
    ("4242000000003020", Declines("invalid_account")),
    ("4100000000000019", Declines("fraudulent")),
    ("4000000000006975", Declines("card_velocity_exceeded")),
    ("4000000000000127", Declines("incorrect_cvc")),
    ("4000000000000119", Declines("processing_error")),
    ("4242000000003038", Waits(None)),
    ("4242000000003046", Waits(Some("insufficient_funds"))),
];

impl Bank {
    /// What a page says about it.
    pub(crate) fn label(self) -> String {
        match self {
            Pays => "works".into(),
            Declines(reason) => reason.replace('_', " "),
            DeclinesLater => "declines once it is saved".into(),
            Asks => "3-D Secure each time".into(),
            Waits(None) => "pays in three days".into(),
            Waits(Some(_)) => "declines in three days".into(),
        }
    }
}

/// The card of a typed number; that of a form without one works.
pub(crate) fn typed(number: Option<&str>) -> Result<&'static TestCard> {
    let digits = number.unwrap_or("4242424242424242").replace([' ', '-'], "");
    let known = CARDS.iter().find(|card| card.0 == digits);
    let refusal = || Refusal::param("card", "Your card number is incorrect.");
    known.ok_or_else(|| refusal().with_code("incorrect_number"))
}

impl PaymentMethod {
    fn bank(&self) -> Bank {
        typed(Some(&self.number)).map_or(Pays, |card| card.1)
    }

    /// A card as it is entered; it is kept if there is a customer.
    pub(crate) fn enter(db: &mut Database, card: &TestCard, customer: Option<String>) -> Self {
        let method = Self {
            head: db.head("pm_"),
            customer,
            number: card.0.into(),
            metadata: Metadata::new(),
        };
        db.put(method.clone());
        if method.customer.is_some() {
            db.emit("payment_method.attached", &method);
        }
        method
    }

    pub(crate) fn detach(mut self, db: &mut Database) -> Result<Self> {
        let message = "The payment method you provided is not attached to a customer so detachment \
                       is impossible.";
        Refusal::invalid(message).when(self.customer.is_none())?;
        self.customer = None;
        db.put_and_emit("payment_method.detached", &self);
        Ok(self)
    }
}

impl PaymentIntent {
    /// Asks the bank of its card for the money, with or without the card's owner.
    pub(crate) fn confirm(
        mut self,
        db: &mut Database,
        method: &PaymentMethod,
        alone: bool,
    ) -> Self {
        let declines = self.customer.as_deref().is_some_and(|id| db.declines(id));
        let (id, debit) = (self.head.id.clone(), db.debit_seconds);
        match method.bank() {
            _ if declines => self.decline(db, "generic_decline"),
            DeclinesLater => self.decline(db, "generic_decline"),
            Declines(reason) => self.decline(db, reason),
            Asks if alone => self.decline(db, "authentication_required"),
            Asks => self.ask(db),
            Waits(reason) => self.wait(db, SLOW, reason),
            // The account's payments are bank debits.
            Pays if debit > 0 => self.wait(db, debit, Some("insufficient_funds")),
            Pays => self.clone().succeed(db),
        }
        db.get(&id).cloned().unwrap_or(self)
    }

    fn wait(&mut self, db: &mut Database, seconds: i64, reason: Option<&str>) {
        self.status = IntentStatus::Processing;
        self.answers_at = Some(db.now.saturating_add(seconds));
        self.declines = reason.map(Into::into);
        db.put_and_emit("payment_intent.processing", self);
    }

    /// The bank that took its time answers: as it would by itself, or for the given reason.
    pub(crate) fn answer(mut self, db: &mut Database) {
        self.answers_at = None;
        match self.declines.take() {
            Some(reason) => self.decline(db, &reason),
            None => self.succeed(db),
        }
    }

    fn decline(&mut self, db: &mut Database, reason: &str) {
        self.declined = Some(reason.into());
        let charge = self.new_charge(db);
        db.put_and_emit("charge.failed", &charge);
        self.latest_charge = Some(charge.head.id);
        self.clone().fail(db);
    }

    pub(crate) fn cancel(
        mut self,
        db: &mut Database,
        reason: Option<&'static str>,
    ) -> Result<Self> {
        let message = format!(
            "You cannot cancel this PaymentIntent because it has a status of {}. Only a \
             PaymentIntent with one of the following statuses may be canceled: \
             requires_payment_method, requires_capture, requires_confirmation, requires_action.",
            self.status.word()
        );
        let waits = [
            IntentStatus::RequiresPaymentMethod,
            IntentStatus::RequiresAction,
        ];
        Refusal::invalid(message)
            .with_code("payment_intent_unexpected_state")
            .when(!waits.contains(&self.status))?;
        self.status = IntentStatus::Canceled;
        self.canceled_at = Some(db.now);
        self.cancellation_reason = reason.map(Into::into);
        db.put_and_emit("payment_intent.canceled", &self);
        Ok(self)
    }
}
