//! Asking about orders that stay pending, so that a lost report loses no payment: some minutes after
//! the buyer was sent off, some hours, and shortly before the order expires, when the provider has
//! closed its page. Where the buyer is done and the money is on its way, it is asked about until the
//! money came or will not.
//!
//! Orders are found in the books by the time at which they expire: each is looked at once for each
//! age, and no other one on the way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Rejection, Timestamp,
    catalog::Account,
    id::{OrderId, OrderSerial, ProjectId},
    wallet::{OrderStatus, place_order::PENDING_SECONDS},
};
use port::{Provider, Subject};

use super::{
    Error, Ground,
    each::each,
    fulfilment::Progress,
    notes::{self, Key, Note},
};

/// Ages at which an order is asked about, in seconds. The last one is after its session closed (see
/// `OPEN_SECONDS`) and before it expires.
const AGES: [i64; 3] = [600, 2 * 3600, PENDING_SECONDS - 45];
/// Without a note of how far asking has come: everything that may still be pending.
const FIRST_SECONDS: i64 = PENDING_SECONDS + 3600;
/// How far asking comes is noted so often.
const NOTE_EVERY_SECONDS: i64 = 60;
/// An awaited payment is asked about so often, for so long.
const AWAITED_EVERY_SECONDS: i64 = 3600;
const AWAITED_SECONDS: i64 = 30 * 24 * 3600;
/// Orders read from the books at once.
const PAGE: usize = 64;
/// Orders that the provider is asked about at once.
const AT_ONCE: usize = 16;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Reconciler(Arc<Parts>);

struct Parts {
    ground: Ground,
    projects: DashMap<ProjectId, Reached>,
    awaited: DashMap<OrderId, Awaited>,
    /// Orders whose checkout the provider does not know.
    given_up: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct Reached {
    to: notes::Reached,
    noted: Timestamp,
    /// Whether anything was asked since it was noted.
    asked: bool,
}

#[derive(Debug, Clone, Copy)]
struct Awaited {
    project: ProjectId,
    next: Timestamp,
    end: Timestamp,
}

impl Reconciler {
    pub(crate) fn new(ground: Ground) -> Self {
        Self(Arc::new(Parts {
            ground,
            projects: DashMap::new(),
            awaited: DashMap::new(),
            given_up: AtomicU64::new(0),
        }))
    }

    /// Orders since the start whose checkout the provider does not know.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.0.given_up.load(Ordering::Relaxed)
    }

    /// Takes up how far asking had come.
    pub(crate) fn restore_reached(&self, project: ProjectId, to: notes::Reached) {
        let noted = to.into_iter().max().unwrap_or_default();
        let reached = Reached {
            to,
            noted,
            asked: false,
        };
        self.0.projects.insert(project, reached);
    }

    /// Takes up an order whose session is complete and not paid yet; it is asked about at once.
    pub(crate) fn restore_awaited(&self, project: ProjectId, order: OrderId, end: Timestamp) {
        let next = Timestamp(i64::MIN);
        self.0.awaited.insert(order, Awaited { project, next, end });
    }

