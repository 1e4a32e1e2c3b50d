//! Verifying finds everything that does not agree with the events.

use domain::{
    Amount, Timestamp,
    history::RecordContent,
    id::ProductId,
    time::Period,
    wallet::{Change, Event, Wallet},
};

use super::awake::checkpoint_awake;
use super::*;
use crate::{
    format::entry::{self, Entry},
    lookups::{Changes, Key, LookUpRange},
};

#[test]
fn damage_is_found() {
    let mut world = World::new(9);
    let key = wallet_key(9);
    world.deductions(key, 200);
    let problems = |spoil: &dyn Fn(&AppliedState)| {
        let applied = OverlaidBooks::open(&database(), small());
        checkpoint_all(&applied, world.part(..), 30);
        spoil(&applied);
        verified(&applied, &PendingEntries::new()).problems.len()
    };
    assert_eq!(problems(&|_| {}), 0);
    let gone = |tree: fn(&AppliedState) -> &sled::Tree| {
        problems(&|applied| drop(tree(applied).pop_min().unwrap()))
    };
    assert_eq!(gone(|applied| &applied.store().pages), 1);
    assert_eq!(gone(|applied| &applied.store().index), 1);
    assert_eq!(gone(|applied| &applied.store().filters), 1);
    assert_eq!(gone(|applied| &applied.store().directory), 1);
    let orphan = |tree: fn(&AppliedState) -> &sled::Tree| {
        problems(&|applied| {
            let tree = tree(applied);
            let value = tree.first().unwrap().unwrap().1;
            tree.insert([0; 32], value).unwrap();
        })
    };
    assert_eq!(orphan(|applied| &applied.store().pages), 1);
    assert_eq!(orphan(|applied| &applied.store().index), 1);
    assert_eq!(orphan(|applied| &applied.store().filters), 1);
    let hide = |applied: &AppliedState| {
        let tree = &applied.store().index;
        let (key, page) = tree.first().unwrap().unwrap();
        let mut page = page.to_vec();
        *page.last_mut().unwrap() ^= 1;
        tree.insert(key, page).unwrap();
    };
    assert_eq!(problems(&hide), 1);
    let another_key = |applied: &AppliedState| {
        let mut stored = record(applied, &key);
        stored.fingerprints.extend([1; 3]);
        let stored = stored.encode().unwrap();
        applied.store().wallets.insert(key.0, stored).unwrap();
    };
    assert_eq!(problems(&another_key), 1);
    let short =
        |applied: &AppliedState| drop(applied.store().wallets.insert([1; 3], &[1]).unwrap());
    assert_eq!(problems(&short), 1);
}

#[test]
fn a_part_of_a_snapshot_that_is_gone_or_left_over_is_damage() {
    let world = World::random(7, 1, 300);
    let overlaid = OverlaidBooks::open(&database(), in_parts());
    for from in (0..300).step_by(60) {
        checkpoint_awake(&overlaid, &world, from..from + 60);
    }
    world.check(&overlaid);
    let (part, value) = overlaid.store().parts.pop_max().unwrap().unwrap();
    let said = verified(&overlaid, &PendingEntries::new()).problems;
    assert!(
        said.len() == 1 && said[0].contains("part of its snapshot"),
        "{said:?}"
    );
    overlaid.store().parts.insert(part, &value).unwrap();
    overlaid.store().parts.insert([0; 26], value).unwrap();
    let said = verified(&overlaid, &PendingEntries::new()).problems;
    assert!(
        said.len() == 1 && said[0].contains("parts of snapshots"),
        "{said:?}"
    );
}

/// A snapshot that is not what the entries come to, whether it is of their last version or not.
#[test]
fn a_snapshot_of_something_else_is_damage() {
    let mut world = World::new(9);
    let key = wallet_key(9);
    world.deductions(key, 200);
    let said = |spoil: &dyn Fn(&mut Wallet)| {
        let applied = OverlaidBooks::open(&database(), small());
        checkpoint_awake(&applied, &world, 0..100);
        let mut stored = record(&applied, &key);
        let mut wallet = world.before(100).wallets[&key].0.clone();
        assert_eq!(
            stored
                .snapshot(applied.store(), &key)
                .unwrap()
                .unwrap()
                .as_ref(),
            Some(&wallet)
        );
        spoil(&mut wallet);
        let (bytes, version) = (
            crate::format::encode_wallet(&wallet).unwrap(),
            wallet.version,
        );
        let replaced = stored.set_snapshot(applied.store(), 0, &key, bytes, version);
        assert_eq!(replaced.unwrap(), None);
        let bytes = stored.encode().unwrap();
        applied.store().wallets.insert(key.0, bytes).unwrap();
        // Also where the books have come further than the snapshot.
        let early = verified(&applied, &PendingEntries::new()).problems;
        let report = checkpoint(&applied, world.part(100..101)).unwrap();
        applied.forget(report).unwrap();
        (early, verified(&applied, &PendingEntries::new()).problems)
    };
    assert_eq!(said(&|_| {}), (Vec::new(), Vec::new()));
    let granted = |wallet: &mut Wallet| {
        let version = wallet.version;
        let change = Change::FreeGranted {
            product: ProductId(1),
            credits: Amount::new(1).unwrap(),
            period: Period::Once,
            start: Timestamp(0),
            end: Timestamp::NEVER,
        };
        let at = wallet.touched_at;
        wallet.apply(Event { at, change }).unwrap();
        (wallet.version, wallet.records) = (version, wallet.records - 1);
    };
    let (early, late) = said(&granted);
    for said in [early, late] {
        assert!(
            said.len() == 1 && said[0].contains("does not agree with its events"),
            "{said:?}"
        );
    }
    let (early, _) = said(&|wallet| wallet.version += 1);
    assert!(
        early.len() == 1 && early[0].contains("do not reach"),
        "{early:?}"
    );
}

