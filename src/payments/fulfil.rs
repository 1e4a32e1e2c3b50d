//! What the provider reports, as what it means for a wallet. Reports come late, twice and in any
//! order, and about everything in an account, most of which is none of ours: what does not name this
//! project is left alone.
//!
//! A report about a subscription only says which one to look at: its state is asked for, so that no
//! order of reports matters, and is dated by when it was asked for.

use actors::Paid;
use domain::{
    Rejection, Timestamp,
    catalog::Interval,
    id::{OrderId, OrderSerial, PriceId},
    terms::Terms,
    text::{CheckoutId, CustomerId, Email, InvoiceId, PaymentId, SubscriptionId},
    wallet::{
        OrderKind, Reversal, SubscriptionStatus,
        pay::{Billing, Payment},
        place_order::PlaceOrder,
        purchase::Purchase,
        renew::Renew,
        switch::Switch,
        update_subscription::UpdateSubscription,
    },
};

use super::{Error, Payments};
use crate::{
    catalog::ProjectCatalog,
    provider::{
        event::{Event, Payload},
        stripe::{
            Client,
            charges::Charge,
            checkout_sessions::{Session, SessionMode, SessionStatus},
            disputes::{self, DisputedMoney},
            id::{
                InvoiceId as StripeInvoiceId, PaymentIntentId, SessionId, StripePriceId,
                SubscriptionId as StripeSubscriptionId,
            },
            invoices::{BillingReason, Invoice, InvoiceStatus},
            metadata::Metadata,
            subscriptions::{Subscription, SubscriptionStatus as StripeStatus},
        },
    },
};

/// One project's reports on their way to its wallets.
pub(super) struct Reports<'a> {
    payments: &'a Payments,
    project: &'a ProjectCatalog,
    client: Client,
}

impl<'a> Reports<'a> {
    pub(super) fn of(payments: &'a Payments, project: &'a ProjectCatalog) -> Result<Self, Error> {
        Ok(Self {
            payments,
            project,
            client: payments.0.accounts.client(project)?,
        })
    }

    /// A checkout session as the provider has it.
    pub(super) async fn read_session(&self, id: &SessionId) -> Result<Session, Error> {
        Ok(self.client.session(id).await?)
    }

    /// Does what an event asks for. Doing it again changes nothing.
    pub(super) async fn event(&self, event: &Event) -> Result<(), Error> {
        match &event.payload {
            Payload::CheckoutCompleted(session)
            | Payload::CheckoutPaymentSucceeded(session)
            | Payload::CheckoutExpired(session) => self.session(session).await.map(drop),
            Payload::CheckoutPaymentFailed(session) => self.payment_failed(session).await,
            Payload::InvoicePaid(invoice) => self.invoice_paid(invoice).await,
            // The subscription itself says what a failed payment makes of it.
            Payload::InvoicePaymentFailed(invoice) => match invoice.subscription() {
                Some(id) => self.follow(id, None).await,
                None => Ok(()),
            },
            // A payment starts it, which is reported by its checkout.
            Payload::SubscriptionCreated(_) | Payload::Ignored => Ok(()),
            Payload::SubscriptionUpdated(subscription)
            | Payload::SubscriptionDeleted(subscription) => {
                self.follow(&subscription.id, None).await
            }
            Payload::ChargeRefunded(charge) => self.refunded(charge).await,
            Payload::DisputeCreated(dispute)
            | Payload::DisputeFundsWithdrawn(dispute)
            | Payload::DisputeFundsReinstated(dispute)
            | Payload::DisputeClosed(dispute) => self.disputed(dispute).await,
        }
    }

    /// A checkout session as it is. Whether it may still change.
    pub(super) async fn session(&self, session: &Session) -> Result<bool, Error> {
        let Some(order) = self.ours(&session.metadata) else {
            return Ok(false);
        };
        if session.is_paid() {
            self.paid(order, session).await?;
            return Ok(false);
        }
        match session.status {
            Some(SessionStatus::Expired) => {
                self.tell(order, Purchase::Expire(order.serial)).await?;
                Ok(false)
            }
            // Complete and unpaid: its money is on the way.
            _ => Ok(true),
        }
    }

