//! Money in: joins the payment provider and the wallets. A buyer is sent to the provider ([`Payments::open_checkout`]).
//! The provider's events come as webhooks, stored before they are acknowledged ([`Inbox`]), or are read from its list
//! of events ([`EventPoller`]); objects that no event named are asked about ([`PendingOrderSweep`],
//! [`Payments::refresh_order`]). Each of these is a [`Sweep`] that fails by itself, and an object that cannot be
//! fetched waits in the inbox. All of them only say which object to fetch: [`Fulfilment`] fetches it and reports its
//! state to the wallet, also after a caller's refund or cancellation ([`Payments::refund`], [`Payments::instruct`]).
//! Orders and subscriptions of a project's former provider are ended ([`Payments::end_former_provider`]).
//!
//! Wallets decide about orders and credits, this crate does not. It may do everything twice, since each wallet applies
//! each report once. It names no provider; see the crate `payments_port`.

mod backlog;
mod bill_payments;
mod checkout;
mod context;
mod doubled_subscriptions;
mod error;
mod event_poller;
pub mod failpoint;
mod fair_semaphore;
mod fulfilment;
mod inbox;
mod instructions;
mod leave_provider;
mod named_locks;
mod note_kinds;
mod order_refresh;
mod outages;
mod overdue_subscriptions;
mod pending_orders;
mod portal;
mod project_account;
mod provider_epochs;
mod reconciliation;
mod refund;
mod repeated_checkouts;
mod scheduler;
mod subscription_imports;
mod subscriptions;
mod sweep;
mod top_up_pauses;
mod top_ups;
mod unfulfilled;

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
};

use actors::{Handle, notes};
use catalog::CatalogStore;
use domain::id::{ProjectId, WalletKey};

pub use self::{
    checkout::{NewCardSetup, NewCheckout},
    context::Providers,
    doubled_subscriptions::DoubledSubscriptions,
    error::Error,
    event_poller::EventPoller,
    fulfilment::CheckoutProgress,
    inbox::{Inbox, ReceiveError},
    instructions::KeyedResult,
    named_locks::{NamedLock, NamedLocks},
    note_kinds::{EventKey, EventNote, KINDS as NOTE_KINDS},
    order_refresh::OrderRefresh,
    pending_orders::PendingOrderSweep,
    reconciliation::{
        CurrencySum, DAYS as RECONCILIATION_DAYS, Difference, DifferenceKind, Reconciliation,
        ReconciliationStatus, Reconciliations,
    },
    repeated_checkouts::CheckoutKey,
    scheduler::Scheduler,
    subscription_imports::ImportCandidate,
    sweep::Sweep,
    unfulfilled::{Assignment, List, State as UnfulfilledState, UnfulfilledPayment},
};
use self::{
    context::Context,
    event_poller::EventList,
    fair_semaphore::FairSemaphore,
    fulfilment::Fulfilment,
    note_kinds::{
        CheckoutNote, DoubledNote, PositionNote, ReconciliationNote, StoredEvent, UnfulfilledNote,
    },
    overdue_subscriptions::OverdueSubscriptions,
    pending_orders::PendingOrders,
    provider_epochs::ProviderEpochs,
    repeated_checkouts::RepeatedCheckouts,
    top_up_pauses::Pauses,
};
pub use payments_port::NoOrderReason;
use tokio::sync::Semaphore;

/// The most checkouts that are opened concurrently, over all projects; also the most concurrent instructions.
const CONCURRENCY: usize = 256;
/// The most orders that callers have refreshed concurrently; more requests are refused.
const REFRESH_CONCURRENCY: usize = 4;

/// The payments of all projects. Cheap to clone.
#[derive(Clone)]
pub struct Payments(Arc<Inner>);

struct Inner {
    context: Context,
    checkouts: FairSemaphore,
    refreshes: Semaphore,
    leaving: NamedLocks,
    instructions: FairSemaphore,
    named_locks: NamedLocks,
    inbox: Inbox,
    event_poller: Arc<EventPoller>,
    pending_orders: Arc<PendingOrderSweep>,
    overdue: Arc<Sweep<OverdueSubscriptions>>,
    backlog: Arc<Sweep<Inbox>>,
    reconciliations: Reconciliations,
    repeated_checkouts: RepeatedCheckouts,
    top_up_pauses: Pauses,
}

