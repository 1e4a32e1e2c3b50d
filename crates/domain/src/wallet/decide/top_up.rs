//! Cards on file and automatic top-ups: setting them, deciding an attempt in the wallet's own turn, and what follows from
//! a payment, a decline, a dispute.

use super::{decision::DecisionBuilder, place_order::PlaceOrder};
use crate::{
    Rejection,
    id::OrderSerial,
    metadata::Metadata,
    text::Email,
    time::Timestamp,
    top_up::{
        AttemptOutcome, ChargeFailure, SavedCard, Suspension, TopUp, TopUpChange, TopUpRule,
        TopUpStep,
    },
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event},
        order::{OrderKind, Stage},
    },
};

/// A request to set the automatic top-up, or to switch it off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetTopUp {
    /// The rule; `None`: off.
    pub rule: Option<TopUpRule>,
    /// Whether it may charge at once, where too little can be spent already.
    pub charge_now: bool,
    /// Whether only who has just entered the card may allow to charge more than before.
    pub needs_fresh_card: bool,
}

/// A request to set the address for the wallet's mails, or to remove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetEmail(pub Option<Email>);

impl Wallet {
    /// Decides what setting the automatic top-up changes; nothing if it is so already.
    /// # Errors
    /// [`Rejection::TopUpRule`], [`Rejection::CardRequired`] or [`Rejection::CardConfirmationRequired`].
    pub fn set_top_up(
        &self,
        command: SetTopUp,
        now: Timestamp,
    ) -> Result<Option<Change>, Rejection> {
        let existing = self.top_up();
        let Some(mut rule) = command.rule else {
            let is_on = existing.is_some_and(|top_up| top_up.rule.is_some());
            return Ok(is_on.then(|| changed(TopUpChange::Set(None))));
        };
        let existing = existing.filter(|top_up| top_up.card.is_some());
        let existing = existing.ok_or(Rejection::CardRequired)?;
        rule.check()?;
        rule.consent.at = self.date(now);
        let raises = rule.exceeds(existing.rule.as_ref());
        if command.needs_fresh_card && raises && !existing.has_fresh_card(now) {
            return Err(Rejection::CardConfirmationRequired);
        }
        Ok(Some(changed(TopUpChange::Set(Some(Box::new(rule))))))
    }

    /// Decides what a card that its owner entered changes. A report that is older than the card on file changes nothing.
    #[must_use]
    pub fn save_card(&self, card: SavedCard) -> Vec<Change> {
        let existing = self.top_up();
        let known = existing.and_then(|top_up| top_up.card.as_ref());
        if known.is_some_and(|known| *known == card || known.saved_at > card.saved_at) {
            return Vec::new();
        }
        let lifts = existing.is_some_and(|top_up| top_up.is_lifted_by_card());
        let resumed = lifts.then_some(TopUpChange::Resumed);
        let saved = [TopUpChange::CardSaved(card)].into_iter();
        saved.chain(resumed).map(changed).collect()
    }

    /// Decides what forgetting the card changes.
    #[must_use]
    pub fn remove_card(&self) -> Vec<Change> {
        let Some(top_up) = self.top_up().filter(|top_up| top_up.card.is_some()) else {
            return Vec::new();
        };
        // A payment by the buyer would lift another reason.
        let suspended = top_up
            .rule
            .is_some()
            .then_some(TopUpChange::Suspended(Suspension::CardMissing));
        let removed = [TopUpChange::CardRemoved].into_iter();
        removed.chain(suspended).map(changed).collect()
    }

    /// Decides what setting the address for mails changes.
    #[must_use]
    pub fn set_email(&self, command: SetEmail) -> Option<Change> {
        let differs = self.email() != command.0.as_ref();
        differs.then_some(Change::EmailSet(command.0))
    }

    /// Whether a turn has to take a [`Wallet::top_up_step`]: it used watched credits, of which there were so many before,
    /// or an attempt that had to wait is due.
    pub fn needs_top_up(&self, before: Option<i64>, now: Timestamp) -> bool {
        let Some(top_up) = &self.top_up else {
            return false;
        };
        self.watched_credits() < before || top_up.is_due(self.date(now))
    }

