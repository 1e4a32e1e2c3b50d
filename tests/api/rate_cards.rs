//! What things cost: rate cards, and charges by them.

use std::sync::Arc;

use domain::{
    Timestamp,
    rate_card::{PutRateCard, RateCardSlug, RateList},
};
use scrip_wallet::{Deduct, Metered, PlaceHold, Scrip, Settle, Wallet};
use serde_json::{Value, json};

use crate::{
    client::Reply,
    service::{Service, assert_invalid, assert_refused},
};

const DEDUCT: &str = "/api/v1/wallets/external/deduct";

fn slug(name: &str) -> RateCardSlug {
    RateCardSlug::new(name).unwrap()
}

/// Makes the next version of the card `chat`, in tenths of credits a thousand tokens of input.
async fn put(service: &Service, input: &str, from: Option<Timestamp>) -> u32 {
    let rates = json!([
        {"match": {"model": "sonnet*"}, "unitPrices": {"input": input, "cachedInput": "0.1", "output": "15"}, "per": 1000},
        {"match": {"model": "local"}, "free": true},
        {"match": {"model": "dear"}, "unitPrices": {"input": "1000000000"}},
    ]);
    let rates = RateList::new(serde_json::from_value(rates).unwrap()).unwrap();
    let put = PutRateCard {
        slug: slug("chat"),
        product: service.product.parse().unwrap(),
        rates: Arc::new(rates),
        effective_from: from,
    };
    let put = service.catalog.put_rate_card(service.project.id, put).await;
    put.unwrap().version.number
}

/// A service with the card, and a wallet of `a` with a hundred credits.
async fn service() -> Service {
    let service = Service::start().await;
    assert_eq!(put(&service, "3", None).await, 1);
    service.grant("a", 100).await;
    service
}

fn used(key: &str, model: &str, input: u64) -> Value {
    json!({
        "externalUserId": "a", "idempotencyKey": key, "rateCard": "chat",
        "attributes": {"model": model}, "quantities": {"input": input},
    })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

async fn deduct(service: &Service, body: &Value) -> Reply {
    service.secret.post(DEDUCT, body).await
}

#[tokio::test]
async fn a_use_is_charged_in_whole_credits_and_explained() {
    let service = service().await;
    // 0.9 credits each.
    for (key, amount, balance) in [("k1", 0, 100), ("k2", 1, 99), ("k3", 1, 98)] {
        let done = deduct(&service, &used(key, "sonnet-4", 300))
            .await
            .expect(200);
        let expected = json!({
            "balance": balance, "deducted": true, "amount": amount, "cost": "0.9", "rateVersion": 1,
        });
        assert_eq!(done, expected);
    }
    let ledger = "/api/v1/wallets/external/ledger?externalUserId=a";
    let ledger = service.secret.get(ledger).await.expect(200);
    let first = &ledger["entries"][2];
    assert_eq!(first["delta"], 0);
    let rate = json!({
        "card": "chat", "version": 1, "attributes": {"model": "sonnet-4"}, "quantities": {"input": 300}, "cost": "0.9",
    });
    assert_eq!(first["rate"], rate);
}

#[tokio::test]
async fn a_providers_own_usage_is_read_without_counting_anything_twice() {
    let service = service().await;
    let usage = json!({
        "prompt_tokens": 2000, "completion_tokens": 100, "total_tokens": 2100,
        "prompt_tokens_details": {"cached_tokens": 1000, "invented_tokens": 7},
    });
    let body = json!({
        "externalUserId": "a", "idempotencyKey": "k", "rateCard": "chat", "attributes": {"model": "sonnet-4"},
        "usage": usage, "usageFormat": "openai.chat", "meta": {"feature": "chat"},
    });
    let done = deduct(&service, &body).await.expect(200);
    // 1,000 of input, 1,000 cached and 100 of output.
    assert_eq!((&done["cost"], &done["amount"]), (&json!("4.6"), &json!(4)));
    assert_eq!(
        done["unpricedUsage"],
        json!(["prompt_tokens_details.invented_tokens"])
    );
    let ledger = "/api/v1/wallets/external/ledger?externalUserId=a";
    let ledger = service.secret.get(ledger).await.expect(200);
    let entry = &ledger["entries"][0];
    assert_eq!(entry["meta"]["feature"], "chat");
    assert_eq!(entry["meta"]["unpricedUsage"], done["unpricedUsage"]);
    let quantities = json!({"input": 1000, "cachedInput": 1000, "output": 100, "request": 1});
    assert_eq!(entry["rate"]["quantities"], quantities);

    for (usage, param) in [
        (
            json!({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 11}}),
            "usage.prompt_tokens_details.cached_tokens",
        ),
        (json!({"prompt_tokens": -1}), "usage.prompt_tokens"),
        (json!({"prompt_tokens": 0, "completion_tokens": 0}), "usage"),
        (json!({}), "usage"),
    ] {
        let refused = deduct(&service, &with(body.clone(), "usage", usage)).await;
        assert_invalid(&refused, param);
    }
}

