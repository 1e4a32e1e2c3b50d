//! A sorted set is what a map would be, wherever its writes are cut off.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use proptest::prelude::*;

use super::world::{Rng, database, small};
use crate::{
    books::{
        sorted_set::{Set as _, SortedSet},
        store::Store,
        writes::Writes,
    },
    error::Error,
    lookups::{Changes, Key, LookUpRange, Value},
    tuning::Tuning,
};

type Set = SortedSet<4, 2>;
type Map = BTreeMap<Key, Value>;

/// Pages with room for ten entries.
fn tuning() -> Tuning {
    Tuning {
        packed_bytes: 60,
        ..small()
    }
}

fn open(db: &sled::Db) -> (Store, Set) {
    let store = Store::open(db, small()).unwrap();
    (store, reopen(db))
}

fn reopen(db: &sled::Db) -> Set {
    let tree = |name| db.open_tree(name).unwrap();
    Set::open(tree("set"), tree("pending"), &tuning()).unwrap()
}

fn change_pages(set: &Set, writes: &Writes, changes: &Changes) -> Result<(), Error> {
    set.apply(writes, changes)?;
    set.merge_pending(writes)
}

/// A stored value of these bytes: an LZ4 block of literals alone, behind the format and its length.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap();
    [&[1, length, 0, 0, 0, length << 4], bytes].concat()
}

fn key(number: u64) -> Key {
    u32::try_from(number).unwrap().to_be_bytes().into()
}

fn put(value: [u8; 2]) -> Option<Value> {
    Some(value.into())
}

fn forward(set: &Set, key: Key) -> impl Iterator<Item = (Key, Value)> {
    read(set, &LookUpRange::From(key)).unwrap().into_iter()
}

fn backward(set: &Set, key: Key) -> impl Iterator<Item = (Key, Value)> {
    read(set, &LookUpRange::Before(key)).unwrap().into_iter()
}

fn read(set: &Set, range: &LookUpRange) -> Result<Vec<(Key, Value)>, Error> {
    let mut entries = Vec::new();
    set.range(range, &mut |key, value| {
        entries.push((key.into(), value.into()));
        true
    })?;
    Ok(entries)
}

fn all(set: &Set) -> Map {
    let entries: Vec<_> = forward(set, [0; 4].into()).collect();
    assert!(entries.is_sorted_by(|one, other| one.0 < other.0));
    let mut back: Vec<_> = backward(set, [255; 4].into()).collect();
    back.reverse();
    assert_eq!(back, entries, "backwards as forwards");
    entries.into_iter().collect()
}

fn check(set: &Set, map: &Map, rng: &mut Rng) {
    assert_eq!(all(set), *map);
    for _ in 0..20 {
        let key = key(rng.below(SPACE));
        assert_eq!(set.get(&key).unwrap(), map.get(&key).cloned());
        let cloned = |(key, value): (&Key, &Value)| (key.clone(), value.clone());
        let from = forward(set, key.clone()).take(5);
        assert!(from.eq(map.range(key.clone()..).map(cloned).take(5)));
        let before = backward(set, key.clone()).take(5);
        assert!(before.eq(map.range(..key).rev().map(cloned).take(5)));
    }
}

const SPACE: u64 = 600;

/// Some keys in a row or all over, put or taken out.
fn batch(rng: &mut Rng) -> Changes {
    let (from, removals) = (rng.below(SPACE), rng.below(5));
    let width = [SPACE, 40, 200][rng.below(3) as usize];
    (0..rng.below(80))
        .map(|_| {
            let number = (from + rng.below(width)) % SPACE;
            let value = put([rng.below(3) as u8, 7]);
            (key(number), value.filter(|_| rng.below(4) >= removals))
        })
        .collect()
}

