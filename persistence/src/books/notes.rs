//! Notes of the layers above, by key: a format version, then the body, which nothing here looks into.

use super::store::{Store, io};
use crate::{
    contract::StoredNote,
    error::Error,
    format::{decode_note, encode_note},
};

/// Stores a note in place of its former version, or removes it.
pub(super) fn put(store: &Store, key: &[u8], body: Option<&[u8]>) -> Result<(), Error> {
    match body {
        Some(body) => store.writes.put(&store.notes, key, encode_note(body)),
        None => store.writes.remove(&store.notes, key),
    }
}

/// All notes whose keys begin with `prefix`, in order of their keys.
pub(crate) fn with_prefix(store: &Store, prefix: &[u8]) -> Result<Vec<StoredNote>, Error> {
    let notes = store.notes.scan_prefix(prefix);
    notes
        .map(|note| {
            let (key, value) = note.map_err(io)?;
            Ok(((*key).into(), decode_note(&value)?.into()))
        })
        .collect()
}
