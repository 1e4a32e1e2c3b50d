//! Applying, however grouped and wherever interrupted, comes to what the events say.

mod awake;
mod counted;
mod damage;
mod overlaid;
mod packed;
mod shared_pages;
mod world;

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    history::{Record, RecordKey},
    id::WalletKey,
};
use proptest::{prelude::*, test_runner::TestCaseError};

use self::{
    overlaid::OverlaidBooks,
    world::{
        Part, Rng, World, check_history, database, fail_after_writes, in_parts, small, verified,
        wallet_key,
    },
};
use super::{
    AppliedState, NoAwakeWallets, retire::CheckpointReport, verify::listed::PendingEntries,
    wallet_record::WalletRecord,
};
use crate::{
    error::{Error, Ticket},
    format::{
        append::{Append, LogEvent, decode_events},
        leadership::{Heartbeat, LeadershipItem, Resignation, Split, TermStart},
    },
    lookups::{self, LookUp},
    tuning::Tuning,
};

/// Applies while nobody is awake.
fn checkpoint(applied: &AppliedState, log: Part<'_>) -> Result<CheckpointReport, Error> {
    applied.checkpoint(&mut log.events(), &NoAwakeWallets, &Ticket::default)
}

fn checkpoint_all(applied: &AppliedState, log: Part<'_>, group: usize) {
    for group in log.chunks(group) {
        let report = checkpoint(applied, group).unwrap();
        applied.forget(report).unwrap();
        // Large levels are merged between checkpoints, not in one go.
        merge(applied, 3).unwrap();
    }
    merge(applied, usize::MAX).unwrap();
}

fn merge(applied: &AppliedState, slices: usize) -> Result<(), Error> {
    for _ in 0..slices {
        if applied.is_idle() {
            break;
        }
        if let Some(report) = applied.merge_some()? {
            applied.forget(report)?;
        }
    }
    Ok(())
}

fn pending(log: Part<'_>) -> PendingEntries {
    let mut wallets = PendingEntries::new();
    let mut events = log.events();
    events.sort();
    for (key, of) in events.wallets() {
        let entries = of.entries().map(|entry| entry.unwrap().1.into());
        wallets.insert(key, entries.collect());
    }
    wallets
}

fn record(applied: &AppliedState, key: &WalletKey) -> WalletRecord {
    WalletRecord::read(applied.store(), key).unwrap().unwrap()
}

/// How many random histories a test tries: so many in the fast tier of the tests, a multiple of them elsewhere.
fn histories(few: u32) -> u32 {
    let times = std::env::var("SCRIP_RANDOM_HISTORIES").ok();
    let times = times.map_or(1, |times| {
        times.parse().expect("SCRIP_RANDOM_HISTORIES is a number")
    });
    few.saturating_mul(times)
}

/// Checkpoints a history in random groups, each of which may be interrupted at any write and applied again.
fn interrupt_anywhere(seed: u64) -> Result<(), TestCaseError> {
    let world = World::desk(seed, 5, 500);
    let db = database();
    let mut rng = Rng(seed);
    let mut applied = OverlaidBooks::open(&db, small());
    let mut done = 0;
    while done < world.log.len() {
        // What was not dropped from the log yet is applied again, in other groups.
        let from = done - rng.below(done as u64 + 1).min(30) as usize;
        let to = (done + 1 + rng.below(80) as usize).min(world.log.len());
        fail_after_writes(&applied, rng.below(60) as i64);
        let forgotten = match checkpoint(&applied, world.part(from..to)) {
            Ok(report) => {
                done = to;
                fail_after_writes(&applied, rng.below(20) as i64);
                let slices = rng.below(6) as usize;
                let forgotten = applied.forget(report);
                forgotten.and_then(|()| merge(&applied, slices))
            }
            Err(error) => Err(error),
        };
        if forgotten.is_err() {
            applied = OverlaidBooks::open(&db, small());
            let report = verified(&applied, &pending(world.part(from..)));
            prop_assert_eq!(report.problems, [""; 0]);
        }
    }
    fail_after_writes(&applied, i64::MAX);
    drop(applied);
    world.check(&OverlaidBooks::open(&db, small()));
    Ok(())
}

