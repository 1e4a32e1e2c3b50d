//! A subscription's life: started by a payment, renewed by invoices, past due, over.

use super::{
    GOLD, credit,
    driver::Driver,
    shop::{CLUB, DAY, MONTH, basic, pack, paying, sub, subscribed, subscription_event, unlocked},
};
use crate::{
    Rejection, Timestamp,
    history::Reason::Expiry,
    id::OrderSerial,
    terms::Terms,
    text::CustomerId,
    wallet::{
        OrderStatus,
        SubscriptionStatus::{Active, Canceled, PastDue, Paused},
        event::SubscriptionEvent,
        lapse::Lapse,
        pay::Pay,
        purchase::Purchase,
        update_subscription::UpdateSubscription,
    },
};

#[test]
fn the_first_payment_starts_it() {
    let driver = subscribed();
    let started = driver.subscription(1);
    assert_eq!((started.status, started.tier().product), (Active, CLUB));
    assert_eq!(started.current_period_end, driver.after_seconds(MONTH));
    assert_eq!(
        (started.order, started.cancel_at_period_end),
        (Some(OrderSerial(1)), false)
    );
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
    assert!(driver.wallet.is_subscribed(CLUB) && !driver.wallet.is_subscribed(GOLD));
    assert_eq!(driver.placed_order(1).subscription, Some(sub(1)));
    assert!(driver.placed_order(1).invoice.is_some());
    assert_eq!(
        subscription_event(&driver),
        [Some(SubscriptionEvent::Started)]
    );
}

#[test]
fn a_missing_payment_keeps_the_features_for_the_days_of_grace() {
    let mut driver = subscribed();
    let end = driver.after_seconds(7 * DAY);
    assert!(driver.set_status(1, PastDue));
    let late = driver.subscription(1);
    assert_eq!(
        (late.status, late.past_due_since),
        (PastDue, Some(driver.now))
    );
    assert_eq!(late.grace_ends_at, Some(end));
    assert!(driver.wallet.is_subscribed(CLUB));
    driver.pass_seconds(DAY);
    driver.set_status(1, PastDue);
    assert_eq!(
        driver.subscription(1).grace_ends_at,
        Some(end),
        "counted once"
    );
    let changes = driver.wallet.changes_by_itself_at(&[], driver.now);
    assert_eq!(changes, end, "watchers read the wallet again then");
    assert_eq!(driver.wallet.features(Timestamp(end.0 - 1)), ["basic"]);
    assert_eq!(driver.wallet.features(end), Vec::<&str>::new());
    assert_eq!(
        (driver.gold(), driver.wallet.subscriptions().count()),
        (100, 1)
    );
    let changes = [Some(SubscriptionEvent::PastDue), None];
    assert_eq!(
        subscription_event(&driver)[1..],
        changes,
        "and reported once"
    );
}

#[test]
fn a_payment_made_good_unlocks_the_features_again() {
    let mut driver = subscribed();
    driver.set_status(1, PastDue);
    driver.pass_seconds(10 * DAY);
    assert!(unlocked(&driver).is_empty());
    assert!(driver.renew(2, 1, basic()));
    assert_eq!(
        (driver.subscription(1).status, unlocked(&driver)),
        (Active, vec!["basic"])
    );
    assert_eq!(driver.subscription(1).past_due_since, None);
    driver.set_status(1, PastDue);
    assert_eq!(
        driver.subscription(1).past_due_since,
        Some(driver.now),
        "a new grace"
    );
    assert!(driver.set_status(1, Active));
    let changes = subscription_event(&driver);
    assert_eq!(changes.last(), Some(&Some(SubscriptionEvent::Updated)));
    assert_eq!(
        (driver.subscription(1).grace_ends_at, driver.gold()),
        (None, 100)
    );
}

