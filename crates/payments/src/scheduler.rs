//! Runs the periodic work of each project with a provider, once a second: the provider's own, its list of events,
//! pending orders, overdue subscriptions, retries of stored events, expired orders, due reconciliations, automatic top-ups
//! (also as soon as one is decided). Each is a
//! separate task, so that none waits for another or fails with it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use catalog::ProjectCatalog;
use domain::id::ProjectId;
use futures_util::future::join_all;
use tokio::task::{AbortHandle, JoinSet};

use super::{Error, Payments};

const INTERVAL: Duration = Duration::from_secs(1);
const FAILURE_PAUSE: Duration = Duration::from_secs(30);

/// The running periodic work, which stops on drop.
#[derive(Debug)]
pub struct Scheduler(AbortHandle);

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    Provider,
    Events,
    Orders,
    Subscriptions,
    Backlog,
    Reconciliation,
    TopUps,
}

impl Task {
    const ALL: [Self; 7] = [
        Self::Provider,
        Self::Events,
        Self::Orders,
        Self::Subscriptions,
        Self::Backlog,
        Self::Reconciliation,
        Self::TopUps,
    ];
}

impl Payments {
    /// Queues stored events, and starts the periodic work.
    pub fn start(&self) -> Scheduler {
        self.0.inbox.queue_stored();
        let payments = self.clone();
        let task = tokio::spawn(async move {
            let mut interval = tokio::time::interval(INTERVAL);
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            // Dropping the set with this task aborts them.
            let mut under_way = JoinSet::new();
            let mut busy: HashMap<(ProjectId, Task), AbortHandle> = HashMap::new();
            let charger = payments.0.context.handle.charger();
            loop {
                let tasks = tokio::select! {
                    _ = interval.tick() => Task::ALL.as_slice(),
                    () = charger.notified() => &[Task::TopUps],
                };
                while under_way.try_join_next().is_some() {}
                busy.retain(|_, task| !task.is_finished());
                let catalog = &payments.0.context.catalog;
                let projects: Vec<_> = catalog.current().projects().cloned().collect();
                for project in projects
                    .iter()
                    .filter(|project| project.provider().is_some())
                {
                    for &task in tasks {
                        busy.entry((project.project.id, task)).or_insert_with(|| {
                            under_way.spawn(payments.clone().due(Arc::clone(project), task))
                        });
                    }
                }
            }
        });
        Scheduler(task.abort_handle())
    }

    async fn due(self, project: Arc<ProjectCatalog>, task: Task) {
        if !self.run_task(&project, task).await {
            tokio::time::sleep(FAILURE_PAUSE).await;
        }
    }

    /// Runs each of a project's sweeps once.
    pub async fn round(&self, project: &Arc<ProjectCatalog>) {
        self.run_task(project, Task::Provider).await;
        let sweeps = Task::ALL.into_iter();
        let sweeps = sweeps.filter(|task| !matches!(task, Task::Provider | Task::Reconciliation));
        join_all(sweeps.map(|task| self.run_task(project, task))).await;
    }

    /// Whether it may run again without the pause after a failure.
    async fn run_task(&self, project: &Arc<ProjectCatalog>, task: Task) -> bool {
        let is_leaving = project.epoch().leaving;
        match task {
            Task::Provider if is_leaving => return self.leave(project.project.id).await,
            Task::Provider => return self.tick_provider(project).await,
            _ if is_leaving => {}
            Task::Events => self.0.event_poller.tick(project).await,
            Task::Orders => {
                self.0.pending_orders.tick(project).await;
                // After the sweep, which does not find expired orders.
                let until = self.0.pending_orders.source().expire_until(project);
                let expired = self.0.context.handle.expire_due(&project.scope, until);
                if let Err(error) = expired.await {
                    tracing::warn!(%error, project = %project.project.id, "Overdue orders could not be expired yet");
                }
            }
            Task::Subscriptions => {
                self.0.overdue.tick(project).await;
                if let Err(error) = self.0.overdue.source().lapse_unanswered(project).await {
                    tracing::warn!(%error, project = %project.project.id, "Overdue subscriptions whose provider does not answer could not be ended yet");
                }
            }
            Task::Backlog => self.0.backlog.tick(project).await,
            Task::Reconciliation => self.0.reconciliations.tick(self, project).await,
            Task::TopUps => self.charge_due(project).await,
        }
        true
    }

    async fn tick_provider(&self, project: &ProjectCatalog) -> bool {
        let outcome = self.0.context.providers.tick(project).await;
        if let Err(error) = &outcome {
            tracing::warn!(%error, project = %project.project.id, "The payment provider cannot be reached; trying again later");
        }
        outcome.is_ok()
    }

    async fn leave(&self, project: ProjectId) -> bool {
        let left = self.end_former_provider(project).await;
        if let Err(error) = &left {
            tracing::warn!(%error, %project, "Orders and subscriptions of the former payment provider could not all be ended yet; trying again later");
        }
        left.is_ok()
    }

    /// Refreshes all due orders and subscriptions, and expires overdue orders, after the sandbox's clock moved.
    /// # Errors
    /// [`Error`] when a fold or a sweep fails; the rest is not done then.
    pub async fn catch_up(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let handle = &self.0.context.handle;
        // Orders of the last seconds may be due and not folded yet.
        handle.fold_all().await?;
        self.0.pending_orders.run(project).await?;
        self.0.overdue.run(project).await?;
        self.charge_due(project).await;
        let until = handle.now_in(&project.scope);
        handle.expire_due(&project.scope, until).await?;
        Ok(())
    }
}
