//! Webhooks on their way in: what a verified one tells is stored before it is acknowledged, worked off,
//! and then forgotten. The same is worked off once at a time; what is told again later finds nothing
//! left to do, since each wallet takes each report once.
//!
//! What cannot be looked at now, whoever told of it, is stored here and waits in the [`Backlog`]: it is tried
//! again until it can, also after a restart.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    sync::Arc,
    time::Duration,
};

use catalog::ProjectCatalog;
use domain::id::ProjectId;
use parking_lot::Mutex;
use port::{ObjectRef, Origin, ProviderEvent, WebhookError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tracing::Instrument as _;

use super::{
    Context, Error,
    backlog::{Backlog, Waiting},
    failpoint,
    fulfilment::Progress,
    note_kinds::{EventKey, EventNote, StoredEvent},
    sweep::{Source, Work},
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
/// Why a webhook was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveError {
    /// Not signed by the project's provider, or there is no such project.
    Signature,
    /// Signed, and not an event.
    Malformed,
    /// It could not be stored now; it will be sent again.
    Unavailable,
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Inbox(Arc<Inner>);

struct Inner {
    context: Context,
    state: Mutex<State>,
    /// What buyers wait for, and all else: of that thousands may wait for their turn at the provider.
    waited_for: Lane,
    others: Lane,
    backlog: Backlog,
    /// Stored by an earlier process; taken up once the service runs.
    left: Mutex<Vec<StoredEvent>>,
}

/// Events that are worked off at once.
struct Lane {
    at_once: Arc<Semaphore>,
    of: dashmap::DashMap<ProjectId, Arc<Semaphore>>,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            of: dashmap::DashMap::new(),
        }
    }
}

impl Lane {
    /// Waits for a place. A project whose provider hangs leaves some for the others.
    async fn enter(&self, project: ProjectId) -> [Option<OwnedSemaphorePermit>; 2] {
        let of = self.of.entry(project);
        let of = Arc::clone(&of.or_insert_with(|| Arc::new(Semaphore::new(OF_A_PROJECT))));
        // Closed by nobody.
        let own = of.acquire_owned().await.ok();
        let any = Arc::clone(&self.at_once).acquire_owned().await.ok();
        [own, any]
    }
}

#[derive(Default)]
struct State {
    /// Not worked off yet.
    current: HashMap<EventKey, Current>,
    /// How many of them may be purchases, by project.
    purchases: HashMap<ProjectId, usize>,
    done: HashSet<EventKey>,
    in_order: VecDeque<EventKey>,
    /// When a webhook came in, by project.
    came: HashSet<ProjectId>,
}

struct Current {
    /// Hears when it is stored, or done.
    stored: watch::Receiver<bool>,
    may_be_purchase: bool,
}

impl State {
    fn begin(&mut self, event: &StoredEvent, stored: watch::Receiver<bool>) {
        let may_be_purchase = !matches!(event.told.about, ObjectRef::Payment(_));
        let current = Current {
            stored,
            may_be_purchase,
        };
        if self.current.insert(event.key, current).is_none() && may_be_purchase {
            let purchases = self.purchases.entry(event.key.project).or_default();
            *purchases = purchases.saturating_add(1);
        }
    }

    fn end(&mut self, key: EventKey) {
        let ended = self.current.remove(&key);
        if ended.is_some_and(|it| it.may_be_purchase)
            && let Entry::Occupied(mut purchases) = self.purchases.entry(key.project)
        {
            *purchases.get_mut() = purchases.get().saturating_sub(1);
            if *purchases.get() == 0 {
                purchases.remove();
            }
        }
    }

    fn finished(&mut self, key: EventKey) {
        self.end(key);
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
    pub(crate) fn new(context: Context, left: Vec<StoredEvent>) -> Self {
        let mut state = State::default();
        for event in &left {
            state.begin(event, watch::channel(true).1);
        }
        Self(Arc::new(Inner {
            context,
            state: Mutex::new(state),
            waited_for: Lane::default(),
            others: Lane::default(),
            backlog: Backlog::default(),
            left: Mutex::new(left),
        }))
    }

    /// Webhooks that were stored and not worked off yet.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let current = self.0.state.lock().current.len();
        let waiting = current.saturating_sub(self.0.backlog.on_their_way());
        u64::try_from(waiting).unwrap_or(u64::MAX)
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
        let context = &self.0.context;
        let known = context.catalog.project(project);
        known.is_ok_and(|known| context.providers.of(&known).is_ok())
    }

