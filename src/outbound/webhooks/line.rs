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
    catalog::Endpoint,
    id::{DeliveryId, EndpointId, EventId, ProjectId, WalletKey},
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{self, JoinSet},
};

use super::{
    Error, Ground, Shared,
    attempt::{Task, Tried},
    delivery::{Delivery, Origin, Status},
    note::{EndpointRecord, Progress, Replay},
    queue::{Entry, Queue},
    reader::Reader,
    said::Said,
    shelf::Shelf,
};

/// Requests of an endpoint at once. It begins with one, as after every failure, and earns the others: one
/// that hangs must not hold places that others could use.
pub(super) const AT_ONCE: usize = 8;
/// Where so many are due, the log is not read on.
const READY: usize = 64;
/// Wallets of which something waits, and what waits of all: past it, the log is not read on.
const MOST_WALLETS: usize = 1000;
const MOST_WAITING: usize = 10_000;
/// How long it waits at most before it looks at the clock again, while something is to be tried again.
const LOOK: Duration = Duration::from_secs(1);
/// How long the service's end waits for what is under way.
const PARTING: Duration = Duration::from_secs(1);
/// After the log took nothing in, or could not be read.
const REST: Duration = Duration::from_secs(1);

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
    pub(super) reader: Reader,
    /// Not durable yet: nobody is shown it.
    pub(super) fresh: BTreeMap<DeliveryId, Delivery>,
    /// What was answered to those of them that were.
    pub(super) said: BTreeMap<DeliveryId, Said>,
    pub(super) failing_since: Option<Timestamp>,
    pub(super) written: Progress,
    pub(super) unwritten: usize,
    pub(super) under_way: JoinSet<Tried>,
    /// How many may be.
    pub(super) places: usize,
    pub(super) of: HashMap<task::Id, (WalletKey, Entry)>,
    pub(super) rests_until: Option<Instant>,
    was_active: bool,
    pub(super) replies: Vec<Reply>,
    settling: Vec<oneshot::Sender<()>>,
}

/// Who is answered once all is durable.
pub(super) enum Reply {
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
        record: EndpointRecord,
    ) -> Self {
        let progress = record.progress.unwrap_or_else(|| Progress {
            cursor: endpoint.told_after,
            ..Progress::default()
        });
        let mut queue = Queue::default();
        let mut pending: Vec<_> = record.deliveries.values().collect();
        pending.retain(|delivery| delivery.status == Status::Pending);
        // Of one wallet the one that was tried before is its head.
        pending.sort_by_key(|delivery| (delivery.attempts.is_empty(), delivery.id));
        for delivery in pending {
            let at = delivery.next_at.unwrap_or_default();
            queue.push(delivery.wallet, Entry::of(delivery), at);
        }
        let live = record.deliveries.values();
        let live = live.filter(|delivery| delivery.origin == Origin::Live);
        let known = live.filter(|delivery| delivery.number() > progress.cursor);
        let known = known.map(|delivery| delivery.event).collect();
        let reader = Reader::new(&progress, queue.parked(), known);
        *shared.shelf.lock() = Shelf::new(record.deliveries);
        Self {
            ground,
            project,
            id: endpoint.id,
            shared,
            queue,
            reader,
            fresh: BTreeMap::new(),
            said: BTreeMap::new(),
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
            if *wakes.stopping.borrow_and_update() {
                self.end().await;
                return;
            }
            let rests = self.rests_until.is_some_and(|until| until > Instant::now());
            if endpoint.is_active() && !rests {
                if !self.was_active {
                    self.failing_since = None;
                    self.queue.all_due(self.ground.handle.now());
                }
                self.read(&project, &endpoint).await;
                // That took its time: where it was switched off meanwhile nothing is sent, and where it
                // was moved nothing to the old address.
                let now = self.endpoint().filter(|(_, now)| now.is_active());
                if let Some((project, endpoint)) = now {
                    self.start(&project, &endpoint);
                }
            }
            self.was_active = endpoint.is_active();
            let kept = self.keep().await;
            let pending = u64::try_from(self.queue.len()).unwrap_or(u64::MAX);
            self.shared.pending.store(pending, Ordering::Relaxed);
            if kept && !rests && self.is_settled(endpoint.is_active()) {
                for waits in self.settling.drain(..) {
                    // Whoever waited may have gone.
                    let _ = waits.send(());
                }
            }
            self.wait(&mut wakes).await;
        }
    }

    /// Waits a moment for what is under way and keeps how that went. The rest is cut, and sent again after
    /// the next start: nobody is to be without service for a receiver that hangs.
    async fn end(&mut self) {
        let ends = async {
            while let Some(done) = self.under_way.join_next_with_id().await {
                self.finished(done).await;
            }
        };
        if tokio::time::timeout(PARTING, ends).await.is_err() {
            tracing::info!(endpoint = %self.id, "Webhooks that were under way are sent again after the next start");
        }
        self.under_way.abort_all();
        self.keep().await;
    }

    fn endpoint(&self) -> Option<(Arc<ProjectCatalog>, Endpoint)> {
        let project = self.ground.catalog.project(self.project).ok()?;
        let endpoint = project.endpoint(&self.id)?.clone();
        Some((project, endpoint))
    }

    async fn wait(&mut self, wakes: &mut Wakes) {
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
            Ok(()) = wakes.stopping.changed() => {}
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

    pub(super) fn rest(&mut self) {
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
            scheduled: 0,
            next_at: Some(now),
            ..delivery
        };
        let id = delivery.id;
        self.queue.push(delivery.wallet, Entry::of(&delivery), now);
        self.fresh.insert(id, delivery);
        Ok(id)
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
            by_hand: false,
            unread: 0,
            told: None,
        }
    }

    /// As a delivery that was not tried yet.
    pub(super) fn delivery(&self, wallet: WalletKey) -> Delivery {
        let event: EventId = self.event;
        Delivery {
            id: self.delivery,
            event,
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
