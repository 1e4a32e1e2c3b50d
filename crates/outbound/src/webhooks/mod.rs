//! Webhooks: sends a project's events to its own servers as Standard Webhooks 1.0, at least once, in order per
//! wallet, with retries until an event is accepted or has failed.
//!
//! Each endpoint has a task (`worker.rs`) that reads the log (`reader.rs`), queues events (`queue.rs`), sends them
//! (`in_flight.rs`, `schedule.rs`) and stores how deliveries went (`results.rs`, `note.rs`, `delivery_log.rs`) and the
//! last response (`summary.rs`). An attempt (`attempt.rs`, `send.rs`) connects only to permitted addresses
//! (`address.rs`). Nothing here decides which events exist: they were logged with what they follow from.

mod address;
mod attempt;
mod command;
mod counters;
mod delivery;
mod delivery_log;
mod exchange;
mod health;
mod in_flight;
mod note;
mod queue;
mod reader;
mod results;
mod schedule;
mod send;
mod summary;
mod worker;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actors::{Handle, notes};
use catalog::CatalogStore;
use domain::{catalog::EndpointStatus, id::EndpointId};
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinSet,
};

use self::{
    attempt::WorkerContext,
    command::{Command, WakeSources},
    delivery_log::DeliveryLog,
    health::RecentAttempts,
    note::StoredEndpoint,
    send::Sender,
    worker::EndpointWorker,
};

pub use self::counters::AttemptCounters;
pub use self::note::KINDS as NOTE_KINDS;
pub use self::{
    address::NetworkPolicy,
    delivery::Attempt,
    delivery::{Delivery, Status},
    exchange::{Exchange, TestOutcome},
    health::EndpointHealth,
    summary::ResponseSummary,
};

/// The type of an event that is sent to try an endpoint.
pub const TEST_EVENT: &str = "webhook.test";
/// Concurrent requests to all endpoints together.
const AT_ONCE: usize = 64;
/// Capacity of an endpoint task's command channel.
const COMMANDS: usize = 64;
/// The shortest interval between two wake-ups for new events. It grows with the number of endpoints, because each
/// wake-up makes all of them read.
const PACE: Duration = Duration::from_millis(10);
const PACE_PER_WORKER: Duration = Duration::from_micros(100);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Send to private addresses and over plain HTTP, too.
    pub allow_private_networks: bool,
    /// Seconds for one attempt in all.
    pub timeout_seconds: u64,
}

/// The webhooks of all projects. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks(Arc<Inner>);

struct Inner {
    context: Arc<WorkerContext>,
    workers: Mutex<HashMap<EndpointId, Arc<WorkerHandle>>>,
    /// Notes of an earlier process whose endpoint has no task yet.
    unclaimed: Mutex<HashMap<EndpointId, StoredEndpoint>>,
    new_events: watch::Sender<()>,
    stopping: watch::Sender<bool>,
    /// The endpoints' tasks; `None`: not started, or stopped.
    tasks: Mutex<Option<JoinSet<()>>>,
}

/// The part of an endpoint's task that others see.
struct WorkerHandle {
    delivery_log: Mutex<DeliveryLog>,
    recent: Mutex<RecentAttempts>,
    pending: AtomicU64,
    commands: mpsc::Sender<Command>,
}

/// Delivers until it is dropped or stopped.
pub struct Running {
    webhooks: Webhooks,
    /// The tasks that start and wake endpoint tasks; they never end by themselves.
    beside: JoinSet<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.webhooks.0.tasks.lock().take());
    }
}

impl Running {
    /// Starts no more requests and waits at most `grace` for those in flight.
    pub async fn stop(mut self, grace: Duration) {
        self.beside.abort_all();
        let inner = &self.webhooks.0;
        inner.stopping.send_replace(true);
        let tasks = inner.tasks.lock().take();
        if let Some(mut tasks) = tasks {
            let ended = async { while tasks.join_next().await.is_some() {} };
            if tokio::time::timeout(grace, ended).await.is_err() {
                tracing::warn!(
                    "The results of webhooks could not be written: some are sent again after the next start"
                );
            }
        }
    }
}

impl Webhooks {
    /// Loads the notes of an earlier process.
    /// # Errors
    /// [`notes::Error`] where a note cannot be read: it means an event that must be sent.
    pub fn new(
        handle: &Handle,
        catalog: &Arc<CatalogStore>,
        settings: &WebhookSettings,
        counters: AttemptCounters,
    ) -> Result<Self, notes::Error> {
        let reach = if settings.allow_private_networks {
            NetworkPolicy::Anywhere
        } else {
            NetworkPolicy::Public
        };
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let context = WorkerContext {
            handle: handle.clone(),
            catalog: Arc::clone(catalog),
            sender: Sender::new(reach, timeout, address::system()),
            at_once: Semaphore::new(AT_ONCE),
            counters,
        };
        Ok(Self(Arc::new(Inner {
            context: Arc::new(context),
            workers: Mutex::default(),
            unclaimed: Mutex::new(note::stored(handle)?),
            new_events: watch::Sender::new(()),
            stopping: watch::Sender::new(false),
            tasks: Mutex::new(None),
        })))
    }

