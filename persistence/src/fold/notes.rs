//! Notes of the layers above, by key: a format version, then what they say. Nobody here looks inside.

use super::store::{Store, damaged, io};
use crate::{
    codec::FORMAT,
    contract::{Error, KeptNote},
};

/// Stores a note in place of its former self, or forgets it.
pub(super) fn put(store: &Store, key: &[u8], body: Option<&[u8]>) -> Result<(), Error> {
    match body {
        Some(body) => store.put(&store.notes, key, [[FORMAT].as_slice(), body].concat()),
        None => store.remove(&store.notes, key),
    }
}

/// All notes whose keys start like this, in order of their keys.
pub(super) fn with_prefix(store: &Store, prefix: &[u8]) -> Result<Vec<KeptNote>, Error> {
    let notes = store.notes.scan_prefix(prefix);
    notes
        .map(|note| {
            let (key, value) = note.map_err(io)?;
            Ok(((*key).into(), body(&value)?.into()))
        })
        .collect()
}

/// What a stored note says.
pub(super) fn body(value: &[u8]) -> Result<&[u8], Error> {
    match value.split_first() {
        Some((&FORMAT, body)) => Ok(body),
        Some((other, _)) => Err(Error::Unusable(format!(
            "a note has format {other}, this version of Scrip reads {FORMAT}: use a newer one"
        ))),
        None => Err(damaged("an empty note".into())),
    }
}