    /// Takes a webhook in: checks it, stores it, works it off. An `Ok` may be acknowledged.
    ///
    /// # Errors
    ///
    /// See [`ReceiveError`].
    pub async fn receive(
        &self,
        project: ProjectId,
        signature: &[u8],
        body: &[u8],
    ) -> Result<(), ReceiveError> {
        let context = &self.0.context;
        let known = context.catalog.project(project);
        let known = known.map_err(|_| ReceiveError::Signature)?;
        let provider = context.providers.of(&known);
        let provider = provider.map_err(|_| ReceiveError::Signature)?;
        // Signed by the machine's clock, whatever a sandbox's own clock says, and however slowly ours follows
        // where the machine's was put right.
        let told = provider.webhook(signature, body, context.handle.wall());
        let told = told.map_err(|untrusted| match untrusted {
            WebhookError::Signature(reason) => {
                // By anybody, as often as they like: not a warning each time.
                tracing::debug!(%project, reason, "A webhook was refused");
                ReceiveError::Signature
            }
            WebhookError::Malformed(reason) => {
                tracing::warn!(%project, reason, "A signed webhook could not be read");
                ReceiveError::Malformed
            }
        })?;
        self.0.state.lock().came.insert(project);
        match told {
            None => Ok(()),
            Some(told) => {
                let key = EventKey::new(project, &told.id);
                let foreign = self.is_foreign(&known, &told);
                if foreign.map_err(|_| ReceiveError::Unavailable)? {
                    self.remember(key);
                    return Ok(());
                }
                self.take_in(StoredEvent { key, told }).await
            }
        }
    }

    /// Whether an event is of another product in the same account. While something is not worked off that may
    /// be the purchase whose money it tells of, nobody can say so.
    pub(crate) fn is_foreign(
        &self,
        project: &ProjectCatalog,
        told: &ProviderEvent,
    ) -> Result<bool, actors::Error> {
        let id = project.project.id;
        if matches!(told.about, ObjectRef::Payment(_))
            && self.0.state.lock().purchases.contains_key(&id)
        {
            return Ok(false);
        }
        self.0.context.is_foreign(project, told)
    }

    async fn take_in(&self, event: StoredEvent) -> Result<(), ReceiveError> {
        let key = event.key;
        let begun = {
            let mut state = self.0.state.lock();
            if state.done.contains(&key) {
                return Ok(());
            }
            match state.current.get(&key) {
                Some(other) => Err(other.stored.clone()),
                None if state.current.len() >= WAITING => return Err(ReceiveError::Unavailable),
                None => {
                    let (tell, told) = watch::channel(false);
                    state.begin(&event, told);
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
                    Err(_) => Err(ReceiveError::Unavailable),
                };
            }
        };
        let inbox = self.clone();
        // In a task of its own: a sender who goes away must not leave it half done.
        let work = async move { inbox.store_and_work(event, tell).await };
        let task = tokio::spawn(work.in_current_span());
        task.await.unwrap_or(Err(ReceiveError::Unavailable))
    }

    async fn store_and_work(
        &self,
        stored: StoredEvent,
        tell: watch::Sender<bool>,
    ) -> Result<(), ReceiveError> {
        failpoint::reached("inbox.received");
        let kept = self.0.context.handle.put_notes(vec![stored.put()]).await;
        if let Err(error) = kept {
            tracing::error!(%error, "A webhook could not be stored");
            self.0.state.lock().end(stored.key);
            return Err(ReceiveError::Unavailable);
        }
        failpoint::reached("inbox.stored");
        tell.send_replace(true);
        let inbox = self.clone();
        let work = async move {
            let _tell = tell;
            match inbox.attempt(stored.key.project, &stored.told).await {
                Ok(()) => inbox.finish(stored.key),
                Err(error) => inbox.postpone(Waiting::new(stored), &error),
            }
        };
        let mut work = tokio::spawn(work.in_current_span());
        // It is stored: the work goes on either way.
        drop(tokio::time::timeout(WAIT, &mut work).await);
        Ok(())
    }

    /// Keeps what could not be looked at, to look again.
    ///
    /// # Errors
    ///
    /// Those of the journal; [`actors::Error::Overloaded`] where enough is waiting.
    pub(crate) async fn keep(&self, event: StoredEvent, error: &Error) -> Result<(), Error> {
        let key = event.key;
        {
            let mut state = self.0.state.lock();
            if state.current.contains_key(&key) {
                return Ok(());
            }
            if state.current.len() >= WAITING {
                return Err(actors::Error::Overloaded.into());
            }
            state.begin(&event, watch::channel(true).1);
        }
        if let Err(error) = self.0.context.handle.put_notes(vec![event.put()]).await {
            self.0.state.lock().end(key);
            return Err(error.into());
        }
        self.postpone(Waiting::new(event), error);
        Ok(())
    }

    /// The same of something that a sweep came upon by itself.
    pub(crate) async fn keep_subject(
        &self,
        project: ProjectId,
        about: ObjectRef,
        error: &Error,
    ) -> Result<(), Error> {
        let told = ProviderEvent {
            id: format!("sweep/{}", about.name()),
            kind: "sweep".into(),
            at: self.0.context.handle.now(),
            about,
            origin: Origin::Ours,
        };
        self.keep(StoredEvent::new(project, told), error).await
    }

