//! From a placed order to a paid, failed or expired one.

use super::{
    GOLD, TIN, at,
    driver::Driver,
    shop::{DAY, MONTH, features, pack, paid_at, paying, placed, sub, tier, unlock},
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

fn status(driver: &Driver, serial: u128) -> OrderStatus {
    driver.placed_order(serial).status()
}

fn processing(driver: &Driver, serial: u128) -> bool {
    driver.placed_order(serial).is_processing()
}

#[test]
fn a_placed_order_is_pending_and_moves_nothing() {
    let mut driver = Driver::new();
    assert_eq!(driver.order(1, pack()), Ok(true));
    let order = driver.placed_order(1);
    assert_eq!(paid_at(order), (OrderStatus::Pending, None));
    assert_eq!(
        (order.kind, order.amount_cents),
        (OrderKind::Checkout, 1000)
    );
    assert_eq!(order.created_at, driver.now);
    assert_eq!(order.expires_at, driver.after_seconds(DAY));
    assert_eq!(order.checkout, placed(1, pack()).checkout);
    assert_eq!((driver.gold(), driver.records.len()), (0, 0));
    assert_eq!(driver.wallet.customer(), None);
    assert_eq!(
        driver.wallet.portal_customer(None),
        Err(Rejection::NoPurchase)
    );
}

#[test]
fn an_order_is_placed_once() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    let before = driver.wallet.clone();
    assert_eq!(driver.order(1, unlock("other")), Ok(false));
    assert_eq!(driver.wallet, before);
    driver.pay(1, 1000).unwrap();
    assert_eq!(driver.order(1, pack()), Ok(false), "the payment was faster");
}

#[test]
fn an_unpaid_order_expires_by_itself_at_its_own_instant() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.pass_seconds(60);
    driver.order(2, pack()).unwrap();
    assert_eq!(driver.wallet.due_at(), at("2026-03-03T09:00:00Z"));
    driver.now = Timestamp(at("2026-03-03T09:00:00Z").0 - 1);
    driver.touch();
    assert_eq!(status(&driver, 1), OrderStatus::Pending);
    driver.now = at("2026-03-03T09:00:00Z");
    driver.touch();
    assert_eq!(status(&driver, 1), OrderStatus::Expired);
    assert_eq!(status(&driver, 2), OrderStatus::Pending);
    driver.pass_seconds(90 * DAY);
    assert_eq!(status(&driver, 2), OrderStatus::Expired);
    let last = driver.events.last().unwrap();
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
    assert_eq!(driver.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn a_paid_order_leaves_nothing_for_the_clock_to_do() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.order(2, pack()).unwrap();
    driver.pay(1, 1000).unwrap();
    driver.fail(2).unwrap();
    assert_eq!(driver.wallet.due_at(), Timestamp::NEVER);
}

#[test]
fn pending_orders_fail_and_expire_when_the_provider_says_so() {
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.order(2, pack()).unwrap();
    assert_eq!((driver.fail(1), driver.expire(2)), (Ok(true), Ok(true)));
    let both = [status(&driver, 1), status(&driver, 2)];
    assert_eq!(both, [OrderStatus::Failed, OrderStatus::Expired]);
    let before = driver.wallet.clone();
    assert_eq!((driver.fail(1), driver.expire(2)), (Ok(false), Ok(false)));
    assert_eq!((driver.expire(1), driver.fail(2)), (Ok(false), Ok(false)));
    assert_eq!(driver.wallet, before);
}

#[test]
fn a_processing_payment_shows_until_it_succeeds_or_fails_also_of_an_expired_order() {
    let mut driver = Driver::new();
    for serial in 1..=4 {
        driver.order(serial, pack()).unwrap();
        assert_eq!(driver.process(serial), Ok(true));
        assert_eq!(driver.process(serial), Ok(false), "reported twice");
    }
    let balances = |driver: &Driver, serial| (status(driver, serial), processing(driver, serial));
    assert_eq!(balances(&driver, 1), (OrderStatus::Pending, true));
    driver.pay(1, 1000).unwrap();
    driver.fail(2).unwrap();
    assert_eq!(balances(&driver, 1), (OrderStatus::Paid, false));
    assert_eq!(balances(&driver, 2), (OrderStatus::Failed, false));
    for settled in [1, 2] {
        assert_eq!(driver.process(settled), Ok(false), "old news");
    }
    driver.pass_seconds(2 * DAY);
    assert_eq!(balances(&driver, 3), (OrderStatus::Expired, true));
    assert_eq!((driver.fail(3), driver.fail(3)), (Ok(true), Ok(false)));
    assert_eq!(balances(&driver, 3), (OrderStatus::Expired, false));
    driver.pay(4, 1000).unwrap();
    assert_eq!(balances(&driver, 4), (OrderStatus::Paid, false));
}

