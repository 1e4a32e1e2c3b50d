//! Prices by the admin API, and what callers then see of them.

use kit::Server;
use serde_json::json;

use crate::{assert_invalid, get, patch, post, product, project};

#[tokio::test]
async fn a_price_is_offered_with_its_product_until_it_is_inactive() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), format!("{}/prices", product(&server)));
    let body = json!({
        "label": "Small", "amountCents": 500, "currency": "EUR", "creditsGranted": 100,
        "features": ["export", "api", "api"], "interval": "one_time", "creditsExpireAfterDays": 30,
    });
    let created = post(&admin, &path, &body).await.expect(201);
    assert!(created["id"].as_str().unwrap().starts_with("price_"));
    assert_eq!(created["productId"], server.product());
    assert_eq!(created["features"], json!(["api", "export"]));
    assert_eq!(
        (&created["active"], &created["rollover"]),
        (&json!(true), &json!(false))
    );

    let reply = server.browser().get("/api/v1/products").await.expect(200);
    let price = &reply["products"][0]["prices"][0];
    assert_eq!(
        (&price["id"], &price["label"]),
        (&created["id"], &json!("Small"))
    );
    assert_eq!(
        (&price["amountCents"], &price["creditsGranted"]),
        (&json!(500), &json!(100))
    );

    let one = format!("{path}/{}", created["id"].as_str().unwrap());
    let change = json!({"active": false, "label": null});
    let changed = patch(&admin, &one, &change).await.expect(200);
    assert_eq!(
        (&changed["active"], &changed["label"]),
        (&json!(false), &json!(null))
    );
    assert_eq!(changed["amountCents"], 500);
    assert_eq!(get(&admin, &one).await.expect(200), changed);
    assert_eq!(
        get(&admin, &path).await.expect(200),
        json!({"prices": [changed]})
    );
    let reply = server.browser().get("/api/v1/products").await.expect(200);
    assert_eq!(reply["products"][0]["prices"], json!([]));
}

#[tokio::test]
async fn a_bad_price_names_its_input() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), format!("{}/prices", product(&server)));
    let sound = json!({
        "amountCents": 50, "currency": "EUR", "creditsGranted": 1, "interval": "one_time",
    });
    for (field, value, param) in [
        ("amountCents", json!(null), "amountCents"),
        ("amountCents", json!(-1), "amountCents"),
        ("amountCents", json!(1.0), "amountCents"),
        ("amountCents", json!("1"), "amountCents"),
        ("amountCents", json!(1_u64 << 53), "amountCents"),
        ("amountCents", json!(49), "amountCents"),
        ("currency", json!(null), "currency"),
        ("currency", json!("eur"), "currency"),
        ("currency", json!("EURO"), "currency"),
        ("creditsGranted", json!(-1), "creditsGranted"),
        ("creditsGranted", json!(0.5), "creditsGranted"),
        ("interval", json!(null), "interval"),
        ("interval", json!("month"), "interval"),
        ("interval", json!("weekly"), "interval"),
        ("features", json!("export"), "features"),
        ("features", json!(["ok", "not ok"]), "features[1]"),
        ("features", json!(["ok", 7]), "features[1]"),
        ("creditsExpireAfterDays", json!(0), "creditsExpireAfterDays"),
        ("rollover", json!(true), "rollover"),
        ("repeatable", json!("yes"), "repeatable"),
        ("trialDays", json!(14), "trialDays"),
        ("trialDays", json!("14"), "trialDays"),
        ("trialCredits", json!(5), "trialCredits"),
        ("label", json!(""), "label"),
        (
            "creditsProductId",
            json!("prod_nothing"),
            "creditsProductId",
        ),
    ] {
        let mut body = sound.clone();
        body[field] = value;
        assert_invalid(&post(&admin, &path, &body).await, param);
    }
    assert_eq!(get(&admin, &path).await.expect(200), json!({"prices": []}));
}

#[tokio::test]
async fn a_tier_fills_the_balance_of_a_credit_product_of_its_own_project() {
    let server = Server::start().await;
    let admin = server.admin();
    let products = format!("{}/products", project(&server));
    let pro = json!({"name": "Pro", "type": "subscription"});
    let pro = post(&admin, &products, &pro).await.expect(201);
    let path = format!("{products}/{}/prices", pro["id"].as_str().unwrap());
    let mut price = json!({
        "amountCents": 1500, "currency": "EUR", "creditsGranted": 400, "interval": "month",
        "rollover": true, "trialDays": 14, "trialCredits": 5,
    });
    assert_invalid(&post(&admin, &path, &price).await, "creditsGranted");
    price["repeatable"] = json!(true);
    price["creditsProductId"] = json!(server.product());
    assert_invalid(&post(&admin, &path, &price).await, "repeatable");
    price["repeatable"] = json!(false);
    price["creditsProductId"] = pro["id"].clone();
    assert_invalid(&post(&admin, &path, &price).await, "creditsProductId");
    price["creditsProductId"] = json!(server.product());
    let new_price = post(&admin, &path, &price).await.expect(201);
    assert_eq!(new_price["creditsProductId"], server.product());
    assert_eq!(
        (&new_price["trialDays"], &new_price["trialCredits"]),
        (&json!(14), &json!(5))
    );
    let yearly = json!({"amountCents": 0, "currency": "EUR", "interval": "one_time"});
    assert_invalid(&post(&admin, &path, &yearly).await, "interval");

    // The type can no longer change once there are prices.
    let one = format!("{products}/{}", pro["id"].as_str().unwrap());
    assert_invalid(
        &patch(&admin, &one, &json!({"type": "one_time"})).await,
        "type",
    );
}

