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
use crate::{catalog::CatalogStore, provider::sandbox::Sandbox};

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
    pub fn load(
        handle: Handle,
        catalog: Arc<CatalogStore>,
        place: Place,
        server_key: &[u8; 32],
    ) -> Result<Self, persistence::Error> {
        let accounts = Arc::new(Accounts::new(Arc::clone(&catalog), place, server_key));
        let sandbox = sandbox::start(&handle, &accounts);
        Ok(Self(Arc::new(Parts {
            inbox: Inbox::load(&handle)?,
            reconciler: Reconciler::load(&handle)?,
            tiers: Tiers::load(&handle)?,
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
