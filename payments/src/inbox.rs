//! Webhooks on their way in: what a verified one tells is stored before it is acknowledged, worked off,
//! and then forgotten. The same is worked off once at a time; what is told again later finds nothing
//! left to do, since each wallet takes each report once.
//!
//! What cannot be worked off now (the provider is asked and does not answer, say) is tried again
//! until it can, also after a restart.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use domain::id::ProjectId;
use parking_lot::Mutex;
use port::{Told, Untrusted};
use tokio::sync::{Semaphore, watch};
use tracing::Instrument as _;

use super::{
    Error, Ground, failpoint,
    notes::{self, EventKey, Key, StoredEvent},
};

/// Events that were worked off and are remembered, so that a duplicate costs nothing.
const REMEMBERED: usize = 65_536;
/// Events worked off at once, over all projects, and of one.
const AT_ONCE: usize = 64;
const OF_A_PROJECT: usize = 32;
/// Events that may wait, over all projects: past it the provider is asked to send them again later.
const WAITING: usize = 100_000;
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

/// What the provider does not know is asked about so often, which takes a day: it may be told of
/// something before it is there.
const MOST_UNKNOWN: usize = 29;

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

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Inbox(Arc<Parts>);

struct Parts {
    ground: Ground,
    state: Mutex<State>,
    at_once: Semaphore,
    given_up: AtomicU64,
    of: dashmap::DashMap<ProjectId, Arc<Semaphore>>,
    /// Stored by an earlier process; taken up once the service runs.
    left: Mutex<Vec<StoredEvent>>,
}

#[derive(Default)]
struct State {
    /// Being worked on; the receiver hears when it is stored, or done.
    current: HashMap<EventKey, watch::Receiver<bool>>,
    done: HashSet<EventKey>,
    in_order: VecDeque<EventKey>,
    /// When a webhook came in, by project.
    came: HashSet<ProjectId>,
}

impl State {
    fn finished(&mut self, key: EventKey) {
        self.current.remove(&key);
        if self.done.insert(key) {
            self.in_order.push_back(key);
        }
        if self.in_order.len() > REMEMBERED
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.done.remove(&oldest);
        }
    }
}

impl Inbox {
    /// With what an earlier process stored and did not work off.
    pub(crate) fn new(ground: Ground, left: Vec<StoredEvent>) -> Self {
        Self(Arc::new(Parts {
            ground,
            state: Mutex::default(),
            at_once: Semaphore::new(AT_ONCE),
            given_up: AtomicU64::new(0),
            of: dashmap::DashMap::new(),
            left: Mutex::new(left),
        }))
    }

