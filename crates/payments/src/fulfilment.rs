//! Fetches an object's present state from the provider and applies it to the wallet. Every report carries the time of
//! its request: of two reports about one object the later one wins, in any order of arrival.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use actors::{Handle, Scope};
use catalog::ProjectCatalog;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, OrderSerial, PriceId},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, PaymentId},
    wallet::{
        Currency, Reversal, SubscriptionStatus,
        bill::Bill,
        pay::{PaidCycle, Pay, Payment},
        place_order::PlaceOrder,
        purchase::Purchase,
        update_subscription::UpdateSubscription,
    },
};
use payments_port::{
    InvoiceName, InvoicePart, NoOrderReason, ObjectRef, Owners, PaidInvoice, PaidOrder, PaidPart,
    PaymentReversal, PaymentTarget, PaymentWithoutOrder, Report, SubscriptionState,
};

use super::{
    Error,
    context::ProjectAccount,
    divided_reversal::{OrderShare, divide},
    doubled_subscriptions::DoubledSubscriptions,
    failpoint,
    named_locks::{NamedLock, NamedLocks},
    outages::Outages,
    provider_epochs::ProviderEpochs,
    unfulfilled::List,
};

/// Applies the provider's state to wallets. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Fulfilment {
    handle: Handle,
    epochs: ProviderEpochs,
    outages: Outages,
    unfulfilled: List,
    doubled: DoubledSubscriptions,
    /// Orders that were paid since the start.
    paid: Arc<AtomicU64>,
    /// Locks for fetches of payments, by the provider's id: one at a time.
    payments: NamedLocks,
}

/// How far the buyer of a checkout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutProgress {
    /// The buyer has not paid, and still may.
    Open,
    /// The buyer has finished the checkout, and the payment is processing.
    Processing,
    /// Nothing is left to wait for.
    Finished,
}

impl Fulfilment {
    pub(crate) fn new(
        handle: Handle,
        epochs: ProviderEpochs,
        unfulfilled: List,
        doubled: DoubledSubscriptions,
    ) -> Self {
        Self {
            handle,
            epochs,
            outages: Outages::default(),
            unfulfilled,
            doubled,
            paid: Arc::default(),
            payments: NamedLocks::default(),
        }
    }

    /// Orders that were paid since the start.
    pub(crate) fn paid(&self) -> u64 {
        self.paid.load(Ordering::Relaxed)
    }

    /// Since when each project's provider has not answered any request.
    pub(crate) const fn outages(&self) -> &Outages {
        &self.outages
    }

    /// Fetches an object and applies its state. Repeating it changes nothing.
    /// # Errors
    /// See [`Error`]: the state may be applied in part; a repeated call applies the rest.
    pub(crate) async fn refresh(
        &self,
        account: ProjectAccount<'_>,
        subject: &ObjectRef,
    ) -> Result<CheckoutProgress, Error> {
        let _at_work = self.epochs.begin(account.project).await?;
        // If two fetches of one payment overlapped, it would be unknown which answer is newer.
        let _lock = match subject {
            ObjectRef::Payment(payment) => Some(self.payments.take(payment.as_str()).await),
            ObjectRef::Checkout(_) | ObjectRef::Subscription(_) | ObjectRef::Invoice(_) => None,
        };
        let applier = self.applier(account, subject);
        let mut progress = CheckoutProgress::Finished;
        let owners = WalletOwners {
            handle: &self.handle,
            project: account.project,
        };
        let reports = account.provider.fetch(subject, &owners).await;
        let id = account.project.project.id;
        self.outages.note(id, self.handle.now(), &reports);
        for report in reports? {
            match &report {
                Report::Open(_) => progress = CheckoutProgress::Open,
                Report::Processing(_) => progress = CheckoutProgress::Processing,
                _ => {}
            }
            applier.apply(report).await?;
        }
        Ok(progress)
    }

    /// Places an order that was paid before it was known here, and begins its subscription. Repeating it changes
    /// nothing.
    /// # Errors
    /// The same as [`Fulfilment::refresh`].
    pub(crate) async fn place_paid_order(
        &self,
        account: ProjectAccount<'_>,
        subject: &ObjectRef,
        paid: PaidOrder,
    ) -> Result<(), Error> {
        let _at_work = self.epochs.begin(account.project).await?;
        let applier = self.applier(account, subject);
        applier.paid_order(paid).await
    }

