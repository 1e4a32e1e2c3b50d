//! Separates work for a project's current provider from work for its former one. An answer is applied only while its
//! provider is current: otherwise a request from before a change could restart something that the change ended.

use std::sync::Arc;

use catalog::{CatalogStore, ProjectCatalog};
use dashmap::DashMap;
use domain::id::ProjectId;
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use super::Error;

/// A lock on each project's current provider. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ProviderLocks {
    catalog: Arc<CatalogStore>,
    /// Held for reading by work, and for writing to wait for its end.
    work: Arc<DashMap<ProjectId, Arc<RwLock<()>>>>,
}

/// Held during work for the current provider.
pub(crate) type WorkGuard = OwnedRwLockReadGuard<()>;

impl ProviderLocks {
    pub(crate) fn new(catalog: Arc<CatalogStore>) -> Self {
        Self {
            catalog,
            work: Arc::default(),
        }
    }

    /// Begins work for a provider, with a copy of the project that may be outdated.
    ///
    /// # Errors
    ///
    /// [`Error::Changing`] when the project's provider has changed since, or is being changed.
    pub(crate) async fn begin(&self, project: &ProjectCatalog) -> Result<WorkGuard, Error> {
        let id = project.project.id;
        let at_work = self.of(id).read_owned().await;
        let now = self.catalog.project(id);
        let now = now.map_err(|_| Error::Defect("the project no longer exists"))?;
        if now.epoch().number == project.epoch().number && !now.epoch().leaving {
            return Ok(at_work);
        }
        Err(Error::Changing)
    }

    /// Waits for the end of all work that began before.
    pub(crate) async fn drained(&self, project: ProjectId) {
        drop(self.of(project).write_owned().await);
    }

    fn of(&self, project: ProjectId) -> Arc<RwLock<()>> {
        Arc::clone(&self.work.entry(project).or_default())
    }
}
