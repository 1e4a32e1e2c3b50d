//! Reading a provider's own list of events, so that a webhook is a shortcut and not a need: an endpoint
//! that was down for a day loses nothing, a laptop without a public address needs none, and a backup
//! that was put back catches up.
//!
//! Each reading goes back a minute further than the last one came, since events of one second come in
//! any order. Where it stops in the middle, the next one begins where this one began: nothing is noted
//! before all of it is worked off.

use std::{collections::HashSet, sync::Arc};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use port::Subject;

use super::{
    Error, Ground,
    each::each,
    inbox::Inbox,
    notes::{EventKey, Key, Note},
};

/// While the last minute saw a checkout, or no webhook has ever come.
const OFTEN_SECONDS: i64 = 5;
/// Else.
const SELDOM_SECONDS: i64 = 300;
/// How long a checkout has the list read often.
const AFTER_A_CHECKOUT_SECONDS: i64 = 60;
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
    /// Whether a webhook had ever come by then: kept with it.
    heard: bool,
    /// When it was last read to its end, by our own clock.
    read: Option<Timestamp>,
    /// When the last checkout was opened, likewise.
    checkout: Option<Timestamp>,
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
    pub(crate) fn restore(&self, project: ProjectId, until: Timestamp, heard: bool) {
        let mut reading = self.0.projects.entry(project).or_default();
        (reading.until, reading.heard) = (Some(until), heard);
    }

    /// A checkout was opened: soon there will be something to read.
    pub(crate) fn expect(&self, project: ProjectId) {
        let mut reading = self.0.projects.entry(project).or_default();
        reading.checkout = Some(self.0.ground.handle.now());
    }

    /// Whether it is time to read a project's list again.
    pub(crate) fn is_due(&self, project: ProjectId) -> bool {
        let reading = self.0.projects.get(&project).map(|reading| *reading);
        let Some((reading, read)) = reading.and_then(|it| Some((it, it.read?))) else {
            return true;
        };
        let now = self.0.ground.handle.now();
        let busy = reading
            .checkout
            .is_some_and(|at| now < at.plus_seconds(AFTER_A_CHECKOUT_SECONDS));
        let pause = if busy || !reading.heard {
            OFTEN_SECONDS
        } else {
            SELDOM_SECONDS
        };
        now >= read.plus_seconds(pause)
    }

    /// Reads what is new in a project's list, and looks at what it tells of.
    ///
    /// # Errors
    ///
    /// See [`Error`]: it was not read to its end, and is read from the same place the next time.
    pub async fn read(&self, project: &ProjectCatalog) -> Result<Caught, Error> {
        let ground = &self.0.ground;
        let id = project.project.id;
        let provider = ground.providers.of(project)?.in_background();
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
            let look = |about: Subject| {
                let (fulfilment, provider) = (&ground.fulfilment, &*provider);
                async move { fulfilment.look(project, provider, &about).await.map(drop) }
            };
            each(subjects, AT_ONCE, look).await?;
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
        let heard = known.heard || self.0.inbox.hears(project);
        let unsaid = known.until != newest || known.heard != heard;
        if let Some(until) = newest.filter(|_| unsaid) {
            let note = Note::Read {
                project,
                until,
                heard,
            };
            self.0.ground.handle.put_notes(vec![note.put()]).await?;
        }
        let mut reading = self.0.projects.entry(project).or_default();
        (reading.until, reading.heard) = (newest, heard);
        reading.read = Some(self.0.ground.handle.now());
        Ok(())
    }
}
