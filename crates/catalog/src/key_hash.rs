//! A map from SHA-256 hashes, which are uniform already. An attacker cannot choose its keys, since only the
//! administrator adds them.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

use actors::UniformHasher;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyHash(pub(super) [u8; 32]);

impl Hash for KeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
    }
}

pub(super) type ByHash<T> = HashMap<KeyHash, T, BuildHasherDefault<UniformHasher>>;
