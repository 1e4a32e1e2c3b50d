//! How much a wallet may owe: up to its own limit, or else its product's. A code wallet never owes anything, because
//! its owner is unknown and could not be asked to pay.

use crate::{
    id::ProductId,
    wallet::state::{Owner, Wallet, account::Account, event::Change},
};

/// A product's debt limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebtLimit {
    /// The product that it is set for.
    pub product: ProductId,
    /// The most credits of it that one wallet may owe.
    pub credits: i64,
}

/// A request to set or remove a wallet's own debt limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetDebtLimit {
    /// The product whose credits may be owed.
    pub product: ProductId,
    /// The limit, 0 or more; `None`: the product's.
    pub limit: Option<i64>,
}

/// What a wallet owes of a product, and how much it may owe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebtState {
    /// Credits that can be spent now.
    pub balance: i64,
    /// Credits that are owed.
    pub owed: i64,
    /// The limit in force.
    pub limit: i64,
    /// How much more may come to be owed.
    pub available: i64,
}

impl Wallet {
    /// Decides to change the limit; `None` if it has that value already.
    #[must_use]
    pub fn set_debt_limit(&self, command: SetDebtLimit) -> Option<Change> {
        let SetDebtLimit { product, limit } = command;
        let own = self.account(product).and_then(|it| it.debt().limit);
        (own != limit).then_some(Change::DebtLimitChanged { product, limit })
    }

    /// The limit in force: the wallet's own, or else the product's among `limits`.
    pub fn debt_limit(&self, product: ProductId, limits: &[DebtLimit]) -> i64 {
        if !matches!(self.owner, Owner::External(_)) {
            return 0;
        }
        let own = self.account(product).and_then(|it| it.debt().limit);
        let general = || limits.iter().find(|limit| limit.product == product);
        own.or_else(|| general().map(|limit| limit.credits))
            .unwrap_or(0)
    }

    /// What is owed, and how much more may be.
    pub fn debt_state(&self, product: ProductId, limits: &[DebtLimit]) -> DebtState {
        DebtState {
            balance: self.available(product),
            owed: self.owed(product),
            limit: self.debt_limit(product, limits),
            available: self.unreserved_credit(product, limits).max(0),
        }
    }

    /// Credits of a product that are owed.
    pub fn owed(&self, product: ProductId) -> i64 {
        self.account(product).map_or(0, |it| it.debt().owed)
    }

    /// How much of the limit is neither owed nor reserved; negative if the limit was lowered.
    pub(super) fn unreserved_credit(&self, product: ProductId, limits: &[DebtLimit]) -> i64 {
        let debt = self.account(product).map(Account::debt).unwrap_or_default();
        let limit = self.debt_limit(product, limits);
        limit
            .saturating_sub(debt.owed)
            .saturating_sub(debt.reserved)
    }
}
