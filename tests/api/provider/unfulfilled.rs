//! Unfulfilled payments: each is listed until a person decides, once.

use domain::id::{OrderId, OrderSerial, PriceId, WalletKey};
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{ADMIN_TOKEN, assert_invalid, assert_refused},
    stripe::Override,
    stripe_shop::StripeShop,
};

impl StripeShop {
    pub(crate) fn admin(&self) -> Client {
        Client::new(&self.service.base, ADMIN_TOKEN)
    }

    /// A path of the project in the admin API.
    pub(crate) fn administered(&self, path: &str) -> String {
        format!("/api/admin/v1/projects/{}/{path}", self.service.project.id)
    }

    pub(crate) async fn unfulfilled(&self) -> Vec<Value> {
        let listed = self
            .admin()
            .get(&self.administered("unfulfilled-payments"))
            .await;
        listed.expect(200)["payments"].as_array().unwrap().clone()
    }

    pub(crate) async fn decide(&self, payment: &str, what: &str, body: &Value) -> Reply {
        let path = self.administered(&format!("unfulfilled-payments/{payment}/{what}"));
        self.admin().post(&path, body).await
    }

    /// Metadata of an order that a restored backup does not have, and of its price.
    pub(crate) fn lost(&self) -> Value {
        let order = OrderId {
            serial: OrderSerial(7),
            wallet: WalletKey([9; 16]),
        };
        json!({
            "scrip_project_id": self.service.project.id.to_string(),
            "scrip_order_id": order.to_string(),
            "scrip_price_id": PriceId(42).to_string(),
        })
    }

    /// Reports a paid session of 9.00 EUR for such an order.
    pub(crate) async fn pays_unknown_order(&self, number: u32) -> Value {
        let (session, payment) = (format!("cs_test_lost{number}"), format!("pi_lost{number}"));
        let marks = self.lost();
        self.stripe.charged(&payment, &marks, 900, 0);
        let object = json!({
            "id": session, "object": "checkout.session", "status": "complete",
            "payment_status": "paid", "mode": "payment", "currency": "eur", "amount_total": 900,
            "payment_intent": payment, "customer": "cus_1", "metadata": marks,
            "customer_details": {"email": "ann@mail.example"},
        });
        self.stripe
            .put(&format!("/v1/checkout/sessions/{session}"), object.clone());
        self.report("checkout.session.completed", &object)
            .await
            .expect(200);
        object
    }
}

#[tokio::test]
async fn what_is_paid_at_an_unknown_price_waits_and_becomes_an_order_once() {
    let shop = StripeShop::open().await;
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
    let session = shop.pays_unknown_order(1).await;
    let listed = shop.unfulfilled().await;
    let [kept] = &*listed else {
        panic!("one waits: {listed:?}")
    };
    for (name, value) in [
        ("id", json!("pi_lost1")),
        ("paymentId", json!("pi_lost1")),
        ("customerId", json!("cus_1")),
        ("customerEmail", json!("ann@mail.example")),
        ("amountCents", json!(900)),
        ("currency", json!("EUR")),
        ("reason", json!("unknown_price")),
        ("subscriptionId", Value::Null),
    ] {
        assert_eq!(kept[name], value, "{name}");
    }
    let ready = shop.service.secret.get("/readyz").await.expect(200);
    assert_eq!(ready["unfulfilledPayments"], 1);

    // It is reported again, also after a restart.
    shop.report("checkout.session.completed", &session)
        .await
        .expect(200);
    let shop = shop.again().await;
    assert_eq!(shop.unfulfilled().await, listed);

    let to = json!({"priceId": shop.price, "externalUserId": "ann"});
    let order = shop.decide("pi_lost1", "assign", &to).await.expect(200);
    assert_eq!(
        (&order["status"], &order["amountCents"]),
        (&json!("paid"), &json!(900))
    );
    assert_eq!(order["payment"]["paymentId"], "pi_lost1");
    assert_eq!(shop.wallet("ann").await["balances"][0]["balance"], 100);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
    // The decision is repeated; the payment is reported again.
    let again = shop.decide("pi_lost1", "assign", &to).await.expect(200);
    assert_eq!(again["id"], order["id"]);
    shop.report("checkout.session.completed", &session)
        .await
        .expect(200);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
    assert_eq!(shop.wallet("ann").await["balances"][0]["balance"], 100);

    // A refund finds its order by the payment, not by its metadata.
    let charge = shop.stripe.set(
        "/v1/charges/ch_of_pi_lost1",
        json!({"amount_refunded": 900, "refunded": true}),
    );
    shop.service.clock.advance_millis(1000);
    shop.report("charge.refunded", &charge).await.expect(200);
    assert_eq!(shop.order(&order["id"]).await["status"], "refunded");
    let ready = shop.service.secret.get("/readyz").await.expect(200);
    assert_eq!(ready, json!({"status": "ok"}));
}

