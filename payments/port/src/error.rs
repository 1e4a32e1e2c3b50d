//! What can come of asking a provider instead of an answer. Never contains a secret.

/// Asking came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The provider does not know something that it was asked about.
    #[error("the payment provider does not know it: {0}")]
    Missing(String),
    /// The provider knows no such active code, or it does not apply.
    #[error("the provider knows no such active code")]
    InvalidDiscountCode,
    /// The customer pays in another currency.
    #[error("the customer has a subscription in another currency: {0}")]
    CurrencyMismatch(String),
    /// The account's key is not accepted: everything that is asked fails alike.
    #[error("the payment provider does not accept the key: {0}")]
    Key(String),
    /// The account's key may not ask this kind of question. Others are answered.
    #[error("the key of the payment provider lacks the permission {permission}: {reason}")]
    Permission {
        /// What the provider calls what is missing, such as `rak_dispute_read`.
        permission: String,
        /// In its own words.
        reason: String,
    },
    /// The provider understood and said no. Asking again the same way is no use.
    #[error("the payment provider refused: {0}")]
    Refused(String),
    /// No answer in time, or one that asks to come back later. Whether a change was made is unknown:
    /// ask again under the same operation.
    #[error("the payment provider is not available: {reason}")]
    Unavailable {
        /// What went wrong last.
        reason: String,
        /// Seconds that it asked to wait, if it did.
        retry_after_seconds: Option<u64>,
    },
    /// An answer that cannot be the provider's: the wrong address, or something in between.
    #[error("the payment provider's answer cannot be read: {0}")]
    Garbage(String),
}

impl Error {
    /// Whether it is no answer to what was asked: the next question may well get one, or not.
    #[must_use]
    pub const fn is_silence(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Unavailable { .. } | Self::Garbage(_)
        )
    }

    /// Whether it is the provider's no: nothing was done.
    #[must_use]
    pub const fn is_a_no(&self) -> bool {
        !matches!(self, Self::Unavailable { .. } | Self::Garbage(_))
    }
}

/// A webhook that is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Not signed by the provider. Says nothing that helps to forge one.
    #[error("{0}")]
    Signature(String),
    /// Signed, and not readable.
    #[error("{0}")]
    Malformed(String),
}
