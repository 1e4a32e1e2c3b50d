//! Deductions that go together, against the service, over a network that loses answers.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use postgres_kit::Proxy;
use scrip_wallet::{
    Credit, Deduct, Deducted, Error, LedgerFilter, OnShortfall, PlaceHold, Scrip, Wallet,
};
use tokio::task::{JoinHandle, JoinSet};

use super::{code, secret};
use crate::service::Service;

async fn users(service: &Service, count: usize, credits: u64) -> Vec<Wallet> {
    let scrip = secret(service);
    let wallets: Vec<_> = (0..count)
        .map(|at| Wallet::external(format!("user {at}")))
        .collect();
    for wallet in &wallets {
        scrip
            .credit(wallet, Credit::new(&service.product, credits))
            .await
            .unwrap();
    }
    wallets
}

async fn left(service: &Service, wallets: &[Wallet]) -> Vec<i64> {
    let mut left = Vec::new();
    for wallet in wallets {
        let view = secret(service).wallet(wallet).await.unwrap();
        left.push(view.balance(&service.product));
    }
    left
}

fn spawn(scrip: &Scrip, wallet: &Wallet, deduct: Deduct) -> JoinHandle<Result<Deducted, Error>> {
    let (scrip, wallet) = (scrip.clone(), wallet.clone());
    tokio::spawn(async move { scrip.deduct(&wallet, deduct).await })
}

/// The service's address behind a proxy.
fn proxied(service: &Service) -> (Proxy, Scrip) {
    let address = service.base.strip_prefix("http://").unwrap();
    let proxy = Proxy::to(address.parse().unwrap());
    let scrip = Scrip::new(format!("http://{}", proxy.address()), service.secret.key());
    (proxy, scrip.unwrap())
}

#[tokio::test]
async fn ten_thousand_callers_at_once_are_served_in_order() {
    let service = Service::start().await;
    let wallets = users(&service, 50, 1_000).await;
    let (proxy, scrip) = proxied(&service);
    let calls: Vec<_> = (0..10_000)
        .map(|at| spawn(&scrip, &wallets[at % 50], Deduct::new(1)))
        .collect();
    let mut balances = vec![1_000; 50];
    for (at, call) in calls.into_iter().enumerate() {
        balances[at % 50] -= 1;
        assert_eq!(call.await.unwrap().unwrap().balance, balances[at % 50]);
    }
    assert_eq!(left(&service, &wallets).await, [800; 50]);
    assert!(proxy.connections() < 10, "{}", proxy.connections());
}

#[tokio::test]
async fn answers_that_are_lost_take_nothing_twice_and_lose_nothing() {
    let service = Service::start().await;
    let wallets = Arc::new(users(&service, 20, 10_000).await);
    let (proxy, scrip) = proxied(&service);
    let proxy = Arc::new(proxy);
    let direct = secret(&service);
    let mut workers = JoinSet::new();
    for at in 0..100_usize {
        let (wallets, proxy) = (Arc::clone(&wallets), Arc::clone(&proxy));
        let (scrip, direct) = (scrip.clone(), direct.clone());
        workers.spawn(async move {
            let mut taken = 0;
            for n in 0..25 {
                let wallet = &wallets[at % 20];
                let amount = 1 + (at as u64 + n) % 7;
                let deduct = || Deduct::new(amount).key(format!("{at}-{n}"));
                // Where its attempts were too few, the key finds out.
                if scrip.deduct(wallet, deduct()).await.is_err() {
                    direct.deduct(wallet, deduct()).await.unwrap();
                }
                taken += amount;
                if at % 10 == 0 && n % 3 == 0 {
                    proxy.lose_next_answer();
                }
            }
            taken
        });
    }
    let taken: u64 = workers.join_all().await.into_iter().sum();
    let left: i64 = left(&service, &wallets).await.into_iter().sum();
    assert_eq!(u64::try_from(left).unwrap() + taken, 20 * 10_000);
    assert!(proxy.losses() > 5, "{}", proxy.losses());
    let filter = LedgerFilter {
        reason: Some("deduction".into()),
        ..LedgerFilter::default()
    };
    let entries = direct.ledger(&wallets[0], filter).all().await.unwrap();
    let keys: BTreeSet<_> = entries.iter().map(|entry| &entry.idempotency_key).collect();
    assert_eq!(keys.len(), 125);
}

#[tokio::test]
async fn a_lost_answer_under_a_key_of_the_client_is_still_this_calls_own() {
    let service = Service::start().await;
    let wallets = users(&service, 3, 10).await;
    let (proxy, scrip) = proxied(&service);
    proxy.lose_next_answer();
    let calls = wallets
        .iter()
        .map(|wallet| spawn(&scrip, wallet, Deduct::new(1)));
    for call in calls.collect::<Vec<_>>() {
        let done = call.await.unwrap().unwrap();
        assert_eq!((done.deducted, done.balance), (true, 9));
    }
    assert_eq!(proxy.losses(), 1);
}

#[tokio::test]
async fn dropped_futures_take_nothing_along() {
    let service = Service::start().await;
    let wallets = users(&service, 2, 1_000).await;
    let scrip = secret(&service);
    let call = |at: usize| spawn(&scrip, &wallets[at % 4 / 2], Deduct::new(1));
    let calls: Vec<_> = (0..200).map(call).collect();
    tokio::task::yield_now().await;
    let mut left_over = Vec::new();
    for (at, call) in calls.into_iter().enumerate() {
        match at % 2 {
            0 => call.abort(),
            _ => left_over.push(call),
        }
    }
    for call in left_over {
        assert!(call.await.unwrap().unwrap().deducted);
    }
    scrip.close().await;
    // What was sent when its caller left may have been taken.
    let left: i64 = left(&service, &wallets).await.into_iter().sum();
    assert!((1_800..=1_900).contains(&left), "{left}");
}

