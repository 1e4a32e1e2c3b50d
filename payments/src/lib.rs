//! Money in: joins the payment provider and the wallets. A buyer is sent to the provider
//! ([`Payments::open_checkout`]); what the provider tells is stored before it is acknowledged ([`Inbox`]), or read in
//! its own list of events ([`EventPoller`]); what was never told is asked for ([`Reconciler`],
//! [`Payments::refresh_order`]): each is a [`Sweep`] that fails by itself, and what it cannot look at waits in the inbox. All of them say
//! only what to look at: [`Fulfilment`] asks how it stands, and tells the wallet. What a caller has the
//! provider do ([`Payments::refund`], [`Payments::cancel`]) is looked at likewise once it is done. What was begun with a
//! provider that a project has no more is ended ([`Payments::finish_leaving`]).
//!
//! It decides nothing about orders and credits: wallets do. It may do everything twice, since each
//! wallet takes each report once. It names no provider: see the crate `port`.

mod backlog;
mod checkouts;
mod error;
mod event_poller;
mod failpoint;
mod fair_semaphore;
mod fulfilment;
mod inbox;
mod instructions;
mod leaving;
mod note_kinds;
mod order_refresh;
mod overdue_subscriptions;
mod pending_orders;
mod portals;
mod proof;
mod refunds;
mod scheduler;
mod silence;
mod subscription_imports;
mod subscriptions;
mod sweep;
mod tenures;
mod turns;
mod unfulfilled;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use actors::Handle;
use catalog::{CatalogStore, ProjectCatalog};
use dashmap::DashMap;
use domain::id::ProjectId;
use port::{ObjectRef, Origin, Provider, ProviderEvent, ProviderFuture};

pub use self::{
    checkouts::{NewCheckout, OpenCheckout},
    error::Error,
    event_poller::EventPoller,
    inbox::{Inbox, ReceiveError},
    note_kinds::{EventKey, EventNote, KINDS as NOTE_KINDS},
    order_refresh::{OrderRefresh, RefreshOutcome},
    pending_orders::Reconciler,
    proof::{DAYS as PROOF_DAYS, Difference, DifferenceKind, Proof, ProofStatus, Proofs, Sum},
    refunds::RefundResult,
    scheduler::Scheduler,
    subscription_imports::ImportCandidate,
    subscriptions::InstructionResult,
    sweep::Sweep,
    unfulfilled::{
        Assignment, AssignmentRequest, List, State as UnfulfilledState, UnfulfilledPayment,
    },
};
use self::{
    event_poller::EventList,
    fair_semaphore::FairSemaphore,
    fulfilment::Fulfilment,
    note_kinds::{PositionNote, ProofNote, StoredEvent, UnfulfilledNote},
    overdue_subscriptions::OverdueSubscriptions,
    pending_orders::PendingOrders,
    tenures::Tenures,
    turns::Turns,
};
pub use port::Unplaceable;
use tokio::sync::Semaphore;

/// Checkouts that may be being opened at once, over all projects; of instructions likewise.
const AT_ONCE: usize = 256;
/// Orders that are asked about at once because somebody wants to know; more are refused.
const ASKED_AT_ONCE: usize = 4;

/// Who takes each project's money.
pub trait Providers: Send + Sync {
    /// A project's provider.
    ///
    /// # Errors
    ///
    /// [`Error::NotConfigured`] where it has none, [`Error::Provider`] where it cannot be set up.
    fn of(&self, project: &ProjectCatalog) -> Result<Arc<dyn Provider>, Error>;

    /// Does what time brings, where a project's provider is one that has to be told the time.
    fn tend<'a>(&'a self, project: &'a ProjectCatalog) -> ProviderFuture<'a, ()>;

    /// Forgets what was made for a project at the provider that it had before.
    fn forget(&self, project: ProjectId) -> ProviderFuture<'_, ()>;
}

/// What all of payments stand on. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) catalog: Arc<CatalogStore>,
    pub(crate) providers: Arc<dyn Providers>,
    pub(crate) fulfilment: Fulfilment,
    pub(crate) tenures: Tenures,
    pub(crate) unfulfilled: List,
    /// Permissions that projects' keys lack, as of the last sweep.
    pub(crate) missing: Arc<DashMap<ProjectId, Vec<String>>>,
    given_up: Arc<AtomicU64>,
}

