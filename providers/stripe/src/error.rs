//! What can come of a call instead of its answer.

use serde::{Deserialize, Deserializer};

/// Longest message of Stripe's that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// A call came to nothing. Never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Stripe understood and said no. Asking again the same way is no use.
    #[error("the payment provider refused: {0}")]
    Refused(Box<Refusal>),
    /// Nothing that Stripe said.
    #[error(transparent)]
    Other(#[from] port::Error),
}

impl Error {
    /// No answer, after all retries. Whether a change was made is unknown: ask again under the same operation
    /// key.
    pub(super) fn unavailable(reason: impl Into<String>, retry_after_seconds: Option<u64>) -> Self {
        Self::Other(port::Error::Unavailable {
            reason: reason.into(),
            retry_after_seconds,
        })
    }

    /// An answer that is not Stripe's: the wrong address, or something in between. Whether a change was made is
    /// unknown here too.
    pub(super) fn garbage(what: impl Into<String>) -> Self {
        Self::Other(port::Error::Garbage(what.into()))
    }

    /// Whether the key lacks a permission.
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.status == 403)
    }
}

impl From<Error> for port::Error {
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
            // Unknown or revoked.
            None if refusal.status == 401 => Self::Key(reason),
            None if refusal.is_missing() => Self::Missing(reason),
            // The customer is bound to another one. Stripe has no code for it, only words.
            None if refusal.message.contains("combine currencies") => {
                Self::CurrencyMismatch(reason)
            }
            None => Self::Refused(reason),
        }
    }
}

/// Stripe's no.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{status} {}: {message}{}", code.as_deref().unwrap_or(kind), at(param.as_deref()))]
pub struct Refusal {
    /// The HTTP status.
    #[serde(skip)]
    pub status: u16,
    /// Its `type`, such as `invalid_request_error`.
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub kind: String,
    /// Its `code`, such as `resource_missing`.
    pub code: Option<String>,
    /// The parameter at fault.
    pub param: Option<String>,
    /// For people, in English.
    #[serde(default, deserialize_with = "text")]
    pub message: String,
}

impl Refusal {
    /// With this status, and its texts bounded and without what `clean` takes out of them.
    pub(super) fn cleaned(self, status: u16, clean: impl Fn(&str) -> String) -> Self {
        let bounded = |text: String| clean(&text).chars().take(MAX_MESSAGE_CHARS).collect();
        Self {
            status,
            kind: bounded(self.kind),
            code: self.code.map(bounded),
            param: self.param.map(bounded),
            message: bounded(self.message),
        }
    }

    /// What the key lacks to ask this, as Stripe names it ("Having the 'rak_dispute_read' permission would
    /// allow this request to continue."); where it gives no name, its code. Other questions are answered.
    pub(super) fn permission(&self) -> Option<&str> {
        if self.status != 403 {
            return None;
        }
        let mut quoted = self.message.split('\'').skip(1).step_by(2);
        let named = quoted.find(|quoted| quoted.starts_with("rak_"));
        named.or(self.code.as_deref()).or(Some("unnamed"))
    }

    /// Whether the operation key was used before with another form.
    pub(super) fn is_key_reused(&self) -> bool {
        self.status == 400 && self.kind == "idempotency_error"
    }

    /// Whether there is no such object (in this account, in this mode).
    pub(super) fn is_missing(&self) -> bool {
        self.status == 404 || self.code.as_deref() == Some("resource_missing")
    }
}

fn at(param: Option<&str>) -> String {
    param.map(|param| format!(" ({param})")).unwrap_or_default()
}

/// The body of an answer that is no success.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: Refusal,
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
