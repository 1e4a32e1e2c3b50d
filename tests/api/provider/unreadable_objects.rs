//! Objects and events that cannot be read: they wait, and everything else goes on.

use serde_json::{Value, json};

use crate::{
    client::Reply,
    stripe::{self, Override},
    stripe_shop::StripeShop,
};

const COMPLETED: &str = "checkout.session.completed";
const DISPUTES: &str = "/v1/disputes";
const EVENTS: &str = "/v1/events";

/// Stripe's response to a restricted key that lacks a permission.
pub(crate) fn refusal(permission: &str) -> Value {
    let message = format!(
        "The provided key 'rk_test_*******' does not have the required permissions for this endpoint on account \
         'acct_of_the_shop'. Having the '{permission}' permission would allow this request to continue."
    );
    json!({"error": {
        "type": "invalid_request_error", "code": "more_permissions_required", "message": message,
    }})
}

impl StripeShop {
    /// An order that was paid, and fully refunded without a webhook.
    async fn refunded_silently(&self, user: &str, event: &str) -> Value {
        self.went_back_silently(user, event, false).await
    }

    /// The same with a dispute that is over.
    async fn disputed_silently(&self, user: &str, event: &str) -> Value {
        self.went_back_silently(user, event, true).await
    }

    async fn went_back_silently(&self, user: &str, event: &str, disputed: bool) -> Value {
        let checkout = self.open_checkout(user).await;
        let session = self.pay(&checkout).await;
        let payment = session["payment_intent"].as_str().unwrap();
        let marks = json!({
            "scrip_project_id": self.service.project.id.to_string(),
            "scrip_order_id": checkout["orderId"],
        });
        let charge = self.stripe.charged(payment, &marks, 500, 500);
        let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
        let charge = self.stripe.set(&path, json!({"disputed": disputed}));
        self.stripe
            .list(event, "charge.refunded", &charge, self.seconds());
        checkout
    }

    async fn ready(&self) -> Value {
        self.service.secret.get("/readyz").await.expect(200)
    }
}

#[tokio::test]
async fn a_missing_permission_delays_only_events_that_need_it() {
    let shop = StripeShop::open().await;
    let lacks = Override::Status(403, refusal("rak_dispute_read"));
    shop.stripe.from_now_on(DISPUTES, lacks);
    let ann = shop.disputed_silently("ann", "evt_back").await;
    let eve = shop.refunded_silently("eve", "evt_eve").await;
    let bob = shop.open_checkout("bob").await;
    shop.paid_silently(&bob, "evt_bob");
    shop.rounds(400).await;
    assert_eq!(shop.status(&eve).await, "refunded", "hers was not disputed");
    assert_eq!(
        shop.status(&bob).await,
        "paid",
        "he has nothing to do with it"
    );
    assert_eq!(
        shop.status(&ann).await,
        "paid",
        "the provider has not answered yet"
    );
    assert_eq!(shop.service.payments.inbox().waiting(), 1);
    let count = shop.stripe.calls(DISPUTES).len();
    assert!(
        (8..=20).contains(&count),
        "once in half a minute, not {count}"
    );
    assert_eq!(
        shop.ready().await["missingPermissions"],
        json!(["rak_dispute_read"])
    );
    // The operator adds the missing permission to the key.
    shop.stripe.as_usual();
    shop.rounds(31).await;
    assert_eq!(shop.status(&ann).await, "refunded");
    assert_eq!(shop.ready().await, json!({"status": "ok"}));
}

#[tokio::test]
async fn many_refusals_in_a_row_stop_no_others_and_are_retried_by_one() {
    let shop = StripeShop::open().await;
    let lacks = Override::Status(403, refusal("rak_dispute_read"));
    shop.stripe.from_now_on(DISPUTES, lacks);
    let mut refunded = Vec::new();
    for number in 0..20 {
        let user = format!("user {number}");
        refunded.push(
            shop.disputed_silently(&user, &format!("evt_back_{number}"))
                .await,
        );
    }
    let bob = shop.open_checkout("bob").await;
    shop.paid_silently(&bob, "evt_bob");
    shop.read_events().await;
    assert_eq!(shop.status(&bob).await, "paid");
    let count = shop.stripe.calls(DISPUTES).len();
    shop.rounds(60).await;
    let more = shop.stripe.calls(DISPUTES).len() - count;
    assert!(more <= 3, "{more} for twenty that wait");
    // They also wait across a restart.
    let shop = shop.again().await;
    shop.stripe.as_usual();
    let _rounds = shop.service.payments.start();
    shop.rounds(3).await;
    for order in &refunded {
        assert_eq!(shop.status(order).await, "refunded");
    }
}