/// A payment was duplicated in the provider's dashboard, or a template copies its metadata.
#[tokio::test]
async fn a_second_payment_with_the_marks_of_a_paid_order_waits_and_credits_nothing() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let session = shop.pay(&checkout).await;
    let marks = &session["metadata"];
    shop.stripe.charged("pi_copy", marks, 900, 0);
    let mut copy = session.clone();
    copy["id"] = json!("cs_test_copy");
    copy["payment_intent"] = json!("pi_copy");
    shop.stripe
        .put("/v1/checkout/sessions/cs_test_copy", copy.clone());
    shop.report("checkout.session.completed", &copy)
        .await
        .expect(200);
    assert_eq!(shop.wallet("ann").await["balances"][0]["balance"], 100);
    let waiting = shop.unfulfilled().await;
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(waiting[0]["paymentId"], "pi_copy");
    // A refund of the copy takes nothing from the order.
    let charge = shop.stripe.set(
        "/v1/charges/ch_of_pi_copy",
        json!({"amount_refunded": 900, "refunded": true}),
    );
    shop.report("charge.refunded", &charge).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
    assert_eq!(shop.wallet("ann").await["balances"][0]["balance"], 100);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
}

#[tokio::test]
async fn what_waits_is_refunded_once_or_dismissed_with_a_note() {
    let shop = StripeShop::open().await;
    for number in 1..=3 {
        shop.pays_unknown_order(number).await;
    }
    let decision = shop
        .decide("pi_lost1", "refund", &json!({}))
        .await
        .expect(200);
    assert_eq!(decision["id"], "pi_lost1");
    shop.decide("pi_lost1", "refund", &json!({}))
        .await
        .expect(200);
    assert_eq!(
        shop.stripe
            .calls("/v1/refunds")
            .iter()
            .filter(|call| call.method == "POST")
            .count(),
        1
    );
    let no = shop.decide("pi_lost2", "dismiss", &json!({})).await;
    assert_invalid(&no, "note");
    let why = json!({"note": "Handled by hand"});
    shop.decide("pi_lost2", "dismiss", &why).await.expect(200);
    shop.decide("pi_lost2", "dismiss", &why).await.expect(200);
    let ids: Vec<_> = shop
        .unfulfilled()
        .await
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(ids, ["pi_lost3"]);
    // A decision is final.
    let to = json!({"priceId": shop.price});
    assert_refused(
        &shop.decide("pi_lost1", "assign", &to).await,
        409,
        "payment_already_resolved",
    );
    assert_refused(
        &shop.decide("pi_lost1", "dismiss", &why).await,
        409,
        "payment_already_resolved",
    );
    assert_refused(
        &shop.decide("pi_lost9", "refund", &json!({})).await,
        404,
        "payment_not_found",
    );
    let shop = shop.again().await;
    for number in [1, 2] {
        let session = format!("/v1/checkout/sessions/cs_test_lost{number}");
        let session = shop.stripe.set(&session, json!({}));
        shop.report("checkout.session.completed", &session)
            .await
            .expect(200);
    }
    assert_eq!(shop.unfulfilled().await.len(), 1);
}

#[tokio::test]
async fn an_assignment_names_a_price_and_one_wallet_at_the_most() {
    let shop = StripeShop::open().await;
    shop.pays_unknown_order(1).await;
    let assign = async |body: Value| shop.decide("pi_lost1", "assign", &body).await;
    assert_invalid(&assign(json!({})).await, "priceId");
    let unknown = json!({"priceId": PriceId(42).to_string()});
    assert_refused(&assign(unknown).await, 404, "price_not_found");
    let both = json!({"priceId": shop.price, "externalUserId": "ann", "code": "ABCD"});
    assert_refused(&assign(both).await, 400, "conflicting_wallet");
    let nobody = json!({"priceId": shop.price, "code": "ABCD-EFGH-JKMN-PQRS"});
    assert_refused(&assign(nobody).await, 404, "wallet_not_found");
    let tier = shop.add_tier(500).await;
    assert_invalid(&assign(json!({"priceId": tier})).await, "priceId");
    assert_eq!(shop.unfulfilled().await.len(), 1, "nothing was decided");
    let order = assign(json!({"priceId": shop.price})).await.expect(200);
    assert!(order["code"].is_string(), "a wallet of its own: {order}");
    assert_eq!(order["balance"], 100);
}

