//! `GET /wallets/{code}/ledger` and `GET /wallets/external/ledger`

use serde_json::{Value, json};

use crate::service::{NO_CODE, Service, assert_invalid, assert_refused};

const PATH: &str = "/api/v1/wallets/external/ledger?externalUserId=u";

async fn deduct(service: &Service, number: i64) {
    let body = json!({
        "externalUserId": "u", "amount": number, "idempotencyKey": format!("k{number}"),
        "meta": { "n": number },
    });
    service
        .secret
        .post("/api/v1/wallets/external/deduct", &body)
        .await
        .expect(200);
}

#[tokio::test]
async fn entries_say_everything_newest_first() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    service.clock.advance_millis(1500);
    deduct(&service, 3).await;
    let page = service.secret.get(PATH).await.expect(200);
    let [deduction, grant] = page["entries"].as_array().unwrap().as_slice() else {
        panic!("{page}");
    };
    assert!(deduction["id"].as_str().unwrap().starts_with("led_"));
    let expected = json!({
        "id": deduction["id"], "delta": -3, "reason": "deduction", "productId": service.product,
        "creditUnit": "renders", "balanceAfter": 7, "createdAt": "2026-11-18T11:06:41.500Z",
        "idempotencyKey": "k3", "meta": { "n": 3 },
    });
    assert_eq!(deduction, &expected);
    assert_eq!(
        (&grant["delta"], &grant["reason"]),
        (&json!(10), &json!("manual"))
    );
    assert_eq!(page["nextCursor"], Value::Null);
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_while_new_entries_arrive() {
    let service = Service::start().await;
    service.grant("u", 1000).await;
    for number in 1..=5 {
        deduct(&service, number).await;
    }
    let first = service
        .secret
        .get(&format!("{PATH}&limit=2"))
        .await
        .expect(200);
    deduct(&service, 6).await;
    let mut seen: Vec<Value> = first["entries"].as_array().unwrap().clone();
    let mut cursor = first["nextCursor"].clone();
    while let Some(text) = cursor.as_str() {
        let page = service
            .secret
            .get(&format!("{PATH}&limit=2&cursor={text}"))
            .await
            .expect(200);
        seen.extend(page["entries"].as_array().unwrap().iter().cloned());
        cursor = page["nextCursor"].clone();
    }
    let deltas: Vec<i64> = seen
        .iter()
        .map(|entry| entry["delta"].as_i64().unwrap())
        .collect();
    assert_eq!(deltas, [-5, -4, -3, -2, -1, 1000]);
}

#[tokio::test]
async fn a_ledger_can_be_filtered() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    deduct(&service, 1).await;
    let manual = service
        .secret
        .get(&format!("{PATH}&reason=manual"))
        .await
        .expect(200);
    assert_eq!(manual["entries"].as_array().unwrap().len(), 1);
    let product = format!("{PATH}&productId={}", service.product);
    assert_eq!(
        service.secret.get(&product).await.expect(200)["entries"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_invalid(
        &service.secret.get(&format!("{PATH}&reason=whim")).await,
        "reason",
    );
    let unknown = service
        .secret
        .get(&format!("{PATH}&productId=prod_x"))
        .await;
    assert_refused(&unknown, 404, "product_not_found");
}

#[tokio::test]
async fn bad_limits_and_cursors_are_refused() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    for limit in ["0", "101", "-1", "x", "", "1.5"] {
        assert_invalid(
            &service.secret.get(&format!("{PATH}&limit={limit}")).await,
            "limit",
        );
    }
    for cursor in ["", "x", "c1_", "c1_zz"] {
        assert_invalid(
            &service.secret.get(&format!("{PATH}&cursor={cursor}")).await,
            "cursor",
        );
    }
    let largest = format!("{PATH}&limit=100");
    service.secret.get(&largest).await.expect(200);
}

#[tokio::test]
async fn a_code_opens_its_ledger() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 4).await;
    let page = service
        .publishable
        .get(&format!("/api/v1/wallets/{code}/ledger"))
        .await
        .expect(200);
    assert_eq!(page["entries"][0]["delta"], 4);
    let reply = service
        .publishable
        .get(&format!("/api/v1/wallets/{NO_CODE}/ledger"))
        .await;
    assert_refused(&reply, 404, "wallet_not_found");
    let reply = service
        .secret
        .get("/api/v1/wallets/external/ledger?externalUserId=x")
        .await;
    assert_refused(&reply, 404, "wallet_not_found");
}

#[tokio::test]
async fn a_ledger_can_be_read_from_one_instant_to_another_in_memory_and_from_the_books() {
    let service = Service::start().await;
    service.grant("u", 1000).await;
    for number in 1..=40 {
        service.clock.advance_millis(60_000);
        deduct(&service, number).await;
    }
    // The grant was at 11:06:40, deduction n at n minutes after it.
    let deltas = async |query: &str| -> Vec<i64> {
        let path = format!("{PATH}&limit=100{query}");
        let page = service.secret.get(&path).await.expect(200);
        assert_eq!(page["nextCursor"], Value::Null);
        let entries = page["entries"].as_array().unwrap().iter();
        entries.map(|it| it["delta"].as_i64().unwrap()).collect()
    };
    for _ in ["recent", "folded"] {
        let hour = "T11:";
        let all = format!("&from=2026-11-18{hour}36:40.000Z&to=2026-11-18{hour}39:40.000Z");
        assert_eq!(deltas(&all).await, [-32, -31, -30]);
        let first = format!("&to=2026-11-18{hour}08:40.000Z");
        assert_eq!(deltas(&first).await, [-1, 1000]);
        let last = format!("&from=2026-11-18{hour}46:40.000Z&reason=deduction");
        assert_eq!(deltas(&last).await, [-40]);
        assert_eq!(deltas("&from=2027-01-01T00:00:00.000Z").await, [0; 0]);
        assert_eq!(deltas("&to=2026-01-01T00:00:00.000Z").await, [0; 0]);
        service.handle.fold_all().await.unwrap();
    }
    let page = service.secret.get(&format!("{PATH}&from=yesterday")).await;
    assert_invalid(&page, "from");
}
