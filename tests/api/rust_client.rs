//! The Rust client against the service: all that a shop does with it.

mod gather;
mod retries;

use std::{convert::Infallible, time::Duration};

use domain::{Amount, catalog::FreeGrant, time::Period};
use scrip::catalog::ProductChange;
use scrip_wallet::{
    BatchItem, Cancel, Charge, Charged, Credit, Deduct, Draw, Error, ErrorKind, EventData, Forgive,
    Interval, LedgerFilter, NamedSubscription, NewCheckout, NewSession, OnShortfall, PlaceHold,
    Refund, ReverseDeduction, Scrip, Settle, Spent, UsageQuery, Wallet,
};
use serde_json::{Value, json};

use crate::{sandbox_shop::SandboxShop, service::Service};

fn secret(service: &Service) -> Scrip {
    Scrip::new(&service.base, service.secret.key()).unwrap()
}

fn code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    let error = outcome.expect_err("a refusal");
    error
        .code()
        .unwrap_or_else(|| panic!("{error:?}"))
        .to_owned()
}

#[tokio::test]
async fn credits_come_and_go_once_by_their_keys() {
    let service = Service::start().await;
    let scrip = secret(&service);
    assert_eq!(scrip.me().await.unwrap().key_kind, "secret");
    assert_eq!(scrip.products().await.unwrap()[0].id, service.product);

    let ann = Wallet::external("ann & söhne/1");
    assert_eq!(code(scrip.wallet(&ann).await), "wallet_not_found");
    let welcome = || Credit::new(&service.product, 100).key("welcome");
    assert!(scrip.credit(&ann, welcome()).await.unwrap().credited);
    assert!(!scrip.credit(&ann, welcome()).await.unwrap().credited);

    let render = || {
        Deduct::new(30)
            .key("render-1")
            .meta(json!({"feature": "render"}))
    };
    let took = scrip.deduct(&ann, render()).await.unwrap();
    assert_eq!((took.balance, took.deducted), (70, true));
    assert!(!scrip.deduct(&ann, render()).await.unwrap().deducted);
    scrip.deduct(&ann, Deduct::new(1)).await.unwrap();
    scrip.deduct(&ann, Deduct::new(1)).await.unwrap();

    let short = scrip.deduct(&ann, Deduct::new(100).key("too-much")).await;
    let short = short.expect_err("69 are not 100");
    let refusal = short.refusal().unwrap();
    let docs = "/docs/errors#insufficient_credits";
    assert_eq!(refusal.docs.as_deref(), Some(docs));
    assert_eq!(
        (refusal.status, refusal.balance, refusal.shortfall),
        (402, Some(68), Some(32))
    );
    assert_eq!(short.idempotency_key(), Some("too-much"));

    let view = scrip.wallet(&ann).await.unwrap();
    assert_eq!(view.balance(&service.product), 68);
    assert_eq!(view.external_user_id.as_deref(), Some("ann & söhne/1"));
    let entries = scrip
        .ledger(&ann, LedgerFilter::default())
        .all()
        .await
        .unwrap();
    let deltas: Vec<i64> = entries.iter().map(|entry| entry.delta).collect();
    assert_eq!(deltas, [-1, -1, -30, 100]);
    assert_eq!(entries[2].idempotency_key.as_deref(), Some("render-1"));
    let filter = LedgerFilter {
        reason: Some("manual".into()),
        ..LedgerFilter::default()
    };
    assert_eq!(scrip.ledger(&ann, filter).all().await.unwrap().len(), 1);

    let query = UsageQuery {
        interval: Some(Interval::Month),
        by_feature: true,
        ..UsageQuery::default()
    };
    let usage = scrip.usage(query).await.unwrap();
    let used: i64 = usage.iter().map(|bucket| bucket.deducted).sum();
    assert_eq!(used, 32);
    let features = usage.last().unwrap().features.clone().unwrap();
    assert!(
        features
            .iter()
            .any(|it| it.feature.as_deref() == Some("render") && it.credits == 30)
    );
}

