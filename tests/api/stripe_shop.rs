//! A shop that sells by the double of Stripe.

use actors::clock::Clock as _;
use domain::{
    Timestamp,
    catalog::{AccountCheck, Interval},
};
use reqwest::Method;
use scrip::catalog::{NewPrice, ProjectChange, ProviderChange};
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::Service,
    stripe::{self, Stripe},
};

/// A service whose project uses the double of Stripe.
pub(crate) struct StripeShop {
    pub(crate) service: Service,
    pub(crate) stripe: Stripe,
    /// 100 credits for 5.00 EUR.
    pub(crate) price: String,
    events: std::cell::Cell<u32>,
}

impl StripeShop {
    pub(crate) async fn open() -> Self {
        let stripe = Stripe::start().await;
        let service = Service::beside(&stripe.base).await;
        Self::of(stripe, service, Some(stripe::WEBHOOK_SECRET)).await
    }

    /// A shop on this service, with or without a webhook secret.
    pub(crate) async fn of(stripe: Stripe, service: Service, secret: Option<&str>) -> Self {
        let provider = ProviderChange::Stripe {
            secret_key: Some(stripe::SECRET_KEY.into()),
            webhook_secret: secret.map(Into::into),
        };
        let nothing = ProjectChange::default();
        // As when an administrator sets it.
        let tried = AccountCheck {
            verified: true,
            ..AccountCheck::default()
        };
        let project = service.project.id;
        let catalog = &service.catalog;
        catalog
            .set_provider(project, nothing, provider, tried)
            .await
            .unwrap();
        let price = service.add_price(100).await;
        let clock = std::sync::Arc::clone(&service.clock);
        stripe.follow(move || clock.now().0.div_euclid(1000));
        Self {
            service,
            stripe,
            price,
            events: 0.into(),
        }
    }

    /// The same shop after a restart of the service.
    pub(crate) async fn again(self) -> Self {
        let base = self.stripe.base.parse().unwrap();
        let service = self.service.again(|config| config.stripe.api_base = base);
        let service = service.await;
        Self { service, ..self }
    }

    /// Runs the rounds of the next seconds.
    pub(crate) async fn rounds(&self, seconds: i64) {
        for _ in 0..seconds {
            self.service.clock.advance_millis(1000);
            self.service.round().await;
        }
    }

    /// Opens a checkout with the secret key.
    pub(crate) async fn checkout(&self, fields: Value) -> Reply {
        self.checkout_with(&self.service.secret, fields).await
    }

    pub(crate) async fn checkout_with(&self, client: &Client, mut fields: Value) -> Reply {
        if fields.get("priceId").is_none() {
            fields["priceId"] = json!(self.price);
        }
        client.post("/api/v1/checkout", &fields).await
    }

    /// An open checkout of a user.
    pub(crate) async fn open_checkout(&self, user: &str) -> Value {
        self.checkout(json!({"externalUserId": user}))
            .await
            .expect(200)
    }

    /// An open checkout of a user for this price.
    pub(crate) async fn open_checkout_of(&self, user: &str, price: &str) -> Value {
        self.checkout(json!({"externalUserId": user, "priceId": price}))
            .await
            .expect(200)
    }

    pub(crate) async fn order(&self, id: &Value) -> Value {
        let path = format!("/api/v1/orders/{}", id.as_str().unwrap());
        self.service.secret.get(&path).await.expect(200)
    }

    /// Reports an event, with a new id each time.
    pub(crate) async fn report(&self, kind: &str, object: &Value) -> Reply {
        self.events.set(self.events.get() + 1);
        let id = format!("evt_{}", self.events.get());
        let (body, header) = self.stripe.event(&id, kind, object, self.seconds());
        self.deliver(&body, &header).await
    }

    /// Delivers a webhook.
    pub(crate) async fn deliver(&self, body: &str, signature: &str) -> Reply {
        let path = format!("/webhooks/stripe/{}", self.service.project.id);
        let request = self.service.secret.request(Method::POST, &path);
        let request = request
            .header("stripe-signature", signature)
            .body(body.to_owned());
        Client::send(request).await.unwrap()
    }

