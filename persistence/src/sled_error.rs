//! How sled's errors and panics become the store's own errors.

use std::panic::{self, AssertUnwindSafe};

use crate::error::Error;

/// Runs something that uses sled: it panics on some damage instead of returning an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        Err(Error::Damaged(format!(
            "sled panicked: {}",
            words(&*payload)
        )))
    })
}

/// The message of a panic.
pub(crate) fn words(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

pub(crate) fn failed(what: &str, error: &sled::Error) -> Error {
    match error {
        sled::Error::Corruption { .. } => Error::Damaged(format!("{what}: {error}")),
        _ => Error::Io(format!("{what}: {error}")),
    }
}
