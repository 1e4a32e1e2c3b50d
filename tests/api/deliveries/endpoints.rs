//! Webhook endpoints in the admin API.

use domain::catalog::KeyKind;
use kit::receiver::Receiver;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    deliveries::{ServiceWithEndpoint, ask, created, credited, near, signatures},
    service::{Service, assert_invalid, assert_refused},
};

#[tokio::test]
async fn an_endpoint_is_made_shown_changed_and_deleted() {
    let hooked = ServiceWithEndpoint::start().await;
    let body = json!({"url": "https://Shop.Example/hooks", "events": ["order.paid", "order.failed", "order.paid"]});
    let endpoint = hooked.ask(Method::POST, "", Some(body)).await.expect(201);
    let id = endpoint["id"].as_str().unwrap();
    assert!(id.starts_with("wh_"), "{endpoint}");
    assert_eq!(endpoint["url"], "https://shop.example/hooks");
    assert!(endpoint["secret"].as_str().unwrap().starts_with("whsec_"));
    let path = format!("/{id}");
    let page = hooked.ask(Method::GET, &path, None).await.expect(200);
    let expected = json!({
        "id": id, "url": "https://shop.example/hooks", "events": ["order.failed", "order.paid"],
        "active": true, "disabledReason": null, "createdAt": "2026-11-18T11:06:40.000Z",
        "health": {
            "attempts": 0, "succeeded": 0, "pending": 0, "failingSince": null,
            "lastFailure": null, "lastSuccessAt": null,
        },
    });
    assert_eq!(page, expected, "the secret is not shown again");
    let list = hooked.ask(Method::GET, "", None).await.expect(200);
    let ids: Vec<_> = list["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [&json!(hooked.id), &json!(id)]);
    let change = json!({"url": "https://shop.example/other", "events": null, "active": false});
    let changed = hooked
        .ask(Method::PATCH, &path, Some(change))
        .await
        .expect(200);
    assert_eq!(
        (
            &changed["url"],
            &changed["events"],
            &changed["active"],
            &changed["disabledReason"]
        ),
        (
            &json!("https://shop.example/other"),
            &Value::Null,
            &json!(false),
            &Value::Null
        )
    );
    let deleted = hooked.ask(Method::DELETE, &path, None).await;
    assert_eq!(deleted.status, 204);
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::POST, format!("{path}/rotate-secret")),
        (Method::GET, format!("{path}/deliveries")),
        (Method::POST, format!("{path}/deliveries/dlv_1/replay")),
        (Method::GET, "/wh_1".into()),
    ] {
        let reply = hooked.ask(method, &path, None).await;
        assert_refused(&reply, 404, "webhook_not_found");
    }
    let path = format!("/{}/deliveries/dlv_1/replay", hooked.id);
    let reply = hooked.ask(Method::POST, &path, None).await;
    assert_refused(&reply, 404, "delivery_not_found");
}

#[tokio::test]
async fn what_no_endpoint_can_be_is_refused() {
    let hooked = ServiceWithEndpoint::start().await;
    let long = format!("https://shop.example/{}", "a".repeat(2048));
    for url in [
        "",
        "shop.example",
        "ftp://shop.example",
        "https://a:b@shop.example",
        "https://shop.example/#x",
        &long,
    ] {
        let reply = hooked
            .ask(Method::POST, "", Some(json!({"url": url})))
            .await;
        assert_invalid(&reply, "url");
        assert_invalid(&hooked.change(json!({"url": url})).await, "url");
    }
    for (events, param) in [
        (json!([]), "events"),
        (json!(["order.payed"]), "events[0]"),
        (json!("order.paid"), "events"),
    ] {
        let body = json!({"url": "https://shop.example", "events": events});
        assert_invalid(&hooked.ask(Method::POST, "", Some(body)).await, param);
    }
    assert_invalid(&hooked.ask(Method::POST, "", Some(json!({}))).await, "url");
    assert_invalid(&hooked.change(json!({"active": null})).await, "active");
    for number in 1..20 {
        hooked.add(&format!("https://shop.example/{number}")).await;
    }
    let one_more = json!({"url": "https://shop.example/20"});
    assert_invalid(&hooked.ask(Method::POST, "", Some(one_more)).await, "url");
}

