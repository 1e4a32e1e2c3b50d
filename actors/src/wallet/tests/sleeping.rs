//! Wallets are loaded and evicted without any visible effect.

use domain::wallet::OrderStatus::{Expired, Paid, Pending};
use persistence::{OrderFilter, WalletOrder};

use super::{
    Service, applied, deduct, external,
    orders::{paid, placed},
    replayed,
};
use crate::{Options, registry::Sweep};

#[tokio::test]
async fn an_idle_wallet_sleeps_and_wakes_as_it_was() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.deduct("ann", 3, "a").await.unwrap();
    assert_eq!(service.handle.stats().awake, 1);
    assert_eq!(service.handle.inner.registry.sweep(Sweep::All), 1);
    assert_eq!(service.handle.stats().awake, 0);
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(replayed(7)));
    assert_eq!(service.deduct("ann", 3, "b").await, Ok(applied(4)));
    assert_eq!(service.deltas("ann", 25).await, [-3, -3, 10]);
}

#[tokio::test]
async fn only_the_idle_ones_are_put_to_sleep() {
    let service = Service::with(Options {
        idle_sweeps: 2,
        ..Options::default()
    })
    .await;
    service.credit("ann", 1).await.unwrap();
    service.credit("bob", 1).await.unwrap();
    let registry = &service.handle.inner.registry;
    for _ in 0..2 {
        assert_eq!(registry.sweep(Sweep::Idle), 0);
        service.balance("bob").await.unwrap();
    }
    assert_eq!(registry.sweep(Sweep::Idle), 1);
    assert_eq!(service.handle.stats().awake, 1);
}

#[tokio::test]
async fn a_wallet_stays_awake_until_its_last_event_is_folded() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    service.journal.hold_checkpoints();
    service.deduct("ann", 3, "a").await.unwrap();
    let registry = &service.handle.inner.registry;
    assert_eq!(registry.sweep(Sweep::All), 0);
    service.journal.release_checkpoints();
    assert_eq!(registry.sweep(Sweep::All), 1);
    assert_eq!(service.balance("ann").await, Ok(7));
}

#[tokio::test]
async fn more_wallets_than_room_take_turns() {
    let service = Service::with(Options {
        max_awake: 4,
        ..Options::default()
    })
    .await;
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let (handle, scope) = (service.handle.clone(), service.scope.clone());
            tokio::spawn(async move {
                handle
                    .open_external(&scope, super::ExternalUserId::new(format!("u{n}")).unwrap())
                    .await
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert!(service.handle.stats().awake <= 4);
}

#[tokio::test]
async fn batches_over_more_wallets_than_room_do_not_wait_for_each_other() {
    let service = Service::with(Options {
        max_awake: 4,
        ..Options::default()
    })
    .await;
    let user = |n: usize| format!("u{n}");
    for n in 0..20 {
        service.credit(&user(n), 10).await.unwrap();
    }
    let items = |key: &str| {
        (0..20)
            .map(|n| (external(&user(n)), deduct(1, key)))
            .collect()
    };
    let batch = |key| service.handle.deduct_batch(&service.scope, items(key));
    let (one, other, third) = tokio::join!(batch("a"), batch("b"), batch("c"));
    for results in [one, other, third] {
        assert!(results.unwrap().iter().all(Result::is_ok));
    }
    assert_eq!(service.balance("u19").await, Ok(7));
    assert_eq!(service.handle.stats().in_flight, 0);
}

#[tokio::test]
async fn a_missing_wallet_wakes_no_actor() {
    let service = Service::new().await;
    service.balance("nobody").await.unwrap_err();
    service.deduct("nobody", 1, "a").await.unwrap_err();
    assert_eq!(service.handle.stats().awake, 0);
    assert_eq!(service.handle.stats().in_flight, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sleeping_and_waking_under_load_loses_nothing() {
    let service = Service::new().await;
    for n in 0..4 {
        service.credit(&format!("u{n}"), 1_000_000).await.unwrap();
    }
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let (handle, scope) = (service.handle.clone(), service.scope.clone());
            tokio::spawn(async move {
                for n in 0..500 {
                    let user = external(&format!("u{}", n % 4));
                    let command = deduct(1, &format!("{caller}-{n}"));
                    assert!(handle.deduct(&scope, &user, command).await.unwrap().applied);
                }
            })
        })
        .collect();
    let mut swept = 0;
    while callers.iter().any(|caller| !caller.is_finished()) {
        swept += service.handle.inner.registry.sweep(Sweep::All);
        tokio::task::yield_now().await;
    }
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(swept > 0, "no wallet ever slept");
    for n in 0..4 {
        assert_eq!(
            service.balance(&format!("u{n}")).await,
            Ok(1_000_000 - 1000)
        );
        assert_eq!(service.deltas(&format!("u{n}"), 100).await.len(), 1001);
    }
}

#[tokio::test]
async fn lists_wake_nobody_and_show_what_became_due_in_sleep() {
    let service = Service::new().await;
    let (handle, scope) = (&service.handle, &service.scope);
    let mut orders = Vec::new();
    for number in 0..30 {
        let order = placed(&service).await;
        if number % 2 == 0 {
            let pay = handle.pay(scope, order.wallet, None, paid(&service, order));
            assert_eq!(pay.await, Ok(true));
        }
        orders.push(order);
    }
    let list = async || {
        let page = handle.orders(scope, OrderFilter::default(), None, 30).await;
        page.unwrap().orders
    };
    let statuses = async || {
        let listed = list().await;
        let of = |status| {
            let listed = listed.iter();
            listed.filter(|it| it.order.status() == status).count()
        };
        [of(Pending), of(Paid), of(Expired)]
    };
    assert_eq!(statuses().await, [15, 15, 0]);
    let awake = list().await;
    assert_eq!(service.handle.inner.registry.sweep(Sweep::All), 30);
    assert_eq!(list().await, awake);
    let wallets = handle.wallets(scope, WalletOrder::LastUsed, None, 30).await;
    assert_eq!(wallets.unwrap().wallets.len(), 15, "those with an owner");
    let found = handle.search(scope, None, &orders[0].to_string(), 10).await;
    let found = found.unwrap();
    assert_eq!((found.orders.len(), found.wallets.len()), (1, 1));
    // Expired orders are archived when their wallets are used again.
    service.clock.advance_millis(25 * 3600 * 1000);
    assert_eq!(statuses().await, [0, 15, 15]);
    let asleep = list().await;
    assert_eq!(handle.stats().awake, 0);
    for order in &orders {
        handle.order(scope, *order).await.unwrap();
    }
    assert_eq!(handle.stats().awake, 30);
    assert_eq!(list().await, asleep);
}
