//! Events that do not fit the state they are applied to: the books are damaged, and say so.

use super::{
    GOLD, KEY, TIN, credit, credits,
    driver::{Done, Driver},
    hold, hold_id, key,
    shop::{pack, sub, tier},
};
use crate::{
    MAX_CREDITS, Timestamp,
    id::{CodeHash, OrderSerial, ProjectId},
    text::Feature,
    time::Period,
    wallet::{
        Change, Event, OrderKind, Owner, Reversal, Wallet,
        event::{OrderClosed, OrderPaid, OrderPlaced},
    },
};

/// 100 credits, 40 of them held.
fn holding() -> Driver {
    let mut driver = Driver::new();
    driver
        .credit(credit("start", 100, Some(driver.after_seconds(3600))))
        .unwrap();
    let end = driver.after_seconds(60);
    assert_eq!(driver.place(hold(1, 40, end)), Ok(Done::Applied));
    driver
}

#[test]
fn a_wallet_begins_with_its_creation_and_only_begins_once() {
    let driver = holding();
    let deduction = driver.events.last().unwrap().clone();
    assert!(Wallet::replay(&mut None, KEY, deduction).is_err());
    let birth = driver.events.first().unwrap().clone();
    assert!(Wallet::replay(&mut Some(driver.wallet.clone()), KEY, birth).is_err());
}

#[test]
fn an_event_that_does_not_fit_is_never_applied_silently() {
    let grant = |amount| Change::Granted {
        product: GOLD,
        amount: credits(amount),
        expires_at: None,
        key: key("k"),
        meta: None,
    };
    let deduction = |product, amount| Change::Deducted {
        product,
        amount,
        key: key("k"),
        meta: None,
        rate: None,
        counted: None,
    };
    let placement = |serial, amount| Change::HoldPlaced {
        hold: hold_id(serial),
        product: GOLD,
        amount,
        expires_at: Timestamp::NEVER,
        key: key("k"),
        meta: None,
        publishable: false,
        rotations: 0,
        max_overrun: 0,
        rate: None,
        counted: None,
    };
    let expiry = |product, lot, amount| Change::LotExpired {
        product,
        lot,
        amount: credits(amount),
    };
    let free = Change::FreeGranted {
        product: GOLD,
        credits: credits(MAX_CREDITS),
        period: Period::Once,
        start: Timestamp(i64::MIN),
        end: Timestamp::NEVER,
    };
    let cases = [
        ("a grant past the limit", grant(MAX_CREDITS - 99)),
        ("a free grant past the limit", free),
        ("a deduction of held credits", deduction(GOLD, 61)),
        ("a deduction from nothing", deduction(TIN, 1)),
        ("a hold of more than is free", placement(2, 61)),
        ("a hold placed twice", placement(1, 1)),
        ("an expiry of held credits", expiry(GOLD, 0, 61)),
        ("an expiry of an unknown lot", expiry(GOLD, 5, 1)),
        ("an expiry from nothing", expiry(TIN, 0, 1)),
        (
            "a settlement of an unknown hold",
            Change::HoldSettled {
                hold: hold_id(2),
                amount: 1,
                owed: 0,
                uncovered: 0,
                meta: None,
                rate: None,
                counted: None,
            },
        ),
        (
            "a settlement past all credits",
            Change::HoldSettled {
                hold: hold_id(1),
                amount: 101,
                owed: 0,
                uncovered: 0,
                meta: None,
                rate: None,
                counted: None,
            },
        ),
        (
            "a settlement that adds credits",
            Change::HoldSettled {
                hold: hold_id(1),
                amount: -1,
                owed: 0,
                uncovered: 0,
                meta: None,
                rate: None,
                counted: None,
            },
        ),
        (
            "a release of an unknown hold",
            Change::HoldReleased { hold: hold_id(2) },
        ),
        (
            "an expiry of an unknown hold",
            Change::HoldExpired { hold: hold_id(2) },
        ),
        (
            "more time for an unknown hold",
            Change::HoldExtended {
                hold: hold_id(2),
                expires_at: Timestamp::NEVER,
            },
        ),
    ];
    for (what, change) in cases {
        let driver = holding();
        let event = Event {
            at: driver.now,
            change,
        };
        assert!(driver.wallet.clone().apply(event).is_err(), "{what}");
    }
}

/// Order 1 is paid, order 2 is pending, order 3 started a subscription.
fn shopping() -> Driver {
    let mut driver = Driver::new();
    driver.buy(1, pack());
    let end = driver.after_seconds(60);
    driver.place(hold(1, 40, end)).unwrap();
    driver.subscribe(3, 1, tier("basic", 10));
    driver.order(2, pack()).unwrap();
    driver
}

fn recalled(driver: &Driver) -> Change {
    let order = driver.archived_order(OrderSerial(1)).unwrap();
    Change::OrderRecalled(Box::new(order.clone()))
}