#[tokio::test]
async fn credits_are_given_back_and_put_out_of_reach() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    scrip
        .credit(&ann, Credit::new(&service.product, 5))
        .await
        .unwrap();
    scrip.deduct(&ann, Deduct::new(4)).await.unwrap();
    let newest = async || {
        let ledger = scrip.ledger(&ann, LedgerFilter::default());
        ledger.all().await.unwrap().swap_remove(0)
    };
    let taken = newest().await.id;
    let reverse = ReverseDeduction {
        amount: Some(3),
        note: Some("The picture was black.".into()),
        ..ReverseDeduction::default()
    };
    let given = scrip.reverse_deduction(&taken, reverse).await.unwrap();
    assert_eq!((given.balance, given.reversed, given.amount), (4, true, 3));
    assert_eq!(newest().await.reverses, Some(taken));

    let frozen = scrip.freeze(&ann, Some("A leak.")).await.unwrap();
    assert_eq!(frozen.frozen_reason.as_deref(), Some("A leak."));
    let refused = scrip.deduct(&ann, Deduct::new(1)).await;
    assert_eq!(code(refused), "wallet_frozen");
    assert!(!scrip.thaw(&ann).await.unwrap().frozen);
    assert!(scrip.deduct(&ann, Deduct::new(1)).await.is_ok());
}

#[tokio::test]
async fn a_batch_answers_the_outcome_of_each_item() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    scrip
        .credit(&ann, Credit::new(&service.product, 5))
        .await
        .unwrap();
    let items = [(&ann, 3), (&ann, 3), (&Wallet::external("nobody"), 1)].map(|(wallet, amount)| {
        BatchItem {
            wallet: wallet.clone(),
            deduct: Deduct::new(amount),
        }
    });
    let done = scrip.deduct_batch(items.into()).await.unwrap();
    let done = done
        .iter()
        .map(|done| done.as_ref().map_or_else(|it| it.code.as_str(), |_| "done"));
    assert_eq!(
        done.collect::<Vec<_>>(),
        ["done", "insufficient_credits", "insufficient_credits"]
    );
}

#[tokio::test]
async fn credits_are_granted_held_drawn_and_settled_in_batches() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let [ann, nobody] = ["ann", "nobody"].map(Wallet::external);
    let credit = |product: &str| (ann.clone(), Credit::new(product, 10));
    let items = vec![credit(&service.product), credit("prod_x")];
    let granted = scrip.credit_batch(items).await.unwrap();
    assert_eq!(granted[0].as_ref().unwrap().balance, 10);
    assert_eq!(granted[1].as_ref().unwrap_err().code, "product_not_found");
    let items = [(&ann, 6), (&ann, 6), (&nobody, 1)];
    let items = items.map(|(wallet, amount)| (wallet.clone(), PlaceHold::new(amount)));
    let held = scrip.hold_batch(items.into()).await.unwrap();
    let hold = held[0].as_ref().unwrap();
    assert_eq!((hold.amount, hold.balance), (6, 4));
    for refused in &held[1..] {
        assert_eq!(refused.as_ref().unwrap_err().code, "insufficient_credits");
    }
    let charge = |charge: Charge| (hold.hold_id.clone(), charge);
    let items = vec![
        charge(Draw::new(2).into()),
        charge(Settle::new(5).into()),
        ("hold_x".into(), Settle::new(1).into()),
    ];
    let charged = scrip.settle_batch(items).await.unwrap();
    match (&charged[0], &charged[1]) {
        (Ok(Charged::Drawn(drawn)), Ok(Charged::Settled(settled))) => {
            assert_eq!((drawn.drawn, drawn.held), (2, 4));
            assert_eq!((settled.balance, settled.deducted), (5, true));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(charged[2].as_ref().unwrap_err().code, "hold_not_found");
}

#[tokio::test]
async fn a_user_without_a_wallet_gets_one_with_its_free_credits_by_any_first_call() {
    let service = Service::start().await;
    let free = FreeGrant {
        credits: Amount::new(5).unwrap(),
        period: Period::Once,
    };
    let edit = ProductChange {
        free_grant: Some(Some(free)),
        ..ProductChange::default()
    };
    let (project, product) = (service.project.id, service.product.parse().unwrap());
    let edited = service.catalog.update_product(project, product, edit).await;
    edited.unwrap();
    let scrip = secret(&service);
    let [bob, eve, joe] = ["bob", "eve", "joe"].map(Wallet::external);
    let deducted = scrip.deduct(&bob, Deduct::new(2)).await.unwrap();
    assert_eq!((deducted.deducted, deducted.balance), (true, 3));
    let placed = scrip.hold(&eve, PlaceHold::new(2)).await.unwrap();
    assert_eq!((placed.amount, placed.balance), (2, 3));
    let items = [1, 1].map(|amount| BatchItem {
        wallet: joe.clone(),
        deduct: Deduct::new(amount),
    });
    let taken = scrip.deduct_batch(items.to_vec()).await.unwrap();
    let left: Vec<_> = taken.into_iter().map(|it| it.unwrap().balance).collect();
    assert_eq!(left, [4, 3]);
    let more = scrip.deduct(&bob, Deduct::new(4)).await;
    assert_eq!(code(more), "insufficient_credits", "given once");
}

#[tokio::test]
async fn a_long_ledger_comes_a_page_at_a_time_and_whole() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    scrip
        .credit(&ann, Credit::new(&service.product, 1_000))
        .await
        .unwrap();
    let items = vec![
        BatchItem {
            wallet: ann.clone(),
            deduct: Deduct::new(1)
        };
        250
    ];
    scrip.deduct_batch(items).await.unwrap();
    let mut entries = scrip.ledger(&ann, LedgerFilter::default());
    let mut left = 1_000 - 250;
    while let Some(entry) = entries.next().await.unwrap() {
        assert_eq!(entry.balance_after, left);
        left -= entry.delta;
    }
    assert_eq!(left, 0);
}

