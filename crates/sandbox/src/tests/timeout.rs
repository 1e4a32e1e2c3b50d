//! Faults and bank events requested by scripts, over HTTP.

use reqwest::Method;
use serde_json::json;

use super::*;

impl Stage {
    pub(super) async fn script(&self, path: &str, form: &str) -> (u16, serde_json::Value) {
        let url = format!("{}/script/{path}", self.base(PROJECT));
        let request = self
            .http
            .post(url)
            .bearer_auth(format!("sk_test_{PROJECT}"));
        let kind = "application/x-www-form-urlencoded";
        let request = request.header("content-type", kind).body(form.to_owned());
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn customer(&self, key: Option<&str>) -> reqwest::Response {
        let mut request = self.ask(Method::POST, "customers");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        request.send().await.unwrap()
    }
}

#[tokio::test]
async fn trouble_comes_as_often_as_it_was_ordered_and_where() {
    let stage = Stage::new().await;
    for (form, status, code) in [
        ("kind=rate_limit&retry_after=7", 429, json!("rate_limit")),
        ("kind=lock_timeout", 429, json!("lock_timeout")),
        ("kind=lock_timeout&status=409", 409, json!("lock_timeout")),
        ("kind=error", 500, json!(null)),
        ("kind=error&status=503", 503, json!(null)),
    ] {
        let form = format!("{form}&path=customers&method=POST&times=2");
        let (ordered, said) = stage.script("faults", &form).await;
        assert_eq!(
            (ordered, said["faults"].as_array().unwrap().len()),
            (200, 1)
        );
        stage.get("customers").await;
        stage.get("prices").await;
        for _ in 0..2 {
            let answer = stage.customer(None).await;
            assert_eq!(answer.status(), status, "{form}");
            let after = answer.headers().get("retry-after").cloned();
            assert_eq!(
                after.is_some_and(|after| after == "7"),
                form.contains("after")
            );
            let body: serde_json::Value = answer.json().await.unwrap();
            assert_eq!(body["error"]["code"], code);
        }
        assert_eq!(stage.customer(None).await.status(), 200);
    }
    for form in [
        "",
        "kind=fire",
        "kind=error&status=200",
        "kind=hang&seconds=601",
        "kind=error&times=0",
    ] {
        assert_eq!(stage.script("faults", form).await.0, 400, "{form}");
    }
    let url = format!("{}/script/faults", stage.base(PROJECT));
    let stranger = stage.http.post(&url).bearer_auth("sk_test_other");
    assert_eq!(stranger.send().await.unwrap().status(), 401);
    stage.script("faults", "kind=error").await;
    let cleared = stage
        .http
        .delete(&url)
        .bearer_auth(format!("sk_test_{PROJECT}"));
    let said: serde_json::Value = cleared.send().await.unwrap().json().await.unwrap();
    assert_eq!(said["faults"], json!([]));
    assert_eq!(stage.customer(None).await.status(), 200);
}

#[tokio::test]
async fn a_broken_answer_stays_with_its_key_for_a_day_and_a_busy_one_does_not() {
    let stage = Stage::new().await;
    for (form, first, then) in [("kind=error", 500, 500), ("kind=rate_limit", 429, 200)] {
        stage.script("faults", form).await;
        assert_eq!(stage.customer(Some(form)).await.status(), first);
        let again = stage.customer(Some(form)).await;
        assert_eq!(again.status(), then);
        assert_eq!(
            again.headers().contains_key("idempotent-replayed"),
            then == 500
        );
        stage.set_clock(stage.host.now.load(Ordering::SeqCst) + DAY);
        stage.run().await;
        let later = stage.customer(Some(form)).await;
        assert_eq!(later.status(), 200, "a new day");
        assert!(!later.headers().contains_key("idempotent-replayed"));
    }
    // The key keeps a refusal for a missing object, but not one of a malformed request.
    let gone = "line_items[0][price]=price_gone&line_items[0][quantity]=1&mode=payment\
                &success_url=https://shop.example/";
    for (form, replayed) in [(gone, true), ("mode=payment", false)] {
        for again in [false, true] {
            let request = stage.ask(Method::POST, "checkout/sessions");
            let request = request.header("idempotency-key", form.len().to_string());
            let kind = "application/x-www-form-urlencoded";
            let request = request.header("content-type", kind).body(form.to_owned());
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 400);
            let header = answer.headers().contains_key("idempotent-replayed");
            assert_eq!(header, again && replayed, "{form}");
        }
    }
}