    fn applier<'a>(
        &'a self,
        account: ProjectAccount<'a>,
        subject: &'a ObjectRef,
    ) -> ReportApplier<'a> {
        ReportApplier {
            handle: &self.handle,
            unfulfilled: &self.unfulfilled,
            doubled: &self.doubled,
            paid: &self.paid,
            account,
            project: account.project,
            subject,
            at: self.handle.now_in(&account.project.scope),
        }
    }
}

/// The order that a part of a subscription's invoice makes.
pub(crate) fn order_of_part(
    handle: &Handle,
    scope: &Scope,
    invoice: &InvoiceName,
    part: &InvoicePart,
) -> OrderSerial {
    let mut name = invoice.id.as_str().to_owned();
    if let Some(item) = &part.item {
        name.extend(["/", item]);
    }
    if part.prior_switches {
        name.push_str("/switches");
    }
    handle.renewal_order(scope, &name, invoice.created)
}

/// The order of an object, by look-up.
pub(crate) fn order_of(
    handle: &Handle,
    scope: &Scope,
    subject: &ObjectRef,
) -> Result<Option<OrderId>, actors::Error> {
    match subject {
        ObjectRef::Checkout(id) => handle.order_of(scope, id),
        ObjectRef::Subscription(id) => handle.order_of(scope, id),
        ObjectRef::Invoice(id) => handle.order_of(scope, id),
        ObjectRef::Payment(id) => handle.order_of(scope, id),
    }
}

/// The terms of one of the project's prices, also of an inactive one.
fn terms_of(project: &ProjectCatalog, price: PriceId) -> Option<Terms> {
    project.any_price(&price).map(Terms::from)
}

/// Finds the order of an object in a project's wallets.
pub(crate) struct WalletOwners<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) project: &'a ProjectCatalog,
}

impl Owners for WalletOwners<'_> {
    fn order_of(&self, subject: &ObjectRef) -> Result<Option<OrderId>, payments_port::Error> {
        let order = order_of(self.handle, &self.project.scope, subject);
        order.map_err(|error| payments_port::Error::Unavailable {
            reason: error.to_string(),
            retry_after_seconds: None,
        })
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        terms_of(self.project, price)
    }
}

/// Whether a payment may pay an order.
enum PaymentLock {
    /// It may, while this lock is held. A free order has no payment and needs no lock.
    Free(Option<NamedLock>),
    /// It belongs to another order, or an operator has decided about it: nothing is left to do.
    Taken,
}

/// Applies the reports of one fetch to the wallets.
struct ReportApplier<'a> {
    handle: &'a Handle,
    unfulfilled: &'a List,
    doubled: &'a DoubledSubscriptions,
    paid: &'a AtomicU64,
    account: ProjectAccount<'a>,
    project: &'a ProjectCatalog,
    subject: &'a ObjectRef,
    /// When the fetch began, by the project's clock.
    at: Timestamp,
}

