//! What the dashboard needs of the service.

use std::{path::PathBuf, sync::Arc};

use accounts::{Accounts, Sandboxes};
use actors::Handle;
use catalog::CatalogStore;
use cluster::ClusterPart;
use domain::Timestamp;
use edge::{BehindEdge, EdgeState};
use identity::oidc::Oidc;
use operations::{backups::Backups, outstanding::OutstandingCredits, wallet_notes::WalletNotes};
use outbound::{Webhooks, invitation_mail::Invitations, mail::Mailer};
use payments::Payments;

use crate::cookies::Site;

/// What the dashboard's pages share.
pub(crate) type App = Arc<DashboardState>;

/// Everything that a page of the dashboard may need.
#[allow(missing_debug_implementations, reason = "a handle has nothing to show")]
pub struct DashboardState {
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
    /// Credits that were not used yet.
    pub outstanding: Arc<OutstandingCredits>,
    /// This process' part in a cluster; `None`: it keeps its log by itself.
    pub cluster: Option<Arc<ClusterPart>>,
    /// Sends mails in the background.
    pub mailer: Mailer,
    /// Makes the links of invitations, and mails them.
    pub invitations: Arc<Invitations>,
    /// The identity provider by which people sign in, too; `None`: none.
    pub oidc: Option<Arc<Oidc>>,
    /// Webhooks to projects' own servers.
    pub webhooks: Webhooks,
    /// How browsers reach the service.
    pub site: Site,
    /// The data directory, whose size is shown.
    pub data_dir: PathBuf,
    /// When the service started.
    pub started_at: Timestamp,
}

impl BehindEdge for DashboardState {
    fn edge(&self) -> &EdgeState {
        &self.edge
    }
}
