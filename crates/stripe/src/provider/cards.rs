//! Cards on file: saving them, and charging them without their owner.

use domain::{
    id::OrderId,
    text::{CardId, CustomerId, Email, PaymentId},
    time::Timestamp,
    top_up::{DeclineKind, SavedCard},
    wallet::{Currency, OrderKind, Receipt, pay::Payment},
};
use payments_port::{
    CardCharge, CardOutcome, CardSetup, CardSetupRequest, CheckoutPage, Operation, PaidOrder,
    Report,
};

use super::{
    Stripe,
    checkout::{SessionAttempt, anonymous},
    fetch::page,
    money::readable,
};
use crate::{
    Error, ErrorResponse, Form,
    checkout_sessions::{self, Session, SessionStatus},
    declines::{CardError, decline},
    key,
    object::Expandable,
    payment_intents::{self, PaymentIntent},
    payment_methods::PaymentMethod,
};

impl Stripe {
    pub(super) async fn card_setup(
        &self,
        request: &CardSetupRequest<'_>,
    ) -> Result<CheckoutPage, Error> {
        let mut attempt = SessionAttempt::default();
        loop {
            let mut tried = request.clone();
            tried.customer = tried.customer.filter(|_| !attempt.as_new);
            tried.email = tried.email.filter(|_| !attempt.without_email);
            let form = checkout_sessions::setup_form(&tried);
            // Each opens a page of its own.
            let key = key::unique("card")?;
            let session = self
                .client
                .post(&["checkout", "sessions"], &form, &key)
                .await;
            let session: Result<Session, Error> =
                session.map_err(|error| anonymous(error, request.email));
            match attempt.after(&session) {
                Some(other) => attempt = other,
                None => return session?.page(),
            }
        }
    }

    /// The report of a page on which a card was entered; empty before that.
    pub(super) async fn card_saved(&self, session: &Session) -> Result<Vec<Report>, Error> {
        let is_ours = session.metadata.project == Some(self.project);
        let is_complete = session.status == Some(SessionStatus::Complete);
        let user = session.metadata.user.clone();
        let entered = session.setup_intent.as_ref().zip(user);
        let Some((entry, user)) = entered.filter(|_| is_ours && is_complete) else {
            return Ok(Vec::new());
        };
        let entry = self.client.open(entry).await?;
        let card = match &entry.payment_method {
            Some(method) => self.client.open(method).await?.saved(),
            None => None,
        };
        let report = card.map(|card| Report::CardSaved(Box::new(CardSetup { user, card })));
        Ok(report.into_iter().collect())
    }

    /// The card that a payment saved for payments without the buyer.
    pub(super) async fn card_of(&self, intent: &PaymentIntent) -> Result<Option<SavedCard>, Error> {
        let is_saved = intent.setup_future_usage.as_deref() == Some("off_session");
        match &intent.payment_method {
            Some(method) if is_saved => {
                let method = readable(self.client.open(method).await)?;
                Ok(method.and_then(PaymentMethod::saved))
            }
            _ => Ok(None),
        }
    }

