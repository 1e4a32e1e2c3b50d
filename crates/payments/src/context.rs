//! What the modules of this crate share, and how they find a project's provider.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use actors::Handle;
use async_trait::async_trait;
use catalog::{CatalogStore, ProjectCatalog};
use dashmap::DashMap;
use domain::id::ProjectId;
use payments_port::{ObjectRef, Origin, Provider, ProviderEvent};

use crate::{
    doubled_subscriptions::DoubledSubscriptions,
    error::Error,
    fulfilment::{Fulfilment, order_of},
    provider_epochs::ProviderEpochs,
    unfulfilled::List,
};

/// Finds each project's payment provider.
#[async_trait]
pub trait Providers: Send + Sync {
    /// A project's provider.
    /// # Errors
    /// [`Error::NotConfigured`] when it has none, [`Error::Provider`] when it cannot be set up.
    fn of(&self, project: &ProjectCatalog) -> Result<Arc<dyn Provider>, Error>;

    /// The address of this server's own pages.
    fn public_url(&self) -> &str;

    /// Does the periodic work of a project's provider: verifies a new account, runs due work of the sandbox.
    async fn tick(&self, project: &ProjectCatalog) -> payments_port::Result<()>;

    /// Forgets the ids of objects that were created for a project at its former provider.
    async fn forget(&self, project: ProjectId) -> payments_port::Result<()>;
}

/// The shared state of this crate. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) catalog: Arc<CatalogStore>,
    pub(crate) providers: Arc<dyn Providers>,
    pub(crate) fulfilment: Fulfilment,
    pub(crate) epochs: ProviderEpochs,
    pub(crate) unfulfilled: List,
    pub(crate) doubled: DoubledSubscriptions,
    /// Permissions that projects' keys lack, as of the last sweep.
    pub(crate) missing: Arc<DashMap<ProjectId, Vec<String>>>,
    pub(crate) missing_objects: Arc<AtomicU64>,
    pub(crate) opened: Arc<AtomicU64>,
}

impl Context {
    /// Counts an object that the provider does not have although an event or a caller named it.
    pub(crate) fn count_missing(&self) {
        self.missing_objects.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether an event belongs to another product in the same account: its copy lacks the project's metadata, and no
    /// wallet knows its object.
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
        let order = match (&event.about, subscription) {
            // A new invoice is recognized by its subscription.
            (ObjectRef::Invoice(_), Some(id)) => handle.order_of(scope, id)?,
            (about, _) => order_of(handle, scope, about)?,
        };
        // A new payment pays an invoice, and is recognized by its customer.
        let of_a_customer = match (&event.about, customer) {
            (ObjectRef::Payment(_), Some(customer)) => {
                !handle.orders_of_customer(scope, customer, 1)?.is_empty()
            }
            _ => false,
        };
        Ok(order.is_none() && !of_a_customer)
    }
}
