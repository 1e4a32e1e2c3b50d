//! Money that was taken, went back, or is disputed.

use serde::{Deserialize, Serialize};

use super::{Head, Metadata};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntentStatus {
    /// On its way.
    Processing,
    Succeeded,
    /// It did not come.
    RequiresPaymentMethod,
}

/// A payment to be made, and then made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) customer: Option<String>,
    pub(crate) latest_charge: Option<String>,
    pub(crate) status: IntentStatus,
    pub(crate) description: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) metadata: Metadata,
}

/// Money that was taken.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) amount_refunded: i64,
    pub(crate) currency: String,
    pub(crate) customer: Option<String>,
    pub(crate) intent: String,
    pub(crate) description: Option<String>,
    pub(crate) email: Option<String>,
    /// The intent's when it was charged.
    pub(crate) metadata: Metadata,
    pub(crate) dispute: Option<String>,
}

impl Charge {
    /// What could still go back.
    pub(crate) const fn left(&self) -> i64 {
        self.amount.saturating_sub(self.amount_refunded)
    }
}

/// Money that went back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    pub(crate) intent: String,
    pub(crate) reason: Option<String>,
    pub(crate) metadata: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisputeStatus {
    NeedsResponse,
    Won,
    Lost,
}

/// A bank asks for the money back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dispute {
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    pub(crate) intent: String,
    pub(crate) status: DisputeStatus,
}
