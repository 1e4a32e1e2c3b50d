//! A subscription's life: started by a payment, renewed by invoices, past due, over.

use super::{
    GOLD, credit,
    shop::{CLUB, DAY, MONTH, basic, pack, paying, sub, subscribed, subscription_event, unlocked},
    teller::Teller,
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
    let teller = subscribed();
    let started = teller.subscription(1);
    assert_eq!((started.status, started.tier().product), (Active, CLUB));
    assert_eq!(started.current_period_end, teller.after_seconds(MONTH));
    assert_eq!(
        (started.order, started.cancel_at_period_end),
        (Some(OrderSerial(1)), false)
    );
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["basic"]));
    assert!(teller.wallet.is_subscribed(CLUB) && !teller.wallet.is_subscribed(GOLD));
    assert_eq!(teller.placed_order(1).subscription, Some(sub(1)));
    assert!(teller.placed_order(1).invoice.is_some());
    assert_eq!(
        subscription_event(&teller),
        [Some(SubscriptionEvent::Started)]
    );
}

#[test]
fn a_missing_payment_keeps_the_features_for_the_days_of_grace() {
    let mut teller = subscribed();
    let end = teller.after_seconds(7 * DAY);
    assert!(teller.set_status(1, PastDue));
    let late = teller.subscription(1);
    assert_eq!(
        (late.status, late.past_due_since),
        (PastDue, Some(teller.now))
    );
    assert_eq!(late.grace_ends_at, Some(end));
    assert!(teller.wallet.is_subscribed(CLUB));
    teller.pass_seconds(DAY);
    teller.set_status(1, PastDue);
    assert_eq!(
        teller.subscription(1).grace_ends_at,
        Some(end),
        "counted once"
    );
    let changes = teller.wallet.changes_by_itself_at(&[], teller.now);
    assert_eq!(
        changes, end,
        "whoever watches the wallet reads it again then"
    );
    assert_eq!(teller.wallet.features(Timestamp(end.0 - 1)), ["basic"]);
    assert_eq!(teller.wallet.features(end), Vec::<&str>::new());
    assert_eq!(
        (teller.gold(), teller.wallet.subscriptions().count()),
        (100, 1)
    );
    let told = [Some(SubscriptionEvent::PastDue), None];
    assert_eq!(subscription_event(&teller)[1..], told, "and told once");
}

#[test]
fn a_payment_made_good_unlocks_the_features_again() {
    let mut teller = subscribed();
    teller.set_status(1, PastDue);
    teller.pass_seconds(10 * DAY);
    assert!(unlocked(&teller).is_empty());
    assert!(teller.renew(2, 1, basic()));
    assert_eq!(
        (teller.subscription(1).status, unlocked(&teller)),
        (Active, vec!["basic"])
    );
    assert_eq!(teller.subscription(1).past_due_since, None);
    teller.set_status(1, PastDue);
    assert_eq!(
        teller.subscription(1).past_due_since,
        Some(teller.now),
        "a new grace"
    );
    assert!(teller.set_status(1, Active));
    let told = subscription_event(&teller);
    assert_eq!(told.last(), Some(&Some(SubscriptionEvent::Updated)));
    assert_eq!(
        (teller.subscription(1).grace_ends_at, teller.gold()),
        (None, 100)
    );
}

#[test]
fn without_a_word_the_features_end_with_the_days_of_grace_and_any_word_counts_for_more() {
    let mut teller = subscribed();
    let ends = teller.subscription(1).current_period_end;
    let lapse = |teller: &mut Teller, grace_days| {
        let lapse = Lapse {
            subscription: sub(1),
            grace_days,
        };
        teller.purchase(Purchase::Lapse(lapse)).unwrap()
    };
    teller.now = Timestamp(ends.0 + 7 * DAY * 1000 - 1);
    assert!(!lapse(&mut teller, 7), "there is time left");
    assert_eq!(unlocked(&teller), ["basic"]);
    teller.now = Timestamp(ends.0 + 7 * DAY * 1000);
    assert!(lapse(&mut teller, 7));
    let late = teller.subscription(1);
    assert_eq!((late.status, late.past_due_since), (PastDue, Some(ends)));
    assert!(unlocked(&teller).is_empty());
    assert!(teller.wallet.is_subscribed(CLUB) && teller.gold() == 100);
    assert!(!lapse(&mut teller, 7), "once");
    // A report that the provider made in between, and that arrives only now.
    let report = UpdateSubscription {
        reported_at: ends,
        status: Active,
        current_period_end: teller.after_seconds(MONTH),
        ..teller.report(1)
    };
    assert!(teller.update(report));
    assert_eq!(unlocked(&teller), ["basic"]);
    assert_eq!(teller.subscription(1).grace_ends_at, None);
    assert!(!lapse(&mut teller, 0), "its period runs");
}

