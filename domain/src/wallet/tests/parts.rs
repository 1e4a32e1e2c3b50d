//! A wallet that was taken apart comes together as it was; parts that are no wallet's do not.

use super::{
    GOLD, TIN, credit, deduct, hold, hold_id,
    shop::{tier, unlock},
    teller::Teller,
};
use crate::wallet::{Corrupt, Wallet, WalletParts, feature::FeatureAction};

/// Lots, open holds, features, orders pending and archived, a subscription.
fn busy() -> Teller {
    let mut teller = Teller::new();
    teller.credit(credit("for good", 50, None)).unwrap();
    for (name, seconds) in [("soon", 500), ("later", 900)] {
        let end = teller.after_seconds(seconds);
        teller.credit(credit(name, 30, Some(end))).unwrap();
    }
    teller
        .place(hold(1, 40, teller.after_seconds(600)))
        .unwrap();
    teller.place(hold(2, 5, teller.after_seconds(300))).unwrap();
    teller.set_feature("manual", FeatureAction::Grant);
    teller.buy(1, unlock("export"));
    teller.subscribe(2, 1, tier("basic", 100));
    teller.order(3, unlock("other")).unwrap();
    teller
}

fn broken(break_it: impl FnOnce(&mut WalletParts<'_>)) -> Corrupt {
    let teller = busy();
    let mut parts = teller.wallet.parts();
    break_it(&mut parts);
    Wallet::from_parts(parts).unwrap_err()
}

#[test]
fn a_wallet_comes_together_as_it_was() {
    let mut teller = busy();
    let restored = Wallet::from_parts(teller.wallet.parts()).unwrap();
    assert_eq!(restored, teller.wallet);
    assert_eq!(restored.due_at(), teller.after_seconds(300));
    // What falls due is found as before: holds, lots, pending orders.
    let mut other = busy();
    other.wallet = restored;
    for seconds in [400, 200, 400, 90_000] {
        teller.pass_seconds(seconds);
        other.pass_seconds(seconds);
        assert_eq!(other.wallet, teller.wallet);
    }
    assert_eq!(other.records, teller.records);
    assert!(teller.wallet.holds().is_empty());
    assert_eq!(teller.wallet.orders().count(), 0);
}

#[test]
fn a_wallet_that_is_due_too_early_is_the_same() {
    let mut teller = Teller::new();
    let end = teller.after_seconds(500);
    teller
        .credit(credit("spent before", 10, Some(end)))
        .unwrap();
    teller.deduct(deduct("all", 10)).unwrap();
    let restored = Wallet::from_parts(teller.wallet.parts()).unwrap();
    assert_eq!(restored, teller.wallet);
    assert!(teller.wallet.due_at() < restored.due_at());
}

#[test]
fn credits_that_no_lot_has_are_found() {
    let of = |account: fn(&mut WalletParts<'_>)| broken(account).0;
    let unbalanced = "lots do not add up to the balance";
    assert_eq!(of(|p| p.accounts[0].balance += 1), unbalanced);
    assert_eq!(
        of(|p| p.accounts[0].lots.clear()),
        "a hold pins a lot that is gone"
    );
    assert_eq!(
        of(|p| p.accounts[0].held += 1),
        "lots do not add up to what is held"
    );
    let huge = |p: &mut WalletParts<'_>| {
        let free = p.accounts[0].lots.iter_mut().find(|lot| lot.held == 0);
        free.unwrap().left = i64::MAX;
        p.accounts[0].balance = i64::MAX;
    };
    assert_eq!(of(huge), unbalanced);
}

#[test]
fn lots_out_of_their_bounds_are_found() {
    let of = |account: fn(&mut WalletParts<'_>)| broken(account).0;
    let bounds = "a lot breaks its bounds";
    assert_eq!(of(|p| p.accounts[0].next_lot = 1), bounds);
    let negative = |p: &mut WalletParts<'_>| {
        let account = &mut p.accounts[0];
        let free = account.lots.iter_mut().find(|lot| lot.held == 0).unwrap();
        account.balance -= free.left + 1;
        free.left = -1;
    };
    assert_eq!(of(negative), bounds);
    let twice = |p: &mut WalletParts<'_>| {
        let number = p.accounts[0].lots[0].number;
        let other = p.accounts[0].lots.iter_mut().skip(1);
        other.into_iter().find(|lot| lot.held == 0).unwrap().number = number;
    };
    assert_eq!(of(twice), "two lots have one number");
    let again = |p: &mut WalletParts<'_>| {
        let mut same = p.accounts[0].clone();
        same.lots.retain(|lot| lot.held == 0);
        same.held = 0;
        same.balance = same.lots.iter().map(|lot| lot.left).sum();
        p.accounts.push(same);
    };
    assert_eq!(of(again), "a product has two accounts");
}

