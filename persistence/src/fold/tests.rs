//! Folding, however grouped and wherever interrupted, comes to what the events say.

mod million;
mod packed;
mod world;

use std::collections::BTreeSet;

use domain::id::{ProductId, WalletKey};
use proptest::prelude::*;

use self::world::{Rng, World, check_history, database, fuse, small, wallet_key};
use super::events::Events;
use super::{Folded, store::Tuning, wallet_record::WalletRecord};
use crate::{codec::Logged, tail::Builder, verify::Report};

fn fold_all(folded: &Folded, log: &[Logged], group: usize) {
    for group in log.chunks(group) {
        let report = folded.fold(&mut Events::of(group)).unwrap();
        folded.forget(report).unwrap();
    }
}

fn record(folded: &Folded, key: &WalletKey) -> WalletRecord {
    WalletRecord::read(folded.store(), key).unwrap().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 64, ..Default::default() })]

    #[test]
    fn any_grouping_comes_to_the_same(seed: u64, group in 1_usize..400) {
        let world = World::shop(seed, 6, 600);
        let folded = Folded::open_with(&database(), small()).unwrap();
        fold_all(&folded, &world.log, group);
        world.check(&folded);
    }

    #[test]
    fn a_fold_interrupted_anywhere_is_mended_by_folding_again(seed: u64) {
        let world = World::shop(seed, 5, 500);
        let db = database();
        let mut rng = Rng(seed);
        let mut folded = Folded::open_with(&db, small()).unwrap();
        let mut done = 0;
        while done < world.log.len() {
            // What was not dropped from the log yet is folded again, in other groups.
            let from = done - rng.below(done as u64 + 1).min(30) as usize;
            let to = (done + 1 + rng.below(80) as usize).min(world.log.len());
            fuse(&folded, rng.below(60) as i64);
            let forgotten = match folded.fold(&mut Events::of(&world.log[from..to])) {
                Ok(report) => {
                    done = to;
                    fuse(&folded, rng.below(20) as i64);
                    folded.forget(report)
                }
                Err(error) => Err(error),
            };
            if forgotten.is_err() {
                folded = Folded::open_with(&db, small()).unwrap();
            }
        }
        fuse(&folded, i64::MAX);
        drop(folded);
        world.check(&Folded::open_with(&db, small()).unwrap());
    }
}

#[test]
fn every_single_write_may_be_the_last() {
    let world = World::shop(3, 3, 260);
    let (before, after) = world.log.split_at(200);
    for writes in 0.. {
        let db = database();
        let folded = Folded::open_with(&db, small()).unwrap();
        fold_all(&folded, before, 50);
        fuse(&folded, writes);
        let done = folded
            .fold(&mut Events::of(after))
            .and_then(|report| folded.forget(report));
        drop(folded);
        // Fewer events the first time than in the fold that was interrupted.
        let folded = Folded::open_with(&db, small()).unwrap();
        fold_all(&folded, after, 7);
        world.check(&folded);
        if done.is_ok() {
            assert!(writes > 20, "only {writes} writes");
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 64, ..Default::default() })]

    /// As after a restart: some of the tail may be folded already, and none of it has to be.
    #[test]
    fn recovered_orders_are_found_before_they_are_folded(seed: u64, group in 1_usize..40) {
        let world = World::shop(seed, 6, 400);
        let folded = Folded::open_with(&database(), small()).unwrap();
        let mut rng = Rng(seed);
        let to = rng.below(400) as usize;
        let from = rng.below(to as u64 + 1) as usize;
        fold_all(&folded, &world.log[..to], group);
        let mut tail = Builder::default();
        for (lsn, frame) in (1..).zip(world.log[from..].chunks(group)) {
            tail.add(lsn, frame.to_vec()).unwrap();
        }
        let tail = tail.finish();
        tail.complete(&folded).unwrap();
        tail.with_orders(|over| world.check_shop(&folded, over));
        let notes = tail.notes(b"n").over(folded.notes(b"n").unwrap());
        fold_all(&folded, &world.log[from..], group);
        tail.with_orders(|over| world.check_shop(&folded, over));
        prop_assert_eq!(notes, folded.notes(b"n").unwrap());
        tail.folded(u64::MAX);
        tail.with_orders(|over| assert_eq!(over.len(), 0));
        world.check(&folded);
    }
}

