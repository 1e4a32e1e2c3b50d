//! What an operator does with a wallet, wherever it is, and how one is found.

use std::collections::BTreeSet;

use domain::{
    Rejection,
    id::{HoldId, OrderId, WalletId, WalletKey},
    text::{Email, Feature},
    wallet::{deduct::Deduct, feature::FeatureAction},
};

use super::{Address, Handle, Scope, administrator::stored, orders::unreadable};
use crate::{
    answer::{Applied, Error},
    wallet::{Inside, Look, SetFeature},
};

/// What a wallet is found by.
#[derive(Debug, Clone)]
pub enum Clue {
    /// The caller's own user id, or a recovery code.
    Address(Address),
    /// An order of it.
    Order(OrderId),
    /// A hold of it.
    Hold(HoldId),
    /// What callers call it.
    Id(WalletId),
    /// Where an order of it was paid under this address.
    Buyer(Email),
}

impl Handle {
    /// The wallets of a project that these clues lead to, at most so many for each.
    pub async fn search(
        &self,
        scope: &Scope,
        clues: &[Clue],
        limit: usize,
    ) -> Result<Vec<(WalletKey, Inside)>, Error> {
        let mut keys = BTreeSet::new();
        for clue in clues {
            match clue {
                Clue::Address(address) => match self.locate(scope, address) {
                    Ok((key, _)) => drop(keys.insert(key)),
                    Err(Error::Rejected(_)) => {}
                    Err(error) => return Err(error),
                },
                Clue::Order(order) => drop(keys.insert(order.wallet)),
                Clue::Hold(hold) => drop(keys.insert(hold.wallet)),
                Clue::Id(id) => keys.extend(self.stored_as(*id)?),
                Clue::Buyer(email) => {
                    let wallets = self.books().buyers(scope.project, email, limit);
                    keys.extend(wallets.map_err(|error| unreadable(&error))?);
                }
            }
        }
        let mut found = Vec::new();
        for key in keys {
            match self.look(scope, key).await {
                Ok(inside) => found.push((key, inside)),
                Err(Error::Rejected(Rejection::WalletNotFound)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// A wallet, with where its credits and features come from.
    pub async fn look(&self, scope: &Scope, wallet: WalletKey) -> Result<Inside, Error> {
        self.ask(scope, stored(scope, wallet), Look).await
    }

    /// Uses credits of a wallet up.
    pub async fn deduct_wallet(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        command: Deduct,
    ) -> Result<Applied, Error> {
        self.ask(scope, stored(scope, wallet), command).await
    }

    /// Grants a feature to a wallet that exists, or takes that back; all features after it.
    pub async fn set_feature_of(
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
