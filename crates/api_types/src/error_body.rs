//! What a refused request is answered with.

use std::{fmt, time::Duration};

use crate::{LimitState, OpenInvoice, Price};

records! {
    /// The body of every refusal.
    #[derive(Default)]
    #[cfg_attr(feature = "server", schema(as = Error))]
    pub struct ErrorBody {
        /// What went wrong, as a program reads it.
        // A newer server may have new codes.
        #[cfg_attr(feature = "server", schema(example = "invalid_request"))]
        pub code: String,
        /// What went wrong, as a person reads it: one plain sentence.
        pub message: String,
        /// The request's identifier, also in `X-Request-Id`. Not in the items of a batch.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "server", schema(example = "req_01jd3v8q6pf6r9x3v1m2k4c5d7"))]
        pub request_id: Option<String>,
        /// The one input at fault, as a path.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "server", schema(example = "items[3].amount"))]
        pub param: Option<String>,
        /// Where this server explains the code, and what to do about it; relative to its address.
        #[cfg_attr(feature = "server", schema(example = "/docs/errors#invalid_request"))]
        pub docs: Option<String>,
        /// Credits that can be spent now; with `insufficient_credits`, as are the next four.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub balance: Option<i64>,
        /// Credits that were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub requested: Option<i64>,
        /// Credits that are missing for the request.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shortfall: Option<i64>,
        /// The product whose balance fell short.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub product_id: Option<String>,
        /// Active prices that would cover the shortfall.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prices: Option<Vec<Price>>,
        /// How much more may come to be owed, where that is what `maxOverrun` asks too much of.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub credit_available: Option<i64>,
        /// The currency in which the wallet's subscriptions are charged; with `currency_mismatch`,
        /// where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "server", schema(example = "EUR"))]
        pub currency: Option<String>,
        /// What can still be refunded, in the currency's minor unit; with `already_refunded`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub refundable_cents: Option<i64>,
        /// Credits of the deduction that can still be given back; with `already_reversed`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reversible: Option<i64>,
        /// The subscription's bill that waits for the buyer; with `already_subscribed`, where there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub open_invoice: Option<OpenInvoice>,
        /// Why the wallet is frozen; with `wallet_frozen`, if a reason was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
        /// The limit that has no room for it; with `limit_exceeded`, as is `requested`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limit: Option<Box<LimitState>>,
        /// What the restricted key would need; with `permission_missing`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "server", schema(example = "refund"))]
        pub permission: Option<String>,
        /// The response's HTTP status, once it was received.
        #[serde(skip)]
        pub status: u16,
        /// How long to wait before the next attempt, from the response's headers.
        #[serde(skip)]
        pub retry_after: Option<Duration>,
    }
}

impl ErrorBody {
    /// A refusal that says no more than its code, its sentence and its status of HTTP.
    pub fn new(code: &str, message: &str, status: u16) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            status,
            ..Self::default()
        }
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        if let Some(id) = &self.request_id {
            write!(f, " [{id}]")?;
        }
        Ok(())
    }
}
