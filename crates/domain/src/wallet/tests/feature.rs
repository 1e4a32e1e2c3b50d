//! Unlocking features by hand, and taking that back.

use super::driver::Driver;
use crate::wallet::feature::FeatureAction::{Grant, Revoke};

#[test]
fn features_are_listed_sorted_while_unlocked() {
    let mut driver = Driver::new();
    assert!(driver.set_feature("pro.export", Grant));
    assert!(driver.set_feature("beta", Grant));
    assert_eq!(driver.wallet.features(driver.now), ["beta", "pro.export"]);
    assert!(driver.set_feature("beta", Revoke));
    assert_eq!(driver.wallet.features(driver.now), ["pro.export"]);
}

#[test]
fn asking_twice_changes_nothing_the_second_time() {
    let mut driver = Driver::new();
    assert!(!driver.set_feature("pro", Revoke), "never had it");
    assert!(driver.set_feature("pro", Grant));
    let before = driver.wallet.clone();
    assert!(!driver.set_feature("pro", Grant));
    assert_eq!(driver.wallet, before);
    assert!(driver.set_feature("pro", Revoke));
    assert!(!driver.set_feature("pro", Revoke));
    assert!(driver.set_feature("pro", Grant), "and it can be had again");
    assert_eq!(driver.wallet.features(driver.now), ["pro"]);
}

#[test]
fn features_write_no_ledger_entry_and_touch_no_balance() {
    let mut driver = Driver::new();
    driver.credit(super::credit("c", 5, None)).unwrap();
    driver.set_feature("pro", Grant);
    assert_eq!(
        (driver.records.len(), driver.wallet.available(super::GOLD)),
        (1, 5)
    );
}

#[test]
fn slugs_are_compared_exactly() {
    let mut driver = Driver::new();
    driver.set_feature("Pro", Grant);
    assert!(!driver.set_feature("pro", Revoke));
    assert_eq!(driver.wallet.features(driver.now), ["Pro"]);
}