impl Context {
    /// Something was told of or asked about that the provider does not know.
    pub(crate) fn give_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether an event is of another product in the same account: nothing says that it is the project's, and
    /// no wallet knows it.
    pub(crate) fn is_foreign(
        &self,
        project: &ProjectCatalog,
        event: &ProviderEvent,
    ) -> Result<bool, actors::Error> {
        let Origin::Unmarked {
            subscription,
            customer,
        } = &event.origin
        else {
            return Ok(false);
        };
        let (handle, scope) = (&self.handle, &project.scope);
        let known = match (&event.about, subscription) {
            (ObjectRef::Checkout(id), _) => handle.checkout_order(scope, id)?,
            // A bill that was never heard of is known by its subscription.
            (ObjectRef::Subscription(id), _) | (ObjectRef::Invoice(_), Some(id)) => {
                handle.order_of_subscription(scope, id)?
            }
            (ObjectRef::Invoice(id), None) => handle.order_of_invoice(scope, id)?,
            (ObjectRef::Payment(id), _) => handle.order_of_payment(scope, id)?,
        };
        // A payment that was never heard of is a bill's, of a customer who is known.
        let of_a_customer = match (&event.about, customer) {
            (ObjectRef::Payment(_), Some(customer)) => {
                !handle.orders_of_customer(scope, customer, 1)?.is_empty()
            }
            _ => false,
        };
        Ok(known.is_none() && !of_a_customer)
    }
}

/// All of it. Cheap to clone.
#[derive(Clone)]
pub struct Payments(Arc<Inner>);

struct Inner {
    context: Context,
    /// Checkouts that are being opened.
    checkouts: FairSemaphore,
    /// Orders that are asked about because somebody wants to know.
    asking: Semaphore,
    leaving: Turns,
    /// What callers have the provider do.
    instructions: FairSemaphore,
    turns: Turns,
    inbox: Inbox,
    event_poller: Arc<EventPoller>,
    reconciler: Arc<Reconciler>,
    overdue: Arc<Sweep<OverdueSubscriptions>>,
    backlog: Arc<Sweep<Inbox>>,
    proofs: Proofs,
}

impl Payments {
    /// With what an earlier process stored and did not work off.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where a note cannot be read: it stands for something that was promised, and nothing is
    /// started without it.
    pub fn new(
        handle: Handle,
        catalog: Arc<CatalogStore>,
        providers: Arc<dyn Providers>,
    ) -> Result<Self, notes::Error> {
        let tenures = Tenures::new(Arc::clone(&catalog));
        let unfulfilled = List::new(handle.clone());
        let fulfilment = Fulfilment::new(handle.clone(), tenures.clone(), unfulfilled.clone());
        let context = Context {
            handle,
            catalog,
            providers,
            fulfilment,
            tenures,
            unfulfilled: unfulfilled.clone(),
            missing: Arc::default(),
            given_up: Arc::default(),
        };
        let proofs = Proofs::new(context.clone());
        let handle = &context.handle;
        for ((project, _), payment) in notes::all::<UnfulfilledNote>(handle)? {
            unfulfilled.restore(project, payment);
        }
        for (project, proof) in notes::all::<ProofNote>(handle)? {
            proofs.restore(project, proof);
        }
        let events = notes::all::<EventNote>(handle)?.into_iter();
        let events = events.map(|(key, told)| StoredEvent { key, told });
        let inbox = Inbox::new(context.clone(), events.collect());
        let list = EventList::new(context.clone(), inbox.clone());
        for (project, position) in notes::all::<PositionNote>(handle)? {
            list.restore(project, position);
        }
        let orders = PendingOrders::new(context.clone(), inbox.clone());
        let overdue = OverdueSubscriptions::new(context.clone(), inbox.clone());
        let event_poller = Sweep::new(context.clone(), list);
        let reconciler = Sweep::new(context.clone(), orders);
        let overdue = Sweep::new(context.clone(), overdue);
        let backlog = Sweep::new(context.clone(), inbox.clone());
        Ok(Self(Arc::new(Inner {
            leaving: Turns::default(),
            checkouts: FairSemaphore::new(AT_ONCE),
            asking: Semaphore::new(ASKED_AT_ONCE),
            instructions: FairSemaphore::new(AT_ONCE),
            turns: Turns::default(),
            proofs,
            inbox,
            event_poller,
            reconciler,
            overdue,
            backlog,
            context,
        })))
    }

    /// What was paid and leads to no order.
    #[must_use]
    pub fn unfulfilled(&self) -> &List {
        &self.0.context.unfulfilled
    }

    /// Holds the provider's books against the orders.
    #[must_use]
    pub fn proofs(&self) -> &Proofs {
        &self.0.proofs
    }

    /// Takes webhooks in.
    #[must_use]
    pub fn inbox(&self) -> &Inbox {
        &self.0.inbox
    }

    /// Reads providers' lists of events.
    #[must_use]
    pub fn event_poller(&self) -> &EventPoller {
        &self.0.event_poller
    }

    /// Asks about what was never told.
    #[must_use]
    pub fn reconciler(&self) -> &Reconciler {
        &self.0.reconciler
    }

    /// Somebody waits for a payment of a project: its provider's list of events is read often for a minute.
    pub fn expect(&self, project: ProjectId) {
        self.0.event_poller.source().expect(project);
    }

    /// What the keys of all projects' providers were last not allowed to do, in the providers' words.
    #[must_use]
    pub fn missing_permissions(&self) -> BTreeSet<String> {
        let missing = self.0.context.missing.iter();
        missing.flat_map(|missing| missing.clone()).collect()
    }

    /// What was told of or asked about since the start, and the provider does not know.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.0.context.given_up.load(Ordering::Relaxed)
    }
}
