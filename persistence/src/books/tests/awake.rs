//! Snapshots taken from awake wallets, also from those that are ahead of what is applied; and
//! wallets that are not awake.

use std::{collections::BTreeMap, ops::Range};

use domain::wallet::Wallet;

use super::*;
use crate::contract::Awake;

/// Wallets in memory as they were at a place in the log. The ticket of an event is its number there.
pub(super) struct Ahead {
    wallets: BTreeMap<WalletKey, (Wallet, Ticket)>,
}

impl Ahead {
    pub(super) fn at(world: &World, events: usize) -> Self {
        let mut last = BTreeMap::new();
        for (ticket, log_event) in (1..).zip(&world.log[..events]) {
            if let LogEvent::Wallet { key, .. } = log_event {
                last.insert(*key, Ticket(ticket));
            }
        }
        let wallets = world.before(events).wallets.into_iter();
        let wallets = wallets.map(|(key, (wallet, _))| (key, (wallet, last[&key])));
        Self {
            wallets: wallets.collect(),
        }
    }

    fn at_any(world: &World, places: [usize; 3], rng: &mut Rng) -> Self {
        let mut all = places.map(|events| Self::at(world, events).wallets);
        let mut wallets = BTreeMap::new();
        for key in world.wallets.keys() {
            let shown = all.get_mut(rng.below(4) as usize);
            wallets.extend(shown.and_then(|all| all.remove_entry(key)));
        }
        Self { wallets }
    }
}

impl Awake for Ahead {
    fn show(&self, key: &WalletKey, look: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some((wallet, last)) = self.wallets.get(key) {
            look(wallet, *last);
        }
    }
}

/// Applies a part of the log while every wallet is awake, just as far.
pub(super) fn checkpoint_awake(applied: &AppliedState, world: &World, part: Range<usize>) {
    let level = Ahead::at(world, part.end);
    checkpoint_with(applied, world, part, &level, usize::MAX).unwrap();
}

/// Applies a part of the log while some wallets are ahead of it and the log is durable up to a ticket.
fn checkpoint_with(
    applied: &AppliedState,
    world: &World,
    part: Range<usize>,
    awake: &Ahead,
    durable: usize,
) -> Result<(), Error> {
    let mut events = world.part(part).events();
    let report = applied.checkpoint(&mut events, awake, &|| Ticket(durable as u64))?;
    applied.forget(report)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: histories(6), failure_persistence: None, max_shrink_iters: 64, ..Default::default() })]

    #[test]
    fn wallets_that_are_ahead_of_a_checkpoint_come_to_the_same_wherever_it_ends(seed: u64) {
        let world = World::desk(seed, 5, 500);
        let db = database();
        let mut rng = Rng(seed);
        let mut overlaid = OverlaidBooks::open(&db, small());
        let (mut done, mut durable, mut newer) = (0, 0, 0);
        while done < world.log.len() {
            let upto = |rng: &mut Rng, from: usize, most| {
                (from + rng.below(most) as usize).min(world.log.len())
            };
            let to = upto(&mut rng, done, 60).max(done + 1);
            // What is applied is durable; wallets may be ahead of both.
            durable = upto(&mut rng, to.max(durable), 40);
            let places = [to, durable, upto(&mut rng, durable, 40)];
            let awake = Ahead::at_any(&world, places, &mut rng);
            let from = done - rng.below(done as u64 + 1).min(20) as usize;
            let cut = (rng.below(3) == 0).then(|| rng.below(90) as i64);
            fail_after_writes(&overlaid, cut.unwrap_or(i64::MAX));
            let applied = checkpoint_with(&overlaid, &world, from..to, &awake, durable);
            fail_after_writes(&overlaid, i64::MAX);
            prop_assert!(applied.is_ok() || cut.is_some());
            done = if applied.is_ok() { to } else { done };
            if applied.is_err() || rng.below(2) == 0 {
                overlaid = OverlaidBooks::open(&db, small());
            }
            for key in world.wallets.keys() {
                let stored = WalletRecord::read(overlaid.store(), key).unwrap();
                let head = stored.map(|stored| stored.head).unwrap_or_default();
                newer += usize::from(head.snapshot > head.version);
            }
            let rest = pending(world.part(from..durable));
            prop_assert_eq!(verified(&overlaid, &rest).problems, [""; 0]);
            if applied.is_err() || rng.below(3) == 0 {
                // The process ended: what was durable is applied before anything else.
                checkpoint_all(&overlaid, world.part(from..durable), 1 + rng.below(50) as usize);
                world.before(durable).check(&overlaid);
                done = durable;
            }
        }
        prop_assert!(newer > 0, "no snapshot was ahead");
        world.check(&overlaid);
    }
}

