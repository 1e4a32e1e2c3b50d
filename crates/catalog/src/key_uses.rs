//! The day on which each API key was last used, to identify unused keys. A use costs a comparison; the first of a day
//! is logged a little later. A crash may lose it until the key's next use.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use actors::{Handle, notes};
use domain::{Timestamp, id::KeyId};
use tokio::sync::Notify;

use super::Error;

const DAY: i64 = 86_400_000;

actors::note_kinds! {
    /// The day on which a key was last used, in days since the epoch.
    pub struct KeyUseNote: 10, "last use of a key", KeyId => i64;
}

/// The day of a key's last use, shared by all versions of the catalog.
#[derive(Debug)]
pub(super) struct LastUse(AtomicI64);

impl Default for LastUse {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl LastUse {
    /// The start of the day of the last use; `None`: it was never used.
    pub(super) fn day(&self) -> Option<Timestamp> {
        // The value of a key that was never used overflows.
        self.0
            .load(Ordering::Relaxed)
            .checked_mul(DAY)
            .map(Timestamp)
    }
}

/// First uses of a day that are not in the log yet.
#[derive(Debug, Default)]
pub(super) struct KeyUses {
    unwritten: Mutex<Vec<(KeyId, i64)>>,
    pub(super) more: Notify,
}

impl KeyUses {
    /// Notes a use, if it is the key's first of the day.
    pub(super) fn note(&self, key: KeyId, last: &LastUse, now: Timestamp) {
        let today = now.0.div_euclid(DAY);
        if last.0.load(Ordering::Relaxed) < today {
            last.0.store(today, Ordering::Relaxed);
            self.push((key, today));
        }
    }

    #[cold]
    fn push(&self, used: (KeyId, i64)) {
        let unwritten = self.unwritten.lock();
        unwritten.unwrap_or_else(PoisonError::into_inner).push(used);
        self.more.notify_one();
    }

    pub(super) fn take(&self) -> Vec<(KeyId, i64)> {
        let unwritten = self.unwritten.lock();
        std::mem::take(&mut unwritten.unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) fn recall<'a>(
    handle: &Handle,
    keys: impl Iterator<Item = (KeyId, &'a LastUse)>,
) -> Result<(), Error> {
    let known: HashMap<_, _> = notes::all::<KeyUseNote>(handle)?.into_iter().collect();
    for (key, last) in keys {
        if let Some(day) = known.get(&key) {
            last.0.store(*day, Ordering::Relaxed);
        }
    }
    Ok(())
}
