//! Trials and sizes.

use super::*;
use crate::MAX_CREDITS;

#[test]
fn a_trial_is_a_subscriptions_and_has_its_bounds() {
    let of = |days: Option<u32>, credits: i64, interval| NewPrice {
        trial_days: days,
        trial_credits: credits,
        ..price(interval)
    };
    let decide = |new: NewPrice| new.decide((SHOP, PRO, PriceId(1)), NOW);
    let sound = decide(of(Some(14), 0, Interval::Month)).unwrap();
    assert_eq!((sound.trial_days, sound.trial_credits), (Some(14), 0));
    assert!(sound.fits(&products()).is_ok());
    for (new, at_fault) in [
        (of(Some(0), 0, Interval::Month), "trialDays"),
        (of(Some(731), 0, Interval::Month), "trialDays"),
        (of(Some(14), 0, Interval::OneTime), "trialDays"),
        (of(None, 5, Interval::Month), "trialCredits"),
        (of(Some(14), -1, Interval::Month), "trialCredits"),
        (
            of(Some(14), MAX_CREDITS + 1, Interval::Month),
            "trialCredits",
        ),
    ] {
        let Err(Refusal::Invalid { param, .. }) = decide(new) else {
            panic!("{at_fault} is out of its bounds")
        };
        assert_eq!(param, at_fault);
    }
    let holds_none = decide(of(Some(14), 5, Interval::Month)).unwrap();
    let Err(Refusal::Invalid { param, .. }) = holds_none.fits(&products()) else {
        panic!("the product holds no credits")
    };
    assert_eq!(param, "trialCredits");
}

#[test]
fn the_features_of_a_price_have_so_many_characters_together() {
    let of = |count: usize, length: usize| NewPrice {
        features: (0..count).map(|n| format!("{n:0length$}")).collect(),
        ..price(Interval::OneTime)
    };
    let decide = |new: NewPrice| new.decide((SHOP, IMAGES, PriceId(1)), NOW);
    assert!(decide(of(100, 30)).is_ok() && decide(of(30, 100)).is_ok());
    assert!(decide(of(100, 31)).is_err());
}

#[test]
fn a_product_offers_ten_tiers_in_a_currency() {
    let tier = |id: u128, currency: &str, interval| {
        let new = NewPrice {
            currency: currency.into(),
            ..price(interval)
        };
        new.decide((SHOP, PRO, PriceId(id)), NOW).unwrap()
    };
    let month = |id| tier(id, "EUR", Interval::Month);
    let nine: Vec<Price> = (1..10).map(month).collect();
    let tenth = tier(10, "EUR", Interval::Year);
    let tenth = tenth.checked_for_offer(nine.iter(), "interval").unwrap();
    let ten: Vec<Price> = nine.into_iter().chain([tenth]).collect();
    let Err(Refusal::Invalid { param, .. }) = month(11).checked_for_offer(ten.iter(), "interval")
    else {
        panic!("nobody could switch to it")
    };
    assert_eq!(param, "interval");
    // One of the ten itself adds no eleventh, and other currencies are counted apart.
    assert!(month(3).checked_for_offer(ten.iter(), "active").is_ok());
    let dollars = tier(12, "USD", Interval::Month);
    assert!(dollars.checked_for_offer(ten.iter(), "interval").is_ok());
}
