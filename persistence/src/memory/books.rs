//! Folded state in memory: wallets with all their records, code aliases and the catalog.

use std::collections::{BTreeMap, HashMap};

use domain::{
    catalog::Document,
    history::Record,
    id::{CodeHash, WalletKey},
    wallet::Wallet,
};

use crate::{codec::Logged, contract::Error, tail::new_alias};

#[derive(Default)]
pub(super) struct Books {
    wallets: HashMap<WalletKey, (Wallet, Vec<Record>)>,
    aliases: HashMap<CodeHash, WalletKey>,
    documents: BTreeMap<(u8, u128), Document>,
}

impl Books {
    pub(super) fn fold(&mut self, logged: Logged) -> Result<(), Error> {
        match logged {
            Logged::Wallet {
                key,
                version,
                event,
            } => {
                if let Some(code) = new_alias(&key, &event) {
                    self.aliases.insert(code, key);
                }
                let (wallet, mut records) = match self.wallets.remove(&key) {
                    Some((wallet, records)) => (Some(wallet), records),
                    None => (None, Vec::new()),
                };
                let (wallet, record) = Wallet::replay(wallet, key, event)?;
                if wallet.version != version {
                    return Err(Error::Damaged(format!(
                        "{key:?} is at version {}, the log says {version}",
                        wallet.version
                    )));
                }
                records.extend(record);
                self.wallets.insert(key, (wallet, records));
            }
            Logged::Catalog(document) => {
                self.documents.insert(document.address(), document);
            }
        }
        Ok(())
    }

    pub(super) fn wallet(&self, key: &WalletKey) -> Option<&Wallet> {
        self.wallets.get(key).map(|(wallet, _)| wallet)
    }

    pub(super) fn records(&self, key: &WalletKey) -> &[Record] {
        self.wallets.get(key).map_or(&[], |(_, records)| records)
    }

    pub(super) fn alias(&self, code: &CodeHash) -> Option<WalletKey> {
        self.aliases.get(code).copied()
    }

    pub(super) fn documents(&self) -> Vec<Document> {
        self.documents.values().cloned().collect()
    }
}
