//! Names of chunks: SHA-256 in hexadecimal digits.

use sha2::{Digest as _, Sha256};

/// A chunk's name: the SHA-256 of what it holds, in hexadecimal digits.
pub(super) type Name = String;

/// The largest chunk. Limits what is read before its hash can be checked.
pub(super) const MAX_BYTES: usize = 8 << 20;
/// The longest that a chunk is once compressed: perhaps a little longer than its content, never twice as long.
pub const MAX_COMPRESSED_BYTES: usize = 2 * MAX_BYTES;

pub(super) fn digest(bytes: &[u8]) -> Name {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash that a chunk's name, or a frame's hash in a manifest, has in digits.
pub fn from_hex(name: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if !is_digest(name) {
        return None;
    }
    for (place, digits) in hash.iter_mut().zip(name.as_bytes().chunks(2)) {
        *place = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

pub(super) fn is_digest(name: &str) -> bool {
    let digits = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 64 && name.bytes().all(digits)
}
