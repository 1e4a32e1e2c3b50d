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
        assert_eq!(service.position("u").await, [0, 0, owed]);
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
    assert_eq!(service.position("u").await, [50, 100, 0]);
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
    assert_eq!(service.position("u").await, [0, 0, 20]);
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
    assert_eq!(service.position("u").await, [0, 0, 100]);
}

#[tokio::test]
async fn of_holds_placed_at_once_as_many_are_taken_as_the_limit_bears() {
    let service = Service::start().await;
    service.trust(100).await;
    service.grant("u", 1000).await;
    let requests = (0..30).map(|number| {
        let mut request = body(5, &format!("h{number}"));
        request["maxOverrun"] = json!(10);
        let secret = service.secret.clone();
        async move { secret.post(EXTERNAL, &request).await }
    });
    let placed = futures_util::future::join_all(requests).await;
    let (placed, refused): (Vec<_>, Vec<_>) = placed.into_iter().partition(|it| it.status == 200);
    assert_eq!(placed.len(), 10);
    for refused in refused {
        assert_refused(&refused, 402, "insufficient_credits");
        assert_eq!(refused.body["creditAvailable"], 0);
    }
    // All turn out four times as dear, at once, and each is sent twice.
    let spend = json!({ "externalUserId": "u", "amount": 950, "idempotencyKey": "d" });
    let path_of = "/api/v1/wallets/external/deduct";
    service.secret.post(path_of, &spend).await.expect(200);
    let settlements = placed.iter().chain(&placed).map(|hold| {
        let hold = hold.body["holdId"].as_str().unwrap();
        settle(&service, hold, 20, "owe")
    });
    for settled in futures_util::future::join_all(settlements).await {
        let settled = settled.expect(200);
        assert_eq!(
            (&settled["charged"], &settled["owed"], &settled["uncovered"]),
            (&json!(5), &json!(10), &json!(5))
        );
    }
    assert_eq!(service.position("u").await, [0, 0, 100]);
}

/// Ten jobs, any of which may come to the whole budget: held for the worst case, one would keep out the other nine.
/// Held for what is usual, all of them run, and the one that does come to more takes what the others left.
#[tokio::test]
async fn a_worst_case_that_would_fill_the_budget_keeps_no_other_work_out() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let worst = place(&service, 100, "worst").await;
    let refused = service.secret.post(EXTERNAL, &body(10, "next")).await;
    assert_refused(&refused, 402, "insufficient_credits");
    // What the worst case did not come to is there again with its settlement.
    let settled = settle(&service, &worst, 5, "drain").await.expect(200);
    assert_eq!(settled["balance"], 95);
    let mut jobs = Vec::new();
    for number in 0..9 {
        jobs.push(place(&service, 5, &format!("job {number}")).await);
    }
    let long = place(&service, 5, "long").await;
    for chunk in 0..9 {
        let draw = json!({ "amount": 5, "idempotencyKey": format!("c{chunk}") });
        let path = path(&long, "/draw");
        service.secret.post(&path, &draw).await.expect(200);
    }
    for job in &jobs {
        settle(&service, job, 5, "drain").await.expect(200);
    }
    let settled = settle(&service, &long, 100, "drain").await.expect(200);
    let expected = json!({
        "balance": 0, "deducted": true, "charged": 50, "owed": 0, "uncovered": 50,
    });
    assert_eq!(settled, expected);
    let spent: i64 = service.ledger("u").await[1..].iter().map(|it| it.0).sum();
    assert_eq!(spent, -100);
}

#[tokio::test]
async fn settled_late_for_less_than_was_drawn_the_rest_comes_back() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let hold = place(&service, 40, "h").await;
    let draw = json!({ "amount": 30, "idempotencyKey": "d" });
    let draw_path = path(&hold, "/draw");
    service.secret.post(&draw_path, &draw).await.expect(200);
    service.clock.advance_millis(86_400_000);
    for deducted in [false, false] {
        let settled = settle(&service, &hold, 12, "drain").await.expect(200);
        let expected = json!({
            "balance": 88, "deducted": deducted, "charged": 12, "owed": 0, "uncovered": 0,
            "late": true,
        });
        assert_eq!(settled, expected);
    }
    let ledger = service.ledger("u").await;
    let expected = lines(&[(100, "manual"), (-30, "deduction"), (18, "reversal")]);
    assert_eq!(ledger, expected);
    let read = service.secret.get(&path(&hold, "")).await.expect(200);
    assert_eq!(read["status"], "expired");
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

#[tokio::test]
async fn a_note_of_what_was_charged_is_laid_over_that_of_the_hold() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let place = |key: &str, meta: Value| {
        let mut placed = body(10, key);
        placed["meta"] = meta;
        let secret = service.secret.clone();
        async move {
            let hold = secret.post(EXTERNAL, &placed).await.expect(200);
            hold["holdId"].as_str().unwrap().to_owned()
        }
    };
    let hold = place("h", json!({ "feature": "chat", "run": 1 })).await;
    let late = place("late", json!({ "feature": "chat" })).await;
    let draw = json!({ "amount": 2, "idempotencyKey": "d", "meta": { "run": 2 } });
    service
        .secret
        .post(&path(&hold, "/draw"), &draw)
        .await
        .expect(200);
    let estimated = json!({ "amount": 5, "meta": { "estimated": true } });
    let settled = service
        .secret
        .post(&path(&hold, "/settle"), &estimated)
        .await;
    settled.expect(200);
    // As with deductions, a repeat may have another note.
    let again = json!({ "amount": 5, "meta": {} });
    let again = service.secret.post(&path(&hold, "/settle"), &again).await;
    assert_eq!(again.expect(200)["deducted"], false);
    service
        .secret
        .post(&path(&late, "/release"), &Value::Null)
        .await
        .expect(200);
    let drained = json!({ "amount": 5, "onShortfall": "drain", "meta": { "feature": "image" } });
    let drained = service.secret.post(&path(&late, "/settle"), &drained).await;
    assert_eq!(drained.expect(200)["late"], true);
    let path_of_ledger = "/api/v1/wallets/external/ledger?externalUserId=u&reason=deduction";
    let ledger = service.secret.get(path_of_ledger).await.expect(200);
    let metas = ledger["entries"].as_array().unwrap().iter();
    let metas: Vec<_> = metas.map(|entry| entry["meta"].clone()).collect();
    assert_eq!(
        metas,
        [
            json!({ "feature": "image" }),
            json!({ "feature": "chat", "run": 1, "estimated": true }),
            json!({ "feature": "chat", "run": 2 }),
        ]
    );

    let hold = place("large", json!({ "a": "x".repeat(2048) })).await;
    let more = json!({ "amount": 1, "idempotencyKey": "e", "meta": { "b": "x".repeat(2048) } });
    for verb in ["/settle", "/draw"] {
        let refused = service.secret.post(&path(&hold, verb), &more).await;
        assert_invalid(&refused, "meta");
        let ill_shaped = json!({ "amount": 1, "idempotencyKey": "e", "meta": [] });
        let refused = service.secret.post(&path(&hold, verb), &ill_shaped).await;
        assert_invalid(&refused, "meta");
    }
}
