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
    /// Sends mails in the background.
    pub mailer: Mailer,
    /// Backups of what is stored.
    pub backups: Arc<Backups>,
    /// Webhooks to projects' own servers.
    pub webhooks: Webhooks,
    /// The log of who changed what.
    pub audit: AuditLog,
    /// Who is signed in to the dashboard.
    pub dashboard: Sessions,
    /// How often each client may call.
    pub limits: Limits,
    /// The operator's configuration.
    pub config: Arc<Config>,
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// When the service started.
    pub started_at: Timestamp,
    /// The clock that requests are timed by.
    pub clock: Arc<dyn Clock>,
    /// Metrics for Prometheus.
    pub metrics: Metrics,
}