    async fn paid(&self, order: OrderId, session: &Session) -> Result<(), Error> {
        let at = self.now();
        let subscription = match (session.mode, &session.subscription) {
            (SessionMode::Subscription, Some(id)) => Some(self.client.subscription(id).await?),
            _ => None,
        };
        let billing = subscription
            .as_ref()
            .map(|subscription| billing(session, subscription, at))
            .transpose()?;
        let known = session.metadata.price;
        let known = known.and_then(|price| self.project.any_price(&price));
        let price = known.map_or(0, |price| price.amount_cents);
        let placed = known.map(|price| PlaceOrder {
            order: order.serial,
            terms: Terms::from(price),
            checkout: CheckoutId::new(session.id.as_str()).ok(),
            email: None,
        });
        let paid = Paid {
            placed,
            payment: Payment {
                amount_cents: session.amount_total.unwrap_or(price),
                payment: session
                    .payment_intent
                    .as_ref()
                    .and_then(|id| PaymentId::new(id.as_str()).ok()),
                customer: session
                    .customer
                    .as_ref()
                    .and_then(|id| CustomerId::new(id.as_str()).ok()),
                email: session.email().and_then(|email| Email::new(email).ok()),
            },
            billing,
        };
        let user = session.metadata.user.clone();
        let handle = &self.payments.0.handle;
        let done = handle.pay(&self.project.scope, order, user, paid).await;
        self.known(order, done)?;
        match subscription {
            // It may have changed since its checkout, and that may have been reported too early.
            Some(subscription) => self.update(order, &subscription, at).await,
            None => Ok(()),
        }
    }

    async fn payment_failed(&self, session: &Session) -> Result<(), Error> {
        match self.ours(&session.metadata) {
            Some(order) => self.tell(order, Purchase::Fail(order.serial)).await,
            None => Ok(()),
        }
    }

    /// A webhook's invoice may be written in an older version, which puts things elsewhere: only its
    /// name is taken from there.
    async fn invoice_paid(&self, invoice: &Invoice) -> Result<(), Error> {
        // The first one is its checkout's.
        let Some(BillingReason::SubscriptionCycle | BillingReason::SubscriptionUpdate) =
            invoice.billing_reason
        else {
            return Ok(());
        };
        match invoice.subscription() {
            Some(id) => self.follow(id, Some(&invoice.id)).await,
            None => Ok(()),
        }
    }

