//! The server's keys, oldest first.

use std::fmt;

/// At least one key of 32 random bytes. Ids and hashes of codes, orders and events come from the first one, so it is
/// needed for ever. Secrets are encrypted under the newest, and decrypted under the one that they were written with.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerKeys {
    first: [u8; 32],
    later: Vec<[u8; 32]>,
}

impl fmt::Debug for ServerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerKeys(..)")
    }
}

impl ServerKeys {
    /// A first key and those that came later, in order.
    pub const fn new(first: [u8; 32], later: Vec<[u8; 32]>) -> Self {
        Self { first, later }
    }

    /// The key that ids and look-ups come from.
    pub const fn first(&self) -> &[u8; 32] {
        &self.first
    }

    /// The key that encrypts.
    pub fn newest(&self) -> &[u8; 32] {
        self.later.last().unwrap_or(&self.first)
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &[u8; 32]> {
        std::iter::once(&self.first).chain(&self.later)
    }
}

impl From<&[u8; 32]> for ServerKeys {
    fn from(key: &[u8; 32]) -> Self {
        Self::new(*key, Vec::new())
    }
}

impl From<&Self> for ServerKeys {
    fn from(keys: &Self) -> Self {
        keys.clone()
    }
}
