//! A wallet that is read back is as it was; one that no events add up to is refused.

use super::{
    GOLD, TIN, credit, deduct,
    driver::Driver,
    hold, hold_id,
    shop::{tier, unlock},
};
use crate::{
    Timestamp,
    id::{HoldId, OrderSerial},
    wallet::{
        Hold, Lot, Order, OrderKind, Reversal, Subscription, SubscriptionStatus, Wallet,
        feature::FeatureAction,
        state::{commerce::Commerce, holds::Holds, lots::Lots},
    },
};
use std::collections::BTreeMap;

/// Lots, open holds, features, orders pending and archived, a subscription.
fn busy() -> Driver {
    let mut driver = Driver::new();
    driver.credit(credit("for good", 50, None)).unwrap();
    for (name, seconds) in [("soon", 500), ("later", 900)] {
        let end = driver.after_seconds(seconds);
        driver.credit(credit(name, 30, Some(end))).unwrap();
    }
    driver
        .place(hold(1, 40, driver.after_seconds(600)))
        .unwrap();
    driver.place(hold(2, 5, driver.after_seconds(300))).unwrap();
    driver.set_feature("manual", FeatureAction::Grant);
    driver.buy(1, unlock("export"));
    driver.subscribe(2, 1, tier("basic", 100));
    driver.order(3, unlock("other")).unwrap();
    driver
}

/// The fault that is found in a wallet after this change.
fn broken(break_it: impl FnOnce(&mut Wallet)) -> String {
    let mut wallet = busy().wallet;
    break_it(&mut wallet);
    wallet.recovered().unwrap_err()
}

fn of_lots(break_it: impl FnOnce(&mut Vec<Lot>)) -> String {
    broken(|wallet| lots(wallet, break_it))
}

fn lots(wallet: &mut Wallet, change: impl FnOnce(&mut Vec<Lot>)) {
    let account = &mut wallet.accounts[0];
    let mut lots: Vec<Lot> = account.lots().into_iter().cloned().collect();
    change(&mut lots);
    account.lots = Lots::Few(lots.into());
}

fn of_holds(break_it: impl FnOnce(&mut BTreeMap<HoldId, Hold>)) -> String {
    broken(|wallet| {
        let mut open = wallet.holds().clone();
        break_it(&mut open);
        wallet.holds = Holds::from(open);
    })
}

fn of_purchases(break_it: impl FnOnce(&mut Commerce)) -> String {
    broken(|wallet| break_it(wallet.commerce.as_mut().unwrap()))
}

/// A lot without held credits.
fn free(lots: &mut [Lot]) -> &mut Lot {
    lots.iter_mut().find(|lot| lot.held == 0).unwrap()
}

#[test]
fn a_wallet_is_read_back_as_it_was() {
    let mut driver = busy();
    let mut stored = driver.wallet.clone();
    stored.due_at = Default::default();
    stored.commerce.as_mut().unwrap().pending.clear();
    let recovered = stored.recovered().unwrap();
    assert_eq!(recovered, driver.wallet);
    assert_eq!(recovered.due_at(), driver.after_seconds(300));
    // What falls due is found as before: holds, lots, pending orders.
    let mut other = busy();
    other.wallet = recovered;
    for seconds in [400, 200, 400, 90_000] {
        driver.pass_seconds(seconds);
        other.pass_seconds(seconds);
        assert_eq!(other.wallet, driver.wallet);
    }
    assert_eq!(other.records, driver.records);
    assert!(driver.wallet.holds().is_empty());
    assert_eq!(driver.wallet.orders().count(), 0);
}

#[test]
fn a_wallet_that_is_due_too_early_is_the_same() {
    let mut driver = Driver::new();
    let end = driver.after_seconds(500);
    driver
        .credit(credit("spent before", 10, Some(end)))
        .unwrap();
    driver.deduct(deduct("all", 10)).unwrap();
    let recovered = driver.wallet.clone().recovered().unwrap();
    assert_eq!(recovered, driver.wallet);
    assert!(driver.wallet.due_at() < recovered.due_at());
}

#[test]
fn credits_that_no_lot_has_are_found() {
    let balance = |fault: String| assert!(fault.ends_with("do not add up to its balance"));
    balance(broken(|it| it.accounts[0].balance += 1));
    balance(of_lots(Vec::clear));
    balance(broken(|it| {
        lots(it, |lots| free(lots).left = i64::MAX);
        it.accounts[0].balance = i64::MAX;
    }));
    let held = broken(|it| it.accounts[0].held += 1);
    assert!(held.ends_with("do not add up to what is held"), "{held}");
}