#[tokio::test]
async fn what_is_found_to_be_refunded_or_placed_leaves_the_list_by_itself() {
    let shop = StripeShop::open().await;
    shop.pays_unknown_order(1).await;
    let charge = shop.stripe.set(
        "/v1/charges/ch_of_pi_lost1",
        json!({"amount_refunded": 900, "refunded": true}),
    );
    shop.report("charge.refunded", &charge).await.expect(200);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);

    // Its metadata is corrected at the provider.
    let session = shop.pays_unknown_order(2).await;
    assert_eq!(shop.unfulfilled().await.len(), 1);
    let mut marks = session["metadata"].clone();
    let order = shop.open_checkout("ann").await["orderId"].clone();
    (marks["scrip_order_id"], marks["scrip_price_id"]) = (order.clone(), json!(shop.price));
    let session = shop.stripe.set(
        "/v1/checkout/sessions/cs_test_lost2",
        json!({"metadata": marks}),
    );
    shop.report("checkout.session.completed", &session)
        .await
        .expect(200);
    assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
    assert_eq!(shop.order(&order).await["status"], "paid");
}

#[tokio::test]
async fn of_decisions_at_once_one_is_made_and_logged() {
    let shop = StripeShop::open().await;
    let price = shop.service.add_price(300).await;
    let to = |user: &str, price: &str| json!({"priceId": price, "externalUserId": user});
    let decisions = [
        ("assign", to("ann", &shop.price)),
        ("assign", to("bob", &shop.price)),
        ("assign", to("ann", &shop.price)),
        ("assign", to("ann", &price)),
        ("refund", json!({})),
    ];
    for number in 1..=5 {
        shop.pays_unknown_order(number).await;
        let payment = format!("pi_lost{number}");
        let turned = (0..5).map(|it| &decisions[(it + number as usize) % 5]);
        let all = turned
            .clone()
            .map(|(what, body)| shop.decide(&payment, what, body));
        let replies = futures_util::future::join_all(all).await;
        let mut made = Vec::new();
        for ((what, body), reply) in turned.zip(replies) {
            match reply.status {
                200 => made.push((*what, body, reply.body["id"].clone())),
                // Once it has its order it waits no more.
                _ if *what == "refund" && reply.status == 404 => {}
                _ => assert_refused(&reply, 409, "payment_already_resolved"),
            }
        }
        assert!(!made.is_empty(), "one of them");
        assert!(made.iter().all(|it| *it == made[0]), "{made:?}");
        let log = format!("/api/admin/v1/audit?query={payment}");
        let log = shop.admin().get(&log).await.expect(200);
        let log = log["entries"].as_array().unwrap();
        assert_eq!(log.len(), 1, "{log:?}");
        assert_eq!(log[0]["status"], "done");
    }
}

#[tokio::test]
async fn a_refund_that_the_provider_refuses_leaves_it_on_the_list() {
    let shop = StripeShop::open().await;
    shop.pays_unknown_order(1).await;
    shop.stripe.instead(
        "POST /v1/refunds",
        Override::Status(
            400,
            json!({"error": {"type": "invalid_request_error", "message": "no"}}),
        ),
    );
    let refused = shop.decide("pi_lost1", "refund", &json!({})).await;
    assert_refused(&refused, 502, "provider_error");
    assert_eq!(shop.unfulfilled().await.len(), 1);
    shop.decide("pi_lost1", "refund", &json!({}))
        .await
        .expect(200);
    assert_eq!(shop.unfulfilled().await.len(), 0);
}

#[tokio::test]
async fn a_refund_that_a_bank_sent_back_is_repeated() {
    let shop = StripeShop::open().await;
    shop.pays_unknown_order(1).await;
    for number in 1..=2 {
        let refunded = shop.decide("pi_lost1", "refund", &json!({})).await;
        refunded.expect(200);
        assert_eq!(shop.unfulfilled().await, [] as [Value; 0]);
        let calls = shop.stripe.calls("/v1/refunds");
        let asked = calls.iter().filter(|call| call.method == "POST").count();
        assert_eq!(asked, number, "each is asked for once");
        let back = json!({"amount_refunded": 0, "refunded": false});
        let charge = shop.stripe.set("/v1/charges/ch_of_pi_lost1", back);
        shop.report("charge.updated", &charge).await.expect(200);
        let reply = shop.report("charge.refunded", &charge);
        reply.await.expect(200);
        assert_eq!(shop.unfulfilled().await.len(), 1, "it waits again");
    }
}

#[tokio::test]
async fn what_was_settled_is_forgotten_when_nothing_tells_of_it_any_more() {
    let shop = StripeShop::open().await;
    shop.pays_unknown_order(1).await;
    let why = json!({"note": "Handled by hand"});
    shop.decide("pi_lost1", "dismiss", &why).await.expect(200);
    for (days, status) in [(399, 200), (2, 404)] {
        shop.service.clock.advance_millis(days * 24 * 3600 * 1000);
        let shop = &shop;
        let rounds = shop.service.payments.start();
        kit::deadline::answered("a look at it", kit::deadline::SOON, async || {
            let known = shop.decide("pi_lost1", "dismiss", &why).await.status;
            (known == status).then_some(())
        })
        .await;
        drop(rounds);
    }
}
