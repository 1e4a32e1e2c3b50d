//! Each project's books behind a lock of their own: loaded when first asked for, saved before anybody
//! hears of a change. A save that fails takes the books out of memory, so that what is read next is
//! what was really kept. Never holds a lock while a webhook is delivered.

use std::sync::Arc;

use dashmap::DashMap;
use domain::id::ProjectId;
use tokio::sync::Mutex;

use super::{
    Error, Notebook, World,
    core::{
        checkout::{self, Action, Buyer},
        due,
        faults::Faults,
        ids::Ids,
        promotions,
    },
    courier::Lines,
    unkind::{Unkind, Unkindness},
};
use crate::core::prelude::*;

/// What one save may have, in bytes.
const MAX_SAVE_BYTES: usize = 39_000;

/// All projects' books.
pub(super) struct Tills {
    pub(super) world: Arc<dyn World>,
    notebook: Arc<dyn Notebook>,
    tills: DashMap<ProjectId, Arc<Till>>,
    pub(super) lines: Lines,
    /// How unkind each begins.
    unkindness: Unkindness,
}

/// One project's.
pub(super) struct Till {
    books: Mutex<Option<Books>>,
    /// One delivers at a time.
    pub(super) courier: Mutex<()>,
    /// Trouble that a script ordered.
    pub(super) faults: parking_lot::Mutex<Faults>,
    /// How unkind it is. Locked after the books, where both are.
    pub(super) unkind: parking_lot::Mutex<Unkind>,
}

/// Nothing came of it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Broken(#[from] Error),
}

impl Failure {
    /// Where nothing was asked that could be refused.
    pub(super) fn plain(self) -> Error {
        match self {
            Self::Refused(refusal) => Error::Broken(refusal.message),
            Self::Broken(error) => error,
        }
    }
}

impl Tills {
    pub(super) fn new(
        world: Arc<dyn World>,
        notebook: Arc<dyn Notebook>,
        unkindness: Unkindness,
    ) -> Self {
        Self {
            unkindness,
            lines: Lines::default(),
            world,
            notebook,
            tills: DashMap::new(),
        }
    }

    pub(super) fn till(&self, project: ProjectId) -> Arc<Till> {
        let till = self.tills.entry(project).or_insert_with(|| {
            let mut unkind = Unkind::default();
            let now = self.now(project);
            unkind.switch(self.unkindness.clone(), now);
            Arc::new(Till {
                unkind: parking_lot::Mutex::new(unkind),
                books: Mutex::new(None),
                courier: Mutex::new(()),
                faults: parking_lot::Mutex::default(),
            })
        });
        Arc::clone(&till)
    }

    /// Does something at a project's books, by its clock now. What changed is durable before this
    /// answers. Goes on if the caller goes away: books half saved would be worse.
    pub(super) async fn at<T, F>(
        self: &Arc<Self>,
        project: ProjectId,
        work: F,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&mut Books) -> Result<T> + Send + 'static,
    {
        let tills = Arc::clone(self);
        let task = tokio::spawn(async move { tills.work(project, work).await });
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => Err(Failure::Broken(Error::Broken(error.to_string()))),
        }
    }

    async fn work<T, F>(&self, project: ProjectId, work: F) -> Result<T, Failure>
    where
        F: FnOnce(&mut Books) -> Result<T>,
    {
        let till = self.till(project);
        let mut slot = till.books.lock().await;
        // Out of its place: whatever goes wrong on the way, it is read anew.
        let mut books = match slot.take() {
            Some(books) => books,
            None => self.load(project).await.map_err(Failure::Broken)?,
        };
        books.now = self.now(project);
        books.listing = till.unkind.lock().settings().listing();
        books.ids = ids().map_err(Failure::Broken)?;
        books.request = Request::default();
        let done = work(&mut books);
        if done.is_err() {
            if !books.is_changed() {
                *slot = Some(books);
            }
            return done.map_err(Failure::Refused);
        }
        self.save(project, &mut books).await?;
        *slot = Some(books);
        done.map_err(Failure::Refused)
    }

    async fn load(&self, project: ProjectId) -> Result<Books, Error> {
        let notes = self.notebook.load(project).await?;
        let base = format!("{}/sandbox/{project}", self.world.public_url());
        let mut books = Books::new(base, self.now(project), ids()?);
        let restored = books.restore(&notes);
        restored.map_err(|error| Error::Broken(error.to_string()))?;
        promotions::seed(&mut books);
        let changes = books.take_changes();
        if !changes.is_empty() {
            self.notebook.save(project, changes).await?;
        }
        Ok(books)
    }

    /// The project's clock, in seconds.
    pub(super) fn now(&self, project: ProjectId) -> i64 {
        self.world.now(project).0.div_euclid(1000)
    }

    async fn save(&self, project: ProjectId, books: &mut Books) -> Result<(), Failure> {
        if !books.is_changed() {
            return Ok(());
        }
        let changes = books.take_changes();
        let bytes = changes.iter().fold(0_usize, |sum, (id, note)| {
            let note = note.as_ref().map_or(0, String::len);
            sum.saturating_add(id.len()).saturating_add(note)
        });
        if bytes > MAX_SAVE_BYTES {
            let message = "This is more than the sandbox can keep at once: send less metadata or \
                           shorter addresses.";
            return Err(Failure::Refused(Refusal::invalid(message)));
        }
        let saved = self.notebook.save(project, changes).await;
        saved.map_err(|error| Failure::Broken(error.into()))
    }

    /// Does what is due by now, one thing after the other.
    pub(super) async fn catch_up(self: &Arc<Self>, project: ProjectId) -> Result<(), Failure> {
        let step = |books: &mut Books| {
            let more = due::step(books);
            if !more {
                due::tidy(books);
            }
            Ok(more)
        };
        while self.at(project, step).await? {}
        loop {
            let debit = self
                .till(project)
                .unkind
                .lock()
                .take_debit(self.now(project));
            let Some(session) = debit else { return Ok(()) };
            let fail = move |books: &mut Books| {
                // Whoever settled or failed it by hand was quicker.
                let failed = checkout::act(books, &session, Action::Fail, &Buyer::default());
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
