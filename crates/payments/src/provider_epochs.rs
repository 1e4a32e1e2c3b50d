//! Separates work for a project's provider from work for its former one. An answer is applied only in the epoch in which
//! it was requested: otherwise it could restart something that the change of the provider ended.

use std::sync::Arc;

use catalog::{CatalogStore, ProjectCatalog};
use domain::id::ProjectId;

use super::{
    Error,
    named_locks::{NamedLock, NamedLocks},
};

/// The most work of a project at once; more waits.
const MAX_WORK: u32 = 65_536;
/// The projects' current provider epochs. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ProviderEpochs {
    catalog: Arc<CatalogStore>,
    /// Shared by a project's work, and taken to wait for its end.
    work: NamedLocks,
}

impl ProviderEpochs {
    pub(crate) fn new(catalog: Arc<CatalogStore>) -> Self {
        Self {
            catalog,
            work: NamedLocks::shared_by(MAX_WORK),
        }
    }

    pub(crate) fn current(&self, project: ProjectId) -> Result<Arc<ProjectCatalog>, Error> {
        let current = self.catalog.project(project);
        current.map_err(|_| Error::Defect("the project no longer exists"))
    }

    /// Begins work for a provider, with a copy of the project that may be outdated. The work ends when the lock is
    /// dropped.
    /// # Errors
    /// [`Error::Changing`] when the project's provider has changed since, or is being changed.
    pub(crate) async fn begin(&self, project: &ProjectCatalog) -> Result<NamedLock, Error> {
        let id = project.project.id;
        let at_work = self.work.share(&id.to_string()).await;
        let current = self.current(id)?;
        if current.epoch().number == project.epoch().number && !current.epoch().leaving {
            return Ok(at_work);
        }
        Err(Error::Changing)
    }

    /// Waits for the end of all work that began before.
    pub(crate) async fn drained(&self, project: ProjectId) {
        drop(self.work.take(&project.to_string()).await);
    }
}
