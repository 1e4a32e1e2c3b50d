//! Every route of both descriptions, as the running server has them: a new one is walked without being listed, and one
//! that cannot be filled from the world fails the test.

use std::cell::Cell;

use futures_util::future::join_all;
use kit::Client;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    bodies::bodies,
    people,
    secrets::{Secret, SecretKind},
    shop::{Shop, text},
    visitors::{Holder, Visitor},
    walk::Walk,
    world::World,
};

/// An operation of a description.
struct Operation {
    method: Method,
    /// The path of the server that the description is of, such as `/api/v1`.
    prefix: String,
    path: String,
    description: Value,
}

impl Operation {
    /// Its name in messages and tables.
    fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The names of its parameters in the query, and whether each is required.
    fn query(&self) -> Vec<(String, bool)> {
        let all = self.description["parameters"]
            .as_array()
            .into_iter()
            .flatten();
        let all = all.filter(|one| one["in"] == "query");
        all.map(|one| (text(one, "name"), one["required"] == true))
            .collect()
    }
}

/// Both descriptions with their operations.
async fn descriptions(world: &World) -> Vec<(Value, Vec<Operation>)> {
    let mut all = Vec::new();
    for path in ["/api/openapi.json", "/api/admin/v1/openapi.json"] {
        let document = world.server.admin().get(path).await.expect(200);
        let prefix = text(&document["servers"][0], "url");
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, description) in item.as_object().unwrap() {
                operations.push(Operation {
                    method: method.to_uppercase().parse().unwrap(),
                    prefix: prefix.clone(),
                    path: path.clone(),
                    description: description.clone(),
                });
            }
        }
        assert!(operations.len() > 30, "{path}: {}", operations.len());
        all.push((document, operations));
    }
    all
}

/// A path's parameters in their order.
fn parameters(path: &str) -> Vec<&str> {
    let parts = path.split('{').skip(1);
    parts.map(|part| part.split('}').next().unwrap()).collect()
}

/// All paths that the world has for a template.
fn filled(template: &str, shop: &Shop) -> Vec<String> {
    let mut paths = vec![template.to_owned()];
    for name in parameters(template) {
        let values = shop.values_of(name);
        let place = format!("{{{name}}}");
        let with = |path: &String| {
            values
                .iter()
                .map(|value| path.replace(&place, value))
                .collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(with).collect();
    }
    paths
}

/// What an operation is asked about beyond its path: each query by itself.
fn queries(operation: &Operation, shop: &Shop) -> Vec<String> {
    let all = operation.query();
    let mut plain = Vec::new();
    for (name, required) in &all {
        let value = match name.as_str() {
            "limit" => "100".to_owned(),
            "projectId" => shop.project.id.clone(),
            "returnUrl" => "https%3A%2F%2Fshop.example%2F".to_owned(),
            "price" => "price_of_the_provider".to_owned(),
            _ if *required && name == "query" => "buyers.example".to_owned(),
            other => {
                assert!(
                    !required,
                    "{}: nothing in the world is a {other}",
                    operation.route()
                );
                continue;
            }
        };
        plain.push(format!("{name}={value}"));
    }
    let mut queries = vec![plain.join("&")];
    for (name, _) in &all {
        let values: Vec<String> = match name.as_str() {
            "externalUserId" => shop.users.clone(),
            "format" => vec!["csv".into()],
            "query" => {
                let codes = shop.values["code"].iter().take(2);
                let orders = shop.values["orderIdOrCheckoutId"].iter().take(2);
                shop.users
                    .iter()
                    .chain(codes)
                    .chain(orders)
                    .cloned()
                    .collect()
            }
            _ => continue,
        };
        let with = |value: &String| {
            let others = plain
                .iter()
                .filter(|one| !one.starts_with(&format!("{name}=")));
            others
                .cloned()
                .chain([format!("{name}={value}")])
                .collect::<Vec<_>>()
                .join("&")
        };
        queries.extend(values.iter().map(with));
    }
    queries
}

/// Asks for all that can be read.
pub(crate) async fn read_everything(walk: &Walk, world: &World) {
    for (_, operations) in descriptions(world).await {
        for operation in operations.iter().filter(|one| one.method == Method::GET) {
            for shop in &world.shops {
                let paths = filled(&operation.path, shop);
                let queries = queries(operation, shop);
                let visitors = world.visitors.iter().filter(|one| one.is_program());
                let asks =
                    visitors.map(|visitor| read(walk, operation, visitor, (&paths, &queries)));
                join_all(asks).await;
            }
        }
    }
}

async fn read(
    walk: &Walk,
    operation: &Operation,
    visitor: &Visitor,
    (paths, queries): (&[String], &[String]),
) {
    for path in paths {
        for query in queries {
            let path = format!("{}{path}?{query}", operation.prefix);
            let answer = walk
                .ask(visitor, &operation.route(), Method::GET, &path, None)
                .await;
            // An unknown key is refused as such on every route.
            if answer.status == 401 {
                return;
            }
        }
    }
}

/// New things of a shop for visitors that may change or end them.
struct Fresh<'a> {
    world: &'a World,
    shop: usize,
    made: &'a Cell<usize>,
    /// Payments that were decided about.
    payments: &'a Cell<usize>,
}

