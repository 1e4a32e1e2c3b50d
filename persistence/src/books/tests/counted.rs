//! What is kept of project events and of usage, and for how long.

use domain::{
    Amount, Timestamp,
    id::{PriceId, ProductId, ProjectId, WalletKey},
    project_event::{EventData, ProjectEvent},
    text::{IdempotencyKey, Meta},
    wallet::{Change, OrderStatus},
};

use super::{
    OverlaidBooks, checkpoint, checkpoint_all, small,
    world::{Part, World, database, verified, wallet_key},
};
use crate::{
    books::{
        copied::{CopyBounds, Mark, Section},
        project_events, usage,
        verify::listed::PendingEntries,
    },
    format::append::LogEvent,
    frames::FramePosition,
    lookups::OrderSummary,
    usage::{
        FEATURES, Interval, OTHER, SalesChange, Usage,
        pending::{CheckpointEnd, PendingSales},
    },
};

const DAY: i64 = 24 * 60 * 60 * 1000;
const GOLD: ProductId = ProductId(1);

fn event_at(at: i64) -> LogEvent {
    event_of(ProjectId(1), at)
}

fn event_of(project: ProjectId, at: i64) -> LogEvent {
    LogEvent::ProjectEvent(ProjectEvent {
        project,
        at: Timestamp(at),
        recorded: Timestamp(at),
        key: WalletKey([1; 16]),
        wallet: domain::id::WalletId(1),
        user: None,
        data: EventData::WalletCreated,
    })
}

#[test]
fn project_events_are_kept_for_thirty_days_and_as_long_as_nothing_follows() {
    let overlaid = OverlaidBooks::open(&database(), small());
    let log: Vec<LogEvent> = (0..100).map(|day| event_at(day * DAY)).collect();
    for done in 0..100 {
        let part = Part::of(done, &log[done as usize..=done as usize]);
        let report = checkpoint(&overlaid, part).unwrap();
        overlaid.forget(report).unwrap();
    }
    let kept = project_events::after(overlaid.store(), ProjectId(1), 0, usize::MAX).unwrap();
    let days: Vec<i64> = kept
        .iter()
        .map(|(_, bytes)| {
            crate::format::decode_project_event(ProjectId(1), bytes)
                .unwrap()
                .at
                .0
                / DAY
        })
        .collect();
    assert!(
        days.starts_with(&[days[0]]) && (50..=69).contains(&days[0]),
        "{days:?}"
    );
    assert!(days.ends_with(&[98, 99]) && days.is_sorted());
    assert_eq!(
        verified(&overlaid, &PendingEntries::new()).problems,
        [""; 0]
    );
}

/// A wallet that nobody touches learns late of what time did to it.
#[test]
fn what_happened_long_ago_is_kept_as_long_as_all_that_was_recorded_with_it() {
    let overlaid = OverlaidBooks::open(&database(), small());
    let late = |day: i64| match event_at((day - 40) * DAY) {
        LogEvent::ProjectEvent(project_event) => LogEvent::ProjectEvent(ProjectEvent {
            recorded: Timestamp(day * DAY),
            ..project_event
        }),
        other => other,
    };
    let log: Vec<LogEvent> = (0..500)
        .map(|n| {
            if n < 300 {
                late(100)
            } else {
                event_at(100 * DAY)
            }
        })
        .collect();
    for (done, events) in (0..).zip(log.chunks(100)) {
        let report = checkpoint(&overlaid, Part::of(done * 100, events)).unwrap();
        overlaid.forget(report).unwrap();
    }
    let kept = project_events::after(overlaid.store(), ProjectId(1), 0, usize::MAX).unwrap();
    assert_eq!(kept.len(), 500);
    assert_eq!(
        verified(&overlaid, &PendingEntries::new()).problems,
        [""; 0]
    );
}