#[test]
fn a_sale_that_comes_and_goes_within_a_checkpoint_is_counted_once_after_an_interruption() {
    // Its order was pending and expired in one checkpoint, and only the latter was applied again.
    interrupt_anywhere(6_554_098_940_767_547_304).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: histories(6), failure_persistence: None, max_shrink_iters: 64, ..Default::default() })]

    #[test]
    fn any_grouping_comes_to_the_same(seed: u64, group in 1_usize..400) {
        let world = World::desk(seed, 6, 600);
        let applied = OverlaidBooks::open(&database(), small());
        checkpoint_all(&applied, world.part(..), group);
        world.check(&applied);
    }

    #[test]
    fn a_checkpoint_interrupted_anywhere_is_mended_by_checkpointing_again(seed: u64) {
        interrupt_anywhere(seed)?;
    }
}

#[test]
fn every_single_write_may_be_the_last() {
    let world = World::shop(3, 3, 260);
    let (before, after) = (world.part(..200), world.part(200..));
    for writes in 0.. {
        let db = database();
        let applied = OverlaidBooks::open(&db, small());
        checkpoint_all(&applied, before, 50);
        fail_after_writes(&applied, writes);
        let done = checkpoint(&applied, after).and_then(|report| applied.forget(report));
        drop(applied);
        // Fewer events the first time than in the checkpoint that was interrupted.
        let applied = OverlaidBooks::open(&db, small());
        checkpoint_all(&applied, after, 7);
        world.check(&applied);
        if done.is_ok() {
            assert!(writes > 20, "only {writes} writes");
            break;
        }
    }
}

/// Nobody sees a checkpoint: at each of its writes, totals are what all orders come to that are logged by then.
#[test]
fn totals_are_fresh_between_any_two_writes_of_a_checkpoint() {
    let world = World::years(7, 4, 400);
    let (first, end) = (300, 370);
    for writes in 0.. {
        let overlaid = OverlaidBooks::open(&database(), small());
        checkpoint_all(&overlaid, world.part(..first), 100);
        for (ticket, event) in (1..).zip(&world.log).skip(first) {
            overlaid.append(std::slice::from_ref(event), ticket);
        }
        overlaid.begin_checkpoint(end as u64, end as u64);
        world.check_totals(&overlaid, writes, 10);
        fail_after_writes(&overlaid, writes.cast_signed());
        let done = checkpoint(&overlaid, world.part(first..end));
        world.check_totals(&overlaid, writes, 40);
        if done.is_ok() {
            overlaid.made_applied(end as u64);
            world.check_totals(&overlaid, writes, 40);
            assert!(writes > 50, "only {writes} writes");
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: histories(6), failure_persistence: None, max_shrink_iters: 64, ..Default::default() })]

    #[test]
    fn what_is_appended_is_found_before_it_is_applied(seed: u64) {
        let world = World::shop(seed, 6, 400);
        let overlaid = OverlaidBooks::open(&database(), small());
        let mut rng = Rng(seed);
        // A ticket for each event: taken in, applied, and noted as applied, each at its own pace.
        let (mut appended, mut done, mut noted) = (0, 0, 0);
        while noted < world.log.len() {
            let to = (appended + rng.below(30) as usize).min(world.log.len());
            for (ticket, event) in (1..).zip(&world.log).take(to).skip(appended) {
                overlaid.append(std::slice::from_ref(event), ticket);
            }
            appended = to;
            world.before(appended).check_shop(&overlaid);
            // A checkpoint begins once the last one is noted.
            if rng.below(2) == 0 && noted == done {
                done += rng.below((appended - done) as u64 + 1) as usize;
                overlaid.begin_checkpoint(done as u64, done as u64);
                checkpoint_all(&overlaid, world.part(noted..done), usize::MAX);
                world.before(appended).check_shop(&overlaid);
            }
            if rng.below(2) == 0 {
                noted = done;
                overlaid.made_applied(noted as u64);
                world.before(appended).check_shop(&overlaid);
            }
        }
        for (look_up, key) in listed(&world.log) {
            assert_eq!(overlaid.pending(look_up, &key), None, "all of it is applied");
        }
        world.check(&overlaid);
    }

    #[test]
    fn totals_are_those_of_all_orders_however_long_ago(seed: u64, group in 1_usize..200) {
        let world = World::years(seed, 5, 600);
        let overlaid = OverlaidBooks::open(&database(), small());
        checkpoint_all(&overlaid, world.part(..), group);
        world.check_totals(&overlaid, seed, 200);
        world.check_best_sellers(&overlaid);
        let report = verified(&overlaid, &PendingEntries::new());
        prop_assert_eq!(report.problems, [""; 0]);
    }

    #[test]
    fn what_is_logged_reads_back_as_it_was_written(seed: u64) {
        let world = World::shop(seed, 4, 200);
        for events in world.log.chunks(9) {
            let mut append = Append::default();
            events.iter().for_each(|event| append.push(event).unwrap());
            prop_assert_eq!(decode_events(append.bytes()).unwrap(), events);
        }
    }
}

