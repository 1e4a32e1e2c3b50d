//! The project events of a wallet's events.

use proptest::prelude::*;

use super::{
    GOLD, TIN, credit, deduct,
    driver::Driver,
    hold, hold_id, key,
    shop::{DAY, pack, tier, unlock},
};
use crate::{
    Amount,
    history::Reason,
    id::{OrderSerial, ProductId},
    project_event::{EventCollector, EventData, LowBalance, OrderEvent},
    terms::Terms,
    text::{Feature, FreezeReason},
    wallet::{
        Currency, Dispute, DisputeReason, OrderStatus, Owner, Reversal,
        SubscriptionStatus::{Canceled, PastDue},
        deduct::Deduct,
        draw::Draw,
        event::SubscriptionEvent,
        feature::FeatureAction,
        forgive::Forgive,
        shortfall::OnShortfall,
    },
};

const LOW: [LowBalance; 2] = [low(GOLD, 20), low(TIN, 5)];

const fn low(product: ProductId, credits: i64) -> LowBalance {
    LowBalance { product, credits }
}

/// A project event in short: an order's by serial and status.
#[derive(Debug, Clone, PartialEq)]
enum ExpectedEvent {
    Order(OrderEvent, u128, OrderStatus),
    Other(EventData),
}

impl From<EventData> for ExpectedEvent {
    fn from(subscription_event: EventData) -> Self {
        match subscription_event {
            EventData::Order(subscription_event, facts) => {
                Self::Order(subscription_event, facts.serial.0, facts.order.status())
            }
            other => Self::Other(other),
        }
    }
}

/// All project events so far, in order.
fn all_news(driver: &Driver) -> Vec<EventData> {
    let steps = steps(driver, &LOW).into_iter();
    steps.flat_map(|step| step.data).collect()
}

/// The events of a wallet that become visible together: the position after the last of them, and their project events.
pub(super) struct EventStep {
    pub(super) end: usize,
    pub(super) data: Vec<EventData>,
}

/// All steps so far, with these thresholds.
pub(super) fn steps(driver: &Driver, thresholds: &[LowBalance]) -> Vec<EventStep> {
    let (mut all, mut watch) = (Vec::new(), EventCollector::default());
    for (place, event) in driver.events.iter().enumerate() {
        let after = &driver.states[place];
        watch.add(driver.applied[place].clone(), after, thresholds);
        let next = driver.events.get(place + 1);
        let goes_on = next.is_some_and(|next| next.at == event.at);
        if !goes_on || driver.steps.contains(&(place + 1)) {
            let data = watch.end(after, event.at);
            let end = place + 1;
            all.push(EventStep { end, data });
            watch = EventCollector::default();
        }
    }
    all
}

fn collected(driver: &Driver) -> Vec<ExpectedEvent> {
    all_news(driver)
        .into_iter()
        .map(ExpectedEvent::from)
        .collect()
}

fn credited(delta: i64, reason: Reason, order: Option<u128>, balance: i64) -> ExpectedEvent {
    ExpectedEvent::Other(EventData::Credited {
        product: GOLD,
        delta,
        reason,
        order: order.map(OrderSerial),
        balance,
    })
}

const fn is_low(balance: i64) -> ExpectedEvent {
    ExpectedEvent::Other(EventData::BalanceLow {
        product: GOLD,
        balance,
    })
}

const DEPLETED: ExpectedEvent = ExpectedEvent::Other(EventData::Depleted { product: GOLD });

/// A project event of these features, and of what changed.
fn features(now: &[&str], added: &[&str], removed: &[&str]) -> ExpectedEvent {
    let all = |slugs: &[&str]| slugs.iter().map(|it| Feature::new(*it).unwrap()).collect();
    ExpectedEvent::Other(EventData::Features {
        features: Some(all(now)),
        added: all(added),
        removed: all(removed),
    })
}

