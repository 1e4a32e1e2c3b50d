//! Asking about orders that stay pending, so that a lost report loses no payment: some minutes after
//! the buyer was sent off, some hours, and shortly before the order expires. Where the buyer is done and the
//! money is on its way, it is a stored event's to be asked about until the money came or will not.
//!
//! Orders are found in the books by the time at which they expire: each is looked at once for each
//! age, and no other one on the way. How far that came is not kept: after a start each is asked about once.

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Rejection, Timestamp,
    catalog::Account,
    id::{OrderId, OrderSerial, ProjectId},
    text::CheckoutId,
    wallet::{OrderStatus, place_order::PENDING_SECONDS},
};
use port::ObjectRef;

use super::{
    Context, Error, Inbox,
    fulfilment::Progress,
    sweep::{Source, Sweep, Work},
};

/// So long before they expire orders are asked about, in seconds, the next to expire first.
const BEFORE_THEY_EXPIRE: [i64; 3] = [45, PENDING_SECONDS - 2 * 3600, PENDING_SECONDS - 600];
/// The first going-over asks about everything that may still be pending.
const FIRST_SECONDS: i64 = PENDING_SECONDS + 3600;
/// Orders read from the books at once.
const PAGE: usize = 64;

/// Asks about orders that stay pending.
pub type Reconciler = Sweep<PendingOrders>;

/// See the module.
pub struct PendingOrders {
    context: Context,
    inbox: Inbox,
    projects: DashMap<ProjectId, Walk>,
}

/// A going-over of a project's: by when they expire, and each once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    /// When the one before it began, which came to its end.
    from: Timestamp,
    /// When this one did.
    to: Timestamp,
    /// Ages that are done.
    done: usize,
    /// The last order that was asked about.
    after: Option<(Timestamp, OrderSerial)>,
}

impl PendingOrders {
    pub(crate) fn new(context: Context, inbox: Inbox) -> Self {
        Self {
            context,
            inbox,
            projects: DashMap::new(),
        }
    }

    /// The one that was not ended, or a new one. A clock that went back (the sandbox's was left for Stripe's)
    /// begins anew.
    fn walk(&self, project: ProjectId, now: Timestamp) -> Walk {
        let known = self.projects.get(&project).map(|known| *known);
        match known.filter(|known| known.to <= now) {
            Some(begun) if begun.after.is_some() => begun,
            known => Walk {
                from: known.map_or(now.plus_seconds(-FIRST_SECONDS), |known| known.from),
                to: now,
                done: 0,
                after: None,
            },
        }
    }

    /// Until when overdue orders may be expired: those that are about to be asked about are not.
    pub(crate) fn expire_until(&self, project: &ProjectCatalog) -> Timestamp {
        let now = self.context.handle.now_in(&project.scope);
        let account = project.provider().map(|provider| &provider.account);
        if account.is_none_or(|account| *account == Account::None) {
            return now;
        }
        let asked = self.walk(project.project.id, now).from;
        asked.plus_seconds(BEFORE_THEY_EXPIRE[0]).min(now)
    }

    /// What an order waits for, unless it is settled.
    async fn checkout(&self, work: Work<'_>, order: OrderId) -> Result<Option<CheckoutId>, Error> {
        let known = match self.context.handle.order(&work.project.scope, order).await {
            Ok(known) => known.order,
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(match known.status() {
            OrderStatus::Pending | OrderStatus::Expired => known.checkout,
            OrderStatus::Paid | OrderStatus::Failed | OrderStatus::Refunded => None,
        })
    }
}

impl Source for PendingOrders {
    type Candidate = OrderId;
    type Run = Option<Walk>;

    const AT_ONCE: usize = 16;

    async fn next(
        &self,
        work: Work<'_>,
        run: &mut Option<Walk>,
    ) -> Result<Option<Vec<OrderId>>, Error> {
        let (handle, scope) = (&self.context.handle, &work.project.scope);
        let id = work.project.project.id;
        let walk = run.get_or_insert_with(|| self.walk(id, handle.now_in(scope)));
        while let Some(before) = BEFORE_THEY_EXPIRE.get(walk.done) {
            let first = (walk.from.plus_seconds(*before), OrderSerial(u128::MAX));
            let after = walk.after.map_or(first, |after| after.max(first));
            let until = walk.to.plus_seconds(*before);
            let pending = handle.pending(scope, Some(after), until, PAGE)?;
            if let Some(last) = pending.last() {
                walk.after = Some(last.place());
                return Ok(Some(pending.iter().map(|place| place.order).collect()));
            }
            walk.done = walk.done.saturating_add(1);
        }
        let ended = Walk {
            from: walk.to,
            done: 0,
            after: None,
            ..*walk
        };
        self.projects.insert(id, ended);
        Ok(None)
    }

    async fn look(&self, work: Work<'_>, order: &OrderId) -> Result<(), Error> {
        let Some(checkout) = self.checkout(work, *order).await? else {
            return Ok(());
        };
        let subject = ObjectRef::Checkout(checkout);
        let fulfilment = &self.context.fulfilment;
        match fulfilment.look(work.project, work.provider, &subject).await {
            Ok(Progress::Processing) => Err(Error::OnItsWay),
            // Of a provider that the project had before.
            Err(Error::Provider(port::Error::Missing(what))) => {
                tracing::warn!(%order, what, "The payment provider does not know an order's checkout; it is not asked about again");
                self.context.give_up();
                Ok(())
            }
            looked => looked.map(drop),
        }
    }

    async fn keep(&self, work: Work<'_>, order: OrderId, error: Error) -> Result<(), Error> {
        let Some(checkout) = self.checkout(work, order).await? else {
            return Ok(());
        };
        let (project, subject) = (work.project.project.id, ObjectRef::Checkout(checkout));
        self.inbox.keep_subject(project, subject, &error).await
    }

    async fn advance(&self, work: Work<'_>, run: &mut Option<Walk>) -> Result<(), Error> {
        if let Some(walk) = *run {
            self.projects.insert(work.project.project.id, walk);
        }
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.projects.remove(&project);
        Ok(())
    }
}
