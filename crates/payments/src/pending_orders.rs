//! Asks the provider about orders that stay pending, so that a lost event loses no payment: ten minutes and two hours
//! after the buyer was sent off, and shortly before the order expires. A processing payment is followed by a stored
//! event until it succeeds or fails.
//!
//! Orders are found by expiry, so that only due ones are read. The progress is not stored: after a start each order is
//! asked about once.

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, OrderSerial, ProjectId},
    text::CheckoutId,
    wallet::{OrderStatus, place_order::PENDING_SECONDS},
};
use payments_port::ObjectRef;

use super::{
    Inbox,
    context::Context,
    error::Error,
    fulfilment::CheckoutProgress,
    project_account::ProjectAccount,
    sweep::{Source, Sweep},
};

/// How long before its expiry an order is asked about, latest stage first.
const SECONDS_BEFORE_EXPIRY: [i64; 3] = [45, PENDING_SECONDS - 2 * 3600, PENDING_SECONDS - 600];
/// How far back the first walk begins, to include every pending order.
const FIRST_SECONDS: i64 = PENDING_SECONDS + 3600;
const PAGE_SIZE: usize = 64;

/// The sweep over orders that stay pending.
pub type PendingOrderSweep = Sweep<PendingOrders>;

/// The source of that sweep: each project's walk over its pending orders.
pub struct PendingOrders {
    context: Context,
    inbox: Inbox,
    projects: DashMap<ProjectId, Walk>,
}

/// One walk over a project's pending orders, by the time at which they expire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    /// When the last finished walk began.
    from: Timestamp,
    /// When this walk began.
    to: Timestamp,
    /// How many stages of [`SECONDS_BEFORE_EXPIRY`] are done.
    stages: usize,
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

    /// The unfinished walk, or a new one. A clock that went back, as after the sandbox, begins a new walk.
    fn walk(&self, project: ProjectId, now: Timestamp) -> Walk {
        let walk = self.projects.get(&project).map(|walk| *walk);
        match walk.filter(|walk| walk.to <= now) {
            Some(walk) if walk.after.is_some() => walk,
            ended => Walk {
                from: ended.map_or(now.plus_seconds(-FIRST_SECONDS), |walk| walk.from),
                to: now,
                stages: 0,
                after: None,
            },
        }
    }

    /// Orders due before this instant may be expired: the sweep has asked about them.
    pub(crate) fn expire_until(&self, project: &ProjectCatalog) -> Timestamp {
        let now = self.context.handle.now_in(&project.scope);
        if !project.has_provider() {
            return now;
        }
        let from = self.walk(project.project.id, now).from;
        from.plus_seconds(SECONDS_BEFORE_EXPIRY[0]).min(now)
    }

    /// The checkout that an order waits for; `None` if its outcome is known.
    async fn checkout(
        &self,
        account: ProjectAccount<'_>,
        order: OrderId,
    ) -> Result<Option<CheckoutId>, Error> {
        let order = match self
            .context
            .handle
            .order(&account.project.scope, order)
            .await
        {
            Ok(answer) => answer.order,
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(match order.status() {
            OrderStatus::Pending | OrderStatus::Expired => order.checkout,
            OrderStatus::Paid | OrderStatus::Failed | OrderStatus::Refunded => None,
        })
    }
}

impl Source for PendingOrders {
    type Candidate = OrderId;
    type Run = Option<Walk>;

    const CONCURRENCY: usize = 16;

    async fn next(
        &self,
        account: ProjectAccount<'_>,
        run: &mut Option<Walk>,
    ) -> Result<Option<Vec<OrderId>>, Error> {
        let (handle, scope) = (&self.context.handle, &account.project.scope);
        let id = account.project.project.id;
        let walk = run.get_or_insert_with(|| self.walk(id, handle.now_in(scope)));
        while let Some(before) = SECONDS_BEFORE_EXPIRY.get(walk.stages) {
            let first = (walk.from.plus_seconds(*before), OrderSerial(u128::MAX));
            let after = walk.after.map_or(first, |after| after.max(first));
            let until = walk.to.plus_seconds(*before);
            let pending = handle.pending(scope, Some(after), until, PAGE_SIZE)?;
            if let Some(last) = pending.last() {
                walk.after = Some(last.place());
                return Ok(Some(pending.iter().map(|place| place.order).collect()));
            }
            walk.stages = walk.stages.saturating_add(1);
        }
        let ended = Walk {
            from: walk.to,
            stages: 0,
            after: None,
            ..*walk
        };
        self.projects.insert(id, ended);
        Ok(None)
    }

    async fn refresh(&self, account: ProjectAccount<'_>, order: &OrderId) -> Result<(), Error> {
        let Some(checkout) = self.checkout(account, *order).await? else {
            return Ok(());
        };
        let subject = ObjectRef::Checkout(checkout);
        let fulfilment = &self.context.fulfilment;
        match fulfilment.refresh(account, &subject).await {
            Ok(CheckoutProgress::Processing) => Err(Error::PaymentProcessing),
            // It was opened at the project's former provider.
            Err(Error::Provider(payments_port::Error::Missing(what))) => {
                tracing::warn!(%order, what, "The payment provider does not have an order's checkout; it is not asked about again");
                self.context.count_missing();
                Ok(())
            }
            refreshed => refreshed.map(drop),
        }
    }

    async fn store(
        &self,
        account: ProjectAccount<'_>,
        order: OrderId,
        error: Error,
    ) -> Result<(), Error> {
        let Some(checkout) = self.checkout(account, order).await? else {
            return Ok(());
        };
        let (project, subject) = (account.project.project.id, ObjectRef::Checkout(checkout));
        self.inbox.store_subject(project, subject, &error).await
    }

    async fn advance(
        &self,
        account: ProjectAccount<'_>,
        run: &mut Option<Walk>,
    ) -> Result<(), Error> {
        if let Some(walk) = *run {
            self.projects.insert(account.project.project.id, walk);
        }
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.projects.remove(&project);
        Ok(())
    }
}