const fn order(subscription_event: OrderEvent, serial: u128) -> ExpectedEvent {
    let status = match subscription_event {
        OrderEvent::Paid => OrderStatus::Paid,
        OrderEvent::Failed => OrderStatus::Failed,
        OrderEvent::Expired => OrderStatus::Expired,
        OrderEvent::Refunded | OrderEvent::Disputed | OrderEvent::DisputeClosed => {
            OrderStatus::Refunded
        }
    };
    ExpectedEvent::Order(subscription_event, serial, status)
}

/// A wallet with so many credits, after the project events of its creation and grant.
fn with(credits: i64) -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("start", credits, None)).unwrap();
    assert_eq!(
        collected(&driver),
        [
            ExpectedEvent::Other(EventData::WalletCreated),
            credited(credits, Reason::Manual, None, credits)
        ]
    );
    driver
}

fn draw(serial: u128, amount: i64) -> Draw {
    Draw {
        hold: hold_id(serial),
        cost: Amount::new(amount).unwrap().into(),
        key: key("draw"),
        meta: None,
    }
}

fn since(driver: &Driver, existing: usize) -> Vec<ExpectedEvent> {
    collected(driver).split_off(existing)
}

#[test]
fn a_balance_is_low_once_each_time_it_falls_to_the_threshold() {
    let mut driver = with(30);
    driver.deduct(deduct("a", 9)).unwrap();
    assert_eq!(since(&driver, 2), [], "21 are above it");
    driver.deduct(deduct("b", 1)).unwrap();
    driver.deduct(deduct("c", 1)).unwrap();
    assert_eq!(since(&driver, 2), [is_low(20)], "and it stays below");
    driver.credit(credit("more", 2, None)).unwrap();
    driver.deduct(deduct("d", 3)).unwrap();
    assert_eq!(
        since(&driver, 3),
        [credited(2, Reason::Manual, None, 21), is_low(18)]
    );
}

#[test]
fn what_crosses_both_thresholds_tells_both() {
    let mut driver = with(30);
    driver.deduct(deduct("all", 30)).unwrap();
    assert_eq!(since(&driver, 2), [is_low(0), DEPLETED]);
}

#[test]
fn a_hold_is_no_spending() {
    let mut driver = with(30);
    let end = driver.after_seconds(DAY);
    driver.place(hold(1, 30, end)).unwrap();
    assert_eq!(since(&driver, 2), []);
    driver.settle(hold_id(1), 5).unwrap();
    assert_eq!(since(&driver, 2), [], "25 are left");
    driver.place(hold(2, 10, end)).unwrap();
    driver.draw(draw(2, 5)).unwrap();
    assert_eq!(
        since(&driver, 2),
        [is_low(15)],
        "20 are left, 5 of them held"
    );
    driver.pass_seconds(DAY);
    assert_eq!(since(&driver, 3), []);
    driver.deduct(deduct("all", 20)).unwrap();
    assert_eq!(since(&driver, 3), [DEPLETED]);
}

#[test]
fn what_a_hold_gives_back_of_what_was_drawn_lets_no_alert_come_again() {
    let mut driver = with(30);
    let end = driver.after_seconds(DAY);
    driver.place(hold(1, 30, end)).unwrap();
    driver.draw(draw(1, 30)).unwrap();
    assert_eq!(since(&driver, 2), [is_low(0), DEPLETED]);
    driver.settle(hold_id(1), 2).unwrap();
    driver.deduct(deduct("all", 28)).unwrap();
    assert_eq!(since(&driver, 4), [], "nobody gave what came back");
    driver.credit(credit("more", 21, None)).unwrap();
    driver.deduct(deduct("again", 21)).unwrap();
    let again = [credited(21, Reason::Manual, None, 21), is_low(0), DEPLETED];
    assert_eq!(since(&driver, 4), again);
}

#[test]
fn credits_that_expire_can_leave_nothing() {
    let mut driver = Driver::new();
    let end = driver.after_seconds(DAY);
    driver.credit(credit("soon", 30, Some(end))).unwrap();
    driver.pass_seconds(DAY);
    assert_eq!(since(&driver, 2), [is_low(0), DEPLETED]);
}

