//! What a use counted in.

use serde::{Deserialize, Serialize};

use super::{LimitState, LimitUnit, LimitWindow, ScopeKind};
use crate::{
    id::KeyId,
    text::{Member, Meta},
    time::Timestamp,
};

/// Who uses credits, beside the wallet's owner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spender {
    /// The member of those who share the wallet.
    pub member: Option<Member>,
    /// The key of the request.
    pub key: Option<KeyId>,
}

/// Whose use it was and for what, and where limits counted it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counted {
    /// The member who used it.
    pub member: Option<Member>,
    /// What it was used for, where a limit asked.
    pub feature: Option<Box<str>>,
    /// The key that it was used with, where a limit asked.
    pub key: Option<KeyId>,
    /// The windows that it counts in.
    pub counts: Vec<Count>,
    /// Whether it counts as an operation.
    pub is_operation: bool,
    /// The alerts that it is the reason for.
    pub alerts: Vec<LimitAlert>,
}

/// A window that counts a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Which name the scope has.
    pub kind: ScopeKind,
    /// In which time.
    pub window: LimitWindow,
    /// What is counted.
    pub unit: LimitUnit,
    /// Whether credits of its product alone are counted.
    pub of_product: bool,
    /// The version of the wallet with its counter's first use: one that was forgotten never comes back.
    pub since: u64,
    /// When the window began.
    pub starts_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
}

/// What a limit's alert says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitAlert {
    /// The limit, with the use that passed the threshold.
    pub state: LimitState,
    /// The percentage that was reached; `None`: the first use that it refused.
    pub percent: Option<u8>,
    /// The member whose use it was.
    pub member: Option<Member>,
}

impl Counted {
    /// The name that a scope of this kind has here.
    pub(crate) fn name(&self, kind: ScopeKind) -> Option<Box<str>> {
        match kind {
            ScopeKind::Wallet => Some(Box::default()),
            ScopeKind::Member => self.member.as_ref().map(|member| member.as_str().into()),
            ScopeKind::Feature => self.feature.clone(),
            ScopeKind::Key => self.key.map(|key| key.to_string().into()),
        }
    }

    /// Whether there is anything to keep.
    pub(crate) fn is_said(&self) -> bool {
        self.member.is_some() || !self.counts.is_empty()
    }

    /// What records keep of it.
    #[must_use]
    pub fn kept(mut self: Box<Self>) -> Box<Self> {
        self.alerts.clear();
        self
    }
}

/// What a note names as `feature`.
pub(crate) fn feature(meta: Option<&Meta>) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Noted {
        #[serde(default)]
        feature: serde_json::Value,
    }
    let noted: Noted = serde_json::from_str(meta?.as_str()).ok()?;
    let name = noted.feature.as_str()?;
    Member::new(name).is_ok().then(|| name.into())
}
