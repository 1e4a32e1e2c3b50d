//! Entries of a look-up that were read at once.

use super::spec::LookUp;

/// Called with an entry's key and its value; returns whether to go on.
pub(crate) type EachEntry<'a> = dyn FnMut(&[u8], &[u8]) -> bool + 'a;

/// Entries of a look-up in a range's order. They are stored one behind another: a box for each key and value would cost more
/// than to read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryBatch {
    /// Bytes of a key and of a value.
    widths: (usize, usize),
    bytes: Vec<u8>,
}

impl EntryBatch {
    pub(super) const fn new(look_up: LookUp) -> Self {
        let spec = look_up.declared();
        Self {
            widths: (spec.key, spec.value),
            bytes: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Their keys and values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> + ExactSizeIterator {
        let (key, value) = self.widths;
        let entries = self.bytes.chunks_exact(key.saturating_add(value).max(1));
        entries.map(move |entry| entry.split_at_checked(key).unwrap_or((entry, &[])))
    }
}
