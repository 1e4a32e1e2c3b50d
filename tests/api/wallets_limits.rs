//! Limits: `/wallets/external/limits`, `/wallets/{code}/limits`, and what they refuse.

use std::collections::HashMap;

use actors::clock::Clock as _;
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::{Value, from_value, json};
use wire::field::{InstantText, Text};

use crate::{
    client::{Client, Reply},
    service::{ADMIN_TOKEN, Service, assert_invalid, assert_refused},
};

const PATH: &str = "/api/v1/wallets/external/limits";
const DEDUCT: &str = "/api/v1/wallets/external/deduct";

async fn put(client: &Client, path: &str, body: &Value) -> Reply {
    let request = client.request(Method::PUT, path).json(body);
    Client::send(request).await.unwrap()
}

fn admin(service: &Service) -> Client {
    Client::new(&service.base, ADMIN_TOKEN)
}

async fn set(service: &Service, limits: Value) -> Value {
    let body = json!({ "externalUserId": "u", "limits": limits });
    put(&service.secret, PATH, &body).await.expect(200)["limits"].take()
}

async fn deduct(service: &Service, key: &str, amount: i64, more: Value) -> Reply {
    let mut body = json!({ "externalUserId": "u", "amount": amount, "idempotencyKey": key });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    service.secret.post(DEDUCT, &body).await
}

/// What is used, held and left of each limit.
async fn states(service: &Service, query: &str) -> HashMap<String, [i64; 3]> {
    let path = format!("{PATH}?externalUserId=u{query}");
    let limits = service.secret.get(&path).await.expect(200)["limits"].take();
    let states = limits.as_array().unwrap().iter().map(|limit| {
        let name = format!(
            "{} {}",
            limit["scope"].as_str().unwrap(),
            limit["window"].as_str().unwrap()
        );
        (
            name,
            ["used", "held", "remaining"].map(|name| limit[name].as_i64().unwrap()),
        )
    });
    states.collect()
}

async fn events(service: &Service) -> Vec<(String, Value)> {
    let path = "/api/v1/events?types=limit.alert,limit.reached";
    let events = service.secret.get(path).await.expect(200)["events"].take();
    let events = events.as_array().unwrap().iter();
    events
        .map(|it| (it["type"].as_str().unwrap().to_owned(), it["data"].clone()))
        .collect()
}

#[tokio::test]
async fn nobody_who_shares_a_wallet_spends_more_than_their_share() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let limits = set(
        &service,
        json!([
            { "scope": "member:*", "amount": 10, "window": "month", "alertsAt": [80, 50] },
            { "scope": "member:ann", "amount": 20, "window": "month", "timeZone": "Europe/Berlin" },
            { "scope": "wallet", "amount": 25, "window": "day", "unit": "credits" },
        ]),
    )
    .await;
    assert_eq!(limits[0]["alertsAt"], json!([50, 80]));
    assert_eq!(limits[1]["timeZone"], "Europe/Berlin");
    deduct(&service, "k1", 10, json!({ "member": "bob" }))
        .await
        .expect(200);
    let refused = deduct(&service, "k2", 1, json!({ "member": "bob" })).await;
    assert_refused(&refused, 403, "limit_exceeded");
    let refused = refused.expect(403);
    assert_eq!(refused["requested"], 1);
    let limit = &refused["limit"];
    let found =
        ["scope", "amount", "window", "unit", "used", "held"].map(|name| limit[name].clone());
    assert_eq!(
        json!(found),
        json!(["member:*", 10, "month", "credits", 10, 0])
    );
    assert!(limit["resetsAt"].is_string());
    // Her own limit goes before that of each.
    deduct(&service, "k3", 15, json!({ "member": "ann" }))
        .await
        .expect(200);
    let refused = deduct(&service, "k4", 1, json!({ "member": "ann" })).await;
    assert_eq!(refused.expect(403)["limit"]["scope"], "wallet");
    assert_eq!(
        states(&service, "&member=bob").await["member:* month"],
        [10, 0, 0]
    );
    let of_ann = states(&service, "&member=ann").await;
    assert_eq!(of_ann["member:ann month"], [15, 0, 5]);
    assert!(!of_ann.contains_key("member:* month"));
    // A repeat counts once, and what was refused used up no key.
    let again = deduct(&service, "k3", 15, json!({ "member": "ann" }))
        .await
        .expect(200);
    assert_eq!(again["deducted"], false);
    service.clock.advance_millis(24 * 3_600_000);
    deduct(&service, "k4", 1, json!({ "member": "ann" }))
        .await
        .expect(200);
    let ledger = "/api/v1/wallets/external/ledger?externalUserId=u";
    let entries = service.secret.get(ledger).await.expect(200)["entries"].take();
    assert_eq!(entries[0]["member"], "ann");
    let usage = "/api/v1/usage?interval=month&groupBy=member";
    let usage = service.secret.get(usage).await.expect(200);
    let buckets = usage["buckets"].as_array().unwrap();
    let groups = &buckets.last().unwrap()["groups"];
    assert!(
        groups
            .as_array()
            .unwrap()
            .contains(&json!({ "key": "ann", "credits": 16, "deductions": 2 })),
        "{usage}"
    );
}