/// All keys that these events put into look-ups or take out.
fn listed(log: &[LogEvent]) -> Vec<(LookUp, lookups::Key)> {
    let mut changes = Vec::new();
    for log_event in log {
        if let LogEvent::Wallet {
            key, event, moved, ..
        } = log_event
        {
            lookups::of(key, event, moved.as_deref(), &mut changes);
        }
    }
    let keys = changes.into_iter();
    keys.map(|change| (change.look_up, change.key)).collect()
}

#[test]
fn an_awake_wallet_follows_the_checkpoints() {
    let mut world = World::new(1);
    let key = wallet_key(1);
    let applied = OverlaidBooks::open(&database(), small());
    let history = applied.new_history(&key);
    check_history(&*history, &key, 0, &[]);
    let mut done = 0;
    for _ in 0..60 {
        for _ in 0..7 {
            world.step(key);
        }
        let report = checkpoint(&applied, world.part(done..)).unwrap();
        done = world.log.len();
        let (wallet, records) = &world.wallets[&key];
        // Before and after the old runs are gone.
        check_history(&*history, &key, wallet.version, records);
        applied.forget(report).unwrap();
        check_history(&*history, &key, wallet.version, records);
        // And while a larger run is being made of several.
        merge(&applied, 1).unwrap();
        check_history(&*history, &key, wallet.version, records);
    }
    assert!(
        record(&applied, &key)
            .head
            .runs
            .iter()
            .any(|run| run.level >= 2)
    );
    assert!(applied.slots.filter_bytes() > 0);
    drop(history);
    assert_eq!(
        (applied.slots.len(), applied.slots.filter_bytes()),
        (0, 0),
        "asleep, nothing stays"
    );
}

#[test]
fn waking_reads_neither_keys_nor_filters() {
    let mut world = World::new(3);
    let key = wallet_key(3);
    world.deductions(key, 800);
    let db = database();
    let applied = OverlaidBooks::open(&db, small());
    let all = world.log.len();
    for from in (0..all).step_by(7) {
        awake::checkpoint_awake(&applied, &world, from..(from + 7).min(all));
    }
    assert!(!record(&applied, &key).fingerprints.is_empty());
    let store = applied.store();
    let trees = [&store.pages, &store.index, &store.filters];
    let stored = trees.map(|tree| tree.iter().flatten().collect::<Vec<_>>());
    trees.iter().for_each(|tree| tree.clear().unwrap());
    let loaded = applied.load(&key).unwrap().unwrap();
    assert!(loaded.wallet == world.wallets[&key].0);
    for (tree, records) in trees.into_iter().zip(stored) {
        for (key, value) in records {
            tree.insert(key, value).unwrap();
        }
    }
    // A few look-ups keep nothing, more do.
    let records = &world.wallets[&key].1;
    let keyed = records.iter().filter(|record| record.lookup().is_some());
    for (number, record) in keyed.enumerate() {
        let hash = record.lookup().unwrap().hash(&key);
        let found = loaded.history.find(hash, &|other| other == record);
        assert_eq!(found.unwrap().as_ref(), Some(record));
        assert_eq!(applied.slots.filter_bytes() > 0, number >= 4, "{number}");
    }
    // It is as awake as one that never slept.
    world.deductions(key, 100);
    checkpoint_all(&applied, world.part(all..), 9);
    let (wallet, records) = &world.wallets[&key];
    check_history(&*loaded.history, &key, wallet.version, records);
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
        let applied = OverlaidBooks::open(&database(), tuning);
        world.deductions(key, 130);
        let slot = applied.slots.wake(&key);
        checkpoint_all(&applied, world.part(..), 8);
        let first = world.wallets[&key].1[0].clone();
        let hash = first.lookup().unwrap().hash(&key);
        let (former, done) = (slot.state(), world.log.len());
        // A checkpoint merges the run that the key is in, and forgets it.
        let merged = record(&applied, &key).head.runs[0];
        world.deductions(key, 500);
        checkpoint_all(&applied, world.part(done..), 8);
        assert!(!record(&applied, &key).head.runs.contains(&merged));
        let found = slot.search(former, hash, &|record| *record == first);
        assert_eq!(found.unwrap(), Some(first));
        // A run that is gone without a successor is damage, not an answer.
        applied.store().index.clear().unwrap();
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
        let applied = OverlaidBooks::open(&database(), tuning);
        checkpoint_all(&applied, world.part(..), 40);
        world.check(&applied);
    }
}

