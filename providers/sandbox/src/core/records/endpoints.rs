//! Where webhooks go beside the project's own address.

use serde::{Deserialize, Serialize};

use super::{Head, Metadata};

/// An address that a shop registered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    pub(crate) head: Head,
    pub(crate) url: String,
    /// What its webhooks are signed with.
    pub(crate) secret: String,
    pub(crate) kinds: Vec<String>,
    pub(crate) enabled: bool,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) api_version: Option<String>,
}

/// An event on its way to one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) endpoint: String,
    pub(crate) failures: u32,
    pub(crate) retry_at: Option<i64>,
}
