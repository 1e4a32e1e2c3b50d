//! Keyed hashes, and the server key's part in them.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// SHA-256 of some bytes under a key.
pub(crate) fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC itself pads a short key with zeroes to the hash's block.
    let mut block = [0_u8; 64];
    block.split_at_mut(32).0.copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for part in parts {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        mac.update(&length.to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