/// That request is not repeated; the key's permissions are still tried from time to time.
#[tokio::test]
async fn a_permission_to_write_is_seen_to_be_there_again_without_a_second_call() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    let lacks = Override::Status(403, refusal("rak_charge_write"));
    shop.stripe.from_now_on("POST /v1/refunds", lacks);
    let path = format!(
        "/api/v1/orders/{}/refund",
        checkout["orderId"].as_str().unwrap()
    );
    let body = json!({"idempotencyKey": "back"});
    shop.service.secret.post(&path, &body).await.expect(502);
    shop.rounds(1).await;
    let missing = json!(["rak_charge_write"]);
    assert_eq!(shop.ready().await["missingPermissions"], missing);
    shop.stripe.as_usual();
    shop.rounds(60).await;
    assert_eq!(shop.ready().await["missingPermissions"], missing);
    let _rounds = shop.service.payments.start();
    kit::deadline::answered("a key that may", kit::deadline::SOON, async || {
        (shop.ready().await == json!({"status": "ok"})).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_question_that_fails_once_is_asked_again() {
    let shop = StripeShop::open().await;
    let ann = shop.refunded_silently("ann", "evt_back").await;
    let missing = json!({"error": {"type": "invalid_request_error", "code": "resource_missing"}});
    for instead in [Override::Status(404, missing), Override::Garbage] {
        shop.stripe.instead("GET /v1/payment_intents/pi_1", instead);
    }
    shop.read_events().await;
    assert_eq!(shop.status(&ann).await, "paid");
    shop.rounds(10).await;
    assert_eq!(shop.status(&ann).await, "refunded");
    assert_eq!(shop.service.payments.inbox().waiting(), 0);
}

#[tokio::test]
async fn one_object_that_always_fails_is_its_own_trouble() {
    let shop = StripeShop::open().await;
    let broken = json!({"id": "cs_test_broken"});
    let path = "/v1/checkout/sessions/cs_test_broken";
    shop.stripe
        .from_now_on(path, Override::Status(500, json!({})));
    let mut checkouts = Vec::new();
    for number in 0..20 {
        let order = shop.open_checkout(&format!("user {number}")).await;
        shop.paid_silently(&order, &format!("evt_{number}"));
        checkouts.push(order);
    }
    shop.stripe
        .list("evt_broken", COMPLETED, &broken, shop.seconds());
    shop.rounds(2).await;
    for order in &checkouts {
        assert_eq!(shop.status(order).await, "paid");
    }
    assert_eq!(shop.service.payments.inbox().waiting(), 1);
}

#[tokio::test]
async fn a_provider_that_is_away_is_left_alone_and_nothing_is_lost() {
    let shop = StripeShop::open().await;
    let mut checkouts = Vec::new();
    for number in 0..20 {
        let order = shop.open_checkout(&format!("user {number}")).await;
        let session = shop.paid_silently(&order, &format!("evt_{number}"));
        let path = format!("/v1/checkout/sessions/{}", session["id"].as_str().unwrap());
        shop.stripe
            .from_now_on(&path, Override::Status(503, json!({})));
        checkouts.push((order, path));
    }
    shop.rounds(25).await;
    let count: usize = checkouts
        .iter()
        .map(|(_, path)| shop.stripe.calls(path).len())
        .sum();
    assert!(count <= 20, "{count} questions in 25 seconds");
    shop.stripe.as_usual();
    shop.rounds(31).await;
    for (order, _) in &checkouts {
        assert_eq!(shop.status(order).await, "paid");
    }
}

#[tokio::test]
async fn a_list_that_cannot_be_read_stops_no_other_sweep() {
    let shop = StripeShop::open().await;
    shop.stripe
        .from_now_on(EVENTS, Override::Status(403, refusal("rak_event_read")));
    let ann = shop.open_checkout("ann").await;
    shop.stripe.pay(ann["checkoutId"].as_str().unwrap());
    shop.service.handle.fold_all().await.unwrap();
    shop.service.clock.advance_millis(11 * 60 * 1000);
    shop.rounds(2).await;
    assert_eq!(shop.status(&ann).await, "paid", "by its age");
    assert_eq!(
        shop.ready().await["missingPermissions"],
        json!(["rak_event_read"])
    );
}

/// Stripe prints a hundred events with a few items each in a megabyte and a half.
#[tokio::test]
async fn a_page_of_any_size_is_read() {
    let shop = StripeShop::open().await;
    let ann = shop.open_checkout("ann").await;
    shop.paid_silently(&ann, "evt_ann");
    let large = json!({
        "id": "sub_of_another_product", "metadata": {}, "items": vec!["x".repeat(16 << 10)],
    });
    for number in 0..121 {
        let id = format!("evt_{number}");
        shop.stripe
            .list(&id, "customer.subscription.updated", &large, shop.seconds());
    }
    shop.read_events().await;
    assert_eq!(shop.status(&ann).await, "paid");
}

#[tokio::test]
async fn pages_that_cannot_be_read_are_asked_for_by_halves() {
    let shop = StripeShop::open().await;
    let ann = shop.open_checkout("ann").await;
    shop.paid_silently(&ann, "evt_ann");
    for _ in 0..3 {
        shop.stripe.instead(EVENTS, Override::Garbage);
    }
    shop.read_events().await;
    assert_eq!(shop.status(&ann).await, "paid");
    let calls = shop.stripe.calls(EVENTS);
    let limits: Vec<_> = calls
        .iter()
        .map(|call| call.form["limit"].as_str())
        .collect();
    assert_eq!(limits, ["100", "50", "25", "12"]);
}

/// Delivers a webhook in the background.
pub(super) fn webhook(
    shop: &StripeShop,
    id: &str,
    kind: &str,
    object: &Value,
) -> impl Future<Output = reqwest::Result<Reply>> + use<> {
    let (body, header) = shop.stripe.event(id, kind, object, shop.seconds());
    let path = format!("/webhooks/stripe/{}", shop.service.project.id);
    let request = shop.service.secret.request(reqwest::Method::POST, &path);
    crate::client::Client::send(request.header("stripe-signature", header).body(body))
}

/// A buyer's webhook does not queue behind background ones.
#[tokio::test]
async fn a_buyer_is_served_while_everything_else_waits() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let mut others = tokio::task::JoinSet::new();
    for number in 0..80 {
        let payment = format!("pi_other{number}");
        let path = format!("/v1/payment_intents/{payment}");
        shop.stripe.from_now_on(&path, Override::Silence);
        let dispute =
            json!({"id": format!("dp_{number}"), "payment_intent": payment, "metadata": {}});
        let id = format!("evt_dispute{number}");
        others.spawn(webhook(&shop, &id, "charge.dispute.created", &dispute));
    }
    // All slots for those are taken: this many are read at once.
    kit::deadline::answered("the others", kit::deadline::SOON, async || {
        (shop.service.payments.inbox().waiting() == 80).then_some(())
    })
    .await;
    shop.pay(&checkout).await;
    assert_eq!(shop.status(&checkout).await, "paid");
    others.shutdown().await;
}

/// Oldest first, in slices, and the progress is written after each: a crash in between loses little.
#[tokio::test]
async fn a_long_list_is_read_in_slices_and_goes_on_where_it_was_left() {
    let shop = StripeShop::open().await;
    let first = shop.open_checkout("ann").await;
    let start = shop.seconds();
    let session = shop.stripe.pay(first["checkoutId"].as_str().unwrap());
    shop.stripe.list("evt_first", COMPLETED, &session, start);
    for number in 0..3000 {
        let object = json!({"id": format!("cs_test_other_{number}"), "metadata": {}});
        shop.stripe.list(
            &format!("evt_{number}"),
            COMPLETED,
            &object,
            start + number * 10,
        );
    }
    shop.service.clock.advance_millis(30_000 * 1000);
    let last = shop.open_checkout("bea").await;
    shop.paid_silently(&last, "evt_last");
    shop.read_events().await;
    assert_eq!(shop.status(&first).await, "paid");
    assert_eq!(shop.status(&last).await, "paid");
    let calls = shop.stripe.calls(EVENTS);
    let until = |call: &stripe::Call| {
        call.form
            .get("created[lte]")
            .map(|at| at.parse::<i64>().unwrap())
    };
    let slices: Vec<Option<i64>> = calls.iter().map(until).collect();
    assert_eq!(slices.last(), Some(&None), "the last one has no end");
    assert!(slices.iter().flatten().count() > 10, "{slices:?}");
    assert!(calls.len() < 150, "{} pages of 30", calls.len());
    let shop = shop.again().await;
    shop.read_events().await;
    let again = shop.readings().pop().unwrap();
    assert_eq!(again, shop.seconds() - 900, "it is not begun again");
}
