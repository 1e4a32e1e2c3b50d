//! A hasher for keys that are hashes already.

use std::hash::Hasher;

/// Passes the one number that a key is through.
#[derive(Default)]
pub struct UniformHasher(u64);

impl Hasher for UniformHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `u64` keys are used; the trait requires this.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
