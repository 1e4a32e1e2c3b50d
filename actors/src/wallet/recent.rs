//! Records that the folded history does not have yet, and their keys. They leave memory as the
//! folding catches up.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasherDefault, Hasher},
};

use domain::{history::Record, id::WalletKey};

/// Look-up hashes are uniform already: hashing them again would only cost.
#[derive(Default)]
struct Uniform(u64);

impl Hasher for Uniform {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `u64` keys are used; this keeps the trait's promise for any other.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A record and the hash that it can be found by.
struct Kept {
    hash: Option<u64>,
    record: Box<Record>,
}

/// Records forgotten in one turn, beside twice as many as the turn before added: a hot wallet has a
/// hundred thousand to forget after a fold, and whoever came first would wait for all of them. Twice,
/// so that it catches up whatever a turn adds.
const FORGET_AT_ONCE: usize = 64;

/// The same at most: a wallet may wake with more records than any turn adds.
const FORGET_AT_MOST: usize = 4096;

/// Room for so many is kept whatever becomes of them.
const SMALL: usize = 64;

/// The unfolded end of a wallet's history.
#[derive(Default)]
pub(crate) struct Recent {
    /// Records up to this one are in the history and may be forgotten.
    folded: u64,
    /// The number of the first of `records`, if there is any.
    oldest: u64,
    /// Without gaps, oldest first. Boxed, so that growing moves pointers: a hot wallet has a
    /// hundred thousand of these between two folds.
    records: VecDeque<Kept>,
    by_hash: HashMap<u64, u64, BuildHasherDefault<Uniform>>,
    /// Hashes that two unfolded records share; as good as always empty.
    shared: Vec<(u64, u64)>,
    /// Records added since some were last forgotten.
    added: usize,
}

impl Recent {
    pub(crate) fn push(&mut self, wallet: &WalletKey, record: Record) {
        let hash = record.lookup().map(|lookup| lookup.hash(wallet));
        if let Some(hash) = hash
            && let Some(other) = self.by_hash.insert(hash, record.seq)
        {
            self.shared.push((hash, other));
        }
        if self.records.is_empty() {
            self.oldest = record.seq;
        }
        let record = Box::new(record);
        self.records.push_back(Kept { hash, record });
        self.added = self.added.saturating_add(1);
    }

    /// The history has all records up to and with this one now.
    pub(crate) const fn folded(&mut self, seq: u64) {
        self.folded = seq;
    }

    /// Forgets some of the records that the history has. Those that stay do no harm: it has the same.
    pub(crate) fn forget_some(&mut self) {
        let added = std::mem::take(&mut self.added);
        for _ in 0..added
            .saturating_mul(2)
            .clamp(FORGET_AT_ONCE, FORGET_AT_MOST)
        {
            if self.oldest > self.folded {
                break;
            }
            let Some(Kept { hash, record }) = self.records.pop_front() else {
                break;
            };
            self.oldest = record.seq.saturating_add(1);
            if let Some(hash) = hash {
                if self.by_hash.get(&hash) == Some(&record.seq) {
                    self.by_hash.remove(&hash);
                }
                self.shared.retain(|(_, seq)| *seq != record.seq);
            }
        }
        self.give_room_back();
    }

    /// Room of which three quarters stand empty is given back down to half: each record is moved once
    /// for at least two that were forgotten.
    fn give_room_back(&mut self) {
        let wasted = |used: usize, room: usize| room > SMALL && used < room / 4;
        if wasted(self.records.len(), self.records.capacity()) {
            self.records.shrink_to(self.records.len().saturating_mul(2));
        }
        if wasted(self.by_hash.len(), self.by_hash.capacity()) {
            self.by_hash.shrink_to(self.by_hash.len().saturating_mul(2));
        }
    }

    /// How many records are here.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn find(&self, hash: u64, matches: impl Fn(&Record) -> bool) -> Option<&Record> {
        let first = self.by_hash.get(&hash).copied();
        let others = self
            .shared
            .iter()
            .filter(|(other, _)| *other == hash)
            .map(|(_, seq)| *seq);
        first
            .into_iter()
            .chain(others)
            .filter_map(|seq| self.get(seq))
            .find(|r| matches(r))
    }

    fn get(&self, seq: u64) -> Option<&Record> {
        let first = self.first()?;
        self.records
            .get(usize::try_from(seq.checked_sub(first)?).ok()?)
            .map(|kept| &*kept.record)
    }

    /// Newest first, with numbers below `before`.
    pub(crate) fn newest_first(&self, before: u64) -> impl Iterator<Item = &Record> {
        self.records
            .iter()
            .map(|kept| &*kept.record)
            .rev()
            .skip_while(move |record| record.seq >= before)
    }