#[tokio::test]
async fn what_has_no_price_is_refused() {
    let service = service().await;
    assert_refused(
        &deduct(&service, &used("k", "gpt", 1)).await,
        404,
        "rate_not_found",
    );
    let images = with(used("k", "sonnet-4", 1), "quantities", json!({"image": 1}));
    let refused = deduct(&service, &images).await;
    assert_refused(&refused, 404, "rate_not_found");
    assert!(refused.body["message"].as_str().unwrap().contains("image"));
    let unknown = with(used("k", "sonnet-4", 1), "rateCard", json!("images"));
    assert_refused(
        &deduct(&service, &unknown).await,
        404,
        "rate_card_not_found",
    );
    let most = used("k", "dear", (1 << 53) - 1);
    assert_invalid(&deduct(&service, &most).await, "quantities");
    let nothing = deduct(&service, &used("k", "local", 5)).await.expect(200);
    assert_eq!(
        (&nothing["amount"], &nothing["balance"]),
        (&json!(0), &json!(100))
    );
}

#[tokio::test]
async fn a_request_says_its_cost_in_one_way() {
    let service = service().await;
    let body = || used("k", "sonnet-4", 1);
    let without = |field: &str| {
        let mut body = body();
        body.as_object_mut().unwrap().remove(field);
        body
    };
    for (body, param) in [
        (with(body(), "amount", json!(1)), "amount"),
        (
            json!({"externalUserId": "a", "idempotencyKey": "k"}),
            "amount",
        ),
        (without("rateCard"), "rateCard"),
        (without("quantities"), "quantities"),
        (with(body(), "quantities", json!({})), "quantities"),
        (
            with(body(), "quantities", json!({"input": 0})),
            "quantities",
        ),
        (
            with(body(), "quantities", json!({"input": -1})),
            "quantities.input",
        ),
        (
            with(body(), "quantities", json!({"input": 1.5})),
            "quantities.input",
        ),
        (with(body(), "usage", json!({})), "usage"),
        (
            with(without("quantities"), "usage", json!({})),
            "usageFormat",
        ),
        (
            with(
                with(without("quantities"), "usage", json!({})),
                "usageFormat",
                json!("x"),
            ),
            "usageFormat",
        ),
        (
            with(body(), "attributes", json!({"model": ""})),
            "attributes.model",
        ),
        (with(body(), "rateCard", json!("Chat")), "rateCard"),
    ] {
        assert_invalid(&deduct(&service, &body).await, param);
    }
    let other = service.add_product("Silver").await;
    let other = with(body(), "productId", json!(other.to_string()));
    assert_invalid(&deduct(&service, &other).await, "productId");
    assert_eq!(service.balance("a").await, 100);
}

