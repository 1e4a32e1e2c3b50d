//! What the edge and its extractors need of the service.

use std::sync::Arc;

use actors::{Handle, clock::Clock};
use catalog::CatalogStore;
use identity::People;
use operations::{audit::AuditLog, metrics::Metrics};
use scrip_http::limits::Limits;
use tokio::sync::Mutex;

use crate::{body::BodyLimits, parameters::QueryParameters};

/// What the edge needs to let a request in.
#[allow(missing_debug_implementations, reason = "a clock has nothing to show")]
pub struct EdgeState {
    /// The clock that requests are timed by.
    pub clock: Arc<dyn Clock>,
    /// The wallets; each knows which of its sessions were revoked.
    pub handle: Handle,
    /// Projects and their keys.
    pub catalog: Arc<CatalogStore>,
    /// How often each client may call.
    pub limits: Arc<Limits>,
    /// How large a body may be, and how long it may take.
    pub bodies: BodyLimits,
    /// Which query parameters each route has.
    pub parameters: &'static QueryParameters,
    /// Metrics for Prometheus.
    pub metrics: Metrics,
    /// Who works with the dashboard.
    pub people: Arc<People>,
    /// Held from comparing settings with what was read of them until they are saved: nobody saves over somebody else's
    /// change.
    pub saving: Mutex<()>,
    /// The log of who changed what.
    pub audit: AuditLog,
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// SHA-256 of the token that is only for metrics, where there is one.
    pub metrics_token_sha256: Option<[u8; 32]>,
}

/// The state of routes behind the edge: the edge's extractors get the edge's state from it.
pub trait BehindEdge: Send + Sync {
    /// The edge's state.
    fn edge(&self) -> &EdgeState;
}

impl BehindEdge for EdgeState {
    fn edge(&self) -> &EdgeState {
        self
    }
}

impl<S: BehindEdge> BehindEdge for Arc<S> {
    fn edge(&self) -> &EdgeState {
        self.as_ref().edge()
    }
}
