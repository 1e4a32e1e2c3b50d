//! One endpoint's task: reads what there is to tell, sends it, and keeps how that went. It alone knows what
//! is under way, so that a dead endpoint is in nobody's way but its own.
//!
//! What was sent is noted afterwards: a crash in between sends it again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::{Endpoint, EndpointStatus},
    id::{DeliveryId, EndpointId, EventId, ProjectId, WalletKey},
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{self, JoinSet},
};

use super::{
    Error, Ground, Shared,
    attempt::{Task, Tried},
    delivery::{Attempt, Delivery, Origin, Status},
    note::{self, Kept, Progress, Replay},
    queue::{Entry, Queue},
    schedule,
    send::Answer,
    shelf::Shelf,
};

/// Requests of an endpoint at once. It begins with one, as after every failure, and earns the others: one
/// that hangs must not hold places that others could use.
const AT_ONCE: usize = 8;
/// Where so many are due, the log is not read on.
const READY: usize = 64;
/// Wallets of which something waits, and what waits of all: past it, the log is not read on.
const MOST_WALLETS: usize = 1000;
const MOST_WAITING: usize = 10_000;
/// How long it waits at most before it looks at the clock again, while something is to be tried again.
const LOOK: Duration = Duration::from_secs(1);
/// After the log took nothing in, or could not be read.
const REST: Duration = Duration::from_secs(1);
/// What cannot be told now is told a little later, in milliseconds.
const LATER_MILLIS: i64 = 1000;
/// How far the log was read is noted with every so many deliveries.
const NOTED_EVERY: usize = 64;
/// Bytes and notes of one append.
const MOST_BYTES: usize = 24_000;
const MOST_NOTES: usize = 100;

/// What a line is asked from outside.
pub(super) enum Command {
    /// To say when nothing is due any more.
    Settle(oneshot::Sender<()>),
    /// To send something again.
    Again(DeliveryId, oneshot::Sender<Result<Delivery, Error>>),
    /// To send a part of the log again.
    AllAgain(Replay, oneshot::Sender<Result<(), Error>>),
}

/// See the module.
pub(super) struct Line {
    pub(super) ground: Arc<Ground>,
    pub(super) project: ProjectId,
    pub(super) id: EndpointId,
    pub(super) shared: Arc<Shared>,
    pub(super) queue: Queue,
    pub(super) reader: super::reader::Reader,
    /// Not durable yet: nobody is shown it.
    pub(super) fresh: BTreeMap<DeliveryId, Delivery>,
    pub(super) failing_since: Option<Timestamp>,
    written: Progress,
    unwritten: usize,
    under_way: JoinSet<Tried>,
    /// How many may be.
    places: usize,
    of: HashMap<task::Id, (WalletKey, Entry)>,
    rests_until: Option<Instant>,
    was_active: bool,
    replies: Vec<Reply>,
    settling: Vec<oneshot::Sender<()>>,
}

/// Who is answered once all is durable.
enum Reply {
    Again(DeliveryId, oneshot::Sender<Result<Delivery, Error>>),
    AllAgain(oneshot::Sender<Result<(), Error>>),
}

/// What wakes a line.
pub(super) struct Wakes {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) told: watch::Receiver<()>,
    pub(super) changed: watch::Receiver<()>,
    pub(super) stopping: watch::Receiver<bool>,
}

