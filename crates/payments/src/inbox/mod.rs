//! Receives webhooks: a verified event is stored before it is acknowledged, then processed, then forgotten. Each event
//! is processed once at a time; a later duplicate changes nothing, since each wallet applies each report once.
//!
//! An object that cannot be fetched now, named by a webhook or a sweep, is stored as an event and waits in the
//! [`Backlog`]: it is retried until it can be fetched, also after a restart.

mod retries;
mod state;

use std::{sync::Arc, time::Duration};

use actors::{detached, notes};
use catalog::ProjectCatalog;
use domain::id::ProjectId;
use parking_lot::Mutex;
use payments_port::{ObjectRef, Origin, ProviderEvent, WebhookError};
use tokio::sync::watch;

use self::state::{Lane, State};
use super::{
    backlog::{Backlog, BacklogEntry},
    context::Context,
    error::Error,
    failpoint,
    note_kinds::{EventKey, EventNote, StoredEvent},
    project_account::ProjectAccount,
};

/// The most waiting events of all projects; beyond that the provider is asked to send them again later.
const MAX_WAITING: usize = 100_000;
/// How long an acknowledgement waits for processing, so that the sender usually sees the event's effect at once.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(5);
/// Why a webhook was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveError {
    /// Not signed by the project's provider, or there is no such project.
    Signature,
    /// Signed, but not an event.
    Malformed,
    /// It could not be stored now; it will be sent again.
    Unavailable,
}

/// The stored events of all projects. Cheap to clone.
#[derive(Clone)]
pub struct Inbox(Arc<Inner>);

struct Inner {
    context: Context,
    state: Mutex<State>,
    /// Events that buyers wait for, in a separate lane, since thousands of others may wait for the provider's rate
    /// limit.
    urgent: Lane,
    others: Lane,
    backlog: Backlog,
    /// Events of an earlier process; queued once the service runs.
    unqueued: Mutex<Vec<StoredEvent>>,
}

impl Inbox {
    /// Takes the unprocessed events of an earlier process.
    pub(crate) fn new(context: Context, events: Vec<StoredEvent>) -> Self {
        let mut state = State::default();
        for event in &events {
            state.begin(event, watch::channel(true).1);
        }
        Self(Arc::new(Inner {
            context,
            state: Mutex::new(state),
            urgent: Lane::default(),
            others: Lane::default(),
            backlog: Backlog::default(),
            unqueued: Mutex::new(events),
        }))
    }

    /// Unprocessed stored events, without those of processing payments.
    pub fn waiting(&self) -> u64 {
        let current = self.0.state.lock().current.len();
        let waiting = current.saturating_sub(self.0.backlog.processing());
        u64::try_from(waiting).unwrap_or(u64::MAX)
    }

    /// Whether a webhook of the project's provider has come in since the start.
    pub(crate) fn receives_webhooks(&self, project: ProjectId) -> bool {
        self.0.state.lock().webhook_projects.contains(&project)
    }

    /// Whether this event was processed or stored, so that a reader of the provider's list may pass it.
    pub(crate) fn has_seen(&self, key: EventKey) -> bool {
        let state = self.0.state.lock();
        state.processed.contains(&key) || state.has_stored(key)
    }

    /// Remembers an event that was processed elsewhere.
    pub(crate) fn remember(&self, key: EventKey) {
        self.0.state.lock().finished(key);
    }

    /// Whether a project has a provider that may send webhooks. Checked before a body is read.
    pub fn expects(&self, project: ProjectId) -> bool {
        let context = &self.0.context;
        let current = context.catalog.project(project);
        current.is_ok_and(|current| context.providers.of(&current).is_ok())
    }

