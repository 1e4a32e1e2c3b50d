//! Another provider, account or mode for a project: when that needs force, what ends with it, and what a new
//! key is checked against.

use ::stripe::permissions;
use actors::notes;
use kit::{deadline, service::ADMIN_TOKEN};
use reqwest::Method;
use scrip::payments::Providers as _;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{Service, assert_invalid, assert_refused},
    stripe::{self, Override, Stripe},
    stripe_shop::StripeShop,
};

const EVENTS: &str = "/v1/events";
const OTHER: &str = "sk_test_of_another";

async fn admin(service: &Service, method: Method, body: &Value) -> Reply {
    let path = format!("/api/admin/v1/projects/{}", service.project.id);
    let request = Client::new(&service.base, ADMIN_TOKEN).request(method, &path);
    Client::send(request.json(body)).await.unwrap()
}

async fn set(service: &Service, provider: Value) -> Reply {
    admin(service, Method::PATCH, &json!({ "provider": provider })).await
}

async fn shown(service: &Service) -> Value {
    let reply = admin(service, Method::GET, &Value::Null).await.expect(200);
    reply["provider"].clone()
}

fn key(key: &str) -> Value {
    json!({"kind": "stripe", "secretKey": key})
}

fn forced(mut provider: Value) -> Value {
    provider["force"] = json!(true);
    provider
}

/// A shop with some of everything: Ann's order is pending, Bea bought credits, Cleo subscribed.
async fn busy() -> (StripeShop, [Value; 3]) {
    let shop = StripeShop::open().await;
    // Set by the administration, so that the account's id is known.
    let reply = set(&shop.service, key(stripe::SECRET_KEY))
        .await
        .expect(200);
    assert_eq!(reply["provider"]["verified"], true);
    let tier = shop.add_tier(500).await;
    let ann = shop.open_checkout("ann").await;
    let bea = shop.open_checkout("bea").await;
    shop.pay(&bea).await;
    let fields = json!({"priceId": tier, "externalUserId": "cleo"});
    let cleo = shop.checkout(fields).await.expect(200);
    shop.subscribe(&cleo, "sub_cleo").await;
    (shop, [ann, bea, cleo])
}

async fn is_subscribed(shop: &StripeShop) -> bool {
    let cleo = shop.wallet("cleo").await;
    let subscribed = cleo["subscriptions"] != json!([]);
    assert_eq!(cleo["features"] == json!(["pro"]), subscribed, "{cleo}");
    subscribed
}

#[tokio::test]
async fn a_provider_with_orders_is_left_only_by_force() {
    let (shop, [ann, bea, cleo]) = busy().await;
    let sandbox = json!({"kind": "sandbox"});
    let refused = set(&shop.service, sandbox.clone()).await;
    assert_refused(&refused, 409, "provider_in_use");
    assert_eq!(shown(&shop.service).await["kind"], "stripe");
    assert!(is_subscribed(&shop).await);

    let reply = set(&shop.service, forced(sandbox)).await.expect(200);
    assert_eq!(reply["provider"]["kind"], "sandbox");
    assert_eq!(reply["provider"]["changing"], false);
    assert!(!is_subscribed(&shop).await);
    assert_eq!(shop.wallet("cleo").await["balances"][0]["balance"], 0);
    // Bought credits stay, and paid orders stay paid.
    assert_eq!(shop.service.balance("bea").await, 100);
    for (order, status) in [(&ann, "expired"), (&bea, "paid"), (&cleo, "paid")] {
        assert_eq!(shop.order(&order["orderId"]).await["status"], status);
    }
    // Webhooks of the former account are refused, with any signature.
    let paid = shop.stripe.pay(ann["checkoutId"].as_str().unwrap());
    let late = shop.report("checkout.session.completed", &paid).await;
    assert_refused(&late, 400, "invalid_signature");
    assert_eq!(shop.order(&ann["orderId"]).await["status"], "expired");
    // The next provider can sell at once, also the same tier.
    let tier = shop.order(&cleo["orderId"]).await["priceId"].clone();
    let again = shop.checkout(json!({"priceId": tier, "externalUserId": "cleo"}));
    let again = again.await.expect(200);
    let page = again["url"].as_str().unwrap();
    assert!(page.starts_with(&shop.service.base), "{page}");
}

