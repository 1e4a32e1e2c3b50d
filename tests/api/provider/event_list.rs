//! The provider's own list of events: payments that no webhook reported are found there.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    service::Service,
    stripe::{self, Override, Stripe},
    stripe_shop::StripeShop,
};

const COMPLETED: &str = "checkout.session.completed";
const EVENTS: &str = "/v1/events";

impl StripeShop {
    /// Reads the list, as each round does; returns how many things were looked at.
    pub(crate) async fn read_events(&self) -> usize {
        let project = self.service.catalog.project(self.service.project.id);
        let read = self
            .service
            .payments
            .event_poller()
            .run(&project.unwrap())
            .await;
        read.unwrap()
    }

    /// Pays a checkout without a webhook; only the list has the event.
    pub(crate) fn paid_silently(&self, checkout: &Value, event: &str) -> Value {
        let session = self.stripe.pay(checkout["checkoutId"].as_str().unwrap());
        self.stripe.list(event, COMPLETED, &session, self.seconds());
        session
    }

    pub(crate) async fn status(&self, checkout: &Value) -> Value {
        self.order(&checkout["orderId"]).await["status"].clone()
    }

    /// From which instant on each reading began.
    pub(crate) fn readings(&self) -> Vec<i64> {
        let calls = self.stripe.calls(EVENTS);
        let first = calls
            .iter()
            .filter(|call| !call.form.contains_key("starting_after"));
        first
            .map(|call| call.form["created[gte]"].parse().unwrap())
            .collect()
    }
}

#[tokio::test]
async fn a_payment_is_found_without_any_webhook() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.paid_silently(&checkout, "evt_1");
    assert_eq!(shop.read_events().await, 1);
    assert_eq!(shop.status(&checkout).await, "paid");
    assert_eq!(shop.read_events().await, 0, "it is known by now");
}

#[tokio::test]
async fn what_a_webhook_brought_is_not_looked_at_again() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let session = shop.paid_silently(&checkout, "evt_1");
    let (body, header) = stripe::event("evt_1", COMPLETED, &session, shop.seconds());
    shop.deliver(&body, &header).await.expect(200);
    let path = format!("/v1/checkout/sessions/{}", session["id"].as_str().unwrap());
    let count = shop.stripe.calls(&path).len();
    assert_eq!(shop.read_events().await, 0);
    assert_eq!(shop.stripe.calls(&path).len(), count);
}

#[tokio::test]
async fn reading_begins_at_the_first_order_and_goes_on_before_the_newest_event() {
    let shop = StripeShop::open().await;
    let (minutes, day) = (15 * 60, 86_400);
    let checkout = shop.open_checkout("ann").await;
    shop.paid_silently(&checkout, "evt_1");
    let now = shop.seconds();
    shop.read_events().await;
    shop.service.clock.advance_millis(600 * 1000);
    // Listed late, in a second that was read already.
    let late = shop.open_checkout("bea").await;
    let session = shop.stripe.pay(late["checkoutId"].as_str().unwrap());
    let at = now - minutes + 1;
    shop.stripe.list("evt_2", COMPLETED, &session, at);
    assert_eq!(shop.read_events().await, 1);
    assert_eq!(shop.status(&late).await, "paid");
    assert_eq!(shop.readings(), [now - day, now - minutes]);
    // Once an hour it reads further back, as the list may lag.
    let later = shop.open_checkout("cleo").await;
    let session = shop.stripe.pay(later["checkoutId"].as_str().unwrap());
    shop.stripe.list("evt_3", COMPLETED, &session, now - 7000);
    assert_eq!(shop.read_events().await, 0);
    shop.service.clock.advance_millis(3600 * 1000);
    assert_eq!(shop.read_events().await, 1);
    assert_eq!(shop.status(&later).await, "paid");
}

