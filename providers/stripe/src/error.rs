//! What can come of a call instead of its answer.

use serde::Deserialize;

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
        if let Some(permission) = refusal.permission() {
            let permission = permission.to_owned();
            Self::Permission { permission, reason }
        } else if refusal.is_about_the_key() {
            Self::Key(reason)
        } else if refusal.is_missing() {
            Self::Missing(reason)
        } else if refusal.is_about_the_currency() {
            Self::CurrencyMismatch(reason)
        } else {
            Self::Refused(reason)
        }
    }
}

/// Stripe's no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{status} {}: {message}{}", code.as_deref().unwrap_or(kind), at(param.as_deref()))]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// Its `type`, such as `invalid_request_error`.
    pub kind: String,
    /// Its `code`, such as `resource_missing`.
    pub code: Option<String>,
    /// The parameter at fault.
    pub param: Option<String>,
    /// For people, in English.
    pub message: String,
    /// Under which Stripe's support finds the request.
    pub request_id: Option<String>,
}

impl Refusal {
    /// Whether the account's key was not accepted: unknown or revoked.
    #[must_use]
    pub const fn is_about_the_key(&self) -> bool {
        self.status == 401
    }

    /// What the key lacks to ask this, as Stripe names it ("Having the 'rak_dispute_read' permission would
    /// allow this request to continue."); where it gives no name, its code. Other questions are answered.
    #[must_use]
    pub fn permission(&self) -> Option<&str> {
        if self.status != 403 {
            return None;
        }
        let mut quoted = self.message.split('\'').skip(1).step_by(2);
        let named = quoted.find(|quoted| quoted.starts_with("rak_"));
        named.or(self.code.as_deref()).or(Some("unnamed"))
    }

    /// Whether the operation key was used before with another form.
    #[must_use]
    pub fn is_key_reused(&self) -> bool {
        self.status == 400 && self.kind == "idempotency_error"
    }

    /// Whether there is no such object (in this account, in this mode).
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.status == 404 || self.code.as_deref() == Some("resource_missing")
    }

    /// Whether the customer is bound to another currency. Stripe has no code for it, only words.
    #[must_use]
    pub fn is_about_the_currency(&self) -> bool {
        self.message.contains("combine currencies")
    }
}

fn at(param: Option<&str>) -> String {
    param.map(|param| format!(" ({param})")).unwrap_or_default()
}

/// The body of an answer that is no success.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: ErrorObject,
}

#[derive(Deserialize)]
pub(super) struct ErrorObject {
    #[serde(rename = "type")]
    kind: Option<String>,
    pub(super) code: Option<String>,
    param: Option<String>,
    message: Option<String>,
}

impl ErrorObject {
    pub(super) fn into_refusal(
        self,
        status: u16,
        request_id: Option<String>,
        clean: impl Fn(&str) -> String,
    ) -> Refusal {
        let bounded = |text: String| clean(&text).chars().take(MAX_MESSAGE_CHARS).collect();
        Refusal {
            status,
            kind: self.kind.map(bounded).unwrap_or_default(),
            code: self.code.map(bounded),
            param: self.param.map(bounded),
            message: self.message.map(bounded).unwrap_or_default(),
            request_id: request_id.map(bounded),
        }
    }
}
