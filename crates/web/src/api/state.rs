//! What the API needs of the service.

use std::sync::Arc;

use accounts::Accounts;
use actors::Handle;
use edge::{BehindEdge, EdgeState};
use outbound::mail::Mailer;
use payments::Payments;

/// What the API's handlers share.
pub type App = Arc<ApiState>;

/// Everything that a request of the API may need.
#[allow(missing_debug_implementations, reason = "a handle has nothing to show")]
pub struct ApiState {
    /// What every request passes by.
    pub edge: Arc<EdgeState>,
    /// The handle to the wallets.
    pub handle: Handle,
    /// The payment provider and what it reports.
    pub payments: Payments,
    /// The projects' accounts at payment providers.
    pub accounts: Arc<Accounts>,
    /// Sends mails in the background.
    pub mailer: Mailer,
}

impl BehindEdge for ApiState {
    fn edge(&self) -> &EdgeState {
        &self.edge
    }
}
