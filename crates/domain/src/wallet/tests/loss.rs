//! What a wallet loses with a subscription: predicted before it ends, and true when it has.

use super::{
    GOLD, credit,
    driver::Driver,
    shop::{MONTH, basic, features, sub, subscribed, unlock, unlocked},
};
use crate::{
    terms::Terms,
    wallet::{SubscriptionStatus::Canceled, feature::FeatureAction, loss::Loss},
};

fn loss_now(driver: &Driver) -> Loss {
    driver.wallet.loss_by_cancellation(&sub(1), driver.now)
}

#[test]
fn the_announced_loss_is_the_real_one() {
    let mut driver = subscribed();
    driver.credit(credit("k", 50, None)).unwrap();
    let before = (driver.gold(), unlocked(&driver).len());
    let Loss { credits, features } = loss_now(&driver);
    assert_eq!(credits, [(GOLD, 100)]);
    assert_eq!(features, ["basic"]);
    assert!(driver.set_status(1, Canceled));
    let after = (driver.gold(), unlocked(&driver).len());
    assert_eq!(before, (after.0 + 100, after.1 + 1));
    assert_eq!(loss_now(&driver), Loss::default(), "it is over");
}

#[test]
fn what_rolls_over_and_what_something_else_unlocks_stays() {
    let mut driver = Driver::new();
    let both = Terms {
        rollover: true,
        features: features(&["basic", "more", "most"]),
        ..basic()
    };
    driver.subscribe(1, 1, both);
    driver.buy(2, unlock("more"));
    driver.set_feature("most", FeatureAction::Grant);
    let loss = loss_now(&driver);
    assert_eq!(loss.credits, []);
    assert_eq!(loss.features, ["basic"]);
    // Features that are not unlocked any more are not lost.
    driver.pass_seconds(MONTH);
    driver.set_status(1, Canceled);
    assert_eq!(unlocked(&driver), ["more", "most"]);
}
