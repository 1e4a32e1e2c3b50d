//! A refused request in Stripe's form: status, type, code, parameter, message. Never contains a key.

use serde_json::{Value, json};

use super::shape;

pub(crate) type Result<T, E = Refusal> = std::result::Result<T, E>;

/// An answer of the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body of the answer.
    pub body: Value,
}

impl From<Result<Value>> for Answer {
    fn from(done: Result<Value>) -> Self {
        done.map_or_else(Self::from, |body| Self { status: 200, body })
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self {
            status: refusal.status,
            body: refusal.body(),
        }
    }
}

pub(crate) fn need<T>(value: Option<T>, param: &str) -> Result<T> {
    value.ok_or_else(|| Refusal::missing(param))
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) code: Option<&'static str>,
    pub(crate) param: Option<String>,
    pub(crate) message: String,
    /// Why the bank declined, if it did.
    pub(crate) declined: Option<&'static str>,
}

impl Refusal {
    /// Whether it depends on objects rather than the request's form, so that a retry under the same key gets it again.
    pub(crate) fn is_outcome(&self) -> bool {
        let of_form = |code: &str| code.starts_with("parameter_") || code.ends_with("_invalid");
        self.code.is_some_and(|code| !of_form(code))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            code: None,
            param: None,
            message: message.into(),
            declined: None,
        }
    }

    pub(crate) fn param(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::invalid(message)
        }
    }

    pub(crate) fn with_code(self, code: &'static str) -> Self {
        let code = Some(code);
        Self { code, ..self }
    }

    pub(crate) fn when(self, wrong: bool) -> Result<()> {
        if wrong {
            return Err(self);
        }
        Ok(())
    }

    /// These parameters, separated by commas, exclude each other.
    pub(crate) fn exclusive(param: &str, params: &str) -> Self {
        let message = format!("You may only specify one of these parameters: {params}.");
        Self::param(param, message)
    }

    pub(crate) fn not_positive(param: impl Into<String>) -> Self {
        Self::param(param, "This value must be greater than or equal to 1.")
    }

    pub(crate) fn missing(param: impl Into<String>) -> Self {
        let param = param.into();
        let message = format!("Missing required param: {param}.");
        Self::param(param, message).with_code("parameter_missing")
    }

    pub(crate) fn no_such(kind: &str, id: &str) -> Self {
        Self {
            status: 404,
            ..Self::param("id", format!("No such {kind}: '{id}'")).with_code("resource_missing")
        }
    }

    pub(crate) fn no_route(method: &str, path: &str) -> Self {
        Self {
            status: 404,
            ..Self::invalid(format!(
                "Unrecognized request URL ({method}: /v1/{path}). The sandbox serves a part of \
                 Stripe's API."
            ))
        }
    }

    /// The object of a parameter is missing: a 400 about the parameter, not a 404.
    pub(crate) fn of_param(self, param: impl Into<String>) -> Self {
        Self {
            status: 400,
            param: Some(param.into()),
            ..self
        }
    }

    pub(crate) fn declined() -> Self {
        Self::declined_for("generic_decline")
    }

    /// Declined by the bank, with Stripe's word for the reason.
    pub(crate) fn declined_for(reason: &'static str) -> Self {
        Self {
            status: 402,
            kind: "card_error",
            declined: Some(reason),
            ..Self::invalid(card_message(reason)).with_code("card_declined")
        }
    }

    pub(crate) fn impossible(message: &str) -> Self {
        Self {
            status: 409,
            ..Self::invalid(message)
        }
    }

    pub(crate) fn rate_limit() -> Self {
        let message = "Request rate limit exceeded. Learn more about rate limits here \
                       https://docs.stripe.com/rate-limits.";
        Self {
            status: 429,
            ..Self::invalid(message).with_code("rate_limit")
        }
    }

    pub(crate) fn unauthorized(message: &str) -> Self {
        Self {
            status: 401,
            ..Self::invalid(message)
        }
    }

    pub(crate) fn key_reused(key: &str) -> Self {
        Self {
            kind: "idempotency_error",
            ..Self::invalid(format!(
                "Keys for idempotent requests can only be used with the same parameters they were \
                 first used with. Try using a key other than '{key}' if you meant to execute a \
                 different request."
            ))
        }
    }

    pub(crate) fn body(&self) -> Value {
        if let Some(reason) = self.declined {
            return json!({ "error": card_error(reason) });
        }
        let page = self.code.map(|code| code.replace('_', "-"));
        let page = page.map(|page| format!("https://docs.stripe.com/error-codes/{page}"));
        let mut error = json!({ "type": self.kind, "message": self.message });
        let more = json!({ "code": self.code, "doc_url": page, "param": self.param });
        shape::set(&mut error, more);
        json!({ "error": error })
    }
}

fn card_message(reason: &str) -> &'static str {
    match reason {
        "authentication_required" => {
            "Your card was declined. This transaction requires authentication."
        }
        "insufficient_funds" => "Your card has insufficient funds.",
        "expired_card" => "Your card has expired.",
        "incorrect_cvc" => "Your card's security code is incorrect.",
        _ => "Your card was declined.",
    }
}

/// An error about a card, by Stripe's word for the bank's reason. A few have an error code of their own.
pub(crate) fn card_error(reason: &str) -> Value {
    let (code, advice) = match reason {
        "authentication_required" => (reason, None),
        "expired_card" | "incorrect_cvc" => (reason, Some("confirm_card_data")),
        "processing_error" => (reason, Some("try_again_later")),
        "card_velocity_exceeded" | "insufficient_funds" => {
            ("card_declined", Some("try_again_later"))
        }
        "generic_decline" => ("card_declined", None),
        _ => ("card_declined", Some("do_not_try_again")),
    };
    let mut error = json!({
        "type": "card_error", "code": code, "decline_code": reason, "message": card_message(reason),
        "doc_url": format!("https://docs.stripe.com/error-codes/{}", code.replace('_', "-")),
    });
    shape::set(&mut error, json!({ "advice_code": advice }));
    error
}