#[test]
fn lots_out_of_their_bounds_are_found() {
    let bounds = |fault: String| assert!(fault.ends_with("have values out of bounds"), "{fault}");
    bounds(broken(|it| it.accounts[0].next_lot = 1));
    bounds(broken(|it| {
        let mut less = 0;
        lots(it, |lots| {
            less = std::mem::replace(&mut free(lots).left, -1)
        });
        it.accounts[0].balance -= less + 1;
    }));
    let twice = of_lots(|lots| {
        let number = lots[0].number;
        free(&mut lots[1..]).number = number;
    });
    assert!(twice.ends_with("have a number twice"), "{twice}");
    let again = broken(|it| {
        let mut same = it.clone();
        lots(&mut same, |lots| lots.retain(|lot| lot.held == 0));
        let mut same = same.accounts.remove(0);
        same.held = 0;
        same.balance = same.lots().iter().map(|lot| lot.left).sum();
        it.accounts.push(same);
    });
    assert!(again.ends_with("has two accounts"), "{again}");
}

#[test]
fn holds_that_pin_what_is_not_held_are_found() {
    let first = hold_id(1);
    for fault in [
        of_holds(|open| drop(open.remove(&first))),
        of_holds(|open| open.get_mut(&first).unwrap().product = TIN),
    ] {
        assert!(fault.ends_with("what its lots count as held"), "{fault}");
    }
    let more = of_holds(|open| open.get_mut(&first).unwrap().pins[0].1 += 1);
    assert!(more.ends_with("the amount that it sets aside"), "{more}");
    let nothing = of_holds(|open| open.get_mut(&first).unwrap().pins.push((0, 0)));
    assert!(nothing.ends_with("pins no credits of a lot"), "{nothing}");
    let gone = broken(|it| {
        lots(it, |lots| lots.retain(|lot| lot.held == 0));
        let account = &mut it.accounts[0];
        account.held = 0;
        account.balance = account.lots().iter().map(|lot| lot.left).sum();
    });
    assert_eq!(gone, "a hold pins a lot that is gone");
    assert_eq!(busy().wallet.account(GOLD).unwrap().held, 45);
}

#[test]
fn a_wallet_has_more_events_than_records() {
    let numbers = "its counts or timestamps contradict each other";
    assert_eq!(broken(|it| it.records = it.version), numbers);
    assert_eq!(broken(|it| it.touched_at.0 = it.created_at.0 - 1), numbers);
    assert_eq!(broken(|it| it.used_at.0 = it.touched_at.0 + 1), numbers);
}

#[test]
fn purchases_that_cannot_be_are_found() {
    fn existing(it: &mut Commerce) -> &mut Subscription {
        &mut it.subscriptions[0]
    }
    fn order(it: &mut Commerce) -> &mut Order {
        it.orders.values_mut().next().unwrap()
    }
    type Break = (fn(&mut Commerce), &'static str);
    let breaks: [Break; 11] = [
        (|it| order(it).reclaimed_credits = 1, "lost more credits"),
        (|it| order(it).granted_credits = 5, "without being paid"),
        (
            |it| order(it).paid_at = Some(Timestamp(1)),
            "time of payment",
        ),
        (|it| order(it).kind = OrderKind::Switch, "has a checkout"),
        (|it| order(it).rotations = 1, "that the wallet never had"),
        (
            |it| it.unlocked.values_mut().for_each(|n| *n = 0),
            "unlocked by no order",
        ),
        (
            |it| it.subscriptions.push(it.subscriptions[0].clone()),
            "listed twice",
        ),
        (
            |it| existing(it).status = SubscriptionStatus::PastDue,
            "days of grace",
        ),
        (
            |it| existing(it).past_due_since = Some(Timestamp(1)),
            "days of grace",
        ),
        (
            |it| (existing(it).order, existing(it).reversed) = (None, true),
            "a reversed payment that was never reported",
        ),
        (
            |it| {
                let serials = (500..601).map(OrderSerial);
                it.early
                    .extend(serials.map(|serial| (serial, Reversal::default())));
            },
            "too many unknown orders",
        ),
    ];
    for (break_it, fault) in breaks {
        let found = of_purchases(break_it);
        assert!(found.contains(fault), "{fault}: {found}");
    }
}
