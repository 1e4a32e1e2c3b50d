//! The daily reconciliation compares the provider's lists of charges, refunds and disputes with the orders,
//! independently of events. Every cent belongs to an order, an unfulfilled payment, or another product. The objects of
//! a differing item are fetched again; if it still differs, it is stored and shown.
//!
//! Lists are read page by page, as background work; matching items are not stored. An interrupted reconciliation starts
//! again.

mod attribution;
mod compare;
mod result;

use std::sync::Arc;

use actors::notes;
use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId, time::DAY_SECONDS};
use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use payments_port::{ProviderList, ProviderListItem};

use self::compare::{Attribution, compare_item};
pub use self::result::{CurrencySum, Difference, DifferenceKind, Reconciliation};
use crate::{
    Error, Payments, context::Context, note_kinds::ReconciliationNote,
    project_account::ProjectAccount,
};

/// How many days back the lists are read; a later event counts as lost.
pub const DAYS: i64 = 3;
/// The pause after a failed reconciliation.
const RETRY_SECONDS: i64 = 3600;
/// How long after the start a project's first reconciliation begins.
const FIRST_SECONDS: i64 = 3600;
/// How often open unfulfilled payments are checked again.
const RECHECK_INTERVAL_SECONDS: i64 = 3600;
/// Items compared concurrently: each may read a wallet.
const CONCURRENCY: usize = 16;

/// The reconciliations of all projects. Cheap to clone.
#[derive(Clone)]
pub struct Reconciliations(Arc<Inner>);

struct Inner {
    context: Context,
    projects: DashMap<ProjectId, ReconciliationState>,
}

#[derive(Debug, Clone, Default)]
struct ReconciliationState {
    last: Option<Reconciliation>,
    /// The running one's result so far.
    running: Option<Arc<Mutex<Reconciliation>>>,
    error: Option<String>,
    /// When the last one began, by Scrip's clock.
    began: Option<Timestamp>,
    rechecked: Option<Timestamp>,
}

/// The state of a project's reconciliations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct ReconciliationStatus {
    pub running: Option<Reconciliation>,
    pub last: Option<Reconciliation>,
    /// Why a later one failed.
    pub error: Option<String>,
}

impl Reconciliations {
    pub(crate) fn new(context: Context) -> Self {
        Self(Arc::new(Inner {
            context,
            projects: DashMap::new(),
        }))
    }

    pub(crate) fn restore(&self, project: ProjectId, result: Reconciliation) {
        let mut state = self.0.projects.entry(project).or_default();
        state.began = Some(Timestamp(result.began_at));
        state.last = Some(result);
    }

    /// The state of a project's reconciliations.
    pub fn status(&self, project: ProjectId) -> ReconciliationStatus {
        let state = self.0.projects.get(&project);
        let Some(state) = state.map(|state| state.clone()) else {
            return ReconciliationStatus::default();
        };
        ReconciliationStatus {
            running: state.running.map(|running| running.lock().clone()),
            last: state.last,
            error: state.error,
        }
    }

    /// The oldest end of all projects' last reconciliations, by Scrip's clock, and the sum of their differences.
    pub fn oldest(&self) -> (Option<Timestamp>, u64) {
        let (mut oldest, mut differences) = (None::<i64>, 0_u64);
        for state in &self.0.projects {
            if let Some(last) = &state.last {
                oldest = Some(oldest.map_or(last.ended_at, |oldest| oldest.min(last.ended_at)));
                differences = differences.saturating_add(last.differences);
            }
        }
        (oldest.map(Timestamp), differences)
    }

    /// Begins the daily reconciliation now, over the last [`DAYS`].
    /// # Errors
    /// The same as [`Reconciliations::begin`].
    pub fn begin_daily(&self, project: &Arc<ProjectCatalog>) -> Result<bool, Error> {
        let until = self.0.context.handle.now_in(&project.scope);
        let from = until.plus_seconds(DAYS.saturating_mul(DAY_SECONDS).saturating_neg());
        self.begin(project, from, until)
    }

