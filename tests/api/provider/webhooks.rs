//! `POST /webhooks/stripe/{projectId}`: which events are trusted.

use reqwest::Method;
use scrip::catalog::{NewProject, ProjectChange, ProviderChange};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    client::Client,
    service::assert_refused,
    stripe::{self},
    stripe_shop::StripeShop,
};

const COMPLETED: &str = "checkout.session.completed";

/// Sends a webhook's head and part of its body; returns the response, and after how many seconds it came.
async fn stalled(shop: &StripeShop, project: &str, header: Option<&str>) -> (String, u64) {
    half(shop, &format!("/webhooks/stripe/{project}"), header).await
}

async fn half(shop: &StripeShop, path: &str, header: Option<&str>) -> (String, u64) {
    let address = shop.service.base.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let signature = header.map_or(String::new(), |header| {
        format!("Stripe-Signature: {header}\r\n")
    });
    let checkout = tokio::time::Instant::now();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n{signature}\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Until the connection is closed.
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    (answer, checkout.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_webhook_without_a_signature_is_refused_before_its_body_is_read() {
    let shop = StripeShop::open().await;
    let (_, good) = stripe::event("evt_1", COMPLETED, &json!({}), shop.seconds());
    let known = shop.service.project.id.to_string();
    let other = shop.service.catalog.create_project(NewProject {
        name: "Without a provider".into(),
        ..NewProject::default()
    });
    let other = other.await.unwrap().0.id.to_string();
    for (project, header) in [
        (known.as_str(), None),
        (&known, Some("")),
        (&known, Some("t=1")),
        (&known, Some("v1=00")),
        ("x", Some(good.as_str())),
        ("proj_00000000000000000000000000", Some(&good)),
        (&other, Some(&good)),
    ] {
        let (answer, seconds) = stalled(&shop, project, header).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("invalid_signature"), "{answer}");
        assert_eq!(seconds, 0, "{project} {header:?}");
    }
    // A sandbox that does not exist buffers no body either.
    let path = format!("/sandbox/{known}/v1/prices");
    let (answer, seconds) = half(&shop, &path, None).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert_eq!(seconds, 0);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_has_ten_seconds_for_its_body() {
    let shop = StripeShop::open().await;
    let (_, good) = stripe::event("evt_1", COMPLETED, &json!({}), shop.seconds());
    let project = shop.service.project.id.to_string();
    let (answer, seconds) = stalled(&shop, &project, Some(&good)).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("took too long"), "{answer}");
    assert_eq!(seconds, 10);
}

#[tokio::test]
async fn forged_stale_and_damaged_webhooks_change_nothing() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    let now = shop.seconds();
    let (body, good) = stripe::event("evt_1", COMPLETED, &session, now);
    let hour = 3600;
    let (_, stale) = stripe::event("evt_1", COMPLETED, &session, now - hour);
    let (_, early) = stripe::event("evt_1", COMPLETED, &session, now + hour);
    let refused = async |body: &str, header: &str| {
        let reply = shop.deliver(body, header).await;
        assert_refused(&reply, 400, "invalid_signature");
    };
    refused(&body, "").await;
    refused(&body, "t=1,v1=00").await;
    refused(&body, &stale).await;
    refused(&body, &early).await;
    refused(&body[..body.len() - 1], &good).await;
    refused(&body.replace("cs_test", "cs_live"), &good).await;
    let bare = shop.service.secret.request(
        Method::POST,
        &format!("/webhooks/stripe/{}", shop.service.project.id),
    );
    assert_refused(
        &Client::send(bare.body(body.clone())).await.unwrap(),
        400,
        "invalid_signature",
    );
    for project in ["proj_00000000000000000000000001", "x"] {
        let request = shop
            .service
            .secret
            .request(Method::POST, &format!("/webhooks/stripe/{project}"));
        let request = request.header("stripe-signature", &good).body(body.clone());
        assert_refused(
            &Client::send(request).await.unwrap(),
            400,
            "invalid_signature",
        );
    }
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
    shop.deliver(&body, &good).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}

#[tokio::test]
async fn a_replaced_secret_is_believed_for_a_day_more() {
    let shop = StripeShop::open().await;
    let new = Some(ProviderChange::Stripe {
        secret_key: None,
        webhook_secret: Some("whsec_new".into()),
    });
    let nothing = ProjectChange::default();
    let project = shop.service.project.id;
    shop.service
        .catalog
        .update_project(project, nothing, new)
        .await
        .unwrap();
    shop.report("customer.created", &json!({}))
        .await
        .expect(200);
    shop.service.clock.advance_millis(24 * 3600 * 1000);
    let reply = shop.report("customer.created", &json!({})).await;
    assert_refused(&reply, 400, "invalid_signature");
}

#[tokio::test]
async fn what_is_none_of_ours_is_acknowledged() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let mut session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    shop.report("radar.early_fraud_warning.created", &json!({"id": "x"}))
        .await
        .expect(200);
    // Of the same account, but not an order of ours.
    session["id"] = json!("cs_test_foreign");
    let path = "/v1/checkout/sessions/cs_test_foreign";
    session["metadata"]["scrip_project_id"] = json!("proj_00000000000000000000000001");
    shop.stripe.put(path, session.clone());
    shop.report(COMPLETED, &session).await.expect(200);
    session["metadata"] = json!({});
    shop.stripe.put(path, session.clone());
    shop.report(COMPLETED, &session).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
}

/// The machine's clock was put back by an hour, which the service's own clock follows slowly.
#[tokio::test]
async fn a_signature_is_as_old_as_the_machines_clock_says() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    shop.service.clock.be_ahead(3600 * 1000);
    let machine = shop.seconds() - 3600;
    for (signed, status) in [(shop.seconds(), 400), (machine - 301, 400), (machine, 200)] {
        let kind = "checkout.session.completed";
        let (body, header) = stripe::event("evt_1", kind, &session, signed);
        let reply = shop.deliver(&body, &header).await;
        assert_eq!(reply.status, status, "signed {} s before", machine - signed);
    }
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");
}
