//! What a project's servers are told of a wallet's events, and what not.

use super::{
    GOLD, TIN, credit, deduct, hold, hold_id,
    shop::{DAY, pack, tier, unlock},
    teller::Teller,
};
use crate::{
    history::Reason,
    id::{OrderSerial, ProductId},
    notice::{LowBalance, News, OrderNews, Watch},
    terms::Terms,
    text::Feature,
    wallet::{
        SubscriptionStatus::{Canceled, PastDue},
        event::SubscriptionNews,
        feature::FeatureAction,
    },
};

const LOW: [LowBalance; 2] = [low(GOLD, 20), low(TIN, 5)];

const fn low(product: ProductId, credits: i64) -> LowBalance {
    LowBalance { product, credits }
}

/// All that was told so far, in order.
fn told(teller: &Teller) -> Vec<News> {
    let mut records = teller.records.iter().peekable();
    let mut all = Vec::new();
    for (place, event) in teller.events.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| &teller.states[before]);
        let after = &teller.states[place];
        let watch = Watch::before(before, event);
        let record = records.next_if(|record| record.seq == after.version);
        all.extend(watch.after(after, event.at, record, &LOW));
    }
    all
}

fn credited(delta: i64, reason: Reason, order: Option<u128>, balance: i64) -> News {
    News::Credited {
        product: GOLD,
        delta,
        reason,
        order: order.map(OrderSerial),
        balance,
    }
}

const fn is_low(balance: i64) -> News {
    News::BalanceLow {
        product: GOLD,
        balance,
    }
}

const DEPLETED: News = News::Depleted { product: GOLD };

fn features(added: &[&str], removed: &[&str]) -> News {
    let all = |slugs: &[&str]| slugs.iter().map(|it| Feature::new(*it).unwrap()).collect();
    News::Features {
        added: all(added),
        removed: all(removed),
    }
}

const fn order(news: OrderNews, serial: u128) -> News {
    News::Order(news, OrderSerial(serial))
}

/// A wallet with so many credits, of whose birth and grant all is told.
fn with(credits: i64) -> Teller {
    let mut teller = Teller::new();
    teller.credit(credit("start", credits, None)).unwrap();
    assert_eq!(
        told(&teller),
        [
            News::WalletCreated,
            credited(credits, Reason::Manual, None, credits)
        ]
    );
    teller
}

fn since(teller: &Teller, known: usize) -> Vec<News> {
    told(teller).split_off(known)
}

#[test]
fn a_balance_is_low_once_each_time_it_falls_to_the_threshold() {
    let mut teller = with(30);
    teller.deduct(deduct("a", 9)).unwrap();
    assert_eq!(since(&teller, 2), [], "21 are above it");
    teller.deduct(deduct("b", 1)).unwrap();
    teller.deduct(deduct("c", 1)).unwrap();
    assert_eq!(since(&teller, 2), [is_low(20)], "and it stays below");
    teller.credit(credit("more", 2, None)).unwrap();
    teller.deduct(deduct("d", 3)).unwrap();
    assert_eq!(
        since(&teller, 3),
        [credited(2, Reason::Manual, None, 21), is_low(18)]
    );
}

#[test]
fn what_crosses_both_thresholds_tells_both() {
    let mut teller = with(30);
    teller.deduct(deduct("all", 30)).unwrap();
    assert_eq!(since(&teller, 2), [is_low(0), DEPLETED]);
}

#[test]
fn held_credits_cannot_be_spent() {
    let mut teller = with(30);
    let end = teller.after_seconds(DAY);
    teller.place(hold(1, 30, end)).unwrap();
    assert_eq!(since(&teller, 2), [is_low(0), DEPLETED]);
    teller.settle(hold_id(1), 5).unwrap();
    assert_eq!(since(&teller, 4), [], "25 came back, which nobody gave");
    teller.place(hold(2, 10, end)).unwrap();
    assert_eq!(since(&teller, 4), [is_low(15)]);
    teller.pass_seconds(DAY);
    assert_eq!(since(&teller, 5), []);
}