#[test]
fn events_that_do_not_follow_the_books_are_not_applied() {
    let mut world = World::new(5);
    let key = wallet_key(5);
    world.deductions(key, 298);
    let applied = OverlaidBooks::open(&database(), small());
    // Nothing is stored yet: it begins with the event that creates it.
    assert!(applied.load(&key).unwrap().is_none());
    assert!(checkpoint(&applied, world.part(200..)).is_err());
    checkpoint_all(&applied, world.part(..200), 30);
    let error = checkpoint(&applied, world.part(250..)).unwrap_err();
    assert!(
        error.to_string().contains("its next event is number"),
        "{error}"
    );
    world.before(200).check(&applied);
    checkpoint_all(&applied, world.part(150..), 30);
    world.check(&applied);
}

#[test]
fn the_newest_of_several_records_is_found() {
    for filter_bytes in [small().filter_bytes, 0] {
        let mut world = World::new(14);
        let key = wallet_key(14);
        let tuning = Tuning {
            filter_bytes,
            ..small()
        };
        let applied = OverlaidBooks::open(&database(), tuning);
        let history = applied.new_history(&key);
        let mut levels = BTreeSet::new();
        for round in 0..60 {
            let done = world.log.len();
            world.deductions(key, round % 9);
            world.grant(key, "again");
            checkpoint_all(&applied, world.part(done..), 6);
            let records = &world.wallets[&key].1;
            let again = |record: &Record| record.lookup() == Some(RecordKey::Grant("again"));
            let hash = RecordKey::Grant("again").hash(&key);
            let newest = records.iter().rev().find(|record| again(record));
            assert_eq!(history.find(hash, &again).unwrap().as_ref(), newest);
            // Nor does a newer one that does not match hide an older one that does.
            let older = records.iter().find(|record| again(record)).unwrap();
            let same = |record: &Record| record == older;
            assert_eq!(history.find(hash, &same).unwrap().as_ref(), Some(older));
            levels.extend(record(&applied, &key).head.runs.iter().map(|run| run.level));
        }
        assert!(levels.len() > 2, "{levels:?}");
    }
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
    let applied = OverlaidBooks::open(&database(), tuning);
    world.deductions(key, 11 * 8 * 8 * 2 + 100);
    checkpoint_all(&applied, world.part(..), 11);
    world.check(&applied);
    let head = record(&applied, &key).head;
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
    checkpoint_all(&applied, world.part(done..), usize::MAX);
    world.check(&applied);
    assert!(
        record(&applied, &other)
            .head
            .runs
            .iter()
            .all(|run| run.level == 2)
    );
}

#[test]
fn old_spills_move_to_the_directory() {
    let mut world = World::new(8);
    let key = wallet_key(8);
    let applied = OverlaidBooks::open(&database(), small());
    world.deductions(key, 800);
    checkpoint_all(&applied, world.part(..), 10);
    world.check(&applied);
    assert!(applied.store().directory.len() > 5);
    assert!(record(&applied, &key).head.spills.len() < small().inline_spills);
}

