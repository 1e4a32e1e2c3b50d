//! Every refusal the HTTP interface can give: its code, status, body and headers. The only file that
//! knows statuses and codes; nothing in it may repeat what a caller sent, which may be a secret.

use std::borrow::Cow;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{Rejection, text::TextError};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    headers::{RATE_LIMIT_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET},
    request_id::RequestId,
    view::Price,
};
use crate::{catalog::ProjectCatalog, limits::Refusal, payments};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:ident $text:literal $message:literal;)*) => {
        /// What went wrong, as a program reads it. Stable within v1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// As it is written in a body.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The status that goes with it.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// One plain sentence, for want of a better one.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }
        }
    };
}

codes! {
    /// Malformed JSON, a missing or ill-typed field, a bad `limit` or `cursor`.
    InvalidRequest = BAD_REQUEST "invalid_request" "The request is not valid.";
    /// A wallet named twice, or not at all where it has to be.
    ConflictingWallet = BAD_REQUEST "conflicting_wallet"
        "Name the wallet by either code or externalUserId.";
    /// `productId` left out where the project does not decide it.
    ProductRequired = BAD_REQUEST "product_required"
        "Name the product: this project does not have exactly one that holds credits.";
    /// The payment provider knows no such active code.
    InvalidDiscountCode = BAD_REQUEST "invalid_discount_code" "This discount code is not valid.";
    /// A webhook that is not signed, or not by the project's provider.
    InvalidSignature = BAD_REQUEST "invalid_signature"
        "The webhook's signature is missing or not valid.";
    /// No `Authorization` header.
    MissingApiKey = UNAUTHORIZED "missing_api_key" "Send an API key: Authorization: Bearer <key>.";
    /// A key that is malformed, unknown or revoked.
    InvalidApiKey = UNAUTHORIZED "invalid_api_key" "This API key is not valid.";
    /// Not enough credits that can be spent.
    InsufficientCredits = PAYMENT_REQUIRED "insufficient_credits" "Not enough credits.";
    /// A publishable key where only a secret one will do.
    SecretKeyRequired = FORBIDDEN "secret_key_required" "This needs a secret key.";
    /// A publishable key, and a page to return to that the project does not allow.
    RedirectNotAllowed = FORBIDDEN "redirect_not_allowed"
        "This project does not allow this address to return to.";
    /// The project has external users only.
    AnonymousWalletsDisabled = FORBIDDEN "anonymous_wallets_disabled"
        "This project has no anonymous wallets.";
    /// No such wallet in this project.
    WalletNotFound = NOT_FOUND "wallet_not_found" "No such wallet.";
    /// No such product in this project.
    ProductNotFound = NOT_FOUND "product_not_found" "No such product.";
    /// No such price in this project.
    PriceNotFound = NOT_FOUND "price_not_found" "No such price.";
    /// No such hold in this project.
    HoldNotFound = NOT_FOUND "hold_not_found" "No such hold.";
    /// No such order in this project.
    OrderNotFound = NOT_FOUND "order_not_found" "No such order.";
    /// No such project; administration only.
    ProjectNotFound = NOT_FOUND "project_not_found" "No such project.";
    /// No such key in this project; administration only.
    KeyNotFound = NOT_FOUND "key_not_found" "No such key.";
    /// Nothing is served under this path.
    RouteNotFound = NOT_FOUND "route_not_found" "There is nothing at this address.";
    /// Something is, but not by this method.
    MethodNotAllowed = METHOD_NOT_ALLOWED "method_not_allowed"
        "This address does not take this method.";
    /// Larger than 64 KiB, a batch than 1 MiB.
    BodyTooLarge = PAYLOAD_TOO_LARGE "body_too_large" "The body is too large.";
    /// Not `application/json`.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE "unsupported_media_type"
        "Send the body as JSON, with Content-Type: application/json.";
    /// The same key for another product or amount.
    IdempotencyKeyReused = CONFLICT "idempotency_key_reused"
        "This idempotency key was used before with another product or amount.";
    /// The hold ended before, in another way.
    HoldClosed = CONFLICT "hold_closed" "This hold is already closed with another outcome.";
    /// The wallet has a subscription to the product already.
    AlreadySubscribed = CONFLICT "already_subscribed"
        "This wallet is already subscribed to the product.";
    /// The provider does not know the wallet's owner.
    NoPurchase = CONFLICT "no_purchase" "This wallet has no completed purchase.";
    /// Nothing can be sold yet.
    ProviderNotConfigured = CONFLICT "provider_not_configured"
        "This project has no payment provider.";
    /// A grant past 2^53 - 1 credits.
    BalanceLimit = CONFLICT "balance_limit" "The balance would pass 9007199254740991 credits.";
    /// As many open holds as a wallet may have.
    TooManyHolds = CONFLICT "too_many_holds" "Too many holds of this wallet are open.";
    /// As many lots of the product as manual grants may make.
    TooManyLots = CONFLICT "too_many_lots"
        "This wallet has too many grants of this product that expire at different times.";
    /// As many orders as may wait for payment.
    TooManyPendingOrders = CONFLICT "too_many_pending_orders"
        "Too many orders of this wallet are pending. Pay one, or let them expire.";
    /// The wallet's subscriptions are charged in another currency.
    CurrencyMismatch = CONFLICT "currency_mismatch"
        "This wallet's subscriptions are charged in another currency.";
    /// Too many requests.
    RateLimited = TOO_MANY_REQUESTS "rate_limited" "Too many requests. Slow down.";
    /// Too many recovery codes that opened nothing.
    TooManyInvalidCodes = TOO_MANY_REQUESTS "too_many_invalid_codes"
        "Too many invalid recovery codes. Try again later.";
    /// Too many new anonymous wallets.
    WalletCreationLimit = TOO_MANY_REQUESTS "wallet_creation_limit"
        "Too many new wallets. Try again later.";
    /// A defect of the service.
    InternalError = INTERNAL_SERVER_ERROR "internal_error" "Something went wrong on our side.";
    /// The payment provider refused or failed; nothing is shown of what was asked.
    ProviderError = BAD_GATEWAY "provider_error"
        "The payment provider did not do it. Nothing was sold; try again.";
    /// Load shed before anything was done.
    Overloaded = SERVICE_UNAVAILABLE "overloaded" "Too busy right now. Nothing was done; try again.";
    /// Shutting down, or the log cannot be written.
    Unavailable = SERVICE_UNAVAILABLE "unavailable"
        "Not available right now. It may or may not have been done; try again with the same key.";
}

