//! The callers of a wallet, and what each must match to get access.

use domain::{
    Rejection,
    id::{CodeHash, ProjectId},
    session::WalletSession,
    wallet::{Owner, Wallet},
};

use crate::answer::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// By user id: the wallet's key is derived from project and user, so nothing more is checked.
    External,
    /// By recovery code: it must be the current one, not a replaced one.
    Code(CodeHash),
    /// By a hold's id, which anybody can forge.
    Hold {
        project: ProjectId,
        code_wallets_only: bool,
    },
    /// By an order's id, or by a provider's report about an order.
    Order(ProjectId),
    /// By its key, which the administration shows.
    Administrator(ProjectId),
    /// By a session that was made in this epoch.
    Session { project: ProjectId, epoch: u32 },
}

impl Caller {
    pub(crate) const fn of_session(session: &WalletSession) -> Self {
        Self::Session {
            project: session.project,
            epoch: session.epoch,
        }
    }

    /// Checks whether this caller may see this wallet; if not, the answer is `absent`.
    pub(super) fn check(self, wallet: &Wallet, absent: Rejection) -> Result<(), Error> {
        let not_found = Err(absent.into());
        match (self, &wallet.owner) {
            (Self::Order(project), _) if project == wallet.project => Ok(()),
            (Self::Order(_), _) => not_found,
            // The wallet has no owner until its order is paid.
            (_, Owner::Order) => not_found,
            (Self::External, Owner::External(_)) => Ok(()),
            (Self::Code(hash), Owner::Code { hash: current, .. }) if hash == *current => Ok(()),
            (Self::Code(_) | Self::External, _) => not_found,
            (Self::Administrator(project), _) if project == wallet.project => Ok(()),
            (Self::Administrator(_), _) => not_found,
            (Self::Session { project, epoch }, _)
                if project == wallet.project && epoch == wallet.session_epoch =>
            {
                Ok(())
            }
            (Self::Session { .. }, _) => Err(Error::SessionExpired),
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
