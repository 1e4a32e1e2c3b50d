//! Asks the provider about overdue subscriptions: their period ended more than a day ago without an event. One loses
//! its features only after the grace period, and if the provider no longer has it or does not answer about it.
//!
//! They are found by the ends of their periods. Each is asked about once, also after a start, and again once a day
//! while it is overdue.

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
    text::SubscriptionId,
    wallet::{
        lapse::{LAPSE_DELAY_SECONDS, Lapse},
        purchase::Purchase,
    },
};
use futures_util::{StreamExt as _, stream};
use payments_port::ObjectRef;

use super::{
    Inbox, context::Context, error::Error, project_account::ProjectAccount, sweep::Source,
};

/// How often the walk over all of them begins again.
const RESTART_INTERVAL_SECONDS: i64 = 24 * 3600;
const PAGE_SIZE: usize = 64;
const WALLET_CONCURRENCY: usize = 16;

type PeriodCursor = (Timestamp, u128);
type Overdue = (WalletKey, SubscriptionId);

pub(crate) struct OverdueSubscriptions {
    context: Context,
    inbox: Inbox,
    /// The walks that ask the provider.
    overdue: DashMap<ProjectId, Cursor>,
    /// The walks that end features after an outage.
    unanswered: DashMap<ProjectId, Cursor>,
}

/// The progress of the walk over a project's overdue subscriptions.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    to: Option<PeriodCursor>,
    /// When the walk begins again.
    restart_at: Timestamp,
}

/// The progress of one run.
#[derive(Debug, Default)]
pub(crate) struct WalkProgress {
    /// The position after the last page that was read.
    to: Option<PeriodCursor>,
    /// Whether that was the last page.
    is_over: bool,
}

impl OverdueSubscriptions {
    pub(crate) fn new(context: Context, inbox: Inbox) -> Self {
        Self {
            context,
            inbox,
            overdue: DashMap::new(),
            unanswered: DashMap::new(),
        }
    }

    /// Ends the features of subscriptions overdue for longer than the grace period, if the provider has been silent for
    /// as long.
    pub(crate) async fn lapse_unanswered(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let id = project.project.id;
        let days = i64::from(project.project.subscription_grace_days);
        let grace = days.saturating_mul(24 * 3600).max(LAPSE_DELAY_SECONDS);
        let outage = self.context.fulfilment.outages().since(id);
        if outage.is_none_or(|since| self.context.handle.now() < since.plus_seconds(grace)) {
            return Ok(());
        }
        let mut run = WalkProgress::default();
        while let Some(overdue) = self
            .page(&self.unanswered, project, grace, &mut run)
            .await?
        {
            for (wallet, subscription) in overdue {
                self.lapse(project, wallet, subscription).await?;
            }
            self.note(&self.unanswered, project, &run);
        }
        Ok(())
    }

    /// The next page, from the cursor on, of subscriptions whose periods ended at least `seconds` ago.
    async fn page(
        &self,
        cursors: &DashMap<ProjectId, Cursor>,
        project: &ProjectCatalog,
        seconds: i64,
        run: &mut WalkProgress,
    ) -> Result<Option<Vec<Overdue>>, Error> {
        if run.is_over {
            return Ok(None);
        }
        let (handle, scope) = (&self.context.handle, &project.scope);
        let now = handle.now_in(scope);
        let until = now.plus_seconds(seconds.saturating_neg());
        let after = cursor(cursors, project, now).to;
        let ended = handle.periods_ended(scope, after, until, PAGE_SIZE)?;
        run.to = ended.last().map(|end| end.place()).or(after);
        run.is_over = ended.len() < PAGE_SIZE;
        let questions: Vec<_> = ended
            .into_iter()
            .map(|end| self.overdue_of(project, end.wallet, until))
            .collect();
        let mut answers = stream::iter(questions).buffered(WALLET_CONCURRENCY);
        let mut overdue = Vec::new();
        while let Some(of_wallet) = answers.next().await {
            overdue.extend(of_wallet?);
        }
        Ok(Some(overdue))
    }

