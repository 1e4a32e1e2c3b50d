//! Tests of the double: it refuses what Stripe would refuse. What the account does is tested in the sandbox.

use reqwest::RequestBuilder;

use super::*;
use crate::client::plain_http;

const SESSIONS: &str = "/v1/checkout/sessions";
const FORM: &str = "application/x-www-form-urlencoded";
const SESSION: &str = "mode=payment&line_items[0][price_data][currency]=eur\
    &line_items[0][price_data][unit_amount]=500&line_items[0][price_data][product_data][name]=Credits\
    &line_items[0][quantity]=1&success_url=https://shop.example/&metadata[order]=ord_1";

fn post(stripe: &Stripe, path: &str, form: &str) -> RequestBuilder {
    post_as(stripe, path, form, [FORM, API_VERSION, "a key"])
}

fn post_as(
    stripe: &Stripe,
    path: &str,
    form: &str,
    [kind, version, key]: [&str; 3],
) -> RequestBuilder {
    let request = plain_http().post(format!("{}{path}", stripe.base));
    let request = request
        .header("stripe-version", version)
        .bearer_auth(SECRET_KEY)
        .header("content-type", kind)
        .header("idempotency-key", key);
    request.body(form.to_owned())
}

fn get(stripe: &Stripe, path: &str) -> RequestBuilder {
    let request = plain_http().get(format!("{}{path}", stripe.base));
    let request = request.header("stripe-version", API_VERSION);
    request.bearer_auth(SECRET_KEY)
}

