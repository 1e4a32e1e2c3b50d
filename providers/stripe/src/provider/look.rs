//! How something stands now.

use domain::{
    id::OrderId,
    text::{CheckoutId, Email, InvoiceId, PageUrl, SubscriptionId},
    time::Timestamp,
    wallet::{
        Receipt, SubscriptionStatus as Status,
        pay::{Billing, Payment},
    },
};
use port::{
    Cycle, CycleKind, InvoiceName, PaidOrder, Proration, Reference, Report, Standing, Subject,
    SubscriptionNow,
};

use super::Stripe;
use crate::{
    Error,
    checkout_sessions::{Session, SessionMode, SessionStatus},
    id::StripePriceId,
    invoices::{BillingReason, Invoice, InvoiceStatus, Line},
    payment_intents::IntentStatus,
    subscriptions::{Subscription, SubscriptionStatus},
};

impl Stripe {
    pub(super) async fn reports(&self, subject: &Subject) -> Result<Vec<Report>, Error> {
        match subject {
            Subject::Checkout(id) => self.session(id).await,
            Subject::Subscription(id) => self.subscription(id, None).await,
            Subject::Invoice(id) => self.invoice(id).await,
            Subject::Payment(id) => self.money(id).await,
        }
    }

    async fn session(&self, id: &CheckoutId) -> Result<Vec<Report>, Error> {
        let session = self.client.session(id).await?;
        let Some(order) = self.ours(&session.metadata) else {
            return Ok(Vec::new());
        };
        if session.is_paid() {
            return self.paid(order, &session).await;
        }
        let report = match session.status {
            Some(SessionStatus::Expired) => Report::Expired(order),
            Some(SessionStatus::Complete) if self.has_failed(&session).await? => {
                Report::Failed(order)
            }
            Some(SessionStatus::Complete) => Report::Processing(order),
            _ => Report::Open(order),
        };
        Ok(vec![report])
    }

    /// Whether the money of a session that is complete and unpaid will not come.
    async fn has_failed(&self, session: &Session) -> Result<bool, Error> {
        if let Some(intent) = &session.payment_intent {
            let status = self.client.payment_intent(intent).await?.status;
            let failed = [IntentStatus::RequiresPaymentMethod, IntentStatus::Canceled];
            return Ok(status.is_some_and(|status| failed.contains(&status)));
        }
        let Some(id) = &session.subscription else {
            return Ok(false);
        };
        let status = self.client.subscription(id).await?.status;
        let over = [
            SubscriptionStatus::IncompleteExpired,
            SubscriptionStatus::Canceled,
        ];
        Ok(over.contains(&status))
    }

    async fn paid(&self, order: OrderId, session: &Session) -> Result<Vec<Report>, Error> {
        let Some(price) = session.metadata.price else {
            return Ok(Vec::new());
        };
        let subscription = match (session.mode, &session.subscription) {
            (SessionMode::Subscription, Some(id)) => {
                let subscription = self.client.subscription(id).await?;
                Some(self.now(order, &subscription).await?)
            }
            _ => None,
        };
        // That of a subscription is its first invoice's.
        let payment = match (&session.payment_intent, &session.invoice) {
            (Some(intent), _) => Some(intent.clone()),
            (None, Some(invoice)) => self.paid_by(invoice).await?,
            (None, None) => None,
        };
        let receipt_url = match &payment {
            Some(payment) => self.receipt_page(payment).await?,
            None => None,
        };
        let paid = PaidOrder {
            reference: Reference {
                project: self.project,
                order,
                price,
                user: session.metadata.user.clone(),
                quantity: session.metadata.quantity,
            },
            amount_cents: session.amount_total,
            payment,
            customer: session.customer.clone(),
            email: session.email().map(ToOwned::to_owned),
            receipt: Receipt {
                receipt_url,
                invoice_url: self.invoice_page(session.invoice.as_ref()).await?,
                ..self.receipt()
            },
            subscription,
            invoice: session.invoice.clone(),
        };
        Ok(vec![Report::Paid(Box::new(paid))])
    }

