//! Money in: joins the payment provider and the wallets. A buyer is sent to the provider
//! ([`Checkouts`]); what the provider tells is stored before it is acknowledged ([`Inbox`]), or read in
//! its own list of events ([`Feed`]); what was never told is asked for ([`Reconciler`],
//! [`Asking`]). All of them say
//! only what to look at: [`Fulfilment`] asks how it stands, and tells the wallet. What a caller has the
//! provider do ([`Refunds`], [`Subscriptions`]) is looked at likewise once it is done. What was begun with a
//! provider that a project has no more is ended ([`Leaving`]).
//!
//! It decides nothing about orders and credits: wallets do. It may do everything twice, since each
//! wallet takes each report once. It names no provider: see the crate `port`.

mod asking;
mod checkouts;
mod each;
mod error;
mod failpoint;
mod feed;
mod fulfilment;
mod inbox;
mod instructions;
mod lapses;
mod leaving;
pub mod notes;
mod places;
mod portals;
mod reconciler;
mod refunds;
mod rounds;
mod subscriptions;
mod tenures;
mod turns;

use std::sync::Arc;

use actors::Handle;
use catalog::{CatalogStore, ProjectCatalog};
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use port::{Asked, Provider};

pub use self::{
    asking::{Asking, News, Told},
    checkouts::{Checkouts, NewCheckout, OpenCheckout},
    error::Error,
    feed::{Caught, Feed},
    inbox::{Inbox, Refused},
    leaving::Leaving,
    portals::Portals,
    reconciler::Reconciler,
    refunds::{Refunded, Refunds},
    rounds::Rounds,
    subscriptions::{Instructed, Subscriptions},
};
use self::{fulfilment::Fulfilment, instructions::Desk, lapses::Lapses, tenures::Tenures};
use notes::Note;

/// Who takes each project's money.
pub trait Providers: Send + Sync {
    /// A project's provider.
    ///
    /// # Errors
    ///
    /// [`Error::NotConfigured`] where it has none, [`Error::Provider`] where it cannot be set up.
    fn of(&self, project: &ProjectCatalog) -> Result<Arc<dyn Provider>, Error>;

    /// Does what time brings, where a project's provider is one that has to be told the time.
    fn tend<'a>(&'a self, project: &'a ProjectCatalog) -> Asked<'a, ()>;

    /// Forgets what was made for a project at the provider that it had before.
    fn forget(&self, project: ProjectId) -> Asked<'_, ()>;
}

/// What all of payments stand on. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) handle: Handle,
    pub(crate) catalog: Arc<CatalogStore>,
    pub(crate) providers: Arc<dyn Providers>,
    pub(crate) fulfilment: Fulfilment,
    pub(crate) tenures: Tenures,
}

/// All of it. Cheap to clone.
#[derive(Clone)]
pub struct Payments(Arc<Parts>);

struct Parts {
    ground: Ground,
    checkouts: Checkouts,
    portals: Portals,
    refunds: Refunds,
    subscriptions: Subscriptions,
    inbox: Inbox,
    feed: Feed,
    reconciler: Reconciler,
    asking: Asking,
    leaving: Leaving,
    lapses: Lapses,
    /// Until when a project's provider is left alone.
    resting: DashMap<ProjectId, Timestamp>,
}

impl Payments {
    /// With what an earlier process stored and did not work off.
    #[must_use]
    pub fn new(
        handle: Handle,
        catalog: Arc<CatalogStore>,
        providers: Arc<dyn Providers>,
        stored: Vec<Note>,
    ) -> Self {
        let tenures = Tenures::new(Arc::clone(&catalog));
        let fulfilment = Fulfilment::new(handle.clone(), tenures.clone());
        let ground = Ground {
            handle,
            catalog,
            providers,
            fulfilment,
            tenures,
        };
        let reconciler = Reconciler::new(ground.clone());
        let (mut events, mut read) = (Vec::new(), Vec::new());
        for note in stored {
            match note {
                Note::Event(stored) => events.push(stored),
                Note::Reached { project, to } => reconciler.restore_reached(project, to),
                Note::Awaited {
                    project,
                    order,
                    until,
                } => reconciler.restore_awaited(project, order, until),
                Note::Read {
                    project,
                    until,
                    heard,
                } => read.push((project, until, heard)),
                // The providers' own.
                Note::Made { .. } | Note::Sandbox { .. } | Note::Audit(_) => {}
            }
        }
        let inbox = Inbox::new(ground.clone(), events);
        let feed = Feed::new(ground.clone(), inbox.clone());
        for (project, until, heard) in read {
            feed.restore(project, until, heard);
        }
        let desk = Desk::new(ground.clone());
        let leaving = Leaving::new(
            ground.clone(),
            inbox.clone(),
            feed.clone(),
            reconciler.clone(),
        );
        Self(Arc::new(Parts {
            leaving,
            checkouts: Checkouts::new(ground.clone(), feed.clone()),
            portals: Portals::new(ground.clone()),
            refunds: Refunds::new(desk.clone()),
            subscriptions: Subscriptions::new(desk),
            inbox,
            feed,
            reconciler,
            asking: Asking::new(ground.clone()),
            lapses: Lapses::new(ground.clone()),
            resting: DashMap::new(),
            ground,
        }))
    }

    /// Sends buyers to the provider.
    #[must_use]
    pub fn checkouts(&self) -> &Checkouts {
        &self.0.checkouts
    }

    /// Sends customers to the provider's portal.
    #[must_use]
    pub fn portals(&self) -> &Portals {
        &self.0.portals
    }

    /// Gives money back on a caller's word.
    #[must_use]
    pub fn refunds(&self) -> &Refunds {
        &self.0.refunds
    }

    /// Ends subscriptions and lets them go on, on a caller's word.
    #[must_use]
    pub fn subscriptions(&self) -> &Subscriptions {
        &self.0.subscriptions
    }

    /// Takes webhooks in.
    #[must_use]
    pub fn inbox(&self) -> &Inbox {
        &self.0.inbox
    }

    /// Reads providers' lists of events.
    #[must_use]
    pub fn feed(&self) -> &Feed {
        &self.0.feed
    }

    /// Asks about one order that somebody looks at.
    #[must_use]
    pub fn asking(&self) -> &Asking {
        &self.0.asking
    }

    /// Finishes with providers that projects had before.
    #[must_use]
    pub fn leaving(&self) -> &Leaving {
        &self.0.leaving
    }

    /// Asks about what was never told.
    #[must_use]
    pub fn reconciler(&self) -> &Reconciler {
        &self.0.reconciler
    }

    /// What was told of or asked about since the start, and the provider does not know.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        let inbox = self.0.inbox.given_up();
        let orders = self.0.reconciler.given_up();
        let subscriptions = self.0.lapses.given_up();
        inbox.saturating_add(orders).saturating_add(subscriptions)
    }
}

/// Reads what was stored by an earlier process.
///
/// # Errors
///
/// [`notes::Error`] where a note cannot be read: it stands for something that was promised, and nothing
/// is started without it.
pub fn stored(handle: &Handle) -> Result<Vec<Note>, notes::Error> {
    notes::stored(handle)
}