    /// Asks about all orders of a project that came to one of the ages since it was last asked. Stops
    /// where the provider does not answer, and goes on from there the next time.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn ask(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let id = project.project.id;
        let now = self.0.ground.handle.now_in(&project.scope);
        let provider = self.0.ground.providers.of(project)?.in_background();
        let provider = &*provider;
        let mut reached = self.reached(id, now);
        // The oldest first: they are the next to expire.
        for (cursor, age) in reached.to.iter_mut().zip(AGES).rev() {
            let until_due = PENDING_SECONDS.saturating_sub(age);
            let until = now.plus_seconds(until_due);
            let mut from = cursor.plus_seconds(until_due);
            let asked = self.ask_about(project, provider, &mut from, until).await;
            // Where it stopped, it goes on from there.
            *cursor = from.plus_seconds(until_due.saturating_neg());
            reached.asked |= asked.as_ref().is_ok_and(|asked| *asked > 0);
            if let Err(error) = asked {
                self.0.projects.insert(id, reached);
                return Err(error);
            }
            *cursor = now;
        }
        // Where nothing was asked, a restart asks about the same nothing again.
        let since_noted = now.0.saturating_sub(reached.noted.0);
        if reached.asked && since_noted >= NOTE_EVERY_SECONDS.saturating_mul(1000) {
            (reached.noted, reached.asked) = (now, false);
            let note = Note::Reached {
                project: id,
                to: reached.to,
            };
            self.0.ground.handle.put_notes(vec![note.put()]).await?;
        }
        self.0.projects.insert(id, reached);
        self.ask_about_awaited(project, provider, now).await
    }

    /// How far asking has come. A clock that went back (the sandbox's was left for Stripe's) begins
    /// anew.
    fn reached(&self, project: ProjectId, now: Timestamp) -> Reached {
        let first = now.plus_seconds(-FIRST_SECONDS);
        let known = self.0.projects.get(&project).map(|known| *known);
        let known = known.unwrap_or(Reached {
            to: [first; AGES.len()],
            noted: Timestamp(i64::MIN),
            asked: false,
        });
        Reached {
            to: known.to.map(|to| if to > now { first } else { to }),
            noted: known.noted.min(now),
            ..known
        }
    }

    /// Forgets which orders of a project its former provider was to be asked about.
    pub(crate) async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.0.projects.remove(&project);
        let mut keys = vec![Key::Reached(project)];
        self.0.awaited.retain(|order, awaited| {
            let stays = awaited.project != project;
            if !stays {
                keys.push(Key::Awaited(project, *order));
            }
            stays
        });
        let forgotten = keys.into_iter().map(|key| key.forget());
        notes::put_all(&self.0.ground.handle, forgotten).await?;
        Ok(())
    }

    /// Until when overdue orders may be expired: those that are about to be asked about are not.
    pub(crate) fn expire_until(&self, project: &ProjectCatalog) -> Timestamp {
        let now = self.0.ground.handle.now_in(&project.scope);
        if project
            .provider()
            .is_none_or(|p| p.account == Account::None)
        {
            return now;
        }
        let reached = self.reached(project.project.id, now);
        let oldest = reached.to.last().copied().unwrap_or(now);
        let until_due = PENDING_SECONDS.saturating_sub(AGES.last().copied().unwrap_or_default());
        oldest.plus_seconds(until_due).min(now)
    }

    /// Asks about pending orders that expire after the first instant and no later than the second; how
    /// many. The first one moves on with them.
    async fn ask_about(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        first: &mut Timestamp,
        last: Timestamp,
    ) -> Result<usize, Error> {
        let mut after = (*first, OrderSerial(u128::MAX));
        let mut asked = 0_usize;
        loop {
            let handle = &self.0.ground.handle;
            let pending = handle.pending(&project.scope, Some(after), last, PAGE)?;
            let orders: Vec<OrderId> = pending.iter().map(|place| place.order).collect();
            self.ask_all(project, provider, orders).await?;
            asked = asked.saturating_add(pending.len());
            if let Some(place) = pending.last() {
                // Of orders that expire together some may be on the next page.
                let reached = place.place().0;
                *first = Timestamp(reached.0.saturating_sub(1)).max(*first);
            }
            match pending.last() {
                Some(place) if pending.len() == PAGE => after = place.place(),
                _ => return Ok(asked),
            }
        }
    }

    async fn ask_all(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        orders: Vec<OrderId>,
    ) -> Result<(), Error> {
        each(orders, AT_ONCE, |order| {
            self.ask_one(project, provider, order)
        })
        .await
    }

    /// Asks about one order, unless it is settled.
    async fn ask_one(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        order: OrderId,
    ) -> Result<(), Error> {
        let known = match self.0.ground.handle.order(&project.scope, order).await {
            Ok(known) => known,
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let settled = match known.order.status() {
            OrderStatus::Pending | OrderStatus::Expired => false,
            OrderStatus::Paid | OrderStatus::Failed | OrderStatus::Refunded => true,
        };
        let checkout = known.order.checkout.filter(|_| !settled);
        let Some(checkout) = checkout else {
            return self.stop_awaiting(project, order).await;
        };
        let subject = Subject::Checkout(checkout);
        let fulfilment = &self.0.ground.fulfilment;
        match fulfilment.look(project, provider, &subject).await {
            Ok(Progress::Processing) => self.await_payment(project, order).await,
            Ok(Progress::Open | Progress::Settled) => self.stop_awaiting(project, order).await,
            // Of a provider that the project had before.
            Err(Error::Provider(port::Error::Missing(what))) => {
                tracing::warn!(%order, what, "The payment provider does not know an order's checkout; it is not asked about again");
                self.0.given_up.fetch_add(1, Ordering::Relaxed);
                self.stop_awaiting(project, order).await
            }
            Err(error) => Err(error),
        }
    }

    async fn ask_about_awaited(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        now: Timestamp,
    ) -> Result<(), Error> {
        let awaited = self.0.awaited.iter();
        let due = awaited.filter(|entry| {
            entry.value().project == project.project.id && entry.value().next <= now
        });
        let due: Vec<(OrderId, Timestamp)> =
            due.map(|entry| (*entry.key(), entry.value().end)).collect();
        let mut orders = Vec::new();
        for (order, end) in due {
            if end <= now {
                self.stop_awaiting(project, order).await?;
                continue;
            }
            if let Some(mut awaited) = self.0.awaited.get_mut(&order) {
                awaited.next = now.plus_seconds(AWAITED_EVERY_SECONDS);
            }
            orders.push(order);
        }
        self.ask_all(project, provider, orders).await
    }

    async fn await_payment(&self, project: &ProjectCatalog, order: OrderId) -> Result<(), Error> {
        if self.0.awaited.contains_key(&order) {
            return Ok(());
        }
        let now = self.0.ground.handle.now_in(&project.scope);
        let end = now.plus_seconds(AWAITED_SECONDS);
        let project = project.project.id;
        let note = Note::Awaited {
            project,
            order,
            until: end,
        };
        self.0.ground.handle.put_notes(vec![note.put()]).await?;
        let awaited = Awaited {
            project,
            next: now.plus_seconds(AWAITED_EVERY_SECONDS),
            end,
        };
        self.0.awaited.insert(order, awaited);
        Ok(())
    }

    async fn stop_awaiting(&self, project: &ProjectCatalog, order: OrderId) -> Result<(), Error> {
        if self.0.awaited.remove(&order).is_some() {
            let key = Key::Awaited(project.project.id, order);
            self.0.ground.handle.put_notes(vec![key.forget()]).await?;
        }
        Ok(())
    }
}