impl Line {
    /// With what an earlier process kept.
    pub(super) fn new(
        ground: Arc<Ground>,
        (project, endpoint): (ProjectId, &Endpoint),
        shared: Arc<Shared>,
        kept: Kept,
    ) -> Self {
        let progress = kept.progress.unwrap_or_else(|| Progress {
            cursor: endpoint.told_after,
            ..Progress::default()
        });
        let mut queue = Queue::default();
        let mut pending: Vec<_> = kept.deliveries.values().collect();
        pending.retain(|delivery| delivery.status == Status::Pending);
        // Of one wallet the one that was tried before is its head.
        pending.sort_by_key(|delivery| (delivery.attempts.is_empty(), delivery.id));
        for delivery in pending {
            let at = delivery.next_at.unwrap_or_default();
            queue.push(delivery.wallet, Entry::of(delivery), at);
        }
        let live = kept.deliveries.values();
        let live = live.filter(|delivery| delivery.origin == Origin::Live);
        let known = live.filter(|delivery| delivery.number() > progress.cursor);
        let known = known.map(|delivery| delivery.event).collect();
        let reader = super::reader::Reader::new(&progress, queue.parked(), known);
        *shared.shelf.lock() = Shelf::new(kept.deliveries);
        Self {
            ground,
            project,
            id: endpoint.id,
            shared,
            queue,
            reader,
            fresh: BTreeMap::new(),
            failing_since: progress.failing_since.map(Timestamp),
            written: progress,
            unwritten: 0,
            under_way: JoinSet::new(),
            places: 1,
            of: HashMap::new(),
            rests_until: None,
            was_active: true,
            replies: Vec::new(),
            settling: Vec::new(),
        }
    }

    /// Until the endpoint is deleted or the service stops.
    pub(super) async fn run(mut self, mut wakes: Wakes) {
        loop {
            wakes.changed.borrow_and_update();
            if wakes.told.has_changed().unwrap_or(false) {
                wakes.told.borrow_and_update();
                self.reader.there_is_more();
            }
            let Some((project, endpoint)) = self.endpoint() else {
                self.forget_all().await;
                return;
            };
            let stopping = *wakes.stopping.borrow_and_update();
            let rests = self.rests_until.is_some_and(|until| until > Instant::now());
            if endpoint.is_active() && !stopping && !rests {
                if !self.was_active {
                    self.failing_since = None;
                    self.queue.all_due(self.ground.handle.now());
                }
                self.read(&project, &endpoint).await;
                self.start(&project, &endpoint);
            }
            self.was_active = endpoint.is_active();
            let kept = self.keep().await;
            let pending = u64::try_from(self.queue.len()).unwrap_or(u64::MAX);
            self.shared.pending.store(pending, Ordering::Relaxed);
            if stopping && self.under_way.is_empty() {
                // Whatever could not be kept is sent again after the next start.
                return;
            }
            if kept && !rests && self.is_settled(endpoint.is_active()) {
                for waits in self.settling.drain(..) {
                    // Whoever waited may have gone.
                    let _ = waits.send(());
                }
            }
            self.wait(&mut wakes, stopping).await;
        }
    }

    fn endpoint(&self) -> Option<(Arc<ProjectCatalog>, Endpoint)> {
        let project = self.ground.catalog.project(self.project).ok()?;
        let endpoint = project.endpoint(&self.id)?.clone();
        Some((project, endpoint))
    }

    async fn wait(&mut self, wakes: &mut Wakes, stopping: bool) {
        let timed =
            !self.fresh.is_empty() || self.rests_until.is_some() || self.queue.next_due().is_some();
        let look = tokio::time::sleep(self.until_look());
        tokio::select! {
            Some(done) = self.under_way.join_next_with_id(), if !self.under_way.is_empty() => {
                self.finished(done).await;
                // What ended meanwhile is kept in the same append.
                while let Some(done) = self.under_way.try_join_next_with_id() {
                    self.finished(done).await;
                }
            }
            Some(command) = wakes.commands.recv() => self.obey(command).await,
            Ok(()) = wakes.told.changed() => self.reader.there_is_more(),
            Ok(()) = wakes.changed.changed() => {}
            Ok(()) = wakes.stopping.changed(), if !stopping => {}
            () = look, if timed => {}
        }
        let over = self
            .rests_until
            .is_some_and(|until| until <= Instant::now());
        self.rests_until = self.rests_until.filter(|_| !over);
    }

    /// Until the next attempt, by the service's clock; that may be moved meanwhile.
    fn until_look(&self) -> Duration {
        let now = self.ground.handle.now();
        let due = self.queue.next_due().map_or(i64::MAX, |due| due.0);
        let millis = u64::try_from(due.saturating_sub(now.0)).unwrap_or(0);
        // What is due already waits for something else to end.
        if millis == 0 {
            return LOOK;
        }
        Duration::from_millis(millis).min(LOOK)
    }

