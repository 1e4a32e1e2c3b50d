//! One endpoint's task: reads its events, sends them, and writes how that went. Only this task knows the
//! endpoint's requests in flight, so that a dead endpoint delays no other.
//!
//! The note about an attempt is written after it: a crash in between sends the event again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::Endpoint,
    id::{DeliveryId, EndpointId, ProjectId, WalletKey},
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{self, JoinSet},
};

use super::{
    Error, WorkerContext, WorkerHandle,
    attempt::{AttemptOutcome, Task},
    delivery::{Delivery, Origin, Status, new_id},
    delivery_log::DeliveryLog,
    health::RecentAttempts,
    note::{Progress, Replay, StoredEndpoint},
    queue::{Queue, QueuedDelivery},
    reader::Reader,
    summary::ResponseSummary,
};

/// Concurrent requests to an endpoint. It starts with one, also after every failure, and earns one more with
/// each success: an endpoint that hangs must not occupy slots that others could use.
pub(super) const AT_ONCE: usize = 8;
/// With so many wallets due, the log is not read further.
const READY: usize = 64;
/// Most wallets with waiting events, and most waiting events in total: beyond, the log is not read further.
const MAX_WALLETS: usize = 1000;
const MAX_WAITING: usize = 10_000;
/// The maximum wait between two checks of the clock while a retry is planned.
const LOOK: Duration = Duration::from_secs(1);
/// How long a shutdown waits for requests in flight.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(1);
/// Pause after the log could not be written or read.
const REST: Duration = Duration::from_secs(1);

/// A request to an endpoint's task.
pub(super) enum Command {
    /// To reply when nothing is due any more.
    Settle(oneshot::Sender<()>),
    /// To send a delivery again.
    Again(DeliveryId, oneshot::Sender<Result<Delivery, Error>>),
    /// To send part of the log again.
    AllAgain(Replay, oneshot::Sender<Result<(), Error>>),
}

/// One endpoint's task and its state.
pub(super) struct EndpointWorker {
    pub(super) context: Arc<WorkerContext>,
    pub(super) project: ProjectId,
    pub(super) id: EndpointId,
    pub(super) shared: Arc<WorkerHandle>,
    pub(super) queue: Queue,
    pub(super) reader: Reader,
    /// Deliveries that are not durable yet and therefore not shown.
    pub(super) fresh: BTreeMap<DeliveryId, Delivery>,
    /// The responses to those in `fresh` that had one.
    pub(super) summary: BTreeMap<DeliveryId, ResponseSummary>,
    pub(super) failing_since: Option<Timestamp>,
    pub(super) written: Progress,
    pub(super) unwritten: usize,
    pub(super) under_way: JoinSet<AttemptOutcome>,
    /// How many requests may be in flight, 1 to [`AT_ONCE`].
    pub(super) max_in_flight: usize,
    /// The entries of the requests in flight.
    pub(super) in_flight: HashMap<task::Id, (WalletKey, QueuedDelivery)>,
    pub(super) rests_until: Option<Instant>,
    was_active: bool,
    pub(super) replies: Vec<CommandReply>,
    settling: Vec<oneshot::Sender<()>>,
}

/// The reply to a command, sent once all that it did is durable.
pub(super) enum CommandReply {
    Again(DeliveryId, oneshot::Sender<Result<Delivery, Error>>),
    AllAgain(oneshot::Sender<Result<(), Error>>),
}

