//! An invoice is finalized, paid, voided or marked uncollectible.

use crate::core::prelude::*;

impl Invoice {
    /// Opens a draft for payment, using up the customer's balance.
    pub(super) fn open_for_payment(mut self, db: &mut Database) -> Self {
        if let Some(mut customer) = db.get::<Customer>(&self.customer).cloned() {
            self.balance = customer.balance;
            if customer.balance != self.balance_after() {
                customer.balance = self.balance_after();
                db.put(customer);
            }
        }
        self.status = InvoiceStatus::Open;
        self.finalizes_at = None;
        self.finalized_at = Some(db.now);
        db.put_and_emit("invoice.finalized", &self);
        self
    }

    /// Finalizes a draft after its hour, or on request: it is opened and paid, or retried later.
    pub(crate) fn finalize(self, db: &mut Database) -> Result<()> {
        let message =
            "This invoice is already finalized, you can't re-finalize a non-draft invoice.";
        Refusal::invalid(message)
            .with_code("invoice_not_editable")
            .when(self.status != InvoiceStatus::Draft)?;
        let invoice = self.open_for_payment(db);
        let subscription = db.get::<Subscription>(&invoice.subscription);
        let declines = db.declines(&invoice.customer);
        match subscription.filter(|one| one.no_card || declines).cloned() {
            Some(subscription) if invoice.due_amount() > 0 => {
                let retries = subscription.status != SubscriptionStatus::Unpaid;
                match retries && subscription.status.is_running() {
                    true => subscription.fall_due(db, invoice).map(drop),
                    false => invoice.miss(db, None),
                }
            }
            _ => invoice.collect_unpaid(db),
        }
    }

    /// Pays it. An unpaid subscription continues once none of its invoices is open.
    fn collect_unpaid(self, db: &mut Database) -> Result<()> {
        let waits = |other: &&Invoice| {
            other.subscription == self.subscription
                && other.status == InvoiceStatus::Open
                && other.head.id != self.head.id
        };
        let subscription = db.get::<Subscription>(&self.subscription);
        let subscription = subscription.filter(|one| one.status == SubscriptionStatus::Unpaid);
        let goes_on = subscription.filter(|_| !db.all::<Invoice>().any(|other| waits(&other)));
        if let Some(mut subscription) = goes_on.cloned() {
            subscription.status = SubscriptionStatus::Active;
            subscription.updated(db);
        }
        self.collect(db)
    }

    pub(crate) fn pay(self, db: &mut Database) -> Result<()> {
        match self.status {
            InvoiceStatus::Draft => self.finalize(db),
            InvoiceStatus::Open => {
                let subscription = db.get::<Subscription>(&self.subscription);
                let waits = subscription.filter(|subscription| {
                    let retry = subscription.retry.as_ref().map(|retry| &retry.invoice);
                    let due = retry.or(subscription.latest_invoice.as_ref());
                    subscription.status == SubscriptionStatus::PastDue && due == Some(&self.head.id)
                });
                match waits.cloned() {
                    Some(subscription) => subscription.pay_now(db),
                    None if db.declines(&self.customer) => Err(Refusal::declined()),
                    None => self.collect_unpaid(db),
                }
            }
            InvoiceStatus::Paid => {
                Err(Refusal::invalid("Invoice is already paid").with_code("invoice_already_paid"))
            }
            InvoiceStatus::Void | InvoiceStatus::Uncollectible => {
                Err(Refusal::invalid("This invoice can no longer be paid."))
            }
        }
    }

    pub(crate) fn pay_part(mut self, db: &mut Database, amount: i64) -> Result<()> {
        Refusal::invalid("Only an open invoice can be paid in parts.")
            .when(self.status != InvoiceStatus::Open)?;
        let message = "A partial payment must be above 0 and below the remaining amount.";
        Refusal::param("amount", message).when(!(1..self.remaining()).contains(&amount))?;
        let intent = self.begin_payment(db, amount);
        let payment = self.paid_by(db, &intent, Some(db.now));
        intent.succeed(db);
        db.emit("invoice_payment.paid", &payment);
        self.parts = self.parts.saturating_add(amount);
        db.put_and_emit("invoice.updated", &self);
        Ok(())
    }

