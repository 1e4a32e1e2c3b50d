//! `POST /wallets/freeze`: credits that cannot be used for now.

use serde_json::{Value, json};

use crate::{
    client::Reply,
    service::{NO_CODE, Service, assert_invalid, assert_refused, header},
};

const PATH: &str = "/api/v1/wallets/freeze";

async fn freeze(service: &Service, wallet: Value, frozen: bool) -> Reply {
    let mut body = wallet;
    body["frozen"] = json!(frozen);
    body["reason"] = json!("a stolen card");
    service.secret.post(PATH, &body).await
}

fn assert_frozen(reply: &Reply) {
    assert_refused(reply, 403, "wallet_frozen");
    assert_eq!(reply.body["reason"], "a stolen card");
}

#[tokio::test]
async fn a_frozen_users_credits_stay_and_cannot_be_used_until_it_is_thawed() {
    let service = Service::start().await;
    service.grant("ann", 100).await;
    let holds = "/api/v1/wallets/external/holds";
    let hold = json!({"externalUserId": "ann", "amount": 40, "idempotencyKey": "h"});
    let hold = service.secret.post(holds, &hold).await.expect(200);
    let hold = format!("/api/v1/holds/{}", hold["holdId"].as_str().unwrap());
    let ann = json!({"externalUserId": "ann"});
    let done = freeze(&service, ann.clone(), true).await.expect(200);
    assert_eq!(
        (&done["frozen"], &done["frozenReason"]),
        (&json!(true), &json!("a stolen card"))
    );
    assert_eq!(done["frozenAt"], "2026-11-18T11:06:40.000Z");
    let again = freeze(&service, ann.clone(), true).await.expect(200);
    assert_eq!(again, done);

    let deduct = "/api/v1/wallets/external/deduct";
    let take = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "d"});
    assert_frozen(&service.secret.post(deduct, &take).await);
    let other = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "i"});
    assert_frozen(&service.secret.post(holds, &other).await);
    let draw = json!({"amount": 1, "idempotencyKey": "w"});
    assert_frozen(&service.secret.post(&format!("{hold}/draw"), &draw).await);
    let batch = json!({"items": [take]});
    let results = service
        .secret
        .post("/api/v1/deductions/batch", &batch)
        .await;
    let error = &results.expect(200)["results"][0]["error"];
    assert_eq!(
        (&error["code"], &error["reason"]),
        (&json!("wallet_frozen"), &json!("a stolen card"))
    );
    let settle = |amount: i64| json!({"amount": amount});
    let path = format!("{hold}/settle");
    assert_frozen(&service.secret.post(&path, &settle(41)).await);
    let settled = service.secret.post(&path, &settle(30)).await.expect(200);
    assert_eq!(settled, json!({"balance": 70, "deducted": true}));
    service.grant("ann", 5).await;

    // The owner sees that it is frozen, and not why.
    let session = service.session(ann.clone()).await;
    let reply = session.get("/api/v1/wallets/external").await.expect(200);
    assert_eq!(
        (&reply["frozen"], reply.get("frozenReason")),
        (&json!(true), None)
    );
    let read = "/api/v1/wallets/external?externalUserId=ann";
    let reply = service.secret.get(read).await.expect(200);
    assert_eq!(reply["frozenReason"], "a stolen card");
    assert_eq!(reply["balances"][0]["balance"], 75);

    let thawed = freeze(&service, ann, false).await.expect(200);
    assert_eq!(
        (&thawed["frozen"], thawed.get("frozenAt")),
        (&json!(false), None)
    );
    let answer = service.secret.post(deduct, &take).await.expect(200);
    assert_eq!(answer, json!({"balance": 74, "deducted": true}));
    let reply = service.secret.get(read).await.expect(200);
    assert_eq!(reply.get("frozen"), None);
}