    /// Verifies, stores and processes a webhook. After `Ok` it may be acknowledged.
    /// # Errors
    /// [`ReceiveError`] when it is not signed, not an event, or cannot be stored now.
    pub async fn receive(
        &self,
        project: ProjectId,
        signature: &[u8],
        body: &[u8],
    ) -> Result<(), ReceiveError> {
        let context = &self.0.context;
        let current = context.catalog.project(project);
        let current = current.map_err(|_| ReceiveError::Signature)?;
        let provider = context.providers.of(&current);
        let provider = provider.map_err(|_| ReceiveError::Signature)?;
        // The signature's time is checked against the machine's clock, since a sandbox's clock may differ and Scrip's
        // follows corrections slowly.
        let event = provider.webhook(signature, body, context.handle.wall());
        let event = event.map_err(|untrusted| match untrusted {
            WebhookError::Signature(reason) => {
                // Anybody can cause this, so it is not worth a warning.
                tracing::debug!(%project, reason, "A webhook was refused");
                ReceiveError::Signature
            }
            WebhookError::Malformed(reason) => {
                tracing::warn!(%project, reason, "A signed webhook could not be read");
                ReceiveError::Malformed
            }
        })?;
        self.0.state.lock().webhook_projects.insert(project);
        match event {
            None => Ok(()),
            Some(event) => {
                let key = EventKey::new(project, &event.id);
                let foreign = self.is_foreign(&current, &event);
                if foreign.map_err(|_| ReceiveError::Unavailable)? {
                    self.remember(key);
                    return Ok(());
                }
                self.store_once(StoredEvent {
                    key,
                    content: event,
                })
                .await
            }
        }
    }

    /// Whether an event belongs to another product in the same account. An event about a payment does not count as such
    /// while its purchase may be unprocessed.
    pub(crate) fn is_foreign(
        &self,
        project: &ProjectCatalog,
        event: &ProviderEvent,
    ) -> Result<bool, actors::Error> {
        let id = project.project.id;
        if matches!(event.about, ObjectRef::Payment(_))
            && self.0.state.lock().purchases.contains_key(&id)
        {
            return Ok(false);
        }
        self.0.context.is_foreign(project, event)
    }

    async fn store_once(&self, event: StoredEvent) -> Result<(), ReceiveError> {
        let key = event.key;
        let begun = {
            let mut state = self.0.state.lock();
            if state.processed.contains(&key) {
                return Ok(());
            }
            match state.current.get(&key) {
                Some(other) => Err(other.stored.clone()),
                None if state.current.len() >= MAX_WAITING => {
                    return Err(ReceiveError::Unavailable);
                }
                None => {
                    let (mark_stored, stored) = watch::channel(false);
                    state.begin(&event, stored);
                    Ok(mark_stored)
                }
            }
        };
        let mark_stored = match begun {
            Ok(mark_stored) => mark_stored,
            // The same event is being stored already; both are acknowledged then.
            Err(mut other) => {
                return match other.wait_for(|stored| *stored).await {
                    Ok(_) => Ok(()),
                    Err(_) => Err(ReceiveError::Unavailable),
                };
            }
        };
        let inbox = self.clone();
        let work = detached(async move { inbox.store_and_work(event, mark_stored).await });
        work.await.unwrap_or(Err(ReceiveError::Unavailable))
    }

    async fn store_and_work(
        &self,
        stored: StoredEvent,
        mark_stored: watch::Sender<bool>,
    ) -> Result<(), ReceiveError> {
        failpoint::reached("inbox.received");
        let outcome = self.0.context.handle.put_notes(vec![stored.put()]).await;
        if let Err(error) = outcome {
            tracing::error!(%error, "A webhook could not be stored");
            self.0.state.lock().end(stored.key);
            return Err(ReceiveError::Unavailable);
        }
        failpoint::reached("inbox.stored");
        mark_stored.send_replace(true);
        let inbox = self.clone();
        let work = detached(async move {
            let _sender = mark_stored;
            match inbox.attempt(stored.key.project, &stored.content).await {
                Ok(()) => inbox.finish(stored.key),
                Err(error) => inbox.postpone(BacklogEntry::new(stored), &error),
            }
        });
        // Processing continues after the timeout.
        drop(tokio::time::timeout(ACKNOWLEDGE_TIMEOUT, work).await);
        Ok(())
    }

    /// Stores an event whose object could not be fetched, and schedules a retry.
    /// # Errors
    /// The journal's; [`actors::Error::Overloaded`] when too many events wait.
    pub(crate) async fn store(&self, event: StoredEvent, error: &Error) -> Result<(), Error> {
        let key = event.key;
        let (mark_stored, stored) = watch::channel(false);
        let is_taken = {
            let mut state = self.0.state.lock();
            if state.has_stored(key) {
                return Ok(());
            }
            if state.current.len() >= MAX_WAITING {
                return Err(actors::Error::Overloaded.into());
            }
            let is_taken = state.current.contains_key(&key);
            if !is_taken {
                state.begin(&event, stored);
            }
            is_taken
        };
        let outcome = self.0.context.handle.put_notes(vec![event.put()]).await;
        if is_taken {
            // Its other caller processes it, too.
            return Ok(outcome?);
        }
        if let Err(error) = outcome {
            self.0.state.lock().end(key);
            return Err(error.into());
        }
        mark_stored.send_replace(true);
        self.postpone(BacklogEntry::new(event), error);
        Ok(())
    }