#[test]
fn without_a_word_the_features_end_with_the_days_of_grace_and_any_word_counts_for_more() {
    let mut driver = subscribed();
    let ends = driver.subscription(1).current_period_end;
    let lapse = |driver: &mut Driver, grace_days| {
        let lapse = Lapse {
            subscription: sub(1),
            grace_days,
        };
        driver.purchase(Purchase::Lapse(lapse)).unwrap()
    };
    driver.now = Timestamp(ends.0 + 7 * DAY * 1000 - 1);
    assert!(!lapse(&mut driver, 7), "there is time left");
    assert_eq!(unlocked(&driver), ["basic"]);
    driver.now = Timestamp(ends.0 + 7 * DAY * 1000);
    assert!(lapse(&mut driver, 7));
    let late = driver.subscription(1);
    assert_eq!((late.status, late.past_due_since), (PastDue, Some(ends)));
    assert!(unlocked(&driver).is_empty());
    assert!(driver.wallet.is_subscribed(CLUB) && driver.gold() == 100);
    assert!(!lapse(&mut driver, 7), "once");
    // A report that the provider made in between, and that arrives only now.
    let report = UpdateSubscription {
        reported_at: ends,
        status: Active,
        current_period_end: driver.after_seconds(MONTH),
        ..driver.report(1)
    };
    assert!(driver.update(report));
    assert_eq!(unlocked(&driver), ["basic"]);
    assert_eq!(driver.subscription(1).grace_ends_at, None);
    assert!(!lapse(&mut driver, 0), "its period runs");
}

#[test]
fn without_days_of_grace_a_days_silence_is_needed() {
    let mut driver = subscribed();
    let lapse = || {
        Purchase::Lapse(Lapse {
            subscription: sub(1),
            grace_days: 0,
        })
    };
    driver.pass_seconds(MONTH + DAY - 1);
    assert!(!driver.purchase(lapse()).unwrap());
    driver.pass_seconds(1);
    assert!(driver.purchase(lapse()).unwrap());
    assert!(unlocked(&driver).is_empty());
    // A subscription that is over does not lapse.
    driver.set_status(1, Canceled);
    assert!(!driver.purchase(lapse()).unwrap());
}

#[test]
fn a_cancellation_is_shown_and_can_be_taken_back() {
    let mut driver = subscribed();
    for flag in [true, false] {
        let report = UpdateSubscription {
            cancel_at_period_end: flag,
            ..driver.report(1)
        };
        assert!(driver.update(report));
        assert_eq!(driver.subscription(1).cancel_at_period_end, flag);
    }
    assert_eq!((unlocked(&driver), driver.gold()), (vec!["basic"], 100));
    assert_eq!(
        subscription_event(&driver)[1..],
        [Some(SubscriptionEvent::Updated); 2]
    );
}

#[test]
fn its_end_takes_its_features_and_what_is_left_of_its_credits() {
    let mut driver = subscribed();
    driver.credit(credit("bonus", 5, None)).unwrap();
    assert!(driver.set_status(1, Canceled));
    assert_eq!((unlocked(&driver).len(), driver.gold()), (0, 5));
    assert_eq!(driver.ledger(GOLD).last(), Some(&(Expiry, -100)));
    assert_eq!(
        driver.records.last().unwrap().entry().unwrap().order,
        Some(OrderSerial(1))
    );
    assert!(!driver.wallet.is_subscribed(CLUB));
    assert_eq!(driver.wallet.subscriptions().count(), 0);
    assert_eq!(driver.subscription(1).status, Canceled, "it is remembered");
    assert_eq!(
        subscription_event(&driver)[1..],
        [Some(SubscriptionEvent::Canceled)]
    );
    assert_eq!(driver.order(2, basic()), Ok(true), "and may be had again");
}

#[test]
fn what_is_over_stays_over() {
    let mut driver = subscribed();
    driver.set_status(1, Canceled);
    let before = driver.wallet.clone();
    driver.pass_seconds(60);
    for status in [Active, PastDue, Canceled] {
        assert!(!driver.set_status(1, status));
    }
    assert_eq!(driver.wallet, before);
}

