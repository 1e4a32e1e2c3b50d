//! Folded state in memory: wallets with all their records, code aliases, the catalog and notes.
//! Orders are found by looking at all wallets: what an index must answer, said without one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{
    catalog::Document,
    history::Record,
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    time::Timestamp,
    wallet::{Order, OrderStatus, Wallet},
};

use crate::{
    codec::Logged,
    contract::{Error, KeptNote, OrderPlace},
    tail::new_alias,
};

#[derive(Default)]
pub(super) struct Books {
    wallets: HashMap<WalletKey, (Wallet, Vec<Record>)>,
    aliases: HashMap<CodeHash, WalletKey>,
    documents: BTreeMap<(u8, u128), Document>,
    notes: BTreeMap<Box<[u8]>, Box<[u8]>>,
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
            Logged::Note(note) => {
                match note.body {
                    Some(body) => self.notes.insert(note.key, body),
                    None => self.notes.remove(&note.key),
                };
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

    pub(super) fn notes(&self, prefix: &[u8]) -> Vec<KeptNote> {
        let kept = self.notes.iter().filter(|(key, _)| key.starts_with(prefix));
        kept.map(|(key, body)| (key.clone(), body.clone()))
            .collect()
    }

    fn wallets_of(&self, project: ProjectId) -> impl Iterator<Item = (&WalletKey, &Wallet)> {
        let all = self.wallets.iter().map(|(key, (wallet, _))| (key, wallet));
        all.filter(move |(_, wallet)| wallet.project == project)
    }

    /// Pending ones, and archived ones as they were archived last.
    fn orders_of(&self, project: ProjectId) -> BTreeMap<OrderId, &Order> {
        let wallets = self.wallets_of(project).flat_map(|(&wallet, state)| {
            let archived = self.records(&wallet).iter().filter_map(Record::order);
            let archived = archived.map(|archived| (archived.serial, &archived.order));
            let orders = archived.chain(state.orders());
            orders.map(move |(serial, order)| (OrderId { serial, wallet }, order))
        });
        wallets.collect()
    }

    pub(super) fn orders(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Vec<OrderPlace> {
        let mut places: Vec<_> = self
            .orders_of(project)
            .into_iter()
            .map(|(order, state)| OrderPlace {
                at: state.created_at,
                order,
            })
            .filter(|place| before.is_none_or(|before| place.place() < before))
            .collect();
        places.sort_unstable_by_key(|place| std::cmp::Reverse(place.place()));
        places.truncate(limit);
        places
    }

    pub(super) fn checkout(&self, project: ProjectId, checkout: &CheckoutId) -> Option<OrderId> {
        let mut orders = self.orders_of(project).into_iter();
        let found = orders.find(|(_, order)| order.checkout.as_ref() == Some(checkout));
        found.map(|(order, _)| order)
    }

    pub(super) fn due(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Vec<OrderPlace> {
        let mut places: Vec<_> = self
            .orders_of(project)
            .into_iter()
            .filter(|(_, state)| state.status() == OrderStatus::Pending)
            .map(|(order, state)| OrderPlace {
                at: state.expires_at,
                order,
            })
            .filter(|place| after.is_none_or(|after| place.place() > after) && place.at <= until)
            .collect();
        places.sort_unstable_by_key(OrderPlace::place);
        places.truncate(limit);
        places
    }

    pub(super) fn buyers(&self, project: ProjectId, email: &Email, limit: usize) -> Vec<WalletKey> {
        let email = email.as_str().to_lowercase();
        let same = |other: &Email| other.as_str().to_lowercase() == email;
        let orders = self.orders_of(project).into_iter();
        let paid = orders.filter(|(_, order)| order.paid_at.is_some());
        let bought = paid.filter(|(_, order)| order.email.as_ref().is_some_and(same));
        let keys: BTreeSet<_> = bought.map(|(order, _)| order.wallet).collect();
        keys.into_iter().take(limit).collect()
    }
}
