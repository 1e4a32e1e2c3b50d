//! Operation keys: what was done under one is not done again, but answered again. Refusals of a
//! malformed request are not kept, since nothing was done.

use sha2::{Digest as _, Sha256};

use data_encoding::HEXLOWER;

use crate::core::prelude::*;

const MAX_KEY_BYTES: usize = 255;

/// What a request is, to be told from another.
pub(crate) fn digest(method: &str, path: &str, params: &Params) -> String {
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
pub(crate) fn replay(books: &Books, key: &str, digest: &str) -> Result<Option<(u16, Value)>> {
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err(Refusal::invalid(
            "Idempotency keys have 1 to 255 characters.",
        ));
    }
    let found = books.get::<Operation>(&id(key));
    match found.filter(|done| done.forget_at().is_none_or(|at| at > books.now)) {
        None => Ok(None),
        Some(done) if done.digest == digest => {
            let body = serde_json::from_str(&done.body).unwrap_or_default();
            Ok(Some((done.status, body)))
        }
        Some(_) => Err(Refusal::key_reused(key)),
    }
}

/// Keeps an answer.
pub(crate) fn keep(books: &mut Books, key: &str, digest: String, status: u16, body: &Value) {
    let head = books.head_of(id(key));
    books.put(Operation {
        head,
        digest,
        status,
        body: body.to_string(),
    });
}
