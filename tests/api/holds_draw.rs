//! Charging a part of a hold while the work goes on: `POST /holds/{holdId}/draw`.

use serde_json::{Value, json};

use crate::{
    client::Reply,
    holds_create::{path, place},
    service::{Service, assert_invalid, assert_refused, header, lines},
};

async fn draw(service: &Service, hold: &str, amount: i64, key: &str) -> Reply {
    let body = json!({ "amount": amount, "idempotencyKey": key });
    service.secret.post(&path(hold, "/draw"), &body).await
}

#[tokio::test]
async fn a_draw_charges_a_part_and_leaves_the_hold_open() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let hold = place(&service, 40, "h").await;
    let drawn = draw(&service, &hold, 15, "d1").await.expect(200);
    let expected = json!({ "balance": 60, "deducted": true, "drawn": 15, "held": 25 });
    assert_eq!(drawn, expected);
    let again = draw(&service, &hold, 15, "d1").await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    let expected = json!({ "balance": 60, "deducted": false, "drawn": 15, "held": 25 });
    assert_eq!(again.expect(200), expected);
    let more = draw(&service, &hold, 35, "d2").await.expect(200);
    let expected = json!({ "balance": 50, "deducted": true, "drawn": 50, "held": 0 });
    assert_eq!(
        more, expected,
        "past what is held it takes from the balance"
    );
    let refused = draw(&service, &hold, 51, "d3").await;
    assert_refused(&refused, 402, "insufficient_credits");
    assert_eq!(refused.body["shortfall"], 1);
    let read = service.secret.get(&path(&hold, "")).await.expect(200);
    assert_eq!(
        (&read["status"], &read["amount"], &read["drawn"]),
        (&json!("open"), &json!(40), &json!(50))
    );
    let expected = lines(&[(100, "manual"), (-15, "deduction"), (-35, "deduction")]);
    assert_eq!(service.ledger("u").await, expected);
}

#[tokio::test]
async fn a_key_draws_once_of_all_holds_of_the_wallet() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let (one, two) = (
        place(&service, 10, "h1").await,
        place(&service, 10, "h2").await,
    );
    draw(&service, &one, 5, "d").await.expect(200);
    let other_amount = draw(&service, &one, 6, "d").await;
    assert_refused(&other_amount, 409, "idempotency_key_reused");
    let other_hold = draw(&service, &two, 5, "d").await;
    assert_refused(&other_hold, 409, "idempotency_key_reused");
    service
        .secret
        .post(&path(&one, "/release"), &Value::Null)
        .await
        .expect(200);
    let repeated = draw(&service, &one, 5, "d").await;
    let expected = json!({ "balance": 85, "deducted": false, "drawn": 5, "held": 0 });
    assert_eq!(repeated.expect(200), expected, "also once it is closed");
    assert_refused(&draw(&service, &one, 5, "e").await, 409, "hold_closed");
}

#[tokio::test]
async fn settling_counts_the_draws_as_a_part_of_the_cost() {
    for (cost, answer, last) in [
        (
            30,
            json!({ "balance": 70, "deducted": true }),
            (-10, "deduction"),
        ),
        (
            20,
            json!({ "balance": 80, "deducted": false }),
            (-20, "deduction"),
        ),
        (
            5,
            json!({ "balance": 95, "deducted": false }),
            (15, "reversal"),
        ),
    ] {
        let service = Service::start().await;
        service.grant("u", 100).await;
        let hold = place(&service, 40, "h").await;
        draw(&service, &hold, 20, "d").await.expect(200);
        let settle = json!({ "amount": cost });
        let settled = service.secret.post(&path(&hold, "/settle"), &settle).await;
        assert_eq!(settled.expect(200), answer);
        let ledger = service.ledger("u").await;
        assert_eq!(ledger.last(), lines(&[last]).last());
        let again = service.secret.post(&path(&hold, "/settle"), &settle).await;
        assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
        assert_eq!(again.expect(200)["deducted"], false);
    }
}

