//! Hashes of texts that strangers sent, under a key that ends with the process: they can be
//! recognised, and not be read.

use std::fmt;

use domain::id::ProjectId;
use sha2::{Digest as _, Sha256};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Hash([u8; 16]);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash(..)")
    }
}

/// A key for this process.
pub(super) fn new_key() -> [u8; 32] {
    let mut key = [0; 32];
    // Without random bytes texts are still hashed, only under a key that can be guessed.
    let _: Result<(), getrandom::Error> = getrandom::fill(&mut key);
    key
}

impl Hash {
    pub(super) fn of(key: &[u8; 32], project: ProjectId, text: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(key);
        hash.update(project.0.to_be_bytes());
        hash.update(text);
        let hash: [u8; 32] = hash.finalize().into();
        let mut half = [0; 16];
        half.iter_mut()
            .zip(hash)
            .for_each(|(slot, byte)| *slot = byte);
        Self(half)
    }
}
