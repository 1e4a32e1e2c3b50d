//! Webhooks on their way in: a verified event is stored before it is acknowledged, worked off, and
//! then forgotten. The same event is worked off once at a time; one that comes again later finds
//! nothing left to do, since each wallet takes each report once.
//!
//! What cannot be worked off now (the provider is asked and does not answer, say) is tried again
//! until it can, also after a restart.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use domain::id::ProjectId;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use super::{Error, Payments, fulfil::Reports};
use crate::{
    failpoint,
    notes::{EventKey, Key, StoredEvent},
    provider::{
        event::{Event, Payload},
        signature,
    },
};

/// An event that does not fit a note is worked off before it is acknowledged instead.
const MAX_STORED: usize = 30 * 1024;
/// Events that were worked off and are remembered, so that a duplicate costs nothing.
const REMEMBERED: usize = 65_536;
/// Events worked off at once.
const AT_ONCE: usize = 64;
/// How long an acknowledgement waits for the work: mostly it is done before, and whoever sent the
/// event sees its effect at once.
const WAIT: Duration = Duration::from_secs(5);
/// Pauses between attempts; the last one again and again.
const PAUSES: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
    Duration::from_secs(3600),
];

/// Why a webhook was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Not signed by the project's provider, or there is no such project.
    Signature,
    /// Signed, and not an event.
    Malformed,
    /// It could not be stored now; it will be sent again.
    Unavailable,
}

/// See the module.
pub(super) struct Inbox {
    state: Mutex<State>,
    at_once: Arc<Semaphore>,
    /// Stored by an earlier process; taken up once the service runs.
    left: Mutex<Vec<StoredEvent>>,
}

#[derive(Default)]
struct State {
    /// Being worked on; the receiver hears when that is over.
    current: HashMap<EventKey, watch::Receiver<bool>>,
    done: std::collections::HashSet<EventKey>,
    in_order: VecDeque<EventKey>,
}

impl Inbox {
    /// With what an earlier process stored and did not work off.
    pub(super) fn new(left: Vec<StoredEvent>) -> Self {
        Self {
            state: Mutex::default(),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            left: Mutex::new(left),
        }
    }

    pub(super) fn waiting(&self) -> u64 {
        let current = self.state.lock().current.len();
        u64::try_from(current.saturating_add(self.left.lock().len())).unwrap_or(u64::MAX)
    }

    fn finished(&self, key: EventKey) {
        let mut state = self.state.lock();
        state.current.remove(&key);
        if state.done.insert(key) {
            state.in_order.push_back(key);
        }
        if state.in_order.len() > REMEMBERED
            && let Some(oldest) = state.in_order.pop_front()
        {
            state.done.remove(&oldest);
        }
    }
}

impl Payments {
    /// Takes a webhook in: checks it, stores it, works it off. An `Ok` may be acknowledged.
    pub async fn receive(
        &self,
        project: ProjectId,
        signature: &[u8],
        body: &[u8],
    ) -> Result<(), Refused> {
        let known = self.0.catalog.project(project);
        let known = known.map_err(|_| Refused::Signature)?;
        // Signed by the machine's clock, whatever a sandbox's own clock says.
        let now = self.0.handle.now();
        let secrets = self.0.accounts.signing_secrets(&known, now);
        signature::verify(signature, body, &secrets, now).map_err(|error| {
            // By anybody, as often as they like: not a warning each time.
            tracing::debug!(%project, reason = %error, "A webhook was refused");
            Refused::Signature
        })?;
        let event = Event::parse(body).map_err(|error| {
            tracing::warn!(%project, %error, "A signed webhook could not be read");
            Refused::Malformed
        })?;
        if event.payload == Payload::Ignored {
            return Ok(());
        }
        self.take_in(StoredEvent {
            key: EventKey::new(project, &event),
            event,
            delivered: body.into(),
        })
        .await
    }

