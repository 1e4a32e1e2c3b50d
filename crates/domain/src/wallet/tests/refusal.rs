//! Which refusal wins when several apply: an unknown id, then a replay or a reused key, then the
//! missing product, then another state that conflicts, then funds.

use super::{
    GOLD, TIN, credit, deduct,
    driver::{Done, Driver},
    hold, hold_id,
};
use crate::{
    MAX_CREDITS, Rejection,
    wallet::{ProductRef, credit::Credit, deduct::Deduct, hold::PlaceHold},
};

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Applied,
    Replayed,
    KeyReused,
    ProductRequired,
    BalanceLimit,
    TooManyHolds,
    TooManyLots,
    Insufficient,
    HoldNotFound,
    HoldClosed,
    Frozen,
}

fn answer<R>(outcome: Result<Done<R>, Rejection>) -> Answer {
    match outcome {
        Ok(Done::Applied) => Answer::Applied,
        Ok(Done::Replayed(_)) => Answer::Replayed,
        Err(Rejection::KeyReused) => Answer::KeyReused,
        Err(Rejection::ProductRequired) => Answer::ProductRequired,
        Err(Rejection::BalanceLimit) => Answer::BalanceLimit,
        Err(Rejection::TooManyHolds) => Answer::TooManyHolds,
        Err(Rejection::TooManyLots) => Answer::TooManyLots,
        Err(Rejection::Insufficient { .. } | Rejection::NoCredit { .. }) => Answer::Insufficient,
        Err(Rejection::HoldNotFound) => Answer::HoldNotFound,
        Err(Rejection::HoldClosed) => Answer::HoldClosed,
        Err(Rejection::Frozen { .. }) => Answer::Frozen,
        Err(
            Rejection::WalletNotFound
            | Rejection::NoRecoveryCode
            | Rejection::DeductionNotFound
            | Rejection::HoldOpen
            | Rejection::AlreadyReversed { .. }
            | Rejection::Unrated(_),
        ) => {
            panic!("a wallet does not refuse itself")
        }
        Err(
            Rejection::OrderNotFound
            | Rejection::AlreadySubscribed { .. }
            | Rejection::AlreadyOwned
            | Rejection::CurrencyMismatch { .. }
            | Rejection::TooManyPending
            | Rejection::ExpiryPast
            | Rejection::NoPurchase
            | Rejection::SubscriptionNotFound
            | Rejection::SubscriptionAmbiguous
            | Rejection::AlreadyRefunded { .. },
        ) => panic!("this is about purchases"),
        Err(Rejection::LimitExceeded(_) | Rejection::TooManyScopes) => {
            panic!("nothing is limited here")
        }
        Err(Rejection::MetaTooLarge) => panic!("nothing has a note here"),
        Err(
            Rejection::TopUpRule { .. }
            | Rejection::CardRequired
            | Rejection::CardConfirmationRequired,
        ) => panic!("no top-up is set here"),
    }
}

const NAMED: ProductRef = ProductRef::Named(GOLD);
const OTHER: ProductRef = ProductRef::Named(TIN);
const ONLY: ProductRef = ProductRef::Only(Some(GOLD));
const AMBIGUOUS: ProductRef = ProductRef::Only(None);

/// The key, the product, the credits; the answer of a wallet without a credit left.
const KEYED: [(&str, ProductRef, i64, Answer); 14] = [
    ("used", NAMED, 10, Answer::Replayed),
    ("used", ONLY, 10, Answer::Replayed),
    ("used", AMBIGUOUS, 10, Answer::Replayed),
    ("used", ProductRef::Only(Some(TIN)), 10, Answer::Replayed),
    ("used", NAMED, 11, Answer::KeyReused),
    ("used", ONLY, 9, Answer::KeyReused),
    ("used", AMBIGUOUS, 11, Answer::KeyReused),
    ("used", OTHER, 10, Answer::KeyReused),
    ("used", OTHER, 11, Answer::KeyReused),
    ("new", AMBIGUOUS, 10, Answer::ProductRequired),
    ("new", AMBIGUOUS, MAX_CREDITS, Answer::ProductRequired),
    ("new", NAMED, 1, Answer::Insufficient),
    ("new", ONLY, 1, Answer::Insufficient),
    ("new", OTHER, 1, Answer::Insufficient),
];

#[test]
fn a_deduction_looks_at_its_key_then_its_product_then_funds() {
    for (name, product, amount, expected) in KEYED {
        let mut driver = Driver::new();
        driver.credit(credit("start", 10, None)).unwrap();
        driver.deduct(deduct("used", 10)).unwrap();
        let before = driver.wallet.clone();
        let outcome = driver.deduct(Deduct {
            product,
            ..deduct(name, amount)
        });
        assert_eq!(answer(outcome), expected, "{name} {product:?} {amount}");
        assert_eq!(driver.wallet, before, "nothing changed");
    }
}