/// A stream that draws for each chunk and breaks off after any number of them: what was drawn is charged, the rest
/// comes back, whether the hold is released or left to expire.
#[tokio::test]
async fn a_stream_that_breaks_off_anywhere_loses_nothing_that_was_done() {
    for chunks in 0..=6 {
        for is_released in [true, false] {
            let service = Service::start().await;
            service.grant("u", 100).await;
            let hold = place(&service, 30, "h").await;
            for chunk in 0..chunks {
                draw(&service, &hold, 10, &format!("c{chunk}"))
                    .await
                    .expect(200);
            }
            if is_released {
                let release = path(&hold, "/release");
                let released = service
                    .secret
                    .post(&release, &Value::Null)
                    .await
                    .expect(200);
                assert_eq!(released, json!({ "balance": 100 - 10 * chunks }));
            } else {
                service.clock.advance_millis(900_000);
            }
            assert_eq!(service.position("u").await, [100 - 10 * chunks, 0, 0]);
            let read = service.secret.get(&path(&hold, "")).await.expect(200);
            let status = if is_released { "released" } else { "expired" };
            assert_eq!(read["status"], status);
            assert_eq!(read["drawn"].as_i64().unwrap_or(0), 10 * chunks);
        }
    }
}

#[tokio::test]
async fn a_thousand_draws_of_one_hold_are_all_known_by_their_keys() {
    let service = Service::start().await;
    service.grant("u", 2000).await;
    let hold = place(&service, 500, "h").await;
    for number in 0..1000 {
        draw(&service, &hold, 1, &format!("d{number}"))
            .await
            .expect(200);
    }
    for number in [0, 499, 999] {
        let again = draw(&service, &hold, 1, &format!("d{number}")).await;
        assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
        assert_eq!(again.expect(200)["drawn"], 1000);
    }
    let settle = json!({ "amount": 1000 });
    let settled = service.secret.post(&path(&hold, "/settle"), &settle).await;
    assert_eq!(settled.expect(200)["balance"], 1000);
}

#[tokio::test]
async fn a_replaced_code_ends_the_hold_and_keeps_what_was_drawn() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 100).await;
    let body = json!({ "productId": service.product, "amount": 40, "idempotencyKey": "h" });
    let holds = format!("/api/v1/wallets/{code}/holds");
    let placed = service.publishable.post(&holds, &body).await.expect(200);
    let hold = placed["holdId"].as_str().unwrap();
    let body = json!({ "amount": 15, "idempotencyKey": "d" });
    let drawn = service.publishable.post(&path(hold, "/draw"), &body).await;
    assert_eq!(drawn.expect(200)["drawn"], 15);
    let rotate = format!("/api/v1/wallets/{code}/rotate");
    let rotated = service
        .publishable
        .post(&rotate, &Value::Null)
        .await
        .expect(200);
    let wallet = format!("/api/v1/wallets/{}", rotated["code"].as_str().unwrap());
    let wallet = service.publishable.get(&wallet).await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 85);
    assert_eq!(wallet["balances"][0]["held"], Value::Null);
    let late = json!({ "amount": 20, "onShortfall": "owe" });
    let late = service.secret.post(&path(hold, "/settle"), &late).await;
    assert_refused(&late, 409, "hold_closed");
}

#[tokio::test]
async fn who_may_draw_and_malformed_requests() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let hold = place(&service, 40, "h").await;
    let body = json!({ "amount": 1, "idempotencyKey": "d" });
    let foreign = service.publishable.post(&path(&hold, "/draw"), &body).await;
    assert_refused(&foreign, 403, "secret_key_required");
    let unknown = draw(&service, "hold_x", 1, "d").await;
    assert_refused(&unknown, 404, "hold_not_found");
    for (name, bad) in [
        ("amount", json!(0)),
        ("amount", json!(1.5)),
        ("amount", Value::Null),
        ("idempotencyKey", json!("")),
        ("idempotencyKey", Value::Null),
    ] {
        let mut body = body.clone();
        body[name] = bad;
        assert_invalid(
            &service.secret.post(&path(&hold, "/draw"), &body).await,
            name,
        );
    }
    assert_eq!(service.position("u").await, [60, 40, 0]);
}