    async fn overdue_of(
        &self,
        project: &ProjectCatalog,
        wallet: WalletKey,
        until: Timestamp,
    ) -> Result<Vec<Overdue>, Error> {
        let handle = &self.context.handle;
        let lapsed = handle.lapsed(&project.scope, wallet, until).await?;
        Ok(lapsed.into_iter().map(|id| (wallet, id)).collect())
    }

    fn note(
        &self,
        cursors: &DashMap<ProjectId, Cursor>,
        project: &ProjectCatalog,
        run: &WalkProgress,
    ) {
        let now = self.context.handle.now_in(&project.scope);
        let mut cursor = cursor(cursors, project, now);
        cursor.to = run.to;
        cursors.insert(project.project.id, cursor);
    }

    async fn lapse(
        &self,
        project: &ProjectCatalog,
        wallet: WalletKey,
        subscription: SubscriptionId,
    ) -> Result<(), Error> {
        let lapse = Purchase::Lapse(Lapse {
            subscription,
            grace_days: project.project.subscription_grace_days,
        });
        let handle = &self.context.handle;
        handle.report(&project.scope, wallet, lapse).await?;
        Ok(())
    }
}

/// A project's cursor. A new day or a clock that went back begins a new walk.
fn cursor(
    cursors: &DashMap<ProjectId, Cursor>,
    project: &ProjectCatalog,
    now: Timestamp,
) -> Cursor {
    let restart_at = now.plus_seconds(RESTART_INTERVAL_SECONDS);
    let is_current = |cursor: &Cursor| now < cursor.restart_at && cursor.restart_at <= restart_at;
    let cursor = cursors.get(&project.project.id).map(|cursor| *cursor);
    cursor.filter(is_current).unwrap_or(Cursor {
        to: None,
        restart_at,
    })
}

impl Source for OverdueSubscriptions {
    type Candidate = Overdue;
    type Run = WalkProgress;

    const CONCURRENCY: usize = 16;
    /// In the next day's walk.
    const REPEATS: bool = true;

    async fn next(
        &self,
        account: ProjectAccount<'_>,
        run: &mut WalkProgress,
    ) -> Result<Option<Vec<Overdue>>, Error> {
        self.page(&self.overdue, account.project, LAPSE_DELAY_SECONDS, run)
            .await
    }

    async fn refresh(
        &self,
        account: ProjectAccount<'_>,
        (wallet, id): &Overdue,
    ) -> Result<(), Error> {
        let subject = ObjectRef::Subscription(id.clone());
        let fulfilment = &self.context.fulfilment;
        match fulfilment.refresh(account, &subject).await {
            // It belonged to a former account, or was deleted with test data.
            Err(Error::Provider(payments_port::Error::Missing(what))) => {
                tracing::warn!(
                    subscription = id.as_str(),
                    what,
                    "The payment provider has no such subscription; its features end"
                );
                self.context.count_missing();
                self.lapse(account.project, *wallet, id.clone()).await
            }
            Err(error) if error.is_unanswered() => {
                self.lapse(account.project, *wallet, id.clone()).await?;
                Err(error)
            }
            refreshed => refreshed.map(drop),
        }
    }

    async fn store(
        &self,
        account: ProjectAccount<'_>,
        (_, id): Overdue,
        error: Error,
    ) -> Result<(), Error> {
        let (project, subject) = (account.project.project.id, ObjectRef::Subscription(id));
        self.inbox.store_subject(project, subject, &error).await
    }

    async fn advance(
        &self,
        account: ProjectAccount<'_>,
        run: &mut WalkProgress,
    ) -> Result<(), Error> {
        self.note(&self.overdue, account.project, run);
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.overdue.remove(&project);
        self.unanswered.remove(&project);
        Ok(())
    }
}