#[tokio::test]
async fn work_under_a_hold_is_settled_or_released_in_any_case() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    scrip
        .credit(&ann, Credit::new(&service.product, 100))
        .await
        .unwrap();
    let balance = async || scrip.wallet(&ann).await.unwrap().balances[0].clone();

    let hold = || PlaceHold::new(50);
    let made: Result<&str, Error> = scrip
        .with_hold(&ann, hold(), async |held| {
            assert_eq!((held.amount, balance().await.balance), (50, 50));
            Ok(Spent::new(20, "a picture"))
        })
        .await;
    assert_eq!(made.unwrap(), "a picture");
    assert_eq!(balance().await.balance, 80);

    let failed: Result<Infallible, Box<dyn std::error::Error>> = scrip
        .with_hold(&ann, hold(), async |_| Err("the model is down".into()))
        .await;
    assert_eq!(failed.unwrap_err().to_string(), "the model is down");
    assert_eq!((balance().await.balance, balance().await.held), (80, 0));

    // The work cost more than the balance: what was held is deducted, and the caller gets an error.
    let dear: Result<(), Error> = scrip
        .with_hold(&ann, hold(), async |_| Ok(Spent::new(500, ())))
        .await;
    assert_eq!(code(dear), "insufficient_credits");
    assert_eq!((balance().await.balance, balance().await.held), (30, 0));

    // Dropped in the middle, as when a caller hangs up: the hold is released all the same.
    let forever = scrip.with_hold(&ann, PlaceHold::new(30), async |_| {
        std::future::pending::<Result<Spent<()>, Error>>().await
    });
    tokio::select! {
        _ = forever => unreachable!("it never ends"),
        () = async { while balance().await.held == 0 { tokio::task::yield_now().await } } => {}
    }
    while balance().await.held > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(balance().await.balance, 30);
}

