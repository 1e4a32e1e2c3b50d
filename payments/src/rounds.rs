//! What time brings, once a second for each project with a provider: a provider that has to be told the
//! time is, its list of events is read, orders that stay pending and subscriptions that should have gone
//! on are asked about, orders past their time expire.

use std::{collections::HashMap, time::Duration};

use catalog::ProjectCatalog;
use domain::id::ProjectId;
use tokio::task::{AbortHandle, JoinSet};

use super::{Error, Payments};

const INTERVAL: Duration = Duration::from_secs(1);
/// After a provider failed, so long is nothing asked of it; longer where it says so.
const AFTER_FAILURE_SECONDS: i64 = 30;
const LONGEST_REST_SECONDS: i64 = 600;

/// Runs until it is dropped.
#[derive(Debug)]
pub struct Rounds(AbortHandle);

impl Drop for Rounds {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Payments {
    /// Takes up what an earlier process left, and begins to look at the clock.
    #[must_use]
    pub fn start(&self) -> Rounds {
        self.0.inbox.take_up();
        let payments = self.clone();
        let task = tokio::spawn(async move {
            let mut interval = tokio::time::interval(INTERVAL);
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            // Each project's rounds on their own: a provider that does not answer keeps nobody else
            // waiting. They end with this task.
            let mut under_way = JoinSet::new();
            let mut busy: HashMap<ProjectId, AbortHandle> = HashMap::new();
            loop {
                interval.tick().await;
                while under_way.try_join_next().is_some() {}
                busy.retain(|_, task| !task.is_finished());
                let catalog = &payments.0.ground.catalog;
                let projects: Vec<_> = catalog.current().projects().cloned().collect();
                for project in projects {
                    let id = project.project.id;
                    if project.provider().is_some() && !busy.contains_key(&id) {
                        let payments = payments.clone();
                        let round = async move { payments.round(&project).await };
                        busy.insert(id, under_way.spawn(round));
                    }
                }
            }
        });
        Rounds(task.abort_handle())
    }

    /// One round of a project. A provider that failed is left alone for a while.
    pub async fn round(&self, project: &ProjectCatalog) {
        let id = project.project.id;
        if project.tenure().leaving {
            if let Err(error) = self.0.leaving.finish(id).await {
                tracing::warn!(%error, project = %id, "What was begun with the former payment provider could not all be ended yet; trying again later");
                // It begins again from the start.
                let pause = AFTER_FAILURE_SECONDS.unsigned_abs();
                tokio::time::sleep(Duration::from_secs(pause)).await;
            }
            // For how long the former one was to be left alone is no affair of the next one.
            self.0.resting.remove(&id);
            return;
        }
        let handle = &self.0.ground.handle;
        let (now, resting) = (handle.now(), &self.0.resting);
        if resting.get(&id).is_none_or(|until| *until <= now) {
            match self.ask(project).await {
                Ok(()) | Err(Error::NotConfigured) => drop(resting.remove(&id)),
                Err(error) => {
                    tracing::warn!(%error, project = %id, "The payment provider could not be asked; trying again later");
                    let pause = asked_for(&error).max(AFTER_FAILURE_SECONDS);
                    resting.insert(id, now.plus_seconds(pause));
                    if let Err(error) = self.0.lapses.miss(project).await {
                        tracing::warn!(%error, project = %id, "Subscriptions without a word could not be ended yet");
                    }
                }
            }
        }
        // After they were asked about: what is expired is not found by its age any more.
        let until = self.0.reconciler.expire_until(project);
        if let Err(error) = handle.expire_due(&project.scope, until).await {
            tracing::warn!(%error, project = %id, "Orders past their time could not be expired yet");
        }
    }

    async fn ask(&self, project: &ProjectCatalog) -> Result<(), Error> {
        self.0.ground.providers.tend(project).await?;
        if self.0.feed.is_due(project.project.id) {
            self.0.feed.read(project).await?;
        }
        self.0.reconciler.ask(project).await?;
        let provider = self.0.ground.providers.of(project)?.in_background();
        self.0.lapses.ask(project, &*provider).await
    }

    /// All that time has brought for a project by now: for whoever moved its clock on.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn catch_up(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let handle = &self.0.ground.handle;
        // Orders of the last seconds are not in the books yet, and may be due by this clock.
        handle.fold_all().await?;
        self.0.reconciler.ask(project).await?;
        let provider = self.0.ground.providers.of(project)?.in_background();
        self.0.lapses.ask(project, &*provider).await?;
        let until = handle.now_in(&project.scope);
        handle.expire_due(&project.scope, until).await?;
        Ok(())
    }
}

/// How long the provider asked to be left alone, in seconds.
fn asked_for(error: &Error) -> i64 {
    match error {
        Error::Provider(port::Error::Unavailable {
            retry_after_seconds: Some(seconds),
            ..
        }) => {
            i64::try_from(*seconds).map_or(LONGEST_REST_SECONDS, |it| it.min(LONGEST_REST_SECONDS))
        }
        _ => 0,
    }
}
