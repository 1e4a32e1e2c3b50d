//! The ways in which a request to a provider fails. No error contains a secret.

/// A request to the provider failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Error {
    /// The provider has no such object.
    #[error("the payment provider does not know it: {0}")]
    Missing(String),
    /// The provider has no such active promotion code, or refused the checkout with it, for this reason.
    #[error("the provider does not take the discount code: {}", .0.as_deref().unwrap_or("it knows no such active code"))]
    InvalidDiscountCode(Option<String>),
    /// The customer already pays for a subscription in another currency.
    #[error("the customer has a subscription in another currency: {0}")]
    CurrencyMismatch(String),
    /// The account's key is not accepted: every request fails.
    #[error("the payment provider does not accept the key: {0}")]
    Key(String),
    /// The account's key lacks the permission for this kind of request. Others work.
    #[error("the key of the payment provider lacks the permission {permission}: {reason}")]
    Permission {
        /// The provider's name of the missing permission, such as `rak_dispute_read`.
        permission: String,
        reason: String,
    },
    /// The provider understood the request and refused it. A retry would be refused too.
    #[error("the payment provider refused: {0}")]
    Refused(String),
    /// The account has too little money for it now.
    #[error("the payment provider refused for now: {0}")]
    NoFunds(String),
    /// No answer in time, or one that asks for a later retry. Whether a change was made is unknown: retry under the
    /// same operation.
    #[error("the payment provider is not available: {reason}")]
    Unavailable {
        reason: String,
        retry_after_seconds: Option<u64>,
    },
    /// An answer that is not the provider's: a wrong address, or a proxy in between.
    #[error("the payment provider's answer cannot be read: {0}")]
    Garbage(String),
}

impl Error {
    /// No answer, for this reason.
    #[must_use]
    pub fn unavailable(reason: impl ToString) -> Self {
        Self::Unavailable {
            reason: reason.to_string(),
            retry_after_seconds: None,
        }
    }

    /// Whether the provider gave no answer about the object; other requests may get one.
    pub const fn is_unanswered(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Unavailable { .. } | Self::Garbage(_)
        )
    }

    /// Whether the provider refused the request and would refuse it again.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Missing(_))
    }

    /// Whether the provider certainly did nothing.
    pub const fn nothing_was_done(&self) -> bool {
        !matches!(self, Self::Unavailable { .. } | Self::Garbage(_))
    }
}

/// A webhook that is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Not signed by the provider. The message does not help to forge a signature.
    #[error("{0}")]
    Signature(String),
    /// Signed by the provider, but its body cannot be parsed.
    #[error("{0}")]
    Malformed(String),
}