/// A refusal on its way to the caller. [`super::edge`] writes it out, with the request's id.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: Code,
    message: Cow<'static, str>,
    param: Option<String>,
    detail: Option<Box<Detail>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Detail {
    Shortfall(Shortfall),
    Limit(Refusal),
    /// What `currency_mismatch` adds.
    Currency(String),
}

/// The fields that `insufficient_credits` adds.
#[derive(Debug, Clone, PartialEq)]
struct Shortfall {
    balance: i64,
    requested: i64,
    shortfall: i64,
    product_id: String,
    prices: Vec<Price>,
}

/// What every refusal looks like.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Error)]
pub(crate) struct ErrorBody<'a> {
    /// What went wrong, as a program reads it.
    #[schema(example = "invalid_request")]
    code: &'static str,
    /// What went wrong, as a person reads it: one plain sentence.
    message: &'a str,
    /// The request's identifier, also in `X-Request-Id`. Not in the items of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "req_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    request_id: Option<&'a str>,
    /// The one input at fault, as a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "items[3].amount")]
    param: Option<&'a str>,
    /// Credits that can be spent now; with `insufficient_credits`, as are the next four.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<i64>,
    /// Credits asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<i64>,
    /// Credits missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortfall: Option<i64>,
    /// The product whose balance fell short.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    product_id: Option<&'a str>,
    /// Active prices that would cover the shortfall.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Price>>)]
    prices: Option<&'a [Price]>,
    /// What the wallet's subscriptions are charged in; with `currency_mismatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "EUR")]
    currency: Option<&'a str>,
}

