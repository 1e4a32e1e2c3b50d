//! Draws, shortfalls and debts of wallets that are forgotten and read again.

use domain::{
    Amount, Rejection, Timestamp,
    id::HoldId,
    wallet::{
        Coverage, ProductRef,
        debt_limit::{DebtLimit, SetDebtLimit},
        deduct::Deduct,
        draw::Draw,
        forgive::Forgive,
        hold::PlaceHold,
        settle::Settle,
        shortfall::OnShortfall,
    },
};

use super::{PRODUCT, Service, deduct, external, key, settle};
use crate::{HoldAccess::All, Scope};

/// The project lets its users owe 50 credits.
fn trusting(service: &Service) -> Scope {
    let limit = DebtLimit {
        product: PRODUCT,
        credits: 50,
    };
    Scope {
        debt_limits: [limit].into(),
        ..service.scope.clone()
    }
}

fn hold(id: HoldId, now: Timestamp) -> PlaceHold {
    PlaceHold {
        id,
        product: ProductRef::Named(PRODUCT),
        cost: Amount::new(60).unwrap().into(),
        expires_at: now.plus_seconds(900),
        key: key("h"),
        meta: None,
        publishable: false,
        max_open: 1,
        max_overrun: 20,
        by: domain::limit::Spender::default(),
    }
}

fn draw(hold: HoldId, amount: i64) -> Draw {
    Draw {
        hold,
        cost: Amount::new(amount).unwrap().into(),
        key: key("d"),
        meta: None,
    }
}

fn owing(amount: i64, k: &str) -> Deduct {
    Deduct {
        on_shortfall: OnShortfall::Owe,
        ..deduct(amount, k)
    }
}

#[tokio::test]
async fn draws_debts_and_their_keys_outlive_the_process() {
    let mut service = Service::new().await;
    service.credit("ann", 100).await.unwrap();
    let (ann, scope) = (external("ann"), trusting(&service));
    let placed = service.handle.place_hold(&scope, &ann, hold).await.unwrap();
    let id = placed.hold.id;
    let drawn = service
        .handle
        .draw(&scope, All, draw(id, 25))
        .await
        .unwrap();
    assert_eq!(
        (drawn.balance, drawn.hold.drawn, drawn.hold.left()),
        (40, 25, 35)
    );
    let met = service
        .handle
        .deduct(&scope, &ann, owing(100, "o"))
        .await
        .unwrap();
    let coverage = Some(Coverage {
        charged: 40,
        owed: 30,
        uncovered: 30,
    });
    assert_eq!(
        (met.coverage, met.balance),
        (coverage, 0),
        "20 are the hold's"
    );

    for _ in 0..2 {
        service = service.restarted().await;
        let handle = &service.handle;
        let again = handle.draw(&scope, All, draw(id, 25)).await.unwrap();
        assert!(again.replayed && again.hold.drawn == 25);
        let other = handle.draw(&scope, All, draw(id, 24)).await;
        assert_eq!(other, Err(Rejection::KeyReused.into()));
        let again = handle.deduct(&scope, &ann, owing(100, "o")).await.unwrap();
        assert!(again.replayed && again.coverage == coverage);
    }
    let whole = Settle {
        on_shortfall: OnShortfall::Owe,
        ..settle(id, 90)
    };
    let met = service.handle.settle(&scope, whole.clone()).await.unwrap();
    let coverage = Some(Coverage {
        charged: 60,
        owed: 20,
        uncovered: 10,
    });
    assert_eq!((met.coverage, met.applied), (coverage, true));
    service = service.restarted().await;
    let again = service.handle.settle(&scope, whole.clone()).await.unwrap();
    assert_eq!((again.coverage, again.replayed), (coverage, true));
    let view = service.handle.read(&scope, &ann).await.unwrap();
    let balance = view.balances.first().unwrap();
    assert_eq!((balance.balance, balance.held, balance.owed), (0, 0, 50));
}

#[tokio::test]
async fn a_settlement_after_the_end_and_what_was_forgiven_are_known_after_a_restart() {
    let mut service = Service::new().await;
    service.credit("ann", 100).await.unwrap();
    let (ann, scope) = (external("ann"), trusting(&service));
    let id = service
        .handle
        .place_hold(&scope, &ann, hold)
        .await
        .unwrap()
        .hold
        .id;
    service
        .handle
        .draw(&scope, All, draw(id, 25))
        .await
        .unwrap();
    service.clock.advance_millis(86_400_000);
    let refused = service.handle.settle(&scope, settle(id, 90)).await;
    assert_eq!(refused, Err(Rejection::HoldClosed.into()));
    let late = Settle {
        on_shortfall: OnShortfall::Owe,
        ..settle(id, 120)
    };
    let met = service.handle.settle(&scope, late.clone()).await.unwrap();
    let coverage = Some(Coverage {
        charged: 100,
        owed: 20,
        uncovered: 0,
    });
    assert_eq!(
        (met.coverage, met.late, met.applied),
        (coverage, true, true)
    );
    let forgive = Forgive {
        product: PRODUCT,
        amount: None,
        key: key("f"),
        meta: None,
    };
    let done = service
        .handle
        .forgive(&scope, &ann, forgive.clone())
        .await
        .unwrap();
    assert_eq!((done.amount, done.applied, done.debt.owed), (20, true, 0));
    service = service.restarted().await;
    let again = service.handle.settle(&scope, late.clone()).await.unwrap();
    assert_eq!(
        (again.coverage, again.late, again.replayed),
        (coverage, true, true)
    );
    let again = service.handle.forgive(&scope, &ann, forgive).await.unwrap();
    assert_eq!(
        (again.amount, again.applied, again.replayed),
        (20, false, true)
    );
}

#[tokio::test]
async fn a_limit_makes_the_wallet_that_it_is_for() {
    let service = Service::new().await;
    let (new, scope) = (external("new"), trusting(&service));
    let limit = |limit| SetDebtLimit {
        product: PRODUCT,
        limit,
    };
    let none = service.handle.limit_debt(&scope, &new, limit(None)).await;
    assert_eq!(none, Err(Rejection::WalletNotFound.into()));
    let set = service
        .handle
        .limit_debt(&scope, &new, limit(Some(7)))
        .await
        .unwrap();
    assert_eq!((set.limit, set.available, set.owed), (7, 7, 0));
    let service = service.restarted().await;
    let met = service
        .handle
        .deduct(&scope, &new, owing(10, "o"))
        .await
        .unwrap();
    assert_eq!(met.coverage.map(|it| (it.owed, it.uncovered)), Some((7, 3)));
    let own = service
        .handle
        .limit_debt(&scope, &new, limit(None))
        .await
        .unwrap();
    assert_eq!((own.limit, own.available, own.owed), (50, 43, 7));
}
