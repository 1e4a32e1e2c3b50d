//! Orders that make wallets.

use domain::{
    Rejection,
    catalog::Interval,
    id::{OrderId, PriceId},
    terms::Terms,
    wallet::{pay::Payment, place_order::PlaceOrder},
};
use futures_util::FutureExt as _;

use super::{House, PRODUCT};
use crate::{Address, Paid};

fn terms() -> Terms {
    Terms {
        price: PriceId(1),
        product: PRODUCT,
        fills: PRODUCT,
        credits: 100,
        expire_after_days: None,
        rollover: false,
        trial_days: None,
        trial_credits: 0,
        features: [].into(),
        interval: Interval::OneTime,
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
    }
}

/// An order that fills a wallet of its own.
async fn placed(house: &House) -> OrderId {
    let (handle, scope) = (&house.handle, &house.scope);
    let draft = handle
        .draft_order(scope, None, &terms(), domain::Quantity::ONE)
        .await
        .unwrap();
    let place = PlaceOrder {
        order: draft.order.serial,
        terms: terms(),
        checkout: None,
        email: None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
    };
    let placed = handle.place_order(scope, draft.order, None, place);
    placed.await.unwrap();
    draft.order
}

fn paid() -> Paid {
    Paid {
        placed: None,
        payment: Payment {
            amount_cents: 500,
            payment: None,
            invoice: None,
            customer: None,
            email: None,
            receipt: domain::wallet::Receipt::default(),
        },
        billing: None,
    }
}

#[tokio::test]
async fn a_minted_code_opens_its_wallet_as_soon_as_the_order_shows_it() {
    let house = House::new().await;
    let order = placed(&house).await;
    house.journal.hold_folds();
    house.journal.hold();
    let (handle, scope) = (&house.handle, &house.scope);
    let mut pay = Box::pin(handle.pay(scope, order, None, paid()));
    assert!(pay.as_mut().now_or_never().is_none());
    let mut read = Box::pin(handle.order(scope, order));
    assert!(read.as_mut().now_or_never().is_none());
    house.journal.release();
    // Whoever reported the payment has not been heard yet.
    let code = read.await.unwrap().code.unwrap();
    let view = handle.read(scope, &Address::Code(code)).await.unwrap();
    assert_eq!(view.balances.first().map(|it| it.balance), Some(100));
    assert_eq!(pay.await, Ok(true));
}

#[tokio::test]
async fn an_order_under_a_code_that_was_replaced_meanwhile_is_not_placed() {
    let house = House::new().await;
    let (handle, scope) = (&house.handle, &house.scope);
    let (code, _) = handle.create_code(scope).await.unwrap();
    let old = Address::Code(code.clone());
    let place = |order: OrderId| PlaceOrder {
        order: order.serial,
        terms: terms(),
        checkout: None,
        email: None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
    };
    let wanted = terms();
    let draft = || handle.draft_order(scope, Some(&old), &wanted, domain::Quantity::ONE);
    let (first, second) = (draft().await.unwrap().order, draft().await.unwrap().order);
    let placed = handle.place_order(scope, first, Some(&old), place(first));
    placed.await.unwrap();
    let shown = handle.order(scope, first).await.unwrap();
    assert_eq!(
        (shown.code.as_ref(), shown.code_of_the_order),
        (Some(&code), true)
    );

    // The buyer is at the provider's meanwhile.
    let new = handle.rotate(scope, &code, None).await.unwrap().code;
    let late = handle.place_order(scope, second, Some(&old), place(second));
    assert_eq!(late.await, Err(Rejection::WalletNotFound.into()));
    let unknown = handle.order(scope, second).await;
    assert_eq!(unknown, Err(Rejection::OrderNotFound.into()));
    let shown = handle.order(scope, first).await.unwrap();
    assert_eq!(
        (shown.code.as_ref(), shown.code_of_the_order),
        (Some(&new), false)
    );
}