    fn is_settled(&self, active: bool) -> bool {
        let now = self.ground.handle.now();
        let due = self.queue.next_due().is_some_and(|due| due <= now);
        let idle = self.under_way.is_empty() && self.fresh.is_empty() && self.replies.is_empty();
        idle && (!active || (!due && (self.reader.is_done() || !self.has_room(now))))
    }

    fn has_room(&self, now: Timestamp) -> bool {
        self.queue.ready(now, READY) < READY
            && self.queue.wallets() < MOST_WALLETS
            && self.queue.len() < MOST_WAITING
    }

    async fn read(&mut self, project: &ProjectCatalog, endpoint: &Endpoint) {
        let now = self.ground.handle.now();
        while self.has_room(now) {
            let handle = &self.ground.handle;
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

    fn rest(&mut self) {
        self.rests_until = Instant::now().checked_add(REST);
    }

    fn start(&mut self, project: &Arc<ProjectCatalog>, endpoint: &Endpoint) {
        let now = self.ground.handle.now();
        while self.under_way.len() < self.places {
            let Some((wallet, mut entry)) = self.queue.take(now) else {
                return;
            };
            let told = entry.told.take();
            let task = Task {
                ground: Arc::clone(&self.ground),
                project: Arc::clone(project),
                endpoint: endpoint.clone(),
                event: entry.event,
                told,
            };
            let started = self.under_way.spawn(task.run());
            self.of.insert(started.id(), (wallet, entry));
        }
    }

    async fn finished(&mut self, done: Result<(task::Id, Tried), task::JoinError>) {
        let (id, tried) = match done {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "An attempt to deliver a webhook ended in a defect");
                (error.id(), Tried::Later)
            }
        };
        let Some((wallet, entry)) = self.of.remove(&id) else {
            return;
        };
        match tried {
            Tried::Later => {
                let at = self.ground.handle.now().0.saturating_add(LATER_MILLIS);
                self.queue.postpone(wallet, Timestamp(at), false);
            }
            Tried::Lost(at) => {
                let error = "The event is not kept any more.".into();
                let attempt = Attempt {
                    at,
                    status_code: None,
                    error: Some(error),
                    millis: 0,
                };
                self.over(wallet, &entry, attempt, Status::Failed);
            }
            Tried::Answered(at, answer) => self.answered(wallet, &entry, at, answer).await,
        }
    }

    async fn answered(&mut self, wallet: WalletKey, entry: &Entry, at: Timestamp, answer: Answer) {
        let now = self.ground.handle.now();
        self.ground.counters.count(&answer);
        let is_gone = answer.status_code == Some(410);
        let attempt = Attempt {
            at,
            status_code: answer.status_code,
            error: answer.error,
            millis: answer.millis,
        };
        if attempt.error.is_none() {
            self.failing_since = None;
            self.places = self.places.saturating_add(1).min(AT_ONCE);
            self.over(wallet, entry, attempt, Status::Succeeded);
            return;
        }
        self.places = 1;
        let since = *self.failing_since.get_or_insert(at);
        let mut delivery = self.current(wallet, entry);
        delivery.tried(attempt);
        let wish = answer.retry_after;
        let wish = wish.and_then(|header| schedule::wish(&header, now));
        let random = getrandom::u64().unwrap_or(0);
        match schedule::next(delivery.attempts.len(), now, wish, random) {
            Some(next) => {
                delivery.next_at = Some(next);
                self.queue.postpone(wallet, next, true);
            }
            None => {
                delivery.ended(Status::Failed);
                self.queue.finish(wallet, now);
            }
        }
        self.fresh.insert(delivery.id, delivery);
        if is_gone {
            self.disable(EndpointStatus::Gone).await;
        } else if now >= since.plus_seconds(schedule::FAILING_SECONDS) {
            self.disable(EndpointStatus::Failing).await;
        }
    }