#[tokio::test]
async fn a_new_key_of_the_same_account_and_mode_is_no_change() {
    let (shop, _) = busy().await;
    set(&shop.service, key("sk_test_rolled")).await.expect(200);
    assert!(is_subscribed(&shop).await);
    let checkout = shop.open_checkout("dora").await;
    shop.pay(&checkout).await;
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "paid");

    shop.stripe.account_of(OTHER, Some("acct_other"));
    for other in [OTHER, "sk_live_of_the_shop"] {
        let refused = set(&shop.service, key(other)).await;
        assert_refused(&refused, 409, "provider_in_use");
        let shown = refused.body.to_string();
        assert!(!shown.contains(other), "{shown}");
    }
    assert!(is_subscribed(&shop).await);
    set(&shop.service, forced(key(OTHER))).await.expect(200);
    assert!(!is_subscribed(&shop).await);
    // The former account's webhook secret is gone.
    let late = shop.report("customer.created", &json!({})).await;
    assert_refused(&late, 400, "invalid_signature");
}

#[tokio::test]
async fn a_provider_that_is_taken_away_may_come_back_and_no_other_in_its_place() {
    let (shop, _) = busy().await;
    set(&shop.service, Value::Null).await.expect(200);
    assert!(is_subscribed(&shop).await, "nothing is asked, nothing ends");
    let refused = set(&shop.service, json!({"kind": "sandbox"})).await;
    assert_refused(&refused, 409, "provider_in_use");
    set(&shop.service, key("sk_test_rolled")).await.expect(200);
    assert!(is_subscribed(&shop).await);
    shop.open_checkout("dora").await;
}

#[tokio::test]
async fn an_account_without_a_readable_id_is_recognized_by_the_newest_order() {
    let shop = StripeShop::open().await;
    for restricted in ["rk_test_1", "rk_test_2", "rk_test_3"] {
        shop.stripe.account_of(restricted, None);
    }
    set(&shop.service, key("rk_test_1")).await.expect(200);
    let checkout = shop.open_checkout("ann").await;
    set(&shop.service, key("rk_test_2")).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
    // A key that cannot find the session belongs to another account; so does one that fails.
    let session = format!(
        "/v1/checkout/sessions/{}",
        checkout["checkoutId"].as_str().unwrap()
    );
    let missing = json!({"error": {"type": "invalid_request_error", "code": "resource_missing"}});
    for instead in [Override::Status(404, missing), Override::Garbage] {
        shop.stripe.instead(&session, instead);
        let refused = set(&shop.service, key("rk_test_3")).await;
        assert_refused(&refused, 409, "provider_in_use");
    }
    // The key that is already set needs no check.
    set(&shop.service, key("rk_test_2")).await.expect(200);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
}

