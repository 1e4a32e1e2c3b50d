//! Why a checkout or a portal could not be opened, or a report not be worked off.

/// Nothing is visible of what failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The project has no payment provider.
    #[error("the project has no payment provider")]
    NotConfigured,
    /// The project's provider is being changed: what was begun with the one before has to end first.
    #[error("the project's payment provider is being changed")]
    Changing,
    /// The provider refused or failed.
    #[error(transparent)]
    Provider(#[from] port::Error),
    /// The wallet refused, or could not be asked.
    #[error(transparent)]
    Wallet(#[from] actors::Error),
    /// Money went back for an order that is not known yet.
    #[error("money went back for an order that is not known yet")]
    TooEarly,
    /// Something of ours that has to be there is not.
    #[error("{0}")]
    Defect(&'static str),
}

impl Error {
    /// Whether everything that is asked would fail alike now.
    pub(super) fn is_about_the_account(&self) -> bool {
        match self {
            Self::NotConfigured | Self::Changing | Self::Defect(_) | Self::Wallet(_) => true,
            Self::Provider(error) => {
                matches!(error, port::Error::Key(_) | port::Error::Unavailable { .. })
            }
            Self::TooEarly => false,
        }
    }

    /// Whether the same may succeed later.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            // An account's key may be put right, and with it what the account knows.
            Self::NotConfigured
            | Self::Changing
            | Self::Provider(_)
            | Self::Defect(_)
            | Self::TooEarly => true,
            Self::Wallet(actors::Error::Overloaded | actors::Error::Unavailable) => true,
            Self::Wallet(_) => false,
        }
    }
}
