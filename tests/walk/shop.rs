//! One of the shops: what is done in it, and the names of what there is in it.

use std::collections::BTreeMap;

use kit::{Client, Project, Server, deadline, receiver::Receiver, stripe, stripe::Stripe};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) struct Shop {
    pub(crate) project: Project,
    pub(crate) receiver: Receiver,
    /// The receiver of the endpoint that is off.
    pub(crate) gone: Option<Receiver>,
    /// What paths name, by the name of their parameter.
    pub(crate) values: BTreeMap<&'static str, Vec<String>>,
    pub(crate) users: Vec<String>,
    /// Rotations that can be repeated: the kind of key, the former code, and their name.
    pub(crate) rotations: Vec<(&'static str, String, String)>,
    /// Pages of the sandbox.
    pub(crate) pages: Vec<String>,
}

/// A field that must be there.
#[track_caller]
pub(crate) fn text(body: &Value, field: &str) -> String {
    let value = body[field].as_str();
    value
        .unwrap_or_else(|| panic!("no {field} in {body}"))
        .to_owned()
}

impl Shop {
    pub(crate) async fn of(project: Project) -> Self {
        Self {
            project,
            receiver: Receiver::start().await,
            gone: None,
            values: BTreeMap::new(),
            users: Vec::new(),
            rotations: Vec::new(),
            pages: Vec::new(),
        }
    }

    pub(crate) fn admin_path(&self) -> String {
        format!("/api/admin/v1/projects/{}", self.project.id)
    }

    pub(crate) fn add(&mut self, name: &'static str, value: &str) {
        self.values.entry(name).or_default().push(value.to_owned());
    }

    pub(crate) async fn set_provider(&self, server: &Server, provider: Value) {
        let body = json!({ "provider": provider });
        server
            .admin()
            .patch(&self.admin_path(), &body)
            .await
            .expect(200);
    }

    /// A new price of the credits; returns its id.
    pub(crate) async fn price(&self, server: &Server, terms: Value) -> String {
        self.price_of(server, &self.project.product, terms).await
    }

    /// A new product with a tier; returns the tier's id.
    pub(crate) async fn tier(&mut self, server: &Server, terms: Value) -> String {
        let product = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let path = format!("{}/products", self.admin_path());
        let product = server.admin().post(&path, &product).await.expect(201);
        self.price_of(server, &text(&product, "id"), terms).await
    }

    async fn price_of(&self, server: &Server, product: &str, mut terms: Value) -> String {
        terms["amountCents"] = json!(500);
        terms["currency"] = json!("EUR");
        let path = format!("{}/products/{product}/prices", self.admin_path());
        text(&server.admin().post(&path, &terms).await.expect(201), "id")
    }

    /// The path of a page of the sandbox.
    pub(crate) fn page(&self, server: &Server, url: &str) -> String {
        let path = url.strip_prefix(server.instance().base());
        path.expect("a page of the sandbox").to_owned()
    }

    /// Opens a checkout and pays it in the sandbox.
    pub(crate) async fn buys(&mut self, client: &Client, asked: Value, buyer: &str) -> Value {
        let checkout = client.post("/api/v1/checkout", &asked).await.expect(200);
        let url = text(&checkout, "url");
        let pay = kit::client::plain_http().post(format!("{url}/pay"));
        let paid = pay.json(&json!({"email": buyer})).send().await.unwrap();
        assert!(paid.status().is_success(), "{}", paid.text().await.unwrap());
        let path = url.find("/sandbox/").map(|at| url[at..].to_owned());
        self.pages.extend(path);
        checkout
    }

    /// The order of a checkout, once it is paid.
    pub(crate) async fn paid(&mut self, server: &Server, checkout: &Value) -> Value {
        let client = server.instance().client(&self.project.secret);
        let path = format!("/api/v1/orders/{}", text(checkout, "orderId"));
        let order = deadline::answered("a paid order", deadline::SOON, async || {
            let order = client.get(&path).await.expect(200);
            (order["status"] == "paid").then_some(order)
        });
        let order = order.await;
        for id in [text(checkout, "orderId"), text(checkout, "checkoutId")] {
            if !self
                .values
                .get("orderIdOrCheckoutId")
                .is_some_and(|all| all.contains(&id))
            {
                self.add("orderIdOrCheckoutId", &id);
            }
        }
        order
    }

    /// Stripe reports a checkout that is paid.
    pub(crate) async fn reports(&self, server: &Server, session: &Value, id: &str) {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        let (body, header) = stripe::event(id, "checkout.session.completed", session, now);
        let path = format!("/webhooks/stripe/{}", self.project.id);
        let request = server.admin().request(Method::POST, &path);
        let request = request.header("stripe-signature", header).body(body);
        Client::send(request).await.unwrap().expect(200);
    }

    /// Stripe reports a payment for an order and a price that do not exist here.
    pub(crate) async fn pays_without_an_order(
        &self,
        server: &Server,
        stripe: &Stripe,
        payment: &str,
        address: &str,
    ) {
        use domain::id::{OrderId, OrderSerial, PriceId, WalletKey};
        let order = OrderId {
            serial: OrderSerial(7),
            wallet: WalletKey([9; 16]),
        };
        let marks = json!({
            "scrip_project_id": self.project.id,
            "scrip_order_id": order.to_string(),
            "scrip_price_id": PriceId(42).to_string(),
        });
        stripe.charged(payment, &marks, 900, 0);
        let id = format!("cs_test_{payment}");
        let session = json!({
            "id": id, "object": "checkout.session", "status": "complete", "payment_status": "paid",
            "mode": "payment", "currency": "eur", "amount_total": 900, "payment_intent": payment,
            "customer": "cus_1", "metadata": marks, "customer_details": {"email": address},
        });
        stripe.put(&format!("/v1/checkout/sessions/{id}"), session.clone());
        self.reports(server, &session, payment).await;
    }

    /// A new hold on a code wallet.
    pub(crate) async fn hold(&self, client: &Client, code: &str) -> String {
        let body = json!({
            "productId": self.project.product, "amount": 1, "idempotencyKey": client.key(),
            "expiresInSeconds": 3600,
        });
        let path = format!("/api/v1/wallets/{code}/holds");
        text(&client.post(&path, &body).await.expect(200), "holdId")
    }

    /// A new deduction of the first user's; returns its entry in the ledger.
    pub(crate) async fn deduction(&self, server: &Client, name: &str) -> String {
        let user = &self.users[0];
        for (path, key) in [
            ("/api/v1/credit", "credit"),
            ("/api/v1/wallets/external/deduct", "deduct"),
        ] {
            let body = json!({
                "externalUserId": user, "productId": self.project.product, "amount": 2,
                "idempotencyKey": format!("{key} {name}"),
            });
            server.post(path, &body).await.expect(200);
        }
        let path = format!("/api/v1/wallets/external/ledger?externalUserId={user}");
        let ledger = server.get(&path).await.expect(200);
        text(&ledger["entries"][0], "id")
    }

    /// Reads the names of all that has one.
    pub(crate) async fn looks_around(&mut self, server: &Server) {
        let admin = server.admin();
        let base = self.admin_path();
        let ids = async |path: &str, list: &str, field: &str| {
            let body = admin.get(path).await.expect(200);
            let all = body[list]
                .as_array()
                .unwrap_or_else(|| panic!("no {list} in {body}"));
            all.iter().map(|one| text(one, field)).collect::<Vec<_>>()
        };
        let mut found: Vec<(&'static str, Vec<String>)> = vec![
            ("projectId", vec![self.project.id.clone()]),
            (
                "walletRef",
                ids(&format!("{base}/wallets?limit=100"), "wallets", "ref").await,
            ),
            ("keyId", ids(&format!("{base}/keys"), "keys", "id").await),
            (
                "webhookId",
                ids(&format!("{base}/webhooks"), "webhooks", "id").await,
            ),
            (
                "sessionId",
                ids("/api/admin/v1/sessions", "sessions", "id").await,
            ),
            (
                "productId",
                ids(&format!("{base}/products"), "products", "id").await,
            ),
            (
                "paymentId",
                ids(&format!("{base}/unfulfilled-payments"), "payments", "id").await,
            ),
        ];
        let card = json!({
            "productId": self.project.product,
            "rates": [{"match": {}, "unitPrices": {"input": "0.01", "output": "0.05"}}],
        });
        let path = format!("{base}/rate-cards/chat");
        let made = Client::send(admin.request(Method::PUT, &path).json(&card)).await;
        made.unwrap().expect(200);
        found.push(("slug", vec!["chat".into()]));
        found.push(("kind", vec!["receipt".into()]));
        found.push(("locale", vec!["de".into()]));
        let mut prices = Vec::new();
        for product in &found[5].1 {
            let path = format!("{base}/products/{product}/prices");
            prices.extend(ids(&path, "prices", "id").await);
        }
        found.push(("priceId", prices));
        let mut deliveries = Vec::new();
        for endpoint in &found[3].1 {
            let path = format!("{base}/webhooks/{endpoint}/deliveries?limit=100");
            // What the first endpoint was sent has been answered by now, or will be.
            let some = async || {
                let some = ids(&path, "deliveries", "id").await;
                (!some.is_empty()).then_some(some)
            };
            deliveries.extend(deadline::answered("deliveries", deadline::SOON, some).await);
        }
        found.push(("deliveryId", deliveries));
        for (name, values) in found {
            for value in values {
                self.add(name, &value);
            }
        }
        self.add("code", "code");
        // A shop without one is asked for the other's, which it does not have.
        self.values
            .entry("paymentId")
            .or_insert_with(|| vec!["pi_none".into()]);
    }

    /// The names of this parameter, here or of a path of the dashboard.
    pub(crate) fn values_of(&self, name: &str) -> Vec<String> {
        let orders_only = |id: &&String| id.starts_with("ord_");
        let name = match name {
            "order" => {
                let all = self.values["orderIdOrCheckoutId"].iter();
                return all.filter(orders_only).cloned().collect();
            }
            "project" => "projectId",
            "wallet" => "walletRef",
            "payment" => "paymentId",
            "webhook" => "webhookId",
            "delivery" => "deliveryId",
            "key" => "keyId",
            "product" => "productId",
            "card" => "slug",
            "price" => "priceId",
            "user" => "userId",
            "deduction" => "ledgerId",
            other => other,
        };
        let values = self.values.get(name);
        values
            .unwrap_or_else(|| panic!("nothing in the world is a {name}: add one"))
            .clone()
    }
}
