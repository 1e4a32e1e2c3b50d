//! Reading a provider's own list of events, so that a webhook is a shortcut and not a need: an endpoint
//! that was down for a day loses nothing, a laptop without a public address needs none, and a backup
//! that was put back catches up.
//!
//! Each reading goes back a minute further than the last one came, since events of one second come in
//! any order. Where it stops in the middle, the next one begins where this one began: nothing is noted
//! before all of it is worked off.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use futures_util::{StreamExt as _, stream};
use port::{Provider, Subject};

use super::{
    Error, Ground,
    inbox::Inbox,
    notes::{EventKey, Key, Note},
};

/// While the last minute saw a checkout, or no webhook has ever come.
const OFTEN: Duration = Duration::from_secs(5);
/// Else.
const SELDOM: Duration = Duration::from_secs(300);
/// How long a checkout has the list read often.
const AFTER_A_CHECKOUT: Duration = Duration::from_secs(60);
/// How far a reading goes back behind the last one.
const OVERLAP_SECONDS: i64 = 60;
/// How long providers keep the list.
const KEPT_SECONDS: i64 = 30 * 24 * 3600;
/// Subjects looked at at once.
const AT_ONCE: usize = 8;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Feed(Arc<Parts>);

struct Parts {
    ground: Ground,
    inbox: Inbox,
    projects: DashMap<ProjectId, Reading>,
}

/// How far a project's list was read.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    /// By the provider's clock; `None`: never.
    until: Option<Timestamp>,
    /// When it was last read to its end.
    read: Option<Instant>,
    /// When the last checkout was opened.
    checkout: Option<Instant>,
}

/// What a reading came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caught {
    /// Events that were new.
    pub events: usize,
    /// Things that were looked at because of them.
    pub subjects: usize,
}

impl Feed {
    pub(crate) fn new(ground: Ground, inbox: Inbox) -> Self {
        Self(Arc::new(Parts {
            ground,
            inbox,
            projects: DashMap::new(),
        }))
    }

    /// Takes up how far an earlier process had read.
    pub(crate) fn restore(&self, project: ProjectId, until: Timestamp) {
        let mut reading = self.0.projects.entry(project).or_default();
        reading.until = Some(until);
    }

    /// A checkout was opened: soon there will be something to read.
    pub(crate) fn expect(&self, project: ProjectId) {
        let mut reading = self.0.projects.entry(project).or_default();
        reading.checkout = Some(Instant::now());
    }

    /// Whether it is time to read a project's list again.
    pub(crate) fn is_due(&self, project: ProjectId) -> bool {
        let reading = self.0.projects.get(&project);
        let Some(read) = reading.as_ref().and_then(|reading| reading.read) else {
            return true;
        };
        let checkout = reading.and_then(|reading| reading.checkout);
        let busy = checkout.is_some_and(|at| at.elapsed() < AFTER_A_CHECKOUT);
        let pause = if busy || !self.0.inbox.hears(project) {
            OFTEN
        } else {
            SELDOM
        };
        read.elapsed() >= pause
    }

    /// Reads what is new in a project's list, and looks at what it tells of.
    ///
    /// # Errors
    ///
    /// See [`Error`]: it was not read to its end, and is read from the same place the next time.
    pub async fn read(&self, project: &ProjectCatalog) -> Result<Caught, Error> {
        let ground = &self.0.ground;
        let id = project.project.id;
        let provider = ground.providers.of(project)?;
        let now = ground.handle.now_in(&project.scope);
        let known = self.0.projects.get(&id).map(|reading| *reading);
        let known = known.unwrap_or_default();
        let oldest = now.plus_seconds(-KEPT_SECONDS);
        // A clock that went back (the sandbox's was left for another provider's) begins anew.
        let until = known.until.filter(|until| *until <= now);
        let since = until.map_or(oldest, |until| until.plus_seconds(-OVERLAP_SECONDS));
        let since = since.max(oldest);
        let mut newest = until;
        let mut caught = Caught::default();
        let mut next: Option<String> = None;
        loop {
            let page = provider.events(since, next.as_deref()).await?;
            let told = page.events.into_iter();
            newest = newest.max(told.clone().map(|told| told.at).max());
            let keys = told.map(|told| (EventKey::new(id, &told.id), told.about));
            let new: Vec<_> = keys.filter(|(key, _)| !self.0.inbox.knows(*key)).collect();
            caught.events = caught.events.saturating_add(new.len());
            let subjects: HashSet<Subject> = new.iter().map(|(_, about)| about.clone()).collect();
            caught.subjects = caught.subjects.saturating_add(subjects.len());
            self.look(project, &*provider, subjects).await?;
            for (key, _) in new {
                self.0.inbox.remember(key);
            }
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        self.note(id, known, newest).await?;
        Ok(caught)
    }

    /// Forgets how far the list of a project's former provider was read: the next one has its own.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.0.projects.remove(&project);
        let forget = Key::Read(project).forget();
        self.0.ground.handle.put_notes(vec![forget]).await?;
        Ok(())
    }

    async fn note(
        &self,
        project: ProjectId,
        known: Reading,
        newest: Option<Timestamp>,
    ) -> Result<(), Error> {
        let moved = newest.filter(|newest| known.until != Some(*newest));
        if let Some(until) = moved {
            let note = Note::Read { project, until };
            self.0.ground.handle.put_notes(vec![note.put()]).await?;
        }
        let mut reading = self.0.projects.entry(project).or_default();
        reading.until = newest;
        reading.read = Some(Instant::now());
        Ok(())
    }

    /// One that cannot be worked off is passed over: the reconciler and later events ask about it again.
    async fn look(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subjects: HashSet<Subject>,
    ) -> Result<(), Error> {
        let fulfilment = &self.0.ground.fulfilment;
        let looked = stream::iter(subjects).map(|about| async move {
            let looked = fulfilment.look(project, provider, &about).await;
            (about, looked)
        });
        let mut looked = looked.buffer_unordered(AT_ONCE);
        while let Some((about, looked)) = looked.next().await {
            match looked {
                Ok(_) => {}
                Err(error) if error.is_about_the_account() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, ?about, "What the provider's list tells of could not be worked off");
                }
            }
        }
        Ok(())
    }
}