    /// Decides whether the card on file is to be charged now, under an order of this serial. A frozen wallet charges
    /// nobody.
    #[must_use]
    pub fn top_up_step(&self, serial: OrderSerial, now: Timestamp) -> Vec<Event> {
        let Some((top_up, available)) = self.top_up().zip(self.watched_credits()) else {
            return Vec::new();
        };
        if self.frozen().is_some() {
            return Vec::new();
        }
        let step = top_up.step(available, serial, self.date(now));
        let terms = top_up.rule.as_ref().map(|rule| rule.terms.clone());
        let Some((step, terms)) = step.zip(terms) else {
            return Vec::new();
        };
        let mut decision = DecisionBuilder::on(self, Some(serial), None, Archive::default(), now);
        match step {
            TopUpStep::Note(change) => decision.push(changed(change)),
            TopUpStep::Begin(quantity, attempt) => {
                let order = PlaceOrder {
                    order: serial,
                    terms,
                    quantity,
                    metadata: Metadata::default(),
                    checkout: None,
                    email: self.mail_address().cloned(),
                    locale: None,
                    names_code: false,
                };
                decision.place(OrderKind::TopUp, self.rotations, order);
                decision.push(changed(TopUpChange::Begun(attempt)));
            }
        }
        decision.finish()
    }

    /// What the failed charge of an order changes about the attempt that it is, if that is open.
    pub(super) fn failed_attempt(
        &self,
        order: OrderSerial,
        failure: ChargeFailure,
    ) -> Option<Vec<Change>> {
        let top_up = self.top_up()?;
        let open = top_up.open.as_ref().filter(|open| open.order == order)?;
        let decline = failure.decline();
        // A card that was replaced meanwhile says nothing about its successor.
        let is_of_card = top_up
            .card
            .as_ref()
            .is_some_and(|card| card.id == open.card);
        let suspension = match failure {
            ChargeFailure::ActionRequired(_, page) => {
                Some(Suspension::ActionRequired(Box::new(page)))
            }
            ChargeFailure::PriceChanged => Some(Suspension::PriceChanged),
            ChargeFailure::Declined(_) if is_of_card => top_up.suspension_by(decline.kind),
            ChargeFailure::Declined(_) | ChargeFailure::NeverCharged => None,
        };
        let suspended = suspension
            .filter(|_| top_up.is_on())
            .map(TopUpChange::Suspended);
        let ended = TopUpChange::Ended(open.number, AttemptOutcome::Failed(decline));
        Some([ended].into_iter().chain(suspended).map(changed).collect())
    }
}

impl DecisionBuilder {
    /// Ends the attempt whose order was paid. A payment by the buyer lifts what suspends the top-up.
    pub(super) fn settle_top_up(&mut self, serial: OrderSerial) {
        let order = self.wallet.order(serial);
        let Some(order) = order.filter(|order| order.stage == Stage::Paid) else {
            return;
        };
        let top_up = self.wallet.top_up();
        let open = top_up.and_then(|top_up| top_up.open.as_ref());
        let lifts = |top_up: &TopUp| {
            top_up.product() == Some(order.terms.fills) && top_up.is_lifted_by_payment()
        };
        let change = match open.filter(|open| open.order == serial) {
            Some(open) => TopUpChange::Ended(open.number, AttemptOutcome::Succeeded),
            // Its attempt was taken for failed, or is of after the backup that this log continues.
            None if order.kind == OrderKind::TopUp => TopUpChange::Charged(order.amount_cents),
            None if order.kind == OrderKind::Checkout && top_up.is_some_and(lifts) => {
                TopUpChange::Resumed
            }
            None => return,
        };
        self.push(changed(change));
    }

    /// Suspends the top-up for what happened to one of its orders.
    pub(super) fn suspend_top_up(&mut self, serial: OrderSerial, reason: Suspension) {
        let order = self.wallet.order(serial);
        let is_top_up = order.is_some_and(|order| order.kind == OrderKind::TopUp);
        if is_top_up && self.wallet.top_up().is_some_and(TopUp::is_on) {
            self.push(changed(TopUpChange::Suspended(reason)));
        }
    }
}

fn changed(change: TopUpChange) -> Change {
    Change::TopUp(Box::new(change))
}
