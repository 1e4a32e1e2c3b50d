//! What a wallet loses with a subscription: predicted before it ends, and true when it has.

use super::{
    GOLD, credit,
    shop::{MONTH, basic, features, sub, subscribed, unlock, unlocked},
    teller::Teller,
};
use crate::{
    terms::Terms,
    wallet::{SubscriptionStatus::Canceled, feature::FeatureAction, loss::Loss},
};

fn said(teller: &Teller) -> Loss {
    teller.wallet.loss_by_cancellation(&sub(1), teller.now)
}

#[test]
fn what_is_said_to_go_goes() {
    let mut teller = subscribed();
    teller.credit(credit("k", 50, None)).unwrap();
    let before = (teller.gold(), unlocked(&teller).len());
    let Loss { credits, features } = said(&teller);
    assert_eq!(credits, [(GOLD, 100)]);
    assert_eq!(features, ["basic"]);
    assert!(teller.set_status(1, Canceled));
    let after = (teller.gold(), unlocked(&teller).len());
    assert_eq!(before, (after.0 + 100, after.1 + 1));
    assert_eq!(said(&teller), Loss::default(), "it is over");
}

#[test]
fn what_rolls_over_and_what_something_else_unlocks_stays() {
    let mut teller = Teller::new();
    let both = Terms {
        rollover: true,
        features: features(&["basic", "more", "most"]),
        ..basic()
    };
    teller.subscribe(1, 1, both);
    teller.buy(2, unlock("more"));
    teller.set_feature("most", FeatureAction::Grant);
    let loss = said(&teller);
    assert_eq!(loss.credits, []);
    assert_eq!(loss.features, ["basic"]);
    // Features that are not unlocked any more are not lost.
    teller.pass_seconds(MONTH);
    teller.set_status(1, Canceled);
    assert_eq!(unlocked(&teller), ["more", "most"]);
}