#[tokio::test]
async fn a_repeat_outlives_its_price_and_its_card() {
    let service = service().await;
    let body = used("k", "sonnet-4", 1000);
    let first = deduct(&service, &body).await.expect(200);
    assert_eq!(put(&service, "4", None).await, 2);
    let again = deduct(&service, &body).await.expect(200);
    assert_eq!(again, with(first, "deducted", json!(false)));
    let close = service
        .catalog
        .close_rate_card(service.project.id, slug("chat"));
    close.await.unwrap();
    let again = deduct(&service, &body).await.expect(200);
    assert_eq!(
        (&again["amount"], &again["rateVersion"]),
        (&json!(3), &json!(1))
    );
    let other = used("k", "sonnet-4", 1001);
    let refused = deduct(&service, &other).await;
    assert_refused(&refused, 409, "idempotency_key_reused");
    let refused = deduct(&service, &used("new", "sonnet-4", 1)).await;
    assert_refused(&refused, 404, "rate_card_not_found");
    assert_eq!(put(&service, "3", None).await, 3, "it opens again");
    let done = deduct(&service, &used("new", "sonnet-4", 1)).await;
    assert_eq!(done.expect(200)["rateVersion"], 3);
}

#[tokio::test]
async fn a_hold_keeps_the_prices_that_it_was_placed_with() {
    let service = service().await;
    let hold = used("h", "sonnet-4", 10_001);
    let placed = service
        .secret
        .post("/api/v1/wallets/external/holds", &hold)
        .await
        .expect(200);
    assert_eq!(
        (&placed["amount"], &placed["cost"]),
        (&json!(31), &json!("30.003"))
    );
    for input in ["30", "40", "50"] {
        put(&service, input, None).await;
    }
    let again = service
        .secret
        .post("/api/v1/wallets/external/holds", &hold)
        .await
        .expect(200);
    assert_eq!(
        (&again["holdId"], &again["rateVersion"]),
        (&placed["holdId"], &json!(1))
    );
    let id = placed["holdId"].as_str().unwrap();
    let part = json!({"idempotencyKey": "d", "rateCard": "chat", "attributes": {"model": "sonnet-4"}, "quantities": {"input": 100}});
    let drawn = service
        .secret
        .post(&format!("/api/v1/holds/{id}/draw"), &part)
        .await
        .expect(200);
    assert_eq!(
        (&drawn["amount"], &drawn["cost"], &drawn["rateVersion"]),
        (&json!(0), &json!("0.3"), &json!(1))
    );
    let whole = json!({"rateCard": "chat", "attributes": {"model": "sonnet-4"}, "quantities": {"input": 5000}});
    let settle = format!("/api/v1/holds/{id}/settle");
    let settled = service.secret.post(&settle, &whole).await.expect(200);
    let expected = json!({
        "balance": 85, "deducted": true, "amount": 15, "cost": "15", "rateVersion": 1,
    });
    assert_eq!(settled, expected);
    let again = service.secret.post(&settle, &whole).await.expect(200);
    assert_eq!(again, with(expected, "deducted", json!(false)));

    let batch =
        json!({"items": [with(whole.clone(), "holdId", json!(id)), {"holdId": id, "amount": 15}]});
    let results = service
        .secret
        .post("/api/v1/settlements/batch", &batch)
        .await
        .expect(200);
    assert_eq!(results["results"][0]["rateVersion"], 1);
    assert_eq!(results["results"][1]["error"]["code"], "hold_closed");
}

