//! Reads the current state of a checkout session, a subscription or a payment.

use domain::{
    id::{OrderId, PriceId},
    text::{CheckoutId, PageUrl, PaymentId},
    time::Timestamp,
    wallet::{
        Currency, OpenInvoice, OrderKind, Receipt, SubscriptionStatus as Status,
        pay::{PaidCycle, Payment},
    },
};
use payments_port::{ObjectRef, Owners, PaidOrder, Report, SubscriptionState};

use super::{
    Stripe,
    money::readable,
    tier::{Tier, instant, is_after_end, status},
};
use crate::{
    Error,
    checkout_sessions::{Session, SessionStatus},
    id::StripePriceId,
    invoices::{BillingReason, Invoice, InvoiceStatus},
    object::Expandable,
    payment_intents::PaymentIntent,
    prices::StoredPrice,
    subscriptions::{Subscription, SubscriptionItem, SubscriptionStatus},
};

impl Stripe {
    pub(super) async fn reports(
        &self,
        subject: &ObjectRef,
        owners: &dyn Owners,
    ) -> Result<Vec<Report>, Error> {
        match subject {
            ObjectRef::Checkout(id) => self.session(id, owners).await,
            ObjectRef::Subscription(id) => {
                let subscription = self.client.read(id).await?;
                self.subscription(subscription, None, owners).await
            }
            ObjectRef::Invoice(id) => {
                let invoice = self.client.read(id).await?;
                let subscription = match invoice.subscription() {
                    Some(subscription) => self.client.open(subscription).await?,
                    None => return Ok(Vec::new()),
                };
                self.subscription(subscription, Some(invoice), owners).await
            }
            ObjectRef::Payment(id) => self.money(id, owners).await,
        }
    }

    async fn session(&self, id: &CheckoutId, owners: &dyn Owners) -> Result<Vec<Report>, Error> {
        let placed = owners.order_of(&ObjectRef::Checkout(id.clone()))?;
        let session = self.client.read(id).await?;
        if session.is_setup() {
            return self.card_saved(&session).await;
        }
        let Some(order) = placed.or_else(|| self.ours(&session.metadata)) else {
            return Ok(Vec::new());
        };
        let subscription = match &session.subscription {
            Some(reference) => Some(self.client.open(reference).await?),
            None => None,
        };
        if session.is_paid() {
            return self.paid(order, &session, subscription, owners).await;
        }
        let report = match session.status {
            Some(SessionStatus::Expired) => Report::Expired(order),
            Some(SessionStatus::Complete) => {
                if !self.has_failed(&session, subscription.as_ref()).await? {
                    return Ok(vec![Report::Processing(order)]);
                }
                let mut reports = vec![Report::Failed(order)];
                // The subscription continues until Stripe ends it.
                if let Some(subscription) = subscription {
                    let mut state = self.subscription_state(order, &subscription).await?.0;
                    let invoice = session.invoice.as_ref().and_then(Expandable::object);
                    let invoices = invoice.cloned().into_iter().collect();
                    state.open_invoice = self.oldest_open(&subscription, invoices).await?;
                    reports.push(Report::Subscription(Box::new(state)));
                }
                return Ok(reports);
            }
            _ => Report::Open(order),
        };
        Ok(vec![report])
    }

    /// Whether the payment of a complete, unpaid session failed: judged by its payment intent, or that of the
    /// subscription's first invoice.
    async fn has_failed(
        &self,
        session: &Session,
        subscription: Option<&Subscription>,
    ) -> Result<bool, Error> {
        let failed = [
            SubscriptionStatus::IncompleteExpired,
            SubscriptionStatus::Canceled,
            SubscriptionStatus::PastDue,
            SubscriptionStatus::Unpaid,
        ];
        if subscription.is_some_and(|subscription| failed.contains(&subscription.status)) {
            return Ok(true);
        }
        let invoice = session.invoice.as_ref().and_then(Expandable::object);
        let of_invoice = invoice.and_then(Invoice::intent);
        let status = match session.payment_intent.as_ref().or(of_invoice) {
            Some(intent) => {
                let intent = readable(self.client.open(intent).await)?;
                intent.and_then(|intent| intent.status)
            }
            None => None,
        };
        // No attempt was made, it failed, or it was canceled.
        let failed = ["requires_payment_method", "canceled"];
        Ok(status.is_some_and(|status| failed.contains(&&*status)))
    }

