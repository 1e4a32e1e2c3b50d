//! A crash while what was begun with a project's former provider is being ended: the next process begins again,
//! and ends all of it.

use kit::{
    Client, Launch, Server, deadline,
    stripe::{self, Stripe},
};
use reqwest::Method;
use serde_json::{Value, json};

/// More orders than are handled between two places at which the process may crash.
const PENDING: usize = 300;

async fn patch(server: &Server, provider: &Value) -> Option<u16> {
    let project = format!("/api/admin/v1/projects/{}", server.project().id);
    let request = server.admin().request(Method::PATCH, &project);
    let request = request.json(&json!({ "provider": provider }));
    Some(Client::send(request).await.ok()?.status)
}

async fn provider(server: &Server) -> Value {
    let project = format!("/api/admin/v1/projects/{}", server.project().id);
    server.admin().get(&project).await.expect(200)["provider"].clone()
}

/// Pays a tier's checkout and reports that.
async fn subscribe(server: &Server, stripe: &Stripe, tier: &str) {
    let body = json!({"priceId": tier, "externalUserId": "ann"});
    let checkout_page = server.client().post("/api/v1/checkout", &body).await;
    let checkout_page = checkout_page.expect(200);
    let form = stripe.calls("/v1/checkout/sessions").pop().unwrap().form;
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    stripe.put(
        "/v1/subscriptions/sub_1",
        json!({
            "id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active",
            "metadata": {
                "scrip_project_id": server.project().id, "scrip_order_id": checkout_page["orderId"],
            },
            "items": {"object": "list", "data": [{
                "price": {"id": form["line_items[0][price]"], "product": "prod_x", "metadata": {
                    "scrip_price_id": form["metadata[scrip_price_id]"],
                }},
                "current_period_end": now + 30 * 86_400,
            }]},
        }),
    );
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    stripe.pay(checkout);
    let session = stripe.set(
        &format!("/v1/checkout/sessions/{checkout}"),
        json!({"subscription": "sub_1", "invoice": "in_1", "payment_intent": null}),
    );
    let (body, header) = stripe::event("evt_1", "checkout.session.completed", &session, now);
    let path = format!("/webhooks/stripe/{}", server.project().id);
    let request = server.client().request(Method::POST, &path);
    let request = request.header("stripe-signature", header).body(body);
    Client::send(request).await.unwrap().expect(200);
}

#[tokio::test]
async fn dying_while_a_provider_is_left_ends_all_of_it_after_a_restart() {
    let stripe = Stripe::start().await;
    let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
    let mut server = Server::launch(launch.clone()).await;
    let of_stripe = json!({
        "kind": "stripe", "secretKey": stripe::SECRET_KEY, "webhookSecret": stripe::WEBHOOK_SECRET,
    });
    assert_eq!(patch(&server, &of_stripe).await, Some(200));
    let project = format!("/api/admin/v1/projects/{}", server.project().id);
    let admin = server.admin();
    let product = json!({"name": "Plan", "type": "subscription"});
    let product = admin.post(&format!("{project}/products"), &product).await;
    let product = product.expect(201)["id"].as_str().unwrap().to_owned();
    let tier = json!({
        "amountCents": 1900, "currency": "EUR", "features": ["pro"], "interval": "month",
    });
    let prices = |product: &str| format!("{project}/products/{product}/prices");
    let tier = admin.post(&prices(&product), &tier).await.expect(201);
    let once = json!({
        "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": "one_time",
    });
    let once = admin
        .post(&prices(server.product()), &once)
        .await
        .expect(201);
    // The oldest order, which is handled last.
    subscribe(&server, &stripe, tier["id"].as_str().unwrap()).await;
    let client = server.client();
    let begin = |number: usize| {
        let body = json!({"priceId": once["id"], "externalUserId": format!("user_{number}")});
        let client = client.clone();
        async move { client.post("/api/v1/checkout", &body).await.expect(200) }
    };
    let mut orders = Vec::new();
    for number in 0..PENDING {
        orders.push(begin(number).await["orderId"].as_str().unwrap().to_owned());
    }

    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    let dying = launch.env("SCRIP_DIE_AT", "leaving.page");
    server.start_as(&dying).await;
    let sandbox = json!({"kind": "sandbox", "force": true});
    assert_eq!(
        patch(&server, &sandbox).await,
        None,
        "it dies before it answers"
    );
    server.crash().await;
    server.verify();
    server.start_again().await;
    deadline::answered("the end of the change", deadline::SOON, async || {
        (provider(&server).await["changing"] == false).then_some(())
    })
    .await;
    assert_eq!(provider(&server).await["kind"], "sandbox");
    let client = server.client();
    let wallet = "/api/v1/wallets/external?externalUserId=ann";
    let wallet = client.get(wallet).await.expect(200);
    assert_eq!(
        (&wallet["subscriptions"], &wallet["features"]),
        (&json!([]), &json!([]))
    );
    for order in [&orders[0], &orders[PENDING / 2], &orders[PENDING - 1]] {
        let order = client.get(&format!("/api/v1/orders/{order}")).await;
        assert_eq!(order.expect(200)["status"], "expired");
    }
    // And the sandbox can sell.
    let body = json!({"priceId": tier["id"], "externalUserId": "ann"});
    client.post("/api/v1/checkout", &body).await.expect(200);
    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    server.verify();
}
