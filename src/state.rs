//! What every request may need, put together once (`compose.rs`).

use std::sync::Arc;

use actors::{Handle, clock::Clock};
use domain::Timestamp;

use crate::{
    audit::AuditLog,
    backups::Backups,
    catalog::CatalogStore,
    config::Config,
    dashboard::Sessions,
    limits::Limits,
    metrics::Metrics,
    outbound::{Webhooks, mail::Mailer},
    payments::Payments,
    providers::{Accounts, Sandboxes},
};

/// What handlers share.
pub type App = Arc<AppState>;

/// Everything that a request may need.
#[allow(
    missing_debug_implementations,
    reason = "a clock and a handle have nothing to show"
)]
pub struct AppState {
    /// The wallets.
    pub handle: Handle,
    /// Projects, keys, products, prices.
    pub catalog: Arc<CatalogStore>,
    /// The payment provider and what it reports.
    pub payments: Payments,
    /// Who the projects' providers are.
    pub accounts: Arc<Accounts>,
    /// The built-in provider.
    pub sandboxes: Sandboxes,
    /// Mails.
    pub mailer: Mailer,
    /// Copies of what is stored.
    pub backups: Arc<Backups>,
    /// What projects' own servers are told.
    pub webhooks: Webhooks,
    /// Who changed what.
    pub audit: AuditLog,
    /// Who is signed in to the dashboard.
    pub dashboard: Sessions,
    /// How often who may do what.
    pub limits: Limits,
    /// What the operator set.
    pub config: Arc<Config>,
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// When the service started.
    pub started_at: Timestamp,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Figures.
    pub metrics: Metrics,
}