#[test]
fn what_names_no_order_is_refused_except_money_going_back() {
    let mut driver = Driver::new();
    assert_eq!(driver.pay(1, 1000), Err(Rejection::OrderNotFound));
    assert_eq!(driver.fail(1), Err(Rejection::OrderNotFound));
    assert_eq!(driver.expire(1), Err(Rejection::OrderNotFound));
    assert!(driver.refund(1, 10));
}

#[test]
fn a_wallet_that_has_an_owner_keeps_it() {
    let mut driver = Driver::new();
    let owner = driver.wallet.owner.clone();
    driver.buy(1, pack());
    assert_eq!(driver.wallet.owner, owner);
}

#[test]
fn what_a_wallet_has_bought_for_good_is_not_sold_to_it_again() {
    let mut driver = Driver::new();
    let both = Terms {
        features: features(&["hd", "pdf"]),
        ..unlock("hd")
    };
    driver.buy(1, unlock("hd"));
    let owned = Err(Rejection::AlreadyOwned);
    assert_eq!(driver.order(2, unlock("hd")), owned);
    assert_eq!(driver.wallet.order(OrderSerial(2)), None);
    assert_eq!(driver.order(3, both.clone()), Ok(true), "it brings more");
    let again = Terms {
        repeatable: true,
        ..unlock("hd")
    };
    assert_eq!(driver.order(4, again), Ok(true));
    let with_credits = Terms {
        credits: 1,
        ..unlock("hd")
    };
    assert_eq!(driver.order(5, with_credits), Ok(true));
    let nothing = Terms {
        features: features(&[]),
        ..unlock("hd")
    };
    assert_eq!(
        driver.order(6, nothing),
        Ok(true),
        "a grant has nothing to own"
    );
    // Both features together are owned once their own order is paid.
    driver.pay(3, both.amount_cents).unwrap();
    assert_eq!(driver.order(7, both), owned);
    driver.refund(1, unlock("hd").amount_cents);
    assert_eq!(driver.order(8, unlock("hd")), owned, "the other one has it");
    driver.refund(3, unlock("hd").amount_cents);
    assert_eq!(driver.order(9, unlock("hd")), Ok(true));
}

#[test]
fn what_is_unlocked_otherwise_can_still_be_bought() {
    let mut driver = Driver::new();
    driver.set_feature("hd", FeatureAction::Grant);
    driver.subscribe(1, 1, tier("pdf", 10));
    for (serial, slug) in [(2, "hd"), (3, "pdf")] {
        assert_eq!(driver.order(serial, unlock(slug)), Ok(true), "{slug}");
    }
}

#[test]
fn an_unlock_whose_money_is_on_its_way_is_not_sold_again_and_two_that_are_paid_are_both_there() {
    let mut driver = Driver::new();
    for serial in [1, 2] {
        assert_eq!(
            driver.order(serial, unlock("hd")),
            Ok(true),
            "nobody has paid"
        );
    }
    driver.process(1).unwrap();
    assert_eq!(driver.order(3, unlock("hd")), Err(Rejection::AlreadyOwned));
    driver.fail(1).unwrap();
    assert_eq!(driver.order(4, unlock("hd")), Ok(true));
    for serial in [2, 4] {
        driver.pay(serial, unlock("hd").amount_cents).unwrap();
        assert_eq!(driver.placed_order(serial).status(), OrderStatus::Paid);
    }
    // A refund of one leaves what the other unlocks.
    driver.refund(2, unlock("hd").amount_cents);
    assert_eq!(driver.wallet.features(driver.now), ["hd"]);
}