#[test]
fn a_purchase_that_does_not_fit_is_never_applied_silently() {
    let paid = |serial, credits| {
        Change::OrderPaid(Box::new(OrderPaid {
            order: OrderSerial(serial),
            project: ProjectId(7),
            kind: OrderKind::Checkout,
            expires_at: Timestamp::NEVER,
            amount_cents: 1000,
            credits,
            credits_expire_at: None,
            payment: None,
            invoice: None,
            subscription: None,
            customer: None,
            email: None,
            receipt: crate::wallet::Receipt::default(),
        }))
    };
    let placed = Change::OrderPlaced(Box::new(OrderPlaced {
        order: OrderSerial(2),
        project: ProjectId(7),
        kind: OrderKind::Checkout,
        terms: pack(),
        checkout: None,
        email: None,
        expires_at: Timestamp::NEVER,
        quantity: crate::Quantity::ONE,
        metadata: crate::metadata::Metadata::default(),
        locale: None,
        names_code: false,
        rotations: 0,
    }));
    let reversed = |serial, credits| Change::OrderReversed {
        order: OrderSerial(serial),
        reversal: Reversal::default(),
        credits,
    };
    let closed = |serial| OrderClosed {
        order: OrderSerial(serial),
        project: ProjectId(7),
        expires_at: Timestamp::NEVER,
    };
    let archived = |serial| Change::OrderArchived {
        order: OrderSerial(serial),
    };
    let cases = [
        ("an order placed twice", placed),
        ("an order paid twice", paid(1, 100)),
        ("a payment of an unknown order", paid(9, 100)),
        ("a payment that takes credits", paid(2, -1)),
        ("a payment past the limit", paid(2, MAX_CREDITS)),
        (
            "the failure of a paid order",
            Change::OrderFailed(closed(1)),
        ),
        ("the end of a paid order", Change::OrderExpired(closed(1))),
        (
            "the end of an unknown order",
            Change::OrderExpired(closed(9)),
        ),
        ("a refund of more than there was", reversed(1, -101)),
        ("a refund of held credits", reversed(1, -70)),
        ("more given back than was taken", reversed(1, 1)),
        ("a refund of an unpaid order", reversed(2, -1)),
        ("credits of an unknown order", reversed(9, -1)),
        ("a pending order archived", archived(2)),
        ("an unknown order archived", archived(9)),
        ("an order recalled twice", recalled(&shopping())),
        (
            "a subscription that is not over gone",
            Change::SubscriptionGone {
                subscription: sub(1),
            },
        ),
    ];
    for (what, change) in cases {
        let mut driver = shopping();
        let at = driver.now;
        let recall = Event {
            at,
            change: recalled(&driver),
        };
        driver.wallet.apply(recall).unwrap();
        assert!(driver.wallet.apply(Event { at, change }).is_err(), "{what}");
    }
    let ended = Change::CycleEnded {
        subscription: sub(1),
        ends_at: Timestamp(0),
    };
    let event = Event {
        at: Timestamp(0),
        change: ended,
    };
    assert!(Driver::new().wallet.apply(event).is_err());
}

#[test]
fn a_rotated_code_replaces_the_old_one_and_nothing_else() {
    let driver = holding();
    let mut wallet = driver.wallet.clone();
    let (hash, sealed) = (CodeHash([3; 16]), Box::from([1, 2, 3]));
    let former = None;
    let change = Change::CodeRotated {
        hash,
        sealed,
        former,
    };
    let at = driver.now;
    assert_eq!(wallet.apply(Event { at, change }).unwrap().record, None);
    assert_eq!(
        wallet.owner,
        Owner::Code {
            hash,
            sealed: Box::from([1, 2, 3])
        }
    );
    assert_eq!(
        (wallet.accounts(), wallet.holds()),
        (driver.wallet.accounts(), driver.wallet.holds())
    );
    assert_eq!(wallet.version, driver.wallet.version + 1);
}

#[test]
fn an_event_dated_before_its_predecessor_does_not_turn_the_wallet_back() {
    let mut wallet = holding().wallet;
    let touched_at = wallet.touched_at;
    let feature = Feature::new("pro").unwrap();
    let change = Change::FeatureGranted { feature };
    wallet
        .apply(Event {
            at: Timestamp(0),
            change,
        })
        .unwrap();
    assert_eq!(wallet.touched_at, touched_at);
}

#[test]
fn a_number_that_is_used_up_is_not_used_again() {
    let at = holding().now;
    let revoke = || Event {
        at,
        change: Change::SessionsRevoked,
    };
    let mut wallet = holding().wallet;
    wallet.session_epoch = u32::MAX - 1;
    wallet.apply(revoke()).unwrap();
    assert!(wallet.apply(revoke()).is_err(), "old sessions stay over");
    let mut wallet = holding().wallet;
    wallet.version = u64::MAX;
    assert!(wallet.apply(revoke()).is_err());
}