#[tokio::test]
async fn only_public_addresses_are_taken_unless_the_operator_allows_others() {
    let service = Service::start().await;
    let project = service.project.id.to_string();
    for url in [
        "http://shop.example",
        "https://127.0.0.1",
        "https://[::1]:8443",
        "https://10.0.0.1",
        "https://0x7f.1",
    ] {
        let body = Some(json!({"url": url}));
        let reply = ask((&service.base, &project), Method::POST, "", body).await;
        assert_invalid(&reply, "url");
    }
}

#[tokio::test]
async fn only_the_administrator_has_anything_to_do_with_them() {
    let hooked = ServiceWithEndpoint::start().await;
    let path = format!(
        "/api/admin/v1/projects/{}/webhooks",
        hooked.service.project.id
    );
    let reply = hooked.service.secret.get(&path).await;
    assert_refused(&reply, 401, "invalid_api_key");
    let reply = ask((&hooked.service.base, "proj_1"), Method::GET, "", None).await;
    assert_refused(&reply, 404, "project_not_found");
    let stranger = hooked.service.stranger(KeyKind::Secret).await;
    let me = stranger.get("/api/v1/me").await.expect(200);
    let other = me["projectId"].as_str().unwrap();
    let path = format!("/{}", hooked.id);
    let reply = ask((&hooked.service.base, other), Method::GET, &path, None).await;
    assert_refused(&reply, 404, "webhook_not_found");
}

#[tokio::test]
async fn an_endpoint_gets_events_from_its_creation_on_and_of_its_types() {
    let service = Service::with(near).await;
    service.grant("before", 1).await;
    let hooked = ServiceWithEndpoint::of(service).await;
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    assert_eq!(hooked.summaries(), [created("ann"), credited("ann", 1)]);
    hooked
        .change(json!({"events": ["wallet.credited"]}))
        .await
        .expect(200);
    hooked.grant("bob", 2).await;
    hooked.settled().await;
    assert_eq!(hooked.summaries()[2..], [credited("bob", 2)]);
    // It gets no events of another project.
    let stranger = hooked.service.stranger(KeyKind::Secret).await;
    stranger
        .post("/api/v1/wallets", &Value::Null)
        .await
        .expect(200);
    hooked.settled().await;
    assert_eq!(hooked.summaries().len(), 3);
}

#[tokio::test]
async fn a_changed_address_gets_deliveries_that_the_old_one_did_not_accept() {
    let hooked = ServiceWithEndpoint::start().await;
    let other = Receiver::start().await;
    hooked.change(json!({"active": false})).await.expect(200);
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    let change = json!({"url": other.url, "active": true});
    hooked.change(change).await.expect(200);
    hooked.settled().await;
    assert_eq!(hooked.summaries(), []);
    assert_eq!(other.summaries(), [created("ann"), credited("ann", 1)]);
}

#[tokio::test]
async fn an_old_secret_signs_beside_the_new_one_for_a_day() {
    let hooked = ServiceWithEndpoint::start().await;
    let path = format!("/{}/rotate-secret", hooked.id);
    let rotated = hooked.ask(Method::POST, &path, None).await.expect(200);
    let new = rotated["secret"].as_str().unwrap();
    assert_ne!(new, hooked.secret);
    hooked.service.code().await;
    hooked.pass(24 * 3600 - 1).await;
    hooked.service.code().await;
    hooked.settled().await;
    hooked.pass(1).await;
    hooked.service.code().await;
    hooked.settled().await;
    let received = hooked.receiver.received();
    let signed = |at: usize| {
        let by = |secret: &str| signatures(&received[at], secret);
        (by(new), by(&hooked.secret))
    };
    assert_eq!([signed(0), signed(1), signed(2)], [(1, 1), (1, 1), (1, 0)]);
    let first = received[0].header("webhook-signature");
    assert_eq!(first.split(' ').count(), 2);
}

#[tokio::test]
async fn nothing_is_left_of_a_deleted_endpoint() {
    let hooked = ServiceWithEndpoint::start().await;
    let other = Receiver::start().await;
    hooked.add(&other.url).await;
    hooked
        .receiver
        .always(Some(kit::receiver::ScriptedResponse::Status(500)));
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    let deleted = hooked
        .ask(Method::DELETE, &format!("/{}", hooked.id), None)
        .await;
    assert_eq!(deleted.status, 204);
    hooked.grant("bob", 1).await;
    hooked.pass(3600).await;
    assert_eq!(hooked.summaries().len(), 1);
    assert_eq!(other.summaries().len(), 4);
    hooked.service.handle.fold_all().await.unwrap();
    let notes = hooked.service.handle.notes(&[64]).unwrap();
    assert_eq!(notes.len(), 4, "the other one's deliveries");
}
