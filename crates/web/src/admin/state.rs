//! What the administration needs of the service.

use std::sync::Arc;

use accounts::{Accounts, Sandboxes};
use actors::Handle;
use catalog::CatalogStore;
use cluster::ClusterPart;
use edge::{BehindEdge, EdgeState};
use operations::{backups::Backups, wallet_notes::WalletNotes};
use outbound::{Webhooks, invitation_mail::Invitations, mail::Mailer};
use payments::Payments;

/// What the administration's handlers share.
pub type App = Arc<AdminState>;

/// Everything that a request of the administration may need.
#[allow(missing_debug_implementations, reason = "a handle has nothing to show")]
pub struct AdminState {
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
    /// What sends mails.
    pub mailer: Mailer,
}

impl BehindEdge for AdminState {
    fn edge(&self) -> &EdgeState {
        &self.edge
    }
}