    fn over(&mut self, wallet: WalletKey, entry: &Entry, attempt: Attempt, status: Status) {
        let mut delivery = self.current(wallet, entry);
        delivery.tried(attempt);
        delivery.ended(status);
        self.fresh.insert(delivery.id, delivery);
        self.queue.finish(wallet, self.ground.handle.now());
    }

    /// A delivery as it is by now.
    fn current(&self, wallet: WalletKey, entry: &Entry) -> Delivery {
        let known = self.known(&entry.delivery);
        known.unwrap_or_else(|| entry.delivery(wallet))
    }

    fn known(&self, id: &DeliveryId) -> Option<Delivery> {
        let fresh = self.fresh.get(id).cloned();
        fresh.or_else(|| self.shared.shelf.lock().get(id).cloned())
    }

    async fn disable(&self, why: EndpointStatus) {
        tracing::warn!(endpoint = %self.id, project = %self.project, ?why, "A webhook endpoint is sent nothing any more, until it is set active again");
        let disabled = self
            .ground
            .catalog
            .disable_endpoint(self.project, self.id, why);
        if let Err(error) = disabled.await {
            tracing::error!(%error, endpoint = %self.id, "A webhook endpoint could not be switched off; the next answer tries again");
        }
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Settle(reply) => {
                self.reader.there_is_more();
                self.settling.push(reply);
            }
            Command::Again(id, reply) => match self.again(id).await {
                Ok(id) => self.replies.push(Reply::Again(id, reply)),
                Err(error) => drop(reply.send(Err(error))),
            },
            Command::AllAgain(replay, reply) => {
                self.reader.replay(replay);
                self.replies.push(Reply::AllAgain(reply));
            }
        }
    }

    /// What is pending is tried at once; what is over is sent as a delivery of its own.
    async fn again(&mut self, id: DeliveryId) -> Result<DeliveryId, Error> {
        let now = self.ground.handle.now();
        let mut delivery = self.known(&id).ok_or(Error::UnknownDelivery)?;
        let project = self.ground.catalog.project(self.project);
        let project = project.map_err(|_| Error::UnknownDelivery)?;
        let kept = self.ground.handle.told_as(&project.scope, delivery.event);
        let kept = kept.await.map_err(|_| Error::Unavailable)?;
        if kept.is_none() {
            return Err(Error::UnknownEvent);
        }
        if delivery.status == Status::Pending {
            self.queue.hurry(delivery.wallet, id, now);
            return Ok(id);
        }
        if self.queue.len() >= MOST_WAITING {
            return Err(Error::Overloaded);
        }
        delivery = Delivery {
            id: super::new_id(),
            origin: Origin::Replay,
            status: Status::Pending,
            attempts: Vec::new(),
            next_at: Some(now),
            ..delivery
        };
        let id = delivery.id;
        self.queue.push(delivery.wallet, Entry::of(&delivery), now);
        self.fresh.insert(id, delivery);
        Ok(id)
    }

    /// How far the log may be taken for read, once what is fresh is kept.
    fn progress(&self) -> Progress {
        let read = self.reader.progress();
        let replay = read.replay.map(|replay| Replay {
            cursor: self.queue.safe(Origin::Replay, replay.cursor),
            ..replay
        });
        // The last of what is sent again may still wait.
        let waits = self.queue.safe(Origin::Replay, u64::MAX);
        let replay = replay.or_else(|| {
            let last = self.written.replay.filter(|_| waits < u64::MAX)?;
            Some(Replay {
                cursor: waits,
                ..last
            })
        });
        Progress {
            cursor: self.queue.safe(Origin::Live, read.cursor),
            failing_since: self.failing_since.map(|since| since.0),
            replay,
        }
    }

    /// Makes durable what is fresh, and then shows it. Whether all is durable.
    async fn keep(&mut self) -> bool {
        if self.rests_until.is_some() {
            return false;
        }
        let progress = self.progress();
        let is_news = progress.failing_since != self.written.failing_since
            || progress.replay != self.written.replay
            || (progress.cursor != self.written.cursor
                && (self.unwritten >= NOTED_EVERY
                    || (self.under_way.is_empty() && !self.fresh.is_empty())));
        if self.fresh.is_empty() && !is_news && self.replies.is_empty() {
            return true;
        }
        let mut notes: Vec<_> = self.fresh.values().collect::<Vec<_>>();
        notes.sort_by_key(|delivery| delivery.id);
        let mut notes: Vec<_> = notes
            .into_iter()
            .map(|delivery| note::put_delivery(self.id, delivery))
            .collect();
        if is_news {
            notes.push(note::put_progress(self.id, &progress));
        }
        if let Err(error) = self.put(notes).await {
            tracing::warn!(%error, endpoint = %self.id, "What became of webhooks could not be kept; trying again");
            self.rest();
            return false;
        }
        self.unwritten = self.unwritten.saturating_add(self.fresh.len());
        if is_news {
            self.written = progress;
            self.unwritten = 0;
        }
        let forgotten = {
            let mut shelf = self.shared.shelf.lock();
            for delivery in std::mem::take(&mut self.fresh).into_values() {
                shelf.put(delivery);
            }
            shelf.forget()
        };
        self.answer();
        let forgotten = forgotten.into_iter();
        let forgotten = forgotten.map(|id| note::forget_delivery(self.id, id));
        if let Err(error) = self.put(forgotten.collect()).await {
            tracing::warn!(%error, endpoint = %self.id, "Old deliveries of webhooks could not be forgotten");
        }
        true
    }

    fn answer(&mut self) {
        for reply in std::mem::take(&mut self.replies) {
            match reply {
                Reply::Again(id, reply) => {
                    let known = self.known(&id).ok_or(Error::UnknownDelivery);
                    drop(reply.send(known));
                }
                Reply::AllAgain(reply) => drop(reply.send(Ok(()))),
            }
        }
    }

    /// In the order that they are in: what comes later is never kept without what came before.
    async fn put(&self, notes: Vec<persistence::Note>) -> Result<(), actors::Error> {
        let mut append = Vec::new();
        let mut bytes = 0_usize;
        for note in notes {
            let body = note.body.as_ref().map_or(0, |body| body.len());
            let size = note.key.len().saturating_add(body);
            if append.len() >= MOST_NOTES || bytes.saturating_add(size) > MOST_BYTES {
                let full = std::mem::take(&mut append);
                self.ground.handle.put_notes(full).await?;
                bytes = 0;
            }
            bytes = bytes.saturating_add(size);
            append.push(note);
        }
        if append.is_empty() {
            return Ok(());
        }
        self.ground.handle.put_notes(append).await
    }

    /// Of a deleted endpoint nothing is kept.
    async fn forget_all(&mut self) {
        let mut known: Vec<DeliveryId> = self.fresh.keys().copied().collect();
        known.extend(self.shared.shelf.lock().all().map(|delivery| delivery.id));
        let notes = known.into_iter();
        let notes = notes.map(|id| note::forget_delivery(self.id, id));
        let notes = notes.chain([note::forget_progress(self.id)]).collect();
        if let Err(error) = self.put(notes).await {
            tracing::warn!(%error, endpoint = %self.id, "The deliveries of a deleted webhook endpoint are forgotten at the next start");
        }
    }
}

impl Entry {
    /// Of a delivery that has a note.
    fn of(delivery: &Delivery) -> Self {
        Self {
            delivery: delivery.id,
            event: delivery.event,
            kind: delivery.kind,
            origin: delivery.origin,
            noted: true,
            told: None,
        }
    }

    /// As a delivery that was not tried yet.
    fn delivery(&self, wallet: WalletKey) -> Delivery {
        let event: EventId = self.event;
        Delivery {
            id: self.delivery,
            event,
            kind: self.kind,
            wallet,
            origin: self.origin,
            status: Status::Pending,
            attempts: Vec::new(),
            next_at: None,
        }
    }
}