    /// It is worked off.
    fn finish(&self, key: EventKey) {
        failpoint::reached("inbox.worked");
        // Nobody waits for it. Where it fails, the event is worked off again after a restart, which
        // changes nothing.
        let (handle, forget) = (
            self.0.context.handle.clone(),
            notes::forget::<EventNote>(&key),
        );
        tokio::spawn(async move {
            if let Err(error) = handle.put_notes(vec![forget]).await {
                tracing::warn!(%error, "A webhook that was worked off could not be forgotten");
            }
        });
        self.0.state.lock().finished(key);
    }

    /// It could not be worked off: it waits for its next attempt, or for the next start.
    fn postpone(&self, waiting: Waiting, error: &Error) {
        let StoredEvent { key, told } = &waiting.event;
        let (id, kind) = (&told.id, &told.kind);
        let mut state = self.0.state.lock();
        // Nobody is there any more who could be asked about it.
        if !state.current.contains_key(key) {
            return;
        }
        let now = self.0.context.handle.now();
        if waiting.is_lost(now, error) {
            drop(state);
            self.finish(*key);
        } else if waiting.is_hopeless(error) {
            tracing::error!(%error, event.id = %id, event.kind = %kind, "The payment provider does not know what it told of; it is kept and asked about again at the next start");
            self.0.context.give_up();
            state.end(*key);
        } else if error.is_passing() {
            if !matches!(error, Error::OnItsWay) {
                tracing::warn!(%error, event.id = %id, event.kind = %kind, "An event could not be worked off yet");
            }
            self.0.backlog.add(waiting, now, error);
        } else {
            tracing::error!(%error, event.id = %id, event.kind = %kind, "An event cannot be worked off; it is kept and tried again at the next start");
            state.end(*key);
        }
    }

    /// Forgets what a project's former provider told and was not worked off: nobody is there any more
    /// who could be asked about it.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.0.left.lock().retain(|it| it.key.project != project);
        let keys: Vec<EventKey> = {
            let mut state = self.0.state.lock();
            let current = state.current.keys().copied();
            let keys: Vec<_> = current.filter(|key| key.project == project).collect();
            // Whoever waits to try again finds it gone.
            for key in &keys {
                state.end(*key);
            }
            state.came.remove(&project);
            self.0.backlog.forget(project);
            keys
        };
        let notes = keys.iter().map(notes::forget::<EventNote>);
        notes::put_all(&self.0.context.handle, notes).await?;
        Ok(())
    }

    async fn attempt(&self, project: ProjectId, told: &ProviderEvent) -> Result<(), Error> {
        // A buyer waits for what was just paid, and nobody for anything else.
        let is_waited_for = matches!(
            (&told.about, &told.origin),
            (ObjectRef::Checkout(_), Origin::Ours)
        );
        let lane = match is_waited_for {
            true => &self.0.waited_for,
            false => &self.0.others,
        };
        let _places = lane.enter(project).await;
        let context = &self.0.context;
        let project = context.catalog.project(project);
        let project = project.map_err(|_| Error::Defect("its project is gone"))?;
        let mut provider = context.providers.of(&project)?;
        if !is_waited_for {
            provider = provider.in_background();
        }
        let looked = context.fulfilment.look(&project, &*provider, &told.about);
        looked.await.map(drop)
    }

    /// Takes up what an earlier process stored and did not work off.
    pub(crate) fn take_up(&self) {
        let now = self.0.context.handle.now();
        for event in std::mem::take(&mut *self.0.left.lock()) {
            self.0.backlog.put(Waiting::new(event), now);
        }
    }
}

/// What waits for its next attempt, gone over like everything else.
impl Source for Inbox {
    type Candidate = Waiting;
    type Run = ();

    const AT_ONCE: usize = 8;

    fn is_due(&self, project: ProjectId) -> bool {
        self.0.backlog.has(project)
    }

    async fn next(&self, work: Work<'_>, (): &mut ()) -> Result<Option<Vec<Waiting>>, Error> {
        let (now, id) = (self.0.context.handle.now(), work.project.project.id);
        let missing = work.provider.missing_permissions();
        let due = self.0.backlog.due(id, now, &missing);
        Ok(Some(due).filter(|due| !due.is_empty()))
    }

    async fn look(&self, work: Work<'_>, waiting: &Waiting) -> Result<(), Error> {
        let (fulfilment, about) = (&self.0.context.fulfilment, &waiting.event.told.about);
        let progress = fulfilment.look(work.project, work.provider, about).await?;
        if progress == Progress::Processing {
            return Err(Error::OnItsWay);
        }
        self.0.backlog.remove(waiting);
        self.finish(waiting.event.key);
        Ok(())
    }

    async fn keep(&self, _: Work<'_>, waiting: Waiting, error: Error) -> Result<(), Error> {
        self.0.backlog.remove(&waiting);
        self.postpone(waiting, &error);
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.forget(project).await
    }
}