/// Checkpoints go on between two parts of a copy, and add to pages that it has and begin others that it has not
/// come to: only what is left of all that beyond its mark leaves no gap.
#[test]
fn a_copy_has_what_was_reported_up_to_its_mark_and_nothing_beyond() {
    let overlaid = OverlaidBooks::open(&database(), small());
    let projects = [ProjectId(1), ProjectId(2)];
    let checkpoint_one = |done: u64| {
        let event = [event_of(projects[(done % 2) as usize], done as i64)];
        let report = checkpoint(&overlaid, Part::of(done, &event)).unwrap();
        overlaid.forget(report).unwrap();
    };
    (0..40).for_each(checkpoint_one);
    let lsn = 40;
    let before: Vec<_> = projects
        .iter()
        .flat_map(|project| {
            project_events::after(overlaid.store(), *project, 0, usize::MAX).unwrap()
        })
        .map(|(number, _)| number)
        .collect();
    (40..120).for_each(checkpoint_one);
    let mark = Mark {
        applied: FramePosition { lsn, hash: [0; 32] },
        checkpoint: 0,
    };
    let extent = CopyBounds {
        mark,
        last_checkpoint: overlaid.number(),
    };
    let mut copied = Vec::new();
    let read = Section::ProjectEvents.read(overlaid.store(), &extent, &mut |key, _| {
        copied.push(u64::from_be_bytes(*key.last_chunk().unwrap()));
        Ok(())
    });
    read.unwrap();
    assert_eq!((copied.len(), copied), (40, before));
}

