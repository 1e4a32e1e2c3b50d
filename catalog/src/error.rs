//! Why the catalog refuses a change, or cannot be read.

use domain::catalog::Refusal;

/// Nothing was changed, except perhaps under [`Error::Wallets`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The rules refuse it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The operating system gave no random bytes.
    #[error("no random bytes: {0}")]
    Randomness(String),
    /// The stored catalog does not hold together.
    #[error("the stored catalog is damaged: {0}")]
    Damaged(String),
    /// The stored catalog cannot be read.
    #[error(transparent)]
    Stored(#[from] persistence::Error),
    /// The change could not be logged.
    #[error(transparent)]
    Wallets(#[from] actors::Error),
}