#[test]
fn what_a_payment_after_the_end_brings_ends_with_it() {
    let mut driver = subscribed();
    driver.set_status(1, Canceled);
    assert!(driver.renew(2, 1, basic()));
    assert_eq!(driver.placed_order(2).status(), OrderStatus::Paid);
    assert_eq!(
        (driver.gold(), unlocked(&driver).len()),
        (0, 0),
        "as if the reports had come in order"
    );
    assert_eq!(driver.subscription(1).status, Canceled);
}

#[test]
fn an_end_before_the_first_payment_is_not_forgotten() {
    let mut driver = Driver::new();
    driver.order(1, basic()).unwrap();
    let ended = UpdateSubscription {
        subscription: sub(1),
        first: None,
        terms: Some(basic()),
        status: Canceled,
        open_invoice: None,
        collection_paused: false,
        current_period_end: driver.after_seconds(MONTH),
        cancel_at_period_end: false,
        grace_days: 7,
        reported_at: driver.now,
    };
    let early = UpdateSubscription {
        status: Active,
        ..ended.clone()
    };
    assert!(!driver.update(early), "a report starts nothing");
    assert!(driver.update(ended.clone()));
    assert!(!driver.update(ended));
    assert!(driver.pay_subscription(1, 1));
    assert_eq!((driver.gold(), unlocked(&driver).len()), (0, 0));
    assert!(!driver.wallet.is_subscribed(CLUB));
}

#[test]
fn a_report_older_than_what_is_known_is_old_news() {
    let mut driver = subscribed();
    let old = UpdateSubscription {
        status: PastDue,
        ..driver.report(1)
    };
    driver.pass_seconds(60);
    let current = driver.report(1);
    assert!(
        driver.update(current.clone()),
        "the time of the report is stored"
    );
    assert_eq!(
        subscription_event(&driver).last(),
        Some(&None),
        "and to nobody else"
    );
    let before = driver.wallet.clone();
    assert!(!driver.update(old) && !driver.update(current));
    assert_eq!(driver.wallet, before);
}

#[test]
fn a_payment_that_starts_nothing_is_just_a_purchase() {
    let mut driver = Driver::new();
    driver.order(1, basic()).unwrap();
    driver.pay(1, 1000).unwrap();
    assert_eq!((driver.gold(), unlocked(&driver).len()), (100, 0));
    assert_eq!(driver.wallet.subscription(&sub(1)), None);
}

#[test]
fn a_paused_one_unlocks_nothing_and_is_still_there() {
    let mut driver = subscribed();
    assert!(driver.set_status(1, Paused));
    assert_eq!((unlocked(&driver).len(), driver.gold()), (0, 100));
    assert_eq!(driver.wallet.subscriptions().count(), 1);
    assert_eq!(driver.subscription(1).status, Paused);
    assert!(driver.wallet.is_subscribed(CLUB));
    assert_eq!(
        driver.order(2, basic()),
        Err(Rejection::AlreadySubscribed { open_invoice: None })
    );
    assert_eq!(
        subscription_event(&driver)[1..],
        [Some(SubscriptionEvent::Updated)]
    );
    driver.pass_seconds(60);
    assert!(driver.set_status(1, Active));
    assert_eq!((unlocked(&driver), driver.gold()), (vec!["basic"], 100));
}

