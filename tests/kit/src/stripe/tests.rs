//! Tests of the double: it refuses what Stripe would refuse.

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
        (form("&cancel_url=javascript:"), "Not a valid URL"),
        (
            form("&customer=cus_1&customer_email=a@b"),
            "only specify one of these parameters: customer, customer_email",
        ),
        (
            form("&subscription_data[metadata][a]=b"),
            "can not pass `subscription_data`",
        ),
        (
            post(
                &stripe,
                SESSIONS,
                "mode=subscription&line_items[0][price]=price_1&line_items[0][quantity]=1\
                 &success_url=https://shop.example/&invoice_creation[enabled]=true",
            ),
            "can only enable invoice creation",
        ),
        (
            form("&customer_update[name]=auto"),
            "`customer_update` can only be used",
        ),
        (
            form("&customer=cus_1&automatic_tax[enabled]=true"),
            "`customer_update[address]` to 'auto'",
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
async fn events_are_listed_newest_first_in_pages() {
    let stripe = Stripe::start().await;
    stripe.follow(|| 2000);
    for (number, kind) in [(1, "a"), (2, "b"), (3, "a"), (4, "a")] {
        stripe.list(&format!("evt_{number}"), kind, &json!({}), 1000 + number);
    }
    let ids = async |query: &str| {
        let (status, page) = sent(get(&stripe, &format!("/v1/events?{query}"))).await;
        assert_eq!(status, 200, "{page}");
        let events = page["data"].as_array().unwrap().clone();
        let ids = events
            .iter()
            .map(|event| event["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>().join(" "), page["has_more"] == true)
    };
    let page = |ids: &str, more: bool| (ids.to_owned(), more);
    assert_eq!(ids("types[0]=a&limit=2").await, page("evt_4 evt_3", true));
    let rest = "types[0]=a&limit=2&starting_after=evt_3";
    assert_eq!(ids(rest).await, page("evt_1", false));
    assert_eq!(
        ids("created[gte]=1002").await,
        page("evt_4 evt_3 evt_2", false)
    );
    assert_eq!(sent(get(&stripe, "/v1/events?limit=101")).await.0, 400);
    assert_eq!(stripe.complaints().len(), 1);
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
async fn an_endpoint_tells_its_secret_once_and_can_be_changed_and_removed() {
    let stripe = Stripe::start().await;
    let list = "/v1/webhook_endpoints";
    let form = "url=https://shop.example/hook&enabled_events[0]=invoice.paid";
    let (status, made) = sent(post(&stripe, list, form)).await;
    assert_eq!(
        (status, &made["status"]),
        (200, &json!("enabled")),
        "{made}"
    );
    assert!(made["secret"].is_string());
    let path = format!("{list}/{}", made["id"].as_str().unwrap());
    let change = post_as(
        &stripe,
        &path,
        "disabled=true",
        [FORM, API_VERSION, "change"],
    );
    assert_eq!(sent(change).await.1["status"], "disabled");
    let (_, listed) = sent(get(&stripe, list)).await;
    assert_eq!(listed["data"][0]["url"], "https://shop.example/hook");
    assert_eq!(listed["data"][0]["secret"], Value::Null);
    let request = plain_http().delete(format!("{}{path}", stripe.base));
    let request = request.header("stripe-version", API_VERSION);
    let (_, deleted) = sent(request.bearer_auth(SECRET_KEY)).await;
    assert_eq!(deleted["deleted"], true);
    assert_eq!(sent(get(&stripe, list)).await.1["data"], json!([]));
}

#[tokio::test]
async fn no_more_is_refunded_than_was_paid() {
    let stripe = Stripe::start().await;
    stripe.charged("pi_1", &json!({}), 500, 100);
    let refund = async |form: &str, key: &str| {
        let request = post_as(&stripe, "/v1/refunds", form, [FORM, API_VERSION, key]);
        sent(request).await
    };
    assert_eq!(refund("payment_intent=pi_1&amount=401", "a").await.0, 400);
    assert_eq!(stripe.complaints().len(), 1);
    let (_, part) = refund("payment_intent=pi_1&amount=150", "b").await;
    assert_eq!(part["amount"], 150);
    assert_eq!(refund("payment_intent=pi_1&amount=150", "b").await.1, part);
    assert_eq!(refund("payment_intent=pi_1", "c").await.1["amount"], 250);
    assert_eq!(refund("payment_intent=pi_1", "d").await.0, 400);
    let (_, charge) = sent(get(&stripe, "/v1/charges/ch_of_pi_1")).await;
    assert_eq!(charge["refunded"], true);
}

#[tokio::test]
async fn a_subscription_ends_with_its_period_or_now() {
    let stripe = Stripe::start().await;
    let path = "/v1/subscriptions/sub_1";
    stripe.put(path, json!({"id": "sub_1", "status": "active"}));
    let (_, ending) = sent(post(&stripe, path, "cancel_at_period_end=true")).await;
    assert_eq!(ending["cancel_at_period_end"], true);
    let request = plain_http().delete(format!("{}{path}", stripe.base));
    let request = request.header("stripe-version", API_VERSION);
    let (_, ended) = sent(request.bearer_auth(SECRET_KEY)).await;
    assert_eq!(ended["status"], "canceled");
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
async fn an_invoice_embeds_ten_lines_and_lists_all() {
    let stripe = Stripe::start().await;
    let lines: Vec<Value> = (1..=25).map(|n| json!({"id": format!("il_{n}")})).collect();
    let path = "/v1/invoices/in_1";
    stripe.put(path, json!({"id": "in_1", "lines": {"data": lines}}));
    for n in [1, 2] {
        let payment = json!({"invoice": "in_1", "payment": {"payment_intent": format!("pi_{n}")}});
        stripe.put(&format!("/v1/invoice_payments/inpay_{n}"), payment);
    }
    let (_, invoice) = sent(get(&stripe, &format!("{path}?expand[0]=payments"))).await;
    assert_eq!(invoice["lines"]["data"].as_array().unwrap().len(), 10);
    assert_eq!(invoice["lines"]["has_more"], true);
    assert_eq!(invoice["payments"]["data"].as_array().unwrap().len(), 2);
    let rest = format!("{path}/lines?limit=100&starting_after=il_10");
    let (_, rest) = sent(get(&stripe, &rest)).await;
    assert_eq!(rest["data"].as_array().unwrap().len(), 15);
    let of = "/v1/invoice_payments?payment[type]=payment_intent&payment[payment_intent]=pi_2";
    assert_eq!(sent(get(&stripe, of)).await.1["data"][0]["invoice"], "in_1");
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
