//! What every request may need, put together once (`compose.rs`).

use std::sync::Arc;

use actors::{Handle, clock::Clock};

use crate::{
    backups::Backups,
    catalog::CatalogStore,
    config::Config,
    limits::Limits,
    metrics::Metrics,
    outbound::mail::Mailer,
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
    /// How often who may do what.
    pub limits: Limits,
    /// What the operator set.
    pub config: Arc<Config>,
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Figures.
    pub metrics: Metrics,
}
