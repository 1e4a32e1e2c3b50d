//! Ends what belongs to a project's former provider: pending orders expire, subscriptions are canceled, stored events are
//! forgotten. The next provider is not called until that is done, so that no old subscription is taken for one of its own.
//!
//! The catalog's document of the next provider also marks the former one as being left. After a crash the work starts
//! again; what has ended is skipped.

use std::collections::HashSet;

use catalog::ProjectCatalog;
use domain::id::{ProjectId, WalletKey};
use futures_util::{StreamExt as _, stream};

use super::{Error, Payments, failpoint};

/// Orders read at once, to bound memory for a project with a hundred thousand subscriptions.
const PAGE_SIZE: usize = 256;
/// Wallets handled concurrently: each waits for a sync, which all share.
const CONCURRENCY: usize = 64;

impl Payments {
    /// Ends all orders and subscriptions of a project's former provider, if it is being left.
    /// # Errors
    /// [`Error`] when a wallet, the journal or the catalog fails; a later call starts again.
    pub async fn end_former_provider(&self, project: ProjectId) -> Result<(), Error> {
        // One at a time for each project.
        let _turn = self.0.leaving.take(&project.to_string()).await;
        let context = &self.0.context;
        let current = context.epochs.current(project)?;
        if !current.epoch().leaving {
            return Ok(());
        }
        // No work begins any more: this waits for what is under way.
        context.epochs.drained(project).await;
        // The sweeps forget the project first, so that they request nothing that is being ended.
        self.0.backlog.forget(project).await?;
        self.0.pending_orders.forget(project).await?;
        self.0.overdue.forget(project).await?;
        self.0.event_poller.forget(project).await?;
        let ended = self.end_all(&current).await?;
        context.providers.forget(project).await?;
        let epoch = current.epoch().number;
        let left = (context.catalog).finish_leaving_provider(project, epoch);
        left.await.map_err(|error| {
            tracing::error!(%error, %project, "The end of a payment provider's change could not be stored");
            Error::Wallet(actors::Error::Unavailable)
        })?;
        tracing::warn!(%project, ended, "The pending orders and subscriptions of the former payment provider were ended here. At the provider they go on until somebody ends them there");
        Ok(())
    }

    /// Visits every wallet that ever had an order: only those can have a pending order or a subscription. Returns how
    /// many were ended.
    async fn end_all(&self, project: &ProjectCatalog) -> Result<usize, Error> {
        let handle = &self.0.context.handle;
        let scope = &project.scope;
        let mut ended: usize = 0;
        let mut before = None;
        loop {
            let page = handle.order_positions(scope, before, PAGE_SIZE)?;
            let wallets: HashSet<WalletKey> = page.iter().map(|place| place.order.wallet).collect();
            let calls = wallets.into_iter().map(|key| handle.leave(scope, key));
            let mut calls = stream::iter(calls).buffer_unordered(CONCURRENCY);
            while let Some(outcome) = calls.next().await {
                match outcome {
                    Ok(of_wallet) => ended = ended.saturating_add(of_wallet),
                    // The order was never logged.
                    Err(actors::Error::Rejected(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            failpoint::reached("leaving.page");
            match page.last() {
                Some(last) if page.len() == PAGE_SIZE => before = Some(last.place()),
                _ => return Ok(ended),
            }
        }
    }
}
