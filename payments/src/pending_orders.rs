//! Asking about orders that stay pending, so that a lost report loses no payment: some minutes after
//! the buyer was sent off, some hours, and shortly before the order expires. Where the buyer is done and the
//! money is on its way, it is asked about until the money came or will not.
//!
//! Orders are found in the books by the time at which they expire: each is looked at once for each
//! age, and no other one on the way.

use std::sync::atomic::{AtomicU64, Ordering};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Rejection, Timestamp,
    catalog::Account,
    id::{OrderId, OrderSerial, ProjectId},
    text::CheckoutId,
    wallet::{OrderStatus, place_order::PENDING_SECONDS},
};
use port::Subject;

use super::{
    Error, Ground, Inbox,
    fulfilment::Progress,
    notes::{self, Key, Note, Reached},
    sweep::{Source, Sweep, Work},
};

/// Ages at which an order is asked about, in seconds, the last one before it expires.
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

/// Asks about orders that stay pending.
pub type Reconciler = Sweep<PendingOrders>;

/// See the module.
pub struct PendingOrders {
    ground: Ground,
    inbox: Inbox,
    projects: DashMap<ProjectId, Cursor>,
    awaited: DashMap<OrderId, Awaited>,
    /// Orders whose checkout the provider does not know.
    given_up: AtomicU64,
}

/// How far a project's were gone over.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// For each age, the instant at which orders of that age were asked about last.
    to: Reached,
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

/// One going-over: the ages one after the other, then what is awaited.
#[derive(Debug, Default)]
pub(crate) struct Ages {
    /// The oldest first: they are the next to expire.
    done: usize,
    /// The last order of the page.
    after: Option<(Timestamp, OrderSerial)>,
}

impl PendingOrders {
    pub(crate) fn new(ground: Ground, inbox: Inbox) -> Self {
        Self {
            ground,
            inbox,
            projects: DashMap::new(),
            awaited: DashMap::new(),
            given_up: AtomicU64::new(0),
        }
    }

    /// Orders since the start whose checkout the provider does not know.
    pub(crate) fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Takes up how far asking had come.
    pub(crate) fn restore_reached(&self, project: ProjectId, to: Reached) {
        let noted = to.into_iter().max().unwrap_or_default();
        let asked = false;
        self.projects.insert(project, Cursor { to, noted, asked });
    }

    /// Takes up an order whose session is complete and not paid yet; it is asked about at once.
    pub(crate) fn restore_awaited(&self, project: ProjectId, order: OrderId, end: Timestamp) {
        let next = Timestamp(i64::MIN);
        self.awaited.insert(order, Awaited { project, next, end });
    }

    /// A clock that went back (the sandbox's was left for Stripe's) begins anew.
    fn cursor(&self, project: ProjectId, now: Timestamp) -> Cursor {
        let first = now.plus_seconds(-FIRST_SECONDS);
        let known = self.projects.get(&project).map(|known| *known);
        let known = known.unwrap_or(Cursor {
            to: [first; AGES.len()],
            noted: Timestamp(i64::MIN),
            asked: false,
        });
        Cursor {
            to: known.to.map(|to| if to > now { first } else { to }),
            noted: known.noted.min(now),
            ..known
        }
    }

    /// Until when overdue orders may be expired: those that are about to be asked about are not.
    pub(crate) fn expire_until(&self, project: &ProjectCatalog) -> Timestamp {
        let now = self.ground.handle.now_in(&project.scope);
        if project
            .provider()
            .is_none_or(|p| p.account == Account::None)
        {
            return now;
        }
        let cursor = self.cursor(project.project.id, now);
        let oldest = cursor.to.last().copied().unwrap_or(now);
        let until_due = PENDING_SECONDS.saturating_sub(AGES.last().copied().unwrap_or_default());
        oldest.plus_seconds(until_due).min(now)
    }

    /// What an order waits for, unless it is settled.
    async fn checkout(&self, work: Work<'_>, order: OrderId) -> Result<Option<CheckoutId>, Error> {
        let known = match self.ground.handle.order(&work.project.scope, order).await {
            Ok(known) => known.order,
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(match known.status() {
            OrderStatus::Pending | OrderStatus::Expired => known.checkout,
            OrderStatus::Paid | OrderStatus::Failed | OrderStatus::Refunded => None,
        })
    }

    /// Those whose hour is over. Those whose time is, are asked about no more.
    async fn awaited(&self, work: Work<'_>, now: Timestamp) -> Result<Vec<OrderId>, Error> {
        let id = work.project.project.id;
        let due = self.awaited.iter();
        let due = due.filter(|entry| entry.project == id && entry.next <= now);
        let due: Vec<(OrderId, Timestamp)> = due.map(|entry| (*entry.key(), entry.end)).collect();
        let mut orders = Vec::new();
        for (order, end) in due {
            if end <= now {
                self.stop_awaiting(work, order).await?;
                continue;
            }
            if let Some(mut awaited) = self.awaited.get_mut(&order) {
                awaited.next = now.plus_seconds(AWAITED_EVERY_SECONDS);
            }
            orders.push(order);
        }
        Ok(orders)
    }

    async fn await_payment(&self, work: Work<'_>, order: OrderId) -> Result<(), Error> {
        if self.awaited.contains_key(&order) {
            return Ok(());
        }
        let now = self.ground.handle.now_in(&work.project.scope);
        let (project, end) = (work.project.project.id, now.plus_seconds(AWAITED_SECONDS));
        let note = Note::Awaited {
            project,
            order,
            until: end,
        };
        self.ground.handle.put_notes(vec![note.put()]).await?;
        let next = now.plus_seconds(AWAITED_EVERY_SECONDS);
        self.awaited.insert(order, Awaited { project, next, end });
        Ok(())
    }

    async fn stop_awaiting(&self, work: Work<'_>, order: OrderId) -> Result<(), Error> {
        if self.awaited.remove(&order).is_some() {
            let key = Key::Awaited(work.project.project.id, order);
            self.ground.handle.put_notes(vec![key.forget()]).await?;
        }
        Ok(())
    }
}

impl Source for PendingOrders {
    type Candidate = OrderId;
    type Run = Ages;