    /// Where a bill can be read. One that is not there (any more) has no page.
    async fn invoice_page(&self, id: Option<&InvoiceId>) -> Result<Option<PageUrl>, Error> {
        let Some(id) = id else {
            return Ok(None);
        };
        match self.client.invoice(id).await {
            Ok(invoice) => Ok(page(invoice.hosted_invoice_url.as_deref())),
            Err(Error::Refused(refusal)) if refusal.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A bill, and the subscription that it is of.
    async fn invoice(&self, id: &InvoiceId) -> Result<Vec<Report>, Error> {
        let invoice = self.client.invoice(id).await?;
        match invoice.subscription() {
            Some(subscription) => self.subscription(subscription, Some(&invoice)).await,
            None => Ok(Vec::new()),
        }
    }

    /// A subscription; before it this bill of its, or its newest one, should that never be told.
    async fn subscription(
        &self,
        id: &SubscriptionId,
        invoice: Option<&Invoice>,
    ) -> Result<Vec<Report>, Error> {
        let subscription = self.client.subscription(id).await?;
        let Some(first) = self.ours(&subscription.metadata) else {
            return Ok(Vec::new());
        };
        let mut reports = Vec::new();
        if let Some(invoice) = invoice {
            reports.extend(self.cycle(first, &subscription, invoice).await?);
        }
        let newest = subscription.latest_invoice.as_ref();
        if let Some(newest) = newest.filter(|id| invoice.is_none_or(|known| known.id != **id)) {
            let newest = self.client.invoice(newest).await?;
            reports.extend(self.cycle(first, &subscription, &newest).await?);
        }
        let now = self.now(first, &subscription).await?;
        reports.push(Report::Subscription(Box::new(now)));
        Ok(reports)
    }

    async fn now(
        &self,
        first: OrderId,
        subscription: &Subscription,
    ) -> Result<SubscriptionNow, Error> {
        let price = match subscription.price() {
            Some(price) => match price.metadata.price {
                Some(ours) => Some(ours),
                None => self.our_price(&price.id).await?,
            },
            None => None,
        };
        Ok(SubscriptionNow {
            first,
            id: subscription.id.clone(),
            standing: standing(subscription),
            price,
            current_period_end: subscription.current_period_end().map(instant),
            cancel_at_period_end: subscription.is_ending(),
            is_trial: subscription.status == SubscriptionStatus::Trialing,
        })
    }

    /// A paid bill after the first. Any other one says nothing.
    async fn cycle(
        &self,
        first: OrderId,
        subscription: &Subscription,
        invoice: &Invoice,
    ) -> Result<Option<Report>, Error> {
        if invoice.status != Some(InvoiceStatus::Paid) {
            return Ok(None);
        }
        let whole = invoice.cycle_line();
        let (line, kind) = match (invoice.billing_reason, whole) {
            (Some(BillingReason::SubscriptionCycle), Some(line)) => (line, CycleKind::Renewal),
            (Some(BillingReason::SubscriptionUpdate), Some(line)) => (line, CycleKind::Anew),
            (Some(BillingReason::SubscriptionUpdate), None) => match self.switch(invoice).await? {
                Some((line, proration)) => (line, CycleKind::Switch(proration)),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let cycle_start = match &kind {
            CycleKind::Renewal | CycleKind::Anew => line.period.start,
            // The lines of a switch do not say when its cycle began.
            CycleKind::Switch(_) => subscription.start_of(line.period.end),
        };
        let price = match line.price() {
            Some(price) => self.our_price(price).await?,
            None => None,
        };
        let paid_by = self.paid_by(&invoice.id).await?;
        let receipt_url = match &paid_by {
            Some(payment) => self.receipt_page(payment).await?,
            None => None,
        };
        let email = invoice.customer_email.as_deref();
        let cycle = Cycle {
            first,
            kind,
            price,
            payment: Payment {
                amount_cents: invoice.amount_paid,
                payment: paid_by,
                invoice: None,
                customer: invoice.customer.clone(),
                email: email.and_then(|email| Email::new(email).ok()),
                receipt: Receipt {
                    receipt_url,
                    invoice_url: page(invoice.hosted_invoice_url.as_deref()),
                    ..self.receipt()
                },
            },
            billing: Billing {
                subscription: subscription.id.clone(),
                invoice: Some(invoice.id.clone()),
                cycle_start: instant(cycle_start),
                current_period_end: instant(line.period.end),
                trial: false,
                paused: standing(subscription) == Standing::Is(Status::Paused),
                reported_at: instant(invoice.created),
            },
            invoice: name_of(invoice),
        };
        Ok(Some(Report::Cycle(Box::new(cycle))))
    }

    /// What a switch in mid-cycle settles: the line that is charged for the rest of the cycle, and
    /// from when on.
    async fn switch<'a>(
        &self,
        invoice: &'a Invoice,
    ) -> Result<Option<(&'a Line, Proration)>, Error> {
        let mut lines = invoice.lines().iter().filter(|line| line.is_proration());
        let Some(charged) = lines.clone().find(|line| line.amount >= 0) else {
            return Ok(None);
        };
        let given_back = lines.find(|line| line.amount < 0).and_then(Line::price);
        let from = match given_back {
            Some(price) => self.our_price(price).await?,
            None => None,
        };
        let proration = Proration {
            at: instant(charged.period.start),
            from,
        };
        Ok(Some((charged, proration)))
    }

    /// Our price behind one of Stripe's, if there is one.
    async fn our_price(&self, id: &StripePriceId) -> Result<Option<domain::id::PriceId>, Error> {
        let known = (self.project, id.clone());
        if let Some(ours) = self.shared.ours.get(&known) {
            return Ok(*ours);
        }
        let ours = match self.client.price(id).await {
            Ok(price) => price.metadata.price,
            Err(Error::Refused(refusal)) if refusal.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        self.shared.ours.insert(known, ours);
        Ok(ours)
    }
}

/// A bill's name.
pub(super) fn name_of(invoice: &Invoice) -> InvoiceName {
    InvoiceName {
        id: invoice.id.clone(),
        created: instant(invoice.created),
    }
}

/// The address of a page, where it is one.
fn page(url: Option<&str>) -> Option<PageUrl> {
    url.and_then(|url| PageUrl::new(url).ok())
}

fn standing(subscription: &Subscription) -> Standing {
    match subscription.status {
        SubscriptionStatus::Active | SubscriptionStatus::Trialing if subscription.is_paused() => {
            Standing::Is(Status::Paused)
        }
        SubscriptionStatus::Active | SubscriptionStatus::Trialing => Standing::Is(Status::Active),
        SubscriptionStatus::PastDue | SubscriptionStatus::Unpaid => Standing::Is(Status::PastDue),
        SubscriptionStatus::Paused => Standing::Is(Status::Paused),
        SubscriptionStatus::Canceled => Standing::Is(Status::Canceled),
        SubscriptionStatus::IncompleteExpired => Standing::NeverBegan,
        SubscriptionStatus::Incomplete | SubscriptionStatus::Other => Standing::NotBegun,
    }
}

/// An instant out of Stripe's seconds.
pub(super) fn instant(seconds: i64) -> Timestamp {
    Timestamp(seconds.saturating_mul(1000))
}
