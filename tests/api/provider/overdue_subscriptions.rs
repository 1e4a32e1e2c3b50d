//! Subscriptions whose next period is not reported: they are fetched a day later, and at the start; without
//! an answer their features end after the days of grace.

use serde_json::{Value, json};

use crate::{provider::unreadable_objects::refusal, stripe::Override, stripe_shop::StripeShop};

const DAY: i64 = 86_400;
const SUBSCRIPTION: &str = "/v1/subscriptions/sub_1";

/// A user with a month of the tier; returns the subscription.
async fn subscribed(shop: &StripeShop) -> Value {
    let tier = shop.add_tier(500).await;
    let body = json!({"priceId": tier, "externalUserId": "ann"});
    let checkout = shop.checkout(body).await.expect(200);
    let subscription = shop.subscribe(&checkout, "sub_1").await;
    shop.service.round().await;
    subscription
}

impl StripeShop {
    async fn days_and_a_round(&self, days: i64) {
        self.service.clock.advance_millis(days * DAY * 1000);
        self.service.round().await;
    }

    fn looks(&self) -> usize {
        self.stripe.calls(SUBSCRIPTION).len()
    }

    async fn features(&self) -> Value {
        self.wallet("ann").await["features"].clone()
    }

    /// Lets requests about events and the subscription fail from now on.
    fn away(&self) {
        for path in ["/v1/events", SUBSCRIPTION] {
            let instead = Override::Status(500, json!({}));
            self.stripe.from_now_on(path, instead);
        }
    }
}