#[test]
fn an_awake_wallet_follows_the_folds() {
    let mut world = World::new(1);
    let key = wallet_key(1);
    let folded = Folded::open_with(&database(), small()).unwrap();
    let history = folded.new_history(&key);
    check_history(&*history, &key, &[]);
    let mut done = 0;
    for _ in 0..60 {
        for _ in 0..7 {
            world.step(key);
        }
        let report = folded.fold(&mut Events::of(&world.log[done..])).unwrap();
        done = world.log.len();
        // Before and after the old runs are gone.
        check_history(&*history, &key, &world.wallets[&key].1);
        folded.forget(report).unwrap();
        check_history(&*history, &key, &world.wallets[&key].1);
    }
    assert!(
        record(&folded, &key)
            .head
            .runs
            .iter()
            .any(|run| run.level >= 2)
    );
    assert!(folded.slots.filter_bytes() > 0);
    drop(history);
    assert_eq!(
        (folded.slots.len(), folded.slots.filter_bytes()),
        (0, 0),
        "asleep, nothing stays"
    );
}

#[test]
fn a_reader_that_holds_a_former_state_looks_again() {
    for filter_bytes in [small().filter_bytes, 0] {
        let mut world = World::new(2);
        let key = wallet_key(2);
        let tuning = Tuning {
            filter_bytes,
            ..small()
        };
        let folded = Folded::open_with(&database(), tuning).unwrap();
        world.deductions(key, 130);
        let slot = folded.slots.wake(&key);
        fold_all(&folded, &world.log, 8);
        let first = world.wallets[&key].1[0].clone();
        let hash = first.lookup().unwrap().hash(&key);
        let (former, done) = (slot.state(), world.log.len());
        // A fold merges the run that the key is in, and forgets it.
        let merged = record(&folded, &key).head.runs[0];
        world.deductions(key, 500);
        fold_all(&folded, &world.log[done..], 8);
        assert!(!record(&folded, &key).head.runs.contains(&merged));
        let found = slot.search(former, hash, &|record| *record == first);
        assert_eq!(found.unwrap(), Some(first));
        // A run that is gone without a successor is damage, not an answer.
        folded.store().index.clear().unwrap();
        assert!(slot.search(slot.state(), hash, &|_| true).is_err());
    }
}

#[test]
fn without_memory_for_filters_answers_are_the_same() {
    for filter_bytes in [0, 100] {
        let world = World::random(4, 3, 900);
        let tuning = Tuning {
            filter_bytes,
            ..small()
        };
        let folded = Folded::open_with(&database(), tuning).unwrap();
        fold_all(&folded, &world.log, 40);
        world.check(&folded);
    }
}

#[test]
fn a_tail_that_is_not_folded_is_replayed() {
    let world = World::random(5, 1, 300);
    let key = wallet_key(0);
    let (wallet, records) = &world.wallets[&key];
    let folded = Folded::open_with(&database(), small()).unwrap();
    let tail = |from: usize| -> Vec<_> {
        let events = world.log[from..].iter().filter_map(|logged| match logged {
            Logged::Wallet { version, event, .. } => Some((*version, event.clone())),
            Logged::Catalog(_) | Logged::Note(_) => None,
        });
        events.collect()
    };
    // Nothing stored yet: all of it is tail.
    let loaded = folded.load(&key, tail(0)).unwrap().unwrap();
    assert_eq!((&loaded.wallet, &loaded.tail), (wallet, records));
    assert_eq!(loaded.history.folded(), 0);
    drop(loaded);
    fold_all(&folded, &world.log[..200], 30);
    let loaded = folded.load(&key, tail(150)).unwrap().unwrap();
    assert_eq!(loaded.wallet, *wallet);
    let folded_records = loaded.history.folded();
    assert!(folded_records > 50);
    assert_eq!(loaded.tail, records[folded_records as usize..]);
    assert!(
        folded.load(&key, tail(250)).is_err(),
        "events are missing between"
    );
    assert!(
        folded.fold(&mut Events::of(&world.log[250..])).is_err(),
        "events are missing between"
    );
}

#[test]
fn eight_runs_of_a_level_become_one() {
    let mut world = World::new(6);
    let key = wallet_key(6);
    let tuning = Tuning {
        fan_in: 8,
        inline_keys: 10,
        keys_per_page: 64,
        ..small()
    };
    let tuning = Tuning {
        keys_per_value: 200,
        ..tuning
    };
    let folded = Folded::open_with(&database(), tuning).unwrap();
    world.deductions(key, 11 * 8 * 8 * 2 + 100);
    fold_all(&folded, &world.log, 11);
    world.check(&folded);
    let head = record(&folded, &key).head;
    let at = |level| head.runs.iter().filter(|run| run.level == level).count();
    assert_eq!(at(2), 2);
    assert!(at(0) < 8 && at(1) < 8);
    assert!(
        head.runs
            .iter()
            .filter(|run| run.level == 2)
            .all(|run| run.pages > 1)
    );
    // A whole history at once goes to the level of its size.
    let other = wallet_key(7);
    let done = world.log.len();
    world.deductions(other, 700);
    fold_all(&folded, &world.log[done..], usize::MAX);
    world.check(&folded);
    assert!(
        record(&folded, &other)
            .head
            .runs
            .iter()
            .all(|run| run.level == 2)
    );
}

