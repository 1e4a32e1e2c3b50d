//! The catalog's documents, and the service's own state.

use std::sync::Arc;

use domain::{Timestamp, catalog::Document};
use persistence::{
    Append, KeptNote, Logged, Note, Outcome, Refused,
    backup::{BackUp, Made, Moved},
};
use tokio::sync::oneshot;

use super::{Handle, Scope, Stats};
use crate::answer::Error;

impl Handle {
    /// Logs catalog documents, all or none; returns once they are durable.
    pub async fn put_documents(&self, documents: Vec<Document>) -> Result<(), Error> {
        self.log(documents.into_iter().map(Logged::Catalog)).await
    }

    /// Logs notes, all or none; returns once they are durable.
    pub async fn put_notes(&self, notes: Vec<Note>) -> Result<(), Error> {
        self.log(notes.into_iter().map(Logged::Note)).await
    }

    async fn log(&self, logged: impl Iterator<Item = Logged>) -> Result<(), Error> {
        let registry = &self.inner.registry;
        let mut append = Append::default();
        for logged in logged {
            append.push(&logged).map_err(|_| Error::TooLarge)?;
        }
        // Given back also when the caller goes away in the middle.
        let _pass = registry.pass(1)?;
        let (done, outcome) = oneshot::channel();
        let done = Box::new(move |outcome| {
            // The caller may have gone; the documents stand all the same.
            let _ = done.send(outcome);
        });
        match registry.store.log.refusing() {
            Some(Refused::Backlog) => return Err(Error::Overloaded),
            Some(_) => return Err(Error::Unavailable),
            None => {}
        }
        match registry.store.log.append(append, Some(done)) {
            Err(_) => Err(Error::Unavailable),
            Ok(_) => match outcome.await {
                Ok(Outcome::Durable) => Ok(()),
                Ok(Outcome::Unknown) | Err(_) => Err(Error::Unavailable),
            },
        }
    }

    /// The catalog as it was recovered at start.
    pub fn documents(&self) -> Result<Vec<Document>, persistence::Error> {
        self.inner.registry.store.books.documents()
    }

    /// Notes whose keys begin so, by key, as they were recovered at start.
    pub fn notes(&self, prefix: &[u8]) -> Result<Vec<KeptNote>, persistence::Error> {
        self.inner.registry.store.books.notes(prefix)
    }

    /// Waits until all that was logged so far is durable and folded.
    pub async fn fold_all(&self) -> Result<(), Error> {
        let books = Arc::clone(&self.inner.registry.store.books);
        let settled = tokio::task::spawn_blocking(move || books.settle()).await;
        match settled {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Error::Unavailable),
        }
    }

    /// Writes a copy of all that is durable; see [`persistence::Books::back_up`].
    pub async fn back_up(
        &self,
        what: BackUp,
        told: impl Fn(&Moved) -> bool + Send + Sync + 'static,
    ) -> Result<Made, persistence::Error> {
        let books = Arc::clone(&self.inner.registry.store.books);
        let made = tokio::task::spawn_blocking(move || books.back_up(&what, &told)).await;
        made.unwrap_or_else(|error| Err(persistence::Error::Io(error.to_string())))
    }

    /// Bytes of the log that are kept only for a backup that is being made.
    #[must_use]
    pub fn kept_for_backup(&self) -> u64 {
        self.inner.registry.store.books.kept_for_backup()
    }

    /// The present instant by a project's clock.
    #[must_use]
    pub fn now_in(&self, scope: &Scope) -> Timestamp {
        Timestamp(self.now().0.saturating_add(scope.ahead_millis))
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.registry.clock.now()
    }

    /// The present instant by the machine's clock, however slowly the service's follows it.
    #[must_use]
    pub fn wall(&self) -> Timestamp {
        self.inner.registry.clock.wall()
    }

    /// Whether writes would be taken now; what `/readyz` answers.
    #[must_use]
    pub fn ready(&self) -> bool {
        self.inner.registry.store.log.refusing().is_none()
    }

    /// Asks for what was logged to be folded soon, rather than when it is due.
    pub fn fold_soon(&self) {
        self.inner.registry.store.books.fold_soon();
    }

    /// Figures for `/metrics`.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let registry = &self.inner.registry;
        Stats {
            awake: registry.awake() as u64,
            in_flight: registry.gate.in_flight(),
            backlog: registry.store.log.backlog().events,
            backlog_bytes: registry.store.log.backlog().bytes,
            commits: registry.store.log.commits(),
        }
    }

    /// Takes nothing new, waits for what is in flight, closes the log. Called once.
    pub async fn shut_down(&self) -> Result<(), persistence::Error> {
        let registry = &self.inner.registry;
        registry.gate.close().await;
        self.inner.sweeper.abort();
        // Stops every wallet with it; nobody is in flight, so nothing is lost.
        self.inner.supervisor.stop(None);
        let log = Arc::clone(&registry.store.log);
        match tokio::task::spawn_blocking(move || log.close()).await {
            Ok(closed) => closed,
            Err(error) => Err(persistence::Error::Io(error.to_string())),
        }
    }
}
