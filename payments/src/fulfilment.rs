//! Fetches the state of an object at the provider and applies to the wallet what follows from it. Every report
//! carries the time at which it was requested: of two reports about one object the later one wins, in whichever
//! order they arrive.

use actors::{Handle, Scope};
use catalog::ProjectCatalog;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, OrderSerial, PriceId},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, InvoiceId},
    wallet::{
        Currency, Reversal, SubscriptionStatus,
        bill::{Bill, Pays},
        pay::{PaidCycle, Pay},
        place_order::PlaceOrder,
        purchase::Purchase,
        update_subscription::UpdateSubscription,
    },
};
use port::{
    InvoiceName, NoOrderReason, ObjectRef, Owners, PaidInvoice, PaidOrder, PaymentReversal,
    PaymentTarget, PaymentWithoutOrder, Report, SubscriptionState,
};

use super::{
    Error,
    context::ProjectAccount,
    failpoint,
    named_locks::{NamedLock, NamedLocks},
    outages::Outages,
    provider_locks::ProviderLocks,
    unfulfilled::List,
};

/// Applies the provider's state to wallets: see the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Fulfilment {
    handle: Handle,
    provider_locks: ProviderLocks,
    outages: Outages,
    unfulfilled: List,
    /// At most one look at a payment at a time, by the provider's id of it.
    payments: NamedLocks,
}

/// How far the buyer of a checkout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutProgress {
    /// The buyer has not paid, and still may.
    Open,
    /// The buyer has finished the checkout, and the payment has not settled yet.
    Processing,
    /// There is nothing left to wait for.
    Settled,
}

impl Fulfilment {
    pub(crate) fn new(handle: Handle, provider_locks: ProviderLocks, unfulfilled: List) -> Self {
        Self {
            handle,
            provider_locks,
            outages: Outages::default(),
            unfulfilled,
            payments: NamedLocks::default(),
        }
    }

    /// Since when each project's provider has not answered any request.
    pub(crate) const fn outages(&self) -> &Outages {
        &self.outages
    }

    /// Fetches an object and applies what follows from its state. Repeating it changes nothing.
    ///
    /// # Errors
    ///
    /// See [`Error`]: part of it may have been applied, and the same call goes on.
    pub(crate) async fn refresh(
        &self,
        account: ProjectAccount<'_>,
        subject: &ObjectRef,
    ) -> Result<CheckoutProgress, Error> {
        let _at_work = self.provider_locks.begin(account.project).await?;
        // If two fetches of one payment overlapped, nobody could say which answer is the newer one.
        let _turn = match subject {
            ObjectRef::Payment(payment) => Some(self.payments.take(payment.as_str()).await),
            ObjectRef::Checkout(_) | ObjectRef::Subscription(_) | ObjectRef::Invoice(_) => None,
        };
        let applier = self.applier(account, subject);
        let mut progress = CheckoutProgress::Settled;
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

    /// Places an order that was paid before it was known here, with its subscription. Repeating it changes nothing.
    ///
    /// # Errors
    ///
    /// The same as [`Fulfilment::refresh`].
    pub(crate) async fn place(
        &self,
        account: ProjectAccount<'_>,
        subject: &ObjectRef,
        paid: PaidOrder,
    ) -> Result<(), Error> {
        let _at_work = self.provider_locks.begin(account.project).await?;
        let applier = self.applier(account, subject);
        applier.paid(paid).await
    }

    fn applier<'a>(
        &'a self,
        account: ProjectAccount<'a>,
        subject: &'a ObjectRef,
    ) -> ReportApplier<'a> {
        ReportApplier {
            handle: &self.handle,
            unfulfilled: &self.unfulfilled,
            account,
            project: account.project,
            subject,
            at: self.handle.now_in(&account.project.scope),
        }
    }
}

/// The two orders that one invoice of a subscription may make: one for the cycle that it bills, and one for the
/// switches of the cycle before, if it settles any.
pub(crate) fn orders_of(handle: &Handle, scope: &Scope, invoice: &InvoiceName) -> [OrderSerial; 2] {
    let switches = InvoiceId::new(format!("{}/switches", invoice.id.as_str()))
        .unwrap_or_else(|_| invoice.id.clone());
    [&invoice.id, &switches].map(|id| handle.renewal_order(scope, id, invoice.created))
}