#[tokio::test]
async fn each_has_the_answer_and_the_error_that_it_has_by_itself() {
    let service = Service::start().await;
    let ann = users(&service, 1, 10).await.remove(0);
    let gathering = secret(&service);
    let single = Scrip::builder(&service.base, service.secret.key());
    let single = single.gather(false).build().unwrap();
    let anonymous = gathering.create_wallet().await.unwrap().code.unwrap();
    let by_code = Wallet::code(anonymous.to_lowercase());
    let credit = Credit::new(&service.product, 10);
    gathering.credit(&by_code, credit).await.unwrap();
    let once = || Deduct::new(1).key("once");
    for (at, scrip) in [gathering, single].iter().enumerate() {
        let note = serde_json::json!({"note": "x".repeat(5_000)});
        let new = Wallet::external(format!("new {at}"));
        let calls = [
            (&ann, once()),
            (&ann, Deduct::new(2).key("once")),
            (&ann, Deduct::new(100)),
            (&ann, Deduct::new(0)),
            (&ann, Deduct::new(1).product("prod_none")),
            (&ann, Deduct::new(1).meta(note)),
            (&new, Deduct::new(5)),
            (
                &by_code,
                Deduct::new(4).product(&service.product).key("code"),
            ),
            (
                &Wallet::code(crate::service::NO_CODE),
                Deduct::new(4).product(&service.product),
            ),
            (&by_code, Deduct::new(4)),
        ];
        let calls = calls.map(|(wallet, deduct)| spawn(scrip, wallet, deduct));
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(match call.await.unwrap() {
                Ok(done) => (200, done.balance.to_string(), None),
                Err(error) => {
                    assert!(error.idempotency_key().is_some());
                    let refusal = error.refusal().unwrap();
                    assert!(refusal.request_id.is_some() && refusal.docs.is_some());
                    (refusal.status, refusal.code.clone(), refusal.param.clone())
                }
            });
        }
        let refused = |status, code: &str, param: Option<&str>| {
            (status, code.to_owned(), param.map(str::to_owned))
        };
        assert_eq!(
            outcomes,
            [
                refused(200, "9", None),
                refused(409, "idempotency_key_reused", None),
                refused(402, "insufficient_credits", None),
                refused(400, "invalid_request", Some("amount")),
                refused(404, "product_not_found", None),
                refused(400, "invalid_request", Some("meta")),
                refused(402, "insufficient_credits", None),
                refused(200, "6", None),
                refused(404, "wallet_not_found", None),
                refused(400, "invalid_request", Some("productId")),
            ],
            "gathered or not: {at}"
        );
    }
}

#[tokio::test]
async fn it_is_left_out_where_it_is_not_wanted_and_once_a_client_was_closed() {
    let service = Service::start().await;
    let wallets = users(&service, 5, 100).await;
    let scrip = secret(&service);
    let calls: Vec<_> = wallets
        .iter()
        .map(|it| spawn(&scrip, it, Deduct::new(1)))
        .collect();
    tokio::task::yield_now().await;
    scrip.close().await;
    for call in calls {
        assert!(call.is_finished());
        assert_eq!(call.await.unwrap().unwrap().balance, 99);
    }
    let drained = Deduct::new(1_000).on_shortfall(OnShortfall::Drain);
    let done = scrip.deduct(&wallets[0], drained).await.unwrap();
    assert_eq!((done.balance, done.charged), (0, Some(99)));
    assert_eq!(
        code(scrip.deduct(&wallets[0], Deduct::new(1)).await),
        "insufficient_credits"
    );
}

#[tokio::test]
async fn holds_draws_settlements_and_grants_go_together_too() {
    let service = Service::start().await;
    let (proxy, scrip) = proxied(&service);
    let wallets: Vec<_> = (0..10)
        .map(|at| Wallet::external(format!("user {at}")))
        .collect();
    let (scrip, of) = (&scrip, |at: usize| &wallets[at % 10]);
    let grants = (0..500).map(async |at| {
        let credit = Credit::new(&service.product, 20).key(format!("g{at}"));
        scrip.credit(of(at), credit).await.unwrap()
    });
    assert_eq!(join_all(grants).await.len(), 500);
    proxy.lose_next_answer();
    let holds = (0..500).map(async |at| scrip.hold(of(at), PlaceHold::new(7)).await.unwrap());
    let holds = join_all(holds).await;
    let ids: BTreeSet<_> = holds.iter().map(|hold| &hold.hold_id).collect();
    assert_eq!(ids.len(), 500);
    let draws = holds
        .iter()
        .map(async |hold| scrip.draw(&hold.hold_id, 2).await.unwrap());
    assert!(
        join_all(draws)
            .await
            .iter()
            .all(|drawn| drawn.deducted && drawn.held == 5)
    );
    let settlements = holds.iter().enumerate().map(async |(at, hold)| {
        let cost = if at < 250 { 5 } else { 0 };
        scrip.settle(&hold.hold_id, cost).await.unwrap()
    });
    proxy.lose_next_answer();
    join_all(settlements).await;
    assert!(proxy.losses() > 0);
    assert_eq!(left(&service, &wallets).await, [50 * 20 - 25 * 5; 10]);
    assert!(proxy.connections() < 20, "{}", proxy.connections());

    let first = &holds[0].hold_id;
    let (settled, drawn, nothing) = tokio::join!(
        scrip.settle(first, 6),
        scrip.draw(first, 1),
        scrip.settle("hold_none", 1)
    );
    assert_eq!(code(settled), "hold_closed");
    assert_eq!(code(drawn), "hold_closed");
    assert_eq!(code(nothing), "hold_not_found");
    scrip.close().await;
}
