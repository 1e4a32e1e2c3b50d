//! What time brings, once a second for each project with a provider: a provider that has to be told the
//! time is, its list of events is read, orders that stay pending are asked about, those past their time
//! expire.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use catalog::ProjectCatalog;
use domain::id::ProjectId;
use tokio::task::{AbortHandle, JoinSet};

use super::{Error, Payments};

const INTERVAL: Duration = Duration::from_secs(1);
/// After a provider failed, so long is nothing asked of it; longer where it says so.
const AFTER_FAILURE: Duration = Duration::from_secs(30);
const LONGEST_REST: Duration = Duration::from_secs(600);

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
            let mut busy = HashMap::new();
            let mut resting: HashMap<ProjectId, Instant> = HashMap::new();
            loop {
                interval.tick().await;
                while let Some(done) = under_way.try_join_next() {
                    if let Ok((project, rest)) = done {
                        busy.remove(&project);
                        match rest {
                            Some(until) => resting.insert(project, until),
                            None => resting.remove(&project),
                        };
                    }
                }
                busy.retain(|_, task: &mut AbortHandle| !task.is_finished());
                let catalog = &payments.0.ground.catalog;
                let projects: Vec<_> = catalog.current().projects().cloned().collect();
                for project in projects {
                    let id = project.project.id;
                    if project.provider().is_some() && !busy.contains_key(&id) {
                        let payments = payments.clone();
                        let rest = resting.get(&id).copied();
                        let round = async move { (id, payments.round(&project, rest).await) };
                        busy.insert(id, under_way.spawn(round));
                    }
                }
            }
        });
        Rounds(task.abort_handle())
    }

    /// `rest` is until when the provider is left alone; so is what it returns.
    async fn round(&self, project: &ProjectCatalog, rest: Option<Instant>) -> Option<Instant> {
        let id = project.project.id;
        if project.tenure().leaving {
            if let Err(error) = self.0.leaving.finish(id).await {
                tracing::warn!(%error, project = %id, "What was begun with the former payment provider could not all be ended yet; trying again later");
                // It begins again from the start.
                tokio::time::sleep(AFTER_FAILURE).await;
            }
            // For how long the former one was to be left alone is no affair of the next one.
            return None;
        }
        let rest = match rest.filter(|until| *until > Instant::now()) {
            Some(until) => Some(until),
            None => match self.ask(project).await {
                Ok(()) | Err(Error::NotConfigured) => None,
                Err(error) => {
                    tracing::warn!(%error, project = %id, "The payment provider could not be asked; trying again later");
                    Instant::now().checked_add(asked_for(&error).max(AFTER_FAILURE))
                }
            },
        };
        // After they were asked about: what is expired is not found by its age any more.
        let until = self.0.reconciler.expire_until(project);
        let handle = &self.0.ground.handle;
        if let Err(error) = handle.expire_due(&project.scope, until).await {
            tracing::warn!(%error, project = %id, "Orders past their time could not be expired yet");
        }
        rest
    }

    async fn ask(&self, project: &ProjectCatalog) -> Result<(), Error> {
        self.0.ground.providers.tend(project).await?;
        if self.0.feed.is_due(project.project.id) {
            self.0.feed.read(project).await?;
        }
        self.0.reconciler.ask(project).await
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
        let until = handle.now_in(&project.scope);
        handle.expire_due(&project.scope, until).await?;
        Ok(())
    }
}

/// How long the provider asked to be left alone.
fn asked_for(error: &Error) -> Duration {
    match error {
        Error::Provider(port::Error::Unavailable {
            retry_after_seconds: Some(seconds),
            ..
        }) => Duration::from_secs(*seconds).min(LONGEST_REST),
        _ => Duration::ZERO,
    }
}
