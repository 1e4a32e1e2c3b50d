//! Completing a session: its customer, payment, subscription and first invoice.

use super::Buyer;
use crate::core::prelude::*;

impl Session {
    pub(super) fn pay(mut self, db: &mut Database, buyer: &Buyer) -> Result<Self> {
        self.complete(db, buyer.email.as_deref())?;
        let method = match self.saves_card() {
            true => {
                let card = cards::typed(buyer.card.as_deref())?;
                let method = PaymentMethod::enter(db, card, self.customer.clone());
                Some(method.head.id)
            }
            false => None,
        };
        match self.mode {
            Mode::Payment if self.total() == 0 => {
                self.payment_status = PaymentStatus::NoPaymentRequired;
            }
            Mode::Payment => {
                let intent = match &self.intent {
                    // Created before 3-D Secure, when its customer was not known yet.
                    Some(id) => PaymentIntent {
                        customer: self.customer.clone(),
                        email: self.email.clone(),
                        ..db.find(id)?
                    },
                    None => self.begin_payment(db),
                };
                let intent = PaymentIntent {
                    payment_method: method,
                    ..intent
                };
                self.intent = Some(intent.head.id.clone());
                self.paid_by(db, intent);
            }
            Mode::Setup => {
                let entry = self.setup_intent.as_deref().unwrap_or_default();
                let entry = SetupIntent {
                    customer: self.customer.clone(),
                    payment_method: method,
                    status: SetupStatus::Succeeded,
                    ..db.find(entry)?
                };
                db.put_and_emit("setup_intent.succeeded", &entry);
            }
            Mode::Subscription => {
                self.start(db, true)?;
                self.payment_status = match self.trial {
                    Some(_) => PaymentStatus::NoPaymentRequired,
                    None => PaymentStatus::Paid,
                };
            }
        }
        db.put_and_emit("checkout.session.completed", &self);
        Ok(self)
    }

    /// Pays with a card that needs 3-D Secure. Only a payment of more than zero has an intent for it.
    pub(super) fn challenge(mut self, db: &mut Database, buyer: &Buyer) -> Self {
        let is_charged = self.mode == Mode::Payment && self.total() > 0;
        let intent = is_charged.then(|| {
            let mut intent = self.begin_payment(db);
            intent.ask(db);
            intent.head.id
        });
        let Buyer { email, card, .. } = buyer.clone();
        self.challenge = Some(Challenge {
            email,
            card,
            intent,
        });
        db.stored(self)
    }

    pub(super) fn authenticated(mut self, db: &mut Database) -> Result<Self> {
        let Challenge {
            email,
            card,
            intent,
        } = self.challenge.take().unwrap_or_default();
        self.intent = intent;
        let buyer = Buyer {
            email,
            card,
            ..Buyer::default()
        };
        self.pay(db, &buyer)
    }

    /// 3-D Secure failed or was abandoned: the buyer may use another card.
    pub(super) fn not_authenticated(mut self, db: &mut Database) -> Self {
        let intent = self.challenge.take().and_then(|challenge| challenge.intent);
        if let Some(intent) = intent.and_then(|id| db.get::<PaymentIntent>(&id).cloned()) {
            intent.fail(db);
        }
        db.stored(self)
    }

    /// Pays by a delayed method. A total of zero completes at once.
    pub(super) fn pay_later(mut self, db: &mut Database, buyer: &Buyer) -> Result<Self> {
        if self.total() == 0 {
            return self.pay(db, buyer);
        }
        self.complete(db, buyer.email.as_deref())?;
        self.later = Some(LaterPayment::Outstanding);
        match self.mode {
            Mode::Subscription => self.start(db, false)?,
            Mode::Payment | Mode::Setup => self.intent = Some(self.begin_payment(db).head.id),
        }
        db.put_and_emit("checkout.session.completed", &self);
        Ok(self)
    }

    pub(super) fn settle(mut self, db: &mut Database) -> Result<Self> {
        self.later = Some(LaterPayment::Settled);
        match (self.mode, &self.intent) {
            (Mode::Payment, Some(intent)) => {
                let intent = db.find(intent)?;
                self.paid_by(db, intent);
            }
            _ => self.settle_first(db)?,
        }
        self.payment_status = PaymentStatus::Paid;
        db.put_and_emit("checkout.session.async_payment_succeeded", &self);
        Ok(self)
    }

    /// The pending payment failed, or the bank returned it late.
    pub(super) fn fail(mut self, db: &mut Database, late: bool) -> Result<Self> {
        self.later = Some(LaterPayment::Failed);
        match (self.mode, &self.intent) {
            (Mode::Payment, Some(intent)) => db.find::<PaymentIntent>(intent)?.fail(db),
            _ => self.fail_first(db, late)?,
        }
        db.put_and_emit("checkout.session.async_payment_failed", &self);
        Ok(self)
    }

    fn complete(&mut self, db: &mut Database, email: Option<&str>) -> Result<()> {
        self.status = SessionStatus::Complete;
        match &self.customer {
            Some(id) => self.email = db.find::<Customer>(id)?.email,
            None => {
                let email = email.map(Into::into);
                self.email = email.or_else(|| self.customer_email.clone());
                if self.mode == Mode::Subscription || self.always_customer {
                    let customer = Customer {
                        head: db.head("cus_"),
                        email: self.email.clone(),
                        ..Customer::default()
                    };
                    self.customer = Some(customer.head.id.clone());
                    db.put(customer);
                }
            }
        }
        promotions::redeem(db, self);
        Ok(())
    }

    fn paid_by(&mut self, db: &mut Database, intent: PaymentIntent) {
        if self.options.invoice {
            self.invoice_once(db, &intent);
        }
        intent.succeed(db);
        self.payment_status = PaymentStatus::Paid;
    }

    /// Creates its payment intent, which is pending.
    fn begin_payment(&self, db: &mut Database) -> PaymentIntent {
        let intent = PaymentIntent {
            head: db.head("pi_"),
            amount: self.total(),
            currency: self.currency.clone(),
            customer: self.customer.clone(),
            email: self.email.clone(),
            description: self.description.clone(),
            metadata: self.inner.clone(),
            future_usage: self.future_usage.clone(),
            ..PaymentIntent::default()
        };
        db.stored(intent)
    }
}
