//! What happened in a project, told to its own servers as Standard Webhooks 1.0 has it: at least once, of
//! each wallet in order, again and again until it is accepted or given up.
//!
//! Each endpoint has a task (`line.rs`) that reads the log (`reader.rs`), knows what waits (`queue.rs`),
//! decides what an answer means (`outcome.rs`, `schedule.rs`) and keeps how it went (`keep.rs`, `note.rs`,
//! `shelf.rs`) and what came back (`said.rs`). An attempt (`attempt.rs`, `send.rs`) goes only where webhooks may go (`address.rs`). It decides nothing of what is told: that was logged with what it follows from.

mod address;
mod asked;
mod attempt;
mod delivery;
mod keep;
mod line;
mod note;
mod outcome;
mod queue;
mod reader;
mod said;
mod schedule;
mod send;
mod shelf;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actors::Handle;
use catalog::CatalogStore;
use domain::{
    catalog::EndpointStatus,
    id::{DeliveryId, EndpointId},
};
use parking_lot::Mutex;
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinSet,
};

pub(crate) use self::note::KINDS as NOTE_KINDS;
pub(crate) use self::{
    address::Reach,
    asked::Exchange,
    delivery::{Delivery, Status},
    said::Said,
};
use self::{
    line::{Command, Line, Wakes},
    note::{EndpointRecord, ProgressNote},
    send::{Answer, Sender},
    shelf::Shelf,
};
use crate::{config, metrics};

/// Requests at once, to all endpoints together.
const AT_ONCE: usize = 64;
/// Commands that wait for a line.
const COMMANDS: usize = 64;
/// Lines are woken for new events at most so often, and more seldom where there are many: each of them
/// reads then.
const PACE: Duration = Duration::from_millis(10);
const PACE_OF_A_LINE: Duration = Duration::from_micros(100);

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks(Arc<Inner>);

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Webhooks(..)")
    }
}

struct Inner {
    ground: Arc<Ground>,
    lines: Mutex<HashMap<EndpointId, Arc<Shared>>>,
    /// What an earlier process kept and no line has taken up yet.
    kept: Mutex<HashMap<EndpointId, EndpointRecord>>,
    told: watch::Sender<()>,
    stopping: watch::Sender<bool>,
    /// `None`: not started, or ended.
    tasks: Mutex<Option<JoinSet<()>>>,
}

/// What all lines stand on.
struct Ground {
    handle: Handle,
    catalog: Arc<CatalogStore>,
    sender: Sender,
    at_once: Semaphore,
    counters: metrics::Deliveries,
}

/// What of a line others see.
struct Shared {
    shelf: Mutex<Shelf>,
    pending: AtomicU64,
    commands: mpsc::Sender<Command>,
}

/// Why something is not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// There is no such delivery of this endpoint, or not any more.
    #[error("no such delivery")]
    UnknownDelivery,
    /// The event is not kept any more.
    #[error("no such event")]
    UnknownEvent,
    /// Too much waits already.
    #[error("too much waits")]
    Overloaded,
    /// It could not be logged, or nothing is sent at all.
    #[error("not now")]
    Unavailable,
}

/// Delivers until it is dropped.
#[derive(Debug)]
pub struct Running {
    webhooks: Webhooks,
    /// What wakes lines and makes them; ends by itself never.
    beside: JoinSet<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.webhooks.0.tasks.lock().take());
    }
}

impl Running {
    /// Begins nothing more and waits for what is under way, for so long at most.
    pub async fn stop(mut self, grace: Duration) {
        self.beside.abort_all();
        let inner = &self.webhooks.0;
        inner.stopping.send_replace(true);
        let tasks = inner.tasks.lock().take();
        if let Some(mut tasks) = tasks {
            let ended = async { while tasks.join_next().await.is_some() {} };
            if tokio::time::timeout(grace, ended).await.is_err() {
                tracing::warn!(
                    "How webhooks went could not be kept: some are sent again after the next start"
                );
            }
        }
    }
}

impl Webhooks {
    /// With what an earlier process kept.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where something of that cannot be read: it stands for an event that was to be sent.
    pub fn new(
        handle: &Handle,
        catalog: &Arc<CatalogStore>,
        settings: &config::Webhooks,
        counters: metrics::Deliveries,
    ) -> Result<Self, notes::Error> {
        let reach = if settings.allow_private_networks {
            Reach::Anywhere
        } else {
            Reach::Public
        };
        let patience = Duration::from_secs(settings.timeout_seconds);
        let ground = Ground {
            handle: handle.clone(),
            catalog: Arc::clone(catalog),
            sender: Sender::new(reach, patience, address::system()),
            at_once: Semaphore::new(AT_ONCE),
            counters,
        };
        Ok(Self(Arc::new(Inner {
            ground: Arc::new(ground),
            lines: Mutex::default(),
            kept: Mutex::new(note::stored(handle)?),
            told: watch::Sender::new(()),
            stopping: watch::Sender::new(false),
            tasks: Mutex::new(None),
        })))
    }