fn used(world: &mut World, at: i64, feature: &str) {
    let key = wallet_key(1);
    let name = IdempotencyKey::new(format!("{at}-{feature}")).unwrap();
    let meta = Meta::new(format!(r#"{{"feature":"{feature}"}}"#)).unwrap();
    world.push_at(
        key,
        Timestamp(at),
        Change::Deducted {
            product: GOLD,
            amount: Amount::new(1).unwrap().get(),
            key: name,
            meta: Some(meta),
            rate: None,
            counted: None,
        },
    );
}

#[test]
fn features_beyond_two_hundred_are_other() {
    let mut world = World::new(1);
    world.deductions(wallet_key(1), 1);
    for feature in 0..FEATURES + 50 {
        used(&mut world, 5000, &format!("f{feature:03}"));
    }
    // Known before: it goes on to be counted apart.
    used(&mut world, 6000, "f000");
    let overlaid = OverlaidBooks::open(&database(), small());
    checkpoint_all(&overlaid, world.part(..), 100);
    let months = usage::read(overlaid.store(), GOLD, Interval::Month, ALL).unwrap();
    let [(_, _, month)] = months.as_slice() else {
        panic!("{months:?}")
    };
    assert_eq!(month.features.len(), FEATURES + 1);
    assert_eq!(
        (
            month.features[OTHER].credits,
            month.features["f000"].deductions
        ),
        (50, 2)
    );
    let apart: i64 = month.features.values().map(|it| it.credits).sum();
    assert_eq!(
        (apart, month.count.deducted),
        (251, 252),
        "one had no feature"
    );
}

const ALL: (Timestamp, Timestamp) = (Timestamp(i64::MIN), Timestamp(i64::MAX));

#[test]
fn hours_are_kept_for_ninety_days_days_for_three_years_months_for_good() {
    let mut world = World::new(1);
    world.deductions(wallet_key(1), 0);
    for day in (0..1500).step_by(10) {
        used(&mut world, day * DAY, "x");
    }
    // What comes late is of its own time.
    used(&mut world, 10 * DAY, "late");
    let overlaid = OverlaidBooks::open(&database(), small());
    checkpoint_all(&overlaid, world.part(..), 7);
    let days = |interval| -> Vec<i64> {
        let found = usage::read(overlaid.store(), GOLD, interval, ALL).unwrap();
        found.iter().map(|(at, ..)| at.0 / DAY).collect()
    };
    assert_eq!(
        days(Interval::Hour),
        (1410..1500).step_by(10).collect::<Vec<_>>()
    );
    assert_eq!(
        days(Interval::Day),
        (400..1500).step_by(10).collect::<Vec<_>>()
    );
    assert_eq!(days(Interval::Month)[..2], [0, 31]);
    assert_eq!(
        verified(&overlaid, &PendingEntries::new()).problems,
        [""; 0]
    );
    let january = &usage::read(overlaid.store(), GOLD, Interval::Month, ALL).unwrap()[0].2;
    assert_eq!(
        (january.count.deductions, january.features["late"].credits),
        (5, 1)
    );
}

#[test]
fn of_orders_counts_how_they_stand_however_often_they_are_applied() {
    let world = World::shop(5, 4, 600).with_archives();
    for step in [1, 7, 100, usize::MAX] {
        let overlaid = OverlaidBooks::open(&database(), small());
        checkpoint_all(&overlaid, world.part(..), step);
        world.check_usage(&overlaid);
        // All of it, and the end of it, once more.
        for part in [world.part(..), world.part(300..)] {
            let report = checkpoint(&overlaid, part).unwrap();
            overlaid.forget(report).unwrap();
        }
        world.check_usage(&overlaid);
        assert_eq!(
            verified(&overlaid, &PendingEntries::new()).problems,
            [""; 0]
        );
    }
}

/// A reader between any two steps of an order's append, and of the checkpoint that stores it, counts it once.
#[test]
fn an_order_counts_once_from_before_its_append_until_after_its_checkpoint() {
    let sales = PendingSales::default();
    let placed = OrderSummary {
        status: OrderStatus::Pending,
        processing: false,
        disputed: false,
        product: GOLD,
        price: PriceId(1),
        amount_cents: 100,
        refunded_cents: 0,
        currency: *b"EUR",
    };
    let read = |through: u64, is_stored: bool| {
        let mut usage = Usage::default();
        if is_stored {
            usage.sales.add_order(&placed);
        }
        let stored = || Ok(vec![(Timestamp(0), through, usage)]);
        let read = sales.merged((GOLD, Interval::Month), ALL, stored).unwrap();
        let counts = read.iter().map(|(_, it)| it.sales.placed());
        counts.sum::<i64>()
    };
    assert_eq!(read(4, false), 0);
    let slot = sales.add(&[SalesChange {
        product: GOLD,
        placed_at: Timestamp(5),
        before: None,
        after: Some(placed),
    }]);
    assert_eq!(read(4, false), 1, "no ticket yet");
    // A checkpoint of what is before it.
    sales.begin_checkpoint(CheckpointEnd { lsn: 5, ticket: 2 });
    assert_eq!((read(4, false), read(5, false)), (1, 1));
    slot.set(3);
    assert_eq!((read(4, false), read(5, false)), (1, 1));
    sales.applied(2);
    assert_eq!((read(4, false), read(5, false)), (1, 1));
    // Its own.
    sales.begin_checkpoint(CheckpointEnd { lsn: 8, ticket: 3 });
    assert_eq!((read(5, false), read(8, true)), (1, 1));
    sales.applied(3);
    assert_eq!(read(8, true), 1);
}

#[test]
fn verify_finds_a_sale_or_a_wallet_that_was_not_counted() {
    let world = World::shop(6, 4, 300).with_archives();
    let overlaid = OverlaidBooks::open(&database(), small());
    checkpoint_all(&overlaid, world.part(..), 50);
    let usage = &overlaid.store().usage;
    let months = usage.iter().map(Result::unwrap);
    let months: Vec<_> = months
        .filter(|(key, _)| key[16] == Interval::Month as u8)
        .collect();
    assert!(!months.is_empty());
    let product = |key: &[u8]| ProductId(u128::from_be_bytes(*key.first_chunk().unwrap()));
    for (key, value) in months {
        let (.., month) = usage::read(overlaid.store(), product(&key), Interval::Month, ALL)
            .unwrap()
            .remove(0);
        let mut places = Vec::new();
        let wallets = Vec::from(month.wallets.clone()).len();
        if wallets > 0 {
            places.push(value.len() - 1);
        }
        if month.sales.placed() > 0 {
            // Before the wallets and their length: what was refunded of the last orders.
            places.push(value.len() - wallets - 2);
        }
        for place in places {
            let mut wrong = value.to_vec();
            wrong[place] ^= 1;
            usage.insert(&key, wrong).unwrap();
            let problems = verified(&overlaid, &PendingEntries::new()).problems;
            assert_eq!(problems.len(), 1, "{place}: {problems:?}");
        }
        usage.insert(&key, value).unwrap();
    }
    assert_eq!(
        verified(&overlaid, &PendingEntries::new()).problems,
        [""; 0]
    );
}
