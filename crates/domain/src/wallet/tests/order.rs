//! From a placed order to a paid, failed or expired one.

use super::{
    GOLD, TIN, at,
    shop::{DAY, MONTH, features, pack, paid_at, paying, placed, sub, tier, unlock},
    teller::Teller,
};
use crate::{
    MAX_CREDITS, Quantity, Rejection, Timestamp,
    catalog::{Interval, Price},
    id::{CodeHash, OrderSerial, PriceId, ProductId, ProjectId},
    metadata::Metadata,
    terms::Terms,
    text::PageUrl,
    wallet::{
        Change, Event, OrderKind, OrderStatus, ProviderKind, Receipt,
        SubscriptionStatus::{Active, Canceled, PastDue, Paused},
        feature::FeatureAction,
        pay::Pay,
        place_order::PlaceOrder,
        purchase::Purchase,
    },
};

fn status(teller: &Teller, serial: u128) -> OrderStatus {
    teller.placed_order(serial).status()
}

fn processing(teller: &Teller, serial: u128) -> bool {
    teller.placed_order(serial).is_processing()
}

#[test]
fn a_placed_order_is_pending_and_moves_nothing() {
    let mut teller = Teller::new();
    assert_eq!(teller.order(1, pack()), Ok(true));
    let order = teller.placed_order(1);
    assert_eq!(paid_at(order), (OrderStatus::Pending, None));
    assert_eq!(
        (order.kind, order.amount_cents),
        (OrderKind::Checkout, 1000)
    );
    assert_eq!(order.created_at, teller.now);
    assert_eq!(order.expires_at, teller.after_seconds(DAY));
    assert_eq!(order.checkout, placed(1, pack()).checkout);
    assert_eq!((teller.gold(), teller.records.len()), (0, 0));
    assert_eq!(teller.wallet.customer(), None);
    assert_eq!(
        teller.wallet.portal_customer(None),
        Err(Rejection::NoPurchase)
    );
}

#[test]
fn an_order_is_placed_once() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    let before = teller.wallet.clone();
    assert_eq!(teller.order(1, unlock("other")), Ok(false));
    assert_eq!(teller.wallet, before);
    teller.pay(1, 1000).unwrap();
    assert_eq!(teller.order(1, pack()), Ok(false), "the payment was faster");
}

