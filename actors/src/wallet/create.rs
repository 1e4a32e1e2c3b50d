//! Wallets that come to be, and codes that are replaced.

use domain::{
    Rejection,
    id::CodeHash,
    wallet::{Change, Created, Owner},
};

use super::{Caller, Rules, state::WalletState};
use crate::answer::{Error, WalletView};

/// A freshly drawn code, ready to be stored.
pub(crate) struct NewCode {
    pub(crate) hash: CodeHash,
    pub(crate) sealed: Box<[u8]>,
}

impl WalletState {
    /// A new code wallet; its view is empty, free grants come with the first read. Two codes that
    /// hash alike must not share a wallet: the second is refused and drawn again.
    pub(super) fn create_code(
        &mut self,
        rules: &Rules,
        created: Created,
    ) -> Result<WalletView, Error> {
        if self.wallet.is_some() {
            return Err(Rejection::WalletNotFound.into());
        }
        self.create(rules, created)?;
        self.view(rules)
    }

    /// Gets or creates.
    pub(super) fn open(&mut self, created: Created, rules: &Rules) -> Result<WalletView, Error> {
        self.ensure(rules, Some(created))?;
        self.read(Caller::External, rules)
    }

    /// Creates the wallet if there is none and the caller may.
    pub(super) fn ensure(&mut self, rules: &Rules, created: Option<Created>) -> Result<(), Error> {
        match (&self.wallet, created) {
            (None, Some(created)) => self.create(rules, created),
            _ => Ok(()),
        }
    }

    pub(super) fn rotate(
        &mut self,
        caller: Caller,
        rules: &Rules,
        code: NewCode,
    ) -> Result<(), Error> {
        let now = self.up_to_date(caller, rules)?;
        let former = match &self.existing()?.owner {
            Owner::Code { hash, .. } => Some(*hash),
            Owner::External(_) | Owner::Order => None,
        };
        self.change(
            now,
            Change::CodeRotated {
                hash: code.hash,
                sealed: code.sealed,
                former,
            },
        )
    }
}