impl ReportApplier<'_> {
    fn checkout(&self) -> Option<CheckoutId> {
        match self.subject {
            ObjectRef::Checkout(id) => Some(id.clone()),
            ObjectRef::Subscription(_) | ObjectRef::Invoice(_) | ObjectRef::Payment(_) => None,
        }
    }

    async fn apply(&self, report: Report) -> Result<(), Error> {
        match report {
            Report::Open(_) => Ok(()),
            Report::Processing(order) => self.report(order, Purchase::Process(order.serial)).await,
            Report::Paid(paid) => self.paid_order(*paid).await,
            Report::Failed(order) => self.report(order, Purchase::Fail(order.serial)).await,
            Report::Expired(order) => self.report(order, Purchase::Expire(order.serial)).await,
            Report::Subscription(state) => self.subscription(*state).await,
            Report::Reversed(reversal) => {
                failpoint::reached("money.before");
                self.reversal(reversal).await?;
                failpoint::reached("money.after");
                Ok(())
            }
            Report::Unplaced(payment) => self.unplaced(*payment).await,
        }
    }

    /// Fulfils a paid order. A payment that cannot be fulfilled goes to the unfulfilled payments.
    async fn paid_order(&self, report: PaidOrder) -> Result<(), Error> {
        let PaidOrder {
            order,
            price,
            user,
            quantity,
            payment,
            currency,
            billing,
            subscription,
        } = report;
        let price = price.and_then(|price| self.project.any_price(&price));
        // A currency was added at the provider, so the charge cannot be compared with our price.
        let in_other_currency = currency.zip(price).is_some_and(|(charged, price)| {
            Currency::new(&price.currency).is_some_and(|expected| expected != charged)
        });
        let missing_order = price.map(|price| PlaceOrder {
            order: order.serial,
            terms: Terms::from(price),
            quantity,
            // The shop's metadata is not sent to the provider.
            metadata: Metadata::default(),
            checkout: self.checkout(),
            email: None,
            names_code: false,
        });
        let scope = &self.project.scope;
        let pay = Pay {
            order: order.serial,
            code: self.handle.mint_code(scope),
            missing_order,
            payment,
            billing: billing.map(|billing| PaidCycle {
                reported_at: self.at,
                ..billing
            }),
        };
        // The record for an operator if the order cannot be fulfilled.
        let mut unplaced = PaymentWithoutOrder {
            reason: match price {
                Some(_) if in_other_currency => NoOrderReason::OtherCurrency,
                Some(_) => NoOrderReason::UnknownWallet,
                None => NoOrderReason::UnknownPrice,
            },
            payment: pay.payment.clone(),
            billing: pay.billing.clone(),
        };
        let PaymentLock::Free(_lock) = self
            .lock(unplaced.payment.payment.as_ref(), &[order])
            .await?
        else {
            return Ok(());
        };
        if in_other_currency {
            return self.add_unfulfilled(unplaced).await;
        }
        let outcome = self.handle.pay(scope, order.wallet, user, pay).await;
        if matches!(outcome, Ok(false)) {
            // The order was paid before: by this payment, or by another one.
            let stored = self.handle.order(scope, order).await?.order;
            let billing = unplaced.billing.as_ref();
            let subscription = billing.map(|billing| &billing.subscription);
            if stored.is_paid_by_another(unplaced.payment.payment.as_ref(), subscription) {
                unplaced.reason = NoOrderReason::AlreadyPaid;
                return self.add_unfulfilled(unplaced).await;
            }
        }
        let begins = unplaced.billing.is_some();
        self.record_outcome(order, outcome, unplaced).await?;
        if begins {
            self.doubled.look(self.project, order.wallet).await?;
        }
        match subscription {
            // It may have changed since the checkout, before the order was known.
            Some(state) => self.subscription(state).await,
            None => Ok(()),
        }
    }

    /// Makes the orders of a subscription's paid invoice, in the wallet of the subscription's first order.
    async fn paid_invoice(&self, first_order: OrderId, paid: PaidInvoice) -> Result<(), Error> {
        let PaidInvoice {
            invoice,
            payment,
            parts,
        } = paid;
        let scope = &self.project.scope;
        let orders = parts.iter().map(|part| OrderId {
            serial: order_of_part(self.handle, scope, &invoice, &part.part),
            ..first_order
        });
        let orders: Vec<OrderId> = orders.collect();
        let PaymentLock::Free(_lock) = self.lock(payment.payment.as_ref(), &orders).await? else {
            return Ok(());
        };
        for (order, part) in orders.into_iter().zip(parts) {
            let PaidPart {
                pays,
                price,
                amount_cents,
                quantity,
                is_add_on,
                mut billing,
                ..
            } = part;
            // The record for an operator if no order can be made.
            let mut unplaced = PaymentWithoutOrder {
                reason: NoOrderReason::UnknownOrder,
                payment: payment.clone(),
                billing: Some(billing.clone()),
            };
            let terms = price.and_then(|price| terms_of(self.project, price));
            if terms.is_none() {
                tracing::warn!(order = %first_order, "A subscription was billed under a price that is not ours");
            }
            // A switch from a foreign tier has no price to compute a proration from.
            let Some(pays) = pays else {
                unplaced.reason = NoOrderReason::UnknownPrice;
                return self.add_unfulfilled(unplaced).await;
            };
            // The provider's clock may be ahead of ours, which dates everything else.
            billing.reported_at = billing.reported_at.min(self.at);
            let bill = Purchase::Bill(Box::new(Bill {
                order: order.serial,
                pays,
                is_add_on,
                terms,
                quantity,
                payment: Payment {
                    amount_cents,
                    ..payment.clone()
                },
                billing,
            }));
            failpoint::reached("cycle.before");
            let outcome = self.handle.report(scope, first_order.wallet, bill).await;
            let is_placed = self.record_outcome(first_order, outcome, unplaced).await?;
            failpoint::reached("cycle.after");
            if !is_placed {
                // An operator decides about the payment; a later part does not remove it.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for the lock of a payment that is to pay these orders.
    async fn lock(
        &self,
        payment: Option<&PaymentId>,
        orders: &[OrderId],
    ) -> Result<PaymentLock, Error> {
        let Some(payment) = payment else {
            return Ok(PaymentLock::Free(None));
        };
        let lock = self
            .unfulfilled
            .lock(self.project.project.id, payment)
            .await;
        let is_taken = self
            .unfulfilled
            .belongs_to_other_order(self.project, payment, orders)?;
        Ok(match is_taken {
            true => PaymentLock::Taken,
            false => PaymentLock::Free(Some(lock)),
        })
    }

    /// Removes a payment from the unfulfilled ones once its order is paid, or adds it if the wallet rejected the order.
    /// Returns whether the wallet has the order.
    async fn record_outcome(
        &self,
        order: OrderId,
        outcome: Result<bool, actors::Error>,
        unplaced: PaymentWithoutOrder,
    ) -> Result<bool, Error> {
        if matches!(outcome, Ok(true)) {
            self.paid.fetch_add(1, Ordering::Relaxed);
        }
        match (outcome, &unplaced.payment.payment) {
            (Ok(_), Some(payment)) => {
                let project = self.project.project.id;
                self.unfulfilled.remove(project, payment).await?;
                Ok(true)
            }
            (Ok(_), None) => Ok(true),
            (Err(actors::Error::Rejected(rejection)), _) => {
                tracing::warn!(%order, reason = %rejection, "A wallet rejected the order of a payment");
                self.add_unfulfilled(unplaced).await?;
                Ok(false)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Adds a payment without an order to the unfulfilled ones, unless an operator assigned it.
    async fn unplaced(&self, unplaced: PaymentWithoutOrder) -> Result<(), Error> {
        let Some(payment) = &unplaced.payment.payment else {
            return self.add_unfulfilled(unplaced).await;
        };
        let project = self.project.project.id;
        let _turn = self.unfulfilled.lock(project, payment).await;
        let scope = &self.project.scope;
        let mut placed = self.handle.order_of(scope, payment)?;
        if let (None, Some(invoice)) = (placed, &unplaced.payment.invoice) {
            placed = self.handle.order_of(scope, invoice)?;
        }
        match placed {
            Some(_) => Ok(()),
            None => self.add_unfulfilled(unplaced).await,
        }
    }

    async fn add_unfulfilled(&self, payment: PaymentWithoutOrder) -> Result<(), Error> {
        let (list, checkout) = (self.unfulfilled, self.checkout());
        list.add(self.account, payment, checkout).await
    }

    /// Applies a subscription's paid invoices, then its state, so that the wallet knows its cycle. A rejected invoice
    /// does not delay the others.
    async fn subscription(&self, state: SubscriptionState) -> Result<(), Error> {
        for paid in state.paid_invoices {
            self.paid_invoice(state.first_order, paid).await?;
        }
        let Some(status) = state.status else {
            return Ok(());
        };
        let terms = state.price.and_then(|price| terms_of(self.project, price));
        let report = UpdateSubscription {
            subscription: state.id,
            first: Some(state.first_order.serial).filter(|_| status == SubscriptionStatus::PastDue),
            terms: terms.map(|terms| terms.many(state.quantity)),
            status,
            open_invoice: state.open_invoice.map(Box::new),
            collection_paused: state.collection_paused,
            // Without an end the period counts as ended until the next report.
            current_period_end: state.current_period_end.unwrap_or(self.at),
            cancel_at_period_end: state.cancel_at_period_end,
            grace_days: self.project.project.subscription_grace_days,
            reported_at: self.at,
        };
        let update = Purchase::Update(Box::new(report));
        self.report(state.first_order, update).await?;
        let wallet = state.first_order.wallet;
        self.doubled.look(self.project, wallet).await?;
        Ok(())
    }

    /// Applies refunds and disputes of a payment.
    async fn reversal(&self, report: PaymentReversal) -> Result<(), Error> {
        let PaymentReversal {
            target,
            reversal,
            parts,
            refunds,
        } = report;
        let reversal = Reversal {
            as_of: self.at,
            ..reversal
        };
        let mut known_order = None;
        if let ObjectRef::Payment(payment) = self.subject {
            let (project, list) = (self.project.project.id, self.unfulfilled);
            if list.is_listed(project, payment) {
                return list
                    .refunded(project, payment, reversal.refunded_cents, self.at)
                    .await;
            }
            known_order = self.handle.order_of(&self.project.scope, payment)?;
            // A payment may carry the metadata of an order that another payment paid ("duplicate" in Stripe's
            // dashboard): refunding it takes nothing from that order.
            if let (None, PaymentTarget::Order(order)) = (known_order, &target) {
                let answer = self.handle.order(&self.project.scope, *order).await;
                if answer.is_ok_and(|answer| {
                    let subscription = answer.order.subscription.as_ref();
                    answer.order.is_paid_by_another(Some(payment), subscription)
                }) {
                    return Ok(());
                }
            }
        }
        let (first_order, invoice) = match target {
            // The look-up wins over metadata, which can be edited.
            PaymentTarget::Order(order) => {
                return self.reverse(known_order.unwrap_or(order), reversal).await;
            }
            PaymentTarget::Invoice(first_order, invoice) => (first_order, invoice),
        };
        let order_of = |part: &InvoicePart| OrderId {
            serial: order_of_part(self.handle, &self.project.scope, &invoice, part),
            ..first_order
        };
        // The look-up knows only one payment of a bill that was paid in parts.
        let known_order = match known_order {
            Some(order) => Some(order),
            None => self.handle.order_of(&self.project.scope, &invoice.id)?,
        };
        if parts.is_empty() {
            // An operator may have assigned the whole payment to another order.
            let order = known_order.unwrap_or_else(|| order_of(&InvoicePart::default()));
            return self.reverse(order, reversal).await;
        }
        let refunds = |order| {
            let own = refunds.iter().filter(|(of, _)| *of == order);
            own.fold(0, |sum: i64, (_, cents)| sum.saturating_add(*cents))
        };
        let parts = parts.iter().map(|part| {
            let order = order_of(&part.part);
            OrderShare {
                order,
                amount_cents: part.amount_cents,
                refunded_cents: refunds(order),
            }
        });
        let parts: Vec<OrderShare> = parts.collect();
        if let Some(order) = known_order
            && parts.iter().all(|part| part.order != order)
        {
            return self.reverse(order, reversal).await;
        }
        for (order, share) in divide(reversal, &parts) {
            self.reverse(order, share).await?;
        }
        Ok(())
    }

    async fn reverse(&self, order: OrderId, reversal: Reversal) -> Result<(), Error> {
        let is_nothing = reversal.refunded_cents == 0
            && reversal.disputed_cents == 0
            && reversal.dispute.is_none();
        let report = Purchase::Reverse(order.serial, reversal);
        let scope = &self.project.scope;
        match self.handle.report(scope, order.wallet, report).await {
            // Without reversals nothing is lost.
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) if is_nothing => Ok(()),
            // The event of the payment will make the order.
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => Err(Error::TooEarly),
            outcome => drop_rejected(order, outcome),
        }
    }

    async fn report(&self, order: OrderId, report: Purchase) -> Result<(), Error> {
        let scope = &self.project.scope;
        let outcome = self.handle.report(scope, order.wallet, report).await;
        drop_rejected(order, outcome)
    }
}

/// Logs and drops a rejected report: a repeat would not help.
fn drop_rejected(order: OrderId, outcome: Result<bool, actors::Error>) -> Result<(), Error> {
    match outcome {
        Ok(_) => Ok(()),
        Err(actors::Error::Rejected(rejection)) => {
            tracing::warn!(%order, reason = %rejection, "A wallet rejected a report of the payment provider");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