    async fn take_in(&self, event: StoredEvent) -> Result<(), Refused> {
        let key = event.key;
        let done = {
            let mut state = self.0.inbox.state.lock();
            if state.done.contains(&key) {
                return Ok(());
            }
            match state.current.get(&key) {
                Some(other) => Err(other.clone()),
                None => {
                    let (tell, told) = watch::channel(false);
                    state.current.insert(key, told);
                    Ok(tell)
                }
            }
        };
        let tell = match done {
            Ok(tell) => tell,
            // The same event is here already: it may be acknowledged when that one may.
            Err(mut other) => {
                return match other.wait_for(|stored| *stored).await {
                    Ok(_) => Ok(()),
                    Err(_) => Err(Refused::Unavailable),
                };
            }
        };
        let payments = self.clone();
        // In a task of its own: a sender who goes away must not leave it half done.
        let task = tokio::spawn(async move { payments.store_and_work(event, tell).await });
        task.await.unwrap_or(Err(Refused::Unavailable))
    }

    async fn store_and_work(
        &self,
        stored: StoredEvent,
        tell: watch::Sender<bool>,
    ) -> Result<(), Refused> {
        failpoint::reached("inbox.received");
        let key = stored.key;
        let fits = stored.delivered.len() <= MAX_STORED;
        if fits {
            if let Err(error) = self.0.handle.put_notes(vec![stored.put()]).await {
                tracing::error!(%error, "A webhook could not be stored");
                self.0.inbox.state.lock().current.remove(&key);
                return Err(Refused::Unavailable);
            }
            failpoint::reached("inbox.stored");
            tell.send_replace(true);
        }
        let payments = self.clone();
        let mut work = tokio::spawn(async move {
            let worked = payments.work(&stored, fits).await;
            if worked {
                tell.send_replace(true);
            }
            worked
        });
        let in_time = tokio::time::timeout(WAIT, &mut work);
        match in_time.await {
            Ok(Ok(true)) => Ok(()),
            // It is stored: the work goes on.
            Ok(_) | Err(_) if fits => Ok(()),
            Ok(_) | Err(_) => Err(Refused::Unavailable),
        }
    }

    /// Works an event off, trying again for as long as it takes if it is stored. Whether it is done.
    async fn work(&self, taken: &StoredEvent, stored: bool) -> bool {
        let StoredEvent { key, event, .. } = taken;
        let key = *key;
        let mut pauses = PAUSES.iter().copied();
        let mut pause = Duration::ZERO;
        loop {
            let done = self.attempt(key.project, event).await;
            match done {
                Ok(()) => break,
                Err(error) if error.is_passing() => {
                    let (id, kind) = (&event.id, &event.kind);
                    tracing::warn!(%error, event.id = %id, event.kind = %kind, "A webhook could not be worked off yet");
                    if !stored {
                        self.0.inbox.state.lock().current.remove(&key);
                        return false;
                    }
                }
                Err(error) => {
                    let (id, kind) = (&event.id, &event.kind);
                    tracing::error!(%error, event.id = %id, event.kind = %kind, "A webhook cannot be worked off; it is kept and tried again at the next start");
                    self.0.inbox.state.lock().current.remove(&key);
                    return stored;
                }
            }
            pause = pauses.next().unwrap_or(pause);
            tokio::time::sleep(pause).await;
        }
        failpoint::reached("inbox.worked");
        if stored {
            // Nobody waits for it. Where it fails, the event is worked off again after a restart,
            // which changes nothing.
            let handle = self.0.handle.clone();
            tokio::spawn(async move {
                if let Err(error) = handle.put_notes(vec![Key::Event(key).forget()]).await {
                    tracing::warn!(%error, "A webhook that was worked off could not be forgotten");
                }
            });
        }
        self.0.inbox.finished(key);
        true
    }

    async fn attempt(&self, project: ProjectId, event: &Event) -> Result<(), Error> {
        // Closed by nobody.
        let _place = self.0.inbox.at_once.acquire().await;
        let project = self.0.catalog.project(project);
        let project = project.map_err(|_| Error::Defect("its project is gone"))?;
        Reports::of(self, &project)?.event(event).await
    }

    /// Takes up what an earlier process stored and did not work off.
    pub(super) fn take_up(&self) {
        let left = std::mem::take(&mut *self.0.inbox.left.lock());
        for stored in left {
            let (tell, told) = watch::channel(true);
            self.0.inbox.state.lock().current.insert(stored.key, told);
            let payments = self.clone();
            tokio::spawn(async move {
                let _tell = tell;
                payments.work(&stored, true).await
            });
        }
    }
}
