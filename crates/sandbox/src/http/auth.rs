//! Authentication of API calls: the key as a bearer token, or as the user name of Basic, as in Stripe's libraries.
//! Compared in constant time; never tells which part was wrong.

use axum::http::{HeaderMap, header};
use data_encoding::BASE64;
use subtle::ConstantTimeEq as _;

use crate::core::prelude::*;

pub(super) fn check(headers: &HeaderMap, secret_key: &str) -> Result<()> {
    let sent = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let Some((scheme, sent)) = sent.and_then(|text| text.split_once(' ')) else {
        return Err(Refusal::unauthorized(
            "You did not provide an API key. You need to provide your API key in the Authorization \
             header, using Bearer auth.",
        ));
    };
    let expected = if scheme.eq_ignore_ascii_case("bearer") {
        secret_key.to_owned()
    } else if scheme.eq_ignore_ascii_case("basic") {
        BASE64.encode(format!("{secret_key}:").as_bytes())
    } else {
        return Err(Refusal::unauthorized("Invalid API Key provided."));
    };
    // An empty key is no key.
    let same = expected.as_bytes().ct_eq(sent.trim().as_bytes());
    if !secret_key.is_empty() && bool::from(same) {
        return Ok(());
    }
    Err(Refusal::unauthorized("Invalid API Key provided."))
}

#[cfg(test)]
mod tests;