#[tokio::test]
async fn work_whose_hold_ended_unpaid_is_repeated_under_its_key_and_paid_once() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    let grant = Credit::new(&service.product, 100);
    scrip.credit(&ann, grant).await.unwrap();
    let job = || PlaceHold::new(10).key("job");
    let fail = async |hold| -> bool {
        let work = async |_: &_| Err::<Spent<()>, Box<dyn std::error::Error>>("down".into());
        let failed = scrip.with_hold(&ann, hold, work).await.unwrap_err();
        failed.to_string() == "down"
    };
    let checkout = |outcome: Result<(), Error>| match outcome {
        Err(error) => matches!(error.kind(), ErrorKind::Begun),
        Ok(()) => false,
    };
    for _ in 0..19 {
        assert!(fail(job()).await);
    }
    let work = async |_: &_| Ok(Spent::new(4, ()));
    scrip.with_hold(&ann, job(), work).await.unwrap();
    assert!(
        checkout(scrip.with_hold(&ann, job(), work).await),
        "it is paid"
    );
    assert_eq!(scrip.wallet(&ann).await.unwrap().balances[0].balance, 96);

    // Twenty times is the end of it.
    let other = || PlaceHold::new(10).key("other");
    for _ in 0..20 {
        assert!(fail(other()).await);
    }
    assert!(checkout(scrip.with_hold(&ann, other(), work).await));

    // What another run placed is not given back by one that takes it up and fails.
    let running = || PlaceHold::new(10).key("running");
    let placed = scrip.hold(&ann, running()).await.unwrap();
    assert!(checkout(scrip.with_hold(&ann, running(), work).await));
    assert!(fail(running().resume()).await);
    let held = scrip.read_hold(&placed.hold_id).await.unwrap();
    assert_eq!(held.status, "open");
    let resumed = running().resume();
    scrip.with_hold(&ann, resumed, work).await.unwrap();
    assert_eq!(scrip.wallet(&ann).await.unwrap().balances[0].balance, 92);
}

#[tokio::test]
async fn a_hold_by_hand_is_read_extended_and_released() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    scrip
        .credit(&ann, Credit::new(&service.product, 10))
        .await
        .unwrap();
    let placed = scrip
        .hold(&ann, PlaceHold::new(4).key("job"))
        .await
        .unwrap();
    let again = scrip
        .hold(&ann, PlaceHold::new(4).key("job"))
        .await
        .unwrap();
    assert_eq!(again.hold_id, placed.hold_id);
    let longer = scrip
        .extend(&placed.hold_id, Duration::from_secs(3600))
        .await
        .unwrap();
    assert!(longer.expires_at > placed.expires_at);
    assert_eq!(
        scrip.read_hold(&placed.hold_id).await.unwrap().status,
        "open"
    );
    assert_eq!(scrip.release(&placed.hold_id).await.unwrap(), 10);
    assert_eq!(code(scrip.settle(&placed.hold_id, 2).await), "hold_closed");
}

#[tokio::test]
async fn an_anonymous_wallet_is_made_spent_and_given_another_code() {
    let service = Service::start().await;
    let shop = Scrip::new(&service.base, service.publishable.key()).unwrap();
    let new_wallet = shop.create_wallet().await.unwrap();
    let made_code = new_wallet.code.unwrap();
    let wallet = Wallet::code(&made_code);
    assert!(
        !format!("{wallet:?}").contains(&made_code),
        "a code is in no log"
    );
    let give = || Credit::new(&service.product, 10);
    assert_eq!(
        code(shop.credit(&wallet, give()).await),
        "secret_key_required"
    );
    secret(&service).credit(&wallet, give()).await.unwrap();
    let deduct = Deduct::new(4).product(&service.product);
    assert_eq!(shop.deduct(&wallet, deduct).await.unwrap().balance, 6);
    let typed = made_code.to_lowercase().replace('-', " \u{2013} ");
    let typed = Wallet::code(format!("{typed}. "));
    let view = shop.wallet(&typed).await.unwrap();
    assert_eq!(view.balance(&service.product), 6);
    let key = Some("rotate-1".to_owned());
    let new = shop.rotate_code(&wallet, key.clone()).await.unwrap();
    assert_eq!(shop.rotate_code(&wallet, key).await.unwrap(), new);
    assert_eq!(code(shop.wallet(&wallet).await), "wallet_not_found");
    let wallet = Wallet::code(new);
    assert_eq!(
        shop.wallet(&wallet)
            .await
            .unwrap()
            .balance(&service.product),
        6
    );
    shop.recover("nobody@mail.example").await.unwrap();
}

