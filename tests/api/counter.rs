//! A service whose project uses the sandbox, with what happens at a bank.

use reqwest::Method;
use scrip::catalog::{NewPrice, ProjectChange, ProviderChange};
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::Service,
    shop::Catalog,
};

pub(crate) const DAY: i64 = 86_400;

pub(crate) struct Counter {
    pub(crate) service: Service,
    /// 100 credits for 5.00 EUR.
    pub(crate) price: String,
}

impl Counter {
    pub(crate) async fn open() -> Self {
        let service = Service::start().await;
        let sandbox = Some(ProviderChange::Sandbox);
        let project = service.project.id;
        let nothing = ProjectChange::default();
        let set = service.catalog.update_project(project, nothing, sandbox);
        set.await.unwrap();
        let price = service.add_price(100).await;
        Self { service, price }
    }

    /// A paid checkout of a user.
    pub(crate) async fn buy(&self, user: &str, price: &str) -> Value {
        let begun = self.begin(user, price).await;
        self.press(&begun, "pay").await;
        begun
    }

    pub(crate) async fn begin(&self, user: &str, price: &str) -> Value {
        let body = json!({"priceId": price, "externalUserId": user});
        let reply = self.service.secret.post("/api/v1/checkout", &body).await;
        reply.expect(200)
    }

    pub(crate) async fn press(&self, begun: &Value, button: &str) {
        self.on_page(&begun["url"], button, json!({})).await;
    }

    async fn on_page(&self, url: &Value, button: &str, fields: Value) {
        let path = url.as_str().unwrap().strip_prefix(&self.service.base);
        let path = format!("{}/{button}", path.unwrap());
        let request = self.service.secret.request(Method::POST, &path);
        let reply = Client::send(request.json(&fields)).await.unwrap();
        reply.expect(200);
    }

    /// Switches a customer to a tier in the portal.
    pub(crate) async fn switch(&self, user: &str, tier: &str) {
        let body = json!({"externalUserId": user, "returnUrl": "https://shop.example/"});
        let path = "/api/v1/wallets/external/portal";
        let opened = self.service.secret.post(path, &body).await.expect(200);
        // By now the offered tiers exist at the provider.
        let prices = self.call(Method::GET, "v1/prices?limit=100", "").await;
        let prices = prices.expect(200)["data"].as_array().unwrap().clone();
        let ours = |price: &&Value| price["metadata"]["scrip_price_id"] == tier;
        let theirs = prices.iter().find(ours).unwrap();
        let fields = json!({"price": theirs["id"]});
        self.on_page(&opened["url"], "switch", fields).await;
    }

    /// Makes something happen at a bank or at the provider.
    pub(crate) async fn script(&self, path: &str, form: &str) -> Value {
        self.call(Method::POST, &format!("script/{path}"), form)
            .await
            .expect(200)
    }

    /// Calls the provider's API directly.
    pub(crate) async fn call(&self, method: Method, path: &str, form: &str) -> Reply {
        let project = self.service.project.id;
        let keys = self.service.accounts.sandbox_keys(project);
        let client = Client::new(&self.service.base, &keys.secret_key);
        let path = format!("/sandbox/{project}/{path}");
        let request = client.request(method, &path);
        let form_type = "application/x-www-form-urlencoded";
        let request = request.header("content-type", form_type);
        Client::send(request.body(form.to_owned())).await.unwrap()
    }

    pub(crate) async fn order(&self, id: &str) -> Value {
        let path = format!("/api/v1/orders/{id}");
        self.service.secret.get(&path).await.expect(200)
    }

    /// Orders of the project, the newest first.
    pub(crate) async fn orders(&self) -> Vec<Value> {
        let list = self.service.secret.get("/api/v1/orders").await.expect(200);
        list["orders"].as_array().unwrap().clone()
    }

    pub(crate) async fn wallet(&self, user: &str) -> Value {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        self.service.secret.get(&path).await.expect(200)
    }

    pub(crate) async fn refund(&self, order: &str, body: Value) -> Reply {
        let path = format!("/api/v1/orders/{order}/refund");
        self.service.secret.post(&path, &body).await
    }

    /// A product with two tiers, 500 credits for 9.00 and 900 for 19.00 EUR a month: its id, and the tiers'
    /// ids.
    pub(crate) async fn plan(&self) -> (String, [String; 2]) {
        let product = self.service.add_plan().await;
        let mut ids = Vec::new();
        for (label, credits_granted, amount_cents) in [("Small", 500, 900), ("Large", 900, 1900)] {
            let tier = NewPrice {
                label: Some(label.into()),
                amount_cents,
                credits_granted,
                ..Catalog::tier()
            };
            let project = self.service.project.id;
            let price = self.service.catalog.create_price(project, product, tier);
            ids.push(price.await.unwrap().id.to_string());
        }
        (product.to_string(), ids.try_into().unwrap())
    }
}