#[tokio::test]
async fn each_alert_and_each_limit_that_is_reached_is_reported_once_a_window() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    set(
        &service,
        json!([{ "scope": "member:*", "amount": 10, "window": "day", "alertsAt": [50, 80] }]),
    )
    .await;
    deduct(&service, "k1", 9, json!({ "member": "bob" }))
        .await
        .expect(200);
    for key in ["k2", "k3"] {
        deduct(&service, key, 2, json!({ "member": "bob" }))
            .await
            .expect(403);
    }
    deduct(&service, "k4", 1, json!({ "member": "bob" }))
        .await
        .expect(200);
    let reported = events(&service).await;
    let expected = [
        ("limit.alert", json!(50)),
        ("limit.alert", json!(80)),
        ("limit.reached", Value::Null),
    ];
    let found = reported
        .iter()
        .map(|(kind, data)| (kind.as_str(), data["percent"].clone()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    for (_, data) in &reported {
        assert_eq!(data["member"], "bob");
        assert_eq!(data["externalUserId"], "u");
        assert_eq!(data["limit"]["scope"], "member:*");
    }
    service.clock.advance_millis(24 * 3_600_000);
    deduct(&service, "k5", 11, json!({ "member": "bob" }))
        .await
        .expect(403);
    assert_eq!(events(&service).await.len(), 4);
}

#[tokio::test]
async fn holds_count_until_they_end_and_give_back_what_was_not_used() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    set(
        &service,
        json!([
            { "scope": "wallet", "amount": 10, "window": "month" },
            { "scope": "feature:image", "amount": 2, "window": "hour", "unit": "operations" },
        ]),
    )
    .await;
    let hold = json!({
        "externalUserId": "u", "amount": 8, "idempotencyKey": "h1", "member": "bob", "meta": { "feature": "image" },
    });
    let holds = "/api/v1/wallets/external/holds";
    let placed = service.secret.post(holds, &hold).await.expect(200);
    let id = placed["holdId"].as_str().unwrap();
    assert_eq!(states(&service, "").await["wallet month"], [0, 8, 2]);
    assert_eq!(states(&service, "").await["feature:image hour"], [0, 1, 1]);
    deduct(&service, "k1", 3, json!({})).await.expect(403);
    let draw = format!("/api/v1/holds/{id}/draw");
    let drawn = json!({ "amount": 9, "idempotencyKey": "w1" });
    service.secret.post(&draw, &drawn).await.expect(200);
    assert_eq!(states(&service, "").await["wallet month"], [9, 0, 1]);
    let settle = format!("/api/v1/holds/{id}/settle");
    let refused = service.secret.post(&settle, &json!({ "amount": 11 })).await;
    assert_refused(&refused, 403, "limit_exceeded");
    // Work that was done is charged, and counts.
    let done = json!({ "amount": 12, "onShortfall": "drain" });
    service.secret.post(&settle, &done).await.expect(200);
    assert_eq!(states(&service, "").await["wallet month"], [12, 0, 0]);
    assert_eq!(states(&service, "").await["feature:image hour"], [1, 0, 1]);
    // A hold that ends without a charge gives all of it back.
    set(
        &service,
        json!([
            { "scope": "wallet", "amount": 20, "window": "month" },
            { "scope": "feature:image", "amount": 2, "window": "hour", "unit": "operations" },
        ]),
    )
    .await;
    let other = json!({ "externalUserId": "u", "amount": 8, "idempotencyKey": "h2", "meta": { "feature": "image" } });
    let placed = service.secret.post(holds, &other).await.expect(200);
    let release = format!(
        "/api/v1/holds/{}/release",
        placed["holdId"].as_str().unwrap()
    );
    service.secret.post(&release, &json!({})).await.expect(200);
    assert_eq!(states(&service, "").await["wallet month"], [12, 0, 8]);
    assert_eq!(states(&service, "").await["feature:image hour"], [1, 0, 1]);
    // A reversal gives back to the window that was charged.
    deduct(&service, "k2", 8, json!({})).await.expect(200);
    let ledger = "/api/v1/wallets/external/ledger?externalUserId=u";
    let entries = service.secret.get(ledger).await.expect(200)["entries"].take();
    let reverse = format!(
        "/api/v1/deductions/{}/reverse",
        entries[0]["id"].as_str().unwrap()
    );
    service
        .secret
        .post(&reverse, &json!({ "amount": 5, "idempotencyKey": "r1" }))
        .await
        .expect(200);
    assert_eq!(states(&service, "").await["wallet month"], [15, 0, 5]);
}

