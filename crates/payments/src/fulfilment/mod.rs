//! Fetches an object's present state from the provider and applies it to the wallet. Every report carries the time of
//! its request: of two reports about one object the later one wins, in any order of arrival.

mod apply;
mod reversal;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use actors::{Handle, Scope};
use catalog::ProjectCatalog;
use domain::{
    id::{OrderId, OrderSerial, PriceId},
    terms::Terms,
};
use payments_port::{InvoiceName, InvoicePart, ObjectRef, Owners, PaidOrder, Report};

use self::apply::ReportApplier;
use super::{
    Error,
    doubled_subscriptions::DoubledSubscriptions,
    named_locks::{NamedLock, NamedLocks},
    outages::Outages,
    project_account::ProjectAccount,
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
    paid: Arc<AtomicU64>,
    /// Locks for fetches of payments, by the provider's id: one at a time.
    payments: NamedLocks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants say what they are")]
pub enum CheckoutProgress {
    Open,
    /// The buyer has finished the checkout, and the payment is processing.
    Processing,
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
        let at_work = self.epochs.begin(account.project).await?;
        self.refresh_within(&at_work, account, subject).await
    }

    /// [`Fulfilment::refresh`] within work that has begun: to begin again would wait for who waits for its end.
    pub(crate) async fn refresh_within(
        &self,
        _at_work: &NamedLock,
        account: ProjectAccount<'_>,
        subject: &ObjectRef,
    ) -> Result<CheckoutProgress, Error> {
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
        let at_work = self.epochs.begin(account.project).await?;
        self.place_within(&at_work, account, (subject, paid)).await
    }

    /// [`Fulfilment::place_paid_order`] within work that has begun.
    pub(crate) async fn place_within(
        &self,
        _at_work: &NamedLock,
        account: ProjectAccount<'_>,
        (subject, paid): (&ObjectRef, PaidOrder),
    ) -> Result<(), Error> {
        self.applier(account, subject).paid_order(paid).await
    }

    fn applier<'a>(
        &'a self,
        account: ProjectAccount<'a>,
        subject: &'a ObjectRef,
    ) -> ReportApplier<'a> {
        ReportApplier {
            of: self,
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

pub(crate) struct WalletOwners<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) project: &'a ProjectCatalog,
}

impl Owners for WalletOwners<'_> {
    fn order_of(&self, subject: &ObjectRef) -> Result<Option<OrderId>, payments_port::Error> {
        let order = order_of(self.handle, &self.project.scope, subject);
        order.map_err(payments_port::Error::unavailable)
    }

    fn terms(&self, price: PriceId) -> Option<Terms> {
        terms_of(self.project, price)
    }
}
