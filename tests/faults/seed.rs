//! Randomness that a failed run names, so that it can be run again.

use rand::{SeedableRng, rngs::StdRng};

/// Set to the number a failed test printed, this makes the same choices again.
const VARIABLE: &str = "FAULTS_SEED";

/// A generator from a fresh seed, which is printed (and shown when the test fails).
pub(crate) fn rng() -> StdRng {
    let given = std::env::var(VARIABLE)
        .ok()
        .and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(rand::random::<u64>);
    eprintln!("{VARIABLE}={seed}");
    StdRng::seed_from_u64(seed)
}