/// The channels that wake the task.
pub(super) struct WakeSources {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) new_events: watch::Receiver<()>,
    pub(super) changed: watch::Receiver<()>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl EndpointWorker {
    /// Starts from the notes of an earlier process.
    pub(super) fn new(
        context: Arc<WorkerContext>,
        (project, endpoint): (ProjectId, &Endpoint),
        shared: Arc<WorkerHandle>,
        record: StoredEndpoint,
    ) -> Self {
        let progress = record.progress.unwrap_or_else(|| Progress {
            cursor: endpoint.events_after,
            ..Progress::default()
        });
        let (queue, reader) = resumed(&progress, &record.deliveries);
        *shared.recent.lock() = RecentAttempts::of(&record.deliveries);
        *shared.delivery_log.lock() = DeliveryLog::new(record.deliveries);
        Self {
            context,
            project,
            id: endpoint.id,
            shared,
            queue,
            reader,
            fresh: BTreeMap::new(),
            summary: BTreeMap::new(),
            failing_since: progress.failing_since.map(Timestamp),
            written: progress,
            unwritten: 0,
            under_way: JoinSet::new(),
            max_in_flight: 1,
            in_flight: HashMap::new(),
            rests_until: None,
            was_active: true,
            replies: Vec::new(),
            settling: Vec::new(),
        }
    }

    /// Runs until the endpoint is deleted or the service stops.
    pub(super) async fn run(mut self, mut wakes: WakeSources) {
        loop {
            wakes.changed.borrow_and_update();
            if wakes.new_events.has_changed().unwrap_or(false) {
                wakes.new_events.borrow_and_update();
                self.reader.has_new_events();
            }
            let Some((project, endpoint)) = self.endpoint() else {
                self.forget_all().await;
                return;
            };
            if *wakes.stopping.borrow_and_update() {
                self.end().await;
                return;
            }
            let rests = self.rests_until.is_some_and(|until| until > Instant::now());
            if endpoint.is_active() && !rests {
                if !self.was_active {
                    self.failing_since = None;
                    self.queue.all_due(self.context.handle.now());
                }
                self.read(&project, &endpoint).await;
                // Reading took time: send nothing if the endpoint has been disabled since, and nothing to the
                // old address if it was changed.
                let now = self.endpoint().filter(|(_, now)| now.is_active());
                if let Some((project, endpoint)) = now {
                    self.start(&project, &endpoint);
                }
            }
            self.was_active = endpoint.is_active();
            let is_written = self.persist().await;
            let pending = u64::try_from(self.queue.len()).unwrap_or(u64::MAX);
            self.shared.pending.store(pending, Ordering::Relaxed);
            if is_written && !rests && self.is_settled(endpoint.is_active()) {
                for reply in self.settling.drain(..) {
                    // The caller may be gone.
                    let _ = reply.send(());
                }
            }
            self.wait(&mut wakes).await;
        }
    }

    /// Waits a moment for requests in flight and writes how they went. The rest are aborted and sent again
    /// after the next start: a receiver that hangs must not delay the shutdown.
    async fn end(&mut self) {
        let ends = async {
            while let Some(done) = self.under_way.join_next_with_id().await {
                self.finished(done).await;
            }
        };
        if tokio::time::timeout(SHUTDOWN_WAIT, ends).await.is_err() {
            tracing::info!(endpoint = %self.id, "Webhooks in flight at the shutdown are sent again after the next start");
        }
        self.under_way.abort_all();
        self.persist().await;
    }

    fn endpoint(&self) -> Option<(Arc<ProjectCatalog>, Endpoint)> {
        let project = self.context.catalog.project(self.project).ok()?;
        let endpoint = project.endpoint(&self.id)?.clone();
        Some((project, endpoint))
    }

    async fn wait(&mut self, wakes: &mut WakeSources) {
        let timed =
            !self.fresh.is_empty() || self.rests_until.is_some() || self.queue.next_due().is_some();
        let look = tokio::time::sleep(self.until_look());
        tokio::select! {
            Some(done) = self.under_way.join_next_with_id(), if !self.under_way.is_empty() => {
                self.finished(done).await;
                // Others that have ended by now go into the same append.
                while let Some(done) = self.under_way.try_join_next_with_id() {
                    self.finished(done).await;
                }
            }
            Some(command) = wakes.commands.recv() => self.execute(command).await,
            Ok(()) = wakes.new_events.changed() => self.reader.has_new_events(),
            Ok(()) = wakes.changed.changed() => {}
            Ok(()) = wakes.stopping.changed() => {}
            () = look, if timed => {}
        }
        let over = self
            .rests_until
            .is_some_and(|until| until <= Instant::now());
        self.rests_until = self.rests_until.filter(|_| !over);
    }

    /// Time until the next attempt by the service's clock, at most [`LOOK`], as that clock may be moved.
    fn until_look(&self) -> Duration {
        let now = self.context.handle.now();
        let due = self.queue.next_due().map_or(i64::MAX, |due| due.0);
        let millis = u64::try_from(due.saturating_sub(now.0)).unwrap_or(0);
        // An entry that is due already waits for a request to end.
        if millis == 0 {
            return LOOK;
        }
        Duration::from_millis(millis).min(LOOK)
    }

    fn is_settled(&self, active: bool) -> bool {
        let now = self.context.handle.now();
        let due = self.queue.next_due().is_some_and(|due| due <= now);
        let idle = self.under_way.is_empty() && self.fresh.is_empty() && self.replies.is_empty();
        idle && (!active || (!due && (self.reader.is_done() || !self.has_room(now))))
    }

    fn has_room(&self, now: Timestamp) -> bool {
        self.queue.ready(now, READY) < READY
            && self.queue.wallets() < MAX_WALLETS
            && self.queue.len() < MAX_WAITING
    }

    async fn read(&mut self, project: &ProjectCatalog, endpoint: &Endpoint) {
        let now = self.context.handle.now();
        while self.has_room(now) {
            let handle = &self.context.handle;
            match self.reader.next(handle, project, endpoint).await {
                Ok(Some(entries)) => {
                    for (wallet, entry) in entries {
                        self.queue.push(wallet, entry, now);
                    }
                }
                Ok(None) => return,
                Err(_) => {
                    self.rest();
                    return;
                }
            }
        }
    }

    pub(super) fn rest(&mut self) {
        self.rests_until = Instant::now().checked_add(REST);
    }

    fn start(&mut self, project: &Arc<ProjectCatalog>, endpoint: &Endpoint) {
        let now = self.context.handle.now();
        while self.under_way.len() < self.max_in_flight {
            let Some((wallet, mut entry)) = self.queue.take(now) else {
                return;
            };
            let record = entry.record.take();
            let task = Task {
                context: Arc::clone(&self.context),
                project: Arc::clone(project),
                endpoint: endpoint.clone(),
                event: entry.event,
                record,
            };
            let started = self.under_way.spawn(task.run());
            self.in_flight.insert(started.id(), (wallet, entry));
        }
    }

    async fn execute(&mut self, command: Command) {
        match command {
            Command::Settle(reply) => {
                self.reader.has_new_events();
                self.settling.push(reply);
            }
            Command::Again(id, reply) => match self.again(id).await {
                Ok(id) => self.replies.push(CommandReply::Again(id, reply)),
                Err(error) => drop(reply.send(Err(error))),
            },
            Command::AllAgain(replay, reply) => {
                self.reader.replay(replay);
                self.replies.push(CommandReply::AllAgain(reply));
            }
        }
    }

    /// Tries a pending delivery at once; sends a finished one as a new delivery.
    async fn again(&mut self, id: DeliveryId) -> Result<DeliveryId, Error> {
        let now = self.context.handle.now();
        let mut delivery = self.known(&id).ok_or(Error::UnknownDelivery)?;
        let project = self.context.catalog.project(self.project);
        let project = project.map_err(|_| Error::UnknownDelivery)?;
        let event = self
            .context
            .handle
            .event_by_id(&project.scope, delivery.event);
        let event = event.await.map_err(|_| Error::Unavailable)?;
        if event.is_none() {
            return Err(Error::UnknownEvent);
        }
        if delivery.status == Status::Pending {
            self.queue.hurry(delivery.wallet, id, now);
            return Ok(id);
        }
        if self.queue.len() >= MAX_WAITING {
            return Err(Error::Overloaded);
        }
        delivery = Delivery {
            id: new_id(),
            origin: Origin::Replay,
            status: Status::Pending,
            attempts: Vec::new(),
            scheduled: 0,
            next_at: Some(now),
            ..delivery
        };
        let id = delivery.id;
        self.queue
            .push(delivery.wallet, QueuedDelivery::of(&delivery), now);
        self.fresh.insert(id, delivery);
        Ok(id)
    }
}