    /// Takes up what an earlier process left, and delivers from now on.
    #[must_use]
    pub fn start(&self) -> Running {
        let heard = Arc::new(watch::Sender::new(()));
        let mut hears = heard.subscribe();
        let listener = Arc::downgrade(&heard);
        self.0.ground.handle.on_told(Arc::new(move || {
            if let Some(heard) = listener.upgrade() {
                heard.send_replace(());
            }
        }));
        let mut beside = JoinSet::new();
        let inner = Arc::downgrade(&self.0);
        beside.spawn(async move {
            let _heard = heard;
            while hears.changed().await.is_ok() {
                let Some(inner) = inner.upgrade() else { return };
                inner.told.send_replace(());
                let lines = u32::try_from(inner.lines.lock().len()).unwrap_or(u32::MAX);
                drop(inner);
                let pace = PACE_OF_A_LINE.saturating_mul(lines).max(PACE);
                tokio::time::sleep(pace).await;
            }
        });
        let inner = Arc::downgrade(&self.0);
        let mut changes = self.0.ground.catalog.changes();
        beside.spawn(async move {
            loop {
                let Some(inner) = inner.upgrade() else { return };
                Self(inner).match_catalog();
                if changes.changed().await.is_err() {
                    return;
                }
            }
        });
        *self.0.tasks.lock() = Some(JoinSet::new());
        self.match_catalog();
        Running {
            webhooks: self.clone(),
            beside,
        }
    }

    /// A line for each endpoint that there is.
    fn match_catalog(&self) {
        let inner = &self.0;
        let mut tasks = inner.tasks.lock();
        let Some(tasks) = tasks.as_mut().filter(|_| !*inner.stopping.borrow()) else {
            return;
        };
        // A panic in one is the runtime's to report; the others go on.
        while tasks.try_join_next().is_some() {}
        let catalog = inner.ground.catalog.current();
        let mut lines = inner.lines.lock();
        let mut gone: Vec<EndpointId> = lines.keys().copied().collect();
        for project in catalog.projects() {
            for endpoint in project.endpoints() {
                gone.retain(|id| *id != endpoint.id);
                if lines.contains_key(&endpoint.id) {
                    continue;
                }
                let (commands, obeys) = mpsc::channel(COMMANDS);
                let shared = Arc::new(Shared {
                    shelf: Mutex::default(),
                    pending: AtomicU64::new(0),
                    commands,
                });
                lines.insert(endpoint.id, Arc::clone(&shared));
                let kept = inner.kept.lock().remove(&endpoint.id).unwrap_or_default();
                let ground = Arc::clone(&inner.ground);
                let line = Line::new(ground, (project.project.id, endpoint), shared, kept);
                let wakes = Wakes {
                    commands: obeys,
                    told: inner.told.subscribe(),
                    changed: inner.ground.catalog.changes(),
                    stopping: inner.stopping.subscribe(),
                };
                tasks.spawn(line.run(wakes));
            }
        }
        // They forget what is kept of them, and end.
        for id in gone {
            lines.remove(&id);
        }
        // Of endpoints that were deleted while this was to be forgotten.
        let left: Vec<_> = inner.kept.lock().drain().collect();
        if !left.is_empty() {
            tasks.spawn(forget(inner.ground.handle.clone(), left));
        }
    }

    fn line(&self, endpoint: EndpointId) -> Option<Arc<Shared>> {
        let known = self.0.lines.lock().get(&endpoint).cloned();
        known.or_else(|| {
            // It may have been made just now.
            self.match_catalog();
            self.0.lines.lock().get(&endpoint).cloned()
        })
    }

    /// Waits until nothing is due any more and how it went is kept: for whoever moved the clock on.
    pub async fn settled(&self) {
        self.match_catalog();
        let lines: Vec<_> = self.0.lines.lock().values().cloned().collect();
        for line in lines {
            let (reply, settled) = oneshot::channel();
            // A line that has ended is settled.
            if line.commands.send(Command::Settle(reply)).await.is_ok() {
                drop(settled.await);
            }
        }
    }

    /// Events that wait to be sent, to all endpoints.
    #[must_use]
    pub fn pending(&self) -> u64 {
        let lines = self.0.lines.lock();
        let pending = lines.values().map(|it| it.pending.load(Ordering::Relaxed));
        pending.fold(0, u64::saturating_add)
    }

    /// Endpoints that are sent nothing because they took nothing.
    #[must_use]
    pub fn disabled(&self) -> u64 {
        let catalog = self.0.ground.catalog.current();
        let endpoints = catalog.projects().flat_map(|project| project.endpoints());
        let disabled = endpoints.filter(|endpoint| {
            matches!(
                endpoint.status,
                EndpointStatus::Gone | EndpointStatus::Failing
            )
        });
        u64::try_from(disabled.count()).unwrap_or(u64::MAX)
    }
}

impl metrics::Deliveries {
    fn count(&self, answer: &Answer) {
        match (answer.status_code, &answer.error) {
            (_, None) => self.accepted.inc(),
            (Some(_), Some(_)) => self.refused.inc(),
            (None, Some(_)) => self.unanswered.inc(),
        };
    }
}

async fn forget(handle: Handle, left: Vec<(EndpointId, EndpointRecord)>) {
    for (endpoint, kept) in left {
        let ids = kept.deliveries.into_keys();
        let notes = ids.flat_map(|id| note::forget_delivery(endpoint, id));
        let notes = notes.chain([notes::forget::<ProgressNote>(&endpoint)]);
        if let Err(error) = notes::put_all(&handle, notes).await {
            tracing::warn!(%error, %endpoint, "The deliveries of a deleted webhook endpoint are forgotten at the next start");
            return;
        }
    }
}

/// A new delivery's.
fn new_id() -> DeliveryId {
    DeliveryId(uuid::Uuid::now_v7().as_u128())
}
