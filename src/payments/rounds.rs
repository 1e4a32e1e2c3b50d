//! What time brings, once a second for each project with a provider: the sandbox does what is due,
//! orders that stay pending are asked about, those past their time expire. Also the test clock of a
//! sandbox, which is moved on step by step so that everything happens at its own instant.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use domain::{
    Timestamp,
    catalog::{Advance, Refusal},
    id::ProjectId,
};
use tokio::{
    sync::Mutex,
    task::{AbortHandle, JoinSet},
};

use super::{Error, Payments};
use crate::{
    catalog::{self, ProjectCatalog},
    provider::sandbox,
};

const INTERVAL: Duration = Duration::from_secs(1);
/// After a provider failed, so long is nothing asked of it.
const AFTER_FAILURE: Duration = Duration::from_secs(30);
/// Events of a sandbox's clock in one move: each renewal of a subscription is one.
const MAX_STEPS: usize = 10_000;

/// Runs until it is dropped.
#[derive(Debug)]
pub struct Rounds(AbortHandle);

impl Drop for Rounds {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Why a sandbox's clock could not be moved on.
#[derive(Debug, thiserror::Error)]
pub enum AdvanceError {
    /// Out of bounds, or not a sandbox.
    #[error(transparent)]
    Catalog(#[from] catalog::Error),
    /// The sandbox failed.
    #[error(transparent)]
    Sandbox(#[from] sandbox::Error),
    /// The wallets did.
    #[error(transparent)]
    Payments(#[from] Error),
}

impl Payments {
    /// Takes up what an earlier process left, and begins to look at the clock.
    #[must_use]
    pub fn start(&self) -> Rounds {
        self.take_up();
        let payments = self.clone();
        let task = tokio::spawn(async move {
            let mut interval = tokio::time::interval(INTERVAL);
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            // Each project's rounds on their own: a provider that does not answer keeps nobody else
            // waiting. They end with this task.
            let mut under_way = JoinSet::new();
            let mut busy = HashMap::new();
            let mut failures: HashMap<ProjectId, Instant> = HashMap::new();
            loop {
                interval.tick().await;
                while let Some(done) = under_way.try_join_next() {
                    if let Ok((project, failed)) = done {
                        busy.remove(&project);
                        match failed {
                            Some(failed) => failures.insert(project, failed),
                            None => failures.remove(&project),
                        };
                    }
                }
                busy.retain(|_, task: &mut AbortHandle| !task.is_finished());
                let projects: Vec<_> = payments.0.catalog.current().projects().cloned().collect();
                for project in projects {
                    let id = project.project.id;
                    if project.provider().is_some() && !busy.contains_key(&id) {
                        let payments = payments.clone();
                        let failed = failures.get(&id).copied();
                        let round = async move { (id, payments.round(&project, failed).await) };
                        busy.insert(id, under_way.spawn(round));
                    }
                }
            }
        });
        Rounds(task.abort_handle())
    }

    /// `failed` is when the provider last failed to answer; so is what it returns.
    async fn round(&self, project: &ProjectCatalog, failed: Option<Instant>) -> Option<Instant> {
        let id = project.project.id;
        if project.sandbox().is_some()
            && let Err(error) = self.0.sandbox.run_due(id).await
        {
            tracing::warn!(%error, project = %id, "The sandbox could not do what is due");
        }
        let failed = self.try_reconcile(project, failed).await;
        // After they were asked about: what is expired is not found by its age any more.
        let until = self.expire_until(project);
        if let Err(error) = self.0.handle.expire_due(&project.scope, until).await {
            tracing::warn!(%error, project = %id, "Orders past their time could not be expired yet");
        }
        failed
    }

    async fn try_reconcile(
        &self,
        project: &ProjectCatalog,
        failed: Option<Instant>,
    ) -> Option<Instant> {
        let id = project.project.id;
        if failed.is_some_and(|failed| failed.elapsed() < AFTER_FAILURE) {
            return failed;
        }
        match self.reconcile(project).await {
            Ok(()) | Err(Error::NotConfigured) => None,
            Err(error) => {
                tracing::warn!(%error, project = %id, "Pending orders could not be asked about; trying again later");
                Some(Instant::now())
            }
        }
    }

    /// Asks the provider about the project's orders that stay pending, as each round does.
    pub async fn ask_about_pending(&self, project: ProjectId) -> Result<(), AdvanceError> {
        let project = self.0.catalog.project(project)?;
        Ok(self.reconcile(&project).await?)
    }

    /// Moves a sandbox's clock on by so many seconds; the instant that it then shows. All that falls
    /// due on the way has happened by then.
    pub async fn advance(
        &self,
        project: ProjectId,
        seconds: i64,
    ) -> Result<Timestamp, AdvanceError> {
        let by = Advance::new(seconds).map_err(catalog::Error::from)?;
        // One move at a time: two would overtake each other.
        static TURN: Mutex<()> = Mutex::const_new(());
        let _turn = TURN.lock().await;
        let catalog = &self.0.catalog;
        let start = catalog.project(project)?;
        if start.sandbox().is_none() {
            return Err(catalog::Error::from(Refusal::NoSandbox).into());
        }
        let target = self
            .0
            .handle
            .now_in(&start.scope)
            .plus_seconds(by.seconds());
        for _ in 0..MAX_STEPS {
            let next = self.0.sandbox.next_due(project).await?;
            let Some(next) = next.filter(|next| *next < target) else {
                break;
            };
            catalog.advance_sandbox(project, next).await?;
            self.0.sandbox.run_due(project).await?;
        }
        catalog.advance_sandbox(project, target).await?;
        self.0.sandbox.run_due(project).await?;
        let moved = catalog.project(project)?;
        // Orders of the last seconds are not in the books yet, and may be due by this clock.
        self.0.handle.fold_all().await.map_err(Error::from)?;
        self.reconcile(&moved).await?;
        let until = self.0.handle.now_in(&moved.scope);
        let expired = self.0.handle.expire_due(&moved.scope, until).await;
        expired.map_err(Error::from)?;
        Ok(self.0.handle.now_in(&moved.scope))
    }
}
