//! Subscriptions found by when their periods end, whoever's they are.

use domain::{Rejection, Timestamp, id::WalletKey, text::SubscriptionId};
use persistence::PeriodEnd;

use super::{Handle, Scope, orders::unreadable};
use crate::{
    answer::Error,
    wallet::{Caller, Lapsed},
};

impl Handle {
    /// Where periods of the project's subscriptions ended by `until`, soonest first: at most `limit`
    /// behind a place. How a subscription stands, only its wallet knows.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: the books cannot be read.
    pub fn periods_ended(
        &self,
        scope: &Scope,
        after: Option<(Timestamp, u128)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<PeriodEnd>, Error> {
        let ended = self.books().periods(scope.project, after, until, limit);
        ended.map_err(|error| unreadable(&error))
    }

    /// The provider's names for a wallet's subscriptions that are not over and whose periods ended by
    /// `until`.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`], [`Error::Unavailable`].
    pub async fn lapsed(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        until: Timestamp,
    ) -> Result<Vec<SubscriptionId>, Error> {
        let place = (wallet, Caller::Order(scope.project));
        match self.ask(scope, place, Lapsed(until)).await {
            // It was not logged after all.
            Err(Error::Rejected(Rejection::WalletNotFound)) => Ok(Vec::new()),
            answer => answer,
        }
    }
}
