//! Settling what was held: `POST /holds/{holdId}/settle`.

use serde_json::{Value, json};

use crate::{
    client::Reply,
    holds_create::{EXTERNAL, body, path, place},
    service::{Service, assert_invalid, assert_refused, header, lines},
};

async fn settle(service: &Service, hold: &str, amount: i64, on_shortfall: &str) -> Reply {
    let body = json!({ "amount": amount, "onShortfall": on_shortfall });
    service.secret.post(&path(hold, "/settle"), &body).await
}

#[tokio::test]
async fn settling_takes_the_cost_and_returns_the_rest() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let settle = |amount: i64| {
        let path = path(&hold, "/settle");
        let secret = service.secret.clone();
        async move { secret.post(&path, &json!({ "amount": amount })).await }
    };
    assert_refused(&settle(11).await, 402, "insufficient_credits");
    assert_eq!(
        settle(3).await.expect(200),
        json!({ "balance": 7, "deducted": true })
    );
    let again = settle(3).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(
        again.expect(200),
        json!({ "balance": 7, "deducted": false })
    );
    assert_refused(&settle(2).await, 409, "hold_closed");
    let release = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_refused(&release, 409, "hold_closed");
    let extend = json!({ "expiresInSeconds": 60 });
    let extend = service.secret.post(&path(&hold, "/extend"), &extend).await;
    assert_refused(&extend, 409, "hold_closed");
    let read = service.secret.get(&path(&hold, "")).await.expect(200);
    assert_eq!(
        (&read["status"], &read["settledAmount"]),
        (&json!("settled"), &json!(3))
    );
}

#[tokio::test]
async fn settling_nothing_deducts_nothing() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let settled = service
        .secret
        .post(&path(&hold, "/settle"), &json!({ "amount": 0 }))
        .await;
    assert_eq!(
        settled.expect(200),
        json!({ "balance": 10, "deducted": false })
    );
}

/// The work came to 4.39 times its estimate: it was done, and what was used is charged.
#[tokio::test]
async fn a_cost_of_many_times_the_estimate_is_charged_as_far_as_it_can_be() {
    for (on_shortfall, owed, uncovered) in [("drain", 0, 239), ("owe", 150, 89)] {
        let service = Service::start().await;
        service.trust(150).await;
        service.grant("u", 200).await;
        let hold = place(&service, 100, "h").await;
        let settled = settle(&service, &hold, 439, on_shortfall).await.expect(200);
        let expected = json!({
            "balance": 0, "deducted": true, "charged": 200, "owed": owed, "uncovered": uncovered,
        });
        assert_eq!(settled, expected);
        let again = settle(&service, &hold, 439, on_shortfall).await;
        assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
        let expected = json!({
            "balance": 0, "deducted": false, "charged": 200, "owed": owed, "uncovered": uncovered,
        });
        assert_eq!(again.expect(200), expected);
        let other = settle(&service, &hold, 440, on_shortfall).await;
        assert_refused(&other, 409, "hold_closed");
        assert_eq!(service.stands("u").await, [0, 0, owed]);
        let expected = lines(&[(200, "manual"), (-200 - owed, "deduction")]);
        assert_eq!(service.ledger("u").await, expected);
        let read = service.secret.get(&path(&hold, "")).await.expect(200);
        assert_eq!(read["settledAmount"], 200 + owed);
        assert_eq!(read["owed"].as_i64().unwrap_or(0), owed);
        assert_eq!(read["uncovered"], uncovered);
    }
}

#[tokio::test]
async fn a_refused_settlement_leaves_the_hold_open_and_its_credits_held() {
    let service = Service::start().await;
    service.trust(150).await;
    service.grant("u", 150).await;
    let hold = place(&service, 100, "h").await;
    for refused in [
        json!({ "amount": 439 }),
        json!({ "amount": 439, "onShortfall": "refuse" }),
    ] {
        let refused = service.secret.post(&path(&hold, "/settle"), &refused).await;
        assert_refused(&refused, 402, "insufficient_credits");
        assert_eq!(refused.body["shortfall"], 289);
    }
    let read = service.secret.get(&path(&hold, "")).await.expect(200);
    assert_eq!(read["status"], "open");
    assert_eq!(service.stands("u").await, [50, 100, 0]);
    let settled = settle(&service, &hold, 439, "drain").await.expect(200);
    assert_eq!(settled["charged"], 150);
}

#[tokio::test]
async fn a_cost_that_is_covered_says_so_where_it_was_asked() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let hold = place(&service, 40, "h").await;
    let settled = settle(&service, &hold, 30, "refuse").await.expect(200);
    let expected = json!({
        "balance": 70, "deducted": true, "charged": 30, "owed": 0, "uncovered": 0,
    });
    assert_eq!(settled, expected);
}