    async fn paid(
        &self,
        order: OrderId,
        session: &Session,
        subscription: Option<Subscription>,
        owners: &dyn Owners,
    ) -> Result<Vec<Report>, Error> {
        let invoice = session.invoice.as_ref().and_then(Expandable::object);
        let state = match &subscription {
            Some(subscription) => Some(self.subscription_state(order, subscription).await?.0),
            None => None,
        };
        let both = state.as_ref().zip(subscription.as_ref());
        let billing =
            both.and_then(|(state, subscription)| first_billing(state, subscription, invoice));
        let mut saved_card = None;
        let (payment, receipt_url) = match (&session.payment_intent, invoice) {
            (Some(reference), _) => {
                let intent = readable(self.client.open(reference).await)?;
                if let Some(intent) = &intent {
                    saved_card = self.card_of(intent).await?;
                }
                (
                    Some(reference.id().clone()),
                    intent.as_ref().and_then(receipt_page),
                )
            }
            (None, Some(invoice)) => self.paid_by(invoice).await?,
            (None, None) => (None, None),
        };
        let quantity = session.metadata.quantity;
        let terms = session.metadata.price.and_then(|price| owners.terms(price));
        let full_price = terms.map_or(0, |terms| quantity.of(terms.amount_cents));
        let paid = PaidOrder {
            order,
            kind: OrderKind::Checkout,
            price: session.metadata.price,
            user: session.metadata.user.clone(),
            quantity,
            payment: Payment {
                amount_cents: session.amount_total.unwrap_or(full_price),
                payment,
                invoice: session.invoice.as_ref().map(|invoice| invoice.id().clone()),
                customer: session.customer.clone(),
                email: session.email().and_then(email),
                receipt: Receipt {
                    receipt_url,
                    invoice_url: invoice.and_then(page_of),
                    ..self.receipt()
                },
            },
            currency: session.currency.as_deref().and_then(Currency::new),
            billing,
            subscription: state,
            saved_card,
        };
        Ok(vec![Report::Paid(Box::new(paid))])
    }

    /// Reports a subscription, the paid invoices of its running cycle, and the given invoice.
    async fn subscription(
        &self,
        subscription: Subscription,
        invoice: Option<Invoice>,
        owners: &dyn Owners,
    ) -> Result<Vec<Report>, Error> {
        let newest = subscription.latest_invoice.as_ref();
        let newest = newest.and_then(Expandable::object);
        let snapshot = invoice
            .as_ref()
            .or(newest)
            .map(Invoice::subscription_metadata);
        // A placed order counts; the metadata only without one.
        let named = self.ours(&subscription.metadata);
        let placed = owners.order_of(&ObjectRef::Subscription(subscription.id.clone()))?;
        let billed = || snapshot.as_ref().and_then(|metadata| self.ours(metadata));
        let Some(first_order) = placed.or(named).or_else(billed) else {
            return Ok(Vec::new());
        };
        if named.is_none() {
            self.mark(&subscription, first_order).await;
        }
        let (mut state, tier) = self.subscription_state(first_order, &subscription).await?;
        let mut reports = Vec::new();
        let invoices = self.invoices(&subscription, invoice).await?;
        if state.status == Some(Status::PastDue) {
            state.open_invoice = self.oldest_open(&subscription, invoices.clone()).await?;
        }
        for invoice in invoices {
            let is_first = invoice.billing_reason == Some(BillingReason::SubscriptionCreate);
            if invoice.status != Some(InvoiceStatus::Paid) {
                let late = [Status::PastDue, Status::Canceled].map(Some);
                let began = subscription.status != SubscriptionStatus::IncompleteExpired;
                if is_first && began && late.contains(&state.status) {
                    reports.push(Report::Failed(first_order));
                }
                continue;
            }
            let placed = owners.order_of(&ObjectRef::Invoice(invoice.id.clone()))?;
            if placed.is_some() && !invoice.may_make_several_orders() {
                continue;
            }
            if is_first {
                let report = self.first_invoice(first_order, &state, &subscription, &invoice);
                reports.push(Report::Paid(Box::new(report.await?)));
                continue;
            }
            match self.bill(&subscription, &tier, invoice, owners).await? {
                Ok(paid) => state.paid_invoices.extend(paid),
                Err(unplaced) => reports.push(Report::Unplaced(Box::new(unplaced))),
            }
        }
        state.paid_invoices.sort_by_key(|paid| paid.invoice.created);
        reports.push(Report::Subscription(Box::new(state)));
        Ok(reports)
    }

