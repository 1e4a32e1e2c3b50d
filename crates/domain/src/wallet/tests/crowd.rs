//! A wallet with thousands of holds and lots: nothing looks at those that it does not touch.

use super::{
    GOLD, TIN, credit, credits, deduct,
    driver::{Done, Driver},
    hold, hold_id, key,
    shop::{DAY, basic, pack},
};
use crate::{
    Rejection,
    history::Reason,
    terms::Terms,
    wallet::{
        SubscriptionStatus,
        credit::{Credit, MAX_LOTS},
        hold::{MAX_OPEN_HOLDS, PlaceHold},
        state::lots::visits_taken,
    },
};

/// The most look-ups of lots for one event and for finding the next one due.
const STEPS: u64 = 12;

fn busy() -> Driver {
    let mut driver = Driver::new();
    driver.keeps_states = false;
    driver
}

/// One lot a second, the first of them in a second.
fn with_lots(count: i64) -> Driver {
    let mut driver = busy();
    for number in 1..=count {
        let end = Some(driver.after_seconds(number));
        driver
            .credit(credit(&format!("lot {number}"), 10, end))
            .unwrap();
    }
    driver
}

/// Runs this and counts the look-ups of lots.
fn cost<T>(run: impl FnOnce() -> T) -> (T, u64) {
    visits_taken();
    let result = run();
    (result, visits_taken())
}

#[test]
fn holds_that_expire_together_cost_each_its_own_step() {
    let mut driver = busy();
    let (count, end) = (40_000, driver.after_seconds(900));
    driver.credit(credit("all", count, None)).unwrap();
    for serial in 0..count.unsigned_abs() {
        let command = PlaceHold {
            max_open: 40_000,
            ..hold(serial.into(), 1, end)
        };
        let (placed, steps) = cost(|| driver.place(command));
        assert_eq!(placed, Ok(Done::Applied));
        assert!(steps <= STEPS, "{steps} to place one");
    }
    assert_eq!((driver.gold(), driver.wallet.due_at()), (0, end));
    let ((), steps) = cost(|| driver.pass_seconds(900));
    assert_eq!((driver.gold(), driver.wallet.holds().len()), (count, 0));
    assert!(
        steps <= STEPS * count.unsigned_abs(),
        "{steps} to expire all"
    );
}

#[test]
fn lots_cost_no_more_when_there_are_thousands() {
    let mut driver = with_lots(1000);
    let (done, steps) = cost(|| driver.deduct(deduct("one", 1)));
    assert_eq!(done, Ok(Done::Applied));
    assert!(steps <= STEPS, "{steps} to deduct from the first one");
    let (done, steps) = cost(|| driver.deduct(deduct("five", 50)));
    assert_eq!(done, Ok(Done::Applied));
    assert!(steps <= STEPS + 5 * 4, "{steps} to deduct from six");
    let end = driver.after_seconds(50_000);
    let (_, steps) = cost(|| driver.place(hold(1, 9, end)));
    assert!(steps <= STEPS, "{steps} to hold what the sixth one has");
    let (_, steps) = cost(|| driver.settle(hold_id(1), 10));
    assert!(steps <= STEPS, "{steps} to settle it and one more");
    let lots = driver.wallet.account(GOLD).unwrap().lot_count() as u64;
    let ((), steps) = cost(|| driver.pass_seconds(1000));
    assert_eq!((driver.gold(), driver.expiries().len() as u64), (0, lots));
    assert!(steps <= STEPS * lots, "{steps} to expire all");
}

#[test]
fn lots_that_are_wholly_held_are_not_in_the_way() {
    let mut driver = with_lots(1000);
    let end = driver.after_seconds(50_000);
    driver.place(hold(1, 9995, end)).unwrap();
    for turn in 0..5 {
        let (done, steps) = cost(|| driver.deduct(deduct(&format!("d{turn}"), 1)));
        assert_eq!(done, Ok(Done::Applied));
        assert!(steps <= STEPS, "{steps} to find the free one");
    }
    let account = driver.wallet.account(GOLD).unwrap();
    assert_eq!((account.available(), account.lot_count()), (0, 1000));
    let (found, steps) = cost(|| account.next_expiry());
    assert!(found.is_none() && steps <= 1);
}