    /// Charges a card once. Stripe keeps a request's answer under its idempotency key for a day; a payment that was made
    /// before that is found by the list, so the list is read first.
    pub(super) async fn charge_once(&self, charge: &CardCharge) -> Result<CardOutcome, Error> {
        let (order, since) = (charge.reference.order, charge.since);
        let known = self.found_charge(order, &charge.customer, &charge.operation, since);
        if let Some(outcome) = known.await? {
            return Ok(outcome);
        }
        let form = payment_intents::form(charge);
        let made =
            self.client
                .try_post::<PaymentIntent>(&["payment_intents"], &form, &charge.operation);
        match made.await.map_err(|failure| failure.cautious()) {
            Ok(intent) => Ok(self.outcome(order, intent).await),
            Err(Error::Refused(refusal)) if refusal.status == 402 => Ok(declined(*refusal)),
            Err(Error::Refused(refusal)) if self.has_lost(charge).await? => {
                let code = refusal.code.as_deref().unwrap_or("payment_method_detached");
                Ok(CardOutcome::Declined(
                    decline(code, DeclineKind::Final),
                    None,
                ))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the customer of a refused charge no longer has the card.
    async fn has_lost(&self, charge: &CardCharge) -> Result<bool, Error> {
        match self.client.read(&charge.card).await {
            Ok(method) => Ok(method.customer.as_ref() != Some(&charge.customer)),
            Err(Error::Refused(refusal)) => Ok(refusal.is_missing()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn found_charge(
        &self,
        order: OrderId,
        customer: &CustomerId,
        operation: &Operation,
        since: Timestamp,
    ) -> Result<Option<CardOutcome>, Error> {
        let found = self.client.find_card_charge(customer, operation, since);
        match found.await {
            Ok(Some(intent)) => Ok(Some(self.outcome(order, intent).await)),
            Ok(None) => Ok(None),
            // The customer is of a former account, which has all of their payments.
            Err(Error::Refused(refusal)) if refusal.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What became of a payment by a card on file.
    pub(super) async fn outcome(&self, order: OrderId, intent: PaymentIntent) -> CardOutcome {
        if intent.is_paid() {
            return CardOutcome::Paid(Box::new(self.paid_by_card(order, intent).await));
        }
        if intent.is_processing() {
            return CardOutcome::Processing(intent.id);
        }
        let error = intent.last_payment_error.unwrap_or_default();
        // A payment that waits for its buyer has no error.
        let waits = intent.status.as_deref() == Some("requires_action");
        let decline = match waits {
            true => decline("authentication_required", DeclineKind::ActionRequired),
            false => error.decline(),
        };
        CardOutcome::Declined(decline, Some(intent.id))
    }

    async fn paid_by_card(&self, order: OrderId, intent: PaymentIntent) -> PaidOrder {
        let charge = match &intent.latest_charge {
            Some(Expandable::Object(charge)) => Some((**charge).clone()),
            // Its pages may be missing; the payment may not.
            Some(Expandable::Id(id)) => self.client.read(id).await.ok(),
            None => None,
        };
        let receipt_url = charge
            .as_ref()
            .and_then(|charge| page(charge.receipt_url.as_deref()));
        let email = charge.and_then(|charge| charge.billing_details.email);
        PaidOrder {
            order,
            kind: OrderKind::TopUp,
            price: intent.metadata.price,
            user: intent.metadata.user,
            quantity: intent.metadata.quantity,
            payment: Payment {
                amount_cents: intent.amount_received,
                payment: Some(intent.id),
                invoice: None,
                customer: intent.customer,
                email: email.and_then(|email| Email::new(email).ok()),
                receipt: Receipt {
                    receipt_url,
                    ..self.receipt()
                },
            },
            currency: intent.currency.as_deref().and_then(Currency::new),
            billing: None,
            subscription: None,
            saved_card: None,
        }
    }

    pub(super) async fn close_charge(&self, payment: &PaymentId) -> Result<(), Error> {
        let form = Form::new().with("cancellation_reason", "abandoned");
        let key = key::unique(format_args!("cancel/{payment}"))?;
        let path = ["payment_intents", payment.as_str(), "cancel"];
        match self.change(&path, &form, &key).await {
            Err(Error::Refused(refusal)) => match self.client.read(payment).await?.status {
                Some(status) if status == "canceled" => Ok(()),
                _ => Err(Error::Refused(refusal)),
            },
            done => done,
        }
    }

    pub(super) async fn detach(&self, card: &CardId) -> Result<(), Error> {
        let key = key::unique(format_args!("detach/{card}"))?;
        let path = ["payment_methods", card.as_str(), "detach"];
        match self.change(&path, &Form::new(), &key).await {
            Err(Error::Refused(refusal)) => match self.client.read(card).await {
                Ok(method) if method.customer.is_some() => Err(Error::Refused(refusal)),
                Err(Error::Refused(other)) if !other.is_missing() => Err(Error::Refused(other)),
                Err(Error::Other(error)) => Err(error.into()),
                // It was detached before, or is of another account.
                Ok(_) | Err(Error::Refused(_)) => Ok(()),
            },
            done => done,
        }
    }
}

/// The outcome of a refusal by the bank.
fn declined(refusal: ErrorResponse) -> CardOutcome {
    let code = refusal.code;
    let of_request = CardError {
        code,
        ..refusal.declined
    };
    match refusal.payment_intent {
        Some(intent) => {
            let error = intent.last_payment_error.unwrap_or(of_request);
            CardOutcome::Declined(error.decline(), Some(intent.id))
        }
        None => CardOutcome::Declined(of_request.decline(), None),
    }
}