#[tokio::test]
async fn a_version_begins_when_it_says() {
    let service = service().await;
    let noon = service.handle.now().plus_seconds(3600);
    assert_eq!(put(&service, "6", Some(noon)).await, 2);
    let cost = async |key: &str| {
        let done = deduct(&service, &used(key, "sonnet-4", 1000))
            .await
            .expect(200);
        (done["cost"].clone(), done["rateVersion"].clone())
    };
    assert_eq!(cost("before").await, (json!("3"), json!(1)));
    service.clock.advance_millis(3_600_000);
    assert_eq!(cost("after").await, (json!("6"), json!(2)));
    assert_eq!(put(&service, "6", None).await, 2, "nothing changes");
    let card = service
        .publishable
        .get("/api/v1/rate-cards/chat")
        .await
        .expect(200);
    assert_eq!(
        (&card["version"], &card["rates"][0]["unitPrices"]["input"]),
        (&json!(2), &json!("6"))
    );
    let cards = service
        .publishable
        .get("/api/v1/rate-cards")
        .await
        .expect(200);
    assert_eq!(cards["rateCards"], json!([card]));
    let unknown = service.publishable.get("/api/v1/rate-cards/NO").await;
    assert_refused(&unknown, 404, "rate_card_not_found");
}

#[tokio::test]
async fn an_estimate_charges_nothing_and_tells_no_stranger_a_balance() {
    let service = service().await;
    let body = json!({
        "rateCard": "chat", "attributes": {"model": "sonnet-4"}, "quantities": {"input": 100, "output": 10},
    });
    let line = |unit: &str, quantity: u64, price: &str, cost: &str| json!({"unit": unit, "quantity": quantity, "unitPrice": price, "per": 1000, "cost": cost});
    let expected = json!({
        "amount": 1, "cost": "0.45", "rateVersion": 1,
        "lines": [line("input", 100, "3", "0.3"), line("output", 10, "15", "0.15")],
    });
    let estimate = "/api/v1/estimate";
    assert_eq!(
        service.publishable.post(estimate, &body).await.expect(200),
        expected
    );
    let own = with(body.clone(), "externalUserId", json!("a"));
    let known = service.secret.post(estimate, &own).await.expect(200);
    assert_eq!(
        (&known["balance"], &known["affordable"]),
        (&json!(100), &json!(true))
    );
    assert_refused(
        &service.publishable.post(estimate, &own).await,
        403,
        "secret_key_required",
    );
    let session = service.session(json!({"externalUserId": "a"})).await;
    let known = session.post(estimate, &body).await.expect(200);
    assert_eq!(known["balance"], 100);
    let others = with(body, "externalUserId", json!("b"));
    assert_refused(
        &session.post(estimate, &others).await,
        403,
        "session_forbidden",
    );
    assert_eq!(service.balance("a").await, 100);
}

#[tokio::test]
async fn a_code_wallet_is_charged_by_a_card_and_in_batches() {
    let service = service().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let mut body = used("k", "sonnet-4", 1000);
    body.as_object_mut().unwrap().remove("externalUserId");
    let path = format!("/api/v1/wallets/{code}/deduct");
    let done = service.publishable.post(&path, &body).await.expect(200);
    assert_eq!((&done["amount"], &done["balance"]), (&json!(3), &json!(7)));
    let plain = json!({"amount": 1, "idempotencyKey": "p"});
    assert_invalid(&service.publishable.post(&path, &plain).await, "productId");
    let items = [
        with(
            with(body.clone(), "code", json!(code)),
            "idempotencyKey",
            json!("b1"),
        ),
        used("b2", "sonnet-4", 100),
        used("b3", "gpt", 100),
    ];
    let results = service
        .secret
        .post("/api/v1/deductions/batch", &json!({"items": items}))
        .await;
    let results = results.expect(200);
    assert_eq!(results["results"][0]["balance"], 4);
    assert_eq!(results["results"][1]["cost"], "0.3");
    assert_eq!(results["results"][2]["error"]["code"], "rate_not_found");
}