    /// Starts to deliver, beginning with what an earlier process left.
    #[must_use]
    pub fn start(&self) -> Running {
        let appended = Arc::new(watch::Sender::new(()));
        let mut notified = appended.subscribe();
        let listener = Arc::downgrade(&appended);
        self.0.context.handle.on_events(Arc::new(move || {
            if let Some(appended) = listener.upgrade() {
                appended.send_replace(());
            }
        }));
        let mut beside = JoinSet::new();
        let inner = Arc::downgrade(&self.0);
        beside.spawn(async move {
            let _appended = appended;
            while notified.changed().await.is_ok() {
                let Some(inner) = inner.upgrade() else { return };
                inner.new_events.send_replace(());
                let workers = u32::try_from(inner.workers.lock().len()).unwrap_or(u32::MAX);
                drop(inner);
                let pace = PACE_PER_WORKER.saturating_mul(workers).max(PACE);
                tokio::time::sleep(pace).await;
            }
        });
        let inner = Arc::downgrade(&self.0);
        let mut changes = self.0.context.catalog.changes();
        beside.spawn(async move {
            loop {
                let Some(inner) = inner.upgrade() else { return };
                Self(inner).sync_with_catalog();
                if changes.changed().await.is_err() {
                    return;
                }
            }
        });
        *self.0.tasks.lock() = Some(JoinSet::new());
        self.sync_with_catalog();
        Running {
            webhooks: self.clone(),
            beside,
        }
    }

    /// Makes sure that each endpoint in the catalog has a task.
    fn sync_with_catalog(&self) {
        let inner = &self.0;
        let mut tasks = inner.tasks.lock();
        let Some(tasks) = tasks.as_mut().filter(|_| !*inner.stopping.borrow()) else {
            return;
        };
        // The runtime reports a panic of one task; the others go on.
        while tasks.try_join_next().is_some() {}
        let catalog = inner.context.catalog.current();
        let mut workers = inner.workers.lock();
        let mut gone: Vec<EndpointId> = workers.keys().copied().collect();
        for project in catalog.projects() {
            for endpoint in project.endpoints() {
                gone.retain(|id| *id != endpoint.id);
                if workers.contains_key(&endpoint.id) {
                    continue;
                }
                let (commands, received) = mpsc::channel(COMMANDS);
                let shared = Arc::new(WorkerHandle {
                    delivery_log: Mutex::default(),
                    recent: Mutex::default(),
                    pending: AtomicU64::new(0),
                    commands,
                });
                workers.insert(endpoint.id, Arc::clone(&shared));
                let stored = inner
                    .unclaimed
                    .lock()
                    .remove(&endpoint.id)
                    .unwrap_or_default();
                let context = Arc::clone(&inner.context);
                let worker =
                    EndpointWorker::new(context, (project.project.id, endpoint), shared, stored);
                let wakes = WakeSources {
                    commands: received,
                    new_events: inner.new_events.subscribe(),
                    changed: inner.context.catalog.changes(),
                    stopping: inner.stopping.subscribe(),
                };
                tasks.spawn(worker.run(wakes));
            }
        }
        // Their tasks delete their notes and end.
        for id in gone {
            workers.remove(&id);
        }
        // Notes of endpoints that were deleted before a task could delete them.
        let left: Vec<_> = inner.unclaimed.lock().drain().collect();
        if !left.is_empty() {
            let handle = inner.context.handle.clone();
            tasks.spawn(async move {
                for (endpoint, stored) in left {
                    note::forget_endpoint(&handle, endpoint, stored.deliveries.into_keys()).await;
                }
            });
        }
    }

    fn worker(&self, endpoint: EndpointId) -> Option<Arc<WorkerHandle>> {
        let known = self.0.workers.lock().get(&endpoint).cloned();
        known.or_else(|| {
            // The endpoint may have been created just now.
            self.sync_with_catalog();
            self.0.workers.lock().get(&endpoint).cloned()
        })
    }

    /// Waits until nothing is due and all results are written: for a caller who has moved the clock.
    pub async fn settled(&self) {
        self.sync_with_catalog();
        let workers: Vec<_> = self.0.workers.lock().values().cloned().collect();
        for worker in workers {
            let (reply, settled) = oneshot::channel();
            // A task that has ended is settled.
            if worker.commands.send(Command::Settle(reply)).await.is_ok() {
                drop(settled.await);
            }
        }
    }

    /// Events that wait to be sent, over all endpoints.
    pub fn pending(&self) -> u64 {
        let workers = self.0.workers.lock();
        let pending = workers
            .values()
            .map(|it| it.pending.load(Ordering::Relaxed));
        pending.fold(0, u64::saturating_add)
    }

    /// Active endpoints whose last attempt was not accepted.
    pub fn failing(&self) -> u64 {
        let catalog = self.0.context.catalog.current();
        let endpoints = catalog.projects().flat_map(|project| project.endpoints());
        let workers = self.0.workers.lock();
        let failing = endpoints
            .filter(|endpoint| endpoint.is_active())
            .filter(|it| {
                let worker = workers.get(&it.id);
                worker.is_some_and(|worker| worker.recent.lock().is_failing())
            });
        u64::try_from(failing.count()).unwrap_or(u64::MAX)
    }

    pub fn health(&self, endpoint: EndpointId) -> EndpointHealth {
        let Some(worker) = self.0.workers.lock().get(&endpoint).cloned() else {
            return EndpointHealth::default();
        };
        let waiting = worker.pending.load(Ordering::Relaxed);
        let now = self.0.context.handle.now();
        worker.recent.lock().health(waiting, now)
    }

    /// Endpoints that were disabled because they accepted nothing.
    pub fn disabled(&self) -> u64 {
        let catalog = self.0.context.catalog.current();
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
