//! A request to the provider, and its outcome.

use std::collections::BTreeMap;

use crate::core::refusal::Answer;

/// A request's parameters, by their names in bracket notation.
pub type Parameters = BTreeMap<String, String>;

/// A request to the provider, with its times.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `GET`, `POST`, `DELETE`.
    pub method: &'a str,
    /// The path from `/v1/` on, without the query.
    pub path: &'a str,
    /// The parameters of the query, or of the body.
    pub form: &'a Parameters,
    /// The secret key that it came with.
    pub key: &'a str,
    /// Its idempotency key.
    pub operation: Option<&'a str>,
    /// The account's time, in seconds since the Unix epoch.
    pub now: i64,
    /// The time for rate limits, in milliseconds since any instant.
    pub millis: i64,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// An answer, with its headers.
    Answer {
        /// Status and body.
        answer: Answer,
        /// Headers besides the usual ones.
        headers: Vec<(&'static str, String)>,
    },
    /// No answer within a caller's timeout.
    Silence,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        let headers = Vec::new();
        Self::Answer { answer, headers }
    }
}
