//! Pages of projects, their settings and keys.

use kit::{Client, service::Service};
use serde_json::json;

use crate::browser::Browser;

fn path(service: &Service, rest: &str) -> String {
    format!("/dashboard/projects/{}{rest}", service.project.id)
}

#[tokio::test]
async fn a_project_is_made_and_its_keys_are_shown_once() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let form = [("name", "My shop"), ("mode", "external_users")];
    let page = browser.submit("/dashboard", &form).await;
    page.shows("Created.").shows("Copy now");
    let secret = format!("pay_sk_{}", page.between("pay_sk_", "<"));
    let me = Client::new(&service.base, &secret)
        .get("/api/v1/me")
        .await
        .expect(200);
    assert_eq!(
        (&me["project"], &me["mode"]),
        (&"My shop".into(), &"external_users".into())
    );
    let keys = format!(
        "/dashboard/projects/{}/keys",
        me["projectId"].as_str().unwrap()
    );
    let (first, last) = (&secret[..11], &secret[secret.len() - 4..]);
    let page = browser.get(&keys).await;
    page.lacks(&secret).shows("pay_pk_");
    page.shows(&format!("{first}…{last}")).shows("Never");

    let page = browser.post("/dashboard", &[("name", " ")]).await;
    assert_eq!(page.status, 400);
    page.shows("aria-invalid=\"true\"");
}

#[tokio::test]
async fn a_key_has_a_name_and_an_end_that_can_be_changed() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let keys = path(&service, "/keys");
    let mut form = vec![
        ("kind", "secret"),
        ("name", "Wörker"),
        ("expiresAt", "2020-01-01"),
    ];
    let refused = browser.post(&keys, &form).await;
    assert_eq!(refused.status, 400);
    refused.shows("has passed").shows("Wörker");

    form[2].1 = "2099-12-31";
    let page = browser.submit(&keys, &form).await;
    page.shows("Wörker")
        .shows("datetime=\"2100-01-01T00:00:00.000Z\"");
    let plain = format!("pay_sk_{}", page.between("pay_sk_", "<"));
    let client = Client::new(&service.base, &plain);
    client.get("/api/v1/me").await.expect(200);
    browser.get(&keys).await.lacks("Expired");

    let edit = page
        .html
        .rsplit("href=\"")
        .find(|it| it.contains("/keys/key_"));
    let edit = edit.unwrap().split('"').next().unwrap();
    browser.get(edit).await.shows("value=\"2099-12-31\"");
    let form = [("name", "Cron"), ("expiresAt", "")];
    let page = browser.submit(edit, &form).await;
    page.shows("Cron").lacks("Wörker").lacks("2100-01-01");
    let audit = browser.get("/dashboard/audit").await;
    audit
        .shows("“Cron”")
        .shows("2100-01-01T00:00:00.000Z")
        .lacks(&plain);
}

#[tokio::test]
async fn a_key_is_made_and_revoked() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let page = browser
        .submit(&path(&service, "/keys"), &[("kind", "secret")])
        .await;
    let key = format!("pay_sk_{}", page.between("pay_sk_", "<"));
    let client = Client::new(&service.base, &key);
    assert_eq!(client.get("/api/v1/me").await.status, 200);
    // The last key in the list.
    let revoke = page
        .html
        .rsplit("action=\"")
        .find(|it| it.contains("/revoke"))
        .unwrap();
    let revoke = revoke.split('"').next().unwrap();
    browser.confirm(revoke, &[]).await.shows("Revoked");
    assert_eq!(client.get("/api/v1/me").await.code(), "invalid_api_key");
    let page = browser
        .post(&path(&service, "/keys/key_x/revoke"), &[])
        .await;
    assert_eq!(page.status, 404);
    let page = browser
        .post(&path(&service, "/keys"), &[("kind", "master")])
        .await;
    assert_eq!(page.status, 400);
}

#[tokio::test]
async fn a_restricted_key_does_what_was_ticked() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let keys = path(&service, "/keys");
    let form = [("kind", "restricted"), ("name", "Worker")];
    let refused = browser.post(&keys, &form).await;
    assert_eq!(refused.status, 400);
    refused.shows("at least one thing").shows("Worker");

    let form = [("kind", "restricted"), ("can", "deduct"), ("can", "read")];
    let page = browser.submit(&keys, &form).await;
    let key = format!("pay_rk_{}", page.between("pay_rk_", "<"));
    page.shows("Restricted key");
    let client = Client::new(&service.base, &key);
    let me = client.get("/api/v1/me").await.expect(200);
    assert_eq!(me["can"], json!(["read", "deduct"]));
    let audit = browser.get("/dashboard/audit").await;
    audit.shows("that can read, deduct").lacks(&key);
    // What is ticked beside the button of another kind is not its own.
    let form = [("kind", "secret"), ("can", "deduct")];
    browser.submit(&keys, &form).await.shows("Secret key");
}