fn change(map: &mut Map, changes: &Changes) {
    for (key, value) in changes {
        match value {
            Some(value) => map.insert(key.clone(), value.clone()),
            None => map.remove(key),
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::histories(12), failure_persistence: None, max_shrink_iters: 64, ..Default::default() })]

    #[test]
    fn it_is_what_a_map_would_be(seed: u64) {
        let db = database();
        let (store, set) = open(&db);
        let (mut rng, mut map) = (Rng(seed), Map::new());
        for _ in 0..60 {
            let changes = batch(&mut rng);
            set.apply(&store.writes, &changes).unwrap();
            change(&mut map, &changes);
            check(&set, &map, &mut rng);
            // Again: nothing is written.
            store.writes.fail_after.0.store(0, Ordering::Relaxed);
            set.apply(&store.writes, &changes).unwrap();
            store.writes.fail_after.0.store(i64::MAX, Ordering::Relaxed);
            if rng.below(4) == 0 {
                set.merge_pending(&store.writes).unwrap();
                assert_eq!(set.pending_bytes(), 0);
                check(&set, &map, &mut rng);
            }
        }
    }

    /// What an interrupted write leaves is not mended by the same changes here: other changes follow it.
    #[test]
    fn a_cut_anywhere_loses_nothing_and_shows_nothing_twice(seed: u64) {
        let db = database();
        let (store, mut set) = open(&db);
        let (mut rng, mut map) = (Rng(seed), Map::new());
        for _ in 0..120 {
            let changes = batch(&mut rng);
            store.writes.fail_after.0.store(rng.below(12) as i64, Ordering::Relaxed);
            let done = set.apply(&store.writes, &changes).is_ok();
            let merged = rng.below(3) > 0 || set.merge_pending(&store.writes).is_ok();
            store.writes.fail_after.0.store(i64::MAX, Ordering::Relaxed);
            if !done || !merged || rng.below(9) == 0 {
                set = reopen(&db);
            }
            let found = all(&set);
            let mut after = map.clone();
            change(&mut after, &changes);
            if done {
                assert_eq!(found, after);
            }
            for number in 0..SPACE {
                let key = key(number);
                let now = found.get(&key);
                assert!(
                    now == map.get(&key) || now == after.get(&key),
                    "{key:?}: {now:?}"
                );
            }
            map = found;
            check(&set, &map, &mut rng);
        }
    }
}

#[test]
fn pages_are_well_filled_and_go_when_they_are_empty() {
    let db = database();
    let (store, set) = open(&db);
    let tree = db.open_tree("set").unwrap();
    let change = |numbers: &mut dyn Iterator<Item = u64>, value: Option<Value>| {
        let changes = numbers.map(|number| (key(number), value.clone()));
        change_pages(&set, &store.writes, &changes.collect()).unwrap();
    };
    // In order, in small steps: full pages.
    for step in 0..100 {
        change(&mut (step * 7..step * 7 + 7), put([1, 1]));
    }
    assert_eq!(tree.len(), 70);
    // From the front, as entries that fall due are removed.
    change(&mut (0..650), None);
    assert!(tree.len() <= 6, "{} pages", tree.len());
    change(&mut (0..700), None);
    assert_eq!(tree.len(), 0);
    // Mostly gone from everywhere: what is left moves together.
    change(&mut (0..700), put([1, 1]));
    change(&mut (0..700).filter(|number| number % 10 > 0), None);
    change(&mut (0..700).filter(|number| number % 20 > 0), None);
    assert_eq!(all(&set).len(), 35);
    assert!(tree.len() <= 20, "{} pages", tree.len());
}

/// The lower page still has what a cut split moved up. When the upper page is emptied, that must not be seen again.
#[test]
fn what_was_taken_out_after_a_cut_stays_out() {
    for written in 1..4 {
        let db = database();
        let (store, set) = open(&db);
        let changes = |numbers: std::ops::Range<u64>, value: Option<Value>| -> Changes {
            let changes = numbers.map(|number| (key(number), value.clone()));
            changes.collect()
        };
        change_pages(&set, &store.writes, &changes(100..110, put([1, 1]))).unwrap();
        store.writes.fail_after.0.store(written, Ordering::Relaxed);
        assert!(change_pages(&set, &store.writes, &changes(0..40, put([2, 2]))).is_err());
        store.writes.fail_after.0.store(i64::MAX, Ordering::Relaxed);
        change_pages(&set, &store.writes, &changes(10..200, None)).unwrap();
        assert_eq!(all(&set).range(key(10)..).count(), 0, "{written}");
    }
}