#[tokio::test]
async fn a_deletion_without_a_webhook_ends_the_wallets_subscription() {
    let shop = StripeShop::open().await;
    let mut subscription = subscribed(&shop).await;
    // The service is down for seventy days; the provider's list goes back thirty.
    subscription["status"] = json!("canceled");
    shop.set_subscription(&subscription);
    shop.service.clock.advance_millis(70 * DAY * 1000);
    let shop = shop.again().await;
    assert_eq!(shop.features().await, json!(["pro"]), "no answer came yet");
    shop.service.round().await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(
        (&wallet["features"], &wallet["subscriptions"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(wallet["balances"][0]["balance"], 0);
}

#[tokio::test]
async fn a_subscription_is_asked_about_a_day_after_its_period_and_once_a_day() {
    let shop = StripeShop::open().await;
    let mut subscription = subscribed(&shop).await;
    let before = shop.looks();
    shop.days_and_a_round(30).await;
    shop.service.clock.advance_millis((DAY - 1) * 1000);
    shop.service.round().await;
    assert_eq!(shop.looks(), before, "it is not a day yet");
    shop.rounds(3).await;
    assert_eq!(shop.looks(), before + 1, "asked once");
    shop.days_and_a_round(1).await;
    shop.rounds(3).await;
    assert_eq!(
        shop.looks(),
        before + 2,
        "and daily while it says nothing new"
    );
    assert_eq!(
        shop.features().await,
        json!(["pro"]),
        "the provider says that it is active"
    );
    // It has been renewed.
    subscription["items"]["data"][0]["current_period_end"] = json!(shop.seconds() + 28 * DAY);
    shop.set_subscription(&subscription);
    shop.days_and_a_round(1).await;
    let looks = shop.looks();
    shop.days_and_a_round(1).await;
    shop.days_and_a_round(1).await;
    assert_eq!(shop.looks(), looks, "its period runs");
}

#[tokio::test]
async fn while_the_provider_is_away_features_end_after_the_days_of_grace_and_come_back_with_it() {
    let shop = StripeShop::open().await;
    subscribed(&shop).await;
    shop.away();
    shop.days_and_a_round(31).await;
    shop.days_and_a_round(5).await;
    assert_eq!(shop.features().await, json!(["pro"]), "six days of silence");
    shop.days_and_a_round(2).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["features"], json!([]));
    assert_eq!(wallet["subscriptions"][0]["status"], "past_due");
    assert_eq!(
        wallet["balances"][0]["balance"], 500,
        "only the provider ends it"
    );
    // The provider is back, and the subscription is fine.
    shop.stripe.as_usual();
    shop.rounds(31).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["features"], json!(["pro"]));
    assert_eq!(wallet["subscriptions"][0]["status"], "active");
}

/// A restart in between does not restart the count of days.
#[tokio::test]
async fn silence_about_one_subscription_ends_its_features_after_the_days_of_grace() {
    let shop = StripeShop::open().await;
    subscribed(&shop).await;
    let silent = Override::Status(500, json!({}));
    shop.stripe.from_now_on(SUBSCRIPTION, silent);
    shop.days_and_a_round(31).await;
    shop.days_and_a_round(5).await;
    assert_eq!(shop.features().await, json!(["pro"]), "six days of silence");
    let shop = shop.again().await;
    shop.days_and_a_round(2).await;
    assert_eq!(shop.features().await, json!([]));
}

#[tokio::test]
async fn a_question_that_is_refused_is_no_silence() {
    let shop = StripeShop::open().await;
    subscribed(&shop).await;
    let refusal = refusal("rak_subscription_read");
    shop.stripe
        .from_now_on(SUBSCRIPTION, Override::Status(403, refusal));
    for _ in 0..20 {
        shop.days_and_a_round(3).await;
    }
    assert_eq!(shop.features().await, json!(["pro"]), "nothing was refused");
    assert!(shop.looks() >= 2, "it was asked about");
}

#[tokio::test]
async fn one_that_the_provider_does_not_know_loses_its_features_and_is_counted() {
    let shop = StripeShop::open().await;
    subscribed(&shop).await;
    shop.days_and_a_round(31).await;
    let missing = json!({"error": {
        "type": "invalid_request_error", "code": "resource_missing", "message": "No such subscription.",
    }});
    let gone = || {
        shop.stripe
            .instead(SUBSCRIPTION, Override::Status(404, missing.clone()))
    };
    gone();
    shop.days_and_a_round(3).await;
    assert_eq!(shop.features().await, json!(["pro"]), "there is time left");
    assert_eq!(shop.service.payments.missing_objects(), 1);
    gone();
    shop.days_and_a_round(4).await;
    assert_eq!(shop.features().await, json!([]));
    assert_eq!(shop.service.payments.missing_objects(), 2);
}

/// A subscription that renews as expected needs no request of its own.
#[tokio::test]
async fn what_goes_on_is_not_asked_about() {
    let shop = StripeShop::open().await;
    let mut subscription = subscribed(&shop).await;
    for month in 1..=3 {
        shop.service.clock.advance_millis(30 * DAY * 1000);
        subscription["items"]["data"][0]["current_period_end"] = json!(shop.seconds() + 30 * DAY);
        shop.set_subscription(&subscription);
        let reply = shop.report("customer.subscription.updated", &subscription);
        assert_eq!(reply.await.status, 200, "month {month}");
        shop.service.round().await;
    }
    let reply = shop.looks();
    shop.days_and_a_round(29).await;
    assert_eq!(shop.looks(), reply);
}

/// With a clock that only timers advance, as no test waits as long as the service does.
#[tokio::test(start_paused = true)]
async fn a_subscription_about_which_the_provider_hangs_ends_as_well() {
    let shop = StripeShop::open().await;
    subscribed(&shop).await;
    shop.stripe.from_now_on(SUBSCRIPTION, Override::Silence);
    shop.days_and_a_round(31).await;
    shop.days_and_a_round(5).await;
    assert_eq!(shop.features().await, json!(["pro"]), "six days of silence");
    shop.days_and_a_round(2).await;
    assert_eq!(shop.features().await, json!([]));
}

/// Three of them in a row stop a sweep, which goes on behind them.
#[tokio::test]
async fn each_of_many_subscriptions_is_reached_while_the_provider_answers_about_others() {
    const MANY: usize = 24;
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    for number in 0..MANY {
        let checkout = shop.open_checkout_of(&format!("user{number}"), &tier).await;
        let id = format!("sub_{number}");
        shop.subscribe(&checkout, &id).await;
        let silent = Override::Status(500, json!({}));
        shop.stripe
            .from_now_on(&format!("/v1/subscriptions/{id}"), silent);
        shop.service.clock.advance_millis(60_000);
    }
    shop.service.round().await;
    shop.days_and_a_round(31).await;
    for day in 0..9 {
        shop.days_and_a_round(1).await;
        // Something is bought and answered each day: it is no outage.
        let checkout = shop.open_checkout(&format!("buyer{day}")).await;
        shop.pay(&checkout).await;
    }
    for _ in 0..MANY {
        shop.service.clock.advance_millis(31_000);
        shop.service.round().await;
    }
    for number in 0..MANY {
        let wallet = shop.wallet(&format!("user{number}")).await;
        assert_eq!(wallet["features"], json!([]), "{number}");
    }
}
