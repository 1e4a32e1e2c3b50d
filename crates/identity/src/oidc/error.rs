//! Errors of a sign-in by a provider.

/// Why a sign-in did not succeed. No text of the provider's is part of it, which may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the identity provider cannot be asked: {0}")]
    Unavailable(String),
    #[error("the identity provider's discovery document is not fit: {0}")]
    Unfit(String),
    /// The browser does not have what the first step gave it, or had it for too long, or it was used before.
    #[error("the sign-in was not begun in this browser, took too long, or is over")]
    NoAttempt,
    #[error("the identity provider refused the sign-in")]
    Denied,
    #[error("the identity provider's answer is not valid: {0}")]
    Untrusted(&'static str),
    #[error("too many sign-ins are under way")]
    Busy,
}
