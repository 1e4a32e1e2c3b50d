//! Money that was taken, went back, or is disputed.

use serde::{Deserialize, Serialize};

use super::{Head, Metadata, is_default};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntentStatus {
    /// On its way.
    Processing,
    Succeeded,
    /// The buyer's bank asks them who they are.
    RequiresAction,
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
    /// The newest.
    pub(crate) dispute: Option<String>,
    /// How refunds of it begin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) refunds: RefundStatus,
}

impl Charge {
    /// What could still go back.
    pub(crate) const fn left(&self) -> i64 {
        self.amount.saturating_sub(self.amount_refunded)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefundStatus {
    #[default]
    Succeeded,
    /// On its way back.
    Pending,
    /// The buyer's bank did not take it.
    Failed,
    Canceled,
}

impl RefundStatus {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }

    /// Whether its amount is away from the charge.
    pub(crate) const fn takes(self) -> bool {
        matches!(self, Self::Succeeded | Self::Pending)
    }
}

/// Money that went back, or was to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    pub(crate) intent: String,
    pub(crate) reason: Option<String>,
    pub(crate) metadata: Metadata,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) status: RefundStatus,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisputeStatus {
    /// A bank asks, and has taken nothing.
    WarningNeedsResponse,
    WarningUnderReview,
    WarningClosed,
    NeedsResponse,
    UnderReview,
    Won,
    Lost,
}

impl DisputeStatus {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::WarningNeedsResponse => "warning_needs_response",
            Self::WarningUnderReview => "warning_under_review",
            Self::WarningClosed => "warning_closed",
            Self::NeedsResponse => "needs_response",
            Self::UnderReview => "under_review",
            Self::Won => "won",
            Self::Lost => "lost",
        }
    }

    /// Whether it is a bank's question only.
    pub(crate) const fn is_inquiry(self) -> bool {
        matches!(
            self,
            Self::WarningNeedsResponse | Self::WarningUnderReview | Self::WarningClosed
        )
    }

    /// Whether the bank has not decided yet.
    pub(crate) const fn is_open(self) -> bool {
        !matches!(self, Self::WarningClosed | Self::Won | Self::Lost)
    }

    /// Whether the bank has the money.
    pub(crate) const fn holds(self) -> bool {
        matches!(self, Self::NeedsResponse | Self::UnderReview | Self::Lost)
    }
}

/// Money that moved because of a dispute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Movement {
    pub(crate) id: String,
    pub(crate) at: i64,
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
    /// The bank's word for it, where it is another than `fraudulent`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reason: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) withdrawn: Option<Movement>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reinstated: Option<Movement>,
    /// How often the shop sent evidence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) answers: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) metadata: Metadata,
}
