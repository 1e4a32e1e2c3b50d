//! Points at which a test may abort the process, as a power cut would between two steps: with the feature `test-util`.

/// Aborts the process if the environment names this point.
#[cfg(feature = "test-util")]
pub fn reached(place: &str) {
    if std::env::var_os("SCRIP_DIE_AT").is_some_and(|named| named == place) {
        tracing::error!(place, "Aborting at a failpoint");
        std::process::abort();
    }
}

/// Nothing happens in a build that is no test's.
#[cfg(not(feature = "test-util"))]
#[inline(always)]
pub const fn reached(_: &str) {}