#[tokio::test]
async fn products_and_plans_bring_limits_which_a_wallets_own_replace() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let limit = json!({ "scope": "wallet", "amount": 5, "window": "day" });
    let product = format!(
        "/api/admin/v1/projects/{}/products/{}",
        service.project.id, service.product
    );
    let shown = admin(&service)
        .patch(&product, &json!({ "limits": [limit] }))
        .await
        .expect(200);
    assert_eq!(shown["limits"][0]["amount"], 5);
    assert_eq!(
        deduct(&service, "k1", 6, json!({})).await.expect(403)["limit"]["source"],
        "product"
    );
    // It is about this product, as the wallet's own says, too.
    set(
        &service,
        json!([{ "scope": "wallet", "amount": 8, "window": "day", "productId": service.product }]),
    )
    .await;
    deduct(&service, "k1", 6, json!({})).await.expect(200);
    assert_eq!(states(&service, "").await["wallet day"], [6, 0, 2]);
    // What was counted stays where one limit takes the place of another.
    assert_eq!(set(&service, json!([])).await[0]["used"], 6);
    assert_refused(
        &deduct(&service, "k2", 1, json!({})).await,
        403,
        "limit_exceeded",
    );
    admin(&service)
        .patch(&product, &json!({ "limits": [] }))
        .await
        .expect(200);
    deduct(&service, "k2", 1, json!({})).await.expect(200);
}

#[tokio::test]
async fn however_many_ask_at_once_a_limit_stops_them_exactly() {
    let service = Service::start().await;
    service.grant("u", 10_000).await;
    set(
        &service,
        json!([
            { "scope": "wallet", "amount": 150, "window": "day" },
            { "scope": "member:*", "amount": 7, "window": "day" },
        ]),
    )
    .await;
    let service = &service;
    let all = stream::iter(0..400_usize).map(|number| async move {
        let member = format!("m{}", number % 30);
        let answer = deduct(
            service,
            &format!("k{number}"),
            1,
            json!({ "member": member }),
        )
        .await;
        (answer.status, member)
    });
    let answers: Vec<_> = all.buffer_unordered(64).collect().await;
    let mut by_member = HashMap::<_, i64>::new();
    for (status, member) in &answers {
        assert!([200, 403].contains(status));
        *by_member.entry(member).or_default() += i64::from(*status == 200);
    }
    assert_eq!(by_member.values().sum::<i64>(), 150);
    assert!(by_member.values().all(|used| *used <= 7), "{by_member:?}");
    let batch = json!({ "items": [
        { "externalUserId": "u", "amount": 1, "idempotencyKey": "b1", "member": "new" },
    ] });
    let results = service
        .secret
        .post("/api/v1/deductions/batch", &batch)
        .await
        .expect(200);
    assert_eq!(results["results"][0]["error"]["code"], "limit_exceeded");
}