impl Payments {
    /// Loads the notes of an earlier process, including its unprocessed events.
    /// # Errors
    /// [`notes::Error`] when a note cannot be read: each note records a promise, and nothing is started without it.
    pub fn new(
        handle: Handle,
        catalog: Arc<CatalogStore>,
        providers: Arc<dyn Providers>,
    ) -> Result<Self, notes::Error> {
        let epochs = ProviderEpochs::new(Arc::clone(&catalog));
        let unfulfilled = List::new(handle.clone());
        let doubled = DoubledSubscriptions::new(handle.clone());
        let fulfilment = Fulfilment::new(
            handle.clone(),
            epochs.clone(),
            unfulfilled.clone(),
            doubled.clone(),
        );
        let context = Context {
            handle,
            catalog,
            providers,
            fulfilment,
            epochs,
            unfulfilled: unfulfilled.clone(),
            doubled: doubled.clone(),
            missing: Arc::default(),
            missing_objects: Arc::default(),
            opened: Arc::default(),
        };
        let reconciliations = Reconciliations::new(context.clone());
        let handle = &context.handle;
        for ((project, wallet), ()) in notes::all::<DoubledNote>(handle)? {
            doubled.restore(project, WalletKey(wallet));
        }
        for ((project, _), payment) in notes::all::<UnfulfilledNote>(handle)? {
            unfulfilled.restore(project, payment);
        }
        for (project, reconciliation) in notes::all::<ReconciliationNote>(handle)? {
            reconciliations.restore(project, reconciliation);
        }
        let events = notes::all::<EventNote>(handle)?.into_iter();
        let events = events.map(|(key, content)| StoredEvent { key, content });
        let inbox = Inbox::new(context.clone(), events.collect());
        let list = EventList::new(context.clone(), inbox.clone());
        for (project, position) in notes::all::<PositionNote>(handle)? {
            list.restore(project, position);
        }
        let pending_orders = PendingOrders::new(context.clone(), inbox.clone());
        let overdue = OverdueSubscriptions::new(context.clone(), inbox.clone());
        let opened = notes::all::<CheckoutNote>(handle)?;
        let repeated_checkouts = RepeatedCheckouts::restored(opened);
        let event_poller = Sweep::new(context.clone(), list);
        let pending_orders = Sweep::new(context.clone(), pending_orders);
        let overdue = Sweep::new(context.clone(), overdue);
        let backlog = Sweep::new(context.clone(), inbox.clone());
        Ok(Self(Arc::new(Inner {
            leaving: NamedLocks::default(),
            top_up_pauses: Pauses::default(),
            checkouts: FairSemaphore::new(CONCURRENCY),
            refreshes: Semaphore::new(REFRESH_CONCURRENCY),
            instructions: FairSemaphore::new(CONCURRENCY),
            named_locks: NamedLocks::default(),
            reconciliations,
            repeated_checkouts,
            inbox,
            event_poller,
            pending_orders,
            overdue,
            backlog,
            context,
        })))
    }

    /// Payments that lead to no order.
    pub fn unfulfilled(&self) -> &List {
        &self.0.context.unfulfilled
    }

    /// Wallets with several subscriptions to one product.
    pub fn doubled(&self) -> &DoubledSubscriptions {
        &self.0.context.doubled
    }

    /// The reconciliation of the provider's lists with the orders.
    pub fn reconciliations(&self) -> &Reconciliations {
        &self.0.reconciliations
    }

    /// The receiver of webhooks.
    pub fn inbox(&self) -> &Inbox {
        &self.0.inbox
    }

    /// The reader of providers' lists of events.
    pub fn event_poller(&self) -> &EventPoller {
        &self.0.event_poller
    }

    /// The sweep over orders that stay pending.
    pub fn pending_orders(&self) -> &PendingOrderSweep {
        &self.0.pending_orders
    }

    /// Reads the event list of a project's provider often for a minute, since somebody waits for a payment.
    pub fn expect(&self, project: ProjectId) {
        self.0.event_poller.source().expect(project);
    }

    /// Permissions that the provider keys of all projects lacked when last needed, in the providers' terms.
    pub fn missing_permissions(&self) -> BTreeSet<String> {
        let missing = self.0.context.missing.iter();
        missing.flat_map(|missing| missing.clone()).collect()
    }

    /// Checkouts opened since the start, and orders paid.
    pub fn sales(&self) -> (u64, u64) {
        let context = &self.0.context;
        let opened = context.opened.load(Ordering::Relaxed);
        (opened, context.fulfilment.paid())
    }

    /// Objects named since the start that the provider does not have.
    pub fn missing_objects(&self) -> u64 {
        self.0.context.missing_objects.load(Ordering::Relaxed)
    }
}