    const AT_ONCE: usize = 16;

    async fn next(&self, work: Work<'_>, run: &mut Ages) -> Result<Option<Vec<OrderId>>, Error> {
        let handle = &self.ground.handle;
        let (id, scope) = (work.project.project.id, &work.project.scope);
        let now = handle.now_in(scope);
        while let Some(place) = AGES.len().checked_sub(run.done.saturating_add(1)) {
            let mut cursor = self.cursor(id, now);
            let (Some(age), Some(to)) = (AGES.get(place), cursor.to.get_mut(place)) else {
                break;
            };
            let until_due = PENDING_SECONDS.saturating_sub(*age);
            let first = (to.plus_seconds(until_due), OrderSerial(u128::MAX));
            let after = run.after.unwrap_or(first);
            let pending = handle.pending(scope, Some(after), now.plus_seconds(until_due), PAGE)?;
            run.after = pending.last().map(|last| last.place());
            if run.after.is_some() {
                return Ok(Some(pending.iter().map(|place| place.order).collect()));
            }
            *to = now;
            self.projects.insert(id, cursor);
            run.done = run.done.saturating_add(1);
        }
        if run.done > AGES.len() {
            return Ok(None);
        }
        let awaited = self.awaited(work, now).await?;
        Ok(Some(awaited))
    }

    async fn look(&self, work: Work<'_>, order: &OrderId) -> Result<(), Error> {
        let order = *order;
        let Some(checkout) = self.checkout(work, order).await? else {
            return self.stop_awaiting(work, order).await;
        };
        let subject = Subject::Checkout(checkout);
        let Work { project, provider } = work;
        match self
            .ground
            .fulfilment
            .look(project, provider, &subject)
            .await
        {
            Ok(Progress::Processing) => self.await_payment(work, order).await,
            Ok(Progress::Open | Progress::Settled) => self.stop_awaiting(work, order).await,
            // Of a provider that the project had before.
            Err(Error::Provider(port::Error::Missing(what))) => {
                tracing::warn!(%order, what, "The payment provider does not know an order's checkout; it is not asked about again");
                self.given_up.fetch_add(1, Ordering::Relaxed);
                self.stop_awaiting(work, order).await
            }
            Err(error) => Err(error),
        }
    }

    async fn keep(&self, work: Work<'_>, order: OrderId, error: Error) -> Result<(), Error> {
        let Some(checkout) = self.checkout(work, order).await? else {
            return Ok(());
        };
        let name = checkout.as_str().to_owned();
        let subject = (name.as_str(), Subject::Checkout(checkout));
        let project = work.project.project.id;
        self.inbox.keep_subject(project, subject, &error).await
    }

    async fn advance(&self, work: Work<'_>, run: &mut Ages) -> Result<(), Error> {
        let (id, now) = (
            work.project.project.id,
            self.ground.handle.now_in(&work.project.scope),
        );
        let mut cursor = self.cursor(id, now);
        let Some(place) = AGES.len().checked_sub(run.done.saturating_add(1)) else {
            // All of it is done.
            run.done = run.done.saturating_add(1);
            // Where nothing was asked, a restart asks about the same nothing again.
            let since_noted = now.0.saturating_sub(cursor.noted.0);
            if cursor.asked && since_noted >= NOTE_EVERY_SECONDS.saturating_mul(1000) {
                (cursor.noted, cursor.asked) = (now, false);
                let (project, to) = (id, cursor.to);
                let note = Note::Reached { project, to };
                self.ground.handle.put_notes(vec![note.put()]).await?;
                self.projects.insert(id, cursor);
            }
            return Ok(());
        };
        cursor.asked = true;
        if let (Some((last, _)), Some(age), Some(to)) =
            (run.after, AGES.get(place), cursor.to.get_mut(place))
        {
            let until_due = PENDING_SECONDS.saturating_sub(*age);
            // Of orders that expire together some may be on the next page.
            let reached = last.plus_seconds(until_due.saturating_neg());
            *to = Timestamp(reached.0.saturating_sub(1)).max(*to);
        }
        self.projects.insert(id, cursor);
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.projects.remove(&project);
        let mut keys = vec![Key::Reached(project)];
        self.awaited.retain(|order, awaited| {
            let stays = awaited.project != project;
            if !stays {
                keys.push(Key::Awaited(project, *order));
            }
            stays
        });
        let forgotten = keys.iter().map(Key::forget);
        notes::put_all(&self.ground.handle, forgotten).await?;
        Ok(())
    }
}