#[test]
fn who_leads_is_in_no_book() {
    let world = World::shop(13, 4, 300);
    let db = database();
    let applied = OverlaidBooks::open(&db, small());
    checkpoint_all(&applied, world.part(..), 40);
    let stored = || {
        let mut names = db.tree_names();
        // The number of the last checkpoint.
        names.retain(|name| name.as_ref() != b"folds");
        names.sort();
        names.into_iter().map(|name| {
            let records: Vec<_> = db.open_tree(&name).unwrap().iter().flatten().collect();
            (name, records)
        })
    };
    let before: Vec<_> = stored().collect();
    let at = Timestamp(5);
    let leadership = [
        LeadershipItem::TermStart(TermStart {
            node: 1,
            incarnation: 2,
            attempt: 3,
            address: "http://10.0.0.1:8080".into(),
            at,
        }),
        LeadershipItem::Heartbeat(Heartbeat { at }),
        LeadershipItem::Resignation(Resignation {
            taken_by: Some(1),
            at,
        }),
        LeadershipItem::Split(Split { to: 1, at }),
    ]
    .map(LogEvent::Leadership);
    let mut events = Part::of(world.log.len() as u64, &leadership).events();
    let durable = || Ticket(0);
    let report = applied
        .checkpoint(&mut events, &NoAwakeWallets, &durable)
        .unwrap();
    applied.forget(report).unwrap();
    assert_eq!(stored().collect::<Vec<_>>(), before);
}

/// Golden checksums: what is stored under this format version reads back in every later one.
#[test]
fn the_form_on_disk_never_changes() {
    let world = World::random(11, 3, 400);
    let tuning = Tuning {
        snapshot_bytes: 300,
        ..small()
    };
    let applied = OverlaidBooks::open(&database(), tuning);
    for from in (0..400).step_by(40) {
        awake::checkpoint_awake(&applied, &world, from..from + 40);
    }
    let store = applied.store();
    let trees = [
        &store.wallets,
        &store.pages,
        &store.parts,
        &store.directory,
        &store.index,
        &store.filters,
        &store.catalog,
        &store.checkpoints,
    ];
    assert_eq!(trees.map(checksum), GOLDEN);
}

fn checksum(tree: &sled::Tree) -> u32 {
    assert!(
        !tree.is_empty(),
        "{:?}",
        String::from_utf8_lossy(&tree.name())
    );
    tree.iter().fold(0, |sum, entry| {
        let (key, value) = entry.unwrap();
        crc32c::crc32c_append(crc32c::crc32c_append(sum, &key), &value)
    })
}

const GOLDEN: [u32; 8] = [
    867_583_580,
    4_170_268_699,
    222_676_047,
    2_519_940_191,
    2_628_729_262,
    2_031_767_397,
    1_993_950_145,
    405_017_397,
];

/// Golden checksums, as above.
#[test]
fn the_form_of_look_ups_notes_project_events_and_usage_on_disk_never_changes() {
    let world = World::shop(13, 4, 900).with_subscriptions();
    let db = database();
    let applied = OverlaidBooks::open(&db, small());
    checkpoint_all(&applied, world.part(..), 40);
    applied.store().merge_pending(0).unwrap();
    let trees = LookUp::ALL.map(|look_up| look_up.declared().name);
    let names = [
        "orders",
        "called",
        "due",
        "periods",
        "buyers",
        "codes",
        "ids",
        "wallet_orders",
        "former_codes",
        "users",
        "last_used",
        "top_ups",
        "balances",
    ];
    assert_eq!(trees, names);
    let sum = |tree| checksum(&db.open_tree(tree).unwrap());
    let others = ["notes", "project_events", "usage"].map(sum);
    assert_eq!((trees.map(sum), others), (GOLDEN_LOOK_UPS, GOLDEN_OTHERS));
}

const GOLDEN_OTHERS: [u32; 3] = [909_900_210, 2_147_771_245, 645_864_812];

const GOLDEN_LOOK_UPS: [u32; 13] = [
    2_984_815_323,
    1_219_005_671,
    4_060_452_794,
    1_993_939_096,
    3_262_354_587,
    2_995_286_967,
    4_078_364_838,
    4_186_279_184,
    3_451_289_783,
    2_690_351_068,
    3_397_341_495,
    4_257_953_105,
    726_449_516,
];

#[test]
fn no_value_is_large_and_none_leaves_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let config = sled::Config::new().path(dir.path()).segment_size(8 << 20);
    let db = config.flush_every_ms(Some(50)).open().unwrap();
    let applied = OverlaidBooks::open(&db, Tuning::default());
    let mut world = World::random(10, 50, 4_000);
    for number in 0..3 {
        world.deductions(wallet_key(number), 20_000);
    }
    checkpoint_all(&applied, world.part(..), 9_000);
    db.flush().unwrap();
    let store = applied.store();
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
    let large = vec![0; (64 << 10) + 1];
    assert!(store.writes.put(&store.pages, [0], large).is_err());
    assert_eq!(verified(&applied, &PendingEntries::new()).problems, [""; 0]);
}