#[test]
fn manual_grants_of_one_expiry_share_a_lot() {
    let mut driver = Driver::new();
    let end = Some(driver.after_seconds(DAY));
    driver.buy(1, pack());
    driver.credit(credit("a", 1, end)).unwrap();
    driver.credit(credit("b", 1, None)).unwrap();
    driver.buy(2, pack());
    driver.credit(credit("c", 1, end)).unwrap();
    driver.credit(credit("d", 1, None)).unwrap();
    let lots = driver.wallet.account(GOLD).unwrap();
    let lots: Vec<_> = lots.lots().iter().map(|l| (l.source, l.left)).collect();
    assert_eq!(
        lots,
        [
            (Reason::Manual, 2),
            (Reason::Purchase, 100),
            (Reason::Manual, 2),
            (Reason::Purchase, 100)
        ]
    );
}

#[test]
fn a_manual_grant_makes_no_more_than_a_thousand_lots() {
    let mut driver = with_lots(MAX_LOTS as i64);
    let before = driver.wallet.clone();
    let other = Some(driver.after_seconds(5000));
    assert_eq!(
        driver.credit(credit("more", 1, other)),
        Err(Rejection::TooManyLots)
    );
    assert_eq!(driver.wallet, before);
    let replay = driver.credit(credit("lot 1", 10, other));
    assert_eq!(replay, Ok(Done::Replayed(GOLD)), "a replay comes first");
    let reused = driver.credit(credit("lot 1", 11, other));
    assert_eq!(reused, Err(Rejection::KeyReused));
    let other_product = Credit {
        product: TIN,
        ..credit("tin", 1, other)
    };
    assert_eq!(
        driver.credit(other_product),
        Ok(Done::Applied),
        "another product"
    );
    let same = Some(driver.after_seconds(7));
    assert_eq!(
        driver.credit(credit("same", 1, same)),
        Ok(Done::Applied),
        "what shares a lot makes none"
    );
    driver.buy(1, pack());
    driver.buy(2, pack());
    let account = driver.wallet.account(GOLD).unwrap();
    assert_eq!(account.lot_count(), MAX_LOTS + 2, "what was paid for comes");
    driver.pass_seconds(3);
    assert_eq!(driver.credit(credit("more", 1, other)), Ok(Done::Applied));
}

#[test]
fn a_wallet_has_no_more_open_holds_than_it_may() {
    let mut driver = busy();
    let end = driver.after_seconds(DAY);
    driver.credit(credit("all", 2000, None)).unwrap();
    for serial in 0..MAX_OPEN_HOLDS as u128 {
        assert_eq!(driver.place(hold(serial, 1, end)), Ok(Done::Applied));
    }
    let before = driver.wallet.clone();
    for amount in [1, 5000] {
        assert_eq!(
            driver.place(hold(5000, amount, end)),
            Err(Rejection::TooManyHolds),
            "also before funds are looked at"
        );
    }
    let replay = driver.place(hold(7, 1, end));
    assert!(
        matches!(replay, Ok(Done::Replayed(_))),
        "a replay comes first"
    );
    let reused = driver.place(PlaceHold {
        cost: credits(2).into(),
        ..hold(7, 1, end)
    });
    assert_eq!(reused, Err(Rejection::KeyReused));
    assert_eq!(driver.wallet, before);
    let configured = PlaceHold {
        max_open: MAX_OPEN_HOLDS + 1,
        key: key("other"),
        ..hold(6000, 1, end)
    };
    assert_eq!(driver.place(configured), Ok(Done::Applied));
    driver.release(hold_id(1)).unwrap();
    driver.settle(hold_id(2), 1).unwrap();
    assert_eq!(driver.place(hold(5000, 1, end)), Ok(Done::Applied));
}

#[test]
fn a_cycle_that_ends_looks_at_its_own_lots_alone() {
    let mut driver = with_lots(900);
    driver.subscribe(1, 1, basic());
    let other = Terms {
        product: GOLD,
        ..basic()
    };
    driver.subscribe(2, 2, other);
    let before = driver.gold();
    let (_, steps) = cost(|| driver.set_status(1, SubscriptionStatus::Canceled));
    assert_eq!(driver.gold(), before - 100);
    assert!(steps <= 10 * STEPS, "{steps} to end one of 902 lots");
    assert_eq!((driver.left_of(1), driver.left_of(2)), (0, 100));
}
