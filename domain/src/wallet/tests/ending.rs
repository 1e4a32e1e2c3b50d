//! What goes with a subscription: said before it ends, and true when it has.

use super::{
    GOLD, credit,
    shop::{MONTH, basic, features, sub, subscribed, unlock, unlocked},
    teller::Teller,
};
use crate::{
    terms::Terms,
    wallet::{SubscriptionStatus::Canceled, ending::Ending, feature::FeatureAction},
};

fn said(teller: &Teller) -> Ending {
    teller.wallet.ending(&sub(1), teller.now)
}

#[test]
fn what_is_said_to_go_goes() {
    let mut teller = subscribed();
    teller.credit(credit("k", 50, None)).unwrap();
    let before = (teller.gold(), unlocked(&teller).len());
    let Ending { credits, features } = said(&teller);
    assert_eq!(credits, [(GOLD, 100)]);
    assert_eq!(features, ["basic"]);
    assert!(teller.set_status(1, Canceled));
    let after = (teller.gold(), unlocked(&teller).len());
    assert_eq!(before, (after.0 + 100, after.1 + 1));
    assert_eq!(said(&teller), Ending::default(), "it is over");
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
    let ending = said(&teller);
    assert_eq!(ending.credits, []);
    assert_eq!(ending.features, ["basic"]);
    // What is not unlocked any more does not go.
    teller.pass_seconds(MONTH);
    teller.set_status(1, Canceled);
    assert_eq!(unlocked(&teller), ["more", "most"]);
}