impl Fresh<'_> {
    fn key(&self) -> String {
        self.made.set(self.made.get() + 1);
        format!("fresh-{}-{}", self.shop, self.made.get())
    }

    /// A path of an operation with new things, and its bodies.
    async fn change(&self, walk: &Walk, (document, operation): (&Value, &Operation)) -> Change {
        let mut path = format!("{}{}", operation.prefix, operation.path);
        for name in parameters(&operation.path) {
            let shop = &self.world.shops[self.shop];
            let value = match name {
                "projectId" => shop.project.id.clone(),
                // A delivery is of the first endpoint.
                "webhookId" if path.contains("{deliveryId}") => shop.values[name][0].clone(),
                _ => self.value(walk, name).await,
            };
            path = path.replace(&format!("{{{name}}}"), &value);
        }
        let code = self.value(walk, "code").await;
        let hold = match operation.path.starts_with("/settlements/") {
            true => self.value(walk, "holdId").await,
            false => String::new(),
        };
        let schema = operation
            .description
            .pointer("/requestBody/content/application~1json/schema");
        let bodies = match schema {
            Some(schema) => {
                let all = bodies(document, schema, &|name| {
                    named(name, self, (&code, &hold, &operation.path))
                });
                all.into_iter().map(Some).collect()
            }
            None => vec![None],
        };
        (path, bodies)
    }

    /// A new thing for a path's parameter, where the world's own has to stay; learns what is secret of it.
    async fn value(&self, walk: &Walk, name: &str) -> String {
        let shop = &self.world.shops[self.shop];
        let admin = self.world.server.admin();
        let secret = self.world.server.instance().client(&shop.project.secret);
        let created = async |path: &str, body: Value, field: &str| {
            let reply = admin
                .post(&format!("{}{path}", shop.admin_path()), &body)
                .await;
            assert!(reply.status < 300, "{path}: {}", reply.body);
            text(&reply.body, field)
        };
        match name {
            "code" => {
                let code = text(
                    &secret
                        .post("/api/v1/wallets", &Value::Null)
                        .await
                        .expect(200),
                    "code",
                );
                walk.learn(Secret::new(
                    SecretKind::Code,
                    "a new wallet's code",
                    &code,
                    Some(self.shop),
                ));
                let body = json!({
                    "code": code, "productId": shop.project.product, "amount": 100, "idempotencyKey": self.key(),
                });
                secret.post("/api/v1/credit", &body).await.expect(200);
                code
            }
            "holdId" => {
                let code = Box::pin(self.value(walk, "code")).await;
                shop.hold(&secret, &code).await
            }
            "keyId" => created("/keys", json!({"kind": "publishable"}), "id").await,
            "webhookId" => created("/webhooks", json!({"url": shop.receiver.url}), "id").await,
            "walletRef" => {
                let code = Box::pin(self.value(walk, "code")).await;
                let path = format!("{}/wallets?query={code}", shop.admin_path());
                let found = admin.get(&path).await.expect(200);
                text(&found["wallets"][0], "ref")
            }
            "slug" => {
                let slug = self.key().to_lowercase();
                let card = json!({
                    "productId": shop.project.product,
                    "rates": [{"match": {}, "unitPrices": {"input": "0.01", "output": "0.05"}}],
                });
                let path = format!("{}/rate-cards/{slug}", shop.admin_path());
                let made = Client::send(admin.request(Method::PUT, &path).json(&card)).await;
                made.unwrap().expect(200);
                slug
            }
            "ledgerId" => shop.deduction(&secret, &self.key()).await,
            "deliveryId" => shop.values[name][0].clone(),
            "paymentId" => {
                self.payments.set(self.payments.get() + 1);
                let values = &shop.values[name];
                values[self.payments.get() % values.len()].clone()
            }
            "sessionId" => {
                people::administrator(self.world.server.instance().base()).await;
                let all = admin.get("/api/admin/v1/sessions").await.expect(200);
                let all = all["sessions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| text(one, "id"));
                let former = &shop.values["sessionId"];
                all.into_iter().find(|id| !former.contains(id)).unwrap()
            }
            "userId" => {
                let email = format!("{}@people.example", self.key());
                let new = json!({"name": "New", "email": email, "role": "viewer"});
                let reply = admin.post("/api/admin/v1/users", &new).await;
                text(&reply.expect(201), "id")
            }
            _ => shop.values_of(name).swap_remove(0),
        }
    }
}