#[test]
fn credits_that_return_after_their_end_are_reported_once() {
    let mut driver = Driver::new();
    let (soon, later) = (driver.after_seconds(10), driver.after_seconds(DAY));
    driver.credit(credit("soon", 30, Some(soon))).unwrap();
    for (id, amount) in [(1, 10), (2, 10), (3, 10)] {
        driver.place(hold(id, amount, later)).unwrap();
    }
    assert_eq!(since(&driver, 2), []);
    driver.pass_seconds(20);
    driver.release(hold_id(1)).unwrap();
    assert_eq!(since(&driver, 2), [is_low(0)], "20 are held");
    driver.settle(hold_id(2), 3).unwrap();
    assert_eq!(since(&driver, 3), [], "10 are held");
    driver.pass_seconds(DAY);
    assert_eq!(driver.expiries().len(), 3, "each gave back what was gone");
    assert_eq!(since(&driver, 3), [DEPLETED]);
}

#[test]
fn an_order_is_reported_as_it_was() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    driver.deduct(deduct("some", 90)).unwrap();
    assert!(driver.refund(1, 1000));
    let orders = all_news(&driver)
        .into_iter()
        .filter_map(|subscription_event| match subscription_event {
            EventData::Order(_, facts) => {
                Some((facts.order.reversal.refunded_cents, facts.balance))
            }
            _ => None,
        });
    assert_eq!(orders.collect::<Vec<_>>(), [(0, 100), (1000, 0)]);
}

#[test]
fn a_payment_makes_a_wallet_before_it_brings_anything() {
    let mut driver = Driver::born(Driver::new().now, Owner::Order);
    assert_eq!(collected(&driver), []);
    driver.buy(1, pack());
    let all = collected(&driver);
    let expected = [
        ExpectedEvent::Other(EventData::WalletCreated),
        order(OrderEvent::Paid, 1),
        credited(100, Reason::Purchase, Some(1), 100),
    ];
    assert_eq!(all, expected);
    let subscription_event = all_news(&driver);
    let codes =
        subscription_event
            .iter()
            .filter_map(|subscription_event| match subscription_event {
                EventData::Order(_, facts) => Some(facts.code.is_some()),
                _ => None,
            });
    assert_eq!(codes.collect::<Vec<_>>(), [true]);
}

#[test]
fn a_late_payment_makes_a_wallet_all_the_same() {
    let mut driver = Driver::born(Driver::new().now, Owner::Order);
    driver.order(1, pack()).unwrap();
    driver.pass_seconds(2 * DAY);
    assert_eq!(collected(&driver), [order(OrderEvent::Expired, 1)]);
    assert_eq!(driver.pay(1, 1000), Ok(true));
    let expected = [
        ExpectedEvent::Other(EventData::WalletCreated),
        order(OrderEvent::Paid, 1),
        credited(100, Reason::Purchase, Some(1), 100),
    ];
    assert_eq!(since(&driver, 1), expected);
}

/// What may happen to an order whose payment makes the wallet usable.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Processed,
    Failed,
    Expired,
    Paid,
    Reversed(i64),
    Time,
}

proptest! {
    /// In any order of events, and with any number of reports.
    #[test]
    fn a_wallet_made_by_a_payment_is_reported_once_and_first(
        all in prop::collection::vec(
            prop_oneof![
                Just(Happens::Processed),
                Just(Happens::Failed),
                Just(Happens::Expired),
                Just(Happens::Paid),
                (0..=1000_i64).prop_map(Happens::Reversed),
                Just(Happens::Time),
            ],
            1..12,
        ),
    ) {
        let mut driver = Driver::born(Driver::new().now, Owner::Order);
        driver.order(1, pack()).unwrap();
        for happens in all {
            // What comes too late may be refused.
            let _ = match happens {
                Happens::Processed => driver.process(1),
                Happens::Failed => driver.fail(1),
                Happens::Expired => driver.expire(1),
                Happens::Paid => driver.pay(1, 1000),
                Happens::Reversed(cents) => Ok(driver.reverse(1, cents, 0)),
                Happens::Time => {
                    driver.pass_seconds(DAY);
                    Ok(false)
                }
            };
        }
        let collected = collected(&driver);
        let created = ExpectedEvent::Other(EventData::WalletCreated);
        let paid = collected.iter().position(|it| *it == order(OrderEvent::Paid, 1));
        let refunded = ExpectedEvent::Order(OrderEvent::Paid, 1, OrderStatus::Refunded);
        let paid = paid.or(collected.iter().position(|it| *it == refunded));
        let expected = paid.map(|place| place - 1);
        prop_assert_eq!(collected.iter().position(|it| *it == created), expected);
        prop_assert!(collected.iter().filter(|it| **it == created).count() <= 1);
    }
}

