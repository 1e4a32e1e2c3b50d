//! What is found without a wallet's key: catalog documents, and the codes that open a wallet other
//! than by its key. A code that was replaced may lead to its wallet a little longer, until its
//! replacement is durable: whoever opens a wallet by a code compares it with the owner's.

use domain::{
    catalog::Document,
    id::{CodeHash, WalletKey},
    wallet::Owner,
};

use super::store::{Store, io};
use crate::{
    codec::{decode_value, encode_value},
    contract::Error,
};

/// Stores a document in place of its former self.
pub(super) fn put(store: &Store, document: &Document) -> Result<(), Error> {
    let (kind, id) = document.address();
    let key = [[kind].as_slice(), &id.to_be_bytes()].concat();
    store.put(&store.catalog, key, encode_value(document)?)
}

/// All documents.
pub(super) fn documents(store: &Store) -> Result<Vec<Document>, Error> {
    store
        .catalog
        .iter()
        .map(|entry| decode_value(&entry.map_err(io)?.1))
        .collect()
}

/// The wallet that a code opens, if the code is an alias.
pub(super) fn alias(store: &Store, code: &CodeHash) -> Result<Option<WalletKey>, Error> {
    store
        .aliases
        .get(code.0)
        .map_err(io)?
        .map(|key| decode_value(&key))
        .transpose()
}

/// The code that opens a wallet of this owner, where it is not the wallet's own key.
pub(super) fn alias_of(key: &WalletKey, owner: &Owner) -> Option<CodeHash> {
    match owner {
        Owner::Code { hash, .. } if hash.0 != key.0 => Some(*hash),
        Owner::Code { .. } | Owner::External(_) | Owner::Order => None,
    }
}

/// Stores the code that a wallet is opened by now.
pub(super) fn put_alias(store: &Store, key: &WalletKey, code: CodeHash) -> Result<(), Error> {
    store.put(&store.aliases, code.0, encode_value(key)?)
}