    pub(crate) fn void(self, db: &mut Database) -> Result<()> {
        Refusal::invalid("You can only void an invoice that is open.")
            .with_code("invoice_not_editable")
            .when(self.status != InvoiceStatus::Open)?;
        self.give_up(db, true);
        Ok(())
    }

    pub(super) fn give_up(mut self, db: &mut Database, void: bool) {
        let (status, kind) = match void {
            true => (InvoiceStatus::Void, "invoice.voided"),
            false => (InvoiceStatus::Uncollectible, "invoice.marked_uncollectible"),
        };
        self.status = status;
        self.next_attempt = None;
        self.ended_at = Some(db.now);
        db.put_and_emit(kind, &self);
    }

    /// The payment intent for the remaining amount; created once.
    pub(super) fn payment(&mut self, db: &mut Database) -> Result<PaymentIntent> {
        let amount = self.remaining();
        if let Some(intent) = &self.intent {
            let intent: PaymentIntent = db.find(intent)?;
            return Ok(PaymentIntent { amount, ..intent });
        }
        let intent = self.begin_payment(db, amount);
        self.intent = Some(intent.head.id.clone());
        self.paid_by(db, &intent, None);
        db.put(self.clone());
        Ok(intent)
    }

    fn begin_payment(&self, db: &mut Database, amount: i64) -> PaymentIntent {
        let description = match self.reason {
            BillingReason::SubscriptionCreate => "Subscription creation",
            BillingReason::SubscriptionCycle
            | BillingReason::SubscriptionUpdate
            | BillingReason::Manual => "Subscription update",
        };
        let intent = PaymentIntent {
            head: db.head("pi_"),
            amount,
            currency: self.currency.clone(),
            customer: Some(self.customer.clone()),
            email: self.email.clone(),
            description: Some(description.into()),
            // The subscription's metadata is not copied here, as at Stripe.
            ..PaymentIntent::default()
        };
        db.stored(intent)
    }

    /// Records that a payment intent is for it.
    pub(super) fn paid_by(
        &self,
        db: &mut Database,
        intent: &PaymentIntent,
        paid_at: Option<i64>,
    ) -> InvoicePayment {
        let payment = InvoicePayment {
            head: db.head("inpay_"),
            invoice: self.head.id.clone(),
            intent: intent.head.id.clone(),
            amount: intent.amount,
            currency: self.currency.clone(),
            is_default: self.intent.as_ref() == Some(&intent.head.id),
            paid_at,
        };
        db.stored(payment)
    }

    /// Pays it, unless nothing remains to be paid.
    pub(super) fn collect(mut self, db: &mut Database) -> Result<()> {
        if self.remaining() > 0 {
            let intent = self.payment(db)?;
            let (id, amount) = (intent.head.id.clone(), intent.amount);
            intent.succeed(db);
            let paid = db.copies::<InvoicePayment>(|payment| {
                payment.invoice == self.head.id && payment.intent == id
            });
            for mut payment in paid {
                payment.amount = amount;
                payment.paid_at = Some(db.now);
                db.put(payment);
            }
        }
        self.is_paid(db);
        Ok(())
    }

    pub(super) fn is_paid(&mut self, db: &mut Database) {
        self.attempts += 1;
        self.status = InvoiceStatus::Paid;
        self.paid_at = Some(db.now);
        self.next_attempt = None;
        db.put_and_emit("invoice.paid", self);
        db.emit("invoice.payment_succeeded", self);
    }

    /// Records a failed attempt to pay it.
    pub(super) fn miss(mut self, db: &mut Database, next_attempt: Option<i64>) -> Result<()> {
        let intent = self.payment(db)?;
        intent.fail(db);
        self.attempts += 1;
        self.next_attempt = next_attempt;
        db.put_and_emit("invoice.payment_failed", &self);
        Ok(())
    }
}