#[test]
fn a_purchase_tells_of_order_credits_and_features() {
    let mut driver = Driver::new();
    driver.buy(
        1,
        Terms {
            features: unlock("pro").features,
            ..pack()
        },
    );
    let all = [
        order(OrderEvent::Paid, 1),
        credited(100, Reason::Purchase, Some(1), 100),
        features(&["pro"], &["pro"], &[]),
    ];
    assert_eq!(since(&driver, 1), all);
    driver.deduct(deduct("some", 90)).unwrap();
    assert!(driver.refund(1, 500));
    assert_eq!(
        since(&driver, 4),
        [is_low(10), DEPLETED],
        "in part is not refunded"
    );
    assert!(driver.refund(1, 1000));
    let gone = [order(OrderEvent::Refunded, 1), features(&[], &[], &["pro"])];
    assert_eq!(since(&driver, 6), gone);
    assert!(driver.refund(1, 0));
    let back = [
        credited(10, Reason::Refund, Some(1), 10),
        features(&["pro"], &["pro"], &[]),
    ];
    assert_eq!(since(&driver, 8), back, "the refund failed");
}

#[test]
fn a_refund_reported_first_is_announced_after_the_payment() {
    let mut driver = Driver::new();
    assert!(driver.refund(1, 1000));
    assert_eq!(since(&driver, 1), []);
    driver.buy(1, pack());
    let all = since(&driver, 1);
    let orders = all
        .iter()
        .filter(|subscription_event| matches!(subscription_event, ExpectedEvent::Order(..)));
    let orders: Vec<_> = orders.cloned().collect();
    assert_eq!(
        orders,
        [
            ExpectedEvent::Order(OrderEvent::Paid, 1, OrderStatus::Refunded),
            order(OrderEvent::Refunded, 1)
        ],
        "both tell how it stands since"
    );
}

#[test]
fn orders_that_are_not_paid_tell_how_they_ended() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.order(2, pack()).unwrap();
    assert_eq!(since(&driver, 1), [], "nothing happened yet");
    assert_eq!(driver.fail(1), Ok(true));
    driver.pass_seconds(2 * DAY);
    assert_eq!(
        since(&driver, 1),
        [order(OrderEvent::Failed, 1), order(OrderEvent::Expired, 2)]
    );
}

