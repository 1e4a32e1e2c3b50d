//! Who asks a wallet, and what they must match to be let at it.

use domain::{
    Rejection,
    id::{CodeHash, ProjectId},
    wallet::{Owner, Wallet},
};

use crate::answer::Error;

/// How a wallet was addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// By user id: the address is derived from project and user, nothing more to check.
    External,
    /// By code: it must be the one in force, not one that was rotated away.
    Code(CodeHash),
    /// By a hold's identifier, which anybody can make up.
    Hold {
        project: ProjectId,
        code_wallets_only: bool,
    },
    /// By an order's identifier, or by what the provider says of one.
    Order(ProjectId),
    /// By where it is stored, of which an administrator was told.
    Administrator(ProjectId),
}

impl Caller {
    /// Whether this caller may see this wallet; if not, it is `absent`.
    pub(super) fn check(self, wallet: &Wallet, absent: Rejection) -> Result<(), Error> {
        let not_found = Err(absent.into());
        match (self, &wallet.owner) {
            (Self::Order(project), _) if project == wallet.project => Ok(()),
            (Self::Order(_), _) => not_found,
            // Its order is not paid yet: there is nobody whom it could answer.
            (_, Owner::Order) => not_found,
            (Self::External, Owner::External(_)) => Ok(()),
            (Self::Code(hash), Owner::Code { hash: current, .. }) if hash == *current => Ok(()),
            (Self::Code(_) | Self::External, _) => not_found,
            (Self::Administrator(project), _) if project == wallet.project => Ok(()),
            (Self::Administrator(_), _) => not_found,
            (Self::Hold { project, .. }, _) if project != wallet.project => not_found,
            (
                Self::Hold {
                    code_wallets_only: true,
                    ..
                },
                Owner::External(_),
            ) => Err(Error::SecretKeyRequired),
            (Self::Hold { .. }, _) => Ok(()),
        }
    }
}