#[test]
fn what_costs_nothing_brings_nothing_while_it_is_paused() {
    let mut driver = subscribed();
    driver.set_status(1, Paused);
    driver.pass_seconds(MONTH);
    let mut free = driver.renewal(2, 1, basic());
    free.billing.paused = true;
    free.payment.amount_cents = 0;
    assert!(driver.renew_with(free));
    assert_eq!(driver.placed_order(2).granted_credits, 0);
    assert_eq!((driver.gold(), unlocked(&driver).len()), (0, 0));
    assert_eq!(driver.subscription(1).status, Paused);
    let mut charged = driver.renewal(3, 1, basic());
    charged.billing.paused = true;
    assert!(driver.renew_with(charged));
    assert_eq!(driver.gold(), 100, "what was paid for is never lost");
    assert_eq!(unlocked(&driver).len(), 0);
    let plus = super::shop::tier("plus", 250);
    let mut switch = driver.switching(4, 1, (basic(), plus));
    switch.billing.paused = true;
    switch.payment.amount_cents = 0;
    assert!(driver.switch_with(switch));
    assert_eq!(driver.gold(), 100);
    driver.pass_seconds(60);
    let mut free = driver.renewal(5, 1, basic());
    free.payment.amount_cents = 0;
    assert!(driver.renew_with(free), "resumed");
    assert_eq!((unlocked(&driver), driver.gold()), (vec!["basic"], 100));
}

#[test]
fn a_pause_and_its_end_may_be_reported_in_any_order() {
    for resumed_first in [false, true] {
        let mut driver = subscribed();
        driver.pass_seconds(60);
        let paused = UpdateSubscription {
            status: Paused,
            ..driver.report(1)
        };
        driver.pass_seconds(60);
        let resumed = driver.report(1);
        let mut reports = [paused, resumed];
        if resumed_first {
            reports.reverse();
        }
        for report in reports {
            driver.update(report);
        }
        assert_eq!(driver.subscription(1).status, Active);
        assert_eq!(unlocked(&driver), ["basic"]);
    }
}

#[test]
fn a_trial_grants_its_features_and_its_own_credits_only() {
    let trial = Terms {
        trial_days: Some(14),
        trial_credits: 7,
        ..basic()
    };
    let mut driver = Driver::new();
    driver.order(1, trial.clone()).unwrap();
    let mut billing = driver.billing(1);
    billing.trial = true;
    let pay = Pay {
        billing: Some(billing),
        ..paying(1, 0)
    };
    driver.pay_with(pay).unwrap();
    assert_eq!((driver.gold(), unlocked(&driver)), (7, vec!["basic"]));
    assert_eq!(driver.placed_order(1).granted_credits, 7);
    let plus = super::shop::tier("plus", 250);
    let mut switch = driver.switching(2, 1, (trial.clone(), plus));
    switch.billing.trial = true;
    assert!(driver.switch_with(switch));
    assert_eq!(driver.gold(), 7, "nothing was paid for");
    driver.pass_seconds(14 * DAY);
    assert!(driver.renew(3, 1, trial));
    assert_eq!((driver.gold(), unlocked(&driver)), (100, vec!["basic"]));
}

#[test]
fn the_portal_is_that_of_the_subscription_that_is_there() {
    let mut driver = Driver::new();
    assert_eq!(
        driver.wallet.portal_customer(None),
        Err(Rejection::NoPurchase)
    );
    let buy = |driver: &mut Driver, serial: u128, name: &str, number: Option<u128>| {
        driver.order(serial, pack()).unwrap();
        let mut pay = paying(serial, 1000);
        pay.payment.customer = Some(CustomerId::new(name).unwrap());
        pay.billing = number.map(|number| driver.billing(number));
        driver.pay_with(pay).unwrap();
    };
    buy(&mut driver, 1, "cus_sub", Some(1));
    buy(&mut driver, 2, "cus_once", None);
    let portal = |driver: &Driver| {
        let customer = driver.wallet.portal_customer(None);
        customer.unwrap().as_str().to_owned()
    };
    assert_eq!(portal(&driver), "cus_sub");
    assert_eq!(driver.wallet.customer().unwrap().as_str(), "cus_once");
    buy(&mut driver, 3, "cus_other", Some(2));
    assert_eq!(portal(&driver), "cus_other", "the one that started last");
    driver.set_status(2, Paused);
    assert_eq!(portal(&driver), "cus_other");
    driver.set_status(2, Canceled);
    assert_eq!(portal(&driver), "cus_sub");
    driver.set_status(1, Canceled);
    assert_eq!(portal(&driver), "cus_other", "the last payment's");
}