#[tokio::test]
async fn a_key_that_leaked_spends_its_limit_and_no_more() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let me = service.secret.get("/api/v1/me").await.expect(200);
    let scope = format!("key:{}", me["keyId"].as_str().unwrap());
    set(
        &service,
        json!([{ "scope": scope, "amount": 10, "window": "hour" }]),
    )
    .await;
    deduct(&service, "k1", 10, json!({})).await.expect(200);
    deduct(&service, "k2", 1, json!({})).await.expect(403);
    let other = service.client(domain::catalog::KeyKind::Secret).await;
    let body = json!({ "externalUserId": "u", "amount": 1, "idempotencyKey": "k2" });
    other.post(DEDUCT, &body).await.expect(200);
}

#[tokio::test]
async fn what_is_no_limit_is_refused_by_its_path() {
    let service = Service::start().await;
    let good = json!({ "scope": "wallet", "amount": 1, "window": "day" });
    let bad = [
        ("scope", json!("team"), "limits[0].scope"),
        ("scope", json!("member:"), "limits[0].scope"),
        ("scope", json!("key:abc"), "limits[0].scope"),
        ("amount", json!(-1), "limits[0].amount"),
        ("amount", json!(1.5), "limits[0].amount"),
        ("window", json!("fortnight"), "limits[0].window"),
        ("unit", json!("euros"), "limits[0].unit"),
        ("timeZone", json!("Mars/Olympus"), "limits[0].timeZone"),
        ("alertsAt", json!([101]), "limits[0].alertsAt[0]"),
        ("alertsAt", json!([1, 2, 3, 4, 5, 6]), "limits[0].alertsAt"),
    ];
    for (name, value, param) in bad {
        let mut limit = good.clone();
        limit[name] = value;
        let body = json!({ "externalUserId": "u", "limits": [limit] });
        assert_invalid(&put(&service.secret, PATH, &body).await, param);
    }
    let twice = json!({ "externalUserId": "u", "limits": [good, good] });
    assert_invalid(&put(&service.secret, PATH, &twice).await, "limits[1]");
    let many: Vec<_> = (0..51)
        .map(|number| json!({ "scope": format!("member:m{number}"), "amount": 1, "window": "day" }))
        .collect();
    let many = json!({ "externalUserId": "u", "limits": many });
    assert_invalid(&put(&service.secret, PATH, &many).await, "limits");
    let member =
        json!({ "externalUserId": "u", "amount": 1, "idempotencyKey": "k", "member": "a\nb" });
    assert_invalid(&service.secret.post(DEDUCT, &member).await, "member");
    let missing = service
        .secret
        .get(&format!("{PATH}?externalUserId=nobody"))
        .await;
    assert_refused(&missing, 404, "wallet_not_found");
}

#[tokio::test]
async fn a_code_wallet_has_limits_that_only_a_server_sets() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let path = format!("/api/v1/wallets/{code}/limits");
    let body = json!({ "limits": [{ "scope": "wallet", "amount": 3, "window": "lifetime" }] });
    assert_refused(
        &put(&service.publishable, &path, &body).await,
        403,
        "secret_key_required",
    );
    put(&service.secret, &path, &body).await.expect(200);
    let limits = service.publishable.get(&path).await.expect(200);
    let limit = &limits["limits"][0];
    assert_eq!(
        (&limit["resetsAt"], &limit["windowStart"]),
        (&Value::Null, &Value::Null)
    );
    let deduct = json!({ "amount": 4, "idempotencyKey": "k", "productId": service.product });
    let deducted = service
        .publishable
        .post(&format!("/api/v1/wallets/{code}/deduct"), &deduct)
        .await;
    assert_refused(&deducted, 403, "limit_exceeded");
}