#[test]
fn credits_that_expire_can_leave_nothing() {
    let mut teller = Teller::new();
    let end = teller.after_seconds(DAY);
    teller.credit(credit("soon", 30, Some(end))).unwrap();
    teller.pass_seconds(DAY);
    assert_eq!(since(&teller, 2), [is_low(0), DEPLETED]);
}

#[test]
fn a_purchase_tells_of_order_credits_and_features() {
    let mut teller = Teller::new();
    teller.buy(
        1,
        Terms {
            features: unlock("pro").features,
            ..pack()
        },
    );
    let all = [
        order(OrderNews::Paid, 1),
        credited(100, Reason::Purchase, Some(1), 100),
        features(&["pro"], &[]),
    ];
    assert_eq!(since(&teller, 1), all);
    teller.deduct(deduct("some", 90)).unwrap();
    assert!(teller.refund(1, 500));
    assert_eq!(
        since(&teller, 4),
        [is_low(10), DEPLETED],
        "in part is not refunded"
    );
    assert!(teller.refund(1, 1000));
    let gone = [order(OrderNews::Refunded, 1), features(&[], &["pro"])];
    assert_eq!(since(&teller, 6), gone);
    assert!(teller.refund(1, 0));
    let back = [
        credited(10, Reason::Refund, Some(1), 10),
        features(&["pro"], &[]),
    ];
    assert_eq!(since(&teller, 8), back, "the refund failed");
}

#[test]
fn a_refund_that_was_heard_of_first_is_told_after_the_payment() {
    let mut teller = Teller::new();
    assert!(teller.refund(1, 1000));
    assert_eq!(since(&teller, 1), []);
    teller.buy(1, pack());
    let all = since(&teller, 1);
    let orders = all.iter().filter(|news| matches!(news, News::Order(..)));
    let orders: Vec<_> = orders.cloned().collect();
    assert_eq!(
        orders,
        [order(OrderNews::Paid, 1), order(OrderNews::Refunded, 1)]
    );
}

#[test]
fn orders_that_are_not_paid_tell_how_they_ended() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.order(2, pack()).unwrap();
    assert_eq!(since(&teller, 1), [], "nothing happened yet");
    assert_eq!(teller.fail(1), Ok(true));
    teller.pass_seconds(2 * DAY);
    assert_eq!(
        since(&teller, 1),
        [order(OrderNews::Failed, 1), order(OrderNews::Expired, 2)]
    );
}

#[test]
fn a_subscription_tells_its_life() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, tier("basic", 100));
    teller.renew(2, 1, tier("basic", 100));
    assert!(teller.set_status(1, PastDue));
    assert!(teller.set_status(1, Canceled));
    let lives: Vec<_> = told(&teller)
        .into_iter()
        .filter_map(|news| match news {
            News::Subscription(news, facts) => {
                assert_eq!(facts.label.as_deref(), Some("basic"));
                Some((news, facts.status == Canceled))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        lives,
        [
            (SubscriptionNews::Started, false),
            (SubscriptionNews::Renewed, false),
            (SubscriptionNews::PastDue, false),
            (SubscriptionNews::Canceled, true)
        ]
    );
    let all = told(&teller);
    let changes = all.iter().filter(|it| matches!(it, News::Features { .. }));
    let changes: Vec<_> = changes.cloned().collect();
    assert_eq!(
        changes,
        [features(&["basic"], &[]), features(&[], &["basic"])],
        "a renewal changes none"
    );
}

#[test]
fn a_feature_by_hand_tells_once() {
    let mut teller = Teller::new();
    assert!(teller.set_feature("beta", FeatureAction::Grant));
    assert!(!teller.set_feature("beta", FeatureAction::Grant));
    assert!(teller.set_feature("beta", FeatureAction::Revoke));
    assert_eq!(
        since(&teller, 1),
        [features(&["beta"], &[]), features(&[], &["beta"])]
    );
}
