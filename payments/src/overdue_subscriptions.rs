//! Asks the provider about subscriptions whose periods ended more than a day ago without any event since, also
//! at the start. Where it no longer has them, or gives no answer at all for the days of grace, they lose their
//! features then, and not before.
//!
//! They are found by the ends of their periods, among subscriptions that have not ended. Each is asked about
//! once, and those that are still overdue once a day.

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
    text::SubscriptionId,
    wallet::{
        lapse::{LAPSES_AFTER_SECONDS, Lapse},
        purchase::Purchase,
    },
};
use futures_util::{StreamExt as _, stream};
use port::ObjectRef;

use super::{
    Inbox,
    context::Context,
    error::Error,
    sweep::{ProjectRun, Source},
};

/// How often the walk over all of them begins again.
const ANEW_SECONDS: i64 = 24 * 3600;
/// Ends of periods that are read from the books at once.
const PAGE: usize = 64;
/// Wallets that are asked for their overdue subscriptions concurrently.
const WALLETS_AT_ONCE: usize = 16;

/// A position in the look-up of periods by their ends.
type PeriodCursor = (Timestamp, u128);
type Overdue = (WalletKey, SubscriptionId);

pub(crate) struct OverdueSubscriptions {
    context: Context,
    inbox: Inbox,
    overdue: DashMap<ProjectId, Cursor>,
    missed: DashMap<ProjectId, Cursor>,
}

/// How far the walk over a project's overdue subscriptions has come.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    to: Option<PeriodCursor>,
    /// When the walk begins again.
    anew: Timestamp,
}

/// The position after the last page that was read, and whether that was the last one.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    to: Option<PeriodCursor>,
    is_over: bool,
}

impl OverdueSubscriptions {
    pub(crate) fn new(context: Context, inbox: Inbox) -> Self {
        Self {
            context,
            inbox,
            overdue: DashMap::new(),
            missed: DashMap::new(),
        }
    }

    /// Where the provider gave no answer at all for the days of grace, subscriptions that are overdue for as long
    /// lose their features.
    pub(crate) async fn miss(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let id = project.project.id;
        let grace = i64::from(project.project.subscription_grace_days).saturating_mul(24 * 3600);
        let grace = grace.max(LAPSES_AFTER_SECONDS);
        let silent = self.context.fulfilment.outages().since(id);
        if silent.is_none_or(|since| self.context.handle.now() < since.plus_seconds(grace)) {
            return Ok(());
        }
        let mut run = Pages::default();
        while let Some(overdue) = self.page(&self.missed, project, grace, &mut run).await? {
            for (wallet, subscription) in overdue {
                self.lapse(project, wallet, subscription).await?;
            }
            self.note(&self.missed, project, &run);
        }
        Ok(())
    }

    /// The next page, from the cursor on, of subscriptions whose periods ended at least `seconds` ago.
    async fn page(
        &self,
        cursors: &DashMap<ProjectId, Cursor>,
        project: &ProjectCatalog,
        seconds: i64,
        run: &mut Pages,
    ) -> Result<Option<Vec<Overdue>>, Error> {
        if run.is_over {
            return Ok(None);
        }
        let (handle, scope) = (&self.context.handle, &project.scope);
        let now = handle.now_in(scope);
        let until = now.plus_seconds(seconds.saturating_neg());
        let after = cursor(cursors, project, now).to;
        let ended = handle.periods_ended(scope, after, until, PAGE)?;
        run.to = ended.last().map(|end| end.place()).or(after);
        run.is_over = ended.len() < PAGE;
        let wallets: Vec<_> = ended
            .into_iter()
            .map(|end| self.of(project, end.wallet, until))
            .collect();
        let mut answers = stream::iter(wallets).buffered(WALLETS_AT_ONCE);
        let mut overdue = Vec::new();
        while let Some(of_wallet) = answers.next().await {
            overdue.extend(of_wallet?);
        }
        Ok(Some(overdue))
    }

    async fn of(
        &self,
        project: &ProjectCatalog,
        wallet: WalletKey,
        until: Timestamp,
    ) -> Result<Vec<Overdue>, Error> {
        let lapsed = self
            .context
            .handle
            .lapsed(&project.scope, wallet, until)
            .await?;
        Ok(lapsed.into_iter().map(|id| (wallet, id)).collect())
    }

    fn note(&self, cursors: &DashMap<ProjectId, Cursor>, project: &ProjectCatalog, run: &Pages) {
        let now = self.context.handle.now_in(&project.scope);
        let cursor = cursor(cursors, project, now);
        cursors.insert(
            project.project.id,
            Cursor {
                to: run.to,
                ..cursor
            },
        );
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

/// A project's cursor. A new day begins a new walk, and so does a clock that went back.
fn cursor(
    cursors: &DashMap<ProjectId, Cursor>,
    project: &ProjectCatalog,
    now: Timestamp,
) -> Cursor {
    let anew = now.plus_seconds(ANEW_SECONDS);
    let cursor = cursors.get(&project.project.id).map(|cursor| *cursor);
    let cursor = cursor.filter(|cursor| now < cursor.anew && cursor.anew <= anew);
    cursor.unwrap_or(Cursor { to: None, anew })
}

impl Source for OverdueSubscriptions {
    type Candidate = Overdue;
    type Run = Pages;

    const AT_ONCE: usize = 16;

    async fn next(
        &self,
        work: ProjectRun<'_>,
        run: &mut Pages,
    ) -> Result<Option<Vec<Overdue>>, Error> {
        self.page(&self.overdue, work.project, LAPSES_AFTER_SECONDS, run)
            .await
    }

    async fn look(&self, work: ProjectRun<'_>, (wallet, id): &Overdue) -> Result<(), Error> {
        let ProjectRun { project, provider } = work;
        let subject = ObjectRef::Subscription(id.clone());
        match self
            .context
            .fulfilment
            .look(project, provider, &subject)
            .await
        {
            // It was of a former account, or was deleted with the account's test data.
            Err(Error::Provider(port::Error::Missing(what))) => {
                tracing::warn!(
                    subscription = id.as_str(),
                    what,
                    "The payment provider has no such subscription; its features end"
                );
                self.context.give_up();
                self.lapse(project, *wallet, id.clone()).await
            }
            looked => looked.map(drop),
        }
    }

    async fn keep(
        &self,
        work: ProjectRun<'_>,
        (_, id): Overdue,
        error: Error,
    ) -> Result<(), Error> {
        let (project, subject) = (work.project.project.id, ObjectRef::Subscription(id));
        self.inbox.keep_subject(project, subject, &error).await
    }

    async fn advance(&self, work: ProjectRun<'_>, run: &mut Pages) -> Result<(), Error> {
        self.note(&self.overdue, work.project, run);
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.overdue.remove(&project);
        self.missed.remove(&project);
        Ok(())
    }
}
