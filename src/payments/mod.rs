//! Money in: joins the payment provider and the wallets. A buyer is sent to the provider
//! (`checkout.rs`), the provider's reports are stored before they are acknowledged (`inbox.rs`), read
//! (`fulfil.rs`) and told to the wallet that they are about; what was never reported is asked for
//! (`reconcile.rs`).
//!
//! It decides nothing about orders and credits: wallets do. It may do everything twice, since each
//! wallet takes each report once.

mod accounts;
mod checkout;
mod error;
mod fulfil;
mod inbox;
mod portal;
mod reconcile;
mod rounds;
mod sandbox;
mod tiers;

use std::sync::Arc;

use actors::Handle;
use tokio::sync::Semaphore;

pub use self::{
    accounts::{Accounts, Place},
    checkout::{Discount, NewCheckout, OpenCheckout},
    error::Error,
    inbox::Refused,
    rounds::{AdvanceError, Rounds},
};
use self::{inbox::Inbox, reconcile::Reconciler, tiers::Tiers};
use crate::{
    catalog::CatalogStore,
    notes::{self, Note},
    provider::sandbox::Sandbox,
};

/// Checkouts that may be being opened at once, over all projects.
const MAX_CHECKOUTS: usize = 256;

/// Cheap to clone.
#[derive(Clone)]
pub struct Payments(Arc<Parts>);

struct Parts {
    handle: Handle,
    catalog: Arc<CatalogStore>,
    accounts: Arc<Accounts>,
    tiers: Tiers,
    inbox: Inbox,
    reconciler: Reconciler,
    sandbox: Sandbox,
    /// Places of checkouts that are being opened.
    checkouts: Arc<Semaphore>,
}

impl Payments {
    /// Reads what was stored and not worked off.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where a note cannot be read: it stands for something that was promised, and
    /// nothing is started without it.
    pub fn load(
        handle: Handle,
        catalog: Arc<CatalogStore>,
        place: Place,
        server_key: &[u8; 32],
    ) -> Result<Self, notes::Error> {
        let accounts = Arc::new(Accounts::new(Arc::clone(&catalog), place, server_key));
        let sandbox = sandbox::start(&handle, &accounts);
        let (mut inbox, reconciler, tiers) = (Vec::new(), Reconciler::default(), Tiers::default());
        for note in notes::stored(&handle)? {
            match note {
                Note::Event(stored) => inbox.push(stored),
                Note::Reached { project, to } => reconciler.restore_reached(project, to),
                Note::Awaited {
                    project,
                    order,
                    until,
                } => reconciler.restore_awaited(project, order, until),
                Note::Portal { project, offer, id } => tiers.restore(project, offer, id),
                // Read by the sandbox, when it is used.
                Note::Sandbox { .. } => {}
            }
        }
        Ok(Self(Arc::new(Parts {
            inbox: Inbox::new(inbox),
            reconciler,
            tiers,
            handle,
            catalog,
            accounts,
            sandbox,
            checkouts: Arc::new(Semaphore::new(MAX_CHECKOUTS)),
        })))
    }

    /// The built-in provider.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.0.sandbox
    }

    /// Who the projects' providers are.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.0.accounts
    }

    /// Webhooks that were stored and not worked off yet.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.0.inbox.waiting()
    }
}
