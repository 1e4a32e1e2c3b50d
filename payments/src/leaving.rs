//! The end of what was begun with a provider that a project no longer has: pending orders expire,
//! subscriptions are canceled, what was to be asked of it is forgotten. Nothing is asked of the next one
//! until all of it is done, so that no old subscription is taken for one of its own.
//!
//! The catalog says that a provider is being left, in the very document that names the next one. So a
//! process that dies in the middle begins again where it started: what has ended stays ended, and is
//! passed over.

use std::collections::HashSet;

use catalog::ProjectCatalog;
use domain::id::{ProjectId, WalletKey};
use futures_util::{StreamExt as _, stream};

use super::{Error, Payments, failpoint};

/// Orders whose wallets are looked at before the next ones are read: what is in memory of a project
/// with a hundred thousand subscriptions.
const PAGE: usize = 256;
/// Each waits for a sync, which all of them share.
const AT_ONCE: usize = 64;

/// What was ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ended {
    orders: usize,
    subscriptions: usize,
}

impl Payments {
    /// Finishes with the provider that a project had before, if there is anything to finish.
    ///
    /// # Errors
    ///
    /// See [`Error`]; it goes on with the next round.
    pub async fn finish_leaving(&self, project: ProjectId) -> Result<(), Error> {
        // One at a time for each project: two would only do the same.
        let _turn = self.0.leaving.take(&project.to_string()).await;
        let context = &self.0.context;
        let known = context.catalog.project(project);
        let known = known.map_err(|_| Error::Defect("its project is gone"))?;
        if !known.tenure().leaving {
            return Ok(());
        }
        context.tenures.settled(project).await;
        // Before its wallets are looked at: nothing of it is to be asked about any more.
        self.0.backlog.forget(project).await?;
        self.0.reconciler.forget(project).await?;
        self.0.overdue.forget(project).await?;
        self.0.event_poller.forget(project).await?;
        let ended = self.end_all(&known).await?;
        context.providers.forget(project).await?;
        let tenure = known.tenure().number;
        let left = context.catalog.provider_left(project, tenure).await;
        left.map_err(|error| {
            tracing::error!(%error, %project, "That a payment provider was left could not be kept");
            Error::Wallet(actors::Error::Unavailable)
        })?;
        let Ended {
            orders,
            subscriptions,
        } = ended;
        tracing::warn!(%project, orders, subscriptions, "The former payment provider is left: its pending orders and subscriptions have ended here. There they go on until somebody ends them");
        Ok(())
    }

    /// All wallets that ever had an order: whichever still has something open, was in none but those.
    async fn end_all(&self, project: &ProjectCatalog) -> Result<Ended, Error> {
        let handle = &self.0.context.handle;
        let scope = &project.scope;
        let (mut ended, mut before) = (Ended::default(), None);
        loop {
            let page = handle.placed(scope, before, PAGE)?;
            let wallets: HashSet<WalletKey> = page.iter().map(|place| place.order.wallet).collect();
            let each = wallets.into_iter().map(|key| handle.leave(scope, key));
            let mut each = stream::iter(each).buffer_unordered(AT_ONCE);
            while let Some(left) = each.next().await {
                match left {
                    Ok(left) => {
                        ended.orders = ended.orders.saturating_add(left.orders);
                        let subscriptions = left.subscriptions;
                        ended.subscriptions = ended.subscriptions.saturating_add(subscriptions);
                    }
                    // It was not logged after all.
                    Err(actors::Error::Rejected(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            failpoint::reached("leaving.page");
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some(last.place()),
                _ => return Ok(ended),
            }
        }
    }
}