#[tokio::test]
async fn many_pages_are_read_and_a_failure_among_them_loses_nothing() {
    let shop = StripeShop::open().await;
    let mut checkouts = Vec::new();
    for number in 0..30 {
        let order = shop.open_checkout(&format!("user {number}")).await;
        // Eight events about the same thing each.
        let session = shop.paid_silently(&order, &format!("evt_{number}"));
        for more in 0..7 {
            let id = format!("evt_{number}_{more}");
            shop.stripe.list(&id, COMPLETED, &session, shop.seconds());
        }
        checkouts.push(order);
    }
    let project = shop
        .service
        .catalog
        .project(shop.service.project.id)
        .unwrap();
    shop.stripe
        .instead(EVENTS, Override::Status(500, json!({})));
    let feed = shop.service.payments.event_poller();
    assert!(feed.run(&project).await.is_err());
    assert_eq!(
        feed.run(&project).await.unwrap(),
        30,
        "each is asked about once"
    );
    for order in &checkouts {
        assert_eq!(shop.status(order).await, "paid");
    }
    let limits = shop.stripe.calls(EVENTS);
    let limits: Vec<_> = limits
        .iter()
        .map(|call| call.form["limit"].as_str())
        .collect();
    assert_eq!(
        limits,
        ["100", "50", "63", "79", "99"],
        "half as many after trouble"
    );
}

/// Stripe limits requests per second: background reading stays below that, and a buyer does not wait for it.
#[tokio::test]
async fn a_long_reading_keeps_to_its_pace_and_lets_a_buyer_go_first() {
    let stripe = Stripe::start().await;
    let base = stripe.base.parse().unwrap();
    let service = Service::with(|config| {
        config.stripe.api_base = base;
        config.stripe.background_per_second = 40;
    });
    let shop = StripeShop::of(stripe, service.await, None).await;
    for number in 0..40 {
        let checkout = shop.open_checkout(&format!("user {number}")).await;
        shop.paid_silently(&checkout, &format!("evt_{number}"));
    }
    let checkout = Instant::now();
    let reading = shop.read_events();
    let buying = async {
        // The first page has been read.
        while shop.readings().is_empty() {
            tokio::task::yield_now().await;
        }
        shop.open_checkout("bea").await;
        checkout.elapsed()
    };
    let (read, bought) = tokio::join!(reading, buying);
    assert_eq!(read, 40);
    // A page of the list, then forty sessions, eight at a time.
    let took = checkout.elapsed();
    assert!(took >= Duration::from_millis((41 - 8) * 25), "{took:?}");
    assert!(bought < took / 2, "the buyer waited {bought:?} of {took:?}");
}

/// Webhooks about refunds of another product of the account, at a high rate.
#[tokio::test]
async fn what_webhooks_tell_keeps_to_the_pace_but_for_a_buyers_checkout() {
    let stripe = Stripe::start().await;
    let base = stripe.base.parse().unwrap();
    let service = Service::with(|config| {
        config.stripe.api_base = base;
        config.stripe.background_per_second = 40;
    });
    let shop = StripeShop::of(stripe, service.await, Some(stripe::WEBHOOK_SECRET)).await;
    let ann = shop.open_checkout("ann").await;
    let webhooks = (0..20).map(|number| {
        let payment = format!("pi_other_{number}");
        shop.stripe.charged(&payment, &json!({}), 500, 500);
        let id = format!("evt_other_{number}");
        let refund =
            json!({"id": format!("re_{number}"), "payment_intent": payment, "metadata": {}});
        stripe::event(&id, "refund.created", &refund, shop.seconds())
    });
    let webhooks: Vec<_> = webhooks.collect();
    let started = Instant::now();
    let telling = futures_util::future::join_all(
        webhooks
            .iter()
            .map(|(body, header)| shop.deliver(body, header)),
    );
    let buying = async {
        shop.pay(&ann).await;
        started.elapsed()
    };
    let (replies, paid) = tokio::join!(telling, buying);
    assert!(replies.iter().all(|reply| reply.status == 200));
    let count = shop.stripe.calls("/v1/invoice_payments").len();
    let took = started.elapsed();
    assert_eq!(count, 20, "each is asked about: nothing says whose it is");
    // Two requests for each, for the payment and its owner; eight at a time.
    assert!(took >= Duration::from_millis((40 - 8) * 25), "{took:?}");
    assert!(paid < took / 2, "the buyer waited {paid:?} of {took:?}");
    assert_eq!(shop.status(&ann).await, "paid");
}

