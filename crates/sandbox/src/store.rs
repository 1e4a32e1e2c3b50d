//! Each project's state behind its own lock: loaded at the first request, saved before the response. A failed save
//! drops it from memory, so that the next read shows what was saved. It is not locked while a webhook is delivered.

use std::sync::Arc;

use dashmap::DashMap;
use domain::id::ProjectId;
use tokio::sync::Mutex;

use super::{
    Error, Host, NoteStore,
    core::{
        checkout::{self, Action, Buyer},
        due,
        faults::Faults,
        ids::Ids,
        promotions,
    },
    fault_profile::{FaultInjector, FaultProfile},
    webhooks::WebhookClients,
};
use crate::core::prelude::*;

const MAX_SAVE_BYTES: usize = 39_000;

pub(super) struct Store {
    pub(super) host: Arc<dyn Host>,
    note_store: Arc<dyn NoteStore>,
    projects: DashMap<ProjectId, Arc<ProjectState>>,
    pub(super) clients: WebhookClients,
    fault_profile: FaultProfile,
}

pub(super) struct ProjectState {
    db: Mutex<Option<Database>>,
    /// Held while webhooks are delivered: one task at a time.
    pub(super) delivering: Mutex<()>,
    pub(super) faults: parking_lot::Mutex<Faults>,
    /// Its fault profile. Where both are locked, the database is locked first.
    pub(super) injector: parking_lot::Mutex<FaultInjector>,
}

/// A request failed: it was refused, or the sandbox is broken.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Broken(#[from] Error),
}

impl Failure {
    pub(super) fn plain(self) -> Error {
        match self {
            Self::Refused(refusal) => Error::Broken(refusal.message),
            Self::Broken(error) => error,
        }
    }
}

impl Store {
    pub(super) fn new(
        host: Arc<dyn Host>,
        note_store: Arc<dyn NoteStore>,
        fault_profile: FaultProfile,
    ) -> Self {
        Self {
            fault_profile,
            clients: WebhookClients::default(),
            host,
            note_store,
            projects: DashMap::new(),
        }
    }

    pub(super) fn project_state(&self, project: ProjectId) -> Arc<ProjectState> {
        let project_state = self.projects.entry(project).or_insert_with(|| {
            let mut injector = FaultInjector::default();
            let now = self.now(project);
            injector.switch(self.fault_profile.clone(), now);
            Arc::new(ProjectState {
                injector: parking_lot::Mutex::new(injector),
                db: Mutex::new(None),
                delivering: Mutex::new(()),
                faults: parking_lot::Mutex::default(),
            })
        });
        Arc::clone(&project_state)
    }

    /// Runs work on a project's state at its clock's instant. Changes are durable before this returns. It continues if
    /// the caller disconnects, because a half-saved state would be worse.
    pub(super) async fn at<T, F>(
        self: &Arc<Self>,
        project: ProjectId,
        work: F,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&mut Database) -> Result<T> + Send + 'static,
    {
        let store = Arc::clone(self);
        let task = tokio::spawn(async move { store.work(project, work).await });
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => Err(Failure::Broken(Error::Broken(error.to_string()))),
        }
    }

    async fn work<T, F>(&self, project: ProjectId, work: F) -> Result<T, Failure>
    where
        F: FnOnce(&mut Database) -> Result<T>,
    {
        let project_state = self.project_state(project);
        let mut slot = project_state.db.lock().await;
        // Taken out, so that the state is loaded again after a failure.
        let mut db = match slot.take() {
            Some(db) => db,
            None => self.load(project).await.map_err(Failure::Broken)?,
        };
        db.now = self.now(project);
        {
            let injector = project_state.injector.lock();
            db.listing = injector.settings().listing();
            db.debit_seconds = injector.settings().debits_fail_after_seconds.into();
        }
        db.ids = ids().map_err(Failure::Broken)?;
        db.request = Request::default();
        let done = work(&mut db);
        if done.is_err() {
            if !db.is_changed() {
                *slot = Some(db);
            }
            return done.map_err(Failure::Refused);
        }
        self.save(project, &mut db).await?;
        *slot = Some(db);
        done.map_err(Failure::Refused)
    }

    async fn load(&self, project: ProjectId) -> Result<Database, Error> {
        let notes = self.note_store.load(project).await?;
        let base = format!("{}/sandbox/{project}", self.host.public_url());
        let mut db = Database::new(base, self.now(project), ids()?);
        let restored = db.restore(&notes);
        restored.map_err(|error| Error::Broken(error.to_string()))?;
        promotions::seed(&mut db);
        let changes = db.take_changes();
        if !changes.is_empty() {
            self.note_store.save(project, changes).await?;
        }
        Ok(db)
    }

    /// The project's clock, in seconds.
    pub(super) fn now(&self, project: ProjectId) -> i64 {
        self.host.now(project).0.div_euclid(1000)
    }

    async fn save(&self, project: ProjectId, db: &mut Database) -> Result<(), Failure> {
        if !db.is_changed() {
            return Ok(());
        }
        let changes = db.take_changes();
        let bytes = changes.iter().fold(0_usize, |sum, (id, note)| {
            let note = note.as_ref().map_or(0, String::len);
            sum.saturating_add(id.len()).saturating_add(note)
        });
        if bytes > MAX_SAVE_BYTES {
            let message = "This is more than the sandbox can save at once: send less metadata or \
                           shorter URLs.";
            return Err(Failure::Refused(Refusal::invalid(message)));
        }
        let saved = self.note_store.save(project, changes).await;
        saved.map_err(|error| Failure::Broken(error.into()))
    }

    /// Does what is due by now, one thing after another.
    pub(super) async fn catch_up(self: &Arc<Self>, project: ProjectId) -> Result<(), Failure> {
        let step = |db: &mut Database| {
            let more = due::step(db);
            if !more {
                due::tidy(db);
            }
            Ok(more)
        };
        while self.at(project, step).await? {}
        loop {
            let debit = self
                .project_state(project)
                .injector
                .lock()
                .take_debit(self.now(project));
            let Some(session) = debit else { return Ok(()) };
            let fail = move |db: &mut Database| {
                // Refused if it was completed or failed before.
                let failed = checkout::act(db, &session, Action::Fail, &Buyer::default());
                drop(failed);
                Ok(())
            };
            self.at(project, fail).await?;
        }
    }
}

fn ids() -> Result<Ids, Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|_| Error::Broken("the system has no randomness".into()))?;
    Ok(Ids::new(seed))
}