#[tokio::test]
async fn settings_are_changed_and_refused_beside_their_fields() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let here = path(&service, "/settings");
    let page = browser.get(&here).await;
    assert_eq!(page.value("walletCreationLimit.max"), Some("1000"));
    page.shows("Demo");
    let form = |origins| {
        [
            ("name", "Renamed"),
            ("mode", "credit_codes"),
            ("allowedOrigins", origins),
            ("walletCreationLimit.max", ""),
            ("walletCreationLimitPerIp.max", "5"),
            ("walletCreationLimitPerIp.windowSeconds", "60"),
            ("subscriptionGraceDays", "3"),
        ]
    };
    browser
        .submit(&here, &form("https://a.example\r\nhttps://b.example"))
        .await
        .shows("Saved.");
    let project = service
        .catalog
        .project(service.project.id)
        .unwrap()
        .project
        .clone();
    assert_eq!(project.name, "Renamed");
    assert_eq!(
        project.allowed_origins,
        ["https://a.example", "https://b.example"]
    );
    assert_eq!(project.wallet_creation_limit, None);
    let per_ip = project.wallet_creation_limit_per_ip.unwrap();
    assert_eq!((per_ip.max, per_ip.window_seconds), (5, 60));
    assert_eq!(project.subscription_grace_days, 3);
    assert!(!project.free_grants_for_code_wallets);

    let page = browser.post(&here, &form("ftp://a.example")).await;
    assert_eq!(page.status, 400);
    page.shows("id=\"allowedOrigins-wrong\"")
        .shows("ftp://a.example");
    assert_eq!(
        browser
            .get("/dashboard/projects/proj_x/settings")
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn a_providers_secrets_never_stand_in_a_page() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let here = path(&service, "/settings/provider");
    let stripe = [("kind", "stripe"), ("provider.secretKey", "sk_test_hush")];
    let page = browser.submit(&here, &stripe).await;
    page.shows("<b>Stripe</b>").lacks("hush");
    let wrong = [("kind", "stripe"), ("provider.secretKey", "pk_hush")];
    let page = browser.post(&here, &wrong).await;
    assert_eq!(page.status, 400);
    page.shows("publishable key").lacks("hush");
    browser
        .get("/dashboard/audit")
        .await
        .shows("payment provider")
        .lacks("hush");
    browser
        .confirm(&here, &[("kind", "sandbox")])
        .await
        .shows("<b>Sandbox</b>");
}

#[tokio::test]
async fn script_in_a_name_stays_text() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let page = browser.submit("/dashboard", &[("name", evil)]).await;
    let inert = "&lt;script&gt;alert(1)&lt;/script&gt;";
    page.shows(inert).lacks("<script>alert").lacks("<img src=x");
    for path in [
        "/dashboard",
        "/dashboard/audit",
        page.between("nav aria-label=\"Project\"><a href=\"", "\""),
    ] {
        browser
            .get(path)
            .await
            .shows(inert)
            .lacks("<script>alert")
            .lacks("<img src=x");
    }
}

#[tokio::test]
async fn a_sandboxs_fault_profile_is_a_form() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let here = path(&service, "/sandbox");
    assert_eq!(browser.get(&here).await.status, 404, "it has none yet");
    let provider = path(&service, "/settings/provider");
    let settings = browser.submit(&provider, &[("kind", "sandbox")]).await;
    settings.shows(&format!("href=\"{here}\""));
    let status = || async {
        let path = format!("/sandbox/{}/v1/account", service.project.id);
        let keys = service.accounts.sandbox_keys(service.project.id);
        let sandbox = Client::new(&service.base, &keys.secret_key);
        sandbox.get(&path).await.status
    };
    assert_eq!(status().await, 200);
    let switched = [
        ("away", "503"),
        ("indented", "on"),
        ("denied", "rak_dispute_read\r\nrak_event_read"),
        ("broken", "in_1=500"),
    ];
    let page = browser.submit(&here, &switched).await;
    page.shows("Saved.")
        .shows("rak_dispute_read\nrak_event_read");
    assert_eq!(page.value("away"), Some("503"));
    assert_eq!(status().await, 503);
    let now = service.sandboxes.server().fault_profile(service.project.id);
    assert!(now.indented && !now.real_sizes && now.broken["in_1"] == 500);

    let page = browser.post(&here, &[("away", "404")]).await;
    assert_eq!(page.status, 400);
    page.shows("id=\"away-wrong\"");
    assert_eq!(status().await, 503, "it is as it was");

    let page = browser.submit(&here, &[("preset", "stripe")]).await;
    assert_eq!(page.value("requests_per_endpoint"), Some("25"));
    assert_eq!(status().await, 200);
    let page = browser.submit(&here, &[("preset", "kind")]).await;
    assert_eq!(page.value("requests_per_endpoint"), Some("0"));
}
