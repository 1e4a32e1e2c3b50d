//! What time brings, once a second for each project with a provider: a provider that has to be told the
//! time is, its list of events is read, orders that stay pending and subscriptions that should have gone
//! on are asked about, what could not be looked at is tried again, orders past their time expire, a proof is
//! begun that is due. Each is a task
//! of its own, so that none waits for another, and none fails with it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use catalog::ProjectCatalog;
use domain::id::ProjectId;
use futures_util::future::join_all;
use tokio::task::{AbortHandle, JoinSet};

use super::{Error, Payments};

const INTERVAL: Duration = Duration::from_secs(1);
/// After what a provider has to be told could not be told, or what was begun with a former one not be ended.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Runs until it is dropped.
#[derive(Debug)]
pub struct Scheduler(AbortHandle);

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// One thing that is done each second, of one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    Tend,
    Events,
    Orders,
    Subscriptions,
    Backlog,
    Proof,
}

impl Task {
    const ALL: [Self; 6] = [
        Self::Tend,
        Self::Events,
        Self::Orders,
        Self::Subscriptions,
        Self::Backlog,
        Self::Proof,
    ];
}

impl Payments {
    /// Takes up what an earlier process left, and begins to look at the clock.
    #[must_use]
    pub fn start(&self) -> Scheduler {
        self.0.inbox.take_up();
        let payments = self.clone();
        let task = tokio::spawn(async move {
            let mut interval = tokio::time::interval(INTERVAL);
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            // They end with this task.
            let mut under_way = JoinSet::new();
            let mut busy: HashMap<(ProjectId, Task), AbortHandle> = HashMap::new();
            loop {
                interval.tick().await;
                while under_way.try_join_next().is_some() {}
                busy.retain(|_, task| !task.is_finished());
                let catalog = &payments.0.context.catalog;
                let projects: Vec<_> = catalog.current().projects().cloned().collect();
                for project in projects.iter().filter(|it| it.provider().is_some()) {
                    for task in Task::ALL {
                        let of = (project.project.id, task);
                        busy.entry(of).or_insert_with(|| {
                            under_way.spawn(payments.clone().due(Arc::clone(project), task))
                        });
                    }
                }
            }
        });
        Scheduler(task.abort_handle())
    }

    async fn due(self, project: Arc<ProjectCatalog>, task: Task) {
        if !self.do_task(&project, task).await {
            tokio::time::sleep(AFTER_FAILURE).await;
        }
    }

    /// One round of a project's sweeps.
    pub async fn round(&self, project: &Arc<ProjectCatalog>) {
        self.do_task(project, Task::Tend).await;
        let sweeps = Task::ALL.into_iter();
        let sweeps = sweeps.filter(|task| !matches!(task, Task::Tend | Task::Proof));
        join_all(sweeps.map(|task| self.do_task(project, task))).await;
    }

    /// Whether it may be done again at once.
    async fn do_task(&self, project: &Arc<ProjectCatalog>, task: Task) -> bool {
        let is_leaving = project.tenure().leaving;
        match task {
            Task::Tend if is_leaving => return self.leave(project.project.id).await,
            Task::Tend => return self.tend(project).await,
            _ if is_leaving => {}
            Task::Events => self.0.event_poller.tick(project).await,
            Task::Orders => {
                self.0.reconciler.tick(project).await;
                // After they were asked about: what is expired is not found by its age any more.
                let until = self.0.reconciler.source().expire_until(project);
                let expired = self.0.context.handle.expire_due(&project.scope, until);
                if let Err(error) = expired.await {
                    tracing::warn!(%error, project = %project.project.id, "Orders past their time could not be expired yet");
                }
            }
            Task::Subscriptions => {
                self.0.overdue.tick(project).await;
                if let Err(error) = self.0.overdue.source().miss(project).await {
                    tracing::warn!(%error, project = %project.project.id, "Subscriptions without a word could not be ended yet");
                }
            }
            Task::Backlog => self.0.backlog.tick(project).await,
            Task::Proof => self.0.proofs.tend(self, project).await,
        }
        true
    }

    async fn tend(&self, project: &ProjectCatalog) -> bool {
        let tended = self.0.context.providers.tend(project).await;
        if let Err(error) = &tended {
            tracing::warn!(%error, project = %project.project.id, "The payment provider cannot be reached; trying again later");
        }
        tended.is_ok()
    }

    async fn leave(&self, project: ProjectId) -> bool {
        let left = self.finish_leaving(project).await;
        if let Err(error) = &left {
            tracing::warn!(%error, %project, "What was begun with the former payment provider could not all be ended yet; trying again later");
        }
        left.is_ok()
    }

    /// All that time has brought for a project by now: for whoever moved its clock on.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn catch_up(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let handle = &self.0.context.handle;
        // Orders of the last seconds are not in the books yet, and may be due by this clock.
        handle.fold_all().await?;
        self.0.reconciler.run(project).await?;
        self.0.overdue.run(project).await?;
        let until = handle.now_in(&project.scope);
        handle.expire_due(&project.scope, until).await?;
        Ok(())
    }
}