#[tokio::test]
async fn a_thief_can_neither_spend_nor_replace_the_code_of_a_frozen_wallet() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    freeze(&service, json!({"code": code}), true)
        .await
        .expect(200);
    let rotate = format!("/api/v1/wallets/{code}/rotate");
    assert_frozen(&service.publishable.post(&rotate, &Value::Null).await);
    let take = json!({"productId": service.product, "amount": 1, "idempotencyKey": "d"});
    let deduct = format!("/api/v1/wallets/{code}/deduct");
    assert_frozen(&service.publishable.post(&deduct, &take).await);
    let seen = format!("/api/v1/wallets/{code}");
    let seen = service.publishable.get(&seen).await.expect(200);
    assert_eq!(seen["frozen"], true);
    let rotated = service.secret.post(&rotate, &Value::Null).await.expect(200);
    let new = rotated["code"].as_str().unwrap();
    let deduct = format!("/api/v1/wallets/{new}/deduct");
    assert_frozen(&service.secret.post(&deduct, &take).await);
}

#[tokio::test]
async fn a_wallet_is_named_by_its_id_too_and_its_checkout_is_shut() {
    let service = Service::start().await;
    service.grant("ann", 1).await;
    let read = "/api/v1/wallets/external?externalUserId=ann";
    let id = service.secret.get(read).await.expect(200)["walletId"].clone();
    let done = freeze(&service, json!({"walletId": id}), true).await;
    assert_eq!(done.expect(200)["walletId"], id);
    let admin = kit::Client::new(&service.base, kit::service::ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let provider = admin
        .request(reqwest::Method::PATCH, &project)
        .json(&json!({"provider": {"kind": "sandbox"}}));
    kit::Client::send(provider).await.unwrap().expect(200);
    let price = service.add_price(10).await;
    let buy = json!({"priceId": price, "externalUserId": "ann"});
    assert_frozen(&service.secret.post("/api/v1/checkout", &buy).await);
}

#[tokio::test]
async fn a_freeze_is_sent_to_the_projects_servers() {
    let service = Service::start().await;
    service.grant("ann", 1).await;
    let ann = || json!({"externalUserId": "ann"});
    for frozen in [true, true, false, false] {
        freeze(&service, ann(), frozen).await.expect(200);
    }
    let path = "/api/v1/events?types=wallet.frozen,wallet.thawed";
    let page = service.secret.get(path).await.expect(200);
    let events = page["events"].as_array().unwrap();
    let types: Vec<_> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["wallet.frozen", "wallet.thawed"]);
    assert_eq!(events[0]["data"]["frozenReason"], "a stolen card");
    assert_eq!(events[1]["data"]["externalUserId"], "ann");
}

#[tokio::test]
async fn who_may_freeze_and_malformed_requests() {
    let service = Service::start().await;
    service.grant("ann", 1).await;
    let body = json!({"externalUserId": "ann", "frozen": true});
    let reply = service.publishable.post(PATH, &body).await;
    assert_refused(&reply, 403, "secret_key_required");
    for (name, bad) in [
        ("frozen", json!("yes")),
        ("frozen", Value::Null),
        ("reason", json!(" ")),
        ("reason", json!("x".repeat(501))),
    ] {
        let mut body = body.clone();
        body[name] = bad;
        assert_invalid(&service.secret.post(PATH, &body).await, name);
    }
    for names in [
        json!({"frozen": true}),
        json!({"frozen": true, "externalUserId": "ann", "code": NO_CODE}),
        json!({"frozen": true, "externalUserId": "ann", "walletId": "wal_1"}),
    ] {
        let reply = service.secret.post(PATH, &names).await;
        assert_refused(&reply, 400, "conflicting_wallet");
    }
    for names in [
        json!({"externalUserId": "nobody"}),
        json!({"code": NO_CODE}),
        json!({"walletId": "wal_1"}),
        json!({"walletId": "wal_01m7xe18mve1d9wd5x2twzf7cm"}),
    ] {
        let reply = freeze(&service, names, true).await;
        assert_refused(&reply, 404, "wallet_not_found");
    }
    // Without a reason none is sent.
    let frozen = service.secret.post(PATH, &body).await.expect(200);
    assert_eq!(frozen.get("frozenReason"), None);
    let take = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "d"});
    let reply = service
        .secret
        .post("/api/v1/wallets/external/deduct", &take)
        .await;
    assert_refused(&reply, 403, "wallet_frozen");
    assert_eq!(reply.body.get("reason"), None);
    assert_eq!(header(&reply, "idempotency-replayed"), None);
}
