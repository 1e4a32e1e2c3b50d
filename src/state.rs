//! All parts of the running service, put together once (`compose.rs`), and the slice of them that each room is given.

use std::sync::Arc;

use accounts::{Accounts, Sandboxes};
use actors::Handle;
use catalog::CatalogStore;
use cluster::ClusterPart;
use dashboard::{DashboardState, Site};
use domain::Timestamp;
use edge::EdgeState;
use identity::oidc::Oidc;
use operations::{backups::Backups, outstanding::OutstandingCredits, wallet_notes::WalletNotes};
use operator::OperatorState;
use outbound::{CustomerMails, Webhooks, invitation_mail::Invitations, mail::Mailer};
use payments::Payments;
use web::{api::ApiState, health::HealthState};

use crate::config::Config;

/// Every part of the service. Only the composition has them all.
#[allow(missing_docs, reason = "the type of each part has its description")]
pub struct AppState {
    pub edge: Arc<EdgeState>,
    pub handle: Handle,
    pub catalog: Arc<CatalogStore>,
    pub payments: Payments,
    pub accounts: Arc<Accounts>,
    pub sandboxes: Sandboxes,
    pub mailer: Mailer,
    pub invitations: Arc<Invitations>,
    /// The identity provider by which people sign in, too; `None`: none.
    pub oidc: Option<Arc<Oidc>>,
    pub backups: Arc<Backups>,
    pub wallet_notes: Arc<WalletNotes>,
    pub outstanding: Arc<OutstandingCredits>,
    /// This process' part in a cluster; `None`: it keeps its log by itself.
    pub cluster: Option<Arc<ClusterPart>>,
    pub webhooks: Webhooks,
    pub mails: CustomerMails,
    pub config: Arc<Config>,
    pub started_at: Timestamp,
}

impl AppState {
    pub(crate) fn api(&self) -> ApiState {
        ApiState {
            edge: Arc::clone(&self.edge),
            handle: self.handle.clone(),
            payments: self.payments.clone(),
            accounts: Arc::clone(&self.accounts),
            mailer: self.mailer.clone(),
        }
    }

    /// What the actions of operators are given.
    pub(crate) fn operator(&self) -> OperatorState {
        OperatorState {
            edge: Arc::clone(&self.edge),
            handle: self.handle.clone(),
            catalog: Arc::clone(&self.catalog),
            payments: self.payments.clone(),
            accounts: Arc::clone(&self.accounts),
            sandboxes: self.sandboxes.clone(),
            backups: Arc::clone(&self.backups),
            cluster: self.cluster.clone(),
            invitations: Arc::clone(&self.invitations),
            webhooks: self.webhooks.clone(),
            mails: self.mails.clone(),
            wallet_notes: Arc::clone(&self.wallet_notes),
            mailer: self.mailer.clone(),
        }
    }

    pub(crate) fn dashboard(&self) -> DashboardState {
        let config = &self.config;
        DashboardState {
            operator: self.operator(),
            outstanding: Arc::clone(&self.outstanding),
            oidc: self.oidc.clone(),
            site: Site {
                // At an address of its own its pages may be reached over TLS or within the machine alike.
                public_url: match config.admin.listen {
                    None => config.public_url.as_ref().map(ToString::to_string),
                    Some(_) => None,
                },
                speaks_tls: config.http.tls_cert.is_some(),
            },
            data_dir: config.data_dir.clone(),
            started_at: self.started_at,
        }
    }

    /// What health checks and metrics are given.
    pub(crate) fn health(&self) -> HealthState {
        HealthState {
            edge: Arc::clone(&self.edge),
            handle: self.handle.clone(),
            payments: self.payments.clone(),
            webhooks: self.webhooks.clone(),
            backups: Arc::clone(&self.backups),
            offline: self.config.offline,
        }
    }
}