#[test]
fn without_days_of_grace_a_days_silence_is_needed() {
    let mut teller = subscribed();
    let lapse = || {
        Purchase::Lapse(Lapse {
            subscription: sub(1),
            grace_days: 0,
        })
    };
    teller.pass_seconds(MONTH + DAY - 1);
    assert!(!teller.purchase(lapse()).unwrap());
    teller.pass_seconds(1);
    assert!(teller.purchase(lapse()).unwrap());
    assert!(unlocked(&teller).is_empty());
    // A subscription that is over does not lapse.
    teller.set_status(1, Canceled);
    assert!(!teller.purchase(lapse()).unwrap());
}

#[test]
fn a_cancellation_is_shown_and_can_be_taken_back() {
    let mut teller = subscribed();
    for flag in [true, false] {
        let report = UpdateSubscription {
            cancel_at_period_end: flag,
            ..teller.report(1)
        };
        assert!(teller.update(report));
        assert_eq!(teller.subscription(1).cancel_at_period_end, flag);
    }
    assert_eq!((unlocked(&teller), teller.gold()), (vec!["basic"], 100));
    assert_eq!(
        subscription_event(&teller)[1..],
        [Some(SubscriptionEvent::Updated); 2]
    );
}

#[test]
fn its_end_takes_its_features_and_what_is_left_of_its_credits() {
    let mut teller = subscribed();
    teller.credit(credit("gift", 5, None)).unwrap();
    assert!(teller.set_status(1, Canceled));
    assert_eq!((unlocked(&teller).len(), teller.gold()), (0, 5));
    assert_eq!(teller.ledger(GOLD).last(), Some(&(Expiry, -100)));
    assert_eq!(
        teller.records.last().unwrap().entry().unwrap().order,
        Some(OrderSerial(1))
    );
    assert!(!teller.wallet.is_subscribed(CLUB));
    assert_eq!(teller.wallet.subscriptions().count(), 0);
    assert_eq!(teller.subscription(1).status, Canceled, "it is remembered");
    assert_eq!(
        subscription_event(&teller)[1..],
        [Some(SubscriptionEvent::Canceled)]
    );
    assert_eq!(teller.order(2, basic()), Ok(true), "and may be had again");
}

#[test]
fn what_is_over_stays_over() {
    let mut teller = subscribed();
    teller.set_status(1, Canceled);
    let before = teller.wallet.clone();
    teller.pass_seconds(60);
    for status in [Active, PastDue, Canceled] {
        assert!(!teller.set_status(1, status));
    }
    assert_eq!(teller.wallet, before);
}

#[test]
fn what_a_payment_after_the_end_brings_ends_with_it() {
    let mut teller = subscribed();
    teller.set_status(1, Canceled);
    assert!(teller.renew(2, 1, basic()));
    assert_eq!(teller.placed_order(2).status(), OrderStatus::Paid);
    assert_eq!(
        (teller.gold(), unlocked(&teller).len()),
        (0, 0),
        "as if the reports had come in order"
    );
    assert_eq!(teller.subscription(1).status, Canceled);
}

#[test]
fn an_end_before_the_first_payment_is_not_forgotten() {
    let mut teller = Teller::new();
    teller.order(1, basic()).unwrap();
    let ended = UpdateSubscription {
        subscription: sub(1),
        first: None,
        terms: Some(basic()),
        status: Canceled,
        open_invoice: None,
        collection_paused: false,
        current_period_end: teller.after_seconds(MONTH),
        cancel_at_period_end: false,
        grace_days: 7,
        reported_at: teller.now,
    };
    let early = UpdateSubscription {
        status: Active,
        ..ended.clone()
    };
    assert!(!teller.update(early), "a report starts nothing");
    assert!(teller.update(ended.clone()));
    assert!(!teller.update(ended));
    assert!(teller.pay_subscription(1, 1));
    assert_eq!((teller.gold(), unlocked(&teller).len()), (0, 0));
    assert!(!teller.wallet.is_subscribed(CLUB));
}

#[test]
fn a_report_older_than_what_is_known_is_old_news() {
    let mut teller = subscribed();
    let old = UpdateSubscription {
        status: PastDue,
        ..teller.report(1)
    };
    teller.pass_seconds(60);
    let current = teller.report(1);
    assert!(
        teller.update(current.clone()),
        "when it was said is news to the books"
    );
    assert_eq!(
        subscription_event(&teller).last(),
        Some(&None),
        "and to nobody else"
    );
    let before = teller.wallet.clone();
    assert!(!teller.update(old) && !teller.update(current));
    assert_eq!(teller.wallet, before);
}

#[test]
fn a_payment_that_starts_nothing_is_just_a_purchase() {
    let mut teller = Teller::new();
    teller.order(1, basic()).unwrap();
    teller.pay(1, 1000).unwrap();
    assert_eq!((teller.gold(), unlocked(&teller).len()), (100, 0));
    assert_eq!(teller.wallet.subscription(&sub(1)), None);
}