#[tokio::test]
async fn a_hold_settled_a_day_late_is_a_deduction_under_its_key() {
    let service = Service::start().await;
    service.trust(50).await;
    service.grant("u", 100).await;
    let hold = place(&service, 40, "h").await;
    let draw = json!({ "amount": 10, "idempotencyKey": "d" });
    service
        .secret
        .post(&path(&hold, "/draw"), &draw)
        .await
        .expect(200);
    service.clock.advance_millis(86_400_000);
    let refused = service
        .secret
        .post(&path(&hold, "/settle"), &json!({ "amount": 120 }))
        .await;
    assert_refused(&refused, 409, "hold_closed");
    let late = |deducted: bool| {
        json!({
            "balance": 0, "deducted": deducted, "charged": 100, "owed": 20, "uncovered": 0,
            "late": true,
        })
    };
    let settled = settle(&service, &hold, 120, "owe").await.expect(200);
    assert_eq!(settled, late(true));
    let service = service.again(|_| {}).await;
    let again = settle(&service, &hold, 120, "owe").await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(again.expect(200), late(false));
    let other = settle(&service, &hold, 121, "owe").await;
    assert_refused(&other, 409, "idempotency_key_reused");
    let path = "/api/v1/wallets/external/ledger?externalUserId=u";
    let page = service.secret.get(path).await.expect(200);
    let entry = &page["entries"][0];
    assert_eq!(
        (
            &entry["delta"],
            &entry["idempotencyKey"],
            &entry["balanceAfter"]
        ),
        (&json!(-110), &json!("h"), &json!(-20))
    );
    assert_eq!(service.stands("u").await, [0, 0, 20]);
}

/// Each hold reserves the worst that its work can come to; together they never pass the limit.
#[tokio::test]
async fn ten_worst_cases_fill_the_limit_and_the_eleventh_is_refused() {
    let service = Service::start().await;
    service.trust(100).await;
    service.grant("u", 1000).await;
    let mut holds = Vec::new();
    let mut request = body(5, "h");
    request["maxOverrun"] = json!(10);
    for number in 0..10 {
        request["idempotencyKey"] = json!(format!("h{number}"));
        let placed = service.secret.post(EXTERNAL, &request).await.expect(200);
        holds.push(placed["holdId"].as_str().unwrap().to_owned());
    }
    request["idempotencyKey"] = json!("h10");
    let refused = service.secret.post(EXTERNAL, &request).await;
    assert_refused(&refused, 402, "insufficient_credits");
    assert_eq!(
        (
            &refused.body["creditAvailable"],
            &refused.body["requested"],
            &refused.body["param"]
        ),
        (&json!(0), &json!(10), &json!("maxOverrun"))
    );
    let read = service.secret.get(&path(&holds[0], "")).await.expect(200);
    assert_eq!(read["maxOverrun"], 10);
    let spend = json!({
        "externalUserId": "u", "amount": 960, "idempotencyKey": "d", "onShortfall": "owe",
    });
    let spent = service
        .secret
        .post("/api/v1/wallets/external/deduct", &spend)
        .await;
    let expected = json!({
        "balance": 0, "deducted": true, "charged": 950, "owed": 0, "uncovered": 10,
    });
    assert_eq!(spent.expect(200), expected, "what holds reserve is theirs");
    for hold in &holds {
        let settled = settle(&service, hold, 18, "owe").await.expect(200);
        assert_eq!(
            (&settled["charged"], &settled["owed"], &settled["uncovered"]),
            (&json!(5), &json!(10), &json!(3))
        );
    }
    assert_eq!(service.stands("u").await, [0, 0, 100]);
}

#[tokio::test]
async fn code_wallets_never_owe_and_reserve_nothing() {
    let service = Service::start().await;
    service.trust(100).await;
    let code = service.code().await;
    service.grant_code(&code, 50).await;
    let holds = format!("/api/v1/wallets/{code}/holds");
    let mut request = json!({
        "productId": service.product, "amount": 20, "idempotencyKey": "h", "maxOverrun": 1,
    });
    let refused = service.publishable.post(&holds, &request).await;
    assert_refused(&refused, 402, "insufficient_credits");
    assert_eq!(refused.body["creditAvailable"], 0);
    request["maxOverrun"] = json!(0);
    let placed = service.publishable.post(&holds, &request).await.expect(200);
    let settle = json!({ "amount": 80, "onShortfall": "owe" });
    let hold = placed["holdId"].as_str().unwrap();
    let settled = service
        .publishable
        .post(&path(hold, "/settle"), &settle)
        .await;
    let expected = json!({
        "balance": 0, "deducted": true, "charged": 50, "owed": 0, "uncovered": 30,
    });
    assert_eq!(settled.expect(200), expected);
}

#[tokio::test]
async fn what_to_do_with_a_shortfall_is_one_of_three_words() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let hold = place(&service, 40, "h").await;
    for bad in [json!("Owe"), json!(""), json!(1), json!({ "owe": {} })] {
        let settle = json!({ "amount": 1, "onShortfall": bad });
        let refused = service.secret.post(&path(&hold, "/settle"), &settle).await;
        assert_invalid(&refused, "onShortfall");
    }
    let mut request = body(1, "k");
    request["maxOverrun"] = json!(-1);
    assert_invalid(&service.secret.post(EXTERNAL, &request).await, "maxOverrun");
}
