//! Going over what the provider may know more of than the wallets do. A sweep has a source of candidates, the
//! pace of that source, and a way to look at one of them. Sweeps know nothing of each other: each is left alone
//! for a while where its questions get no answer, and the others go on.
//!
//! One candidate that cannot be looked at is its own trouble: it becomes a stored event of the [`Inbox`], which
//! has the patience for it, and the sweep goes on. Several in a row without an answer are the provider's trouble:
//! then the sweep stops, and goes on from there later. Nothing is passed over for good, and nothing is noted as
//! done that was not.
//!
//! [`Inbox`]: super::Inbox

use std::{fmt, future::Future, sync::Arc};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use futures_util::{StreamExt as _, stream};
use port::Provider;

use super::{Context, Error};

/// After so many candidates in a row without an answer nothing else is asked.
const UNANSWERED_IN_A_ROW: u32 = 3;
/// For so long is a sweep left alone then; longer where the provider says so.
const REST_SECONDS: i64 = 30;
const LONGEST_REST_SECONDS: i64 = 600;

/// Whose candidates are gone over.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) project: &'a ProjectCatalog,
    pub(crate) provider: &'a dyn Provider,
}

/// Where candidates come from, and how one is looked at.
pub(crate) trait Source: Send + Sync {
    /// Something to look at.
    type Candidate: fmt::Debug + Send + Sync;
    /// How far one going-over has come.
    type Run: Default + Send;

    /// Candidates that are looked at at once.
    const AT_ONCE: usize;

    /// Whether it is time to go over them again.
    fn is_due(&self, _project: ProjectId) -> bool {
        true
    }

    /// The next candidates, oldest first, a page at a time; `None`: that were all for now.
    fn next(
        &self,
        work: Work<'_>,
        run: &mut Self::Run,
    ) -> impl Future<Output = Result<Option<Vec<Self::Candidate>>, Error>> + Send;

    /// Asks how one stands, and does what follows.
    fn look(
        &self,
        work: Work<'_>,
        candidate: &Self::Candidate,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Keeps one that could not be looked at, so that it is asked about again.
    fn keep(
        &self,
        work: Work<'_>,
        candidate: Self::Candidate,
        error: Error,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Notes that all of the page was looked at or kept.
    fn advance(
        &self,
        _work: Work<'_>,
        _run: &mut Self::Run,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        async { Ok(()) }
    }

    /// Forgets what was to be asked of a project's former provider.
    fn forget(&self, project: ProjectId) -> impl Future<Output = Result<(), Error>> + Send;
}

/// See the module.
pub struct Sweep<S> {
    context: Context,
    source: S,
    /// Until when a project's is left alone.
    resting: DashMap<ProjectId, Timestamp>,
}

impl<S> Sweep<S> {
    pub(crate) fn new(context: Context, source: S) -> Arc<Self> {
        Arc::new(Self {
            context,
            source,
            resting: DashMap::new(),
        })
    }

    pub(crate) const fn source(&self) -> &S {
        &self.source
    }
}

#[expect(
    private_bounds,
    reason = "whoever holds a sweep runs it and implements none"
)]
impl<S: Source> Sweep<S> {
    /// Goes over a project's candidates if it is time for that; how it fails is logged and waited out.
    pub(crate) async fn tick(&self, project: &ProjectCatalog) {
        let (id, now) = (project.project.id, self.context.handle.now());
        let rests = self.resting.get(&id).is_some_and(|until| now < *until);
        if rests || !self.source.is_due(id) {
            return;
        }
        match self.run(project).await {
            Ok(_) | Err(Error::NotConfigured | Error::Changing) => drop(self.resting.remove(&id)),
            Err(error) => {
                tracing::warn!(%error, project = %id, "The payment provider could not be asked; trying again later");
                let pause = asked_for(&error).max(REST_SECONDS);
                self.resting.insert(id, now.plus_seconds(pause));
            }
        }
    }

    /// Goes over all that are due now; how many were looked at.
    ///
    /// # Errors
    ///
    /// See [`Error`]: it stopped, and goes on from there the next time.
    pub async fn run(&self, project: &ProjectCatalog) -> Result<usize, Error> {
        let provider = self.context.providers.of(project)?.in_background();
        let provider = &*provider;
        let work = Work { project, provider };
        let done = self.go_over(work).await;
        let missing = provider.missing_permissions();
        self.context.missing.insert(project.project.id, missing);
        done
    }

    async fn go_over(&self, work: Work<'_>) -> Result<usize, Error> {
        let mut run = S::Run::default();
        let (mut looked, mut unanswered) = (0_usize, 0_u32);
        while let Some(candidates) = self.source.next(work, &mut run).await? {
            let mut failed = Vec::new();
            let places = candidates.iter().enumerate();
            let looks = places.map(|(place, candidate)| self.look(work, place, candidate));
            let looks: Vec<_> = looks.collect();
            let mut looks = stream::iter(looks).buffer_unordered(S::AT_ONCE);
            while let Some((place, outcome)) = looks.next().await {
                match outcome {
                    Ok(()) => (looked, unanswered) = (looked.saturating_add(1), 0),
                    Err(error) if error.is_about_the_account() => return Err(error),
                    Err(error) => {
                        unanswered = match error.is_silence() {
                            true => unanswered.saturating_add(1),
                            false => 0,
                        };
                        if unanswered >= UNANSWERED_IN_A_ROW {
                            return Err(error);
                        }
                        failed.push((place, error));
                    }
                }
            }
            drop(looks);
            failed.sort_by_key(|(place, _)| *place);
            let mut failed = failed.into_iter().peekable();
            for (place, candidate) in candidates.into_iter().enumerate() {
                if let Some((_, error)) = failed.next_if(|(of, _)| *of == place) {
                    self.source.keep(work, candidate, error).await?;
                }
            }
            self.source.advance(work, &mut run).await?;
        }
        Ok(looked)
    }

    async fn look(
        &self,
        work: Work<'_>,
        place: usize,
        candidate: &S::Candidate,
    ) -> (usize, Result<(), Error>) {
        (place, self.source.look(work, candidate).await)
    }

    /// Forgets what was to be asked of a project's former provider, and that it failed.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.resting.remove(&project);
        self.context.missing.remove(&project);
        self.source.forget(project).await
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