/// An entry of the tail, replaced by a different one.
#[test]
fn an_entry_that_says_otherwise_than_its_event_is_damage() {
    let mut world = World::new(9);
    let key = wallet_key(9);
    world.deductions(key, 5);
    let said = |spoil: &dyn Fn(&mut u64, &mut Event, &mut Record, &mut u64)| {
        let tuning = Tuning {
            tail_bytes: 10_000,
            inline_keys: 100,
            ..small()
        };
        let applied = OverlaidBooks::open(&database(), tuning);
        checkpoint_all(&applied, world.part(..), 30);
        let mut stored = record(&applied, &key);
        let tail = std::mem::take(&mut stored.tail);
        for entry in entry::Entries(&tail) {
            let (entry, bytes) = entry.unwrap();
            let mut bytes = bytes.to_vec();
            if entry.version == stored.head.version {
                bytes = spoiled(&entry, spoil);
            }
            entry::push(&mut stored.tail, &bytes);
        }
        let bytes = stored.encode().unwrap();
        applied.store().wallets.insert(key.0, bytes).unwrap();
        verified(&applied, &PendingEntries::new()).problems
    };
    assert_eq!(said(&|_, _, _, _| {}), [""; 0]);
    let balance = |_: &mut _, _: &mut _, record: &mut Record, _: &mut _| {
        if let RecordContent::Entry(entry) = &mut record.fact {
            entry.balance_after += 1;
        }
    };
    let found = said(&balance);
    assert!(
        found.len() == 1 && found[0].contains("does not match its event"),
        "{found:?}"
    );
    let found = said(&|_, _, _, hash| *hash ^= 1);
    assert!(
        found.len() == 1 && found[0].contains("another key"),
        "{found:?}"
    );
    let found = said(&|version, _, _, _| *version += 1);
    assert!(
        found.len() == 1 && found[0].contains("is missing"),
        "{found:?}"
    );
    let too_much = |_: &mut _, event: &mut Event, _: &mut _, _: &mut _| {
        if let Change::Deducted { amount, .. } = &mut event.change {
            *amount = 1 << 40;
        }
    };
    assert_eq!(said(&too_much).len(), 1);
}

fn spoiled(
    entry: &Entry<'_>,
    spoil: &dyn Fn(&mut u64, &mut Event, &mut Record, &mut u64),
) -> Vec<u8> {
    let said = entry.decode().unwrap();
    let (mut version, mut event) = (entry.version, said.event);
    let (mut record, mut hash) = (said.record.unwrap(), entry.hash.unwrap());
    spoil(&mut version, &mut event, &mut record, &mut hash);
    let mut bytes = Vec::new();
    entry::write(
        &mut bytes,
        version,
        &event,
        Some(&record),
        Some(hash),
        said.moved.as_deref(),
    )
    .unwrap();
    bytes
}

#[test]
fn a_look_up_without_an_entry_or_with_one_too_many_is_damage() {
    let world = World::shop(13, 6, 500).with_subscriptions();
    for look_up in LookUp::ALL {
        let name = look_up.declared().name;
        let problems = |spoil: &dyn Fn(&sled::Tree, &OverlaidBooks)| {
            let db = database();
            let applied = OverlaidBooks::open(&db, small());
            checkpoint_all(&applied, world.part(..), 50);
            applied.store().merge_pending(0).unwrap();
            spoil(&db.open_tree(name).unwrap(), &applied);
            // After a checkpoint that may have been interrupted nothing is reported.
            let all = world.wallets.keys().map(|key| (*key, Vec::new())).collect();
            let found = verified(&applied, &PendingEntries::new()).problems.len();
            (found, verified(&applied, &all).problems.len())
        };
        assert_eq!(problems(&|_, _| {}), (0, 0));
        let (missing, _) = problems(&|tree, _| drop(tree.pop_min().unwrap()));
        assert!(missing > 0, "{name}");
        let (width, value) = (look_up.declared().key, look_up.declared().value);
        let added = problems(&|tree, _| {
            let (key, page) = tree.last().unwrap().unwrap();
            // One more, as high as can be, of a wallet that is not there.
            let more = [&page[..], &vec![255; width + value]].concat();
            tree.insert(key, more).unwrap();
        });
        assert_eq!(added, (1, 1), "{name}");
        if value == 0 {
            continue;
        }
        // As many as there should be, and one of them leads elsewhere.
        let moved = problems(&|_, applied| {
            let set = applied.store().look_up(look_up);
            let from = LookUpRange::From(vec![0; width].into());
            let mut first = Key::default();
            set.range(&from, &mut |key, _| {
                first = key.into();
                false
            })
            .unwrap();
            let elsewhere = vec![255; value].into_boxed_slice();
            let change = Changes::from([(first, Some(elsewhere))]);
            set.apply(&applied.store().writes, &change).unwrap();
        });
        assert_eq!(moved.0, 1, "{name}");
    }
}

#[test]
fn a_note_or_a_document_of_another_form_is_damage() {
    let world = World::shop(13, 6, 200);
    for tree in ["notes", "catalog"] {
        let db = database();
        let applied = OverlaidBooks::open(&db, small());
        checkpoint_all(&applied, world.part(..), 50);
        let tree = db.open_tree(tree).unwrap();
        tree.insert(b"n", b"\xffx").unwrap();
        assert_eq!(verified(&applied, &PendingEntries::new()).problems.len(), 1);
    }
}