#[test]
fn holds_that_pin_what_is_not_held_are_found() {
    let of = |account: fn(&mut WalletParts<'_>)| broken(account).0;
    let first = hold_id(1);
    assert_eq!(
        broken(|p| drop(p.holds.to_mut().remove(&first))).0,
        "open holds do not pin what lots hold"
    );
    assert_eq!(
        broken(|p| p.holds.to_mut().get_mut(&first).unwrap().product = TIN).0,
        "open holds do not pin what lots hold"
    );
    assert_eq!(
        of(|p| p.holds.to_mut().get_mut(&hold_id(1)).unwrap().pins[0].1 += 1),
        "a hold does not pin what it sets aside"
    );
    assert_eq!(
        of(|p| p
            .holds
            .to_mut()
            .get_mut(&hold_id(1))
            .unwrap()
            .pins
            .push((0, 0))),
        "a hold pins nothing"
    );
    assert_eq!(busy().wallet.account(GOLD).unwrap().held, 45);
}

#[test]
fn purchases_that_cannot_be_are_found() {
    let of = |account: fn(&mut WalletParts<'_>)| broken(account).0;
    fn commerce<'a, 'b>(p: &'a mut WalletParts<'b>) -> &'a mut crate::wallet::CommerceParts<'b> {
        p.commerce.as_mut().unwrap()
    }
    assert_eq!(
        of(|p| commerce(p)
            .orders
            .to_mut()
            .values_mut()
            .for_each(|o| o.taken = 1)),
        "a refund passes its order's credits"
    );
    assert_eq!(
        of(|p| commerce(p)
            .unlocked
            .to_mut()
            .values_mut()
            .for_each(|n| *n = 0)),
        "a feature is unlocked by no order"
    );
    assert_eq!(
        of(|p| commerce(p)
            .orders
            .to_mut()
            .values_mut()
            .for_each(|o| o.rotations = 1)),
        "an order is of a code that is not there yet"
    );
    let twice = |p: &mut WalletParts<'_>| {
        let all = commerce(p).subscriptions.to_mut();
        all.push(all[0].clone());
    };
    assert_eq!(of(twice), "a subscription is there twice");
}

#[test]
fn a_wallet_has_more_events_than_records() {
    let of = |account: fn(&mut WalletParts<'_>)| broken(account).0;
    let numbers = "a wallet's numbers do not follow from its events";
    assert_eq!(of(|p| p.records = p.version), numbers);
    assert_eq!(of(|p| p.touched_at.0 = p.created_at.0 - 1), numbers);
}

#[test]
fn purchases_that_do_not_hold_together_are_found() {
    type Parts<'a> = crate::wallet::CommerceParts<'a>;
    let of = |break_it: fn(&mut Parts<'_>)| broken(|p| break_it(p.commerce.as_mut().unwrap())).0;
    fn known<'a>(p: &'a mut Parts<'_>) -> &'a mut crate::wallet::Subscription {
        &mut p.subscriptions.to_mut()[0]
    }
    fn order<'a>(p: &'a mut Parts<'_>) -> &'a mut crate::wallet::Order {
        p.orders.to_mut().values_mut().next().unwrap()
    }
    let early = |p: &mut Parts<'_>| {
        let serials = (500..601).map(crate::id::OrderSerial);
        let kept = serials.map(|serial| (serial, crate::wallet::Reversal::default()));
        p.early.to_mut().extend(kept);
    };
    let breaks: [fn(&mut Parts<'_>); 7] = [
        |p| order(p).granted = 5,
        |p| order(p).paid_at = Some(crate::Timestamp(1)),
        |p| order(p).kind = crate::wallet::OrderKind::Switch,
        |p| known(p).status = crate::wallet::SubscriptionStatus::PastDue,
        |p| known(p).past_due_since = Some(crate::Timestamp(1)),
        |p| {
            known(p).order = None;
            known(p).reversed = true;
        },
        early,
    ];
    for break_it in breaks {
        assert_eq!(of(break_it), "a purchase does not hold together");
    }
}