impl Error {
    /// A refusal with its code's own sentence.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            message: Cow::Borrowed(code.message()),
            param: None,
            detail: None,
        }
    }

    /// One input is at fault.
    #[must_use]
    pub fn invalid(param: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::malformed(message)
        }
    }

    /// One input is what the code is about.
    #[must_use]
    pub fn about(param: impl Into<String>, code: Code) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::new(code)
        }
    }

    /// The request as a whole is at fault.
    #[must_use]
    pub fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            ..Self::new(Code::InvalidRequest)
        }
    }

    /// A required field is not there.
    #[must_use]
    pub fn missing(param: &'static str) -> Self {
        Self::invalid(param, format!("{param} is missing."))
    }

    /// A text broke its bounds.
    #[must_use]
    pub fn text(param: &'static str, error: TextError) -> Self {
        Self::invalid(param, error.0)
    }

    /// A limit refused.
    #[must_use]
    pub fn limited(code: Code, refusal: Refusal) -> Self {
        Self {
            detail: Some(Box::new(Detail::Limit(refusal))),
            ..Self::new(code)
        }
    }

    /// What a wallet answered instead of doing what it was asked.
    #[must_use]
    pub fn from_wallet(error: actors::Error, project: &ProjectCatalog) -> Self {
        use actors::Error as Wallet;
        match error {
            Wallet::Rejected(rejection) => Self::from_rejection(rejection, project),
            Wallet::SecretKeyRequired => Self::new(Code::SecretKeyRequired),
            Wallet::Overloaded => Self::new(Code::Overloaded),
            Wallet::Unavailable => Self::new(Code::Unavailable),
            Wallet::TooLarge => Self::new(Code::BodyTooLarge),
        }
    }

    /// What a checkout or a portal came to instead of opening.
    #[must_use]
    pub fn from_payments(error: payments::Error, project: &ProjectCatalog) -> Self {
        match error {
            payments::Error::NotConfigured => Self::new(Code::ProviderNotConfigured),
            payments::Error::Provider(port::Error::InvalidDiscountCode) => {
                Self::about("discountCode", Code::InvalidDiscountCode)
            }
            payments::Error::Wallet(error) => Self::from_wallet(error, project),
            payments::Error::Provider(error) => {
                tracing::warn!(%error, project = %project.project.id, "The payment provider failed");
                Self::new(Code::ProviderError)
            }
            payments::Error::TooEarly => Self::new(Code::InternalError),
            payments::Error::Defect(what) => {
                tracing::error!(what, project = %project.project.id, "A purchase could not be begun");
                Self::new(Code::InternalError)
            }
        }
    }

    fn from_rejection(rejection: Rejection, project: &ProjectCatalog) -> Self {
        match rejection {
            Rejection::WalletNotFound => Self::new(Code::WalletNotFound),
            Rejection::HoldNotFound => Self::new(Code::HoldNotFound),
            Rejection::ProductRequired => Self {
                param: Some("productId".into()),
                ..Self::new(Code::ProductRequired)
            },
            Rejection::KeyReused => Self::new(Code::IdempotencyKeyReused),
            Rejection::OrderNotFound => Self::new(Code::OrderNotFound),
            Rejection::HoldClosed => Self::new(Code::HoldClosed),
            Rejection::AlreadySubscribed => Self::new(Code::AlreadySubscribed),
            Rejection::NoPurchase => Self::new(Code::NoPurchase),
            Rejection::TooManyPending => Self::new(Code::TooManyPendingOrders),
            Rejection::CurrencyMismatch { currency } => Self {
                param: Some("priceId".into()),
                detail: Some(Box::new(Detail::Currency(currency.into()))),
                ..Self::new(Code::CurrencyMismatch)
            },
            Rejection::BalanceLimit => Self::new(Code::BalanceLimit),
            Rejection::TooManyHolds => Self::new(Code::TooManyHolds),
            Rejection::TooManyLots => Self::new(Code::TooManyLots),
            Rejection::Insufficient {
                product,
                balance,
                requested,
                shortfall,
            } => {
                let message =
                    format!("Not enough credits: {balance} available, {requested} requested.");
                let detail = Detail::Shortfall(Shortfall {
                    balance,
                    requested,
                    shortfall,
                    product_id: product.to_string(),
                    prices: Price::covering(project, product, shortfall),
                });
                let detail = Some(Box::new(detail));
                Self {
                    message: message.into(),
                    detail,
                    ..Self::new(Code::InsufficientCredits)
                }
            }
        }
    }

    /// In better words than its code's own.
    #[must_use]
    pub fn saying(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = message.into();
        self
    }

    /// Says that the fault lies inside of something: `items[3]`.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.param = Some(match self.param {
            Some(inner) => format!("{outer}.{inner}"),
            None => outer.into(),
        });
        self
    }

    /// Its code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The input at fault.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// The limit that refused.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self.detail.as_deref() {
            Some(Detail::Limit(refusal)) => Some(*refusal),
            _ => None,
        }
    }

    /// Its body, without a request's id inside a batch.
    pub(crate) fn body<'a>(&'a self, request_id: Option<&'a str>) -> ErrorBody<'a> {
        let short = match self.detail.as_deref() {
            Some(Detail::Shortfall(shortfall)) => Some(shortfall),
            _ => None,
        };
        ErrorBody {
            code: self.code.as_str(),
            message: &self.message,
            request_id,
            param: self.param.as_deref(),
            balance: short.map(|s| s.balance),
            requested: short.map(|s| s.requested),
            shortfall: short.map(|s| s.shortfall),
            product_id: short.map(|s| s.product_id.as_str()),
            prices: short.map(|s| s.prices.as_slice()),
            currency: match self.detail.as_deref() {
                Some(Detail::Currency(currency)) => Some(currency),
                _ => None,
            },
        }
    }

    /// Writes the body and the headers that belong to the code.
    pub(super) fn write(&self, response: &mut Response, id: RequestId) {
        let body = serde_json::to_vec(&self.body(Some(id.text().as_str()))).unwrap_or_default();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if self.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.code.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(refusal) = self.refusal() {
            let figures: [(HeaderName, u32); 4] = [
                (header::RETRY_AFTER, refusal.retry_after_seconds),
                (RATE_LIMIT_LIMIT, refusal.limit),
                (RATE_LIMIT_REMAINING, 0),
                (RATE_LIMIT_RESET, refusal.reset_seconds),
            ];
            headers.extend(figures.map(|(name, figure)| (name, HeaderValue::from(figure))));
        }
        *response.body_mut() = Body::from(body);
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
    fn codes_and_statuses_are_the_documented_ones() {
        let table: Vec<(u16, &str)> = Code::ALL
            .iter()
            .map(|code| (code.status().as_u16(), code.as_str()))
            .collect();
        let documented = [
            (400, "invalid_request"),
            (400, "conflicting_wallet"),
            (400, "product_required"),
            (400, "invalid_discount_code"),
            (400, "invalid_signature"),
            (401, "missing_api_key"),
            (401, "invalid_api_key"),
            (402, "insufficient_credits"),
            (403, "secret_key_required"),
            (403, "redirect_not_allowed"),
            (403, "anonymous_wallets_disabled"),
            (404, "wallet_not_found"),
            (404, "product_not_found"),
            (404, "price_not_found"),
            (404, "hold_not_found"),
            (404, "order_not_found"),
            (404, "route_not_found"),
            (405, "method_not_allowed"),
            (413, "body_too_large"),
            (415, "unsupported_media_type"),
            (409, "idempotency_key_reused"),
            (409, "hold_closed"),
            (409, "already_subscribed"),
            (409, "no_purchase"),
            (409, "provider_not_configured"),
            (409, "balance_limit"),
            (409, "too_many_holds"),
            (409, "too_many_lots"),
            (409, "too_many_pending_orders"),
            (409, "currency_mismatch"),
            (429, "rate_limited"),
            (429, "too_many_invalid_codes"),
            (429, "wallet_creation_limit"),
            (500, "internal_error"),
            (502, "provider_error"),
            (503, "overloaded"),
            (503, "unavailable"),
        ];
        for row in documented {
            assert!(table.contains(&row), "{row:?}");
        }
    }

    #[test]
    fn a_fault_inside_an_item_names_the_item() {
        let error = Error::missing("amount").within("items[3]");
        assert_eq!(error.param(), Some("items[3].amount"));
        assert_eq!(
            Error::new(Code::ConflictingWallet)
                .within("items[0]")
                .param(),
            Some("items[0]")
        );
    }
}
