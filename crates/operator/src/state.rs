//! What the actions of operators need of the service.

use std::sync::Arc;

use accounts::{Accounts, Sandboxes};
use actors::Handle;
use catalog::CatalogStore;
use cluster::ClusterPart;
use domain::id::UserId;
use edge::{BehindEdge, EdgeState};
use identity::Authority;
use operations::{backups::Backups, wallet_notes::WalletNotes};
use outbound::{CustomerMails, Webhooks, invitation_mail::Invitations, mail::Mailer};
use payments::Payments;
use scrip_http::limits::Client;
use wire::{Error, ErrorCode};

/// Everything that an operator's request may need.
#[allow(missing_debug_implementations, reason = "a handle has nothing to show")]
pub struct OperatorState {
    /// What every request passes by.
    pub edge: Arc<EdgeState>,
    /// The handle to the wallets.
    pub handle: Handle,
    /// Projects, keys, products, prices.
    pub catalog: Arc<CatalogStore>,
    /// The payment provider and what it reports.
    pub payments: Payments,
    /// The projects' accounts at payment providers.
    pub accounts: Arc<Accounts>,
    /// The built-in provider.
    pub sandboxes: Sandboxes,
    /// Backups of what is stored.
    pub backups: Arc<Backups>,
    /// What operators write down about wallets.
    pub wallet_notes: Arc<WalletNotes>,
    /// This process' part in a cluster; `None`: it keeps its log by itself.
    pub cluster: Option<Arc<ClusterPart>>,
    /// Makes the links of invitations, and mails them.
    pub invitations: Arc<Invitations>,
    /// Webhooks to projects' own servers.
    pub webhooks: Webhooks,
    /// Mails to projects' customers.
    pub mails: CustomerMails,
    /// What sends mails.
    pub mailer: Mailer,
}

impl BehindEdge for OperatorState {
    fn edge(&self) -> &EdgeState {
        &self.edge
    }
}

impl OperatorState {
    /// What a user may do now, here or in the cell that keeps users; `None`: nothing any more.
    /// # Errors
    /// `unavailable`: that cell does not answer.
    pub async fn authority_of(
        &self,
        user: UserId,
        client: Client,
    ) -> Result<Option<Authority>, Error> {
        if self.keeps_sessions() {
            let user = self.edge.people.user(user);
            return Ok(user.ok().and_then(|user| user.authority()));
        }
        let silent = || {
            let message =
                "The cell that knows the users does not answer. Nothing was done; try again.";
            Error::new(ErrorCode::Unavailable).undone().saying(message)
        };
        let part = self.cluster.as_ref().ok_or_else(silent)?;
        let lowest = part.lowest().ok_or_else(silent)?;
        let path = format!("authority?user={user}");
        let answer = part.ask(lowest, &path, Default::default(), client.address());
        answer.await.ok_or_else(silent)
    }

    /// Whether this process' cell is the one that keeps users and sessions: the lowest.
    #[must_use]
    pub fn keeps_sessions(&self) -> bool {
        let Some(part) = &self.cluster else {
            return true;
        };
        let others = part.others();
        part.cell() == 0 || (!others.is_empty() && others.iter().all(|other| *other > part.cell()))
    }
}
