//! Catalog documents, notes, and the service's own state.

use std::sync::Arc;

use domain::{Timestamp, catalog::Document};
use persistence::{
    Append, AppendRefusal, LogEvent, Note, Outcome, Split, StoredNote,
    backup::{BackUp, BackupSummary, TransferProgress},
    frames::LeadershipItem,
};
use tokio::sync::oneshot;

use super::{Handle, Scope, Stats};
use crate::answer::Error;

impl Handle {
    /// Logs catalog documents, and notes about them, all or none; returns once they are durable.
    /// # Errors
    /// [`Error::TooLarge`] when they do not fit one append; [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn put_documents(
        &self,
        documents: Vec<Document>,
        notes: Vec<Note>,
    ) -> Result<(), Error> {
        let documents = documents.into_iter().map(LogEvent::Catalog);
        self.log(documents.chain(notes.into_iter().map(LogEvent::Note)))
            .await
    }

    /// Refuses new commands, waits for those in flight, and logs that a part of this state moves to another cell, with
    /// notes that tell it. Must be followed by a shutdown, even after an error.
    /// # Errors
    /// The same as [`Handle::put_documents`].
    pub async fn split(&self, to: i16, notes: Vec<Note>) -> Result<(), Error> {
        self.inner.registry.gate.close().await;
        let split = LeadershipItem::Split(Split { to, at: self.now() });
        self.append(
            [LogEvent::Leadership(split)]
                .into_iter()
                .chain(notes.into_iter().map(LogEvent::Note)),
        )
        .await
    }

    /// Logs notes, all or none; returns once they are durable.
    /// # Errors
    /// The same as [`Handle::put_documents`].
    pub async fn put_notes(&self, notes: Vec<Note>) -> Result<(), Error> {
        self.log(notes.into_iter().map(LogEvent::Note)).await
    }

    async fn log(&self, log_events: impl Iterator<Item = LogEvent>) -> Result<(), Error> {
        let _pass = self.inner.registry.pass(1)?;
        self.append(log_events).await
    }

    async fn append(&self, log_events: impl Iterator<Item = LogEvent>) -> Result<(), Error> {
        let registry = &self.inner.registry;
        let mut append = Append::default();
        for log_event in log_events {
            append.push(&log_event).map_err(|_| Error::TooLarge)?;
        }
        let (sender, outcome) = oneshot::channel();
        let on_outcome = Box::new(move |outcome| {
            // The caller may be gone; the log stays.
            let _ = sender.send(outcome);
        });
        match registry.store.log.refusing() {
            Some(AppendRefusal::Backlog) => return Err(Error::Overloaded),
            Some(_) => return Err(Error::Unavailable),
            None => {}
        }
        match registry.store.log.append(append, Some(on_outcome)) {
            Err(_) => Err(Error::Unavailable),
            Ok(_) => match outcome.await {
                Ok(Outcome::Durable) => Ok(()),
                Ok(Outcome::Unknown) | Err(_) => Err(Error::Unavailable),
            },
        }
    }

    ///  The catalog as recovered at the start.
    /// # Errors
    /// [`persistence::Error`] when the books cannot be read.
    pub fn documents(&self) -> Result<Vec<Document>, persistence::Error> {
        self.inner.registry.store.books.documents()
    }

    /// The notes whose keys begin with `prefix`, by key, as recovered at the start.
    /// # Errors
    /// [`persistence::Error`] when the books cannot be read.
    pub fn notes(&self, prefix: &[u8]) -> Result<Vec<StoredNote>, persistence::Error> {
        self.inner.registry.store.books.notes(prefix)
    }

    /// Waits until everything that was logged so far is durable and folded.
    /// # Errors
    /// [`Error::Unavailable`] when the log or the fold fails.
    pub async fn fold_all(&self) -> Result<(), Error> {
        let books = Arc::clone(&self.inner.registry.store.books);
        let settled = tokio::task::spawn_blocking(move || books.flush()).await;
        match settled {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Error::Unavailable),
        }
    }

    /// Writes a copy of everything that is durable; see [`persistence::Books::back_up`].
    /// # Errors
    /// Those of [`persistence::Books::back_up`], and [`persistence::Error::Io`] when its thread panics.
    pub async fn back_up(
        &self,
        what: BackUp,
        on_progress: impl Fn(&TransferProgress) -> bool + Send + Sync + 'static,
    ) -> Result<BackupSummary, persistence::Error> {
        let books = Arc::clone(&self.inner.registry.store.books);
        let copy = move || books.back_up(&what, &on_progress);
        let backup = tokio::task::spawn_blocking(copy).await;
        backup.unwrap_or_else(|error| Err(persistence::Error::Io(error.to_string())))
    }

    /// Bytes of the log that are kept only for a backup under way.
    pub fn kept_for_backup(&self) -> u64 {
        self.inner.registry.store.books.kept_for_backup()
    }

    /// The present instant by a project's clock.
    pub fn now_in(&self, scope: &Scope) -> Timestamp {
        Timestamp(self.now().0.saturating_add(scope.ahead_millis))
    }

    /// The present instant by Scrip's own clock.
    pub fn now(&self) -> Timestamp {
        self.inner.registry.clock.now()
    }

    /// The present instant by the machine's clock, which Scrip's follows.
    pub fn wall(&self) -> Timestamp {
        self.inner.registry.clock.wall()
    }

    /// Whether this process leads the log, as far as it knows. If not, another one does outgoing work.
    pub fn leads(&self) -> bool {
        self.inner.registry.store.log.leads()
    }

    /// Whether the log accepts appends now, which `/readyz` answers.
    pub fn ready(&self) -> bool {
        self.inner.registry.store.log.refusing().is_none()
    }

    /// Whether the log accepts nothing because this machine's disk is nearly full.
    pub fn is_disk_full(&self) -> bool {
        self.inner.registry.store.log.refusing() == Some(AppendRefusal::DiskFull)
    }

    /// Figures for `/metrics`.
    pub fn stats(&self) -> Stats {
        let registry = &self.inner.registry;
        Stats {
            awake: registry.awake() as u64,
            in_flight: registry.gate.in_flight(),
            watchers: registry.watches.open() as u64,
            backlog: registry.store.log.backlog().events,
            backlog_bytes: registry.store.log.backlog().bytes,
            commits: registry.store.log.commits(),
        }
    }

    /// Refuses new commands, waits for those in flight, and closes the log. Called once.
    /// # Errors
    /// [`persistence::Error`] when the log cannot be closed.
    pub async fn shut_down(&self) -> Result<(), persistence::Error> {
        let registry = &self.inner.registry;
        registry.gate.close().await;
        self.inner.sweeper.abort();
        // This stops every wallet; no command is in flight, so nothing is lost.
        self.inner.supervisor.stop(None);
        let log = Arc::clone(&registry.store.log);
        match tokio::task::spawn_blocking(move || log.close()).await {
            Ok(closed) => closed,
            Err(error) => Err(persistence::Error::Io(error.to_string())),
        }
    }
}
