//! Why a change of the catalog is refused. A refused command changes nothing.

use crate::id::{EndpointId, KeyId, PriceId, ProductId, ProjectId};

/// Why a command is refused. Invalid inputs are refused before anything that they name is looked up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// One input breaks a rule.
    #[error("{message}")]
    Invalid {
        /// The input, as a path in the command: `features[1]`.
        param: String,
        /// The rule, in one plain sentence.
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
    /// No such webhook endpoint in this project.
    #[error("No such webhook endpoint.")]
    EndpointNotFound(EndpointId),
    /// No such rate card in this project, or it is closed.
    #[error("No such rate card.")]
    RateCardNotFound,
    /// The project's provider is not the sandbox.
    #[error("This project's payment provider is not the sandbox.")]
    NoSandbox,
}

impl Refusal {
    /// The refusal of one input, with a message of one plain sentence.
    #[must_use]
    pub fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            param: param.into(),
            message: message.into(),
        }
    }
}