    /// The oldest of a subscription's open invoices, with the amount due. The newest may be the next cycle's draft.
    async fn oldest_open(
        &self,
        subscription: &Subscription,
        mut invoices: Vec<Invoice>,
    ) -> Result<Option<OpenInvoice>, Error> {
        let open = self.client.open_invoices(&subscription.id).await;
        invoices.extend(readable(open)?.unwrap_or_default());
        invoices.sort_by_key(|invoice| invoice.created);
        Ok(invoices.iter().find_map(Invoice::waiting))
    }

    /// The given invoice, the newest one, and the other paid ones of the running cycle unless the newest began it.
    async fn invoices(
        &self,
        subscription: &Subscription,
        given: Option<Invoice>,
    ) -> Result<Vec<Invoice>, Error> {
        let newest = match (&subscription.latest_invoice, &given) {
            (Some(newest), Some(given)) if *newest.id() == given.id => None,
            (Some(newest), _) => readable(self.client.open(newest).await)?,
            (None, _) => None,
        };
        let mut invoices: Vec<Invoice> = given.into_iter().chain(newest).collect();
        if invoices
            .last()
            .is_some_and(|newest| !newest.begins_a_cycle())
        {
            let starts = subscription.items().iter();
            let since = starts.filter_map(|item| item.current_period_start).min();
            let id = &subscription.id;
            let others = self.client.paid_invoices(id, since.unwrap_or(0)).await;
            for other in readable(others)?.unwrap_or_default() {
                if invoices.iter().all(|invoice| invoice.id != other.id) {
                    invoices.push(other);
                }
            }
        }
        Ok(invoices)
    }

    /// The first invoice of a subscription. It pays the first order, even if the checkout session was never reported as
    /// paid.
    async fn first_invoice(
        &self,
        first_order: OrderId,
        state: &SubscriptionState,
        subscription: &Subscription,
        invoice: &Invoice,
    ) -> Result<PaidOrder, Error> {
        let metadata = &subscription.metadata;
        Ok(PaidOrder {
            order: first_order,
            kind: OrderKind::Checkout,
            price: metadata.price.or(state.price),
            user: metadata.user.clone(),
            quantity: metadata.quantity,
            payment: self.payment_of(invoice).await?,
            currency: Currency::new(&invoice.currency),
            billing: first_billing(state, subscription, Some(invoice)),
            subscription: None,
            saved_card: None,
        })
    }

    pub(super) async fn payment_of(&self, invoice: &Invoice) -> Result<Payment, Error> {
        let (payment, receipt_url) = self.paid_by(invoice).await?;
        Ok(Payment {
            amount_cents: invoice.amount_paid,
            payment,
            invoice: Some(invoice.id.clone()),
            customer: invoice.customer.clone(),
            email: invoice.customer_email.as_deref().and_then(email),
            receipt: Receipt {
                receipt_url,
                invoice_url: page_of(invoice),
                ..self.receipt()
            },
        })
    }