#[test]
fn a_paused_one_unlocks_nothing_and_is_still_there() {
    let mut teller = subscribed();
    assert!(teller.set_status(1, Paused));
    assert_eq!((unlocked(&teller).len(), teller.gold()), (0, 100));
    assert_eq!(teller.wallet.subscriptions().count(), 1);
    assert_eq!(teller.subscription(1).status, Paused);
    assert!(teller.wallet.is_subscribed(CLUB));
    assert_eq!(
        teller.order(2, basic()),
        Err(Rejection::AlreadySubscribed { open_invoice: None })
    );
    assert_eq!(
        subscription_event(&teller)[1..],
        [Some(SubscriptionEvent::Updated)]
    );
    teller.pass_seconds(60);
    assert!(teller.set_status(1, Active));
    assert_eq!((unlocked(&teller), teller.gold()), (vec!["basic"], 100));
}

#[test]
fn what_costs_nothing_brings_nothing_while_it_is_paused() {
    let mut teller = subscribed();
    teller.set_status(1, Paused);
    teller.pass_seconds(MONTH);
    let mut free = teller.renewal(2, 1, basic());
    free.billing.paused = true;
    free.payment.amount_cents = 0;
    assert!(teller.renew_with(free));
    assert_eq!(teller.placed_order(2).granted_credits, 0);
    assert_eq!((teller.gold(), unlocked(&teller).len()), (0, 0));
    assert_eq!(teller.subscription(1).status, Paused);
    let mut charged = teller.renewal(3, 1, basic());
    charged.billing.paused = true;
    assert!(teller.renew_with(charged));
    assert_eq!(teller.gold(), 100, "what was paid for is never lost");
    assert_eq!(unlocked(&teller).len(), 0);
    let plus = super::shop::tier("plus", 250);
    let mut switch = teller.switching(4, 1, (basic(), plus));
    switch.billing.paused = true;
    switch.payment.amount_cents = 0;
    assert!(teller.switch_with(switch));
    assert_eq!(teller.gold(), 100);
    teller.pass_seconds(60);
    let mut free = teller.renewal(5, 1, basic());
    free.payment.amount_cents = 0;
    assert!(teller.renew_with(free), "resumed");
    assert_eq!((unlocked(&teller), teller.gold()), (vec!["basic"], 100));
}

#[test]
fn a_pause_and_its_end_may_be_heard_of_in_any_order() {
    for resumed_first in [false, true] {
        let mut teller = subscribed();
        teller.pass_seconds(60);
        let paused = UpdateSubscription {
            status: Paused,
            ..teller.report(1)
        };
        teller.pass_seconds(60);
        let resumed = teller.report(1);
        let mut reports = [paused, resumed];
        if resumed_first {
            reports.reverse();
        }
        for report in reports {
            teller.update(report);
        }
        assert_eq!(teller.subscription(1).status, Active);
        assert_eq!(unlocked(&teller), ["basic"]);
    }
}

#[test]
fn a_trial_grants_its_features_and_its_own_credits_only() {
    let trial = Terms {
        trial_days: Some(14),
        trial_credits: 7,
        ..basic()
    };
    let mut teller = Teller::new();
    teller.order(1, trial.clone()).unwrap();
    let mut billing = teller.billing(1);
    billing.trial = true;
    let pay = Pay {
        billing: Some(billing),
        ..paying(1, 0)
    };
    teller.pay_with(pay).unwrap();
    assert_eq!((teller.gold(), unlocked(&teller)), (7, vec!["basic"]));
    assert_eq!(teller.placed_order(1).granted_credits, 7);
    let plus = super::shop::tier("plus", 250);
    let mut switch = teller.switching(2, 1, (trial.clone(), plus));
    switch.billing.trial = true;
    assert!(teller.switch_with(switch));
    assert_eq!(teller.gold(), 7, "nothing was paid for");
    teller.pass_seconds(14 * DAY);
    assert!(teller.renew(3, 1, trial));
    assert_eq!((teller.gold(), unlocked(&teller)), (100, vec!["basic"]));
}

#[test]
fn the_portal_is_that_of_the_subscription_that_is_there() {
    let mut teller = Teller::new();
    assert_eq!(
        teller.wallet.portal_customer(None),
        Err(Rejection::NoPurchase)
    );
    let buy = |teller: &mut Teller, serial: u128, name: &str, number: Option<u128>| {
        teller.order(serial, pack()).unwrap();
        let mut pay = paying(serial, 1000);
        pay.payment.customer = Some(CustomerId::new(name).unwrap());
        pay.billing = number.map(|number| teller.billing(number));
        teller.pay_with(pay).unwrap();
    };
    buy(&mut teller, 1, "cus_sub", Some(1));
    buy(&mut teller, 2, "cus_once", None);
    let portal = |teller: &Teller| {
        let customer = teller.wallet.portal_customer(None);
        customer.unwrap().as_str().to_owned()
    };
    assert_eq!(portal(&teller), "cus_sub");
    assert_eq!(teller.wallet.customer().unwrap().as_str(), "cus_once");
    buy(&mut teller, 3, "cus_other", Some(2));
    assert_eq!(portal(&teller), "cus_other", "the one that started last");
    teller.set_status(2, Paused);
    assert_eq!(portal(&teller), "cus_other");
    teller.set_status(2, Canceled);
    assert_eq!(portal(&teller), "cus_sub");
    teller.set_status(1, Canceled);
    assert_eq!(portal(&teller), "cus_other", "the last payment's");
}
