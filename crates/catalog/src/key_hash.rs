//! A map from SHA-256 hashes, which are uniform already. An attacker cannot choose its keys, since only the
//! administrator adds them.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyHash(pub(super) [u8; 32]);

impl Hash for KeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
    }
}

/// A hasher that returns the one number it is given.
#[derive(Default)]
pub(super) struct PassThrough(u64);

impl Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // `KeyHash` never calls this.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

pub(super) type ByHash<T> = HashMap<KeyHash, T, BuildHasherDefault<PassThrough>>;
