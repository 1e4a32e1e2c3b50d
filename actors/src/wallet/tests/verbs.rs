//! Each command's answers when nothing goes wrong.

use domain::{
    Amount, Rejection, Timestamp,
    catalog::KeyKind,
    history::HoldStatus,
    text::Feature,
    wallet::{ProductRef, feature::FeatureAction, hold::PlaceHold, settle::Settle},
};

use super::{PRODUCT, Service, applied, deduct, external, key, replayed, settle};
use crate::{Address, Error, HoldAccess};

#[tokio::test]
async fn credits_are_used_once_per_key() {
    let service = Service::new().await;
    assert_eq!(
        service.deduct("ann", 1, "a").await,
        Err(Rejection::WalletNotFound.into())
    );
    assert_eq!(service.credit("ann", 10).await, Ok(applied(10)));
    assert_eq!(service.credit("ann", 10).await, Ok(replayed(10)));
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(applied(7)));
    assert_eq!(service.deduct("ann", 3, "a").await, Ok(replayed(7)));
    assert_eq!(
        service.deduct("ann", 4, "a").await,
        Err(Rejection::KeyReused.into())
    );
    let short = Rejection::Insufficient {
        product: PRODUCT,
        balance: 7,
        requested: 8,
        shortfall: 1,
    };
    assert_eq!(service.deduct("ann", 8, "b").await, Err(short.into()));
    assert_eq!(
        service.deduct("ann", 7, "b").await,
        Ok(applied(0)),
        "a refusal uses up no key"
    );
    assert_eq!(service.deltas("ann", 2).await, [-7, -3, 10]);
}