    /// Begins a reconciliation of a span in the background. `false` if the project has a running one.
    /// # Errors
    /// [`Error::NotConfigured`], [`Error::Provider`] when there is no provider to ask.
    pub fn begin(
        &self,
        project: &Arc<ProjectCatalog>,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<bool, Error> {
        let id = project.project.id;
        let provider = self.0.context.providers.of(project)?.in_background();
        let handle = &self.0.context.handle;
        let running = Arc::new(Mutex::new(Reconciliation {
            from: from.0,
            until: until.0,
            began_at: handle.now().0,
            ..Reconciliation::default()
        }));
        {
            let mut state = self.0.projects.entry(id).or_default();
            if state.running.is_some() {
                return Ok(false);
            }
            state.running = Some(Arc::clone(&running));
            state.began = Some(handle.now());
        }
        let (reconciliations, project) = (self.clone(), Arc::clone(project));
        let ending = RunningGuard(self.clone(), id);
        tokio::spawn(async move {
            let _ending = ending;
            let account = ProjectAccount::new(&project, &*provider);
            reconciliations.run(account, &running).await;
        });
        Ok(true)
    }

    async fn run(&self, account: ProjectAccount<'_>, result: &Mutex<Reconciliation>) {
        let id = account.project.project.id;
        let ended = match self.read(account, result).await {
            Ok(()) => {
                result.lock().ended_at = self.0.context.handle.now().0;
                let ended = result.lock().clone();
                if !ended.adds_up() {
                    tracing::error!(project = %id, differences = ended.differences, "The payment provider's books and the orders do not add up");
                }
                let note = notes::put::<ReconciliationNote>(&id, &ended);
                let outcome = self.0.context.handle.put_notes(vec![note]).await;
                outcome.map(|()| ended).map_err(Error::from)
            }
            Err(error) => Err(error),
        };
        let mut state = self.0.projects.entry(id).or_default();
        match ended {
            Ok(ended) => (state.last, state.error) = (Some(ended), None),
            Err(error) => {
                tracing::warn!(%error, project = %id, "A reconciliation with the payment provider failed");
                state.error = Some(error.to_string());
            }
        }
    }

    async fn read(
        &self,
        account: ProjectAccount<'_>,
        result: &Mutex<Reconciliation>,
    ) -> Result<(), Error> {
        let (from, until) = {
            let result = result.lock();
            (Timestamp(result.from), Timestamp(result.until))
        };
        // Invoices first: their orders exist by the time their charges are compared.
        for list in [
            ProviderList::Bills,
            ProviderList::Charges,
            ProviderList::Refunds,
            ProviderList::Disputes,
        ] {
            let mut page = None;
            loop {
                let read = account.provider.list(list, from, until, page.as_deref());
                let entries = read.await?;
                let comparisons = stream::iter(entries.items)
                    .map(|entry| self.compare(account, list, entry, result));
                let mut comparisons = comparisons.buffer_unordered(CONCURRENCY);
                while let Some(outcome) = comparisons.next().await {
                    outcome?;
                }
                page = entries.next;
                if page.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn compare(
        &self,
        account: ProjectAccount<'_>,
        list: ProviderList,
        entry: ProviderListItem,
        result: &Mutex<Reconciliation>,
    ) -> Result<(), Error> {
        let mut attribution = self.attribution(account.project, &entry.charge).await?;
        if list == ProviderList::Bills && !matches!(attribution, Attribution::Ours(_)) {
            return Ok(());
        }
        let mut difference = compare_item(&entry, &attribution);
        let differed = difference.is_some();
        if differed {
            attribution = self.refetch(account, &entry).await?;
            difference = compare_item(&entry, &attribution);
        }
        let mut result = result.lock();
        match list {
            ProviderList::Charges => result.charges = result.charges.saturating_add(1),
            ProviderList::Refunds => result.refunds = result.refunds.saturating_add(1),
            ProviderList::Disputes => result.disputes = result.disputes.saturating_add(1),
            ProviderList::Bills => {}
        }
        if differed && difference.is_none() {
            result.mended = result.mended.saturating_add(1);
        }
        if list == ProviderList::Charges {
            result.add_charge(&entry.charge, &attribution, difference.is_some());
        }
        if let Some(difference) = difference {
            result.differs(difference);
        }
        Ok(())
    }

    /// Begins the work that is due for a project by now.
    pub(crate) async fn tick(&self, payments: &Payments, project: &Arc<ProjectCatalog>) {
        let id = project.project.id;
        let handle = &self.0.context.handle;
        let now = handle.now();
        let past =
            |at: Option<Timestamp>, seconds| at.is_none_or(|at| at.plus_seconds(seconds) <= now);
        let state = self.0.projects.get(&id).map(|state| state.clone());
        let state = state.unwrap_or_default();
        if past(state.rechecked, RECHECK_INTERVAL_SECONDS) {
            self.0.projects.entry(id).or_default().rechecked = Some(now);
            if let Err(error) = payments.recheck(project).await {
                tracing::warn!(%error, project = %id, "Unfulfilled payments could not be checked again");
            }
            // An unused permission would stay listed as missing, even if the key has it by now.
            if let Ok(provider) = self.0.context.providers.of(project)
                && let Err(error) = provider.in_background().retry_missing_permissions().await
            {
                tracing::warn!(%error, project = %id, "The missing permissions of the payment provider's key could not be tried again");
            }
        }
        let every = match state.error {
            Some(_) => RETRY_SECONDS,
            None => DAY_SECONDS,
        };
        if state.began.is_none() {
            let began = now.plus_seconds(FIRST_SECONDS.saturating_sub(DAY_SECONDS));
            self.0.projects.entry(id).or_default().began = Some(began);
        } else if past(state.began, every)
            && let Err(error) = self.begin_daily(project)
        {
            tracing::warn!(%error, project = %id, "A reconciliation with the payment provider could not be begun");
        }
    }
}

/// Allows the next reconciliation, however this one ends.
struct RunningGuard(Reconciliations, ProjectId);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        if let Some(mut state) = self.0.0.projects.get_mut(&self.1) {
            state.running = None;
        }
    }
}
