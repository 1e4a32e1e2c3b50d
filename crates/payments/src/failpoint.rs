//! Points at which a test may abort the process, as a power cut would between two steps. A release build has none.

#[cfg(debug_assertions)]
const VARIABLE: &str = "SCRIP_DIE_AT";

/// Aborts the process if the environment names this point.
#[cfg(debug_assertions)]
pub fn reached(place: &str) {
    if std::env::var_os(VARIABLE).is_some_and(|named| named == place) {
        tracing::error!(place, "Aborting at a failpoint");
        std::process::abort();
    }
}

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub const fn reached(_: &str) {}
