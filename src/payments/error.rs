//! Why a checkout or a portal could not be opened, or a report not be worked off.

use crate::provider::stripe;

/// Nothing is visible of what failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The project has no payment provider.
    #[error("the project has no payment provider")]
    NotConfigured,
    /// The provider knows no such active code, or it does not apply.
    #[error("the provider knows no such active code")]
    InvalidDiscountCode,
    /// The provider refused or failed.
    #[error(transparent)]
    Provider(#[from] stripe::Error),
    /// The wallet refused, or could not be asked.
    #[error(transparent)]
    Wallet(#[from] actors::Error),
    /// Something of ours that has to be there is not.
    #[error("{0}")]
    Defect(&'static str),
}

impl Error {
    /// Whether the same may succeed later.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            // An account's key may be put right.
            Self::NotConfigured => true,
            Self::Provider(stripe::Error::Refused(refusal)) => refusal.is_about_the_key(),
            Self::Provider(stripe::Error::Unavailable { .. } | stripe::Error::Garbage(_)) => true,
            Self::Wallet(actors::Error::Overloaded | actors::Error::Unavailable) => true,
            Self::Wallet(_) | Self::InvalidDiscountCode | Self::Defect(_) => false,
        }
    }
}