#[test]
fn every_single_write_may_be_the_last_while_wallets_are_ahead() {
    let world = World::shop(3, 3, 300);
    let (before, to, durable) = (180, 240, 270);
    let awake = Ahead::at(&world, 300);
    let some_wait = awake
        .wallets
        .values()
        .any(|(_, last)| last.0 > durable as u64);
    let some_do_not = awake
        .wallets
        .values()
        .any(|(_, last)| last.0 <= durable as u64);
    assert!(some_wait, "some wallet is ahead of what is durable");
    let durable_ones = Ahead::at(&world, durable);
    assert!(some_do_not || !durable_ones.wallets.is_empty());
    for awake in [&awake, &durable_ones] {
        let mut newer = 0;
        for writes in 0.. {
            let db = database();
            let overlaid = OverlaidBooks::open(&db, small());
            let early = Ahead::at(&world, before);
            for part in (0..before).step_by(45) {
                checkpoint_with(&overlaid, &world, part..part + 45, &early, before).unwrap();
            }
            fail_after_writes(&overlaid, writes);
            let done = checkpoint_with(&overlaid, &world, before..to, awake, durable);
            drop(overlaid);
            let overlaid = OverlaidBooks::open(&db, small());
            for key in world.wallets.keys() {
                let head = record(&overlaid, key).head;
                newer += usize::from(head.snapshot > head.version);
            }
            let report = verified(&overlaid, &pending(world.part(before..durable)));
            assert_eq!(report.problems, [""; 0], "after {writes} writes");
            // All of it again, or only what that checkpoint had not come to: as the log says.
            let from = if done.is_ok() { to } else { before };
            checkpoint_all(&overlaid, world.part(from..durable), 7);
            world.before(durable).check(&overlaid);
            checkpoint_all(&overlaid, world.part(durable..), 50);
            world.check(&overlaid);
            if done.is_ok() {
                assert!(writes > 20, "only {writes} writes");
                break;
            }
        }
        assert!(newer > 0 || !std::ptr::eq(awake, &durable_ones));
    }
}

#[test]
fn a_snapshot_is_stored_only_when_its_last_event_is_durable() {
    let mut world = World::new(20);
    let key = wallet_key(20);
    world.deductions(key, 98);
    for (durable, stored) in [(59, 0), (79, 0), (80, 80), (100, 80)] {
        let overlaid = OverlaidBooks::open(&database(), small());
        let awake = Ahead::at(&world, 80);
        checkpoint_with(&overlaid, &world, 0..60, &awake, durable).unwrap();
        let head = record(&overlaid, &key).head;
        assert_eq!(
            (head.version, head.snapshot),
            (60, stored),
            "durable to {durable}"
        );
        // Without the events up to there it would be damage.
        let said = verified(&overlaid, &PendingEntries::new()).problems;
        assert_eq!(said.len(), usize::from(stored > 0), "{said:?}");
        let rest = pending(world.part(60..80));
        assert_eq!(verified(&overlaid, &rest).problems, [""; 0]);
        checkpoint_all(&overlaid, world.part(60..), 7);
        world.check(&overlaid);
    }
    // It may become durable while the checkpoint writes what comes before the record.
    let overlaid = OverlaidBooks::open(&database(), small());
    let asked = std::cell::Cell::new(0);
    let durable = || {
        asked.set(asked.get() + 1);
        assert!(
            !overlaid.store().pages.is_empty(),
            "asked when the pages are written"
        );
        Ticket(80)
    };
    let awake = Ahead::at(&world, 80);
    let report = overlaid.checkpoint(&mut world.part(..60).events(), &awake, &durable);
    overlaid.forget(report.unwrap()).unwrap();
    assert_eq!(
        (record(&overlaid, &key).head.snapshot, asked.get()),
        (80, 1)
    );
}

