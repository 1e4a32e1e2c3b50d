//! Which record a look-up hash leads to: sorted runs of (hash, entry) that merge in tiers, so that neither memory nor
//! the cost of a new key grows with a wallet's history. An index only proposes: the caller confirms a hash against the
//! record itself. It never holds a wallet's whole index in memory.

pub(crate) mod filter;
pub(crate) mod merge;
pub(crate) mod run;
#[cfg(test)]
mod tests;

use crate::{error::Error, tuning::Tuning};

pub(crate) trait Pages {
    type Value: AsRef<[u8]>;

    /// The sizes at which pages and runs end.
    fn tuning(&self) -> &Tuning;

    /// A value of a page; `None`: it is not there (any more).
    fn page(&self, key: &[u8]) -> Result<Option<Self::Value>, Error>;

    /// A page's filter; `None`: it is not there (any more).
    fn filter(&self, key: &[u8]) -> Result<Option<Self::Value>, Error>;

    fn put_page(&self, key: Vec<u8>, value: Vec<u8>) -> Result<(), Error>;

    fn put_filter(&self, key: Vec<u8>, value: Vec<u8>) -> Result<(), Error>;
}

/// A look-up hash and the entry that it was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The hash of [`domain::history::RecordKey::hash`].
    pub(crate) hash: u64,
    /// The version of the entry, less than [`MAX_VERSION`].
    pub(crate) version: u64,
}

/// The first bytes of a hash. Every new key is compared with them where keys themselves would take too much: among the
/// 315 keys that a wallet may have in no run, one in 50,000 new ones has the same.
pub(crate) type Fingerprint = [u8; FINGERPRINT_BYTES];

pub(crate) const FINGERPRINT_BYTES: usize = 3;

pub(crate) const fn fingerprint(hash: u64) -> Fingerprint {
    let [a, b, c, ..] = hash.to_be_bytes();
    [a, b, c]
}

/// A key on disk: the hash, then 40 bits of the version, both big endian.
pub(crate) const KEY_BYTES: usize = 13;

/// The bound of versions, which have 40 bits.
pub(crate) const MAX_VERSION: u64 = 1 << 40;

pub(crate) type Packed = [u8; KEY_BYTES];

impl Key {
    fn pack(self) -> Packed {
        let [a, b, c, d, e, f, g, h] = self.hash.to_be_bytes();
        let [_, _, _, i, j, k, l, m] = self.version.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l, m]
    }

    pub(crate) const fn unpack(packed: &Packed) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m] = *packed;
        Self {
            hash: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            version: u64::from_be_bytes([0, 0, 0, i, j, k, l, m]),
        }
    }
}

pub(crate) fn pack(keys: &[Key], into: &mut Vec<u8>) {
    into.reserve(keys.len() * KEY_BYTES);
    for key in keys {
        into.extend_from_slice(&key.pack());
    }
}

/// Stored keys; bytes that are left over are not a key and are ignored.
pub(crate) const fn packed(bytes: &[u8]) -> &[Packed] {
    bytes.as_chunks().0
}

pub(crate) fn unpack(bytes: &[u8]) -> impl Iterator<Item = Key> + '_ {
    packed(bytes).iter().map(Key::unpack)
}

pub(crate) fn versions(keys: &[Packed], hash: u64) -> impl Iterator<Item = u64> + '_ {
    let start = keys.partition_point(|key| Key::unpack(key).hash < hash);
    let from = keys.get(start..).unwrap_or_default();
    from.iter()
        .map(Key::unpack)
        .take_while(move |key| key.hash == hash)
        .map(|key| key.version)
}
