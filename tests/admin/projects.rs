//! Projects by the admin API.

use kit::{Client, Server};
use reqwest::Method;
use serde_json::json;

use crate::{ADMIN, assert_invalid, get, patch, post, project};

#[tokio::test]
async fn a_project_comes_with_keys_that_work_at_once() {
    let server = Server::start().await;
    let created = post(&server.admin(), "/projects", &json!({"name": "Shop"}))
        .await
        .expect(201);
    assert_eq!(created["mode"], "credit_codes");
    for (field, prefix, kind) in [
        ("publishableKey", "pay_pk_", "publishable"),
        ("secretKey", "pay_sk_", "secret"),
    ] {
        let key = created[field].as_str().unwrap();
        assert!(key.starts_with(prefix) && key.len() >= 34, "{key}");
        let me = server
            .instance()
            .client(key)
            .get("/api/v1/me")
            .await
            .expect(200);
        assert_eq!(me["projectId"], created["id"]);
        assert_eq!(me["project"], "Shop");
        assert_eq!(me["keyKind"], kind);
    }
    let listed = get(&server.admin(), "/projects").await.expect(200);
    let listed = listed["projects"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1]["id"], created["id"]);
    assert!(!listed[1].to_string().contains("pay_sk_"));
}

#[tokio::test]
async fn settings_have_the_documented_defaults() {
    let server = Server::start().await;
    let reply = get(&server.admin(), &project(&server)).await.expect(200);
    assert_eq!(reply["allowedOrigins"], json!([]));
    assert_eq!(
        reply["walletCreationLimit"],
        json!({"max": 1000, "windowSeconds": 3600})
    );
    assert_eq!(
        reply["walletCreationLimitPerIp"],
        json!({"max": 100, "windowSeconds": 3600})
    );
    assert_eq!(reply["freeGrantsForCodeWallets"], true);
    assert_eq!(reply["subscriptionGraceDays"], 7);
    for setting in CHECKOUT {
        assert_eq!(reply[setting], false, "{setting}");
    }
    assert!(reply["createdAt"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn a_change_changes_what_it_names_and_nothing_else() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), project(&server));
    let change = json!({
        "mode": "external_users", "walletCreationLimit": null,
        "walletCreationLimitPerIp": {"max": 5, "windowSeconds": 60},
        "allowedOrigins": ["https://Shop.example:443", "http://localhost:3000"],
    });
    let changed = patch(&admin, &path, &change).await.expect(200);
    assert_eq!(changed["name"], "Test");
    assert_eq!(changed["mode"], "external_users");
    assert_eq!(changed["walletCreationLimit"], json!(null));
    assert_eq!(
        changed["walletCreationLimitPerIp"],
        json!({"max": 5, "windowSeconds": 60})
    );
    let origins = json!(["https://shop.example", "http://localhost:3000"]);
    assert_eq!(changed["allowedOrigins"], origins);
    assert_eq!(patch(&admin, &path, &json!({})).await.expect(200), changed);
    assert_eq!(get(&admin, &path).await.expect(200), changed);
    let me = server.client().get("/api/v1/me").await.expect(200);
    assert_eq!(me["mode"], "external_users");
}

/// Project settings for the provider's checkout.
const CHECKOUT: [&str; 5] = [
    "automaticTax",
    "collectTaxIds",
    "collectBillingAddress",
    "invoices",
    "termsOfService",
];

#[tokio::test]
async fn what_a_checkout_asks_for_is_set_one_by_one() {
    let mut server = Server::start().await;
    let (admin, path) = (server.admin(), project(&server));
    let on = |reply: &serde_json::Value| {
        let on = CHECKOUT.into_iter().filter(|&name| reply[name] == true);
        on.collect::<Vec<_>>()
    };
    for (number, setting) in CHECKOUT.into_iter().enumerate() {
        let change = json!({ setting: true });
        let reply = patch(&admin, &path, &change).await.expect(200);
        assert_eq!(on(&reply), CHECKOUT[..=number]);
        for wrong in [json!({ setting: null }), json!({ setting: "yes" })] {
            assert_invalid(&patch(&admin, &path, &wrong).await, setting);
        }
    }
    let change = json!({"collectTaxIds": false});
    patch(&admin, &path, &change).await.expect(200);
    server.restart().await;
    let reply = get(&server.admin(), &path).await.expect(200);
    let left = [
        "automaticTax",
        "collectBillingAddress",
        "invoices",
        "termsOfService",
    ];
    assert_eq!(on(&reply), left);
}

#[tokio::test]
async fn a_bad_change_names_its_input_and_changes_nothing() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), project(&server));
    let before = get(&admin, &path).await.expect(200);
    for (change, param) in [
        (json!({"name": null}), "name"),
        (json!({"mode": null}), "mode"),
        (json!({"mode": "codes"}), "mode"),
        (
            json!({"allowedOrigins": ["https://a.example/path"]}),
            "allowedOrigins[0]",
        ),
        (
            json!({"allowedOrigins": ["https://a.example", "http://a.example"]}),
            "allowedOrigins[1]",
        ),
        (
            json!({"allowedOrigins": "https://a.example"}),
            "allowedOrigins",
        ),
        (
            json!({"walletCreationLimit": {"max": 0, "windowSeconds": 1}}),
            "walletCreationLimit.max",
        ),
        (
            json!({"walletCreationLimit": {"max": 1}}),
            "walletCreationLimit.windowSeconds",
        ),
        (
            json!({"walletCreationLimit": {"max": 1.5, "windowSeconds": 1}}),
            "walletCreationLimit.max",
        ),
        (
            json!({"walletCreationLimit": [1, 1]}),
            "walletCreationLimit",
        ),
        (
            json!({"freeGrantsForCodeWallets": "yes"}),
            "freeGrantsForCodeWallets",
        ),
        (
            json!({"subscriptionGraceDays": -1}),
            "subscriptionGraceDays",
        ),
        (
            json!({"subscriptionGraceDays": 366}),
            "subscriptionGraceDays",
        ),
        // The first invalid input is reported, and the valid one beside it is not applied.
        (
            json!({"name": "New", "subscriptionGraceDays": 366}),
            "subscriptionGraceDays",
        ),
    ] {
        assert_invalid(&patch(&admin, &path, &change).await, param);
    }
    assert_eq!(get(&admin, &path).await.expect(200), before);
}

#[tokio::test]
async fn a_misspelt_setting_is_refused_to_those_who_prefer_it() {
    let server = Server::start().await;
    let change = json!({"walletCreationLimit": {"max": 5, "windowSeconds": 60, "window": 1}});
    let path = format!("{ADMIN}{}", project(&server));
    let lenient = server.admin().patch(&path, &change).await;
    lenient.expect(200);
    let strict = server.admin().request(Method::PATCH, &path).json(&change);
    let strict = strict.header("Prefer", "handling=strict");
    let reply = Client::send(strict).await.unwrap();
    assert_invalid(&reply, "walletCreationLimit.window");
}