#[test]
fn a_second_tier_of_the_same_product_is_refused_while_the_first_one_lasts() {
    let mut driver = Driver::new();
    driver.subscribe(1, 1, tier("basic", 10));
    assert_eq!(
        driver.order(2, tier("plus", 20)),
        Err(Rejection::AlreadySubscribed { open_invoice: None })
    );
    assert_eq!(driver.wallet.order(OrderSerial(2)), None);
    let elsewhere = Terms {
        product: ProductId(71),
        ..tier("other", 10)
    };
    assert_eq!(driver.order(3, elsewhere), Ok(true));
    let once = Terms {
        interval: Interval::OneTime,
        ..tier("once", 10)
    };
    assert_eq!(driver.order(4, once), Ok(true), "what is not a tier");
    assert_eq!(
        driver.order(1, tier("basic", 10)),
        Ok(false),
        "a retry is no second one"
    );
}

#[test]
fn unpaid_orders_do_not_pile_up() {
    let mut driver = Driver::new();
    for serial in 1..=100 {
        assert_eq!(driver.order(serial, pack()), Ok(true));
    }
    let refused = Err(Rejection::TooManyPending);
    assert_eq!(driver.order(101, pack()), refused);
    assert_eq!(driver.order(1, pack()), Ok(false), "a retry is none more");
    driver.pay(50, 1000).unwrap();
    assert_eq!(driver.order(101, pack()), Ok(true), "one was paid");
    driver.pass_seconds(DAY);
    assert_eq!(driver.order(102, pack()), Ok(true), "they expired");
}