#[test]
fn a_wallet_with_many_holds_is_stored_in_parts() {
    let world = World::random(7, 1, 300);
    let tuning = Tuning {
        snapshot_bytes: 100,
        part_bytes: 50,
        ..small()
    };
    let folded = Folded::open_with(&database(), tuning).unwrap();
    fold_all(&folded, &world.log, 20);
    world.check(&folded);
    let parts = record(&folded, &wallet_key(0)).head.parts.unwrap();
    assert!(parts.count > 3);
    assert_eq!(
        folded.store().parts.len(),
        usize::from(parts.count),
        "old parts are gone"
    );
}

#[test]
fn old_spills_move_to_the_directory() {
    let mut world = World::new(8);
    let key = wallet_key(8);
    let folded = Folded::open_with(&database(), small()).unwrap();
    world.deductions(key, 800);
    fold_all(&folded, &world.log, 10);
    world.check(&folded);
    assert!(folded.store().directory.len() > 5);
    assert!(record(&folded, &key).head.spills.len() < small().inline_spills);
}

/// Golden checksums: what is stored under this format version reads back in every later one.
#[test]
fn the_form_on_disk_never_changes() {
    let world = World::random(11, 3, 400);
    let tuning = Tuning {
        snapshot_bytes: 300,
        ..small()
    };
    let folded = Folded::open_with(&database(), tuning).unwrap();
    fold_all(&folded, &world.log, 40);
    let store = folded.store();
    let trees = [
        &store.wallets,
        &store.pages,
        &store.parts,
        &store.directory,
        &store.index,
        &store.filters,
        &store.aliases,
        &store.catalog,
        &store.folds,
    ];
    let sums = trees.map(|tree| {
        assert!(!tree.is_empty());
        tree.iter().fold(0, |sum, entry| {
            let (key, value) = entry.unwrap();
            crc32c::crc32c_append(crc32c::crc32c_append(sum, &key), &value)
        })
    });
    assert_eq!(sums, GOLDEN);
}

const GOLDEN: [u32; 9] = [
    1_820_595_699,
    3_523_433_291,
    982_089_616,
    3_186_229_191,
    4_212_911_980,
    3_206_095_751,
    764_957_461,
    2_403_777_586,
    405_017_397,
];

/// Golden checksums, as above.
#[test]
fn the_form_of_orders_and_notes_on_disk_never_changes() {
    let world = World::shop(12, 4, 600);
    let db = database();
    let folded = Folded::open_with(&db, small()).unwrap();
    fold_all(&folded, &world.log, 40);
    let sums = ["orders", "checkouts", "due", "buyers", "notes"].map(|tree| {
        let tree = db.open_tree(tree).unwrap();
        assert!(!tree.is_empty());
        tree.iter().fold(0, |sum, entry| {
            let (key, value) = entry.unwrap();
            crc32c::crc32c_append(crc32c::crc32c_append(sum, &key), &value)
        })
    });
    assert_eq!(sums, GOLDEN_ORDERS);
}

const GOLDEN_ORDERS: [u32; 5] = [
    1_011_531_419,
    3_276_675_756,
    2_166_321_142,
    3_243_128_771,
    2_224_011_551,
];

#[test]
fn an_order_that_is_not_found_or_not_there_is_damage() {
    let world = World::shop(13, 6, 500);
    for tree in ["orders", "checkouts", "due", "buyers"] {
        let problems = |spoil: &dyn Fn(&sled::Tree)| {
            let db = database();
            let folded = Folded::open_with(&db, small()).unwrap();
            fold_all(&folded, &world.log, 50);
            spoil(&db.open_tree(tree).unwrap());
            let mut report = Report::default();
            let all = BTreeSet::new();
            folded.verify(&all, &mut report).unwrap();
            let found = report.problems.len();
            // Where a fold may have been interrupted nothing is said of it.
            let unfolded = world.wallets.keys().copied().collect();
            let mut report = Report::default();
            folded.verify(&unfolded, &mut report).unwrap();
            (found, report.problems.len())
        };
        assert_eq!(problems(&|_| {}).0, 0);
        let (missing, _) = problems(&|tree| drop(tree.pop_min().unwrap()));
        assert!(missing > 0, "{tree}");
        let added = problems(&|tree| {
            let (key, page) = tree.last().unwrap().unwrap();
            let width = [("checkouts", 48), ("buyers", 32)];
            let width = width.iter().find(|(name, _)| *name == tree_name(tree));
            let width = width.map_or(56, |(_, width)| *width);
            // One more, as high as can be, of a wallet that is not there.
            let more = [&page[..], &vec![255; width]].concat();
            tree.insert(key, more).unwrap();
        });
        assert_eq!(added, (1, 1), "{tree}");
    }
    let db = database();
    let folded = Folded::open_with(&db, small()).unwrap();
    fold_all(&folded, &world.log, 50);
    db.open_tree("notes")
        .unwrap()
        .insert(b"n", b"\xffx")
        .unwrap();
    let mut report = Report::default();
    folded.verify(&BTreeSet::new(), &mut report).unwrap();
    assert_eq!(report.problems.len(), 1);
}

