//! Adding credits by hand, once per key.

use super::{GOLD, TIN, credit, key, teller::Done, teller::Teller};
use crate::{
    Rejection,
    history::Reason,
    text::Meta,
    wallet::{NextExpiry, credit::Credit},
};

#[test]
fn granted_credits_are_there_at_once_and_told_in_the_ledger() {
    let mut teller = Teller::new();
    let meta = Meta::new(r#"{"why":"sorry"}"#).unwrap();
    let end = teller.after_seconds(3600);
    let command = Credit {
        meta: Some(meta.clone()),
        ..credit("c", 25, Some(end))
    };
    assert_eq!(teller.credit(command), Ok(Done::Applied));
    assert_eq!(teller.wallet.available(GOLD), 25);
    let entry = teller.records.last().unwrap().entry().unwrap();
    assert_eq!(
        (entry.delta, entry.balance_after, entry.reason),
        (25, 25, Reason::Manual)
    );
    assert_eq!(
        (entry.key.as_ref(), entry.meta.as_ref()),
        (Some(&key("c")), Some(&meta))
    );
    assert_eq!(entry.expires_at, Some(end));
    let shown = teller.wallet.account(GOLD).unwrap().next_expiry();
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
    let mut teller = Teller::new();
    teller.credit(credit("c", 25, None)).unwrap();
    assert_eq!(
        teller.records.last().unwrap().entry().unwrap().expires_at,
        None
    );
    assert_eq!(teller.wallet.account(GOLD).unwrap().next_expiry(), None);
    teller.pass_seconds(100 * 366 * 86_400);
    assert_eq!(teller.wallet.available(GOLD), 25);
}

#[test]
fn a_retry_grants_nothing_even_after_the_credits_are_gone() {
    let mut teller = Teller::new();
    teller.credit(credit("c", 25, None)).unwrap();
    teller.deduct(super::deduct("d", 25)).unwrap();
    assert_eq!(
        teller.credit(credit("c", 25, None)),
        Ok(Done::Replayed(GOLD))
    );
    assert_eq!(teller.wallet.available(GOLD), 0);
}

#[test]
fn a_retry_may_differ_in_its_end_and_note() {
    let mut teller = Teller::new();
    teller.credit(credit("c", 25, None)).unwrap();
    let again = Credit {
        meta: Some(Meta::new("{}").unwrap()),
        ..credit("c", 25, Some(teller.after_seconds(60)))
    };
    assert_eq!(teller.credit(again), Ok(Done::Replayed(GOLD)));
    assert_eq!(
        teller.wallet.account(GOLD).unwrap().next_expiry(),
        None,
        "the first one stands"
    );
}

#[test]
fn another_amount_or_product_under_the_key_is_refused() {
    let mut teller = Teller::new();
    teller.credit(credit("c", 25, None)).unwrap();
    assert_eq!(
        teller.credit(credit("c", 26, None)),
        Err(Rejection::KeyReused)
    );
    let tin = Credit {
        product: TIN,
        ..credit("c", 25, None)
    };
    assert_eq!(teller.credit(tin), Err(Rejection::KeyReused));
    assert_eq!(
        (teller.wallet.available(GOLD), teller.wallet.available(TIN)),
        (25, 0)
    );
}

#[test]
fn credits_past_their_end_are_not_granted_and_one_granted_in_time_is_known_after_it() {
    let mut teller = Teller::new();
    let past = credit("late", 25, Some(teller.now));
    assert_eq!(teller.credit(past), Err(Rejection::ExpiryPast));
    let end = teller.after_seconds(60);
    let command = credit("in time", 25, Some(end));
    assert_eq!(teller.credit(command.clone()), Ok(Done::Applied));
    teller.now = end;
    assert_eq!(teller.credit(command), Ok(Done::Replayed(GOLD)));
    assert_eq!(
        teller.ledger(GOLD),
        [(Reason::Manual, 25), (Reason::Expiry, -25)]
    );
}

#[test]
fn a_wallet_filled_by_many_small_grants_stays_small() {
    let mut teller = Teller::new();
    let end = teller.after_seconds(3600);
    for turn in 0..100 {
        teller.credit(credit(&format!("a{turn}"), 1, None)).unwrap();
        teller
            .credit(credit(&format!("b{turn}"), 1, Some(end)))
            .unwrap();
    }
    assert_eq!(teller.wallet.account(GOLD).unwrap().lots().len(), 2);
    assert_eq!(teller.wallet.available(GOLD), 200);
}