#[tokio::test]
async fn what_cannot_be_worked_off_does_not_keep_the_rest() {
    let shop = StripeShop::open().await;
    let missing = json!({"id": "cs_test_gone"});
    let checkout = shop.open_checkout("ann").await;
    shop.stripe
        .list("evt_0", COMPLETED, &missing, shop.seconds());
    shop.paid_silently(&checkout, "evt_1");
    shop.stripe
        .list("evt_2", COMPLETED, &missing, shop.seconds());
    assert_eq!(shop.read_events().await, 1);
    assert_eq!(shop.status(&checkout).await, "paid");
    assert_eq!(
        shop.service.payments.inbox().waiting(),
        1,
        "asked about again"
    );
    assert_eq!(shop.read_events().await, 0, "and not by the list");
}

impl StripeShop {
    /// How often the list is read in this many seconds of rounds.
    async fn readings_within(&self, seconds: i64) -> usize {
        let before = self.readings().len();
        self.rounds(seconds).await;
        self.readings().len() - before
    }
}

#[tokio::test]
async fn the_list_is_read_every_few_seconds_until_a_webhook_comes_and_during_checkouts() {
    let shop = StripeShop::open().await;
    shop.open_checkout("a first one").await;
    shop.service.clock.advance_millis(61_000);
    assert_eq!(
        shop.readings_within(21).await,
        5,
        "at the start, then every 5 s"
    );
    let checkout = shop.open_checkout("ann").await;
    let session = shop.paid_silently(&checkout, "evt_1");
    let (body, header) = stripe::event("evt_1", COMPLETED, &session, shop.seconds());
    shop.deliver(&body, &header).await.expect(200);
    assert_eq!(shop.readings_within(60).await, 11, "a buyer pays");
    assert_eq!(shop.readings_within(600).await, 2, "every 5 minutes");
    shop.open_checkout("bea").await;
    assert_eq!(shop.readings_within(59).await, 12);
}

/// The endpoint failed after its first webhook; the buyer took long, and is back on the shop's page.
#[tokio::test]
async fn the_list_is_read_at_once_when_a_buyer_returns() {
    let shop = StripeShop::open().await;
    let first = shop.open_checkout("ann").await;
    shop.pay(&first).await;
    let checkout = shop.open_checkout("bea").await;
    shop.rounds(200).await;
    shop.paid_silently(&checkout, "evt_bea");
    let path = format!(
        "/api/v1/orders/{}",
        checkout["checkoutId"].as_str().unwrap()
    );
    let seen = async || shop.service.publishable.get(&path).await.expect(200)["status"].clone();
    assert_eq!(seen().await, "pending");
    shop.rounds(5).await;
    assert_eq!(seen().await, "paid");
}

#[tokio::test]
async fn that_webhooks_come_is_known_after_a_restart() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let session = shop.paid_silently(&checkout, "evt_1");
    let (body, header) = stripe::event("evt_1", COMPLETED, &session, shop.seconds());
    shop.deliver(&body, &header).await.expect(200);
    shop.rounds(1).await;
    let shop = shop.again().await;
    assert_eq!(
        shop.readings_within(300).await,
        1,
        "at the start, and no more"
    );
    // What was read is remembered, too.
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(order["status"], "paid");
}

#[tokio::test]
async fn a_provider_that_fails_is_left_alone_for_half_a_minute_or_as_long_as_it_says() {
    let shop = StripeShop::open().await;
    shop.open_checkout("ann").await;
    shop.stripe
        .instead(EVENTS, Override::Status(500, json!({})));
    assert_eq!(shop.readings_within(30).await, 1);
    assert_eq!(shop.readings_within(1).await, 1);
}
