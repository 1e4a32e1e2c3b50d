//! Refreshes objects whose state at the provider may be newer than in the wallets. A sweep has a source of candidates,
//! with its own pace and way to refresh one. Sweeps are independent: one without answers pauses, and the others
//! continue.
//!
//! A single candidate that cannot be refreshed becomes a stored event of the [`Inbox`], which retries it, and the sweep
//! continues. Several in a row without an answer mean that the provider is in trouble: the sweep stops, and later
//! continues after them; they are stored as well, because the provider may be silent about some objects alone. During a
//! long outage none is stored, and the sweep continues where it was. No candidate is skipped for good, or noted as done
//! before it is.
//!
//! [`Inbox`]: super::Inbox

use std::{fmt, future::Future, sync::Arc};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use futures_util::{StreamExt as _, stream};

use super::{context::Context, error::Error, project_account::ProjectAccount};

/// A sweep stops after this many candidates in a row without an answer.
const MAX_UNANSWERED: u32 = 3;
/// A longer silence is an outage, in which nothing is stored.
const OUTAGE_SECONDS: i64 = 3600;
/// How long a sweep skips unanswered candidates of a page.
const SKIP_SECONDS: i64 = 3600;
/// How long a sweep pauses after it stopped; longer if the provider asks for it.
const PAUSE_SECONDS: i64 = 30;
const MAX_PAUSE_SECONDS: i64 = 600;

/// Where candidates come from, and how one is refreshed.
pub(crate) trait Source: Send + Sync {
    type Candidate: fmt::Debug + Clone + PartialEq + Send + Sync;
    type Run: Default + Send;

    const CONCURRENCY: usize;

    /// Whether candidates come up again later, so that one may be skipped without being stored.
    const REPEATS: bool = false;

    fn is_due(&self, _project: ProjectId) -> bool {
        true
    }

    /// The next page of candidates, oldest first; `None` if there are no more for now.
    fn next(
        &self,
        account: ProjectAccount<'_>,
        run: &mut Self::Run,
    ) -> impl Future<Output = Result<Option<Vec<Self::Candidate>>, Error>> + Send;