/// The order that an object belongs to, as the look-ups know it.
pub(crate) fn order_of(
    handle: &Handle,
    scope: &Scope,
    subject: &ObjectRef,
) -> Result<Option<OrderId>, actors::Error> {
    match subject {
        ObjectRef::Checkout(id) => handle.checkout_order(scope, id),
        ObjectRef::Subscription(id) => handle.order_of_subscription(scope, id),
        ObjectRef::Invoice(id) => handle.order_of_invoice(scope, id),
        ObjectRef::Payment(id) => handle.order_of_payment(scope, id),
    }
}

/// What one of the project's prices sells, also one that is not offered any more.
fn terms_of(project: &ProjectCatalog, price: PriceId) -> Option<Terms> {
    project.any_price(&price).map(Terms::from)
}

/// Answers whose an object is from the wallets of a project.
pub(crate) struct WalletOwners<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) project: &'a ProjectCatalog,
}

impl Owners for WalletOwners<'_> {
    fn order_of(&self, subject: &ObjectRef) -> Result<Option<OrderId>, port::Error> {
        let order = order_of(self.handle, &self.project.scope, subject);
        order.map_err(|error| port::Error::Unavailable {
            reason: error.to_string(),
            retry_after_seconds: None,
        })
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        terms_of(self.project, price)
    }
}

/// Applies the reports of one fetch to the wallets.
struct ReportApplier<'a> {
    handle: &'a Handle,
    unfulfilled: &'a List,
    account: ProjectAccount<'a>,
    project: &'a ProjectCatalog,
    subject: &'a ObjectRef,
    /// When the fetch began, by the project's clock.
    at: Timestamp,
}

