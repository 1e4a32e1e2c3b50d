//! A project's subscriptions, found by the ends of their periods.

use domain::{Rejection, Timestamp, id::WalletKey, text::SubscriptionId};
use persistence::PeriodEnd;

use super::{Handle, Scope, orders::looked_up};
use crate::{
    answer::Error,
    wallet::{DoubledWallet, FindDoubled, FindOverdueSubscriptions},
};

impl Handle {
    /// The subscription periods of the project that ended by `until`, earliest first: at most `limit` after a position.
    /// Only its wallet knows a subscription's present state.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub fn periods_ended(
        &self,
        scope: &Scope,
        after: Option<(Timestamp, u128)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<PeriodEnd>, Error> {
        looked_up(self.books().periods(scope.project, after, until, limit))
    }

    /// The provider's ids of a wallet's subscriptions that have not ended and whose periods ended by `until`.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn lapsed(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        until: Timestamp,
    ) -> Result<Vec<SubscriptionId>, Error> {
        let find = FindOverdueSubscriptions(until);
        match self.ask_order(scope, wallet, find).await {
            // It was looked up before its append, which failed.
            Err(Error::Rejected(Rejection::WalletNotFound)) => Ok(Vec::new()),
            answer => answer,
        }
    }

    /// A wallet's continuing subscriptions beside another one to the same product; `None` if there are none.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn doubled_subscriptions(
        &self,
        scope: &Scope,
        wallet: WalletKey,
    ) -> Result<Option<DoubledWallet>, Error> {
        match self.ask_order(scope, wallet, FindDoubled).await {
            Err(Error::Rejected(Rejection::WalletNotFound | Rejection::OrderNotFound)) => Ok(None),
            answer => answer,
        }
    }
}