    /// The number of the oldest record here.
    pub(crate) fn first(&self) -> Option<u64> {
        (!self.records.is_empty()).then_some(self.oldest)
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        history::{Entry, Fact, Lookup, Reason},
        id::ProductId,
        text::IdempotencyKey,
    };

    use super::*;

    const WALLET: WalletKey = WalletKey([1; 16]);

    fn record(seq: u64) -> Record {
        let entry = Entry {
            product: ProductId(1),
            delta: -1,
            balance_after: 0,
            reason: Reason::Deduction,
            order: None,
            key: Some(IdempotencyKey::new(format!("k{seq}")).unwrap()),
            meta: None,
            expires_at: None,
        };
        Record {
            seq,
            at: Timestamp(0),
            fact: Fact::Entry(entry),
        }
    }

    fn seq_of(recent: &Recent, key: &str) -> Option<u64> {
        let lookup = Lookup::Deduct(key);
        recent
            .find(lookup.hash(&WALLET), |r| r.lookup() == Some(lookup))
            .map(|r| r.seq)
    }

    #[test]
    fn a_key_is_found_until_it_is_folded() {
        let mut recent = Recent::default();
        for seq in 5..=9 {
            recent.push(&WALLET, record(seq));
        }
        assert_eq!(seq_of(&recent, "k7"), Some(7));
        recent.folded(7);
        recent.forget_some();
        assert_eq!(seq_of(&recent, "k7"), None);
        assert_eq!(seq_of(&recent, "k8"), Some(8));
        assert_eq!(recent.first(), Some(8));
        assert_eq!(
            recent.newest_first(9).map(|r| r.seq).collect::<Vec<_>>(),
            [8]
        );
        recent.folded(9);
        recent.forget_some();
        assert_eq!(recent.first(), None);
    }

    /// Turns of a thousand records each, folded all the while.
    fn turns(recent: &mut Recent, records: std::ops::RangeInclusive<u64>) {
        let records: Vec<u64> = records.collect();
        for turn in records.chunks(1000) {
            recent.forget_some();
            for seq in turn {
                recent.push(&WALLET, record(*seq));
            }
            recent.folded(*turn.last().unwrap());
        }
    }

    #[test]
    fn forgetting_keeps_pace_with_what_turns_add() {
        let mut recent = Recent::default();
        turns(&mut recent, 1..=50_000);
        assert!(recent.len() <= 2000, "{} are left", recent.len());
    }

    #[test]
    fn what_piled_up_between_two_folds_is_worked_off() {
        let mut recent = Recent::default();
        for seq in 1..=100_000 {
            recent.push(&WALLET, record(seq));
        }
        recent.forget_some();
        turns(&mut recent, 100_001..=250_000);
        assert!(recent.len() <= 2000, "{} are left", recent.len());
    }

    #[test]
    fn room_is_given_back() {
        let mut recent = Recent::default();
        for seq in 1..=10_000 {
            recent.push(&WALLET, record(seq));
        }
        recent.folded(9_990);
        while recent.first() != Some(9_991) {
            recent.forget_some();
        }
        let room = (recent.records.capacity(), recent.by_hash.capacity());
        assert!(room.0 <= SMALL && room.1 <= 2 * SMALL, "{room:?}");
        assert_eq!(seq_of(&recent, "k9995"), Some(9_995));
    }

    #[test]
    fn many_are_forgotten_a_few_at_a_time() {
        let mut recent = Recent::default();
        let many = 3 * FORGET_AT_ONCE as u64;
        for seq in 1..=many {
            recent.push(&WALLET, record(seq));
        }
        // What added them was another turn.
        recent.forget_some();
        recent.folded(many);
        recent.forget_some();
        assert_eq!(recent.first(), Some(FORGET_AT_ONCE as u64 + 1));
        recent.forget_some();
        recent.forget_some();
        assert_eq!(recent.first(), None);
        assert_eq!(seq_of(&recent, "k1"), None);
    }

    #[test]
    fn two_keys_may_share_a_hash() {
        let mut recent = Recent::default();
        recent.by_hash.insert(Lookup::Deduct("k1").hash(&WALLET), 0);
        recent.push(&WALLET, record(1));
        let hash = Lookup::Deduct("k1").hash(&WALLET);
        assert_eq!(recent.shared, [(hash, 0)]);
        assert_eq!(seq_of(&recent, "k1"), Some(1));
        recent.folded(1);
        recent.forget_some();
        assert_eq!(seq_of(&recent, "k1"), None);
    }
}