    /// Stores an event about an object that a sweep could not fetch.
    pub(crate) async fn store_subject(
        &self,
        project: ProjectId,
        about: ObjectRef,
        error: &Error,
    ) -> Result<(), Error> {
        let event = ProviderEvent {
            id: format!("sweep/{}", about.name()),
            kind: "sweep".into(),
            at: self.0.context.handle.now(),
            about,
            origin: Origin::Ours,
        };
        self.store(StoredEvent::new(project, event), error).await
    }

    fn finish(&self, key: EventKey) {
        failpoint::reached("inbox.worked");
        // Nobody waits for this. If it fails, the event is processed again after a restart, without effect.
        let (handle, forget) = (
            self.0.context.handle.clone(),
            notes::forget::<EventNote>(&key),
        );
        tokio::spawn(async move {
            if let Err(error) = handle.put_notes(vec![forget]).await {
                tracing::warn!(%error, "The note of a processed event could not be deleted");
            }
        });
        self.0.state.lock().finished(key);
    }

    /// Schedules the next attempt of an event that could not be processed, or leaves it for the next start.
    fn postpone(&self, waiting: BacklogEntry, error: &Error) {
        let StoredEvent { key, content } = &waiting.event;
        let (id, kind) = (&content.id, &content.kind);
        let mut state = self.0.state.lock();
        if !state.current.contains_key(key) {
            return;
        }
        let now = self.0.context.handle.now();
        if waiting.processing_timed_out(now, error) {
            drop(state);
            self.finish(*key);
        } else if waiting.is_missing_for_good(error) {
            tracing::error!(%error, event.id = %id, event.kind = %kind, "The payment provider does not have the object of an event; the event is kept and tried again at the next start");
            self.0.context.count_missing();
            state.end(*key);
        } else if error.is_passing() {
            if !matches!(error, Error::PaymentProcessing) {
                tracing::warn!(%error, event.id = %id, event.kind = %kind, "An event could not be processed yet; trying again later");
            }
            self.0.backlog.add(waiting, now, error);
        } else {
            tracing::error!(%error, event.id = %id, event.kind = %kind, "An event cannot be processed; it is kept and tried again at the next start");
            state.end(*key);
        }
    }

    /// Forgets the unprocessed events of a project's former provider, whose objects can no longer be fetched.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.0
            .unqueued
            .lock()
            .retain(|event| event.key.project != project);
        let keys: Vec<EventKey> = {
            let mut state = self.0.state.lock();
            let current = state.current.keys().copied();
            let keys: Vec<_> = current.filter(|key| key.project == project).collect();
            for key in &keys {
                state.end(*key);
            }
            state.webhook_projects.remove(&project);
            self.0.backlog.forget(project);
            keys
        };
        let notes = keys.iter().map(notes::forget::<EventNote>);
        notes::put_all(&self.0.context.handle, notes).await?;
        Ok(())
    }

    async fn attempt(&self, project: ProjectId, event: &ProviderEvent) -> Result<(), Error> {
        // A buyer waits for the paid checkout; nobody waits for other events.
        let is_urgent = matches!(
            (&event.about, &event.origin),
            (ObjectRef::Checkout(_), Origin::Ours)
        );
        let lane = match is_urgent {
            true => &self.0.urgent,
            false => &self.0.others,
        };
        let _permits = lane.enter(project).await;
        let context = &self.0.context;
        let project = context.catalog.project(project);
        let project = project.map_err(|_| Error::Defect("the project no longer exists"))?;
        let mut provider = context.providers.of(&project)?;
        if !is_urgent {
            provider = provider.in_background();
        }
        let account = ProjectAccount::new(&project, &*provider);
        let refreshed = context.fulfilment.refresh(account, &event.about);
        refreshed.await.map(drop)
    }

    pub(crate) fn queue_stored(&self) {
        let now = self.0.context.handle.now();
        for event in std::mem::take(&mut *self.0.unqueued.lock()) {
            self.0.backlog.put(BacklogEntry::new(event), now);
        }
    }
}