#[tokio::test]
async fn one_that_hangs_does_nothing_and_one_that_is_lost_did_it() {
    let stage = Stage::new().await;
    for (kind, made) in [("hang", 0), ("lost", 1)] {
        let form = format!("kind={kind}&path=customers");
        stage.script("faults", &form).await;
        let request = stage.ask(Method::POST, "customers");
        let impatient = request.timeout(Duration::from_secs(2)).send().await;
        assert!(impatient.unwrap_err().is_timeout());
        // The client may have timed out before its request was done.
        while stage.get("customers").await["data"]
            .as_array()
            .unwrap()
            .len()
            < made
        {
            tokio::task::yield_now().await;
        }
        let customers = stage.get("customers").await;
        assert_eq!(customers["data"].as_array().unwrap().len(), made);
    }
    stage.script("faults", "kind=hang&seconds=0").await;
    assert_eq!(stage.customer(None).await.status(), 504, "at last");
}

#[tokio::test]
async fn a_bank_is_played_by_scripts_and_on_the_portals_page() {
    let mut stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::None).await;
    stage.act(&session.url.unwrap(), "pay", "").await;
    let session = stage
        .get(&format!("checkout/sessions/{}", session.id))
        .await;
    let intent = session["payment_intent"].as_str().unwrap();
    stage.sent_kinds(2).await;
    let (_, refund) = {
        stage
            .script(&format!("charges/{intent}"), "refunds=pending")
            .await;
        let form = format!("payment_intent={intent}&amount=200");
        stage.send("refunds", &form).await
    };
    assert_eq!(refund["status"], "pending");
    assert_eq!(stage.sent_kinds(1).await, ["charge.refunded"]);
    let path = format!("refunds/{}", refund["id"].as_str().unwrap());
    let (status, failed) = stage.script(&format!("{path}/fail"), "").await;
    assert_eq!((status, &failed["status"]), (200, &json!("failed")));
    let kinds = ["refund.updated", "charge.refund.updated", "refund.failed"];
    assert_eq!(stage.sent_kinds(3).await, kinds);
    let features = "features[invoice_history][enabled]=true";
    stage.send("billing_portal/configurations", features).await;
    let form = format!("customer={}", session["customer"].as_str().unwrap());
    let (_, visit) = stage.send("billing_portal/sessions", &form).await;
    let url = visit["url"].as_str().unwrap();
    let slowly = r#"{"amountCents":100,"status":"pending"}"#;
    let (_, state) = stage.act(url, "refund", slowly).await;
    assert_eq!(state["payments"][0]["refundedCents"], 100);
    let page = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        page.contains("refund_fails") && page.contains("is on its way"),
        "{page}"
    );
    let (_, state) = stage.act(url, "refund_fails", "").await;
    assert_eq!(state["payments"][0]["refundedCents"], 0);
    let (_, state) = stage
        .act(url, "dispute", r#"{"amountCents":"50","inquiry":true}"#)
        .await;
    assert_eq!(state["payments"][0]["dispute"], "warning_needs_response");
    let page = stage
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(page.contains("dispute_escalated"), "{page}");
    let (_, state) = stage.act(url, "dispute_escalated", "").await;
    assert_eq!(state["payments"][0]["dispute"], "needs_response");
    let (_, state) = stage.act(url, "dispute", "").await;
    let disputes = state["payments"][0]["disputes"].as_array().unwrap();
    let amounts: Vec<i64> = disputes
        .iter()
        .map(|one| one["amountCents"].as_i64().unwrap())
        .collect();
    assert_eq!(amounts, [450, 50]);
}