#[tokio::test]
async fn names_are_invented_up_to_a_bound() {
    let service = Service::start().await;
    service.grant("u", 100_000).await;
    set(
        &service,
        json!([{ "scope": "member:*", "amount": 1, "window": "day" }]),
    )
    .await;
    for start in (0..10_000).step_by(1000) {
        let items: Vec<_> = (start..start + 1000).map(|number| json!({
            "externalUserId": "u", "amount": 1, "idempotencyKey": format!("k{number}"), "member": format!("m{number}"),
        })).collect();
        let results = service
            .secret
            .post("/api/v1/deductions/batch", &json!({ "items": items }))
            .await
            .expect(200);
        let results = results["results"].as_array().unwrap().clone();
        assert!(results.iter().all(|it| it["deducted"] == true));
    }
    let one_more = deduct(&service, "more", 1, json!({ "member": "one more" })).await;
    assert_refused(&one_more, 409, "too_many_scopes");
    // Nobody is kept out who is there, or for good.
    deduct(&service, "less", 1, json!({ "member": "m1" }))
        .await
        .expect(403);
    deduct(&service, "none", 1, json!({})).await.expect(200);
    service.clock.advance_millis(24 * 3_600_000);
    deduct(&service, "more", 1, json!({ "member": "one more" }))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_server_that_takes_over_counts_by_the_calendar_as_the_former_did() {
    let service = Service::start().await;
    service.grant("u", 1000).await;
    set(
        &service,
        json!([
            { "scope": "wallet", "amount": 10, "window": "month", "timeZone": "Europe/Berlin" },
            { "scope": "member:*", "amount": 30, "window": "year" },
        ]),
    )
    .await;
    let bob = json!({ "member": "bob" });
    deduct(&service, "k1", 6, bob.clone()).await.expect(200);
    let path = format!("{PATH}?externalUserId=u");
    let state = service.secret.get(&path).await.expect(200);
    let Text(resets): InstantText = from_value(state["limits"][0]["resetsAt"].clone()).unwrap();
    let left = resets.0 - service.clock.now().0;
    service.clock.advance_millis(left - 1000);
    let next = service.again(|_| ()).await;
    let hold =
        json!({ "externalUserId": "u", "amount": 4, "idempotencyKey": "h1", "member": "bob" });
    let holds = "/api/v1/wallets/external/holds";
    let placed = next.secret.post(holds, &hold).await.expect(200);
    let refused = deduct(&next, "k2", 1, bob.clone()).await;
    assert_refused(&refused, 403, "limit_exceeded");
    // The hold counts in the month in which it was placed.
    service.clock.advance_millis(1000);
    let next = next.again(|_| ()).await;
    let settle = format!(
        "/api/v1/holds/{}/settle",
        placed["holdId"].as_str().unwrap()
    );
    let settled = next.secret.post(&settle, &json!({ "amount": 4 })).await;
    settled.expect(200);
    assert_eq!(states(&next, "").await["wallet month"], [0, 0, 10]);
    deduct(&next, "k3", 10, bob.clone()).await.expect(200);
    let of_bob = states(&next, "&member=bob").await;
    assert_eq!(of_bob["member:* year"][0], 6 + 4 + 10);
    // A year asleep, or a backup of a year ago.
    service.clock.advance_millis(366 * 24 * 3_600_000);
    let late = next.again(|_| ()).await;
    let of_bob = states(&late, "&member=bob").await;
    assert_eq!(of_bob["member:* year"], [0, 0, 30]);
    assert_refused(
        &deduct(&late, "k4", 11, bob.clone()).await,
        403,
        "limit_exceeded",
    );
    deduct(&late, "k4", 10, bob).await.expect(200);
    // What was done before is not done again.
    let repeat = deduct(&late, "k1", 6, json!({ "member": "bob" }))
        .await
        .expect(200);
    assert_eq!(repeat["deducted"], json!(false));
}
