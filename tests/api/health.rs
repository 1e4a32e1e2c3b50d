//! Health and metrics: `/healthz`, `/readyz` and `/metrics`

use reqwest::Method;
use serde_json::json;

use crate::{
    client::Client,
    service::{ADMIN_TOKEN, Service, assert_refused},
};

#[tokio::test]
async fn it_lives_and_is_ready() {
    let service = Service::start().await;
    for path in ["/healthz", "/readyz"] {
        service.anonymous(Method::GET, path).await.expect(200);
    }
    service.handle.shut_down().await.unwrap();
    service.anonymous(Method::GET, "/healthz").await.expect(200);
    assert_refused(
        &service.anonymous(Method::GET, "/readyz").await,
        503,
        "unavailable",
    );
}

#[tokio::test]
async fn figures_are_for_the_administrator() {
    let service = Service::start().await;
    assert_refused(
        &service.anonymous(Method::GET, "/metrics").await,
        401,
        "missing_api_key",
    );
    assert_refused(
        &service.secret.get("/metrics").await,
        401,
        "invalid_api_key",
    );

    service.grant("u", 10).await;
    let deduct = json!({ "externalUserId": "u", "amount": 6, "idempotencyKey": "k" });
    let again = json!({ "externalUserId": "u", "amount": 6, "idempotencyKey": "k2" });
    for (body, status) in [(&deduct, 200), (&deduct, 200), (&again, 402)] {
        service
            .secret
            .post("/api/v1/wallets/external/deduct", body)
            .await
            .expect(status);
    }
    let code = service.code().await;
    service
        .secret
        .get(&format!("/api/v1/wallets/{code}"))
        .await
        .expect(200);
    let administrator = Client::new(&service.base, ADMIN_TOKEN);
    let text = administrator
        .request(Method::GET, "/metrics")
        .send()
        .await
        .unwrap();
    let text = text.text().await.unwrap();
    for line in [
        r#"scrip_deductions_total{outcome="applied"} 1"#,
        r#"scrip_deductions_total{outcome="replayed"} 1"#,
        r#"scrip_deductions_total{outcome="refused"} 1"#,
        r#"scrip_http_requests_total{method="POST",route="/api/v1/wallets/external/deduct",status="402"} 1"#,
        "scrip_wallets_awake 2",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains(&code), "a recovery code is in the figures");
}
