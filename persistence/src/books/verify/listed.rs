//! Checks that look-ups have what wallets' events put into them, and nothing else. Wallets with pending events are
//! skipped: an interrupted checkpoint may have reached their records and not the look-ups, and will be done again.

use std::collections::BTreeMap;

use domain::id::WalletKey;

use crate::{
    books::store::Store,
    error::Error,
    format::DecodedEntry,
    lookups::{self, Key, LookUp, Value},
    usage::mix,
};

/// Wallets' entries in frames that are not, or not completely, applied; in log order.
pub(crate) type PendingEntries = BTreeMap<WalletKey, Vec<Box<[u8]>>>;

pub(super) type LookUpEntries = BTreeMap<(LookUp, Key), Value>;

/// What all wallets should have in each look-up.
#[derive(Debug, Default)]
pub(super) struct Listing(BTreeMap<LookUp, Sum>);

/// A fingerprint of entries that does not depend on their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    entries: u64,
    sum: u64,
}

impl Sum {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        let crc = crc32c::crc32c(key);
        let both = (u64::from(crc) << 32) | u64::from(crc32c::crc32c_append(crc, value));
        self.entries += 1;
        self.sum = self.sum.wrapping_add(mix(both));
    }
}

/// Applies what a listed event puts into look-ups or takes out of them.
pub(super) fn follow(wallet: &WalletKey, entry: &DecodedEntry, listed: &mut LookUpEntries) {
    let mut changes = Vec::new();
    lookups::of(wallet, &entry.event, entry.moved.as_deref(), &mut changes);
    for change in changes {
        let key = (change.look_up, change.key);
        match change.value {
            Some(value) => listed.insert(key, value),
            None => listed.remove(&key),
        };
    }
}

impl Listing {
    pub(super) fn add(&mut self, listed: LookUpEntries) {
        for ((look_up, key), value) in listed {
            self.0.entry(look_up).or_default().add(&key, &value);
        }
    }

    pub(super) fn compare(
        &self,
        store: &Store,
        pending: &PendingEntries,
        problems: &mut Vec<String>,
    ) -> Result<(), Error> {
        for look_up in LookUp::ALL {
            let mut stored = Sum::default();
            let all = look_up.from(&[]);
            store.look_up(look_up).range(&all, &mut |key, value| {
                if !pending.contains_key(&look_up.wallet_in(key, value)) {
                    stored.add(key, value);
                }
                true
            })?;
            let expected = self.0.get(&look_up).copied().unwrap_or_default();
            let name = look_up.declared().name;
            if stored.entries != expected.entries {
                problems.push(format!(
                    "the look-up {name} has {} entries, but wallets have {}",
                    stored.entries, expected.entries
                ));
            } else if stored != expected {
                problems.push(format!(
                    "the look-up {name} has other entries than wallets have"
                ));
            }
        }
        Ok(())
    }
}
