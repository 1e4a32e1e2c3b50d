//! An entry of the audit log, and the proof that its change was done.

use domain::{
    Timestamp,
    id::{OrderId, ProjectId, PublicSubscriptionId, WalletKey},
    text::PaymentId,
};
use serde::{Deserialize, Serialize};

const MAX_CHARS: usize = 600;

/// A change that was done, or was about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When, in milliseconds.
    pub at: i64,
    /// Who: a session of the dashboard, or the administrator's token.
    pub who: String,
    /// What was done; before that, the request.
    pub what: String,
    /// The client's address.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The kind of change, such as `keys` or `people`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Whether the result is not known, or not known yet.
    #[serde(default, skip_serializing_if = "is_done")]
    pub open: bool,
    /// Equal for all attempts at one change, so that the outcome of a later one resolves this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_key: Option<String>,
    /// What proves that it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The number of the change while it is being done.
    #[serde(skip)]
    pub under_way: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_done(open: &bool) -> bool {
    !*open
}

impl AuditEntry {
    pub fn done(at: Timestamp, who: String, what: &str, from: String) -> Self {
        Self {
            at: at.0,
            who,
            what: short(what),
            from,
            project: None,
            kind: String::new(),
            open: false,
            retry_key: None,
            proof: None,
            under_way: None,
        }
    }

    /// The person's identifier, which outlives a change of name.
    pub(crate) fn person(&self) -> &str {
        let id = self.who.rsplit_once('(').map(|(_, id)| id);
        id.unwrap_or(&self.who)
    }

    /// The entry with the key that all attempts share.
    pub fn with_retry_key(self, retry_key: Option<String>) -> Self {
        Self { retry_key, ..self }
    }

    pub fn about(self, project: Option<ProjectId>, kind: &str) -> Self {
        Self {
            project,
            kind: kind.to_owned(),
            ..self
        }
    }
}

pub(crate) fn short(what: &str) -> String {
    what.chars().take(MAX_CHARS).collect()
}

/// What proves later that a change of unknown outcome was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Proof {
    /// So much of an order is refunded.
    Refund {
        /// The order's identifier.
        order: OrderId,
        /// All that was refunded of it, in the currency's minor unit.
        cents: i64,
    },
    /// A payment that led to no order is refunded.
    Payment {
        /// The payment at the provider.
        payment: PaymentId,
    },
    /// A payment has an order.
    Assignment {
        /// The payment at the provider.
        payment: PaymentId,
    },
    /// A wallet was frozen since then, or is not frozen.
    Freeze {
        /// The wallet's key.
        wallet: WalletKey,
        /// Whether it is to be frozen.
        frozen: bool,
    },
    /// A wallet's subscription ends, or goes on.
    Subscription {
        /// The wallet's key.
        wallet: WalletKey,
        /// Which subscription of the wallet.
        subscription: PublicSubscriptionId,
        /// Whether it is to end at once, which one that ends with its period does not show.
        at_once: bool,
        /// Whether it ends, at once or with its period.
        ends: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeOutcome<'a> {
    /// It was done, in these words.
    Done(&'a str),
    /// It had been done before, by an earlier attempt.
    DoneBefore,
    Nothing,
    /// It may have been done.
    Unknown,
}
