//! Whose turn a project's provider has, and who is still at work for the one before. What was asked of a
//! provider is told to wallets only while it still has its turn: else somebody who asked before a change
//! could begin after it what was just ended.

use std::sync::Arc;

use catalog::{CatalogStore, ProjectCatalog};
use dashmap::DashMap;
use domain::id::ProjectId;
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use super::Error;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tenures {
    catalog: Arc<CatalogStore>,
    /// Taken by those at work to read, by who waits for them to write.
    work: Arc<DashMap<ProjectId, Arc<RwLock<()>>>>,
}

/// Somebody at work for a provider that has its turn.
pub(crate) type AtWork = OwnedRwLockReadGuard<()>;

impl Tenures {
    pub(crate) fn new(catalog: Arc<CatalogStore>) -> Self {
        Self {
            catalog,
            work: Arc::default(),
        }
    }

    /// Lets somebody begin who knows the project as it was some time ago.
    ///
    /// # Errors
    ///
    /// [`Error::Changing`] where its provider is another one by now, or about to be.
    pub(crate) async fn begin(&self, known: &ProjectCatalog) -> Result<AtWork, Error> {
        let id = known.project.id;
        let at_work = self.of(id).read_owned().await;
        let now = self.catalog.project(id);
        let now = now.map_err(|_| Error::Defect("its project is gone"))?;
        if now.tenure().number == known.tenure().number && !now.tenure().leaving {
            return Ok(at_work);
        }
        Err(Error::Changing)
    }

    /// Waits until nobody is at work who began before.
    pub(crate) async fn settled(&self, project: ProjectId) {
        drop(self.of(project).write_owned().await);
    }

    fn of(&self, project: ProjectId) -> Arc<RwLock<()>> {
        Arc::clone(&self.work.entry(project).or_default())
    }
}
