//! Reads all wallets and their records, one after the other, for an export. Memory does not grow with wallets or
//! their histories.

use domain::{history::Record, wallet::Wallet};

use super::{
    pages::{self, From},
    store::{Store, damaged, io},
    wallet_record::{self, WalletRecord},
};
use crate::error::Error;

/// Receives wallets and their records.
pub trait Reader {
    /// Receives a wallet as of its last event; returns whether its records are wanted.
    /// # Errors
    /// An error ends the reading.
    fn wallet(&mut self, wallet: &Wallet) -> Result<bool, Error>;

    /// Receives the wallet's next record.
    /// # Errors
    /// An error ends the reading.
    fn record(&mut self, wallet: &Wallet, record: Record) -> Result<(), Error>;
}

/// Passes every wallet to `reader`, with every record, oldest first, where it wants them. Nothing may be applied until it
/// returns.
pub(crate) fn read_all(store: &Store, reader: &mut dyn Reader) -> Result<(), Error> {
    for stored in &store.wallets {
        let (key, value) = stored.map_err(io)?;
        let key = wallet_record::read_key(&key)?;
        let stored = WalletRecord::decode(&key, &value)?;
        let missing = || damaged(format!("{key:?}: a part of its snapshot is missing"));
        let Some(wallet) = stored.wallet(store, &key)?.ok_or_else(missing)? else {
            continue;
        };
        if !reader.wallet(&wallet)? {
            continue;
        }
        pages::each(store, &key, &stored, From::after(0), &mut |entry, _| {
            if let Some(record) = entry.record()? {
                reader.record(&wallet, record)?;
            }
            Ok(true)
        })?;
    }
    Ok(())
}
