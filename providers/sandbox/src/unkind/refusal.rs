//! Refusals in Stripe's words.

use serde_json::json;

use super::{Answer, Outcome};

/// Why not.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<String>,
    message: String,
    headers: Vec<(&'static str, String)>,
}

impl Refusal {
    fn new(status: u16, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: "invalid_request_error",
            code,
            param: None,
            message: message.into(),
            headers: Vec::new(),
        }
    }

    /// A parameter is wrong.
    pub(super) fn of_param(
        param: &str,
        code: Option<&'static str>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::new(400, code, message)
        }
    }

    /// The key may not; the account is named as Stripe names it.
    pub(super) fn denied(key: &str, permission: &str) -> Self {
        let (start, end) = (key.get(..8), key.len().checked_sub(6));
        let end = end.filter(|end| *end > 8).and_then(|end| key.get(end..));
        let shown = format!(
            "{}*********************{}",
            start.unwrap_or_default(),
            end.unwrap_or_default()
        );
        Self::new(
            403,
            None,
            format!(
                "The provided key '{shown}' does not have the required permissions for this endpoint \
                 on account 'acct_1Unkind'. Having the '{permission}' permission would allow this \
                 request to continue."
            ),
        )
    }

    /// Asked too often; the header says by what.
    pub(super) fn rate_limit(reason: &str) -> Self {
        let message = "Request rate limit exceeded. Learn more about rate limits here \
                       https://docs.stripe.com/rate-limits.";
        Self {
            headers: vec![("stripe-rate-limited-reason", reason.into())],
            ..Self::new(429, Some("rate_limit"), message)
        }
    }

    /// There is no such thing, or not yet.
    pub(super) fn missing(kind: &str, id: &str) -> Self {
        let message = format!("No such {kind}: '{id}'");
        let param = if kind == "payment_intent" {
            "intent"
        } else {
            "id"
        };
        Self {
            param: Some(param.into()),
            ..Self::new(404, Some("resource_missing"), message)
        }
    }

    /// Stripe itself is in trouble.
    pub(super) fn broken(status: u16) -> Self {
        let message = "Sorry! There was an error while talking to Stripe. Our engineers have been \
                       notified and we'll fix the problem as soon as possible. In the meantime, you can \
                       email support@stripe.com for help.";
        Self {
            kind: "api_error",
            ..Self::new(status, None, message)
        }
    }

    /// It was answered before under the same idempotency key.
    pub(super) fn replayed(self) -> Self {
        let headers = vec![("idempotent-replayed", "true".into())];
        Self { headers, ..self }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        let page = refusal.code.map(|code| {
            let page = code.replace('_', "-");
            format!("https://docs.stripe.com/error-codes/{page}")
        });
        let mut error = json!({
            "code": refusal.code, "doc_url": page, "message": refusal.message,
            "param": refusal.param, "type": refusal.kind,
            "request_log_url": "https://dashboard.stripe.com/test/logs/req_Unkind",
        });
        if let Some(fields) = error.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        Self::Answer {
            answer: Answer {
                status: refusal.status,
                body: json!({ "error": error }),
            },
            headers: refusal.headers,
        }
    }
}
