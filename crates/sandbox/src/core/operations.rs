//! Requests and their idempotency keys: a repeat under one is answered again without being done. Refusals of malformed
//! requests are not kept.

use sha2::{Digest as _, Sha256};

use data_encoding::HEXLOWER;

use super::api;
use crate::core::prelude::*;

const MAX_KEY_BYTES: usize = 255;

pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    /// Path below `/v1/`.
    pub(crate) path: &'a str,
    pub(crate) params: &'a Params,
    pub(crate) key: Option<&'a str>,
    /// An injected failure: answered without being done.
    pub(crate) instead: Option<InjectedFailure>,
}

pub(crate) struct InjectedFailure {
    pub(crate) answer: Answer,
    /// Whether the idempotency key keeps it for a day, as if the request had begun.
    pub(crate) is_kept: bool,
}

pub(crate) struct OperationResult {
    pub(crate) answer: Answer,
    /// Whether the answer is an earlier one under the same key.
    pub(crate) is_replayed: bool,
}

/// Answers a request, doing it once for its idempotency key.
pub(crate) fn answer(db: &mut Database, call: Call<'_>) -> Result<OperationResult> {
    let digest = digest(call.method, call.path, call.params);
    let replayed = call.key.map(|key| replay(db, key, &digest)).transpose()?;
    if let Some(answer) = replayed.flatten() {
        return Ok(OperationResult {
            answer,
            is_replayed: true,
        });
    }
    let is_kept = call.instead.as_ref().is_none_or(|instead| instead.is_kept);
    let answer = match call.instead {
        Some(instead) => instead.answer,
        None => match api::call(db, call.method, call.path, call.params) {
            // Only refusals that depend on objects are kept.
            Err(refusal) if !refusal.is_outcome() || db.is_changed() => return Err(refusal),
            done => done.unwrap_or_else(Answer::from),
        },
    };
    if let Some(key) = call.key.filter(|_| is_kept) {
        let operation = Operation {
            head: db.head_of(id(key)),
            digest,
            status: answer.status,
            body: answer.body.to_string(),
        };
        db.put(operation);
    }
    Ok(OperationResult {
        answer,
        is_replayed: false,
    })
}

/// A hash of the whole request, to refuse another one under the same key.
fn digest(method: &str, path: &str, params: &Params) -> String {
    let mut hash = Sha256::new();
    for (key, value) in [(method, path)].into_iter().chain(params.pairs()) {
        for text in [key, value] {
            // Lengths first, so that different requests have different bytes.
            hash.update(text.len().to_be_bytes());
            hash.update(text);
        }
    }
    HEXLOWER.encode(&hash.finalize())
}

fn id(key: &str) -> String {
    format!("operation/{key}")
}

fn replay(db: &Database, key: &str, digest: &str) -> Result<Option<Answer>> {
    Refusal::invalid("Idempotency keys have 1 to 255 characters.")
        .when(key.is_empty() || key.len() > MAX_KEY_BYTES)?;
    let earlier = db
        .get::<Operation>(&id(key))
        .filter(|operation| operation.forget_at().is_none_or(|at| at > db.now));
    Refusal::key_reused(key).when(earlier.is_some_and(|operation| operation.digest != digest))?;
    Ok(earlier.map(|operation| Answer {
        status: operation.status,
        body: serde_json::from_str(&operation.body).unwrap_or_default(),
    }))
}