#[test]
fn a_hold_looks_at_its_key_then_its_product_then_funds() {
    for (name, product, amount, expected) in KEYED {
        let mut driver = Driver::new();
        driver.credit(credit("start", 10, None)).unwrap();
        let end = driver.after_seconds(60);
        let command = |name: &str, product, amount| PlaceHold {
            product,
            key: super::key(name),
            ..hold(1, amount, end)
        };
        driver.place(command("used", NAMED, 10)).unwrap();
        let before = driver.wallet.clone();
        let outcome = driver.place(PlaceHold {
            id: hold_id(2),
            ..command(name, product, amount)
        });
        assert_eq!(answer(outcome), expected, "{name} {product:?} {amount}");
        assert_eq!(driver.wallet, before, "nothing changed");
    }
}

#[test]
fn a_grant_looks_at_its_key_then_at_the_limit() {
    let cases = [
        ("used", GOLD, MAX_CREDITS, Answer::Replayed),
        ("used", GOLD, 1, Answer::KeyReused),
        ("used", TIN, MAX_CREDITS, Answer::KeyReused),
        ("new", GOLD, 1, Answer::BalanceLimit),
        ("new", TIN, 1, Answer::Applied),
    ];
    for (name, product, amount, expected) in cases {
        let mut driver = Driver::new();
        driver.credit(credit("used", MAX_CREDITS, None)).unwrap();
        let outcome = driver.credit(Credit {
            product,
            ..credit(name, amount, None)
        });
        assert_eq!(answer(outcome), expected, "{name} {product} {amount}");
    }
}

#[test]
fn closing_a_hold_looks_at_the_hold_then_its_outcome_then_funds() {
    enum Verb {
        Settle(i64),
        Release,
        Extend,
    }
    // Holds of 10 in a wallet with nothing else: 1 open, 2 settled for 10, 3 settled for nothing
    // and spent since, 4 released and spent since, 5 expired and spent since; 6 was never placed.
    let cases = [
        (6, Verb::Settle(MAX_CREDITS), Answer::HoldNotFound),
        (6, Verb::Release, Answer::HoldNotFound),
        (6, Verb::Extend, Answer::HoldNotFound),
        (2, Verb::Settle(10), Answer::Replayed),
        (3, Verb::Settle(0), Answer::Replayed),
        (4, Verb::Release, Answer::Replayed),
        (2, Verb::Settle(MAX_CREDITS), Answer::HoldClosed),
        (2, Verb::Release, Answer::HoldClosed),
        (2, Verb::Extend, Answer::HoldClosed),
        (3, Verb::Settle(10), Answer::HoldClosed),
        (3, Verb::Release, Answer::HoldClosed),
        (4, Verb::Settle(0), Answer::HoldClosed),
        (4, Verb::Settle(MAX_CREDITS), Answer::HoldClosed),
        (4, Verb::Extend, Answer::HoldClosed),
        (5, Verb::Settle(0), Answer::HoldClosed),
        (5, Verb::Settle(MAX_CREDITS), Answer::HoldClosed),
        (5, Verb::Release, Answer::HoldClosed),
        (5, Verb::Extend, Answer::HoldClosed),
        (1, Verb::Settle(11), Answer::Insufficient),
        (1, Verb::Settle(10), Answer::Applied),
        (1, Verb::Release, Answer::Applied),
        (1, Verb::Extend, Answer::Applied),
    ];
    for (number, (serial, verb, expected)) in cases.into_iter().enumerate() {
        let mut driver = Driver::new();
        driver.credit(credit("start", 50, None)).unwrap();
        let (soon, late) = (driver.after_seconds(60), driver.after_seconds(600));
        for serial in 1..=5 {
            driver
                .place(hold(serial, 10, if serial == 5 { soon } else { late }))
                .unwrap();
        }
        driver.settle(hold_id(2), 10).unwrap();
        driver.settle(hold_id(3), 0).unwrap();
        driver.release(hold_id(4)).unwrap();
        driver.pass_seconds(60);
        driver.deduct(deduct("the rest", 30)).unwrap();
        let id = hold_id(serial);
        let outcome = match verb {
            Verb::Settle(cost) => driver.settle(id, cost),
            Verb::Release => driver.release(id),
            Verb::Extend => driver.extend(id, late.plus_seconds(1)),
        };
        assert_eq!(answer(outcome), expected, "case {number}");
    }
}

/// A freeze comes after what the key and the product decide, and before funds.
#[test]
fn a_frozen_wallet_says_so_in_place_of_looking_at_its_funds() {
    for (name, product, amount, expected) in KEYED {
        let expected = match expected {
            Answer::Insufficient => Answer::Frozen,
            other => other,
        };
        let mut driver = Driver::new();
        driver.credit(credit("start", 10, None)).unwrap();
        driver.deduct(deduct("used", 10)).unwrap();
        driver.set_frozen(true);
        let command = Deduct {
            product,
            ..deduct(name, amount)
        };
        assert_eq!(answer(driver.deduct(command)), expected, "{name} {amount}");
    }
}

#[test]
fn a_hold_of_another_wallet_is_unknown() {
    let mut driver = Driver::new();
    driver.credit(credit("start", 10, None)).unwrap();
    driver.place(hold(1, 10, driver.after_seconds(60))).unwrap();
    let foreign = crate::id::HoldId {
        wallet: crate::id::WalletKey([1; 16]),
        ..hold_id(1)
    };
    assert_eq!(driver.find_hold(foreign), Err(Rejection::HoldNotFound));
    assert_eq!(driver.release(foreign), Err(Rejection::HoldNotFound));
}