impl ReportApplier<'_> {
    /// The checkout that was fetched, if it was one.
    fn checkout(&self) -> Option<CheckoutId> {
        match self.subject {
            ObjectRef::Checkout(id) => Some(id.clone()),
            ObjectRef::Subscription(_) | ObjectRef::Invoice(_) | ObjectRef::Payment(_) => None,
        }
    }

    async fn apply(&self, report: Report) -> Result<(), Error> {
        match report {
            Report::Open(_) => Ok(()),
            Report::Processing(order) => self.tell(order, Purchase::Process(order.serial)).await,
            Report::Paid(paid) => self.paid(*paid).await,
            Report::Failed(order) => self.tell(order, Purchase::Fail(order.serial)).await,
            Report::Expired(order) => self.tell(order, Purchase::Expire(order.serial)).await,
            Report::Subscription(now) => self.subscription(*now).await,
            Report::Reversed(reversal) => {
                failpoint::reached("money.asked");
                self.reversed(reversal).await?;
                failpoint::reached("money.told");
                Ok(())
            }
            Report::Unplaced(unplaced) => self.unplaced(*unplaced).await,
        }
    }

    async fn paid(&self, report: PaidOrder) -> Result<(), Error> {
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
        let ours = price.and_then(|price| self.project.any_price(&price));
        // Somebody added a currency at the provider: what was charged cannot be compared with our price.
        let other = currency.zip(ours).is_some_and(|(charged, price)| {
            Currency::new(&price.currency).is_some_and(|meant| meant != charged)
        });
        let placed = ours.map(|price| PlaceOrder {
            order: order.serial,
            terms: Terms::from(price),
            quantity,
            // The shop's metadata is not sent to the provider.
            metadata: Metadata::default(),
            checkout: self.checkout(),
            email: None,
        });
        let scope = &self.project.scope;
        let pay = Pay {
            order: order.serial,
            code: self.handle.mint_code(scope),
            placed,
            payment,
            billing: billing.map(|billing| PaidCycle {
                reported_at: self.at,
                ..billing
            }),
        };
        let mut unplaced = PaymentWithoutOrder {
            why: match ours {
                Some(_) if other => NoOrderReason::OtherCurrency,
                Some(_) => NoOrderReason::UnknownWallet,
                None => NoOrderReason::UnknownPrice,
            },
            payment: pay.payment.clone(),
            billing: pay.billing.clone(),
        };
        let Some(_turn) = self.lock(&unplaced, order).await? else {
            return Ok(());
        };
        if other {
            return self.unplaced(unplaced).await;
        }
        let done = self.handle.pay(scope, order.wallet, user, pay).await;
        if matches!(done, Ok(false)) {
            let stored = self.handle.order(scope, order).await?.order;
            let billing = unplaced.billing.as_ref();
            let subscription = billing.map(|billing| &billing.subscription);
            if stored.is_paid_by_another(unplaced.payment.payment.as_ref(), subscription) {
                unplaced.why = NoOrderReason::AlreadyPaid;
                return self.unplaced(unplaced).await;
            }
        }
        self.settle(order, done, unplaced).await?;
        match subscription {
            // It may have changed since the checkout, in an event that came before the order was known.
            Some(now) => self.subscription(now).await,
            None => Ok(()),
        }
    }

    async fn bill(&self, first: OrderId, paid: PaidInvoice) -> Result<(), Error> {
        let PaidInvoice {
            invoice,
            pays,
            price,
            quantity,
            payment,
            mut billing,
        } = paid;
        // The provider's clock may be ahead of ours, and everything else is dated by ours.
        billing.reported_at = billing.reported_at.min(self.at);
        let carried = matches!(pays, Some(Pays::Carried(_)));
        let [whole, switches] = orders_of(self.handle, &self.project.scope, &invoice);
        let order = if carried { switches } else { whole };
        let mut unplaced = PaymentWithoutOrder {
            why: NoOrderReason::UnknownOrder,
            payment: payment.clone(),
            billing: Some(billing.clone()),
        };
        let made = OrderId {
            serial: order,
            wallet: first.wallet,
        };
        // The payment belongs to the order of the cycle; the order of its switches comes on top.
        let _turn = match carried {
            true => None,
            false => match self.lock(&unplaced, made).await? {
                Some(lock) => lock,
                None => return Ok(()),
            },
        };
        let terms = price.and_then(|price| terms_of(self.project, price));
        if terms.is_none() {
            tracing::warn!(order = %first, "A subscription was billed under a price that is not ours");
        }
        // A switch from a tier that is not ours has no price to compute a proration from.
        let Some(pays) = pays else {
            unplaced.why = NoOrderReason::UnknownPrice;
            return self.unplaced(unplaced).await;
        };
        let bill = Purchase::Bill(Box::new(Bill {
            order,
            pays,
            terms,
            quantity,
            payment,
            billing,
        }));
        let scope = &self.project.scope;
        let outcome = self.handle.report(scope, first.wallet, bill).await;
        self.settle(first, outcome, unplaced).await
    }

    /// Waits for the lock of a payment. The outer `None` means that there is nothing to do: by now the payment
    /// belongs to another order, or a person has decided about it. The inner `None` means that no lock is needed: an
    /// order that cost nothing has no payment.
    async fn lock(
        &self,
        of: &PaymentWithoutOrder,
        order: OrderId,
    ) -> Result<Option<Option<NamedLock>>, Error> {
        let Some(payment) = &of.payment.payment else {
            return Ok(Some(None));
        };
        let lock = self
            .unfulfilled
            .lock(self.project.project.id, payment)
            .await;
        let elsewhere = self
            .unfulfilled
            .belongs_to_other_order(self.project, payment, order)?;
        Ok((!elsewhere).then_some(Some(lock)))
    }

    /// Takes a payment off the list of unfulfilled payments once it has its order, or puts it there if the wallet
    /// refused the order.
    async fn settle(
        &self,
        order: OrderId,
        done: Result<bool, actors::Error>,
        unplaced: PaymentWithoutOrder,
    ) -> Result<(), Error> {
        match (done, &unplaced.payment.payment) {
            (Ok(_), Some(payment)) => {
                let project = self.project.project.id;
                self.unfulfilled.placed(project, payment).await
            }
            (Ok(_), None) => Ok(()),
            (Err(actors::Error::Rejected(rejection)), _) => {
                tracing::warn!(%order, reason = %rejection, "A payment could not be placed");
                self.unplaced(unplaced).await
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    async fn unplaced(&self, unplaced: PaymentWithoutOrder) -> Result<(), Error> {
        let (list, checkout) = (self.unfulfilled, self.checkout());
        list.keep(self.account, unplaced, checkout).await
    }

    /// Applies the paid invoices first, so that the rest of the report is about a cycle that the wallet knows. An
    /// invoice that cannot be placed does not hold up the others.
    async fn subscription(&self, now: SubscriptionState) -> Result<(), Error> {
        for paid in now.paid {
            failpoint::reached("cycle.asked");
            self.bill(now.first, paid).await?;
            failpoint::reached("cycle.told");
        }
        let Some(status) = now.status else {
            return Ok(());
        };
        let terms = now.price.and_then(|price| terms_of(self.project, price));
        let report = UpdateSubscription {
            subscription: now.id,
            first: Some(now.first.serial).filter(|_| status == SubscriptionStatus::PastDue),
            terms: terms.map(|terms| terms.many(now.quantity)),
            status,
            open_invoice: now.open_invoice.map(Box::new),
            collection_paused: now.collection_paused,
            // The provider named no end: it counts as ended now until the next report.
            current_period_end: now.current_period_end.unwrap_or(self.at),
            cancel_at_period_end: now.cancel_at_period_end,
            grace_days: self.project.project.subscription_grace_days,
            reported_at: self.at,
        };
        self.tell(now.first, Purchase::Update(Box::new(report)))
            .await
    }

    /// Applies refunds and disputes of a payment.
    async fn reversed(&self, money: PaymentReversal) -> Result<(), Error> {
        let mut placed = None;
        if let ObjectRef::Payment(payment) = self.subject {
            let (project, list) = (self.project.project.id, self.unfulfilled);
            if list.is_listed(project, payment) {
                return list
                    .went_back(project, payment, money.away.refunded_cents, self.at)
                    .await;
            }
            placed = self.handle.order_of_payment(&self.project.scope, payment)?;
            // This payment carries the metadata of an order that another payment paid ("duplicate" in Stripe's
            // dashboard): a refund of it takes nothing from that order.
            if let (None, PaymentTarget::Order(order)) = (placed, &money.of) {
                let answer = self.handle.order(&self.project.scope, *order).await;
                if answer.is_ok_and(|answer| {
                    let subscription = answer.order.subscription.as_ref();
                    answer.order.is_paid_by_another(Some(payment), subscription)
                }) {
                    return Ok(());
                }
            }
        }
        let all = Reversal {
            as_of: self.at,
            ..money.away
        };
        let (first, invoice) = match money.of {
            // The look-up wins over the metadata, which somebody may have changed.
            PaymentTarget::Order(order) => return self.reverse(placed.unwrap_or(order), all).await,
            PaymentTarget::Invoice(first, invoice) => (first, invoice),
        };
        let orders = orders_of(self.handle, &self.project.scope, &invoice);
        let [whole, switches] = orders.map(|serial| OrderId { serial, ..first });
        let elsewhere = placed.filter(|placed| *placed != whole && *placed != switches);
        match (elsewhere, money.carried) {
            // A person assigned the whole payment to one order.
            (Some(order), _) => self.reverse(order, all).await,
            (None, None) => self.reverse(whole, all).await,
            // Both orders of the invoice give back their share.
            (None, Some(part)) => {
                let of_switches = Reversal {
                    refunded_cents: part.share(all.refunded_cents),
                    disputed_cents: part.share(all.disputed_cents),
                    ..all
                };
                let rest = |all: i64, part: i64| all.saturating_sub(part);
                let of_cycle = Reversal {
                    refunded_cents: rest(all.refunded_cents, of_switches.refunded_cents),
                    disputed_cents: rest(all.disputed_cents, of_switches.disputed_cents),
                    ..all
                };
                self.reverse(whole, of_cycle).await?;
                self.reverse(switches, of_switches).await
            }
        }
    }

    async fn reverse(&self, order: OrderId, reversal: Reversal) -> Result<(), Error> {
        let is_nothing = reversal.refunded_cents == 0
            && reversal.disputed_cents == 0
            && reversal.dispute.is_none();
        let report = Purchase::Reverse(order.serial, reversal);
        let scope = &self.project.scope;
        match self.handle.report(scope, order.wallet, report).await {
            // Nothing was refunded or disputed, so nothing is lost without the order.
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) if is_nothing => Ok(()),
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => Err(Error::TooEarly),
            outcome => self.unless_rejected(order, outcome).map(drop),
        }
    }

    async fn tell(&self, order: OrderId, report: Purchase) -> Result<(), Error> {
        let scope = &self.project.scope;
        let outcome = self.handle.report(scope, order.wallet, report).await;
        self.unless_rejected(order, outcome).map(drop)
    }

    /// Whether a report changed anything. One that the wallet rejects is logged and dropped: sending it again would
    /// not help.
    fn unless_rejected(
        &self,
        order: OrderId,
        done: Result<bool, actors::Error>,
    ) -> Result<bool, Error> {
        match done {
            Ok(changed) => Ok(changed),
            Err(actors::Error::Rejected(rejection)) => {
                tracing::warn!(%order, reason = %rejection, "A wallet rejected a report of the payment provider");
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}
