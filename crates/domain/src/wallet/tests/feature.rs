//! Unlocking features by hand, and taking that back.

use super::teller::Teller;
use crate::wallet::feature::FeatureAction::{Grant, Revoke};

#[test]
fn features_are_listed_sorted_while_unlocked() {
    let mut teller = Teller::new();
    assert!(teller.set_feature("pro.export", Grant));
    assert!(teller.set_feature("beta", Grant));
    assert_eq!(teller.wallet.features(teller.now), ["beta", "pro.export"]);
    assert!(teller.set_feature("beta", Revoke));
    assert_eq!(teller.wallet.features(teller.now), ["pro.export"]);
}

#[test]
fn asking_twice_changes_nothing_the_second_time() {
    let mut teller = Teller::new();
    assert!(!teller.set_feature("pro", Revoke), "never had it");
    assert!(teller.set_feature("pro", Grant));
    let before = teller.wallet.clone();
    assert!(!teller.set_feature("pro", Grant));
    assert_eq!(teller.wallet, before);
    assert!(teller.set_feature("pro", Revoke));
    assert!(!teller.set_feature("pro", Revoke));
    assert!(teller.set_feature("pro", Grant), "and it can be had again");
    assert_eq!(teller.wallet.features(teller.now), ["pro"]);
}

#[test]
fn features_write_no_ledger_entry_and_touch_no_balance() {
    let mut teller = Teller::new();
    teller.credit(super::credit("c", 5, None)).unwrap();
    teller.set_feature("pro", Grant);
    assert_eq!(
        (teller.records.len(), teller.wallet.available(super::GOLD)),
        (1, 5)
    );
}

#[test]
fn slugs_are_compared_exactly() {
    let mut teller = Teller::new();
    teller.set_feature("Pro", Grant);
    assert!(!teller.set_feature("pro", Revoke));
    assert_eq!(teller.wallet.features(teller.now), ["Pro"]);
}
