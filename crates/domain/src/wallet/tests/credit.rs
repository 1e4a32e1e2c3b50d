//! Adding credits by hand, once per key.

use super::{GOLD, TIN, credit, driver::Done, driver::Driver, key};
use crate::{
    Rejection,
    history::Reason,
    text::Meta,
    wallet::{NextExpiry, credit::Credit},
};

#[test]
fn granted_credits_are_spendable_at_once_and_in_the_ledger() {
    let mut driver = Driver::new();
    let meta = Meta::new(r#"{"why":"sorry"}"#).unwrap();
    let end = driver.after_seconds(3600);
    let command = Credit {
        meta: Some(meta.clone()),
        ..credit("c", 25, Some(end))
    };
    assert_eq!(driver.credit(command), Ok(Done::Applied));
    assert_eq!(driver.wallet.available(GOLD), 25);
    let entry = driver.records.last().unwrap().entry().unwrap();
    assert_eq!(
        (entry.delta, entry.balance_after, entry.reason),
        (25, 25, Reason::Manual)
    );
    assert_eq!(
        (entry.key.as_ref(), entry.meta.as_ref()),
        (Some(&key("c")), Some(&meta))
    );
    assert_eq!(entry.expires_at, Some(end));
    let shown = driver.wallet.account(GOLD).unwrap().next_expiry();
    assert_eq!(
        shown,
        Some(NextExpiry {
            amount: 25,
            at: end
        })
    );
}

#[test]
fn credits_without_an_end_never_expire() {
    let mut driver = Driver::new();
    driver.credit(credit("c", 25, None)).unwrap();
    assert_eq!(
        driver.records.last().unwrap().entry().unwrap().expires_at,
        None
    );
    assert_eq!(driver.wallet.account(GOLD).unwrap().next_expiry(), None);
    driver.pass_seconds(100 * 366 * 86_400);
    assert_eq!(driver.wallet.available(GOLD), 25);
}

#[test]
fn a_retry_grants_nothing_even_after_the_credits_are_gone() {
    let mut driver = Driver::new();
    driver.credit(credit("c", 25, None)).unwrap();
    driver.deduct(super::deduct("d", 25)).unwrap();
    assert_eq!(
        driver.credit(credit("c", 25, None)),
        Ok(Done::Replayed(GOLD))
    );
    assert_eq!(driver.wallet.available(GOLD), 0);
}

#[test]
fn a_retry_may_differ_in_its_end_and_note() {
    let mut driver = Driver::new();
    driver.credit(credit("c", 25, None)).unwrap();
    let again = Credit {
        meta: Some(Meta::new("{}").unwrap()),
        ..credit("c", 25, Some(driver.after_seconds(60)))
    };
    assert_eq!(driver.credit(again), Ok(Done::Replayed(GOLD)));
    assert_eq!(
        driver.wallet.account(GOLD).unwrap().next_expiry(),
        None,
        "the first one stands"
    );
}

#[test]
fn another_amount_or_product_under_the_key_is_refused() {
    let mut driver = Driver::new();
    driver.credit(credit("c", 25, None)).unwrap();
    assert_eq!(
        driver.credit(credit("c", 26, None)),
        Err(Rejection::KeyReused)
    );
    let other_product = Credit {
        product: TIN,
        ..credit("c", 25, None)
    };
    assert_eq!(driver.credit(other_product), Err(Rejection::KeyReused));
    assert_eq!(
        (driver.wallet.available(GOLD), driver.wallet.available(TIN)),
        (25, 0)
    );
}

#[test]
fn credits_past_their_end_are_not_granted_and_one_granted_in_time_is_known_after_it() {
    let mut driver = Driver::new();
    let past = credit("late", 25, Some(driver.now));
    assert_eq!(driver.credit(past), Err(Rejection::ExpiryPast));
    let end = driver.after_seconds(60);
    let command = credit("in time", 25, Some(end));
    assert_eq!(driver.credit(command.clone()), Ok(Done::Applied));
    driver.now = end;
    assert_eq!(driver.credit(command), Ok(Done::Replayed(GOLD)));
    assert_eq!(
        driver.ledger(GOLD),
        [(Reason::Manual, 25), (Reason::Expiry, -25)]
    );
}

#[test]
fn a_wallet_filled_by_many_small_grants_stays_small() {
    let mut driver = Driver::new();
    let end = driver.after_seconds(3600);
    for turn in 0..100 {
        driver.credit(credit(&format!("a{turn}"), 1, None)).unwrap();
        driver
            .credit(credit(&format!("b{turn}"), 1, Some(end)))
            .unwrap();
    }
    assert_eq!(driver.wallet.account(GOLD).unwrap().lots().len(), 2);
    assert_eq!(driver.wallet.available(GOLD), 200);
}
