//! One endpoint's task: reads its events, sends them, and writes how that went. Only this task knows the
//! endpoint's requests in flight, so that a dead endpoint delays no other.
//!
//! The note about an attempt is written after it: a crash in between sends the event again.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use actors::notes;
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::{Endpoint, EndpointStatus},
    id::{DeliveryId, EndpointId, ProjectId, WalletKey},
};
use tokio::sync::oneshot;
use wire::ErrorCode;

use super::{
    WorkerHandle,
    attempt::{AttemptOutcome, WorkerContext, attempt},
    command::{Command, WakeSources},
    delivery::{Delivery, Status},
    delivery_log::DeliveryLog,
    health::RecentAttempts,
    in_flight::{Finished, InFlight},
    note::{self, Progress, StoredEndpoint},
    queue::{Queue, QueuedDelivery},
    reader::Reader,
    results::Results,
    schedule,
    send::SendResult,
};

/// The maximum wait between two checks of the clock while a retry is planned.
const LOOK: Duration = Duration::from_secs(1);
/// How long a shutdown waits for requests in flight.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(1);
/// Pause after the log could not be written or read.
const REST: Duration = Duration::from_secs(1);

/// One endpoint's task and its state.
pub(super) struct EndpointWorker {
    context: Arc<WorkerContext>,
    project: ProjectId,
    id: EndpointId,
    shared: Arc<WorkerHandle>,
    queue: Queue,
    reader: Reader,
    in_flight: InFlight,
    results: Results,
    failing_since: Option<Timestamp>,
    rests_until: Option<Instant>,
    was_active: bool,
    replies: Vec<Reply>,
    settling: Vec<oneshot::Sender<()>>,
}