#[test]
fn an_unpaid_order_expires_by_itself_at_its_own_instant() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.pass_seconds(60);
    teller.order(2, pack()).unwrap();
    assert_eq!(teller.wallet.due_at(), at("2026-03-03T09:00:00Z"));
    teller.now = Timestamp(at("2026-03-03T09:00:00Z").0 - 1);
    teller.touch();
    assert_eq!(status(&teller, 1), OrderStatus::Pending);
    teller.now = at("2026-03-03T09:00:00Z");
    teller.touch();
    assert_eq!(status(&teller, 1), OrderStatus::Expired);
    assert_eq!(status(&teller, 2), OrderStatus::Pending);
    teller.pass_seconds(90 * DAY);
    assert_eq!(status(&teller, 2), OrderStatus::Expired);
    let last = teller.events.last().unwrap();
    assert_eq!(
        last.change,
        Change::OrderArchived {
            order: OrderSerial(2)
        }
    );
    assert_eq!(
        last.at,
        at("2026-03-03T09:01:00Z"),
        "however late it is noticed"
    );
    assert_eq!(teller.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn a_paid_order_leaves_nothing_for_the_clock_to_do() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.order(2, pack()).unwrap();
    teller.pay(1, 1000).unwrap();
    teller.fail(2).unwrap();
    assert_eq!(teller.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn pending_orders_fail_and_expire_when_the_provider_says_so() {
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.order(2, pack()).unwrap();
    assert_eq!((teller.fail(1), teller.expire(2)), (Ok(true), Ok(true)));
    let both = [status(&teller, 1), status(&teller, 2)];
    assert_eq!(both, [OrderStatus::Failed, OrderStatus::Expired]);
    let before = teller.wallet.clone();
    assert_eq!((teller.fail(1), teller.expire(2)), (Ok(false), Ok(false)));
    assert_eq!((teller.expire(1), teller.fail(2)), (Ok(false), Ok(false)));
    assert_eq!(teller.wallet, before);
}

#[test]
fn money_on_its_way_is_told_until_it_came_or_will_not_come_also_of_an_order_that_expired() {
    let mut teller = Teller::new();
    for serial in 1..=4 {
        teller.order(serial, pack()).unwrap();
        assert_eq!(teller.process(serial), Ok(true));
        assert_eq!(teller.process(serial), Ok(false), "told twice");
    }
    let stands = |teller: &Teller, serial| (status(teller, serial), processing(teller, serial));
    assert_eq!(stands(&teller, 1), (OrderStatus::Pending, true));
    teller.pay(1, 1000).unwrap();
    teller.fail(2).unwrap();
    assert_eq!(stands(&teller, 1), (OrderStatus::Paid, false));
    assert_eq!(stands(&teller, 2), (OrderStatus::Failed, false));
    for settled in [1, 2] {
        assert_eq!(teller.process(settled), Ok(false), "old news");
    }
    teller.pass_seconds(2 * DAY);
    assert_eq!(stands(&teller, 3), (OrderStatus::Expired, true));
    assert_eq!((teller.fail(3), teller.fail(3)), (Ok(true), Ok(false)));
    assert_eq!(stands(&teller, 3), (OrderStatus::Expired, false));
    teller.pay(4, 1000).unwrap();
    assert_eq!(stands(&teller, 4), (OrderStatus::Paid, false));
}

#[test]
fn what_names_no_order_is_refused_except_money_going_back() {
    let mut teller = Teller::new();
    assert_eq!(teller.pay(1, 1000), Err(Rejection::OrderNotFound));
    assert_eq!(teller.fail(1), Err(Rejection::OrderNotFound));
    assert_eq!(teller.expire(1), Err(Rejection::OrderNotFound));
    assert!(teller.refund(1, 10));
}

#[test]
fn a_wallet_that_has_an_owner_keeps_it() {
    let mut teller = Teller::new();
    let owner = teller.wallet.owner.clone();
    teller.buy(1, pack());
    assert_eq!(teller.wallet.owner, owner);
}

#[test]
fn what_a_wallet_has_bought_for_good_is_not_sold_to_it_again() {
    let mut teller = Teller::new();
    let both = Terms {
        features: features(&["hd", "pdf"]),
        ..unlock("hd")
    };
    teller.buy(1, unlock("hd"));
    let owned = Err(Rejection::AlreadyOwned);
    assert_eq!(teller.order(2, unlock("hd")), owned);
    assert_eq!(teller.wallet.order(OrderSerial(2)), None);
    assert_eq!(teller.order(3, both.clone()), Ok(true), "it brings more");
    let again = Terms {
        repeatable: true,
        ..unlock("hd")
    };
    assert_eq!(teller.order(4, again), Ok(true));
    let with_credits = Terms {
        credits: 1,
        ..unlock("hd")
    };
    assert_eq!(teller.order(5, with_credits), Ok(true));
    let nothing = Terms {
        features: features(&[]),
        ..unlock("hd")
    };
    assert_eq!(
        teller.order(6, nothing),
        Ok(true),
        "a gift has nothing to own"
    );
    // Both features together are owned once their own order is paid.
    teller.pay(3, both.amount_cents).unwrap();
    assert_eq!(teller.order(7, both), owned);
    teller.refund(1, unlock("hd").amount_cents);
    assert_eq!(teller.order(8, unlock("hd")), owned, "the other one has it");
    teller.refund(3, unlock("hd").amount_cents);
    assert_eq!(teller.order(9, unlock("hd")), Ok(true));
}

#[test]
fn what_is_unlocked_otherwise_can_still_be_bought() {
    let mut teller = Teller::new();
    teller.set_feature("hd", FeatureAction::Grant);
    teller.subscribe(1, 1, tier("pdf", 10));
    for (serial, slug) in [(2, "hd"), (3, "pdf")] {
        assert_eq!(teller.order(serial, unlock(slug)), Ok(true), "{slug}");
    }
}

#[test]
fn an_unlock_whose_money_is_on_its_way_is_not_sold_again_and_two_that_are_paid_are_both_there() {
    let mut teller = Teller::new();
    for serial in [1, 2] {
        assert_eq!(
            teller.order(serial, unlock("hd")),
            Ok(true),
            "nobody has paid"
        );
    }
    teller.process(1).unwrap();
    assert_eq!(teller.order(3, unlock("hd")), Err(Rejection::AlreadyOwned));
    teller.fail(1).unwrap();
    assert_eq!(teller.order(4, unlock("hd")), Ok(true));
    for serial in [2, 4] {
        teller.pay(serial, unlock("hd").amount_cents).unwrap();
        assert_eq!(teller.placed_order(serial).status(), OrderStatus::Paid);
    }
    // A refund of one leaves what the other unlocks.
    teller.refund(2, unlock("hd").amount_cents);
    assert_eq!(teller.wallet.features(teller.now), ["hd"]);
}

#[test]
fn a_second_tier_of_the_same_product_is_refused_while_the_first_one_lasts() {
    let mut teller = Teller::new();
    teller.subscribe(1, 1, tier("basic", 10));
    assert_eq!(
        teller.order(2, tier("plus", 20)),
        Err(Rejection::AlreadySubscribed { open_invoice: None })
    );
    assert_eq!(teller.wallet.order(OrderSerial(2)), None);
    let elsewhere = Terms {
        product: ProductId(71),
        ..tier("other", 10)
    };
    assert_eq!(teller.order(3, elsewhere), Ok(true));
    let once = Terms {
        interval: Interval::OneTime,
        ..tier("once", 10)
    };
    assert_eq!(teller.order(4, once), Ok(true), "what is not a tier");
    assert_eq!(
        teller.order(1, tier("basic", 10)),
        Ok(false),
        "a retry is no second one"
    );
}

#[test]
fn orders_that_nobody_pays_do_not_pile_up() {
    let mut teller = Teller::new();
    for serial in 1..=100 {
        assert_eq!(teller.order(serial, pack()), Ok(true));
    }
    let refused = Err(Rejection::TooManyPending);
    assert_eq!(teller.order(101, pack()), refused);
    assert_eq!(teller.order(1, pack()), Ok(false), "a retry is none more");
    teller.pay(50, 1000).unwrap();
    assert_eq!(teller.order(101, pack()), Ok(true), "one was paid");
    teller.pass_seconds(DAY);
    assert_eq!(teller.order(102, pack()), Ok(true), "they expired");
}

#[test]
fn a_pending_tier_does_not_stand_in_the_way() {
    let mut teller = Teller::new();
    teller.order(1, tier("basic", 10)).unwrap();
    assert_eq!(teller.order(2, tier("basic", 10)), Ok(true));
    assert!(teller.pay_subscription(1, 1) && teller.pay_subscription(2, 2));
    assert_eq!(
        teller.wallet.subscriptions().count(),
        2,
        "both were paid, both are kept"
    );
    assert_eq!(teller.gold(), 20);
    assert_eq!(teller.subscription(2).id, sub(2));
    assert_eq!(
        teller.subscription(2).current_period_end,
        teller.after_seconds(MONTH)
    );
}

#[test]
fn terms_are_the_price_of_that_day() {
    let mut price = Price {
        id: PriceId(5),
        project: ProjectId(7),
        product: GOLD,
        label: Some("Basic".into()),
        amount_cents: 999,
        currency: "USD".into(),
        credits_granted: 50,
        credits_product: None,
        credits_expire_after_days: Some(2),
        rollover: true,
        features: features(&["pro"]),
        interval: Interval::Year,
        trial_days: Some(14),
        trial_credits: 5,
        repeatable: false,
        active: true,
        created_at: Timestamp(0),
    };
    let terms = Terms::from(&price);
    assert_eq!(
        (terms.product, terms.fills, terms.credits),
        (GOLD, GOLD, 50)
    );
    assert_eq!((terms.amount_cents, &*terms.currency), (999, "USD"));
    assert_eq!(
        (terms.label.as_deref(), terms.rollover),
        (Some("Basic"), true)
    );
    assert_eq!(
        terms.credits_expire_at(Timestamp(1)),
        Some(Timestamp(1 + 2 * DAY * 1000))
    );
    assert!(terms.recurs());
    price.credits_product = Some(TIN);
    assert_eq!(Terms::from(&price).fills, TIN);
}

#[test]
fn purchases_do_not_make_other_changes_larger() {
    // Placing a hold is the largest of the frequent changes: it sets the size.
    assert_eq!(size_of::<Change>(), 112);
}

#[test]
fn an_order_is_of_the_code_that_it_was_placed_under_or_minted() {
    fn rotate(teller: &mut Teller, number: u8, former: Option<u8>) {
        let rotated = Event {
            at: teller.now,
            change: Change::CodeRotated {
                hash: CodeHash([number; 16]),
                sealed: Box::new([number]),
                former: former.map(|former| CodeHash([former; 16])),
            },
        };
        teller.wallet.apply(rotated).unwrap();
    }
    let mut teller = Teller::new();
    let shown = |teller: &Teller, serial| {
        let order = teller.placed_order(serial);
        teller.wallet.has_code_of_order(order)
    };
    teller.order(1, pack()).unwrap();
    rotate(&mut teller, 1, None);
    assert!(shown(&teller, 1), "it is minted");
    teller.order(2, pack()).unwrap();
    rotate(&mut teller, 2, Some(1));
    teller.order(3, pack()).unwrap();
    let all = |teller: &Teller| [1, 2, 3].map(|serial| shown(teller, serial));
    assert_eq!(all(&teller), [false, false, true]);
    teller.pay(2, 1000).unwrap();
    teller.pay(3, 1000).unwrap();
    assert_eq!(all(&teller), [false, false, true], "paid, it is the same");
    let restored = teller.wallet.clone().recovered().unwrap();
    assert_eq!(restored, teller.wallet);
    let order = teller.placed_order(3).clone();
    rotate(&mut teller, 3, Some(2));
    assert!(restored.has_code_of_order(&order));
    assert!(!teller.wallet.has_code_of_order(&order));
}

#[test]
fn a_replaced_code_forgets_the_customer_that_its_knower_may_have_chosen() {
    let rotated = |number: u8, former: Option<u8>| Change::CodeRotated {
        hash: CodeHash([number; 16]),
        sealed: Box::new([number]),
        former: former.map(|former| CodeHash([former; 16])),
    };
    let mut teller = Teller::new();
    teller.order(1, pack()).unwrap();
    teller.pay(1, 1000).unwrap();
    teller.commit(rotated(1, None));
    assert!(teller.wallet.customer().is_some(), "of the first payment");
    teller.order(2, pack()).unwrap();
    teller.commit(rotated(2, Some(1)));
    assert_eq!(teller.wallet.customer(), None);
    teller.pay(2, 1000).unwrap();
    assert_eq!(teller.wallet.customer(), None, "it was opened before");
    let missing = Pay {
        missing_order: Some(placed(3, pack())),
        ..paying(3, 1000)
    };
    teller.purchase(Purchase::Pay(Box::new(missing))).unwrap();
    assert_eq!(teller.wallet.customer(), None, "nobody knows when");
    teller.order(4, pack()).unwrap();
    teller.pay(4, 1000).unwrap();
    assert!(teller.wallet.customer().is_some());
    let shown = [2, 3, 4].map(|serial| {
        let order = teller.placed_order(serial);
        teller.wallet.has_code_of_order(order)
    });
    assert_eq!(shown, [false, false, true]);
}

#[test]
fn so_many_of_a_price_cost_and_bring_so_much() {
    let mut teller = Teller::new();
    let three = PlaceOrder {
        quantity: Quantity::new(3).unwrap(),
        ..placed(1, pack())
    };
    assert_eq!(teller.purchase(Purchase::Place(three)), Ok(true));
    assert_eq!(teller.placed_order(1).amount_cents, 3000);
    teller.pay(1, 3000).unwrap();
    assert_eq!(
        (teller.gold(), teller.placed_order(1).granted_credits),
        (300, 300)
    );
    assert_eq!(teller.placed_order(1).quantity.get(), 3);
    teller.refund(1, 1500);
    assert_eq!(teller.gold(), 150);
    assert_eq!([0, 1001].map(Quantity::new), [None, None]);
}

#[test]
fn a_quantity_past_all_bounds_is_refused_and_what_is_paid_is_fulfilled() {
    let huge = Terms {
        credits: MAX_CREDITS / 2,
        ..pack()
    };
    let three = Quantity::new(3).unwrap();
    let mut teller = Teller::new();
    assert_eq!(
        teller.wallet.check_order(&huge, three),
        Err(Rejection::BalanceLimit)
    );
    let dear = Terms {
        amount_cents: MAX_CREDITS,
        ..pack()
    };
    assert!(teller.wallet.check_order(&dear, three).is_err());
    assert!(teller.wallet.check_order(&dear, Quantity::ONE).is_ok());
    let tier = tier("basic", 100);
    assert!(
        teller.wallet.check_order(&tier, three).is_err(),
        "a cycle is paid once"
    );
    let pay = Pay {
        missing_order: Some(PlaceOrder {
            quantity: three,
            ..placed(1, huge)
        }),
        ..paying(1, 3000)
    };
    assert_eq!(teller.pay_with(pay), Ok(true));
    assert_eq!(teller.gold(), MAX_CREDITS);
}

#[test]
fn what_is_written_on_an_order_and_where_it_was_paid_stays_with_it() {
    let metadata = Metadata::new([("job".into(), "7".into())].into()).unwrap();
    let receipt = Receipt {
        provider: Some(ProviderKind::Stripe),
        livemode: true,
        receipt_url: Some(PageUrl::new("https://pay.example/r/1").unwrap()),
        invoice_url: None,
    };
    let mut teller = Teller::new();
    let place = PlaceOrder {
        metadata: metadata.clone(),
        ..placed(1, pack())
    };
    teller.purchase(Purchase::Place(place)).unwrap();
    assert_eq!(teller.placed_order(1).receipt, Receipt::default());
    let mut pay = paying(1, 1000);
    pay.payment.receipt = receipt.clone();
    teller.pay_with(pay).unwrap();
    teller.refund(1, 1000);
    let order = teller.placed_order(1);
    assert_eq!((&order.metadata, &order.receipt), (&metadata, &receipt));
    assert_eq!(order.customer.as_ref().unwrap().as_str(), "cus_ann");
}

#[test]
fn a_customer_is_bound_to_the_currency_of_what_recurs() {
    let dollars = |terms: Terms| Terms {
        currency: "USD".into(),
        product: TIN,
        ..terms
    };
    let mut teller = Teller::new();
    let (basic, other) = (tier("basic", 100), dollars(tier("other", 100)));
    let may = |teller: &Teller, terms: &Terms| teller.wallet.check_order(terms, Quantity::ONE);
    let bound = Err(Rejection::CurrencyMismatch {
        currency: "EUR".into(),
    });
    teller.order(9, pack()).unwrap();
    assert_eq!(
        teller.wallet.bound_currency(),
        None,
        "what is paid once binds nobody"
    );
    teller.order(1, basic.clone()).unwrap();
    assert_eq!(may(&teller, &other), bound, "an open checkout");
    assert_eq!(may(&teller, &dollars(pack())), Ok(()));
    assert_eq!(teller.order(2, other.clone()), bound.map(|()| true));
    teller.expire(1).unwrap();
    assert_eq!(may(&teller, &other), Ok(()));
    teller.subscribe(3, 1, basic);
    for status in [Active, PastDue, Paused] {
        teller.set_status(1, status);
        assert_eq!(teller.wallet.bound_currency(), Some("EUR"));
        assert!(may(&teller, &other).is_err());
    }
    teller.set_status(1, Canceled);
    assert_eq!(
        (teller.wallet.bound_currency(), may(&teller, &other)),
        (None, Ok(()))
    );
}