#[tokio::test]
async fn a_price_is_found_under_its_own_product_only() {
    let server = Server::start().await;
    let admin = server.admin();
    let price = json!({"amountCents": 50, "currency": "EUR", "interval": "one_time"});
    let new_price = post(&admin, &format!("{}/prices", product(&server)), &price)
        .await
        .expect(201);
    let other = json!({"name": "Other", "type": "one_time"});
    let products = format!("{}/products", project(&server));
    let other = post(&admin, &products, &other).await.expect(201);
    let (other, id) = (
        other["id"].as_str().unwrap(),
        new_price["id"].as_str().unwrap(),
    );
    let reply = get(&admin, &format!("{products}/{other}/prices/{id}")).await;
    assert_eq!((reply.status, reply.code()), (404, "price_not_found"));
    let reply = get(&admin, &format!("{}/prices/nonsense", product(&server))).await;
    assert_eq!(reply.code(), "price_not_found");
}

#[tokio::test]
async fn an_amount_that_no_provider_takes_is_refused_when_the_price_is_made() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), format!("{}/prices", product(&server)));
    for (currency, amount, taken) in [
        ("EUR", 49, false),
        ("EUR", 50, true),
        // A free price is not charged.
        ("EUR", 0, true),
        ("GBP", 29, false),
        ("GBP", 30, true),
        ("HUF", 17_499, false),
        ("JPY", 49, false),
        ("JPY", 50, true),
        ("ISK", 550, false),
        ("ISK", 500, true),
        ("UGX", 50_001, false),
        ("KWD", 5124, false),
        ("KWD", 5120, true),
        ("USD", 99_999_999, true),
        ("USD", 100_000_000, false),
        ("INR", 999_999_999, true),
        // No documented minimum.
        ("XPF", 1, true),
    ] {
        let body = json!({"amountCents": amount, "currency": currency, "interval": "one_time"});
        let reply = post(&admin, &path, &body).await;
        if taken {
            reply.expect(201);
        } else {
            assert_invalid(&reply, "amountCents");
        }
    }
}

#[tokio::test]
async fn a_malformed_input_is_refused_before_a_missing_object() {
    let server = Server::start().await;
    let admin = server.admin();
    let nowhere = format!(
        "{}/products/{}",
        project(&server),
        "prod_01jd3v8q6pf6r9x3v1m2k4c5d7"
    );
    let bad = json!({"amountCents": 500, "currency": "eur", "interval": "one_time"});
    let prices = format!("{nowhere}/prices");
    assert_invalid(&post(&admin, &prices, &bad).await, "currency");
    assert_invalid(&patch(&admin, &nowhere, &json!({"name": ""})).await, "name");
    let project = "/projects/proj_01jd3v8q6pf6r9x3v1m2k4c5d7";
    let bad = json!({"allowedOrigins": ["https://a.example", "http://b.example"]});
    assert_invalid(&patch(&admin, project, &bad).await, "allowedOrigins[1]");
    let days = json!({"subscriptionGraceDays": 366});
    assert_invalid(
        &patch(&admin, project, &days).await,
        "subscriptionGraceDays",
    );
}

#[tokio::test]
async fn an_eleventh_tier_is_refused_until_another_goes() {
    let server = Server::start().await;
    let admin = server.admin();
    let plan = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
    let products = format!("{}/products", project(&server));
    let plan = post(&admin, &products, &plan).await.expect(201);
    let path = format!("{products}/{}/prices", plan["id"].as_str().unwrap());
    let tier = |amount: u32, currency: &str| json!({"amountCents": amount, "currency": currency, "interval": "month"});
    let mut made = Vec::new();
    for amount in 1..=10 {
        let tier = post(&admin, &path, &tier(amount * 100, "EUR")).await;
        made.push(tier.expect(201)["id"].as_str().unwrap().to_owned());
    }
    let eleventh = post(&admin, &path, &tier(1100, "EUR")).await;
    assert_invalid(&eleventh, "interval");
    post(&admin, &path, &tier(1100, "USD")).await.expect(201);
    let first = format!("{path}/{}", made[0]);
    patch(&admin, &first, &json!({"active": false}))
        .await
        .expect(200);
    post(&admin, &path, &tier(1100, "EUR")).await.expect(201);
    let back = patch(&admin, &first, &json!({"active": true})).await;
    assert_invalid(&back, "active");
    // What is already offered stays offered.
    let second = format!("{path}/{}", made[1]);
    patch(&admin, &second, &json!({"active": true}))
        .await
        .expect(200);
}