#[tokio::test]
async fn one_hot_wallet_never_goes_below_zero() {
    let service = Service::new().await;
    service.credit("hot", 500).await.unwrap();
    let tasks: Vec<_> = (0..1000)
        .map(|n| {
            let (handle, scope) = (service.handle.clone(), service.scope.clone());
            let command = deduct(1, &format!("k{n}"));
            tokio::spawn(async move { handle.deduct(&scope, &external("hot"), command).await })
        })
        .collect();
    let mut taken = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => taken += 1,
            Err(Error::Rejected(Rejection::Insufficient { .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(taken, 500);
    assert_eq!(service.balance("hot").await, Ok(0));
}

#[tokio::test]
async fn a_batch_answers_each_item_in_order() {
    let service = Service::new().await;
    service.credit("ann", 5).await.unwrap();
    service.credit("bob", 1).await.unwrap();
    let items = vec![
        (external("ann"), deduct(2, "1")),
        (external("bob"), deduct(1, "1")),
        (external("ann"), deduct(2, "2")),
        (external("nobody"), deduct(1, "1")),
        (external("ann"), deduct(2, "3")),
        (external("ann"), deduct(2, "1")),
    ];
    let results = service
        .handle
        .deduct_batch(&service.scope, items)
        .await
        .unwrap();
    let short = Rejection::Insufficient {
        product: PRODUCT,
        balance: 1,
        requested: 2,
        shortfall: 1,
    };
    assert_eq!(
        results,
        [
            Ok(applied(3)),
            Ok(applied(0)),
            Ok(applied(1)),
            Err(Rejection::WalletNotFound.into()),
            Err(short.into()),
            Ok(replayed(1)),
        ]
    );
    assert_eq!(service.handle.stats().in_flight, 0);
}

#[tokio::test]
async fn a_large_batch_on_one_wallet_is_applied_whole() {
    let service = Service::new().await;
    service.credit("ann", 10_000).await.unwrap();
    let meta = domain::text::Meta::new(format!("{{\"note\":\"{}\"}}", "x".repeat(500))).unwrap();
    let items = (0..1000).map(|n| {
        let mut command = deduct(1, &format!("k{n}"));
        command.meta = Some(meta.clone());
        (external("ann"), command)
    });
    let results = service
        .handle
        .deduct_batch(&service.scope, items.collect())
        .await
        .unwrap();
    assert!(
        results
            .iter()
            .all(|result| result.as_ref().is_ok_and(|it| it.applied))
    );
    let service = service.restarted().await;
    assert_eq!(service.balance("ann").await, Ok(9000));
    assert_eq!(service.deltas("ann", 100).await.len(), 1001);
}

#[tokio::test]
async fn a_code_opens_its_wallet_until_it_is_rotated() {
    let service = Service::new().await;
    let (code, view) = service.handle.create_code(&service.scope).await.unwrap();
    assert!(view.balances.is_empty() && view.external_user.is_none());
    let address = Address::Code(code.clone());
    assert_eq!(
        service
            .handle
            .read(&service.scope, &address)
            .await
            .unwrap()
            .id,
        view.id
    );

    service.journal.hold_checkpoints();
    let new = service
        .handle
        .rotate(&service.scope, &code, None, KeyKind::Secret)
        .await;
    let new = new.unwrap().code;
    let not_found = Err(Error::Rejected(Rejection::WalletNotFound));
    assert_eq!(
        service.handle.read(&service.scope, &address).await,
        not_found
    );
    let rotated = Address::Code(new.clone());
    assert_eq!(
        service
            .handle
            .read(&service.scope, &rotated)
            .await
            .unwrap()
            .id,
        view.id
    );

    service.journal.release_checkpoints();
    let newer = service
        .handle
        .rotate(&service.scope, &new, None, KeyKind::Secret)
        .await;
    let newer = newer.unwrap().code;
    let service = service.restarted().await;
    assert_eq!(
        service.handle.read(&service.scope, &rotated).await,
        not_found
    );
    let newest = Address::Code(newer);
    assert_eq!(
        service
            .handle
            .read(&service.scope, &newest)
            .await
            .unwrap()
            .id,
        view.id
    );
}

#[tokio::test]
async fn a_rotation_under_a_key_is_answered_again_for_a_day() {
    const HOUR: i64 = 3_600_000;
    let service = Service::new().await;
    let (code, view) = service.handle.create_code(&service.scope).await.unwrap();
    let (one, other) = (key("one"), key("other"));
    let first = service
        .handle
        .rotate(&service.scope, &code, Some(&one), KeyKind::Secret)
        .await;
    let first = first.unwrap();
    assert!(!first.replayed && first.code != code);
    service.clock.advance_millis(HOUR);
    let again = service
        .handle
        .rotate(&service.scope, &code, Some(&one), KeyKind::Secret)
        .await;
    assert_eq!(
        again.map(|it| (it.code, it.replayed)),
        Ok((first.code.clone(), true))
    );

    // The old code without the idempotency key does not give the new code away.
    let not_found = Err(Error::Rejected(Rejection::WalletNotFound));
    for guessed in [None, Some(&other)] {
        let guess = service
            .handle
            .rotate(&service.scope, &code, guessed, KeyKind::Secret)
            .await;
        assert_eq!(guess, not_found);
    }
    let service = service.restarted().await;
    service.clock.advance_millis(24 * HOUR);
    let again = service
        .handle
        .rotate(&service.scope, &code, Some(&one), KeyKind::Secret)
        .await;
    let again = again.unwrap();
    assert_eq!((&again.code, again.replayed), (&first.code, true));
    let address = Address::Code(again.code);
    let read = service.handle.read(&service.scope, &address).await.unwrap();
    assert_eq!(read.id, view.id);

    service.clock.advance_millis(HOUR);
    let late = service
        .handle
        .rotate(&service.scope, &code, Some(&one), KeyKind::Secret)
        .await;
    assert_eq!(late, not_found);
}

#[tokio::test]
async fn a_hold_is_settled_once_and_belongs_to_its_project() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let hold = |id, now: Timestamp| PlaceHold {
        id,
        product: ProductRef::Only(Some(PRODUCT)),
        cost: Amount::new(6).unwrap().into(),
        expires_at: now.plus_seconds(900),
        key: key("h"),
        meta: None,
        publishable: false,
        max_open: 1,
        max_overrun: 0,
        by: domain::limit::Spender::default(),
    };
    let (handle, scope) = (&service.handle, &service.scope);
    let placed = handle
        .place_hold(scope, &external("ann"), hold)
        .await
        .unwrap();
    assert_eq!((placed.balance, placed.replayed), (4, false));
    let again = handle
        .place_hold(scope, &external("ann"), hold)
        .await
        .unwrap();
    assert_eq!((again.hold.id, again.replayed), (placed.hold.id, true));

    let id = placed.hold.id;
    let pk = handle
        .settle(
            scope,
            Settle {
                publishable: true,
                ..settle(id, 1)
            },
        )
        .await;
    assert_eq!(pk, Err(Error::SecretKeyRequired));
    let mut foreign = scope.clone();
    foreign.project = domain::id::ProjectId(2);
    let other = handle.settle(&foreign, settle(id, 1)).await;
    assert_eq!(other, Err(Rejection::HoldNotFound.into()));

    assert_eq!(handle.settle(scope, settle(id, 5)).await, Ok(applied(5)));
    assert_eq!(handle.settle(scope, settle(id, 5)).await, Ok(replayed(5)));
    let closed = handle.release(scope, HoldAccess::All, id).await;
    assert_eq!(closed, Err(Rejection::HoldClosed.into()));
    let facts = handle.hold(scope, HoldAccess::All, id).await.unwrap().hold;
    assert_eq!((facts.status, facts.settled), (HoldStatus::Settled, 5));
}

#[tokio::test]
async fn an_expired_hold_gives_its_credits_back_by_itself() {
    let service = Service::new().await;
    service.credit("ann", 10).await.unwrap();
    let hold = |id, now: Timestamp| PlaceHold {
        id,
        product: ProductRef::Named(PRODUCT),
        cost: Amount::new(6).unwrap().into(),
        expires_at: now.plus_seconds(900),
        key: key("h"),
        meta: None,
        publishable: false,
        max_open: 1,
        max_overrun: 0,
        by: domain::limit::Spender::default(),
    };
    let (handle, scope) = (&service.handle, &service.scope);
    let id = handle
        .place_hold(scope, &external("ann"), hold)
        .await
        .unwrap()
        .hold
        .id;
    service.clock.advance_millis(900_000);
    assert_eq!(service.balance("ann").await, Ok(10));
    let late = handle.settle(scope, settle(id, 1)).await;
    assert_eq!(late, Err(Rejection::HoldClosed.into()));
}

#[tokio::test]
async fn features_are_granted_and_taken_back() {
    let service = Service::new().await;
    let (handle, scope) = (&service.handle, &service.scope);
    let pro = Feature::new("pro").unwrap();
    let ann = external("ann");
    let revoked = handle
        .set_feature(scope, &ann, pro.clone(), FeatureAction::Revoke)
        .await;
    assert_eq!(revoked, Err(Rejection::WalletNotFound.into()));
    let granted = handle
        .set_feature(scope, &ann, pro.clone(), FeatureAction::Grant)
        .await;
    assert_eq!(granted, Ok(vec!["pro".to_owned()]));
    let revoked = handle
        .set_feature(scope, &ann, pro, FeatureAction::Revoke)
        .await;
    assert_eq!(revoked, Ok(vec![]));
}