    /// Pays a checkout and reports that.
    pub(crate) async fn pay(&self, checkout: &Value) -> Value {
        let session = self.stripe.pay(checkout["checkoutId"].as_str().unwrap());
        let reply = self.report("checkout.session.completed", &session).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        session
    }

    /// The service's time in seconds.
    pub(crate) fn seconds(&self) -> i64 {
        self.now().0 / 1000
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.service.handle.now()
    }

    /// Adds a product with a tier of this many credits for 19.00 EUR a month; returns the price.
    pub(crate) async fn add_tier(&self, credits: i64) -> String {
        let product = self.service.add_plan().await;
        self.add_price_of(product, Interval::Month, credits, &["pro"])
            .await
    }

    pub(crate) async fn add_price_of(
        &self,
        product: domain::id::ProductId,
        interval: Interval,
        credits_granted: i64,
        features: &[&str],
    ) -> String {
        let new = NewPrice {
            label: Some("Studio".into()),
            amount_cents: 1900,
            credits_granted,
            features: features.iter().map(|&slug| slug.into()).collect(),
            interval,
            ..monthly_tier()
        };
        let project = self.service.project.id;
        let price = self
            .service
            .catalog
            .create_price(project, product, new)
            .await;
        price.unwrap().id.to_string()
    }
}

impl StripeShop {
    /// A user's wallet.
    pub(crate) async fn wallet(&self, user: &str) -> Value {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        self.service.secret.get(&path).await.expect(200)
    }

    /// A subscription as the provider would create it for this checkout.
    pub(crate) fn subscription(&self, checkout: &Value, id: &str) -> Value {
        let calls = self.stripe.calls("/v1/checkout/sessions");
        let order = checkout["orderId"].as_str().unwrap();
        let form = &calls
            .iter()
            .find(|call| call.form["client_reference_id"] == order)
            .unwrap()
            .form;
        let price = &form["line_items[0][price]"];
        json!({
            "id": id, "object": "subscription", "customer": "cus_1", "status": "active",
            "billing_cycle_anchor": self.seconds(),
            "metadata": {
                "scrip_project_id": self.service.project.id.to_string(),
                "scrip_order_id": order,
            },
            "items": {"object": "list", "data": [{
                "price": {"id": price, "product": "prod_x", "metadata": {
                    "scrip_price_id": form["metadata[scrip_price_id]"],
                }},
                "current_period_start": self.seconds(),
                "current_period_end": self.seconds() + 30 * 86_400,
            }]},
        })
    }

    /// Changes the provider's subscription to this.
    pub(crate) fn set_subscription(&self, subscription: &Value) {
        let id = subscription["id"].as_str().unwrap();
        self.stripe
            .put(&format!("/v1/subscriptions/{id}"), subscription.clone());
    }

    /// Changes the provider's subscription a second later, and reports it.
    pub(crate) async fn change_and_report(&self, kind: &str, subscription: &Value) {
        self.service.clock.advance_millis(1000);
        self.set_subscription(subscription);
        self.report(kind, subscription).await.expect(200);
    }

    /// Pays a subscription's checkout and reports that.
    pub(crate) async fn subscribe(&self, checkout: &Value, id: &str) -> Value {
        let session_id = checkout["checkoutId"].as_str().unwrap();
        let paid = self.stripe.pay(session_id);
        let mut subscription = self.subscription(checkout, id);
        subscription["customer"] = paid["customer"].clone();
        self.set_subscription(&subscription);
        let path = format!("/v1/checkout/sessions/{session_id}");
        let session = self.stripe.set(&path, json!({"subscription": id}));
        let reply = self.report("checkout.session.completed", &session).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        subscription
    }
}

impl StripeShop {
    /// The product of a price.
    pub(crate) fn product_of(&self, price: &str) -> domain::id::ProductId {
        let project = self
            .service
            .catalog
            .project(self.service.project.id)
            .unwrap();
        project.any_price(&price.parse().unwrap()).unwrap().product
    }
}

/// A monthly tier of any product.
pub(crate) fn monthly_tier() -> NewPrice {
    NewPrice {
        label: None,
        amount_cents: 900,
        currency: "EUR".into(),
        credits_granted: 0,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        repeatable: false,
        limits: Vec::new(),
        trial_days: None,
        trial_credits: 0,
        features: vec!["pro".into()],
        interval: Interval::Month,
    }
}
