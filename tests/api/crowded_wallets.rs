//! Wallets with many holds or orders answer like others.

use actors::Address;
use domain::{
    id::OrderId,
    terms::Terms,
    text::{CheckoutId, ExternalUserId},
    wallet::{
        OrderKind,
        pay::{Pay, Payment},
        place_order::PlaceOrder,
    },
};
use persistence::Books as _;
use serde_json::{Value, json};

use crate::{
    service::{Service, assert_refused},
    stripe_shop::StripeShop,
};

const HOLDS: &str = "/api/v1/wallets/external/holds";

#[tokio::test]
async fn holds_that_end_together_give_their_credits_back_while_others_are_answered() {
    const OPEN: usize = 1000;
    let service = Service::start().await;
    service.grant("u", 2000).await;
    service.grant("v", 5).await;
    let hold =
        |n: usize| json!({ "externalUserId": "u", "amount": 1, "idempotencyKey": format!("{n}") });
    let mut first = Value::Null;
    for n in 0..OPEN {
        let placed = service.secret.post(HOLDS, &hold(n)).await.expect(200);
        if n == 0 {
            first = placed;
        }
    }
    let refused = service.secret.post(HOLDS, &hold(OPEN)).await;
    assert_refused(&refused, 409, "too_many_holds");
    assert_eq!(service.balance("u").await, 1000);

    service.clock.advance_millis(900_000);
    let (all, other, alive) = tokio::join!(
        service.balance("u"),
        service.balance("v"),
        service.anonymous(reqwest::Method::GET, "/healthz"),
    );
    assert_eq!((all, other), (json!(2000), json!(5)));
    assert_eq!(alive.status, 200);
    let settle = format!("/api/v1/holds/{}/settle", first["holdId"].as_str().unwrap());
    let late = service.secret.post(&settle, &json!({ "amount": 1 })).await;
    assert_refused(&late, 409, "hold_closed");
    service.secret.post(HOLDS, &hold(OPEN)).await.expect(200);
}

/// Number of orders that a wallet has had.
const ORDERS: usize = 5000;

/// Makes a user buy that often, without the provider, and spend all credits.
async fn buy_for_years(shop: &StripeShop, name: &str) {
    let service = &shop.service;
    let project = service.catalog.project(service.project.id).unwrap();
    let terms = Terms::from(project.any_price(&shop.price.parse().unwrap()).unwrap());
    let user = ExternalUserId::new(name).unwrap();
    let address = Address::External(user.clone());
    let (handle, scope) = (&service.handle, &project.scope);
    for n in 0..ORDERS {
        let draft = handle
            .draft_order(scope, Some(&address), &terms, domain::Quantity::ONE)
            .await;
        let (order, _) = draft.unwrap();
        let place = PlaceOrder {
            order: order.serial,
            terms: terms.clone(),
            checkout: CheckoutId::new(format!("cs_before_{n}")).ok(),
            email: None,
            quantity: domain::Quantity::ONE,
            metadata: domain::metadata::Metadata::default(),
            locale: None,
            names_code: false,
        };
        let placed = handle.place_order(scope, order, Some(&address), place);
        placed.await.unwrap();
        let paid = Pay {
            order: order.serial,
            kind: OrderKind::Checkout,
            code: handle.mint_code(scope),
            missing_order: None,
            payment: Payment {
                amount_cents: 500,
                payment: None,
                invoice: None,
                customer: None,
                email: None,
                receipt: domain::wallet::Receipt::default(),
            },
            billing: None,
        };
        let paid = handle.pay(scope, order.wallet, Some(user.clone()), paid);
        assert_eq!(paid.await, Ok(true));
    }
    let all = 100 * i64::try_from(ORDERS).unwrap();
    assert_eq!(service.balance(name).await, all);
    let body = json!({ "externalUserId": name, "amount": all, "idempotencyKey": "all of it" });
    let deduct = "/api/v1/wallets/external/deduct";
    service.secret.post(deduct, &body).await.expect(200);
}

/// The responses to a user who buys once and spends some of it; without names and instants.
async fn buy_once(shop: &StripeShop, name: &str) -> Vec<Value> {
    let checkout = shop.open_checkout(name).await;
    let pending = shop.order(&checkout["orderId"]).await;
    shop.pay(&checkout).await;
    let paid = shop.order(&checkout["checkoutId"]).await;
    let body = json!({ "externalUserId": name, "amount": 30, "idempotencyKey": "some of it" });
    let deduct = "/api/v1/wallets/external/deduct";
    let deducted = shop.service.secret.post(deduct, &body).await.expect(200);
    let list = shop.service.secret.get("/api/v1/orders?limit=1").await;
    let list = list.expect(200);
    assert_eq!(list["orders"][0]["id"], checkout["orderId"], "the newest");
    let mut answers = vec![pending, paid, list["orders"][0].clone()];
    for order in &mut answers {
        for field in ["id", "checkoutId", "walletId", "externalUserId"] {
            assert!(order[field].is_string(), "{order}");
            order[field] = Value::Null;
        }
        order["receiptUrl"] = Value::Null;
        if !order["payment"].is_null() {
            for field in ["paymentId", "customerId"] {
                order["payment"][field] = Value::Null;
            }
        }
    }
    let mut wallet = shop.wallet(name).await;
    for field in ["walletId", "externalUserId"] {
        wallet[field] = Value::Null;
    }
    answers.extend([deducted, wallet]);
    answers
}

#[tokio::test]
async fn a_wallet_that_has_bought_for_years_is_answered_as_a_new_one_and_is_as_small() {
    let shop = StripeShop::open().await;
    buy_for_years(&shop, "old").await;
    let old = buy_once(&shop, "old").await;
    assert_eq!(old, buy_once(&shop, "new").await);

    shop.service.handle.fold_all().await.unwrap();
    let list = shop.service.secret.get("/api/v1/orders?limit=2").await;
    let list = list.expect(200);
    let sizes = [&list["orders"][0], &list["orders"][1]].map(|order| {
        let id: OrderId = order["id"].as_str().unwrap().parse().unwrap();
        let stored = shop.service.journal.load(&id.wallet).unwrap().unwrap();
        assert_eq!(stored.wallet.order(id.serial), None);
        format!("{:?}", stored.wallet).len()
    });
    // Numbers may have a few digits more.
    assert!(sizes[1] <= sizes[0] + 64, "{sizes:?}");
}
