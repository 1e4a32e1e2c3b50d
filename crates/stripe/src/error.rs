//! Errors of calls to Stripe.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::declines::{CardError, DeclinedPayment};

const MAX_MESSAGE_CHARS: usize = 500;

/// Why a call failed. Never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Stripe understood the request and refused it; a repeat does not help.
    #[error("the payment provider refused: {0}")]
    Refused(Box<ErrorResponse>),
    /// Any other failure, as the port's error.
    #[error(transparent)]
    Other(#[from] payments_port::Error),
}

impl Error {
    /// No answer after all retries. The outcome is unknown: repeat it under the same operation.
    pub(super) fn unavailable(reason: impl Into<String>, retry_after_seconds: Option<u64>) -> Self {
        Self::Other(payments_port::Error::Unavailable {
            reason: reason.into(),
            retry_after_seconds,
        })
    }

    /// An answer that is not Stripe's: a wrong address, or a proxy. The outcome is unknown here too.
    pub(super) fn garbage(what: impl Into<String>) -> Self {
        Self::Other(payments_port::Error::Garbage(what.into()))
    }

    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.status == 403)
    }
}

impl From<Error> for payments_port::Error {
    fn from(error: Error) -> Self {
        let refusal = match error {
            Error::Refused(refusal) => refusal,
            Error::Other(error) => return error,
        };
        let reason = refusal.to_string();
        match refusal.permission() {
            Some(permission) => Self::Permission {
                permission: permission.to_owned(),
                reason,
            },
            None if refusal.status == 401 => Self::Key(reason),
            None if refusal.is_missing() => Self::Missing(reason),
            // The customer is bound to another currency. Stripe has only a message for it, no code.
            None if refusal.message.contains("combine currencies") => {
                Self::CurrencyMismatch(reason)
            }
            None if refusal.lacks_funds() => Self::NoFunds(reason),
            None => Self::Refused(reason),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{status} {}: {message}{}", code.as_deref().unwrap_or(kind), at(param.as_deref()))]
pub struct ErrorResponse {
    #[serde(skip)]
    pub status: u16,
    /// Its `type`, for example `invalid_request_error`.
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub kind: String,
    /// Its `code`, for example `resource_missing`.
    pub code: Option<String>,
    pub param: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub message: String,
    /// Why the bank declined, if it did.
    #[serde(flatten)]
    pub declined: CardError,
    /// The payment that was declined.
    #[serde(default, deserialize_with = "readable")]
    pub payment_intent: Option<DeclinedPayment>,
}

impl ErrorResponse {
    /// Sets the status, and shortens the texts after `clean` removed secrets.
    pub(super) fn cleaned(self, status: u16, clean: impl Fn(&str) -> String) -> Self {
        let bounded = |text: String| clean(&text).chars().take(MAX_MESSAGE_CHARS).collect();
        Self {
            status,
            kind: bounded(self.kind),
            code: self.code.map(bounded),
            param: self.param.map(bounded),
            message: bounded(self.message),
            ..self
        }
    }

    /// The permission that the key lacks, as Stripe names it ("Having the 'rak_dispute_read' permission would allow
    /// this request to continue."), else the error code.
    pub(super) fn permission(&self) -> Option<&str> {
        if self.status != 403 {
            return None;
        }
        let mut quoted = self.message.split('\'').skip(1).step_by(2);
        let named = quoted.find(|quoted| quoted.starts_with("rak_"));
        named.or(self.code.as_deref()).or(Some("unnamed"))
    }

    pub(super) fn is_key_reused(&self) -> bool {
        self.status == 400 && self.kind == "idempotency_error"
    }

    fn lacks_funds(&self) -> bool {
        let code = self.code.as_deref();
        code.is_some_and(|code| ["balance_insufficient", "insufficient_funds"].contains(&code))
    }

    /// Whether there is no such object (in this account, in this mode).
    pub(super) fn is_missing(&self) -> bool {
        self.status == 404 || self.code.as_deref() == Some("resource_missing")
    }
}

fn at(param: Option<&str>) -> String {
    param.map(|param| format!(" ({param})")).unwrap_or_default()
}

#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: ErrorResponse,
}

/// The payment of an answer, which is read without it, too.
fn readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DeclinedPayment>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