    /// Webhooks that were stored and not worked off yet.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let current = self.0.state.lock().current.len();
        u64::try_from(current.saturating_add(self.0.left.lock().len())).unwrap_or(u64::MAX)
    }

    /// Events since the start that told of what the provider does not know.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.0.given_up.load(Ordering::Relaxed)
    }

    /// Whether a webhook of the project's provider has come in since the start.
    pub(crate) fn hears(&self, project: ProjectId) -> bool {
        self.0.state.lock().came.contains(&project)
    }

    /// Whether this was worked off, or is being.
    pub(crate) fn knows(&self, key: EventKey) -> bool {
        let state = self.0.state.lock();
        state.done.contains(&key) || state.current.contains_key(&key)
    }

    /// Remembers that something was worked off that did not come in here.
    pub(crate) fn remember(&self, key: EventKey) {
        self.0.state.lock().finished(key);
    }

    /// Whether a project has a provider that may send webhooks: asked before a body is read.
    #[must_use]
    pub fn expects(&self, project: ProjectId) -> bool {
        let ground = &self.0.ground;
        let known = ground.catalog.project(project);
        known.is_ok_and(|known| ground.providers.of(&known).is_ok())
    }

    /// Takes a webhook in: checks it, stores it, works it off. An `Ok` may be acknowledged.
    ///
    /// # Errors
    ///
    /// See [`Refused`].
    pub async fn receive(
        &self,
        project: ProjectId,
        signature: &[u8],
        body: &[u8],
    ) -> Result<(), Refused> {
        let ground = &self.0.ground;
        let known = ground.catalog.project(project);
        let known = known.map_err(|_| Refused::Signature)?;
        let provider = ground.providers.of(&known);
        let provider = provider.map_err(|_| Refused::Signature)?;
        // Signed by the machine's clock, whatever a sandbox's own clock says.
        let told = provider.webhook(signature, body, ground.handle.now());
        let told = told.map_err(|untrusted| match untrusted {
            Untrusted::Signature(reason) => {
                // By anybody, as often as they like: not a warning each time.
                tracing::debug!(%project, reason, "A webhook was refused");
                Refused::Signature
            }
            Untrusted::Malformed(reason) => {
                tracing::warn!(%project, reason, "A signed webhook could not be read");
                Refused::Malformed
            }
        })?;
        self.0.state.lock().came.insert(project);
        match told {
            None => Ok(()),
            Some(told) => {
                let key = EventKey::new(project, &told.id);
                self.take_in(StoredEvent { key, told }).await
            }
        }
    }

    async fn take_in(&self, event: StoredEvent) -> Result<(), Refused> {
        let key = event.key;
        let begun = {
            let mut state = self.0.state.lock();
            if state.done.contains(&key) {
                return Ok(());
            }
            match state.current.get(&key) {
                Some(other) => Err(other.clone()),
                None if state.current.len() >= WAITING => return Err(Refused::Unavailable),
                None => {
                    let (tell, told) = watch::channel(false);
                    state.current.insert(key, told);
                    Ok(tell)
                }
            }
        };
        let tell = match begun {
            Ok(tell) => tell,
            // The same event is here already: it may be acknowledged when that one may.
            Err(mut other) => {
                return match other.wait_for(|stored| *stored).await {
                    Ok(_) => Ok(()),
                    Err(_) => Err(Refused::Unavailable),
                };
            }
        };
        let inbox = self.clone();
        // In a task of its own: a sender who goes away must not leave it half done.
        let work = async move { inbox.store_and_work(event, tell).await };
        let task = tokio::spawn(work.in_current_span());
        task.await.unwrap_or(Err(Refused::Unavailable))
    }

    async fn store_and_work(
        &self,
        stored: StoredEvent,
        tell: watch::Sender<bool>,
    ) -> Result<(), Refused> {
        failpoint::reached("inbox.received");
        let kept = self.0.ground.handle.put_notes(vec![stored.put()]).await;
        if let Err(error) = kept {
            tracing::error!(%error, "A webhook could not be stored");
            self.0.state.lock().current.remove(&stored.key);
            return Err(Refused::Unavailable);
        }
        failpoint::reached("inbox.stored");
        tell.send_replace(true);
        let inbox = self.clone();
        let work = async move {
            let _tell = tell;
            inbox.work(&stored).await;
        };
        let mut work = tokio::spawn(work.in_current_span());
        // It is stored: the work goes on either way.
        drop(tokio::time::timeout(WAIT, &mut work).await);
        Ok(())
    }

    /// Works off what is stored, trying again for as long as it takes.
    async fn work(&self, taken: &StoredEvent) {
        let StoredEvent { key, told } = taken;
        let (id, kind) = (&told.id, &told.kind);
        let mut pauses = PAUSES.iter().copied();
        let mut pause = Duration::ZERO;
        let mut unknown = 0_usize;
        loop {
            match self.attempt(key.project, told).await {
                Ok(()) => break,
                Err(Error::Provider(port::Error::Missing(what))) if unknown >= MOST_UNKNOWN => {
                    tracing::error!(what, event.id = %id, event.kind = %kind, "The payment provider does not know what it told of; it is kept and asked about again at the next start");
                    self.0.given_up.fetch_add(1, Ordering::Relaxed);
                    self.0.state.lock().current.remove(key);
                    return;
                }
                Err(error) if error.is_passing() => {
                    tracing::warn!(%error, event.id = %id, event.kind = %kind, "A webhook could not be worked off yet");
                }
                Err(error) => {
                    tracing::error!(%error, event.id = %id, event.kind = %kind, "A webhook cannot be worked off; it is kept and tried again at the next start");
                    self.0.state.lock().current.remove(key);
                    return;
                }
            }
            unknown = unknown.saturating_add(1);
            pause = pauses.next().unwrap_or(pause);
            tokio::time::sleep(pause).await;
            if !self.0.state.lock().current.contains_key(key) {
                return;
            }
        }
        failpoint::reached("inbox.worked");
        // Nobody waits for it. Where it fails, the event is worked off again after a restart, which
        // changes nothing.
        let (handle, forget) = (self.0.ground.handle.clone(), Key::Event(*key).forget());
        tokio::spawn(async move {
            if let Err(error) = handle.put_notes(vec![forget]).await {
                tracing::warn!(%error, "A webhook that was worked off could not be forgotten");
            }
        });
        self.0.state.lock().finished(*key);
    }

    /// Forgets what a project's former provider told and was not worked off: nobody is there any more
    /// who could be asked about it.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        let mut keys: Vec<EventKey> = Vec::new();
        self.0.left.lock().retain(|stored| {
            let stays = stored.key.project != project;
            if !stays {
                keys.push(stored.key);
            }
            stays
        });
        {
            let mut state = self.0.state.lock();
            let current = state.current.keys().copied();
            keys.extend(current.filter(|key| key.project == project));
            // Whoever waits to try again finds it gone.
            for key in &keys {
                state.current.remove(key);
            }
            state.came.remove(&project);
        }
        let notes = keys.into_iter().map(|key| Key::Event(key).forget());
        notes::put_all(&self.0.ground.handle, notes).await?;
        Ok(())
    }

    async fn attempt(&self, project: ProjectId, told: &Told) -> Result<(), Error> {
        let of = self.0.of.entry(project);
        let of = Arc::clone(&of.or_insert_with(|| Arc::new(Semaphore::new(OF_A_PROJECT))));
        // Closed by nobody. A project whose provider hangs leaves places for the others.
        let _own = of.acquire().await;
        let _any = self.0.at_once.acquire().await;
        let ground = &self.0.ground;
        let project = ground.catalog.project(project);
        let project = project.map_err(|_| Error::Defect("its project is gone"))?;
        let provider = ground.providers.of(&project)?;
        let looked = ground.fulfilment.look(&project, &*provider, &told.about);
        looked.await.map(drop)
    }

    /// Takes up what an earlier process stored and did not work off.
    pub(crate) fn take_up(&self) {
        let left = std::mem::take(&mut *self.0.left.lock());
        for stored in left {
            let (tell, told) = watch::channel(true);
            self.0.state.lock().current.insert(stored.key, told);
            let inbox = self.clone();
            tokio::spawn(async move {
                let _tell = tell;
                inbox.work(&stored).await;
            });
        }
    }
}