#[test]
fn a_reader_on_its_way_meets_each_entry_once_while_pages_change() {
    let db = database();
    let (store, set) = open(&db);
    let even: Changes = (0..300)
        .map(|number| (key(number * 2), put([0, 0])))
        .collect();
    change_pages(&set, &store.writes, &even).unwrap();
    for backward in [false, true] {
        let range = match backward {
            true => LookUpRange::Before([255; 4].into()),
            false => LookUpRange::From([0; 4].into()),
        };
        let mut rng = Rng(5);
        let mut met = Vec::new();
        let each = &mut |entry: &[u8], _: &[u8]| {
            met.push(Key::from(entry));
            let odd = (0..rng.below(12)).map(|_| {
                let number = rng.below(300) * 2 + 1;
                (key(number), put([1, 1]).filter(|_| rng.below(2) == 0))
            });
            set.apply(&store.writes, &odd.collect()).unwrap();
            if rng.below(3) == 0 {
                set.merge_pending(&store.writes).unwrap();
            }
            true
        };
        set.range(&range, each).unwrap();
        let after = met.windows(2).all(|two| (two[0] < two[1]) != backward);
        assert!(after, "in order, nothing twice");
        assert!(even.keys().all(|key| met.contains(key)));
    }
}

#[test]
fn a_page_of_another_form_is_not_guessed_at() {
    let db = database();
    let (store, set) = open(&db);
    let tree = db.open_tree("set").unwrap();
    for (bytes, what) in [
        (&[][..], "empty"),
        (&packed(&[0, 0, 0, 1, 9]), "cut short"),
        (&packed(&[0, 0, 0, 1, 9, 9])[..8], "a packed page"),
        (&[1, 255, 255, 255, 255, 0], "too large"),
        (&[2, 0, 0, 0, 1, 9, 9], "use a newer one"),
    ] {
        tree.insert([0; 4], bytes).unwrap();
        let error = set.get(&key(1)).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        let from = LookUpRange::From([0; 4].into());
        assert!(read(&set, &from).is_err());
    }
    tree.insert([0; 4], packed(&[0, 0, 0, 2, 9, 9, 0, 0, 0, 1, 9, 9]))
        .unwrap();
    let from = LookUpRange::From([0; 4].into());
    assert!(read(&set, &from).is_err());
    // Nor is a key of another width.
    assert!(set.get(&[0; 5]).is_err());
    let wide = Changes::from([([0; 5].into(), put([0, 0]))]);
    assert!(change_pages(&set, &store.writes, &wide).is_err());
    let wide = Changes::from([(key(0), Some([0; 3].into()))]);
    assert!(change_pages(&set, &store.writes, &wide).is_err());
}

#[test]
fn a_record_of_pending_changes_of_another_form_is_not_guessed_at() {
    for (bytes, what) in [
        (&[][..], "empty"),
        (&packed(&[0, 0, 0, 1]), "cut short"),
        (&packed(&[0, 0, 0, 1, 1, 9]), "cut short"),
        (&packed(&[0, 0, 0, 1, 2, 9, 9]), "no known kind"),
        (&[2, 0, 0, 0, 1, 0], "use a newer one"),
    ] {
        let db = database();
        let pending = db.open_tree("pending").unwrap();
        pending.insert([0; 8], bytes).unwrap();
        let set = Set::open(db.open_tree("set").unwrap(), pending, &tuning());
        let error = set.err().unwrap();
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn the_form_of_pending_changes_never_changes() {
    let db = database();
    let (store, set) = open(&db);
    let changes = Changes::from([(key(1), put([7, 8])), (key(2), None)]);
    set.apply(&store.writes, &changes).unwrap();
    let pending = db.open_tree("pending").unwrap();
    let stored: Vec<_> = pending.iter().map(Result::unwrap).collect();
    let bytes = packed(&[0, 0, 0, 1, 1, 7, 8, 0, 0, 0, 2, 0]);
    assert_eq!(
        stored,
        [(sled::IVec::from(&[0; 8]), sled::IVec::from(bytes))]
    );
}
