//! `GET /events`: events oldest first, each once.

use domain::catalog::KeyKind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{ADMIN_TOKEN, Service, assert_invalid, assert_refused},
    stripe_shop::StripeShop,
};

const PATH: &str = "/api/v1/events";

async fn grant(service: &Service, user: &str, amount: i64, key: &str) {
    let body = json!({
        "externalUserId": user, "productId": service.product, "amount": amount,
        "idempotencyKey": key,
    });
    service
        .secret
        .post("/api/v1/credit", &body)
        .await
        .expect(200);
}

async fn deduct(service: &Service, user: &str, amount: i64, key: &str) {
    let body = json!({"externalUserId": user, "amount": amount, "idempotencyKey": key});
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await.expect(200);
}

async fn events(service: &Service, query: &str) -> Value {
    service
        .secret
        .get(&format!("{PATH}?{query}"))
        .await
        .expect(200)
}

fn types(page: &Value) -> Vec<&str> {
    let events = page["events"].as_array().unwrap();
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

async fn low_at(service: &Service, credits: Value) {
    let path = format!(
        "/api/admin/v1/projects/{}/products/{}",
        service.project.id, service.product
    );
    let body = json!({"lowBalance": credits});
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let request = admin.request(Method::PATCH, &path).json(&body);
    let reply = Client::send(request).await.unwrap();
    assert_eq!(reply.expect(200)["lowBalance"], credits);
}

#[tokio::test]
async fn events_of_a_wallet_come_in_order() {
    let service = Service::start().await;
    low_at(&service, json!(5)).await;
    grant(&service, "ann", 10, "a").await;
    grant(&service, "ann", 10, "a").await;
    deduct(&service, "ann", 4, "b").await;
    deduct(&service, "ann", 1, "c").await;
    deduct(&service, "ann", 5, "d").await;
    let page = events(&service, "").await;
    let expected = [
        "wallet.created",
        "wallet.credited",
        "wallet.balance_low",
        "wallet.depleted",
    ];
    assert_eq!(types(&page), expected);
    let [_, credited, low, depleted] = [0, 1, 2, 3].map(|place| &page["events"][place]);
    let wallet = &credited["data"]["walletId"];
    assert_eq!(
        credited["data"],
        json!({
            "walletId": wallet, "externalUserId": "ann", "productId": service.product,
            "balance": 10, "delta": 10, "reason": "manual",
        })
    );
    assert_eq!(
        (&low["data"]["balance"], &depleted["data"]["balance"]),
        (&json!(5), &json!(0))
    );
    assert_eq!(low["timestamp"], "2026-11-18T11:06:40.000Z");
    assert_eq!(page["nextCursor"], depleted["id"]);
}

#[tokio::test]
async fn polling_from_the_last_cursor_misses_no_event_and_repeats_none() {
    let service = Service::start().await;
    let (mut seen, mut after) = (Vec::new(), String::new());
    for round in 0..12 {
        grant(&service, "ann", 1, &format!("{round}")).await;
        if round % 5 == 4 {
            service.handle.fold_all().await.unwrap();
        }
        if round % 3 == 2 {
            let page = events(&service, &format!("limit=2&{after}")).await;
            after = format!("after={}", page["nextCursor"].as_str().unwrap());
            seen.extend(page["events"].as_array().unwrap().clone());
        }
    }
    let rest = events(&service, &format!("limit=100&{after}")).await;
    seen.extend(rest["events"].as_array().unwrap().clone());
    let ids: Vec<&str> = seen
        .iter()
        .map(|event| event["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 13, "the wallet and twelve grants");
    assert!(ids.is_sorted() && ids.iter().all(|id| id.starts_with("evt_")));
    let end = rest["nextCursor"].as_str().unwrap();
    let nothing = events(&service, &format!("after={end}")).await;
    assert_eq!(nothing, json!({"events": [], "nextCursor": end}));
}

#[tokio::test]
async fn some_kinds_are_found_among_others() {
    let service = Service::start().await;
    for round in 0..30 {
        grant(&service, &format!("user-{round}"), 1, "k").await;
    }
    deduct(&service, "user-7", 1, "k").await;
    let page = events(&service, "types=wallet.depleted,order.paid").await;
    assert_eq!(types(&page), ["wallet.depleted"]);
    assert_eq!(page["nextCursor"], page["events"][0]["id"]);
    let some = events(&service, "types=wallet.created&limit=4").await;
    assert_eq!(types(&some), ["wallet.created"; 4]);
    let none = events(&service, "types=features.changed").await;
    assert_eq!(none, json!({"events": [], "nextCursor": null}));
    for bad in [
        "types=",
        "types=order.payed",
        "limit=0",
        "after=x",
        "after=evt_1",
    ] {
        let reply = service.secret.get(&format!("{PATH}?{bad}")).await;
        assert_invalid(&reply, bad.split_once('=').unwrap().0);
    }
}

#[tokio::test]
async fn a_purchase_tells_its_order_as_a_secret_key_reads_it() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    let page = events(&shop.service, "").await;
    assert_eq!(
        types(&page),
        ["wallet.created", "order.paid", "wallet.credited"]
    );
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(page["events"][1]["data"], json!({"order": order}));
    assert_eq!(page["events"][2]["data"]["orderId"], order["id"]);
}

#[tokio::test]
async fn changed_features_come_as_events() {
    let service = Service::start().await;
    let set = async |action: &str| {
        let body = json!({"externalUserId": "ann", "feature": "export", "action": action});
        service
            .secret
            .post("/api/v1/features", &body)
            .await
            .expect(200)
    };
    set("grant").await;
    set("revoke").await;
    let page = events(&service, "types=features.changed").await;
    let features_at = |place: usize| {
        let data = &page["events"][place]["data"];
        (
            data["features"].clone(),
            data["added"].clone(),
            data["removed"].clone(),
        )
    };
    assert_eq!(
        features_at(0),
        (json!(["export"]), json!(["export"]), json!([]))
    );
    assert_eq!(features_at(1), (json!([]), json!([]), json!(["export"])));
}

#[tokio::test]
async fn each_project_reads_its_own_events_with_a_secret_key_alone() {
    let service = Service::start().await;
    grant(&service, "ann", 1, "k").await;
    let page = events(&service, "").await;
    let refused = service.publishable.get(PATH).await;
    assert_refused(&refused, 403, "secret_key_required");
    let stranger = service.stranger(KeyKind::Secret).await;
    let others = stranger.get(PATH).await.expect(200);
    assert_eq!(others, json!({"events": [], "nextCursor": null}));
    let known = page["nextCursor"].as_str().unwrap();
    let reply = stranger.get(&format!("{PATH}?after={known}")).await;
    assert_refused(&reply, 404, "event_not_found");
    let never = "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz";
    let reply = service.secret.get(&format!("{PATH}?after={never}")).await;
    assert_refused(&reply, 404, "event_not_found");
}
