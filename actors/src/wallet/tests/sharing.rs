//! A wallet with much to do does not keep others waiting.

use domain::{
    Amount, Timestamp,
    catalog::KeyKind,
    id::HoldId,
    wallet::{ProductRef, credit::Credit, hold::PlaceHold},
};
use futures_util::FutureExt as _;

use super::{PRODUCT, Service, applied, deduct, external, front::Front, key, settle};

use crate::{
    Address,
    registry::{Absent, Sweep},
};

const HOLDS: usize = 1500;

/// A hold of one credit for a quarter of an hour.
fn hold(n: usize, publishable: bool) -> impl FnOnce(HoldId, Timestamp) -> PlaceHold {
    move |id, now| PlaceHold {
        id,
        product: ProductRef::Named(PRODUCT),
        cost: Amount::new(1).unwrap().into(),
        expires_at: now.plus_seconds(900),
        key: key(&format!("h{n}")),
        meta: None,
        publishable,
        max_open: HOLDS + 1,
        max_overrun: 0,
        by: domain::limit::Spender::default(),
    }
}

/// A wallet of 2,000 credits, and holds of one credit each that all end at this instant.
async fn behind() -> Service {
    let service = Service::new().await;
    let ann = external("ann");
    service.credit("ann", 2000).await.unwrap();
    for n in 0..HOLDS {
        let hold = hold(n, false);
        let placed = service.handle.place_hold(&service.scope, &ann, hold);
        placed.await.unwrap();
    }
    service.clock.advance_millis(900_000);
    service
}

#[tokio::test]
async fn holds_that_end_together_hold_up_neither_others_nor_the_runtime() {
    let service = behind().await;
    service.credit("bob", 10).await.unwrap();
    let mut read = Box::pin(service.balance("ann"));
    let mut between = 0;
    let balance = loop {
        if let Some(balance) = read.as_mut().now_or_never() {
            break balance;
        }
        // The only thread there is.
        assert_eq!(service.balance("bob").await, Ok(10));
        between += 1;
        tokio::task::yield_now().await;
    };
    assert_eq!(balance, Ok(2000), "nobody sees a hold that is over");
    assert!(
        between >= HOLDS / 256,
        "others had {between} turns in between"
    );
}

#[tokio::test]
async fn a_rotation_releases_what_publishable_keys_hold_a_part_at_a_time() {
    let service = Service::new().await;
    let (handle, scope) = (&service.handle, &service.scope);
    service.credit("bob", 10).await.unwrap();
    let (code, _) = handle.create_code(scope).await.unwrap();
    let old = Address::Code(code.clone());
    let credit = Credit {
        product: PRODUCT,
        amount: Amount::new(2000).unwrap(),
        expires_at: None,
        key: key("start"),
        meta: None,
    };
    handle.credit(scope, &old, credit).await.unwrap();
    let servers = handle.place_hold(scope, &old, hold(HOLDS, false)).await;
    for n in 0..HOLDS {
        let placed = handle.place_hold(scope, &old, hold(n, true));
        placed.await.unwrap();
    }
    let mut rotate = Box::pin(handle.rotate(scope, &code, None, KeyKind::Secret));
    let mut between = 0;
    let rotated = loop {
        if let Some(rotated) = rotate.as_mut().now_or_never() {
            break rotated.unwrap();
        }
        assert_eq!(service.balance("bob").await, Ok(10));
        between += 1;
        tokio::task::yield_now().await;
    };
    assert!(
        between >= HOLDS / 256,
        "others had {between} turns in between"
    );
    let new = Address::Code(rotated.code);
    let view = handle.read(scope, &new).await.unwrap();
    let left = view.balances.first().map(|it| (it.balance, it.held));
    assert_eq!(left, Some((1999, 1)), "what a server holds stays");
    let id = servers.unwrap().hold.id;
    let settled = handle.settle(scope, settle(id, 1)).await;
    assert_eq!(settled, Ok(applied(1999)));

    drop(rotate);
    let service = service.restarted().await;
    let view = service.handle.read(&service.scope, &new).await.unwrap();
    let left = view.balances.first().map(|it| (it.balance, it.held));
    assert_eq!(left, Some((1999, 0)));
}

#[tokio::test]
async fn every_caller_finds_a_wallet_up_to_date() {
    let service = behind().await;
    let items = vec![
        (external("ann"), deduct(1990, "a")),
        (external("ann"), deduct(1, "b")),
    ];
    let batch = service.handle.deduct_batch(&service.scope, items);
    let (batch, single) = tokio::join!(batch, service.deduct("ann", 1, "c"));
    let mut balances: Vec<_> = batch.unwrap().into_iter().chain([single]).collect();
    assert!(
        balances
            .iter()
            .all(|answer| answer.as_ref().unwrap().applied),
        "{balances:?}"
    );
    balances.sort_by_key(|answer| answer.as_ref().unwrap().balance);
    assert_eq!(balances.first(), Some(&Ok(applied(8))));
}

#[tokio::test]
async fn a_wallet_remembers_no_more_however_long_its_batches_go_on() {
    let service = Service::new().await;
    service.credit("ann", 1_000_000).await.unwrap();
    for batch in 0..4 {
        let items = (0..1000).map(|n| (external("ann"), deduct(1, &format!("{batch}-{n}"))));
        let items = items.collect();
        let answers = service
            .handle
            .deduct_batch(&service.scope, items)
            .await
            .unwrap();
        assert!(answers.iter().all(Result::is_ok));
        service.handle.fold_all().await.unwrap();
    }
    let registry = &service.handle.inner.registry;
    let (key, _) = service
        .handle
        .target_of(&service.scope, &external("ann"))
        .unwrap();
    let pass = registry.pass(1).unwrap();
    let permit = registry.reach(key, Absent::Leave, pass).await;
    let permit = permit.unwrap().unwrap();
    let kept = permit.awake.executor.busy().recent.len();
    assert!(kept <= 2000, "{kept} folded records are kept");
}

#[tokio::test]
async fn a_disk_that_takes_its_time_holds_up_only_those_who_wait_for_it() {
    let front = Front::new();
    let service = front.service().await;
    service.credit("ann", 20).await.unwrap();
    service.handle.fold_all().await.unwrap();
    assert_eq!(service.handle.inner.registry.sweep(Sweep::All), 1);
    service.credit("bob", 10).await.unwrap();
    front.read_nothing(true);
    let keys: Vec<_> = (0..20).map(|n| format!("{n}")).collect();
    let calls = keys.iter().map(|k| Box::pin(service.deduct("ann", 1, k)));
    let mut sleeping: Vec<_> = calls.collect();
    for _ in 0..100 {
        for call in &mut sleeping {
            assert!(call.as_mut().now_or_never().is_none());
        }
        // The only thread there is.
        assert_eq!(service.balance("bob").await, Ok(10));
        tokio::task::yield_now().await;
    }
    front.read_nothing(false);
    for call in sleeping {
        assert!(call.await.unwrap().applied);
    }
    assert_eq!(service.balance("ann").await, Ok(0));
}
