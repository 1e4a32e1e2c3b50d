//! What the dashboard needs of the service.

use std::{ops::Deref, path::PathBuf, sync::Arc};

use domain::Timestamp;
use edge::{BehindEdge, EdgeState};
use identity::oidc::Oidc;
use operations::outstanding::OutstandingCredits;
use operator::OperatorState;

use crate::cookies::Site;

/// What the dashboard's pages share.
pub(crate) type App = Arc<DashboardState>;

/// Everything that a page of the dashboard may need.
#[allow(missing_debug_implementations, reason = "a handle has nothing to show")]
pub struct DashboardState {
    /// What the actions of operators need.
    pub operator: OperatorState,
    /// Credits that were not used yet.
    pub outstanding: Arc<OutstandingCredits>,
    /// The identity provider by which people sign in, too; `None`: none.
    pub oidc: Option<Arc<Oidc>>,
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

impl Deref for DashboardState {
    type Target = OperatorState;

    fn deref(&self) -> &OperatorState {
        &self.operator
    }
}
