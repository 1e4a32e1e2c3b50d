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
    let shelf = Shelf::open(&database(), shared());
    checkpoint_all(&shelf, world.part(..), usize::MAX);
    let found = pages(&shelf);
    assert_eq!(found.len(), 1);
    assert!(found[0].is_sorted(), "in the order of their keys");
    assert_eq!(found[0].len(), 40);
    world.check(&shelf);
    // And again: the former page is not touched.
    let (done, first) = (world.log.len(), shelf.store().pages.first().unwrap());
    for number in 0..40 {
        world.deductions(wallet_key(number), 2);
    }
    checkpoint_all(&shelf, world.part(done..), usize::MAX);
    assert_eq!(shelf.store().pages.len(), 2);
    assert_eq!(shelf.store().pages.first().unwrap(), first);
    world.check(&shelf);
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
    let shelf = Shelf::open(&database(), tuning);
    checkpoint_all(&shelf, world.part(..), usize::MAX);
    let found = pages(&shelf);
    let long = |page: &&Vec<WalletKey>| page.contains(&fifth);
    assert!(found.iter().filter(long).count() > 3);
    assert!(found.iter().any(|page| page.len() > 1 && long(&page)));
    world.check(&shelf);
}

#[test]
fn a_checkpoint_of_very_many_wallets_is_written_bit_by_bit() {
    let mut world = World::new(32);
    for number in 0..1_500 {
        world.step(wallet_key(number));
        world.step(wallet_key(number));
    }
    let shelf = Shelf::open(&database(), Tuning::default());
    checkpoint_all(&shelf, world.part(..), usize::MAX);
    world.check(&shelf);
    let shelf = Shelf::open(&database(), shared());
    checkpoint_all(&shelf, world.part(..), usize::MAX);
    world.check(&shelf);
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
        let shelf = Shelf::open(&db, shared());
        checkpoint_all(&shelf, world.part(..before), usize::MAX);
        fail_after_writes(&shelf, writes);
        let done = checkpoint(&shelf, world.part(before..)).and_then(|report| shelf.forget(report));
        drop(shelf);
        // Opened twice before it is applied again: the second time finds nothing else to do.
        drop(Shelf::open(&db, shared()));
        let shelf = Shelf::open(&db, shared());
        let rest = pending(world.part(before..));
        assert_eq!(verified(&shelf, &rest).problems, [""; 0]);
        let new = |key: &&WalletKey| record(&shelf, key).head.version > 4;
        let reached = keys.iter().filter(new).count();
        assert_eq!(shelf.store().pages.len(), if reached > 0 { 2 } else { 1 });
        checkpoint_all(&shelf, world.part(before..), 7);
        world.check(&shelf);
        if (1..keys.len()).contains(&reached) {
            partly += 1;
            let named: Vec<_> = pages(&shelf);
            assert_eq!(named[1].len(), keys.len(), "it is as it was written");
            // More of those that came to another page.
            let mut more = world.before(world.log.len());
            for key in &keys {
                more.deductions(*key, 1);
            }
            checkpoint_all(&shelf, more.part(world.log.len()..), usize::MAX);
            more.check(&shelf);
            drop(shelf);
            more.check(&Shelf::open(&db, shared()));
        }
        if done.is_ok() {
            break;
        }
    }
    assert!(partly >= keys.len() - 1, "{partly}");
}
