//! Requests and their operation keys: what was done under one is not done again, but answered again.
//! Refusals of a malformed request are not kept, since nothing was done.

use sha2::{Digest as _, Sha256};

use data_encoding::HEXLOWER;

use super::api;
use crate::core::prelude::*;

const MAX_KEY_BYTES: usize = 255;

/// A request of Stripe's API.
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    /// Below `/v1/`.
    pub(crate) path: &'a str,
    pub(crate) params: &'a Params,
    /// The caller's name for what it does.
    pub(crate) key: Option<&'a str>,
    /// What is answered though nothing is done.
    pub(crate) instead: Option<Instead>,
}

/// A failure that somebody ordered.
pub(crate) struct Instead {
    pub(crate) answer: Answer,
    /// Whether the same key gets the same answer for a day: it began.
    pub(crate) is_kept: bool,
}

/// What comes of a request.
pub(crate) struct Done {
    pub(crate) answer: Answer,
    /// Whether it was done before.
    pub(crate) is_replayed: bool,
}

/// Answers a request, once for its key.
pub(crate) fn answer(books: &mut Books, call: Call<'_>) -> Result<Done> {
    let digest = digest(call.method, call.path, call.params);
    let replayed = call
        .key
        .map(|key| replay(books, key, &digest))
        .transpose()?;
    if let Some(answer) = replayed.flatten() {
        return Ok(Done {
            answer,
            is_replayed: true,
        });
    }
    let is_kept = call.instead.as_ref().is_none_or(|instead| instead.is_kept);
    let answer = match call.instead {
        Some(instead) => instead.answer,
        None => match api::call(books, call.method, call.path, call.params) {
            // What was looked up and found wrong is an outcome; a malformed request has none.
            Err(refusal) if !refusal.is_outcome() || books.is_changed() => return Err(refusal),
            done => done.into(),
        },
    };
    if let Some(key) = call.key.filter(|_| is_kept) {
        let operation = Operation {
            head: books.head_of(id(key)),
            digest,
            status: answer.status,
            body: answer.body.to_string(),
        };
        books.put(operation);
    }
    Ok(Done {
        answer,
        is_replayed: false,
    })
}

/// What a request is, to be told from another.
fn digest(method: &str, path: &str, params: &Params) -> String {
    let mut hash = Sha256::new();
    for (key, value) in [(method, path)].into_iter().chain(params.pairs()) {
        for text in [key, value] {
            // Lengths first, so that no two requests are the same bytes.
            hash.update(text.len().to_be_bytes());
            hash.update(text);
        }
    }
    HEXLOWER.encode(&hash.finalize())
}

fn id(key: &str) -> String {
    format!("operation/{key}")
}

/// The answer that was given under this key, if one was.
fn replay(books: &Books, key: &str, digest: &str) -> Result<Option<Answer>> {
    Refusal::invalid("Idempotency keys have 1 to 255 characters.")
        .when(key.is_empty() || key.len() > MAX_KEY_BYTES)?;
    let found = books.get::<Operation>(&id(key));
    let found = found.filter(|done| done.forget_at().is_none_or(|at| at > books.now));
    Refusal::key_reused(key).when(found.is_some_and(|done| done.digest != digest))?;
    Ok(found.map(|done| Answer {
        status: done.status,
        body: serde_json::from_str(&done.body).unwrap_or_default(),
    }))
}
