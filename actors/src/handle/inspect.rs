//! An operator's search for wallets, and operations on a wallet by its key.

use std::collections::BTreeSet;

use domain::{
    Rejection,
    id::{HoldId, OrderId, WalletId, WalletKey},
    text::{Email, Feature},
    wallet::{deduct::Deduct, feature::FeatureAction},
};

use super::{Address, Handle, Scope, administrator::stored, orders::unreadable};
use crate::{
    answer::{CommandResult, Error},
    wallet::{InspectWallet, SetFeature, WalletDetail},
};

/// A way to find wallets.
#[derive(Debug, Clone)]
pub enum WalletQuery {
    /// By the caller's own user id, or a recovery code.
    Address(Address),
    /// By an order of the wallet's.
    Order(OrderId),
    /// By a hold of the wallet's.
    Hold(HoldId),
    /// By the wallet's public id, `wal_…`.
    Id(WalletId),
    /// By the email address of a paid order.
    Buyer(Email),
}

impl Handle {
    /// The wallets of a project that these clues lead to, at most `limit` for each.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn search(
        &self,
        scope: &Scope,
        queries: &[WalletQuery],
        limit: usize,
    ) -> Result<Vec<(WalletKey, WalletDetail)>, Error> {
        let mut keys = BTreeSet::new();
        for query in queries {
            match query {
                WalletQuery::Address(address) => match self.target_of(scope, address) {
                    Ok((key, _)) => drop(keys.insert(key)),
                    Err(Error::Rejected(_)) => {}
                    Err(error) => return Err(error),
                },
                WalletQuery::Order(order) => drop(keys.insert(order.wallet)),
                WalletQuery::Hold(hold) => drop(keys.insert(hold.wallet)),
                WalletQuery::Id(id) => keys.extend(self.key_of_wallet_id(*id)?),
                WalletQuery::Buyer(email) => {
                    let wallets = self.books().buyers(scope.project, email, limit);
                    keys.extend(wallets.map_err(|error| unreadable(&error))?);
                }
            }
        }
        let mut found = Vec::new();
        for key in keys {
            match self.look(scope, key).await {
                Ok(inspect) => found.push((key, inspect)),
                Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// A wallet with the origins of its credits and features.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn look(&self, scope: &Scope, wallet: WalletKey) -> Result<WalletDetail, Error> {
        self.ask(scope, stored(scope, wallet), InspectWallet).await
    }

    /// Deducts credits from the wallet with this key.
    ///
    /// # Errors
    ///
    /// The same as [`Handle::deduct`].
    pub async fn deduct_stored(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        command: Deduct,
    ) -> Result<CommandResult, Error> {
        self.ask(scope, stored(scope, wallet), command).await
    }

    /// Grants a feature to an existing wallet, or revokes it; returns all features afterwards.
    ///
    /// # Errors
    ///
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn set_feature_stored(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        feature: Feature,
        action: FeatureAction,
    ) -> Result<Vec<String>, Error> {
        let set = SetFeature {
            feature,
            action,
            created: None,
        };
        self.ask(scope, stored(scope, wallet), set).await
    }
}
