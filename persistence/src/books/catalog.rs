//! The catalog's documents, each in its latest form.

use domain::catalog::Document;

use super::store::{Store, io};
use crate::{
    error::Error,
    format::{decode_document, encode_document},
};

pub(super) fn put(store: &Store, document: &Document) -> Result<(), Error> {
    let (kind, id) = document.address();
    let key = [[kind].as_slice(), &id.to_be_bytes()].concat();
    store
        .writes
        .put(&store.catalog, key, encode_document(document)?)
}

pub(crate) fn documents(store: &Store) -> Result<Vec<Document>, Error> {
    store
        .catalog
        .iter()
        .map(|entry| decode_document(&entry.map_err(io)?.1))
        .collect()
}