/// What waits by the notes of an earlier process, and where the log is read on.
pub(super) fn resumed(
    progress: &Progress,
    deliveries: &BTreeMap<DeliveryId, Delivery>,
) -> (Queue, Reader) {
    let mut queue = Queue::default();
    let mut pending: Vec<_> = deliveries.values().collect();
    pending.retain(|delivery| delivery.status == Status::Pending);
    // A wallet's delivery that was tried before goes first.
    pending.sort_by_key(|delivery| (delivery.attempts.is_empty(), delivery.id));
    for delivery in pending {
        let at = delivery.next_at.unwrap_or_default();
        queue.push(delivery.wallet, QueuedDelivery::of(delivery), at);
    }
    let parked = queue.parked();
    let mut reader = Reader::new(progress, parked);
    let from = reader.progress().cursor;
    let known = deliveries.values();
    let known = known.filter(|it| it.origin == Origin::Live && it.number() > from);
    reader.knows(known.map(|delivery| delivery.event));
    (queue, reader)
}

impl QueuedDelivery {
    /// The entry of a delivery that has a note.
    fn of(delivery: &Delivery) -> Self {
        Self {
            delivery: delivery.id,
            event: delivery.event,
            kind: delivery.kind,
            origin: delivery.origin,
            noted: true,
            by_hand: false,
            unread: 0,
            record: None,
        }
    }

    /// The delivery for this entry before its first attempt.
    pub(super) fn delivery(&self, wallet: WalletKey) -> Delivery {
        Delivery {
            id: self.delivery,
            event: self.event,
            kind: self.kind,
            wallet,
            origin: self.origin,
            status: Status::Pending,
            attempts: Vec::new(),
            scheduled: 0,
            next_at: None,
        }
    }
}