#[test]
fn a_wallet_behind_what_is_applied_gives_no_snapshot() {
    let mut world = World::new(21);
    let key = wallet_key(21);
    world.deductions(key, 98);
    let overlaid = OverlaidBooks::open(&database(), small());
    // As when it was shown before its last turn was applied: it would be older than the entries.
    let behind = Ahead::at(&world, 50);
    checkpoint_with(&overlaid, &world, 0..60, &behind, 100).unwrap();
    assert_eq!(record(&overlaid, &key).head.snapshot, 0);
    // Just as far is far enough.
    checkpoint_awake(&overlaid, &world, 60..100);
    assert_eq!(record(&overlaid, &key).head.snapshot, 100);
    world.check(&overlaid);
}

#[test]
fn a_wallet_that_nobody_shows_is_replayed_until_it_is_much() {
    let mut world = World::new(22);
    let key = wallet_key(22);
    world.deductions(key, 1200);
    let overlaid = OverlaidBooks::open(&database(), small());
    let snapshot_after = |events: Range<usize>| {
        checkpoint_all(&overlaid, world.part(events.clone()), usize::MAX);
        world.before(events.end).check(&overlaid);
        record(&overlaid, &key).head.snapshot
    };
    assert_eq!(snapshot_after(0..200), 0);
    assert_eq!(snapshot_after(200..512), 0, "512 may be replayed");
    assert_eq!(snapshot_after(512..513), 513);
    assert_eq!(snapshot_after(513..1000), 513);
    assert_eq!(snapshot_after(1000..1025), 513);
    assert_eq!(snapshot_after(1025..1026), 1026);
}

#[test]
fn a_large_snapshot_is_stored_in_parts() {
    let world = World::random(8, 1, 300);
    let overlaid = OverlaidBooks::open(&database(), in_parts());
    for from in (0..300).step_by(20) {
        checkpoint_awake(&overlaid, &world, from..from + 20);
        let parts = record(&overlaid, &wallet_key(0)).head.parts.unwrap();
        assert_eq!(
            overlaid.store().parts.len(),
            usize::from(parts.count),
            "old parts are gone"
        );
    }
    assert!(overlaid.store().parts.len() > 3);
    world.check(&overlaid);
}

/// A large snapshot is written once for so many of its bytes an event.
#[test]
fn of_a_large_wallet_more_is_replayed() {
    let mut world = World::new(23);
    let key = wallet_key(23);
    world.deductions(key, 10);
    let tuning = Tuning {
        tail_bytes: 10_000,
        page_bytes: 16 << 10,
        snapshot_bytes: 20 << 10,
        part_bytes: 10 << 10,
        inline_keys: 300,
        ..small()
    };
    while world.log.len() < 1100 {
        world.hold(key);
    }
    let overlaid = OverlaidBooks::open(&database(), tuning);
    checkpoint_all(&overlaid, world.part(..), usize::MAX);
    let stored = record(&overlaid, &key);
    let (at, bytes) = (stored.head.snapshot, stored.snapshot_bytes());
    assert_eq!(at, 1100);
    assert!(
        stored
            .head
            .parts
            .is_some_and(|parts| parts.bytes == bytes && parts.count > 1)
    );
    let most = bytes / 64;
    assert!(most > 650, "{bytes} bytes");
    world.deductions(key, 3 * most as usize);
    let mut done = 1100;
    let mut snapshot_after = |events: u64| {
        let end = 1100 + events as usize;
        checkpoint_all(&overlaid, world.part(done..end), usize::MAX);
        done = end;
        assert!(overlaid.load(&key).unwrap().unwrap().wallet == world.before(end).wallets[&key].0);
        record(&overlaid, &key).head.snapshot
    };
    assert_eq!(snapshot_after(550), at, "more than a small one's share");
    assert_eq!(snapshot_after(most), at);
    assert_eq!(snapshot_after(most + 1), at + most + 1);
    // Awake it gives its snapshot as rarely.
    let (from, few) = (done, 100);
    checkpoint_awake(&overlaid, &world, from..from + few);
    assert_eq!(record(&overlaid, &key).head.snapshot, at + most + 1);
    checkpoint_awake(&overlaid, &world, from + few..world.log.len());
    assert_eq!(
        record(&overlaid, &key).head.snapshot,
        world.log.len() as u64
    );
    world.check(&overlaid);
}