#[test]
fn a_pending_tier_does_not_stand_in_the_way() {
    let mut driver = Driver::new();
    driver.order(1, tier("basic", 10)).unwrap();
    assert_eq!(driver.order(2, tier("basic", 10)), Ok(true));
    assert!(driver.pay_subscription(1, 1) && driver.pay_subscription(2, 2));
    assert_eq!(
        driver.wallet.subscriptions().count(),
        2,
        "both were paid, both are kept"
    );
    assert_eq!(driver.gold(), 20);
    assert_eq!(driver.subscription(2).id, sub(2));
    assert_eq!(
        driver.subscription(2).current_period_end,
        driver.after_seconds(MONTH)
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
        limits: Vec::new(),
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
    assert_eq!(size_of::<Change>(), 128);
}

#[test]
fn an_order_is_of_the_code_that_it_was_placed_under_or_minted() {
    fn rotate(driver: &mut Driver, number: u8, former: Option<u8>) {
        let rotated = Event {
            at: driver.now,
            change: Change::CodeRotated {
                hash: CodeHash([number; 16]),
                sealed: Box::new([number]),
                former: former.map(|former| CodeHash([former; 16])),
            },
        };
        driver.wallet.apply(rotated).unwrap();
    }
    let mut driver = Driver::new();
    let shown = |driver: &Driver, serial| {
        let order = driver.placed_order(serial);
        driver.wallet.has_code_of_order(order)
    };
    driver.order(1, pack()).unwrap();
    rotate(&mut driver, 1, None);
    assert!(shown(&driver, 1), "it is minted");
    driver.order(2, pack()).unwrap();
    rotate(&mut driver, 2, Some(1));
    driver.order(3, pack()).unwrap();
    let all = |driver: &Driver| [1, 2, 3].map(|serial| shown(driver, serial));
    assert_eq!(all(&driver), [false, false, true]);
    driver.pay(2, 1000).unwrap();
    driver.pay(3, 1000).unwrap();
    assert_eq!(all(&driver), [false, false, true], "paid, it is the same");
    let restored = driver.wallet.clone().recovered().unwrap();
    assert_eq!(restored, driver.wallet);
    let order = driver.placed_order(3).clone();
    rotate(&mut driver, 3, Some(2));
    assert!(restored.has_code_of_order(&order));
    assert!(!driver.wallet.has_code_of_order(&order));
}

#[test]
fn a_replaced_code_forgets_the_customer_that_its_knower_may_have_chosen() {
    let rotated = |number: u8, former: Option<u8>| Change::CodeRotated {
        hash: CodeHash([number; 16]),
        sealed: Box::new([number]),
        former: former.map(|former| CodeHash([former; 16])),
    };
    let mut driver = Driver::new();
    driver.order(1, pack()).unwrap();
    driver.pay(1, 1000).unwrap();
    driver.commit(rotated(1, None));
    assert!(driver.wallet.customer().is_some(), "of the first payment");
    driver.order(2, pack()).unwrap();
    driver.commit(rotated(2, Some(1)));
    assert_eq!(driver.wallet.customer(), None);
    driver.pay(2, 1000).unwrap();
    assert_eq!(driver.wallet.customer(), None, "it was opened before");
    let missing = Pay {
        missing_order: Some(placed(3, pack())),
        ..paying(3, 1000)
    };
    driver.purchase(Purchase::Pay(Box::new(missing))).unwrap();
    assert_eq!(driver.wallet.customer(), None, "nobody knows when");
    driver.order(4, pack()).unwrap();
    driver.pay(4, 1000).unwrap();
    assert!(driver.wallet.customer().is_some());
    let shown = [2, 3, 4].map(|serial| {
        let order = driver.placed_order(serial);
        driver.wallet.has_code_of_order(order)
    });
    assert_eq!(shown, [false, false, true]);
}

#[test]
fn so_many_of_a_price_cost_and_bring_so_much() {
    let mut driver = Driver::new();
    let three = PlaceOrder {
        quantity: Quantity::new(3).unwrap(),
        ..placed(1, pack())
    };
    assert_eq!(driver.purchase(Purchase::Place(three)), Ok(true));
    assert_eq!(driver.placed_order(1).amount_cents, 3000);
    driver.pay(1, 3000).unwrap();
    assert_eq!(
        (driver.gold(), driver.placed_order(1).granted_credits),
        (300, 300)
    );
    assert_eq!(driver.placed_order(1).quantity.get(), 3);
    driver.refund(1, 1500);
    assert_eq!(driver.gold(), 150);
    assert_eq!([0, 1001].map(Quantity::new), [None, None]);
}

#[test]
fn a_quantity_past_all_bounds_is_refused_and_what_is_paid_is_fulfilled() {
    let huge = Terms {
        credits: MAX_CREDITS / 2,
        ..pack()
    };
    let three = Quantity::new(3).unwrap();
    let mut driver = Driver::new();
    assert_eq!(
        driver.wallet.check_order(&huge, three),
        Err(Rejection::BalanceLimit)
    );
    let dear = Terms {
        amount_cents: MAX_CREDITS,
        ..pack()
    };
    assert!(driver.wallet.check_order(&dear, three).is_err());
    assert!(driver.wallet.check_order(&dear, Quantity::ONE).is_ok());
    let tier = tier("basic", 100);
    assert!(
        driver.wallet.check_order(&tier, three).is_err(),
        "a cycle is paid once"
    );
    let pay = Pay {
        missing_order: Some(PlaceOrder {
            quantity: three,
            ..placed(1, huge)
        }),
        ..paying(1, 3000)
    };
    assert_eq!(driver.pay_with(pay), Ok(true));
    assert_eq!(driver.gold(), MAX_CREDITS);
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
    let mut driver = Driver::new();
    let place = PlaceOrder {
        metadata: metadata.clone(),
        ..placed(1, pack())
    };
    driver.purchase(Purchase::Place(place)).unwrap();
    assert_eq!(driver.placed_order(1).receipt, Receipt::default());
    let mut pay = paying(1, 1000);
    pay.payment.receipt = receipt.clone();
    driver.pay_with(pay).unwrap();
    driver.refund(1, 1000);
    let order = driver.placed_order(1);
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
    let mut driver = Driver::new();
    let (basic, other) = (tier("basic", 100), dollars(tier("other", 100)));
    let may = |driver: &Driver, terms: &Terms| driver.wallet.check_order(terms, Quantity::ONE);
    let bound = Err(Rejection::CurrencyMismatch {
        currency: "EUR".into(),
    });
    driver.order(9, pack()).unwrap();
    assert_eq!(
        driver.wallet.bound_currency(),
        None,
        "what is paid once binds nobody"
    );
    driver.order(1, basic.clone()).unwrap();
    assert_eq!(may(&driver, &other), bound, "an open checkout");
    assert_eq!(may(&driver, &dollars(pack())), Ok(()));
    assert_eq!(driver.order(2, other.clone()), bound.map(|()| true));
    driver.expire(1).unwrap();
    assert_eq!(may(&driver, &other), Ok(()));
    driver.subscribe(3, 1, basic);
    for status in [Active, PastDue, Paused] {
        driver.set_status(1, status);
        assert_eq!(driver.wallet.bound_currency(), Some("EUR"));
        assert!(may(&driver, &other).is_err());
    }
    driver.set_status(1, Canceled);
    assert_eq!(
        (driver.wallet.bound_currency(), may(&driver, &other)),
        (None, Ok(()))
    );
}