/// Sends every change with a body that is in order, by those who may least first, each time to something new.
pub(crate) async fn send_everything(walk: &Walk, world: &World) {
    let (made, payments) = (Cell::new(0), Cell::new(0));
    for shop in &world.shops {
        let secret = world.server.instance().client(&shop.project.secret);
        let body = json!({
            "externalUserId": shop.users.last(), "productId": shop.project.product, "amount": 100_000,
            "idempotencyKey": "for all to spend",
        });
        secret.post("/api/v1/credit", &body).await.expect(200);
    }
    for (document, operations) in descriptions(world).await {
        for operation in operations.iter().filter(|one| one.method != Method::GET) {
            for shop in 0..world.shops.len() {
                let fresh = Fresh {
                    world,
                    shop,
                    made: &made,
                    payments: &payments,
                };
                send_one(walk, (&document, operation), &fresh).await;
            }
        }
    }
}

async fn send_one(walk: &Walk, (document, operation): (&Value, &Operation), fresh: &Fresh<'_>) {
    let holder = |visitor: &&Visitor| visitor.holder.clone();
    // Sessions, and what has ended, are of the first shop.
    let is_near = |visitor: &&Visitor| {
        fresh.shop == 0 || !matches!(holder(visitor), Holder::Stranger | Holder::Session(..))
    };
    let is_closed = |visitor: &&Visitor| {
        operation.prefix.contains("/admin/") && holder(visitor) != Holder::Administrator
    };
    let programs = fresh.world.visitors.iter().filter(|one| one.is_program());
    let (closed, open): (Vec<_>, Vec<_>) = programs.filter(is_near).partition(is_closed);
    let (path, bodies) = fresh.change(walk, (document, operation)).await;
    let refused = async |visitor: &Visitor| {
        let (route, method) = (operation.route(), operation.method.clone());
        let answer = walk.ask(visitor, &route, method, &path, bodies[0].as_ref());
        assert_eq!(answer.await.status, 401, "{} {route}", visitor.name);
    };
    // A wrong token is answered slowly.
    join_all(closed.into_iter().map(refused)).await;
    let mut change = Some((path, bodies));
    for visitor in open {
        send(walk, (document, operation), fresh, visitor, &mut change).await;
    }
}

/// A path and the bodies to send there.
type Change = (String, Vec<Option<Value>>);

/// Sends all bodies, each after the first that did something to something else.
async fn send(
    walk: &Walk,
    (document, operation): (&Value, &Operation),
    fresh: &Fresh<'_>,
    visitor: &Visitor,
    change: &mut Option<Change>,
) {
    let mut number = 0;
    loop {
        let (path, bodies) = match change.take() {
            Some(change) => change,
            None => fresh.change(walk, (document, operation)).await,
        };
        let Some(body) = bodies.get(number) else {
            *change = Some((path, bodies));
            return;
        };
        let method = operation.method.clone();
        let answer = walk
            .ask(visitor, &operation.route(), method, &path, body.as_ref())
            .await;
        if answer.status >= 300 {
            *change = Some((path, bodies));
        }
        number += 1;
    }
}

/// What a field of this name has in the world.
fn named(name: &str, fresh: &Fresh<'_>, (code, hold, path): (&str, &str, &str)) -> Option<Value> {
    let shop = &fresh.world.shops[fresh.shop];
    let is_subscription = path.starts_with("/subscriptions/");
    Some(match name {
        "code" => json!(code),
        "holdId" => json!(hold),
        "externalUserId" if is_subscription => json!(shop.users[0]),
        "productId" if is_subscription => json!(shop.values[name].last().unwrap()),
        // Not those whose sessions walk.
        "externalUserId" => json!(shop.users.last().unwrap()),
        "idempotencyKey" => json!(fresh.key()),
        "productId" => json!(shop.project.product),
        "priceId" => json!(shop.values["priceId"][0]),
        "projects" => json!([shop.project.id]),
        "email" => json!(format!("{}@new.example", fresh.key())),
        "returnUrl" => json!("https://shop.example/"),
        "url" => json!(shop.receiver.url),
        "currency" => json!("EUR"),
        "walletId" => json!("wal_none"),
        "since" => json!("2026-01-01T00:00:00.000Z"),
        "frozen" => json!(false),
        "can" => json!(null),
        "feature" => json!("hd"),
        "type" => json!("one_time"),
        "kind" => json!("secret"),
        // Room for what others of the walk use.
        "limits" => json!([{"scope": "member:*", "amount": 1000, "window": "day"}]),
        _ => return None,
    })
}