/// Answers a caller once all results are durable.
type Reply = Box<dyn FnOnce(&DeliveryLog) + Send + Sync>;

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
        let deliveries = record.deliveries.values();
        let queue = Queue::resumed(deliveries.clone());
        let reader = Reader::resumed(&progress, deliveries, &queue);
        *shared.recent.lock() = RecentAttempts::of(&record.deliveries);
        *shared.delivery_log.lock() = DeliveryLog::new(record.deliveries);
        Self {
            context,
            project,
            id: endpoint.id,
            shared,
            queue,
            reader,
            in_flight: InFlight::new(),
            failing_since: progress.failing_since.map(Timestamp),
            results: Results::since(progress),
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
                let (queue, handle) = (&mut self.queue, &self.context.handle);
                let read = self.reader.fill(queue, handle, &project, &endpoint);
                if read.await.is_err() {
                    self.rest();
                }
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
            while let Some(done) = self.in_flight.next().await {
                self.finished(done).await;
            }
        };
        if tokio::time::timeout(SHUTDOWN_WAIT, ends).await.is_err() {
            tracing::info!(endpoint = %self.id, "Webhooks in flight at the shutdown are sent again after the next start");
        }
        self.in_flight.abort_all();
        self.persist().await;
    }

    fn endpoint(&self) -> Option<(Arc<ProjectCatalog>, Endpoint)> {
        let project = self.context.catalog.project(self.project).ok()?;
        let endpoint = project.endpoint(&self.id)?.clone();
        Some((project, endpoint))
    }

    async fn wait(&mut self, wakes: &mut WakeSources) {
        let timed = !self.results.is_empty()
            || self.rests_until.is_some()
            || self.queue.next_due().is_some();
        let look = self.queue.until_due(self.context.handle.now());
        let look = tokio::time::sleep(look.unwrap_or(LOOK).min(LOOK));
        tokio::select! {
            Some(done) = self.in_flight.next() => {
                self.finished(done).await;
                // Others that have ended by now go into the same append.
                while let Some(done) = self.in_flight.try_next() {
                    self.finished(done).await;
                }
            }
            Some(command) = wakes.commands.recv() => self.execute(command).await,
            Ok(()) = wakes.new_events.changed() => self.reader.has_new_events(),
            Ok(()) = wakes.changed.changed() => {}
            Ok(()) = wakes.stopping.changed() => {}
            () = look, if timed => {}
        }
        self.rests_until = self.rests_until.filter(|until| *until > Instant::now());
    }

    fn is_settled(&self, active: bool) -> bool {
        let now = self.context.handle.now();
        let due = self.queue.next_due().is_some_and(|due| due <= now);
        let idle = self.in_flight.is_empty() && self.results.is_empty() && self.replies.is_empty();
        idle && (!active || (!due && (self.reader.is_done() || !self.queue.has_room(now))))
    }

    fn rest(&mut self) {
        self.rests_until = Instant::now().checked_add(REST);
    }

    fn start(&mut self, project: &Arc<ProjectCatalog>, endpoint: &Endpoint) {
        let now = self.context.handle.now();
        while self.in_flight.has_room() {
            let Some((wallet, entry, record)) = self.queue.take(now) else {
                return;
            };
            let (context, project) = (Arc::clone(&self.context), Arc::clone(project));
            let attempt = attempt(context, project, endpoint.clone(), entry.event, record);
            self.in_flight.start(attempt, wallet, entry);
        }
    }

    async fn execute(&mut self, command: Command) {
        match command {
            Command::Settle(reply) => {
                self.reader.has_new_events();
                self.settling.push(reply);
            }
            Command::Again(id, reply) => match self.again(id).await {
                Ok(id) => self.replies.push(Box::new(move |log| {
                    drop(reply.send(log.get(&id).cloned().ok_or(ErrorCode::DeliveryNotFound)));
                })),
                Err(error) => drop(reply.send(Err(error))),
            },
            Command::AllAgain(replay, reply) => {
                self.reader.replay(replay);
                self.replies.push(Box::new(|_| {
                    let _ = reply.send(Ok(()));
                }));
            }
        }
    }

    /// Tries a pending delivery at once; sends a finished one as a new delivery.
    async fn again(&mut self, id: DeliveryId) -> Result<DeliveryId, ErrorCode> {
        let now = self.context.handle.now();
        let delivery = self.known(&id).ok_or(ErrorCode::DeliveryNotFound)?;
        let project = self.context.catalog.project(self.project);
        let project = project.map_err(|_| ErrorCode::DeliveryNotFound)?;
        let handle = &self.context.handle;
        let event = handle.event_by_id(&project.scope, delivery.event).await;
        event
            .map_err(|_| ErrorCode::Unavailable)?
            .ok_or(ErrorCode::EventNotFound)?;
        if delivery.status == Status::Pending {
            self.queue.hurry(delivery.wallet, id, now);
            return Ok(id);
        }
        if self.queue.is_full() {
            return Err(ErrorCode::Overloaded);
        }
        let again = delivery.again(now);
        let id = again.id;
        self.queue
            .push(again.wallet, QueuedDelivery::of(&again), now);
        self.results.put(again);
        Ok(id)
    }

    async fn finished(&mut self, (wallet, entry, outcome): Finished) {
        let now = self.context.handle.now();
        match outcome {
            AttemptOutcome::Later => {
                let at = now.plus_seconds(schedule::LATER_SECONDS);
                self.queue.put_off(wallet, at, entry.unread);
            }
            AttemptOutcome::Unread => self.unread(wallet, &entry, now),
            AttemptOutcome::Lost => self.fail(wallet, &entry, now, "The event is no longer kept."),
            AttemptOutcome::Answered(answer) => self.answered(wallet, &entry, answer).await,
        }
    }

    /// Plans another attempt after a growing pause, or marks it failed so that the wallet's next events can be sent.
    fn unread(&mut self, wallet: WalletKey, entry: &QueuedDelivery, now: Timestamp) {
        let times = entry.unread.saturating_add(1);
        if let Some(at) = schedule::unread(times, now) {
            self.queue.put_off(wallet, at, times);
            return;
        }
        tracing::error!(endpoint = %self.id, event = %entry.event, times, "An event cannot be read and is not sent to a webhook endpoint");
        self.context.counters.unreadable.inc();
        let why = "The event could not be read; nothing was sent. See the server's log.";
        self.fail(wallet, entry, now, why);
    }

    /// Ends the delivery, plans a retry, or disables the endpoint.
    async fn answered(&mut self, wallet: WalletKey, entry: &QueuedDelivery, answer: SendResult) {
        let now = self.context.handle.now();
        let SendResult {
            attempt,
            response,
            retry_after,
        } = answer;
        let at = attempt.at;
        self.context.counters.count(&attempt);
        if let Some(response) = response {
            self.results.put_response(entry.delivery, response);
        }
        self.shared.recent.lock().add(&attempt);
        let (is_accepted, is_gone) = (attempt.error.is_none(), attempt.status_code == Some(410));
        let mut delivery = self.current(wallet, entry);
        delivery.attempted(attempt, entry.by_hand, retry_after.as_deref(), now);
        self.record(wallet, delivery, now);
        self.in_flight.ended(is_accepted);
        if is_accepted {
            self.failing_since = None;
            return;
        }
        let since = *self.failing_since.get_or_insert(at);
        if is_gone {
            self.disable(EndpointStatus::Gone).await;
        } else if now >= since.plus_seconds(schedule::FAILING_SECONDS) {
            self.disable(EndpointStatus::Failing).await;
        }
    }

    /// Nothing can be sent for this reason: the delivery has failed.
    fn fail(&mut self, wallet: WalletKey, entry: &QueuedDelivery, at: Timestamp, why: &str) {
        let mut delivery = self.current(wallet, entry);
        delivery.fail(at, why, entry.by_hand);
        self.record(wallet, delivery, self.context.handle.now());
    }

    /// Keeps a delivery to be written, and plans its next attempt or ends it.
    fn record(&mut self, wallet: WalletKey, delivery: Delivery, now: Timestamp) {
        match delivery.next_at {
            Some(at) => self.queue.postpone(wallet, at, true),
            None => self.queue.finish(wallet, now),
        }
        self.results.put(delivery);
    }

    fn current(&self, wallet: WalletKey, entry: &QueuedDelivery) -> Delivery {
        let known = self.known(&entry.delivery);
        known.unwrap_or_else(|| entry.delivery(wallet))
    }

    fn known(&self, id: &DeliveryId) -> Option<Delivery> {
        let result = self.results.delivery(id).cloned();
        result.or_else(|| self.shared.delivery_log.lock().get(id).cloned())
    }

    async fn disable(&self, why: EndpointStatus) {
        tracing::warn!(endpoint = %self.id, project = %self.project, ?why, "A webhook endpoint was disabled until it is set active again");
        let catalog = &self.context.catalog;
        if let Err(error) = catalog.disable_endpoint(self.project, self.id, why).await {
            tracing::error!(%error, endpoint = %self.id, "A webhook endpoint could not be disabled; the next response tries again");
        }
    }

    /// Makes all results durable, then shows them. Returns whether all are durable.
    async fn persist(&mut self) -> bool {
        if self.rests_until.is_some() {
            return false;
        }
        self.results
            .note_passed(&mut self.queue, self.context.handle.now());
        let progress = self.reader.progress(&self.queue, self.failing_since);
        let is_replayed = progress.replay.is_none();
        let news = self.results.news(progress, self.in_flight.is_empty());
        if self.results.is_empty() && news.is_none() && self.replies.is_empty() {
            return true;
        }
        let writes = self.results.writes(news.as_ref()).into_iter();
        let append: Vec<_> = writes.flat_map(|write| write.notes(self.id)).collect();
        if let Err(error) = notes::put_all(&self.context.handle, append).await {
            tracing::warn!(%error, endpoint = %self.id, "The results of webhooks could not be written; trying again");
            self.rest();
            return false;
        }
        if is_replayed {
            self.reader.replayed();
        }
        let forgotten = {
            let mut delivery_log = self.shared.delivery_log.lock();
            for delivery in self.results.take_written(news) {
                delivery_log.put(delivery);
            }
            let forgotten = delivery_log.forget();
            self.replies
                .drain(..)
                .for_each(|reply| reply(&delivery_log));
            forgotten
        };
        note::forget_old(&self.context.handle, self.id, forgotten).await;
        true
    }

    /// Deletes all notes of a deleted endpoint.
    async fn forget_all(&self) {
        let mut ids: Vec<DeliveryId> = self.results.ids().collect();
        ids.extend(self.shared.delivery_log.lock().all().map(|it| it.id));
        note::forget_endpoint(&self.context.handle, self.id, ids).await;
    }
}
