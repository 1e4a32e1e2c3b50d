//! Pages that many wallets of a checkpoint share.

use super::*;
use crate::books::pages::groups;

/// One page holds what these tests apply at once, and nothing stays in a wallet's own record.
fn shared() -> Tuning {
    Tuning {
        tail_bytes: 0,
        page_bytes: 16 << 10,
        ..small()
    }
}

fn pages(applied: &AppliedState) -> Vec<Vec<WalletKey>> {
    let pages = applied.store().pages.iter().values();
    let wallets = pages.map(|page| {
        let page = page.unwrap();
        let groups = groups(&page).unwrap();
        groups.into_iter().map(|(wallet, _)| wallet).collect()
    });
    wallets.collect()
}

#[test]
fn a_checkpoint_of_many_wallets_writes_few_pages() {
    let mut world = World::new(30);
    for number in 0..40 {
        world.deductions(wallet_key(number), 2);
    }
    let overlaid = OverlaidBooks::open(&database(), shared());
    checkpoint_all(&overlaid, world.part(..), usize::MAX);
    let found = pages(&overlaid);
    assert_eq!(found.len(), 1);
    assert!(found[0].is_sorted(), "in the order of their keys");
    assert_eq!(found[0].len(), 40);
    world.check(&overlaid);
    // And again: the former page is not touched.
    let (done, first) = (world.log.len(), overlaid.store().pages.first().unwrap());
    for number in 0..40 {
        world.deductions(wallet_key(number), 2);
    }
    checkpoint_all(&overlaid, world.part(done..), usize::MAX);
    assert_eq!(overlaid.store().pages.len(), 2);
    assert_eq!(overlaid.store().pages.first().unwrap(), first);
    world.check(&overlaid);
}

/// A wallet's entries end in the middle of one page and go on in others that begin with it.
#[test]
fn a_wallet_goes_on_in_the_next_page() {
    let mut world = World::new(31);
    let mut numbers: Vec<u64> = (0..9).collect();
    numbers.sort_by_key(|number| wallet_key(*number));
    let fifth = wallet_key(numbers[4]);
    for (place, number) in (0..).zip(numbers) {
        // The fifth fills several pages of its own.
        world.deductions(wallet_key(number), if place == 4 { 90 } else { 3 });
    }
    let tuning = Tuning {
        page_bytes: 900,
        ..shared()
    };
    let overlaid = OverlaidBooks::open(&database(), tuning);
    checkpoint_all(&overlaid, world.part(..), usize::MAX);
    let found = pages(&overlaid);
    let long = |page: &&Vec<WalletKey>| page.contains(&fifth);
    assert!(found.iter().filter(long).count() > 3);
    assert!(found.iter().any(|page| page.len() > 1 && long(&page)));
    world.check(&overlaid);
}

#[test]
fn a_checkpoint_of_very_many_wallets_is_written_bit_by_bit() {
    let mut world = World::new(32);
    for number in 0..1_500 {
        world.step(wallet_key(number));
        world.step(wallet_key(number));
    }
    let overlaid = OverlaidBooks::open(&database(), Tuning::default());
    checkpoint_all(&overlaid, world.part(..), usize::MAX);
    world.check(&overlaid);
    let overlaid = OverlaidBooks::open(&database(), shared());
    checkpoint_all(&overlaid, world.part(..), usize::MAX);
    world.check(&overlaid);
}

/// Some wallets lead to the page of a checkpoint that was interrupted, the others come to another one.
#[test]
fn a_page_that_only_some_of_its_wallets_lead_to_stays_for_them() {
    let mut world = World::new(33);
    let keys: Vec<_> = (0..12).map(wallet_key).collect();
    for key in &keys {
        world.deductions(*key, 2);
    }
    let before = world.log.len();
    for key in &keys {
        world.deductions(*key, 3);
    }
    let mut partly = 0;
    for writes in 0.. {
        let db = database();
        let overlaid = OverlaidBooks::open(&db, shared());
        checkpoint_all(&overlaid, world.part(..before), usize::MAX);
        fail_after_writes(&overlaid, writes);
        let done =
            checkpoint(&overlaid, world.part(before..)).and_then(|report| overlaid.forget(report));
        drop(overlaid);
        // Opened twice before it is applied again: the second time finds nothing else to do.
        drop(OverlaidBooks::open(&db, shared()));
        let overlaid = OverlaidBooks::open(&db, shared());
        let rest = pending(world.part(before..));
        assert_eq!(verified(&overlaid, &rest).problems, [""; 0]);
        let new = |key: &&WalletKey| record(&overlaid, key).head.version > 4;
        let reached = keys.iter().filter(new).count();
        assert_eq!(
            overlaid.store().pages.len(),
            if reached > 0 { 2 } else { 1 }
        );
        checkpoint_all(&overlaid, world.part(before..), 7);
        world.check(&overlaid);
        if (1..keys.len()).contains(&reached) {
            partly += 1;
            let named: Vec<_> = pages(&overlaid);
            assert_eq!(named[1].len(), keys.len(), "it is as it was written");
            // More of those that came to another page.
            let mut more = world.before(world.log.len());
            for key in &keys {
                more.deductions(*key, 1);
            }
            checkpoint_all(&overlaid, more.part(world.log.len()..), usize::MAX);
            more.check(&overlaid);
            drop(overlaid);
            more.check(&OverlaidBooks::open(&db, shared()));
        }
        if done.is_ok() {
            break;
        }
    }
    assert!(partly >= keys.len() - 1, "{partly}");
}
