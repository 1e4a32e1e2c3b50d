//! A refusal: its code and details, its body and its headers. Nothing here may repeat what a caller
//! sent, which may be a secret.

mod body;

use std::borrow::Cow;

use api_types::ErrorBody;
use axum::response::{IntoResponse, Response};
use domain::{catalog::Ability, text::TextError};
use scrip_http::limits::LimitExceeded;

use super::code::ErrorCode;

/// A refusal on its way to the caller. The edge of the service writes it out, with the request's id.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: ErrorCode,
    message: Cow<'static, str>,
    param: Option<String>,
    /// The fields of the body that only some codes have.
    detail: Option<Box<ErrorBody>>,
    /// The rate limit that refused, if one did.
    limit: Option<LimitExceeded>,
    /// Whether certainly nothing was done.
    undone: bool,
}

impl From<ErrorCode> for Error {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}

impl Error {
    /// A refusal with its code's own sentence.
    #[must_use]
    pub const fn new(code: ErrorCode) -> Self {
        Self {
            code,
            message: Cow::Borrowed(code.message()),
            param: None,
            detail: None,
            limit: None,
            undone: matches!(code, ErrorCode::Overloaded),
        }
    }

    /// The refusal of what was certainly not done, although its code leaves that open.
    #[must_use]
    pub const fn undone(mut self) -> Self {
        self.undone = true;
        self
    }

    /// Whether certainly nothing was done, by its code or as its source knows. Only with a server error is this
    /// a question.
    #[must_use]
    pub const fn nothing_was_done(&self) -> bool {
        self.undone
    }

    /// A refusal of one input, named by its path.
    #[must_use]
    pub fn invalid(param: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::malformed(message)
        }
    }

    /// A refusal with this code that names the input it is about.
    #[must_use]
    pub fn about(param: impl Into<String>, code: ErrorCode) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::new(code)
        }
    }

    /// A refusal of the request as a whole.
    #[must_use]
    pub fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            ..Self::new(ErrorCode::InvalidRequest)
        }
    }

    /// A refusal of a restricted key that lacks what the route needs.
    #[must_use]
    pub fn lacking(ability: Ability) -> Self {
        let message = format!(
            "This restricted key may not do this: it needs “{}”.",
            ability.as_str()
        );
        let refusal = Self::new(ErrorCode::PermissionMissing).saying(message);
        refusal.with(|more| more.permission = Some(ability.as_str().into()))
    }

    /// A refusal because a required field is missing.
    #[must_use]
    pub fn missing(param: &'static str) -> Self {
        Self::invalid(param, format!("{param} is missing."))
    }

    /// A refusal of a text that breaks its bounds.
    #[must_use]
    pub fn text(param: &'static str, error: TextError) -> Self {
        Self::invalid(param, error.0)
    }

    /// A refusal by a rate limit, whose figures become headers.
    #[must_use]
    pub fn limited(code: ErrorCode, refusal: LimitExceeded) -> Self {
        Self {
            limit: Some(refusal),
            ..Self::new(code)
        }
    }

    /// Adds fields that only some codes have.
    pub(crate) fn with(mut self, add: impl FnOnce(&mut ErrorBody)) -> Self {
        add(self.detail.get_or_insert_default());
        self
    }

    /// Replaces the code's own sentence by a better one.
    #[must_use]
    pub fn saying(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = message.into();
        self
    }

    /// Says that the input at fault lies inside of another: `items[3]`.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.param = Some(match self.param {
            Some(inner) => format!("{outer}.{inner}"),
            None => outer.into(),
        });
        self
    }

    /// The code of the refusal.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// The sentence that says to a person what went wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The path of the input at fault, if it is one input.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// The rate limit's refusal, if it was a limit that refused.
    #[must_use]
    pub const fn refusal(&self) -> Option<LimitExceeded> {
        self.limit
    }
}

impl IntoResponse for Error {
    /// The status and this value as an extension: only the edge knows the request's id.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_inside_an_item_names_the_item() {
        let error = Error::missing("amount").within("items[3]");
        assert_eq!(error.param(), Some("items[3].amount"));
        assert_eq!(
            Error::new(ErrorCode::ConflictingWallet)
                .within("items[0]")
                .param(),
            Some("items[0]")
        );
    }
}