#[tokio::test]
async fn a_key_of_no_use_is_refused_in_the_providers_words() {
    let stripe = Stripe::start().await;
    let service = Service::beside(&stripe.base).await;
    let says = |words: &str| json!({"error": {"type": "invalid_request_error", "message": words}});
    for (status, words) in [
        (401, "Invalid API Key provided: sk_test_****hush"),
        (
            403,
            "The provided key does not have the required permissions",
        ),
    ] {
        stripe.instead(EVENTS, Override::Status(status, says(words)));
        let refused = set(&service, key("sk_test_hush")).await;
        assert_invalid(&refused, "provider.secretKey");
        let message = refused.body["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    stripe.instead(EVENTS, Override::Status(401, says("What is sk_test_hush?")));
    let refused = set(&service, key("sk_test_hush")).await;
    assert_invalid(&refused, "provider.secretKey");
    assert!(!refused.body.to_string().contains("hush"));
    assert_eq!(shown(&service).await, Value::Null);
    // Invalid input is reported before the provider is asked.
    let count = stripe.calls(EVENTS).len();
    assert_invalid(&set(&service, key("pk_test_1")).await, "provider.secretKey");
    let mut change = json!({"provider": key("sk_test_1"), "subscriptionGraceDays": 366});
    let refused = admin(&service, Method::PATCH, &change).await;
    assert_invalid(&refused, "subscriptionGraceDays");
    change["provider"]["force"] = json!("yes");
    let refused = admin(&service, Method::PATCH, &change).await;
    assert_invalid(&refused, "provider.force");
    assert_eq!(stripe.calls(EVENTS).len(), count);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_be_reached_is_verified_once_it_can() {
    let stripe = Stripe::start().await;
    let service = Service::beside(&stripe.base).await;
    // As often as a request is retried.
    for _ in 0..10 {
        stripe.instead(EVENTS, Override::Silence);
    }
    let reply = set(&service, key("sk_test_1")).await.expect(200);
    assert_eq!(reply["provider"]["verified"], false);
    let tend = async || {
        let project = service.catalog.project(service.project.id).unwrap();
        service.accounts.tick(&project).await
    };
    let mut rounds = 0;
    while let Err(error) = tend().await {
        assert!(!error.to_string().contains("sk_test"), "{error}");
        assert_eq!(shown(&service).await["verified"], false);
        rounds += 1;
        assert!(rounds < 10, "it can be reached by now");
    }
    assert!(rounds > 0);
    assert_eq!(shown(&service).await["verified"], true);
    let count = stripe.calls(EVENTS).len();
    tend().await.unwrap();
    assert_eq!(stripe.calls(EVENTS).len(), count, "it is tried once");
    // The account's id was stored with the key: another account is recognized without any order.
    let price = service.add_price(100).await;
    let body = json!({"priceId": price, "externalUserId": "ann"});
    let checkout = service.secret.post("/api/v1/checkout", &body).await;
    checkout.expect(200);
    stripe.account_of(OTHER, Some("acct_other"));
    assert_refused(&set(&service, key(OTHER)).await, 409, "provider_in_use");
}

#[tokio::test]
async fn the_next_accounts_list_is_read_from_its_own_beginning() {
    let (shop, _) = busy().await;
    let read = async || {
        shop.read_events().await;
        let call = shop.stripe.calls(EVENTS).pop().unwrap();
        call.form["created[gte]"].parse::<i64>().unwrap()
    };
    let object = json!({"id": "sub_nobodys"});
    let kind = "customer.subscription.deleted";
    shop.stripe.list("evt_x", kind, &object, shop.seconds());
    let oldest = read().await;
    assert!(read().await > oldest, "it goes on where it was");
    shop.stripe.account_of(OTHER, Some("acct_other"));
    set(&shop.service, forced(key(OTHER))).await.expect(200);
    assert_eq!(read().await, oldest);
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_at_the_next_provider_while_work_for_the_former_runs() {
    const SESSIONS: &str = "/v1/checkout/sessions";
    let (shop, _) = busy().await;
    for _ in 0..10 {
        shop.stripe.instead(SESSIONS, Override::Silence);
    }
    let before = shop.stripe.calls(SESSIONS).len();
    let (client, price) = (shop.service.secret.clone(), shop.price.clone());
    let under_way = tokio::spawn(async move {
        let body = json!({"priceId": price, "externalUserId": "dora"});
        client.post("/api/v1/checkout", &body).await
    });
    deadline::until("the question", deadline::SOON, || {
        (shop.stripe.calls(SESSIONS).len() > before).then_some(())
    })
    .await;
    let sandbox = forced(json!({"kind": "sandbox"}));
    let reply = set(&shop.service, sandbox).await.expect(200);
    assert_eq!(reply["provider"]["changing"], true);
    let refused = shop.checkout(json!({"externalUserId": "eve"})).await;
    assert_refused(&refused, 503, "overloaded");
    assert!(is_subscribed(&shop).await, "it has not come to her yet");
    assert_refused(&under_way.await.unwrap(), 502, "provider_error");
    let payments = &shop.service.payments;
    let left = payments.end_former_provider(shop.service.project.id);
    left.await.unwrap();
    assert_eq!(shown(&shop.service).await["changing"], false);
    assert!(!is_subscribed(&shop).await);
    shop.open_checkout("eve").await;
}

#[tokio::test(start_paused = true)]
async fn events_of_the_former_provider_are_not_fetched_any_more() {
    let (shop, [ann, ..]) = busy().await;
    let checkout = ann["checkoutId"].as_str().unwrap();
    let session = shop.stripe.pay(checkout);
    for _ in 0..10 {
        let path = format!("/v1/checkout/sessions/{checkout}");
        shop.stripe.instead(&path, Override::Status(503, json!({})));
    }
    shop.report("checkout.session.completed", &session)
        .await
        .expect(200);
    assert_eq!(shop.service.payments.inbox().waiting(), 1);
    let sandbox = forced(json!({"kind": "sandbox"}));
    set(&shop.service, sandbox).await.expect(200);
    assert_eq!(shop.service.payments.inbox().waiting(), 0);
    let order = shop.order(&ann["orderId"]).await;
    assert_eq!(order["status"], "expired");
    // Also not after a restart: no note is left.
    let events = notes::all::<payments::EventNote>(&shop.service.handle).unwrap();
    assert!(events.is_empty(), "{events:?}");
}

#[tokio::test]
async fn permissions_that_a_key_lacks_are_named_all_at_once() {
    let stripe = Stripe::start().await;
    let service = Service::beside(&stripe.base).await;
    let deny = |request: &str, permission: &str| {
        let message = format!(
            "The provided key 'rk_test_****' does not have the required permissions for this endpoint on \
             account 'acct_1'. Having the '{permission}' permission would allow this request to continue."
        );
        let refusal = json!({"error": {"type": "invalid_request_error", "message": message}});
        stripe.instead(request, Override::Status(403, refusal));
    };
    // Without these permissions it cannot sell.
    deny("POST /v1/checkout/sessions", "rak_checkout_session_write");
    deny("POST /v1/prices", "rak_plan_write");
    deny("/v1/disputes", "rak_dispute_read");
    let refused = set(&service, key("rk_test_narrow")).await;
    assert_invalid(&refused, "provider.secretKey");
    let text = refused.body["message"].as_str().unwrap();
    for permission in [
        "rak_checkout_session_write",
        "rak_plan_write",
        "rak_dispute_read",
    ] {
        assert!(text.contains(permission), "{permission} in {text}");
    }
    assert_eq!(shown(&service).await, Value::Null);
    // Without those something cannot be done: the key is accepted, and the missing permissions are shown.
    let narrow = || {
        deny("/v1/disputes", "rak_dispute_read");
        deny("/v1/invoice_payments", "rak_of_another_name_read");
        let schedule = "/v1/subscription_schedules/scrip_permission_check/release";
        deny(schedule, "rak_subscription_schedule_write");
    };
    narrow();
    let reply = set(&service, key("rk_test_narrow")).await.expect(200);
    assert_eq!(reply["provider"]["verified"], true);
    narrow();
    let check = async || {
        let path = format!(
            "/api/admin/v1/projects/{}/provider/check",
            service.project.id
        );
        let client = Client::new(&service.base, ADMIN_TOKEN);
        client.post(&path, &json!({})).await.expect(200)
    };
    let checked = check().await;
    assert_eq!(checked["works"], true);
    let mut missing: Vec<_> = checked["missingPermissions"].as_array().unwrap().to_vec();
    missing.sort_by_key(ToString::to_string);
    assert_eq!(
        Value::from(missing),
        json!([
            "rak_dispute_read",
            "rak_of_another_name_read",
            "rak_subscription_schedule_write"
        ])
    );
    let link = checked["newKeyUrl"].as_str().unwrap();
    assert_eq!(link, permissions::link(true));
    assert_eq!(check().await["missingPermissions"], json!([]));
}
