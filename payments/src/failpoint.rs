//! Places at which a test may have the process die, as it would of a power cut: between any two
//! steps of which the first is done and the second is not. In a release build there are none.

/// What names the place at which to die.
#[cfg(debug_assertions)]
const VARIABLE: &str = "SCRIP_DIE_AT";

/// Does not return where the environment names this place.
#[cfg(debug_assertions)]
pub(crate) fn reached(place: &str) {
    if std::env::var_os(VARIABLE).is_some_and(|named| named == place) {
        tracing::error!(place, "told to die here");
        std::process::abort();
    }
}

/// Does nothing.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) const fn reached(_: &str) {}