    /// A subscription's present state without invoices, and the item that our price bills.
    pub(super) async fn subscription_state<'a>(
        &self,
        first_order: OrderId,
        subscription: &'a Subscription,
    ) -> Result<(SubscriptionState, Tier<'a>), Error> {
        let tier = self.tier_of(subscription).await?;
        let period_end = tier.item.and_then(|item| item.current_period_end);
        let state = SubscriptionState {
            first_order,
            id: subscription.id.clone(),
            status: status(subscription),
            open_invoice: None,
            collection_paused: subscription.is_paused(),
            price: tier.price,
            quantity: tier
                .item
                .map(SubscriptionItem::quantity)
                .unwrap_or_default(),
            current_period_end: period_end.map(instant),
            cancel_at_period_end: subscription.is_ending(period_end),
            paid_invoices: Vec::new(),
        };
        Ok((state, tier))
    }

    async fn tier_of<'a>(&self, subscription: &'a Subscription) -> Result<Tier<'a>, Error> {
        let items = subscription.items();
        let mut tier = Tier {
            item: None,
            price: None,
        };
        for item in items {
            let price = self.price_of(&item.price).await?;
            // The subscription began with the oldest item.
            if price.is_some()
                && tier
                    .item
                    .is_none_or(|invoices| item.created < invoices.created)
            {
                let item = Some(item);
                tier = Tier { item, price };
            }
        }
        tier.item = tier.item.or_else(|| items.first());
        Ok(tier)
    }

    async fn price_of(&self, price: &StoredPrice) -> Result<Option<PriceId>, Error> {
        match price.metadata.price {
            Some(ours) => {
                let theirs = (self.project, price.id.clone());
                // The cached price may be newer than this copy.
                self.shared.ours.entry(theirs).or_insert(Some(ours));
                Ok(Some(ours))
            }
            None => self.our_price(&price.id).await,
        }
    }

    pub(super) async fn our_price(&self, id: &StripePriceId) -> Result<Option<PriceId>, Error> {
        let theirs = (self.project, id.clone());
        if let Some(ours) = self.shared.ours.get(&theirs) {
            return Ok(*ours);
        }
        let ours = match self.client.read(id).await {
            Ok(price) => price.metadata.price,
            Err(Error::Refused(refusal)) if refusal.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        self.shared.ours.insert(theirs, ours);
        Ok(ours)
    }

    /// Restores our metadata on a subscription after it was replaced. A failure is harmless: the key may lack the
    /// permission.
    async fn mark(&self, subscription: &Subscription, first_order: OrderId) {
        let id = &subscription.id;
        if subscription.metadata.project.is_some() {
            tracing::warn!(subscription = id.as_str(), order = %first_order, "A subscription of ours is marked as another project's");
            return;
        }
        match self.write_on(id, first_order).await {
            Ok(()) => {
                tracing::warn!(subscription = id.as_str(), order = %first_order, "A subscription's metadata had been replaced; ours was put back");
            }
            Err(error) => {
                tracing::warn!(subscription = id.as_str(), order = %first_order, %error, "A subscription's metadata was replaced, and ours cannot be put back");
            }
        }
    }

    /// The payment of an invoice, and its receipt page.
    async fn paid_by(
        &self,
        invoice: &Invoice,
    ) -> Result<(Option<PaymentId>, Option<PageUrl>), Error> {
        let fetched;
        let intent = match invoice.payments() {
            Some(mut payments) => payments.find_map(|payment| payment.intent()),
            None => {
                let payments = self.client.invoice_payments_of_invoice(&invoice.id).await;
                fetched = readable(payments)?.unwrap_or_default();
                fetched.iter().find_map(|payment| payment.intent())
            }
        };
        match intent {
            Some(reference) => {
                let intent = readable(self.client.open(reference).await)?;
                let page = intent.as_ref().and_then(receipt_page);
                Ok((Some(reference.id().clone()), page))
            }
            None => Ok((None, None)),
        }
    }
}

fn receipt_page(intent: &PaymentIntent) -> Option<PageUrl> {
    let charge = intent.latest_charge.as_ref().and_then(Expandable::object);
    page(charge.and_then(|charge| charge.receipt_url.as_deref()))
}

/// The cycle of a subscription's first payment, dated before all others.
pub(super) fn first_billing(
    state: &SubscriptionState,
    subscription: &Subscription,
    invoice: Option<&Invoice>,
) -> Option<PaidCycle> {
    let line = invoice.and_then(|invoice| invoice.cycle_lines().next());
    let ends = line.map(|line| line.period.end);
    let is_trial = match line {
        Some(line) => subscription.is_trial(line),
        None => subscription.status == SubscriptionStatus::Trialing,
    };
    let end = ends.map(instant).or(state.current_period_end)?;
    Some(PaidCycle {
        subscription: subscription.id.clone(),
        invoice: invoice.map(|invoice| invoice.id.clone()),
        cycle_start: Timestamp(0),
        current_period_end: end,
        trial: is_trial,
        after_end: invoice.is_some_and(|invoice| is_after_end(subscription, invoice)),
        paused: false,
        reported_at: Timestamp(0),
    })
}

fn email(text: &str) -> Option<domain::text::Email> {
    domain::text::Email::new(text).ok()
}

/// A page's URL, if it is valid.
pub(super) fn page(url: Option<&str>) -> Option<PageUrl> {
    url.and_then(|url| PageUrl::new(url).ok())
}

fn page_of(invoice: &Invoice) -> Option<PageUrl> {
    page(invoice.hosted_invoice_url.as_deref())
}