fn tree_name(tree: &sled::Tree) -> String {
    String::from_utf8(tree.name().to_vec()).unwrap()
}

#[test]
fn damage_is_found() {
    let mut world = World::new(9);
    let key = wallet_key(9);
    world.deductions(key, 200);
    let problems = |spoil: &dyn Fn(&Folded)| {
        let folded = Folded::open_with(&database(), small()).unwrap();
        fold_all(&folded, &world.log, 30);
        spoil(&folded);
        let mut report = Report::default();
        folded.verify(&BTreeSet::new(), &mut report).unwrap();
        report.problems.len()
    };
    assert_eq!(problems(&|_| {}), 0);
    let first = |tree: &sled::Tree| tree.first().unwrap().unwrap();
    assert_eq!(
        problems(&|folded| drop(folded.store().pages.pop_min().unwrap())),
        1
    );
    assert_eq!(
        problems(&|folded| drop(folded.store().index.pop_min().unwrap())),
        1
    );
    assert_eq!(
        problems(&|folded| drop(folded.store().filters.pop_min().unwrap())),
        1
    );
    assert_eq!(
        problems(&|folded| drop(folded.store().directory.pop_min().unwrap())),
        1
    );
    let orphan = |tree: &sled::Tree| drop(tree.insert([0; 24], first(tree).1).unwrap());
    assert_eq!(problems(&|folded| orphan(&folded.store().pages)), 1);
    assert_eq!(problems(&|folded| orphan(&folded.store().index)), 1);
    assert_eq!(problems(&|folded| orphan(&folded.store().filters)), 1);
    let hide = |folded: &Folded| {
        let tree = &folded.store().index;
        let (key, page) = first(tree);
        let mut page = page.to_vec();
        *page.last_mut().unwrap() ^= 1;
        tree.insert(key, page).unwrap();
    };
    assert_eq!(problems(&hide), 1);
    assert_eq!(
        problems(&|folded| {
            let mut stored = record(folded, &key);
            let mut wallet = stored.wallet(folded.store(), &key).unwrap().unwrap();
            let grant = domain::wallet::Change::FreeGranted {
                product: ProductId(1),
                credits: domain::Amount::new(1).unwrap(),
                period: domain::time::Period::Once,
                start: domain::Timestamp(0),
                end: domain::Timestamp::NEVER,
            };
            wallet
                .apply(domain::wallet::Event {
                    at: wallet.touched_at,
                    change: grant,
                })
                .unwrap();
            (wallet.version, wallet.records) = (stored.head.version, stored.head.records);
            stored.set_wallet(folded.store(), 0, &wallet).unwrap();
            folded
                .store()
                .wallets
                .insert(key.0, stored.encode().unwrap())
                .unwrap();
        }),
        1
    );
}

#[test]
fn no_value_is_large_and_none_leaves_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let config = sled::Config::new().path(dir.path()).segment_size(8 << 20);
    let db = config.flush_every_ms(Some(50)).open().unwrap();
    let folded = Folded::open(&db).unwrap();
    let mut world = World::random(10, 50, 4_000);
    for number in 0..3 {
        world.deductions(wallet_key(number), 20_000);
    }
    fold_all(&folded, &world.log, 9_000);
    db.flush().unwrap();
    let store = folded.store();
    for tree in [
        &store.wallets,
        &store.pages,
        &store.index,
        &store.filters,
        &store.directory,
    ] {
        for value in tree.iter().values() {
            assert!(value.unwrap().len() <= 60 << 10);
        }
    }
    assert_eq!(
        std::fs::read_dir(dir.path().join("blobs")).unwrap().count(),
        0
    );
    assert!(
        store
            .put(&store.pages, [0], vec![0; (64 << 10) + 1])
            .is_err()
    );
    let mut report = Report::default();
    folded.verify(&BTreeSet::new(), &mut report).unwrap();
    assert_eq!(report.problems, [""; 0]);
}
