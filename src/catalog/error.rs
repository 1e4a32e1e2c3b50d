//! Why the catalog refuses a change, or cannot be read.

use domain::id::{KeyId, PriceId, ProductId, ProjectId};

/// Nothing was changed, except perhaps under [`Error::Wallets`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// One input breaks a rule.
    #[error("{message}")]
    Invalid {
        /// The input, as a path in the request.
        param: String,
        /// One plain sentence.
        message: String,
    },
    /// No such project.
    #[error("No such project.")]
    ProjectNotFound(ProjectId),
    /// No such key in this project.
    #[error("No such key.")]
    KeyNotFound(KeyId),
    /// No such product in this project.
    #[error("No such product.")]
    ProductNotFound(ProductId),
    /// No such price of this product.
    #[error("No such price.")]
    PriceNotFound(PriceId),
    /// The project's provider is not the sandbox.
    #[error("This project's payment provider is not the sandbox.")]
    NoSandbox,
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

impl Error {
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            param: param.into(),
            message: message.into(),
        }
    }
}
