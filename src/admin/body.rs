//! A request's JSON body. The administrator's requests are few and small: clarity before speed, and
//! nothing that was sent is repeated in a refusal, for it may be a secret in the wrong place.

use std::time::Duration;

use axum::{
    body::{Bytes, to_bytes},
    extract::{FromRequest, Request},
    http::header,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    api::{Code, Error},
    app::App,
};

/// A body that was read but not parsed.
#[derive(Debug)]
pub(super) struct Body(Bytes);

impl FromRequest<App> for Body {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self, Error> {
        let media_type = request.headers().get(header::CONTENT_TYPE);
        if !media_type.is_some_and(|value| is_json(value.as_bytes())) {
            return Err(Error::new(Code::UnsupportedMediaType));
        }
        let http = &app.config.http;
        let read = to_bytes(request.into_body(), http.max_body_bytes);
        match tokio::time::timeout(Duration::from_secs(http.body_timeout_seconds), read).await {
            Ok(Ok(bytes)) => Ok(Self(bytes)),
            Ok(Err(error)) if is_too_large(&error) => Err(Error::new(Code::BodyTooLarge)),
            Ok(Err(_)) => Err(Error::malformed("The body ended too early.")),
            Err(_) => Err(Error::malformed("The body took too long to arrive.")),
        }
    }
}

impl Body {
    /// Reads the body as an object of this type.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        match serde_json::from_slice(&self.0) {
            Ok(Value::Object(fields)) => read(fields),
            Ok(_) => Err(Error::malformed("The body has to be an object.")),
            Err(error) => Err(Error::malformed(format!(
                "The body is not valid JSON: {error}."
            ))),
        }
    }
}

/// Reads an object that is a field of the body.
pub(super) fn inner<T: DeserializeOwned>(
    param: &str,
    fields: Map<String, Value>,
) -> Result<T, Error> {
    read(fields).map_err(|error: Error| error.within(param))
}

fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Error> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|failure| {
        let path = failure.path().to_string();
        let said = failure.inner().to_string();
        // What serde found, up to here, repeats what was sent.
        let message = match said.rsplit_once(", expected ") {
            Some((_, expected)) => format!("{path} has to be {}.", plain(expected)),
            None => format!("{path} is not valid."),
        };
        Error::invalid(path, message)
    })
}

/// What serde expects, for people who do not write Rust.
fn plain(expected: &str) -> &str {
    match expected {
        "i64" => "a whole number",
        "u32" => "a whole number from 0 to 4294967295",
        "a sequence" => "a list",
        "a map" => "an object",
        other => other,
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// `application/json`, with any parameters.
fn is_json(media_type: &[u8]) -> bool {
    let essence = media_type
        .split(|byte| *byte == b';')
        .next()
        .unwrap_or_default();
    essence
        .trim_ascii()
        .eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Shape {
        #[serde(rename = "amountCents")]
        _amount_cents: Option<i64>,
        #[serde(rename = "features")]
        _features: Option<Vec<String>>,
    }

    fn at_fault(text: &str) -> Option<String> {
        let body = Body(Bytes::copy_from_slice(text.as_bytes()));
        let error = body.parse::<Shape>().unwrap_err();
        assert_eq!(error.code(), Code::InvalidRequest);
        assert!(!format!("{error:?}").contains("pay_sk"), "{error:?}");
        error.param().map(Into::into)
    }

    #[test]
    fn the_input_at_fault_is_named_and_not_repeated() {
        assert_eq!(
            at_fault(r#"{"amountCents":1.5}"#).as_deref(),
            Some("amountCents")
        );
        assert_eq!(
            at_fault(r#"{"amountCents":"pay_sk_x"}"#).as_deref(),
            Some("amountCents")
        );
        assert_eq!(
            at_fault(r#"{"features":["a",7]}"#).as_deref(),
            Some("features[1]")
        );
        for whole in ["", "[]", "[1,[]]", "7", "{", "{}{}", "\"pay_sk_x\""] {
            assert_eq!(at_fault(whole), None, "{whole}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let body = Body(Bytes::from_static(br#"{"future":[1.5],"amountCents":1}"#));
        assert!(body.parse::<Shape>().is_ok());
    }
}