#[tokio::test]
async fn usage_is_counted_by_card_and_by_model() {
    let service = service().await;
    deduct(&service, &used("k1", "sonnet-4", 1000))
        .await
        .expect(200);
    deduct(&service, &used("k2", "local", 9)).await.expect(200);
    let plain = json!({"externalUserId": "a", "amount": 5, "idempotencyKey": "k3", "meta": {"feature": "chat"}});
    deduct(&service, &plain).await.expect(200);
    let group = |key: Value, credits: i64, deductions: i64| json!({"key": key, "credits": credits, "deductions": deductions});
    for whose in ["", "&externalUserId=a"] {
        let by = async |group: &str| {
            let path = format!("/api/v1/usage?groupBy={group}{whose}");
            let usage = service.secret.get(&path).await.expect(200);
            usage["buckets"][29]["groups"].clone()
        };
        let cards = json!([group(Value::Null, 5, 1), group(json!("chat"), 3, 2)]);
        assert_eq!(by("rateCard").await, cards);
        let models = [group(json!("local"), 0, 1)];
        let models = [
            [group(Value::Null, 5, 1), group(json!("sonnet-4"), 3, 1)].as_slice(),
            &models,
        ]
        .concat();
        assert_eq!(by("attribute:model").await, json!(models));
        assert_eq!(by("feature").await[0]["key"], "chat");
    }
}

#[tokio::test]
async fn the_rust_client_charges_by_a_card() {
    let service = service().await;
    let scrip = Scrip::new(&service.base, service.secret.key()).unwrap();
    let ann = Wallet::external("a");
    let used =
        |tokens| Metered::quantities("chat", [("input", tokens)]).attribute("model", "sonnet-4");
    let estimate = scrip.estimate(&used(1500), Some(&ann)).await.unwrap();
    assert_eq!((estimate.amount, estimate.affordable), (5, Some(true)));
    let deduct = || Deduct::of(used(1500)).key("k");
    let done = scrip.deduct(&ann, deduct()).await.unwrap();
    assert_eq!((done.amount, done.cost.as_deref()), (Some(4), Some("4.5")));
    let again = scrip.deduct(&ann, deduct()).await.unwrap();
    assert_eq!((again.amount, again.deducted), (Some(4), false));
    let hold = scrip.hold(&ann, PlaceHold::of(used(10_000))).await.unwrap();
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010});
    let usage = Metered::usage("chat", "openai.chat", usage).attribute("model", "sonnet-4");
    let settled = scrip
        .settle(&hold.hold_id, Settle::of(usage))
        .await
        .unwrap();
    assert_eq!(settled.cost.as_deref(), Some("3.15"));
    assert_eq!(scrip.rate_card("chat").await.unwrap().version, 1);
    assert_eq!(scrip.rate_cards().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_former_version_is_read_again_when_a_hold_needs_it() {
    let service = service().await;
    let hold = used("h", "sonnet-4", 1000);
    let placed = service
        .secret
        .post("/api/v1/wallets/external/holds", &hold)
        .await;
    let id = placed.expect(200)["holdId"].as_str().unwrap().to_owned();
    // More than are kept in memory: a change every few seconds for an hour.
    for number in 0..1000 {
        put(&service, &format!("{}", number % 50 + 10), None).await;
    }
    let whole = json!({"rateCard": "chat", "attributes": {"model": "sonnet-4"}, "quantities": {"input": 500}});
    let draw = with(whole.clone(), "idempotencyKey", json!("d"));
    let drawn = service
        .secret
        .post(&format!("/api/v1/holds/{id}/draw"), &draw)
        .await
        .expect(200);
    assert_eq!(
        (&drawn["cost"], &drawn["rateVersion"]),
        (&json!("1.5"), &json!(1))
    );
    let service = service.again(|_| ()).await;
    let settled = service
        .secret
        .post(&format!("/api/v1/holds/{id}/settle"), &whole)
        .await;
    let settled = settled.expect(200);
    assert_eq!(
        (&settled["cost"], &settled["rateVersion"]),
        (&json!("1.5"), &json!(1))
    );
    let now = deduct(&service, &used("k", "sonnet-4", 1000))
        .await
        .expect(200);
    assert_eq!(
        (&now["cost"], &now["rateVersion"]),
        (&json!("59"), &json!(1001))
    );
}
