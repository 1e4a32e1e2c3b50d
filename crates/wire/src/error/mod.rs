//! A refusal: its code and details, its body and its headers. Nothing here may repeat what a caller
//! sent, which may be a secret.

mod body;

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use domain::{id::ProductId, text::TextError, wallet};
use scrip_http::limits::LimitExceeded;

use super::{
    code::ErrorCode,
    view::{OpenInvoice, Price, open_invoice},
};

pub use self::body::ErrorBody;

/// A refusal on its way to the caller. The edge of the service writes it out, with the request's id.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: ErrorCode,
    message: Cow<'static, str>,
    param: Option<String>,
    detail: Option<Box<Detail>>,
    /// Whether certainly nothing was done.
    undone: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Detail {
    Shortfall(Shortfall),
    Limit(LimitExceeded),
    /// What `currency_mismatch` adds.
    Currency(String),
    /// What `already_refunded` adds.
    Refundable(i64),
    /// What `already_reversed` adds.
    Reversible(i64),
    /// What `already_subscribed` adds.
    Due(OpenInvoice),
    /// What `wallet_frozen` adds.
    Reason(String),
}

/// The fields that `insufficient_credits` adds.
#[derive(Debug, Clone, PartialEq)]
struct Shortfall {
    balance: i64,
    requested: i64,
    shortfall: i64,
    product_id: String,
    prices: Vec<Price>,
    credit_available: Option<i64>,
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
            detail: Some(Box::new(Detail::Limit(refusal))),
            ..Self::new(code)
        }
    }

    /// `currency_mismatch`, with the currency that the wallet's subscriptions are charged in, where
    /// it is known.
    pub fn currency(currency: Option<String>) -> Self {
        Self {
            detail: currency.map(|currency| Box::new(Detail::Currency(currency))),
            ..Self::about("priceId", ErrorCode::CurrencyMismatch)
        }
    }

    /// `already_subscribed`, with the subscription's bill that waits for the buyer, if one does.
    pub fn already_subscribed(open: Option<&wallet::OpenInvoice>) -> Self {
        Self {
            detail: open.map(|open| Box::new(Detail::Due(open_invoice(open)))),
            ..Self::new(ErrorCode::AlreadySubscribed)
        }
    }

    /// `already_refunded`, with the amount that can still be refunded.
    pub fn already_refunded(refundable_cents: i64) -> Self {
        Self {
            detail: Some(Box::new(Detail::Refundable(refundable_cents))),
            ..Self::new(ErrorCode::AlreadyRefunded)
        }
    }

    /// `already_reversed`, with the credits that can still be given back.
    pub fn already_reversed(reversible: i64) -> Self {
        Self {
            detail: Some(Box::new(Detail::Reversible(reversible))),
            ..Self::new(ErrorCode::AlreadyReversed)
        }
    }

    /// `wallet_frozen`, with the reason for it, if there is one.
    pub fn frozen(reason: Option<String>) -> Self {
        Self {
            detail: reason.map(|reason| Box::new(Detail::Reason(reason))),
            ..Self::new(ErrorCode::WalletFrozen)
        }
    }

    /// `insufficient_credits`, with the prices that would cover the shortfall.
    pub fn insufficient(
        balance: i64,
        requested: i64,
        shortfall: i64,
        product: ProductId,
        prices: Vec<Price>,
    ) -> Self {
        let detail = Detail::Shortfall(Shortfall {
            balance,
            requested,
            shortfall,
            product_id: product.to_string(),
            prices,
            credit_available: None,
        });
        Self {
            detail: Some(Box::new(detail)),
            ..Self::new(ErrorCode::InsufficientCredits)
        }
        .saying(format!(
            "Not enough credits: {balance} available, {requested} requested."
        ))
    }

    /// `insufficient_credits` where a hold may come to owe more than the limit of debt has room for.
    pub fn no_credit(balance: i64, requested: i64, available: i64, product: ProductId) -> Self {
        let detail = Detail::Shortfall(Shortfall {
            balance,
            requested,
            shortfall: requested.saturating_sub(available),
            product_id: product.to_string(),
            prices: Vec::new(),
            credit_available: Some(available),
        });
        Self {
            detail: Some(Box::new(detail)),
            ..Self::about("maxOverrun", ErrorCode::InsufficientCredits)
        }
        .saying(format!(
            "Not enough credit: {available} may still be owed, {requested} requested."
        ))
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
    pub fn refusal(&self) -> Option<LimitExceeded> {
        match self.detail.as_deref() {
            Some(Detail::Limit(refusal)) => Some(*refusal),
            _ => None,
        }
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