#[test]
fn a_subscription_tells_its_life() {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, tier("basic", 100));
    driver.renew(2, 1, tier("basic", 100));
    assert!(driver.set_status(1, PastDue));
    assert!(driver.set_status(1, Canceled));
    let lives: Vec<_> = all_news(&driver)
        .into_iter()
        .filter_map(|subscription_event| match subscription_event {
            EventData::Subscription(subscription_event, facts) => {
                assert_eq!(facts.label.as_deref(), Some("basic"));
                Some((subscription_event, facts.status == Canceled))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        lives,
        [
            (SubscriptionEvent::Started, false),
            (SubscriptionEvent::Renewed, false),
            (SubscriptionEvent::PastDue, false),
            (SubscriptionEvent::Canceled, true)
        ]
    );
    let all = collected(&driver);
    let changes = all.iter();
    let changes =
        changes.filter(|it| matches!(it, ExpectedEvent::Other(EventData::Features { .. })));
    let changes: Vec<_> = changes.cloned().collect();
    assert_eq!(
        changes,
        [
            features(&["basic"], &["basic"], &[]),
            features(&[], &[], &["basic"])
        ],
        "a renewal changes none"
    );
}

#[test]
fn a_feature_by_hand_tells_once() {
    let mut driver = Driver::new();
    assert!(driver.set_feature("beta", FeatureAction::Grant));
    assert!(!driver.set_feature("beta", FeatureAction::Grant));
    assert!(driver.set_feature("beta", FeatureAction::Revoke));
    assert_eq!(
        since(&driver, 1),
        [
            features(&["beta"], &["beta"], &[]),
            features(&[], &[], &["beta"])
        ]
    );
}

#[test]
fn a_dispute_is_reported_when_opened_and_closed_and_is_no_refund() {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    let orders = |from: usize, driver: &Driver| {
        let all = since(driver, from).into_iter();
        all.filter(|subscription_event| matches!(subscription_event, ExpectedEvent::Order(..)))
            .collect::<Vec<_>>()
    };
    let paid = orders(1, &driver).len();
    let dispute = |won| Dispute {
        opened_at: driver.now,
        amount_cents: 1000,
        currency: Currency::new("EUR").unwrap(),
        reason: DisputeReason::named("fraudulent"),
        respond_by: None,
        inquiry: false,
        won,
    };
    let (open, lost) = (dispute(None), dispute(Some(false)));
    for (dispute, collected) in [
        (Some(open), vec![order(OrderEvent::Disputed, 1)]),
        // The provider may not return the dispute for a while.
        (None, vec![]),
        (Some(open), vec![]),
        (Some(lost), vec![order(OrderEvent::DisputeClosed, 1)]),
    ] {
        let before = orders(1, &driver).len();
        driver.pass_seconds(1);
        let reversal = Reversal {
            dispute,
            ..driver.reversal(0, 1000)
        };
        driver.reverse_with(1, reversal).unwrap();
        assert_eq!(orders(1, &driver)[before..], collected);
    }
    assert_eq!(orders(1, &driver).len(), paid + 2);
}

#[test]
fn a_debt_is_reported_when_it_begins_and_when_it_is_paid_or_forgiven() {
    let mut driver = Driver::new();
    driver.limit_debt(GOLD, Some(50));
    let owe = |name, amount| Deduct {
        on_shortfall: OnShortfall::Owe,
        ..deduct(name, amount)
    };
    driver.deduct(owe("one", 10)).unwrap();
    driver.deduct(owe("two", 10)).unwrap();
    driver.credit(credit("some", 15, None)).unwrap();
    driver.credit(credit("more", 15, None)).unwrap();
    driver.deduct(owe("three", 30)).unwrap();
    let forgive = Forgive {
        product: GOLD,
        amount: None,
        key: key("f"),
        meta: None,
    };
    driver.forgive(forgive).unwrap();
    let owing = |owed| EventData::Owing {
        product: GOLD,
        balance: 0,
        owed,
    };
    let repaid = |balance| EventData::Repaid {
        product: GOLD,
        balance,
    };
    let debts: Vec<_> = all_news(&driver)
        .into_iter()
        .filter(|it| matches!(it, EventData::Owing { .. } | EventData::Repaid { .. }))
        .collect();
    assert_eq!(debts, [owing(10), repaid(10), owing(20), repaid(0)]);
    let credited = all_news(&driver).into_iter();
    let credited = credited.filter(|it| matches!(it, EventData::Credited { .. }));
    assert_eq!(credited.count(), 2, "what is forgiven is no credit");
}

#[test]
fn a_freeze_is_reported_with_its_reason_and_so_is_its_end() {
    let mut driver = Driver::new();
    driver.set_frozen(true);
    driver.set_frozen(true);
    driver.set_frozen(false);
    let reason = FreezeReason::new("why").ok();
    let expected = [EventData::Frozen { reason }, EventData::Unfrozen].map(ExpectedEvent::Other);
    assert_eq!(collected(&driver)[1..], expected);
}