#[tokio::test]
async fn a_purchase_and_its_refund_are_sent_as_events() {
    let shop = SandboxShop::open().await;
    let scrip = secret(&shop.service);
    let ann = Wallet::external("ann");
    let checkout = NewCheckout {
        metadata: [("cart".to_owned(), "7".to_owned())].into(),
        quantity: Some(2),
        ..NewCheckout::new(&shop.price)
    };
    let checkout_page = scrip.checkout(Some(&ann), checkout).await.unwrap();
    assert!(
        !scrip
            .wait_for_order(&checkout_page.order_id, Duration::ZERO)
            .await
            .unwrap()
            .is_settled()
    );
    shop.try_press(&checkout_page.url, "pay", json!({}))
        .await
        .expect(200);
    let paid = scrip
        .wait_for_order(&checkout_page.checkout_id, Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(
        (paid.status.as_str(), paid.balance, paid.quantity),
        ("paid", 200, 2)
    );
    assert_eq!(paid.metadata["cart"], "7");
    assert_eq!(paid.payment.as_ref().unwrap().provider, "sandbox");
    assert!(
        scrip
            .portal(&ann, "https://shop.example/")
            .await
            .unwrap()
            .starts_with("http")
    );

    let half = Refund {
        amount_cents: Some(500),
        ..Refund::default()
    };
    let refunded = scrip.refund(&checkout_page.order_id, half).await.unwrap();
    assert_eq!((refunded.refunded_cents, refunded.balance), (500, 100));
    assert_eq!(scrip.orders().all().await.unwrap().len(), 1);

    let (events, next) = scrip
        .events(None, &["order.paid", "wallet.created"])
        .await
        .unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["wallet.created", "order.paid"]);
    assert_eq!(next.as_deref(), Some(events[1].id.as_str()));
    let (rest, same) = scrip
        .events(next.as_deref(), &["order.paid"])
        .await
        .unwrap();
    assert_eq!((rest.len(), same), (0, next));
}

#[tokio::test]
async fn each_event_has_a_type_of_its_own() {
    let shop = SandboxShop::open().await;
    let scrip = secret(&shop.service);
    shop.service.trust(50).await;
    shop.buy_credits("ann").await;
    shop.subscribed("ann").await;
    let ann = Wallet::external("ann");
    let spend = Deduct::new(120).product(&shop.service.product);
    let spend = spend.on_shortfall(OnShortfall::Owe);
    assert_eq!(scrip.deduct(&ann, spend).await.unwrap().owed, Some(20));
    shop.service.grant("ann", 30).await;
    let (events, _) = scrip.events(None, &[]).await.unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for event in &events {
        let is_known = !matches!(event.data, EventData::Other(_));
        assert!(is_known, "{event:?}");
        kinds.insert(event.kind.as_str());
    }
    for kind in [
        "wallet.created",
        "order.paid",
        "wallet.credited",
        "subscription.started",
        "features.changed",
        "wallet.depleted",
        "wallet.owing",
        "wallet.repaid",
    ] {
        assert!(kinds.contains(kind), "{kind} in {kinds:?}");
    }
    let owing = events.iter().find_map(|event| match &event.data {
        EventData::WalletOwing(owing) => Some(owing.owed),
        _ => None,
    });
    assert_eq!(owing, Some(20));
}

