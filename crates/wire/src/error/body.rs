//! How a refusal is written out.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Detail, Error};
use crate::{
    headers::{RATE_LIMIT_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET},
    request_id::RequestId,
    view::{OpenInvoice, Price},
};

/// The body of every refusal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Error)]
pub struct ErrorBody<'a> {
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
    /// Where this server explains the code, and what to do about it; relative to its address.
    #[schema(value_type = Option<String>, example = "/docs/errors#invalid_request")]
    docs: &'static str,
    /// Credits that can be spent now; with `insufficient_credits`, as are the next four.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<i64>,
    /// Credits that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<i64>,
    /// Credits that are missing for the request.
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
    /// How much more may come to be owed, where that is what `maxOverrun` asks too much of.
    #[serde(skip_serializing_if = "Option::is_none")]
    credit_available: Option<i64>,
    /// The currency in which the wallet's subscriptions are charged; with `currency_mismatch`,
    /// where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "EUR")]
    currency: Option<&'a str>,
    /// What can still be refunded, in the currency's minor unit; with `already_refunded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    refundable_cents: Option<i64>,
    /// Credits of the deduction that can still be given back; with `already_reversed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reversible: Option<i64>,
    /// The subscription's bill that waits for the buyer; with `already_subscribed`, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<OpenInvoice>)]
    open_invoice: Option<&'a OpenInvoice>,
    /// Why the wallet is frozen; with `wallet_frozen`, if a reason was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<&'a str>,
}

impl Error {
    /// The response's body; the items of a batch have no request id.
    pub fn body<'a>(&'a self, request_id: Option<&'a str>) -> ErrorBody<'a> {
        let short = match self.detail.as_deref() {
            Some(Detail::Shortfall(shortfall)) => Some(shortfall),
            _ => None,
        };
        ErrorBody {
            code: self.code.as_str(),
            message: &self.message,
            request_id,
            param: self.param.as_deref(),
            docs: self.code.docs(),
            balance: short.map(|s| s.balance),
            requested: short.map(|s| s.requested),
            shortfall: short.map(|s| s.shortfall),
            product_id: short.map(|s| s.product_id.as_str()),
            prices: short.map(|s| s.prices.as_slice()),
            credit_available: short.and_then(|s| s.credit_available),
            currency: match self.detail.as_deref() {
                Some(Detail::Currency(currency)) => Some(currency),
                _ => None,
            },
            refundable_cents: match self.detail.as_deref() {
                Some(Detail::Refundable(cents)) => Some(*cents),
                _ => None,
            },
            reversible: match self.detail.as_deref() {
                Some(Detail::Reversible(credits)) => Some(*credits),
                _ => None,
            },
            open_invoice: match self.detail.as_deref() {
                Some(Detail::Due(open)) => Some(open),
                _ => None,
            },
            reason: match self.detail.as_deref() {
                Some(Detail::Reason(reason)) => Some(reason),
                _ => None,
            },
        }
    }

    /// Writes the body and the headers that belong to the code.
    pub fn write(&self, response: &mut Response, id: RequestId) {
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