async fn sent(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let body = response.bytes().await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn what_stripe_takes_is_made_once_for_a_key_and_paid() {
    let stripe = Stripe::start().await;
    let (status, made) = sent(post(&stripe, SESSIONS, SESSION)).await;
    assert_eq!((status, &made["amount_total"]), (200, &json!(500)));
    assert_eq!(made["metadata"]["order"], "ord_1");
    assert_eq!(
        sent(post(&stripe, SESSIONS, SESSION)).await,
        (200, made.clone())
    );
    let paid = stripe.pay_as(made["id"].as_str().unwrap(), "ann@mail.example");
    assert_eq!(paid["customer_details"]["email"], "ann@mail.example");
    assert_eq!(paid["payment_intent"], "pi_1");
    assert_eq!(stripe.calls(SESSIONS).len(), 2);
}

#[tokio::test]
async fn a_request_that_stripe_refuses_is_a_complaint() {
    let stripe = Stripe::start().await;
    stripe.put("/v1/customers/cus_1", json!({}));
    let form = |more: &str| post(&stripe, SESSIONS, &format!("{SESSION}{more}"));
    let as_it_is = |version: &str, kind: &str, key: &str| {
        post_as(&stripe, SESSIONS, SESSION, [kind, version, key])
    };
    for (request, complaint) in [
        (
            post(&stripe, "/v1/checkout/session", SESSION),
            "no permission is declared",
        ),
        (
            post(&stripe, "/v1/checkout/sessions/", SESSION),
            "no permission is declared",
        ),
        (
            form("&customer_creations=always"),
            "unknown parameter: customer_creations",
        ),
        (
            form("&line_items[x][quantity]=1"),
            "Missing required param: line_items[x][price]",
        ),
        (form("&expires_at=tomorrow"), "Invalid integer: tomorrow"),
        (
            form("&customer=cus_1&customer_email=a@b"),
            "only specify one of these parameters: customer, customer_email",
        ),
        (
            form("&line_items[0][price]=price_1"),
            "one of these parameters: price, price_data",
        ),
        (
            form(&format!("&metadata[long]={}", "x".repeat(501))),
            "Metadata values can have up to 500",
        ),
        (
            post(&stripe, SESSIONS, "mode=payment"),
            "Missing required param: success_url",
        ),
        (
            as_it_is(API_VERSION, "application/json", "a key"),
            "it is no form",
        ),
        (as_it_is("2020-08-27", FORM, "a key"), "the version is"),
        (
            post(
                &stripe,
                "/v1/webhook_endpoints",
                "url=https://shop.example/&enabled_events[0]=*&api_version=2020-08-27",
            ),
            "2020-08-27\") is not",
        ),
        (as_it_is(API_VERSION, FORM, ""), "no idempotency key"),
    ] {
        let (status, _) = sent(request).await;
        let complaints = stripe.complaints();
        assert_eq!(status, 400, "{complaint}");
        let [text] = complaints.as_slice() else {
            panic!("one complaint of {complaint}, not {complaints:?}")
        };
        assert!(text.contains(complaint), "{text}");
    }
}

#[tokio::test]
async fn a_key_is_for_one_thing() {
    let stripe = Stripe::start().await;
    sent(post(&stripe, SESSIONS, SESSION)).await;
    let other = post(&stripe, SESSIONS, &format!("{SESSION}&customer=cus_1"));
    assert_eq!(sent(other).await.0, 400);
    assert_eq!(stripe.complaints().len(), 1);
}

#[tokio::test]
#[should_panic(expected = "POST /v1/subscription_schedules: no permission is declared")]
async fn a_test_fails_by_what_it_did_not_look_at() {
    let stripe = Stripe::start().await;
    let asked = stripe.clone();
    sent(post(&asked, "/v1/subscription_schedules", "")).await;
}

#[tokio::test]
async fn what_is_not_there_is_missing_and_no_fault() {
    let stripe = Stripe::start().await;
    let read = |path: &str| get(&stripe, path);
    let (status, body) = sent(read("/v1/charges/ch_1")).await;
    assert_eq!(
        (status, &body["error"]["code"]),
        (404, &json!("resource_missing"))
    );
    stripe.put("/v1/charges/ch_1", json!({"id": "ch_1"}));
    assert_eq!(sent(read("/v1/charges/ch_1")).await.0, 200);
    assert_eq!(stripe.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_payment_has_its_charge_and_its_disputes() {
    let stripe = Stripe::start().await;
    let charge = stripe.charged("pi_1", &json!({"order": "ord_1"}), 500, 500);
    assert_eq!(charge["refunded"], true);
    let (_, payment) = sent(get(&stripe, "/v1/payment_intents/pi_1")).await;
    assert_eq!(payment["latest_charge"], charge["id"]);
    let disputes = "/v1/disputes?payment_intent=pi_1&limit=100";
    assert_eq!(sent(get(&stripe, disputes)).await.1["data"], json!([]));
    stripe.put("/v1/disputes/dp_1", json!({"payment_intent": "pi_1"}));
    assert_eq!(
        sent(get(&stripe, disputes)).await.1["data"][0]["id"],
        "dp_1"
    );
}

#[tokio::test]
async fn money_is_listed_by_its_time_in_pages_and_unfolded() {
    let stripe = Stripe::start().await;
    for (number, created) in [(1, 100), (2, 200), (3, 300)] {
        let charge = stripe.charged(&format!("pi_{number}"), &json!({}), 500, 0);
        let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
        let mut charge = charge;
        charge["created"] = json!(created);
        stripe.put(&path, charge);
    }
    let page = async |query: &str| {
        let (status, page) = sent(get(&stripe, &format!("/v1/charges?{query}"))).await;
        assert_eq!(status, 200, "{page}");
        let ids = page["data"].as_array().unwrap().iter();
        let ids: Vec<String> = ids.map(|one| one["id"].to_string()).collect();
        (ids.join(" ").replace(['"'], ""), page["has_more"] == true)
    };
    let first = "created[gte]=150&created[lte]=300&limit=1";
    assert_eq!(page(first).await, ("ch_of_pi_3".into(), true));
    let rest = format!("{first}&starting_after=ch_of_pi_3");
    assert_eq!(page(&rest).await, ("ch_of_pi_2".into(), false));
    assert_eq!(page("payment_intent=pi_1").await.0, "ch_of_pi_1");
    let unfolded = get(&stripe, "/v1/payment_intents/pi_1?expand[0]=latest_charge");
    assert_eq!(sent(unfolded).await.1["latest_charge"]["amount"], 500);
    let deep = get(&stripe, "/v1/charges?expand[0]=data.a.b.c.d.e");
    assert_eq!(sent(deep).await.0, 400);
    assert_eq!(stripe.complaints().len(), 1);
}

#[tokio::test]
async fn what_is_put_is_shown_until_the_account_changes_it() {
    let stripe = Stripe::start().await;
    let path = "/v1/subscriptions/sub_1";
    stripe.put(
        path,
        json!({"status": "active", "metadata": {"a": "1"}, "items": {"data": [{"odd": true}]}}),
    );
    stripe.set(
        path,
        json!({"cancel_at_period_end": true, "latest_invoice": "in_odd"}),
    );
    let read = async || sent(get(&stripe, path)).await.1;
    assert_eq!(read().await["items"]["data"][0]["odd"], true);
    let form = "cancel_at_period_end=false&metadata[b]=2";
    let (_, changed) = sent(post(&stripe, path, form)).await;
    assert_eq!(changed["cancel_at_period_end"], false);
    assert_eq!(changed["metadata"], json!({"a": "1", "b": "2"}));
    assert_eq!(changed["latest_invoice"], "in_odd");
    assert_eq!(read().await, changed);
}
