//! A buyer is done: the customer, payment, subscription and first invoice that come of a session.

use crate::core::{
    billing,
    payments::{self, Payment},
    prelude::*,
    promotions,
};

/// Pays with a card.
pub(super) fn at_once(
    books: &mut Books,
    mut session: Session,
    email: Option<&str>,
) -> Result<Session> {
    begin(books, &mut session, email)?;
    let total = session.total();
    match session.mode {
        Mode::Payment if total == 0 => session.payment_status = PaymentStatus::NoPaymentRequired,
        Mode::Payment => {
            let intent = match &session.intent {
                // Begun before the bank asked: now it is known whose it is.
                Some(id) => Intent {
                    customer: session.customer.clone(),
                    email: session.email.clone(),
                    ..books.find(id)?
                },
                None => intent(books, &session),
            };
            session.intent = Some(intent.head.id.clone());
            if session.wishes.invoice {
                billing::invoice_once(books, &mut session, &intent);
            }
            payments::succeed(books, intent);
            session.payment_status = PaymentStatus::Paid;
        }
        Mode::Subscription => {
            billing::start(books, &mut session, true)?;
            session.payment_status = if session.trial.is_some() {
                PaymentStatus::NoPaymentRequired
            } else {
                PaymentStatus::Paid
            };
        }
    }
    books.tell("checkout.session.completed", &session);
    Ok(session)
}

/// Pays with a card whose bank asks who pays. With nothing to pay nobody asks.
pub(super) fn challenge(books: &mut Books, mut session: Session, email: Option<String>) -> Session {
    let asked = session.mode == Mode::Payment && session.total() > 0;
    let intent = asked.then(|| {
        let intent = intent(books, &session);
        let id = intent.head.id.clone();
        payments::ask(books, intent);
        id
    });
    session.challenge = Some(Challenge { email, intent });
    books.put(session.clone());
    session
}

/// They are who they say.
pub(super) fn authenticated(books: &mut Books, mut session: Session) -> Result<Session> {
    let challenge = session.challenge.take();
    let email = challenge
        .as_ref()
        .and_then(|challenge| challenge.email.clone());
    session.intent = challenge.and_then(|challenge| challenge.intent);
    at_once(books, session, email.as_deref())
}

/// They are not, or gave up: another card may do.
pub(super) fn not_authenticated(books: &mut Books, mut session: Session) -> Session {
    let challenge = session.challenge.take();
    let intent = challenge
        .and_then(|challenge| challenge.intent)
        .and_then(|id| books.get::<Intent>(&id).cloned());
    if let Some(intent) = intent {
        payments::fail(books, intent);
    }
    books.put(session.clone());
    session
}

/// Pays by a method whose money comes later. With nothing to pay it is as good as a card.
pub(super) fn later(
    books: &mut Books,
    mut session: Session,
    email: Option<&str>,
) -> Result<Session> {
    if session.total() == 0 {
        return at_once(books, session, email);
    }
    begin(books, &mut session, email)?;
    session.later = Some(Later::Outstanding);
    match session.mode {
        Mode::Payment => session.intent = Some(intent(books, &session).head.id),
        Mode::Subscription => billing::start(books, &mut session, false)?,
    }
    books.tell("checkout.session.completed", &session);
    Ok(session)
}

/// The money came.
pub(super) fn settle(books: &mut Books, mut session: Session) -> Result<Session> {
    session.later = Some(Later::Settled);
    session.payment_status = PaymentStatus::Paid;
    match (session.mode, &session.intent) {
        (Mode::Payment, Some(intent)) => {
            let intent: Intent = books.find(intent)?;
            if session.wishes.invoice {
                billing::invoice_once(books, &mut session, &intent);
            }
            payments::succeed(books, intent);
        }
        _ => billing::settle_first(books, &session)?,
    }
    books.tell("checkout.session.async_payment_succeeded", &session);
    Ok(session)
}

/// It will not come; or it came, and a bank took it back.
pub(super) fn fail(books: &mut Books, mut session: Session, late: bool) -> Result<Session> {
    session.later = Some(Later::Failed);
    match (session.mode, &session.intent) {
        (Mode::Payment, Some(intent)) => {
            let intent: Intent = books.find(intent)?;
            payments::fail(books, intent);
        }
        _ => billing::fail_first(books, &session, late)?,
    }
    books.tell("checkout.session.async_payment_failed", &session);
    Ok(session)
}

fn begin(books: &mut Books, session: &mut Session, email: Option<&str>) -> Result<()> {
    session.status = Status::Complete;
    match &session.customer {
        // A customer's email is theirs to change elsewhere, as on Stripe's page.
        Some(id) => session.email = books.find::<Customer>(id)?.email,
        None => {
            session.email = email
                .map(Into::into)
                .or_else(|| session.customer_email.clone());
            if session.mode == Mode::Subscription || session.always_customer {
                let customer = Customer {
                    head: books.head("cus_"),
                    email: session.email.clone(),
                    ..Customer::default()
                };
                session.customer = Some(customer.head.id.clone());
                books.put(customer);
            }
        }
    }
    promotions::redeem(books, session);
    Ok(())
}

fn intent(books: &mut Books, session: &Session) -> Intent {
    let payment = Payment {
        amount: session.total(),
        currency: &session.currency,
        customer: session.customer.as_deref(),
        email: session.email.as_deref(),
        description: session.description.as_deref(),
        metadata: session.inner.clone(),
    };
    payments::begin(books, payment)
}