    /// A paid cycle, by its invoice. Any other invoice changes nothing.
    async fn renew(
        &self,
        first: OrderId,
        invoice: &StripeInvoiceId,
        paused: bool,
        at: Timestamp,
    ) -> Result<(), Error> {
        let invoice = self.client.invoice(invoice).await?;
        let kind = match invoice.billing_reason {
            Some(BillingReason::SubscriptionCycle) => OrderKind::Renewal,
            Some(BillingReason::SubscriptionUpdate) => OrderKind::Switch,
            _ => return Ok(()),
        };
        let paid = invoice.status == Some(InvoiceStatus::Paid);
        let (true, Some(id)) = (paid, invoice.subscription()) else {
            return Ok(());
        };
        let Some(line) = invoice.cycle_line() else {
            return self.switched(first, &invoice, paused, at).await;
        };
        let handle = &self.payments.0.handle;
        let scope = &self.project.scope;
        let known = match line.price() {
            Some(price) => self.terms(price).await?,
            None => None,
        };
        let terms = match known {
            Some(terms) => terms,
            None => {
                // Changed by hand at the provider: what was paid for is at least what was bought.
                tracing::warn!(order = %first, "A subscription was renewed under a price that is not ours");
                match handle.order(scope, first).await {
                    Ok(known) => known.order.terms,
                    Err(actors::Error::Rejected(_)) => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let renew = Renew {
            order: self.renewal(&invoice)?,
            kind,
            terms,
            payment: payment_of(&invoice),
            billing: Billing {
                subscription: name(id)?,
                invoice: InvoiceId::new(invoice.id.as_str()).ok(),
                cycle_start: seconds_to_instant(line.period.start),
                current_period_end: seconds_to_instant(line.period.end),
                trial: false,
                paused,
                // Never ahead of our own clock, by which what is asked for is dated.
                reported_at: seconds_to_instant(invoice.created).min(at),
            },
        };
        self.tell(first, Purchase::Renew(Box::new(renew))).await
    }

    /// A paid switch within a cycle, as the lines say that settle it: one gives back what is left of the
    /// old tier, one takes what is left of the new one.
    async fn switched(
        &self,
        first: OrderId,
        invoice: &Invoice,
        paused: bool,
        at: Timestamp,
    ) -> Result<(), Error> {
        let settling = || invoice.lines().iter().filter(|line| line.is_proration());
        let (Some(left), Some(taken), Some(id)) = (
            settling().find(|line| line.amount < 0),
            settling().find(|line| line.amount >= 0),
            invoice.subscription(),
        ) else {
            return Ok(());
        };
        let (Some(old), Some(new)) = (left.price(), taken.price()) else {
            return Ok(());
        };
        let (Some(old), Some(terms)) = (self.terms(old).await?, self.terms(new).await?) else {
            return Ok(());
        };
        let end = taken.period.end;
        let days = if terms.interval == Interval::Year {
            365
        } else {
            30
        };
        let switch = Switch {
            order: self.renewal(invoice)?,
            old,
            terms,
            at: seconds_to_instant(taken.period.start),
            payment: payment_of(invoice),
            billing: Billing {
                subscription: name(id)?,
                invoice: InvoiceId::new(invoice.id.as_str()).ok(),
                // The lines do not say when it began.
                cycle_start: seconds_to_instant(end.saturating_sub(days * 86_400)),
                current_period_end: seconds_to_instant(end),
                trial: false,
                paused,
                reported_at: seconds_to_instant(invoice.created).min(at),
            },
        };
        self.tell(first, Purchase::Switch(Box::new(switch))).await
    }

    /// The terms of one of the provider's prices, if it is one of ours.
    async fn terms(&self, price: &StripePriceId) -> Result<Option<Terms>, Error> {
        let project = self.project.project.id;
        let ours = self.payments.our_price(&self.client, project, price);
        Ok(ours.await?.and_then(|id| self.known_terms(id)))
    }

    fn known_terms(&self, price: PriceId) -> Option<Terms> {
        self.project.any_price(&price).map(Terms::from)
    }

    /// Asks how a subscription stands, and says so; also that this invoice of its was paid, or its
    /// newest one, should that report have been lost.
    async fn follow(
        &self,
        id: &StripeSubscriptionId,
        invoice: Option<&StripeInvoiceId>,
    ) -> Result<(), Error> {
        let at = self.now();
        let subscription = self.client.subscription(id).await?;
        let Some(order) = self.ours(&subscription.metadata) else {
            return Ok(());
        };
        if let Some(invoice) = invoice.or(subscription.latest_invoice.as_ref()) {
            let paused = subscription.status == StripeStatus::Paused;
            self.renew(order, invoice, paused, at).await?;
        }
        self.update(order, &subscription, at).await
    }

    async fn update(
        &self,
        order: OrderId,
        subscription: &Subscription,
        at: Timestamp,
    ) -> Result<(), Error> {
        let status = match subscription.status {
            StripeStatus::Active | StripeStatus::Trialing => SubscriptionStatus::Active,
            StripeStatus::PastDue | StripeStatus::Unpaid => SubscriptionStatus::PastDue,
            StripeStatus::Canceled | StripeStatus::IncompleteExpired => {
                SubscriptionStatus::Canceled
            }
            StripeStatus::Paused => SubscriptionStatus::Paused,
            // Not begun: nothing changes for the wallet.
            StripeStatus::Incomplete | StripeStatus::Other => return Ok(()),
        };
        let report = UpdateSubscription {
            subscription: name(&subscription.id)?,
            terms: self.terms_of(subscription).await?,
            status,
            current_period_end: period_end(subscription, at),
            cancel_at_period_end: subscription.is_ending(),
            grace_days: self.project.project.subscription_grace_days,
            reported_at: at,
        };
        self.tell(order, Purchase::Update(Box::new(report))).await
    }

    async fn terms_of(&self, subscription: &Subscription) -> Result<Option<Terms>, Error> {
        let Some(price) = subscription.price() else {
            return Ok(None);
        };
        match price.metadata.price {
            Some(ours) => Ok(self.known_terms(ours)),
            None => self.terms(&price.id).await,
        }
    }

    async fn refunded(&self, charge: &Charge) -> Result<(), Error> {
        let order = match self.ours(&charge.metadata) {
            Some(order) => Some(order),
            None => {
                self.order_of_payment(charge.payment_intent.as_ref())
                    .await?
            }
        };
        let Some(order) = order else { return Ok(()) };
        let known = self.known_reversal(order).await?;
        let reversal = Reversal {
            // A sum: a smaller one is an older report.
            refunded_cents: charge.amount_refunded.max(known.refunded_cents),
            as_of: self.now(),
            ..known
        };
        self.tell_of_reversal(order, reversal).await
    }

    async fn disputed(&self, dispute: &disputes::Dispute) -> Result<(), Error> {
        let disputed_cents = match dispute.status.money() {
            DisputedMoney::Withheld | DisputedMoney::Lost => dispute.amount,
            DisputedMoney::Kept => 0,
            // A refund speaks for itself.
            DisputedMoney::Unclear => return Ok(()),
        };
        let intent = dispute.payment_intent.as_ref();
        let order = match intent {
            Some(id) => self.ours(&self.client.payment_intent(id).await?.metadata),
            None => None,
        };
        let order = match order {
            Some(order) => Some(order),
            None => self.order_of_payment(intent).await?,
        };
        let Some(order) = order else { return Ok(()) };
        let reversal = Reversal {
            disputed_cents,
            as_of: self.now(),
            ..self.known_reversal(order).await?
        };
        self.tell_of_reversal(order, reversal).await
    }

    /// The order of a subscription's payment, by the invoice that it pays: the checkout's order for
    /// the first one, a renewal's for each later one.
    async fn order_of_payment(
        &self,
        intent: Option<&PaymentIntentId>,
    ) -> Result<Option<OrderId>, Error> {
        let Some(intent) = intent else {
            return Ok(None);
        };
        let payments = self.client.invoice_payments_of_intent(intent).await?;
        let Some(payment) = payments.first() else {
            return Ok(None);
        };
        let invoice = self.client.invoice(&payment.invoice).await?;
        let Some(first) = self.ours(&invoice.subscription_metadata()) else {
            return Ok(None);
        };
        Ok(match invoice.billing_reason {
            Some(BillingReason::SubscriptionCycle | BillingReason::SubscriptionUpdate) => {
                Some(OrderId {
                    serial: self.renewal(&invoice)?,
                    wallet: first.wallet,
                })
            }
            Some(BillingReason::SubscriptionCreate) => Some(first),
            _ => None,
        })
    }

    fn renewal(&self, invoice: &Invoice) -> Result<OrderSerial, Error> {
        let id = InvoiceId::new(invoice.id.as_str())
            .map_err(|_| Error::Defect("an invoice's name is none"))?;
        let created = seconds_to_instant(invoice.created);
        let handle = &self.payments.0.handle;
        Ok(handle.renewal_order(&self.project.scope, &id, created))
    }

    /// The order that something of the provider's was made for, if it is one of this project's.
    fn ours(&self, metadata: &Metadata) -> Option<OrderId> {
        let project = metadata.project?;
        (project == self.project.project.id).then_some(metadata.order)?
    }

    async fn tell(&self, order: OrderId, report: Purchase) -> Result<(), Error> {
        let handle = &self.payments.0.handle;
        let told = handle.report(&self.project.scope, order.wallet, report);
        self.known(order, told.await).map(drop)
    }

    /// Where not even the wallet is there, the payment's own report has yet to come.
    async fn tell_of_reversal(&self, order: OrderId, reversal: Reversal) -> Result<(), Error> {
        let handle = &self.payments.0.handle;
        let report = Purchase::Reverse(order.serial, reversal);
        let told = handle.report(&self.project.scope, order.wallet, report);
        match told.await {
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => Err(Error::TooEarly),
            told => self.known(order, told).map(drop),
        }
    }

    async fn known_reversal(&self, order: OrderId) -> Result<Reversal, Error> {
        let handle = &self.payments.0.handle;
        match handle.order(&self.project.scope, order).await {
            Ok(known) => Ok(known.order.reversal),
            Err(actors::Error::Rejected(_)) => Ok(Reversal::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// A report of an order that is not there has nobody to go to: not an error of anybody's.
    fn known(&self, order: OrderId, done: Result<bool, actors::Error>) -> Result<bool, Error> {
        match done {
            Ok(changed) => Ok(changed),
            Err(actors::Error::Rejected(rejection)) => {
                tracing::warn!(%order, reason = %rejection, "A report of the payment provider was of no use");
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn now(&self) -> Timestamp {
        self.payments.0.handle.now_in(&self.project.scope)
    }
}

fn payment_of(invoice: &Invoice) -> Payment {
    let customer = invoice.customer.as_ref();
    let email = invoice.customer_email.as_deref();
    Payment {
        amount_cents: invoice.amount_paid,
        payment: None,
        customer: customer.and_then(|id| CustomerId::new(id.as_str()).ok()),
        email: email.and_then(|email| Email::new(email).ok()),
    }
}

fn billing(
    session: &Session,
    subscription: &Subscription,
    at: Timestamp,
) -> Result<Billing, Error> {
    Ok(Billing {
        subscription: name(&subscription.id)?,
        invoice: session
            .invoice
            .as_ref()
            .and_then(|id| InvoiceId::new(id.as_str()).ok()),
        // Before all that follows; nothing else is asked of the first one.
        cycle_start: Timestamp(0),
        current_period_end: period_end(subscription, at),
        trial: subscription.status == StripeStatus::Trialing,
        paused: false,
        reported_at: at,
    })
}

fn name(id: &StripeSubscriptionId) -> Result<SubscriptionId, Error> {
    SubscriptionId::new(id.as_str()).map_err(|_| Error::Defect("a subscription's name is none"))
}

/// Without one it ends now: the next report says more.
fn period_end(subscription: &Subscription, at: Timestamp) -> Timestamp {
    subscription
        .current_period_end()
        .map_or(at, seconds_to_instant)
}

/// An instant out of the provider's seconds.
pub(super) fn seconds_to_instant(seconds: i64) -> Timestamp {
    Timestamp(seconds.saturating_mul(1000))
}