#[tokio::test]
async fn a_subscription_is_cancelled_and_resumed_and_features_are_given() {
    let shop = SandboxShop::open().await;
    let scrip = secret(&shop.service);
    shop.subscribed("ann").await;
    let ann = Wallet::external("ann");
    let subscription = scrip.wallet(&ann).await.unwrap().subscriptions.remove(0);
    let product = subscription.product_id;
    let id = || NamedSubscription::Id(subscription.id.clone());
    let ends = scrip
        .cancel_subscription(&ann, Cancel::at_period_end(&product))
        .await
        .unwrap();
    assert!(ends.cancel_at_period_end);
    let goes_on = scrip.resume_subscription(&ann, id(), None).await.unwrap();
    assert!(!goes_on.cancel_at_period_end);
    let back = "https://shop.example/";
    let portal = scrip.portal_of(&ann, &subscription.id, back).await;
    assert!(portal.unwrap().contains("/portal/"));
    let unknown = scrip.portal_of(&ann, "sub_1", back).await;
    assert_eq!(code(unknown), "subscription_not_found");
    let over = scrip
        .cancel_subscription(&ann, Cancel::now(id()))
        .await
        .unwrap();
    assert_eq!(over.id, subscription.id);
    assert_eq!(over.status, "canceled");
    assert_eq!(scrip.grant_feature(&ann, "beta").await.unwrap(), ["beta"]);
    assert_eq!(scrip.revoke_feature(&ann, "beta").await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn work_is_drawn_settled_owed_and_forgiven() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    let product = service.product.as_str();
    scrip.credit(&ann, Credit::new(product, 100)).await.unwrap();
    let limit = scrip
        .set_debt_limit("ann", product, Some(50))
        .await
        .unwrap();
    assert_eq!((limit.debt_limit, limit.credit_available), (50, 50));

    let chat = json!({"feature": "chat"});
    let place = PlaceHold::new(40).max_overrun(30).meta(chat.clone());
    let hold = scrip.hold(&ann, place).await.unwrap();
    let over = scrip
        .hold(&ann, PlaceHold::new(1).max_overrun(21))
        .await
        .unwrap_err();
    assert_eq!(over.refusal().and_then(|it| it.credit_available), Some(20));
    let drawn = scrip
        .draw(&hold.hold_id, Draw::new(15).key("d"))
        .await
        .unwrap();
    assert_eq!((drawn.deducted, drawn.drawn, drawn.held), (true, 15, 25));
    let again = scrip
        .draw(&hold.hold_id, Draw::new(15).key("d"))
        .await
        .unwrap();
    assert!(!again.deducted);
    let owing = Settle::new(160).on_shortfall(OnShortfall::Owe);
    let owing = owing.meta(json!({"estimated": true}));
    let settled = scrip.settle(&hold.hold_id, owing).await.unwrap();
    assert_eq!(
        (settled.charged, settled.owed, settled.uncovered),
        (Some(100), Some(50), Some(10))
    );
    let ledger = scrip.ledger(&ann, LedgerFilter::default());
    let metas = ledger.all().await.unwrap().into_iter();
    let metas: Vec<_> = metas.map(|entry| entry.meta.map(Value::Object)).collect();
    let estimated = json!({"feature": "chat", "estimated": true});
    assert_eq!(metas, [Some(estimated), Some(chat), None]);
    let more = Deduct::new(5).on_shortfall(OnShortfall::Drain);
    let drained = scrip.deduct(&ann, more).await.unwrap();
    assert_eq!((drained.deducted, drained.uncovered), (false, Some(5)));
    assert_eq!(scrip.wallet(&ann).await.unwrap().balances[0].owed, 50);

    let outage = Forgive {
        amount: Some(20),
        ..Forgive::all(product, "an outage")
    };
    let forgiven = scrip.forgive("ann", outage).await.unwrap();
    assert_eq!(
        (forgiven.forgiven, forgiven.amount, forgiven.owed),
        (true, 20, 30)
    );
}

#[tokio::test]
async fn a_session_is_started_for_a_browser_and_ended() {
    let service = Service::start().await;
    let scrip = secret(&service);
    let ann = Wallet::external("ann");
    let all = scrip.session(&ann, NewSession::default()).await.unwrap();
    assert!(!format!("{all:?}").contains(&all.token));
    let browser = Scrip::new(&service.base, &all.token).unwrap();
    let me = browser.me().await.unwrap();
    assert_eq!((me.key_kind.as_str(), me.key_id), ("session", None));
    let own = me.session.unwrap();
    assert_eq!(own.external_user_id.as_deref(), Some("ann"));
    assert_eq!((own.can.len(), &own.expires_at), (4, &all.expires_at));
    assert_eq!(browser.wallet(&ann).await.unwrap().balances, []);
    let some = NewSession {
        expires_in_seconds: Some(60),
        can: Some(vec!["checkout".into()]),
    };
    let some = scrip.session(&ann, some).await.unwrap();
    let buyer = Scrip::new(&service.base, &some.token).unwrap();
    assert_eq!(code(buyer.wallet(&ann).await), "session_forbidden");
    scrip.revoke_sessions(&ann).await.unwrap();
    assert_eq!(code(browser.me().await), "session_expired");
    let nobody = Wallet::external("nobody");
    assert_eq!(
        code(scrip.revoke_sessions(&nobody).await),
        "wallet_not_found"
    );
}