    /// Fetches a candidate's state from the provider and applies it.
    fn refresh(
        &self,
        account: ProjectAccount<'_>,
        candidate: &Self::Candidate,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Stores a candidate that could not be refreshed, so that it is retried.
    fn store(
        &self,
        account: ProjectAccount<'_>,
        candidate: Self::Candidate,
        error: Error,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Notes that every candidate of the page was refreshed or stored.
    fn advance(
        &self,
        _account: ProjectAccount<'_>,
        _run: &mut Self::Run,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        async { Ok(()) }
    }

    /// Forgets everything about a project's former provider.
    fn forget(&self, project: ProjectId) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The repeated run over one source's candidates, for all projects.
#[expect(private_bounds, reason = "callers run sweeps, and implement no source")]
pub struct Sweep<S: Source> {
    context: Context,
    source: S,
    paused: DashMap<ProjectId, Timestamp>,
    /// Unanswered candidates of the page at which a project's sweep stopped, since the first.
    unanswered: DashMap<ProjectId, (Timestamp, Vec<S::Candidate>)>,
}

#[expect(private_bounds, reason = "callers run sweeps, and implement no source")]
impl<S: Source> Sweep<S> {
    pub(crate) fn new(context: Context, source: S) -> Arc<Self> {
        Arc::new(Self {
            context,
            source,
            paused: DashMap::new(),
            unanswered: DashMap::new(),
        })
    }

    pub(crate) const fn source(&self) -> &S {
        &self.source
    }
}

#[expect(private_bounds, reason = "callers run sweeps, and implement no source")]
impl<S: Source> Sweep<S> {
    /// Runs over a project's candidates if it is time; a failure is logged and pauses the sweep.
    pub(crate) async fn tick(&self, project: &ProjectCatalog) {
        let (id, now) = (project.project.id, self.context.handle.now());
        let is_resting = self.paused.get(&id).is_some_and(|until| now < *until);
        if is_resting || !self.source.is_due(id) {
            return;
        }
        match self.run(project).await {
            Ok(_) | Err(Error::NotConfigured | Error::Changing) => drop(self.paused.remove(&id)),
            Err(error) => {
                tracing::warn!(%error, project = %id, "A sweep over the payment provider's objects stopped; trying again later");
                let pause = retry_after(&error).max(PAUSE_SECONDS);
                self.paused.insert(id, now.plus_seconds(pause));
            }
        }
    }

    /// Refreshes all due candidates; returns how many.
    /// # Errors
    /// [`Error`] when the run stopped early; the next one goes on from there.
    pub async fn run(&self, project: &ProjectCatalog) -> Result<usize, Error> {
        let provider = self.context.providers.of(project)?.in_background();
        let account = ProjectAccount::new(project, &*provider);
        let refreshed = self.run_pages(account).await;
        let missing = provider.missing_permissions();
        self.context.missing.insert(project.project.id, missing);
        refreshed
    }

    async fn run_pages(&self, account: ProjectAccount<'_>) -> Result<usize, Error> {
        let mut run = S::Run::default();
        let (mut refreshed, mut unanswered) = (0_usize, 0_u32);
        while let Some(mut candidates) = self.source.next(account, &mut run).await? {
            let skipped = self.skipped(account, &candidates);
            candidates.retain(|candidate| !skipped.contains(candidate));
            let mut failed = Vec::new();
            let mut stopped = None;
            let numbered = candidates.iter().enumerate();
            let refreshes: Vec<_> = numbered
                .map(|(index, candidate)| self.refresh(account, index, candidate))
                .collect();
            let mut outcomes = stream::iter(refreshes).buffer_unordered(S::CONCURRENCY);
            while let Some((index, outcome)) = outcomes.next().await {
                match outcome {
                    Ok(()) => (refreshed, unanswered) = (refreshed.saturating_add(1), 0),
                    Err(error) if error.is_about_the_account() => return Err(error),
                    Err(error) => {
                        unanswered = match error.is_unanswered() {
                            true => unanswered.saturating_add(1),
                            false => 0,
                        };
                        let is_over = unanswered >= MAX_UNANSWERED;
                        stopped = is_over.then(|| error.clone());
                        failed.push((index, error));
                        if is_over {
                            break;
                        }
                    }
                }
            }
            drop(outcomes);
            if let Some(error) = stopped {
                self.skip(account, candidates, failed).await?;
                return Err(error);
            }
            self.store(account, candidates, failed).await?;
            self.source.advance(account, &mut run).await?;
            self.unanswered.remove(&account.project.project.id);
        }
        Ok(refreshed)
    }

    fn skipped(&self, account: ProjectAccount<'_>, page: &[S::Candidate]) -> Vec<S::Candidate> {
        let (id, now) = (account.project.project.id, self.context.handle.now());
        let Some(mut stopped) = self.unanswered.get_mut(&id) else {
            return Vec::new();
        };
        let (since, unanswered) = &mut *stopped;
        let is_old = now >= since.plus_seconds(SKIP_SECONDS);
        unanswered.retain(|candidate| !is_old && page.contains(candidate));
        unanswered.clone()
    }

    /// Stores unanswered candidates, so that the next run continues after them.
    async fn skip(
        &self,
        account: ProjectAccount<'_>,
        candidates: Vec<S::Candidate>,
        failed: Vec<(usize, Error)>,
    ) -> Result<(), Error> {
        let (id, now) = (account.project.project.id, self.context.handle.now());
        let outage = self.context.fulfilment.outages().since(id);
        let is_outage = outage.is_some_and(|since| now >= since.plus_seconds(OUTAGE_SECONDS));
        if is_outage && !S::REPEATS {
            return Ok(());
        }
        let unanswered = failed.iter().filter(|(_, error)| error.is_unanswered());
        let unanswered = unanswered.filter_map(|(index, _)| candidates.get(*index).cloned());
        let unanswered: Vec<_> = unanswered.collect();
        if !is_outage {
            self.store(account, candidates, failed).await?;
        }
        let mut stopped = self
            .unanswered
            .entry(id)
            .or_insert_with(|| (now, Vec::new()));
        if stopped.1.is_empty() {
            stopped.0 = now;
        }
        stopped.1.extend(unanswered);
        Ok(())
    }

    /// Stores the candidates of a page that failed.
    async fn store(
        &self,
        account: ProjectAccount<'_>,
        candidates: Vec<S::Candidate>,
        mut failed: Vec<(usize, Error)>,
    ) -> Result<(), Error> {
        failed.sort_by_key(|(index, _)| *index);
        let mut failed = failed.into_iter().peekable();
        for (index, candidate) in candidates.into_iter().enumerate() {
            if let Some((_, error)) = failed.next_if(|(failed, _)| *failed == index) {
                self.source.store(account, candidate, error).await?;
            }
        }
        Ok(())
    }

    async fn refresh(
        &self,
        account: ProjectAccount<'_>,
        index: usize,
        candidate: &S::Candidate,
    ) -> (usize, Result<(), Error>) {
        (index, self.source.refresh(account, candidate).await)
    }

    /// Forgets everything about a project's former provider.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.paused.remove(&project);
        self.unanswered.remove(&project);
        self.context.missing.remove(&project);
        self.source.forget(project).await
    }
}

/// How long the provider asked to wait, in seconds.
fn retry_after(error: &Error) -> i64 {
    match error {
        Error::Provider(payments_port::Error::Unavailable {
            retry_after_seconds: Some(seconds),
            ..
        }) => i64::try_from(*seconds)
            .map_or(MAX_PAUSE_SECONDS, |seconds| seconds.min(MAX_PAUSE_SECONDS)),
        _ => 0,
    }
}
