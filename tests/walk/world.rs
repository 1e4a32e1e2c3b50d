//! A server with two shops, with something of every kind, all callers, and the secrets of each.

use kit::{
    Client, Launch, Project, Server, deadline,
    receiver::{Receiver, ScriptedResponse},
    smtp::MailServer,
    stripe::{self, Stripe},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    people,
    secrets::{Secret, SecretKind},
    shop::{Shop, text},
    visitors::{Holder, Visitor},
};

const METRICS_TOKEN: &str = "a token for figures alone";

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) stripe: Stripe,
    pub(crate) mail: MailServer,
    /// One that sells in its sandbox, and one that sells by the double of Stripe.
    pub(crate) shops: Vec<Shop>,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) visitors: Vec<Visitor>,
    /// Pages of the first shop's sandbox that buyers see.
    pub(crate) buyers_pages: Vec<String>,
    /// Addresses of buyers.
    pub(crate) addresses: Vec<String>,
}

/// What the restricted keys of the world can do.
const RESTRICTED: [&[&str]; 3] = [
    &["read"],
    &["deduct", "grant", "limits", "reverse", "features"],
    &[
        "read",
        "deduct",
        "checkout",
        "refund",
        "orders",
        "subscriptions",
    ],
];

impl World {
    pub(crate) async fn create() -> Self {
        let stripe = Stripe::start().await;
        let mail = MailServer::start(&[]).await;
        let launch = Launch::default()
            .env("SCRIP_LOG", "debug")
            .env("SCRIP_STRIPE_API_BASE", &stripe.base)
            .env("SCRIP_STRIPE_BACKGROUND_PER_SECOND", "1000")
            .env("SCRIP_MAIL_SMTP_URL", mail.url())
            .env("SCRIP_METRICS_TOKEN", METRICS_TOKEN)
            .env("SCRIP_TRUSTED_PROXIES", "127.0.0.1")
            .env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
        let server = Server::launch(launch).await;
        let admin = server.admin();
        let projects = [server.project().clone(), Project::create(&admin).await];
        let mut world = Self {
            server,
            stripe,
            mail,
            shops: Vec::new(),
            secrets: Vec::new(),
            visitors: vec![Visitor::nobody()],
            buyers_pages: Vec::new(),
            addresses: Vec::new(),
        };
        for (number, project) in projects.into_iter().enumerate() {
            let shop = Shop::of(project).await;
            world.shops.push(shop);
            world.hides(
                SecretKind::PublishableKey,
                "the publishable key",
                number,
                &world.shops[number].project.publishable.clone(),
            );
            world.hides(
                SecretKind::ShownOnce,
                "the secret key",
                number,
                &world.shops[number].project.secret.clone(),
            );
            world.adds_endpoints(number).await;
        }
        world.sells_in_the_sandbox().await;
        world.sells_by_stripe().await;
        world.uses_credits().await;
        world.has_people().await;
        world.has_programs().await;
        for number in 0..2 {
            world.shops[number].looks_around(&world.server).await;
            for (kind, name, list) in [(SecretKind::WalletRef, "a wallet's reference", "walletRef")]
            {
                for value in world.shops[number].values[list].clone() {
                    world.hides(kind, name, number, &value);
                }
            }
        }
        world
    }

    fn hides(&mut self, kind: SecretKind, what: &str, shop: usize, text: &str) {
        let what = format!("{what} of shop {shop}");
        self.secrets
            .push(Secret::new(kind, &what, text, Some(shop)));
    }

    /// Endpoints that take what is sent, and one that has gone.
    async fn adds_endpoints(&mut self, shop: usize) {
        let admin = self.server.admin();
        let path = format!("{}/webhooks", self.shops[shop].admin_path());
        let gone = Receiver::start().await;
        let left = format!("deleted-key-of-{shop}");
        gone.always(Some(ScriptedResponse::Body(410, left.clone())));
        self.hides(
            SecretKind::OfReceiver,
            "what a receiver that left answered",
            shop,
            &left,
        );
        let answer = format!("answer-of-receiver-{shop}");
        self.shops[shop]
            .receiver
            .always(Some(ScriptedResponse::Body(200, answer.clone())));
        self.hides(
            SecretKind::OfReceiver,
            "what the receiver answered",
            shop,
            &answer,
        );
        for (name, receiver) in [
            ("first", self.shops[shop].receiver.clone()),
            ("second", gone.clone()),
        ] {
            let query = format!("{name}-query-of-{shop}");
            let url = format!("{}?token={query}", receiver.url);
            let endpoint = admin.post(&path, &json!({"url": url})).await.expect(201);
            self.hides(
                SecretKind::ShownOnce,
                "a signing secret",
                shop,
                &text(&endpoint, "secret"),
            );
            self.hides(
                SecretKind::OfReceiver,
                "the query of an endpoint",
                shop,
                &query,
            );
        }
        self.shops[shop].gone = Some(gone);
    }

    /// Keeps what an order leads to.
    async fn hides_order(&mut self, shop: usize, checkout: &Value, wallet: &str, buyer: &str) {
        let order = self.shops[shop].paid(&self.server, checkout).await;
        let id = text(&order, "id");
        let secret = Secret::new(
            SecretKind::Order,
            &format!("the order of {wallet}"),
            &id,
            Some(shop),
        );
        self.secrets.push(secret.of_wallet(wallet));
        for field in ["customerId", "paymentId"] {
            // The double counts its objects: such ids would be found anywhere.
            if let Some(id) = order["payment"][field].as_str().filter(|_| shop == 0) {
                self.hides(
                    SecretKind::OfProvider,
                    &format!("{field} of {wallet}"),
                    shop,
                    id,
                );
            }
        }
        let address = Secret::new(
            SecretKind::Address,
            &format!("the address of {wallet}"),
            buyer,
            Some(shop),
        );
        self.secrets.push(address.of_buyer(buyer));
        self.addresses.push(buyer.to_owned());
    }

    fn hides_code(
        &mut self,
        kind: SecretKind,
        shop: usize,
        (wallet, code): (&str, &str),
        buyer: Option<&str>,
    ) {
        let secret =
            Secret::new(kind, &format!("the code of {wallet}"), code, Some(shop)).of_wallet(wallet);
        self.secrets.push(match buyer {
            Some(buyer) => secret.of_buyer(buyer),
            None => secret,
        });
        self.shops[shop].add("code", code);
    }

    async fn sells_in_the_sandbox(&mut self) {
        self.shops[0]
            .set_provider(&self.server, json!({"kind": "sandbox"}))
            .await;
        let path = format!("{}/sandbox", self.shops[0].admin_path());
        let sandbox = self.server.admin().get(&path).await.expect(200);
        for field in ["secretKey", "webhookSecret"] {
            self.hides(SecretKind::SandboxKey, field, 0, &text(&sandbox, field));
        }
        let publishable = self
            .server
            .instance()
            .client(&self.shops[0].project.publishable);
        let secret = self.server.instance().client(&self.shops[0].project.secret);
        let pack = self.shops[0]
            .price(
                &self.server,
                json!({"interval": "one_time", "creditsGranted": 100}),
            )
            .await;
        // Wallets that a payment makes.
        for (wallet, client) in [
            ("made.by.browser", &publishable),
            ("made.by.server", &secret),
            ("rotated", &publishable),
            ("replaced", &secret),
            ("frozen", &secret),
        ] {
            let buyer = format!("{wallet}@buyers.example");
            let body = json!({"priceId": pack, "customerEmail": buyer});
            let checkout = self.shops[0].buys(client, body, &buyer).await;
            self.hides_order(0, &checkout, wallet, &buyer).await;
            let order = self.shops[0].paid(&self.server, &checkout).await;
            let code = text(&order, "code");
            let kind = SecretKind::CodeOfOrder;
            match wallet {
                "rotated" => self.rotates(&publishable, &code, &buyer).await,
                "replaced" => self.replaces(&code, &buyer).await,
                _ => self.hides_code(kind, 0, (wallet, &code), Some(&buyer)),
            }
            if wallet == "frozen" {
                let frozen = json!({"code": code, "frozen": true, "reason": "a dispute"});
                secret
                    .post("/api/v1/wallets/freeze", &frozen)
                    .await
                    .expect(200);
            }
        }
        self.names_and_sessions(&pack, &publishable, &secret).await;
        let tier =
            json!({"interval": "month", "creditsGranted": 50, "features": ["pro"], "label": "Pro"});
        let tier = self.shops[0].tier(&self.server, tier).await;
        for (user, price) in [("ann", &tier), ("erin", &pack), ("paul", &pack)] {
            let buyer = format!("{user}.buys@buyers.example");
            let body = json!({"priceId": price, "externalUserId": user, "customerEmail": buyer});
            let checkout = self.shops[0].buys(&secret, body, &buyer).await;
            self.hides_order(0, &checkout, user, &buyer).await;
            self.shops[0].users.push(user.to_owned());
        }
        self.erases("erin").await;
        let portal = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/"});
        let portal = secret
            .post("/api/v1/wallets/external/portal", &portal)
            .await
            .expect(200);
        self.buyers_pages
            .push(self.shops[0].page(&self.server, &text(&portal, "url")));
        self.buyers_pages.extend(self.shops[0].pages.clone());
    }

    /// One wallet whose code a browser names, and one whose checkout a session opens.
    async fn names_and_sessions(&mut self, pack: &str, publishable: &Client, secret: &Client) {
        for wallet in ["named", "by.session"] {
            let buyer = format!("{wallet}@buyers.example");
            let new_wallet = secret
                .post("/api/v1/wallets", &Value::Null)
                .await
                .expect(200);
            let code = text(&new_wallet, "code");
            let session = secret
                .post("/api/v1/sessions", &json!({"code": code}))
                .await
                .expect(200);
            let token = text(&session, "token");
            let checkout = match wallet {
                "named" => {
                    let body = json!({"priceId": pack, "customerEmail": buyer, "code": code});
                    self.shops[0].buys(publishable, body, &buyer).await
                }
                _ => {
                    let session = self.server.instance().client(&token);
                    let body = json!({"priceId": pack, "customerEmail": buyer});
                    self.shops[0].buys(&session, body, &buyer).await
                }
            };
            self.hides_order(0, &checkout, wallet, &buyer).await;
            match wallet {
                "named" => {
                    self.hides_code(SecretKind::CodeOfOrder, 0, (wallet, &code), Some(&buyer))
                }
                _ => self.hides_code(SecretKind::Code, 0, (wallet, &code), None),
            }
        }
    }

    /// A code that its owner rotates by a browser, and then a server again.
    async fn rotates(&mut self, publishable: &Client, first: &str, buyer: &str) {
        let secret = self.server.instance().client(&self.shops[0].project.secret);
        let mut code = first.to_owned();
        for (kind, client) in [("publishable", publishable), ("secret", &secret)] {
            let key = format!("the-name-of-a-rotation-by-{kind}");
            let path = format!("/api/v1/wallets/{code}/rotate");
            let new = client
                .post(&path, &json!({"idempotencyKey": key}))
                .await
                .expect(200);
            self.hides(SecretKind::ShownOnce, "the name of a rotation", 0, &key);
            self.hides_code(SecretKind::FormerCode, 0, ("rotated, before", &code), None);
            self.shops[0].rotations.push((kind, code, key));
            code = text(&new, "code");
        }
        // What the first answered was replaced, so that only the last can be repeated.
        self.shops[0].rotations.remove(0);
        self.hides_code(SecretKind::Code, 0, ("rotated", &code), Some(buyer));
    }

    /// A code that an operator replaces.
    async fn replaces(&mut self, former: &str, buyer: &str) {
        let path = format!("{}/wallets?query={former}", self.shops[0].admin_path());
        let found = self.server.admin().get(&path).await.expect(200);
        let wallet = text(&found["wallets"][0], "ref");
        let path = format!(
            "{}/wallets/{wallet}/replace-code",
            self.shops[0].admin_path()
        );
        let new = self
            .server
            .admin()
            .post(&path, &json!({}))
            .await
            .expect(200);
        self.hides_code(
            SecretKind::FormerCode,
            0,
            ("replaced, before", former),
            None,
        );
        self.hides_code(
            SecretKind::Code,
            0,
            ("replaced", &text(&new, "code")),
            Some(buyer),
        );
    }

    async fn erases(&mut self, user: &str) {
        let path = format!("{}/wallets?query={user}", self.shops[0].admin_path());
        let found = self.server.admin().get(&path).await.expect(200);
        let wallet = text(&found["wallets"][0], "ref");
        let path = format!("{}/wallets/{wallet}/erase", self.shops[0].admin_path());
        self.server
            .admin()
            .post(&path, &Value::Null)
            .await
            .expect(200);
        let buyer = format!("{user}.buys@buyers.example");
        let secret = self.secrets.iter_mut().find(|secret| secret.text == buyer);
        secret.unwrap().kind = SecretKind::ErasedAddress;
    }

    async fn sells_by_stripe(&mut self) {
        self.shops[1]
            .set_provider(&self.server, stripe::provider())
            .await;
        for (what, text) in [
            ("the provider's key", stripe::SECRET_KEY),
            ("the provider's signing secret", stripe::WEBHOOK_SECRET),
        ] {
            self.hides(SecretKind::ShownOnce, what, 1, text);
        }
        let publishable = self
            .server
            .instance()
            .client(&self.shops[1].project.publishable);
        let pack = self.shops[1]
            .price(
                &self.server,
                json!({"interval": "one_time", "creditsGranted": 100}),
            )
            .await;
        let buyer = "elsewhere@buyers.example";
        let body = json!({"priceId": pack});
        let checkout = publishable
            .post("/api/v1/checkout", &body)
            .await
            .expect(200);
        let session = self.stripe.pay_as(&text(&checkout, "checkoutId"), buyer);
        self.shops[1]
            .reports(&self.server, &session, "evt_paid")
            .await;
        self.hides_order(1, &checkout, "elsewhere", buyer).await;
        let order = self.shops[1].paid(&self.server, &checkout).await;
        self.hides_code(
            SecretKind::CodeOfOrder,
            1,
            ("elsewhere", &text(&order, "code")),
            Some(buyer),
        );
        self.adds_unfulfilled_payments("unfulfilled", 12).await;
        let secret = self.server.instance().client(&self.shops[1].project.secret);
        let user = json!({"externalUserId": "zoe"});
        secret
            .post("/api/v1/wallets/external", &user)
            .await
            .expect(200);
        self.shops[1].users.push("zoe".into());
    }

    /// Payments at the second shop's provider that lead to no order.
    pub(crate) async fn adds_unfulfilled_payments(&mut self, name: &str, count: usize) {
        for number in 1..=count {
            let payment = &format!("pi_{name}_{number}");
            let address = format!("{payment}@buyers.example");
            self.shops[1]
                .pays_without_an_order(&self.server, &self.stripe, payment, &address)
                .await;
            self.hides(
                SecretKind::Address,
                "the address of a payment that led nowhere",
                1,
                &address,
            );
        }
    }

    /// Holds, deductions and notes, in both shops.
    async fn uses_credits(&mut self) {
        for shop in 0..2 {
            let wallets: Vec<_> = self
                .secrets
                .iter()
                .filter(|secret| {
                    secret.shop == Some(shop)
                        && ["made.by.browser", "elsewhere", "by.session"]
                            .iter()
                            .any(|it| secret.what.ends_with(&format!("the code of {it}")))
                })
                .cloned()
                .collect();
            let keys = [
                self.shops[shop].project.publishable.clone(),
                self.shops[shop].project.secret.clone(),
            ];
            for code in wallets {
                for key in &keys {
                    let client = self.server.instance().client(key);
                    let hold = self.shops[shop].hold(&client, &code.text).await;
                    let secret = Secret::new(
                        SecretKind::Hold,
                        &format!("a hold on {}", code.what),
                        &hold,
                        Some(shop),
                    );
                    self.secrets.push(secret);
                    self.shops[shop].add("holdId", &hold);
                }
            }
            let server = self.server.instance().client(&keys[1]);
            let entry = self.shops[shop].deduction(&server, "first").await;
            self.shops[shop].add("ledgerId", &entry);
        }
    }

    async fn has_people(&mut self) {
        let base = self.server.instance().base().to_owned();
        let admin = self.server.admin();
        let [one, other] = [0, 1].map(|shop: usize| self.shops[shop].project.id.clone());
        let all = [
            ("vera", "viewer", Some(&one), Holder::Viewer(0)),
            ("sue", "support", Some(&one), Holder::Support(0)),
            ("otto", "operator", Some(&one), Holder::Operator(0)),
            ("olga", "owner", None, Holder::Owner),
            ("vito", "viewer", Some(&other), Holder::Viewer(1)),
            ("sven", "support", Some(&other), Holder::Support(1)),
        ];
        for (name, role, project, holder) in all {
            let who = (name, role, project.map(|id| &**id));
            let (id, visitor, secrets) = people::person((&admin, &base), who, holder).await;
            self.visitors.push(visitor);
            self.secrets.extend(secrets);
            for shop in &mut self.shops {
                shop.add("userId", &id);
            }
        }
        self.visitors.push(people::administrator(&base).await);
    }

    /// Holders of a key, a code, a session or a token, also ended ones.
    async fn has_programs(&mut self) {
        let token = kit::launch::ADMIN_TOKEN;
        let mut all = vec![
            Visitor::with_key("the administrator's token", Holder::Administrator, token),
            Visitor::with_key("the token for figures", Holder::Stranger, METRICS_TOKEN),
        ];
        for shop in 0..2 {
            let project = self.shops[shop].project.clone();
            let key = |name: &str, holder, key: &str| {
                Visitor::with_key(&format!("{name} of shop {shop}"), holder, key)
            };
            let publishable = key(
                "the publishable key",
                Holder::Publishable(shop),
                &project.publishable,
            );
            let of = |kind| {
                self.secrets
                    .iter()
                    .find(|it| it.shop == Some(shop) && it.kind == kind)
            };
            for (name, kind) in [
                ("present", SecretKind::CodeOfOrder),
                ("former", SecretKind::FormerCode),
            ] {
                if let Some(code) = of(kind) {
                    all.push(publishable.and_code(
                        &format!("the publishable key with a {name} code"),
                        &code.text,
                    ));
                }
            }
            all.push(publishable);
            // Those of the other shop would see what these see.
            for can in RESTRICTED.iter().filter(|_| shop == 0) {
                let body = json!({"kind": "restricted", "can": can});
                let path = format!("{}/keys", self.shops[shop].admin_path());
                let made = self.server.admin().post(&path, &body).await.expect(201);
                let holder = Holder::Restricted(shop, can);
                all.push(key(
                    &format!("a key that can {can:?}"),
                    holder,
                    &text(&made, "key"),
                ));
            }
            all.push(key("the secret key", Holder::Secret(shop), &project.secret));
        }
        let secret = self.server.instance().client(&self.shops[0].project.secret);
        let code = self
            .secrets
            .iter()
            .find(|it| it.what == "the code of by.session")
            .unwrap()
            .text
            .clone();
        let made = self
            .secrets
            .iter()
            .find(|it| it.what == "the code of made.by.browser")
            .unwrap()
            .text
            .clone();
        for can in ["read", "checkout", "portal", "subscriptions"] {
            for (wallet, whose) in [
                ("ann", json!({"externalUserId": "ann"})),
                ("by.session", json!({"code": code})),
                ("made.by.browser", json!({"code": made})),
            ] {
                let mut asked = whose;
                asked["can"] = json!([can]);
                let token = secret.post("/api/v1/sessions", &asked).await.expect(200);
                let holder = Holder::Session(0, wallet.into());
                let name = format!("a session of {wallet} that can {can}");
                all.push(Visitor::with_key(&name, holder, &text(&token, "token")));
            }
        }
        self.adds_ended(&secret, &mut all).await;
        self.visitors.extend(all);
    }

    async fn adds_ended(&mut self, secret: &Client, all: &mut Vec<Visitor>) {
        let admin = self.server.admin();
        let keys = format!("{}/keys", self.shops[0].admin_path());
        let soon = std::time::SystemTime::now() + std::time::Duration::from_millis(1500);
        let soon = soon.duration_since(std::time::UNIX_EPOCH).unwrap();
        let soon =
            jiff::Timestamp::from_millisecond(i64::try_from(soon.as_millis()).unwrap()).unwrap();
        let mut ended = Vec::new();
        for kind in ["publishable", "secret"] {
            let new_key = admin.post(&keys, &json!({"kind": kind})).await.expect(201);
            let path = format!("{keys}/{}", text(&new_key, "id"));
            Client::send(admin.request(Method::DELETE, &path))
                .await
                .unwrap()
                .expect(204);
            ended.push((format!("a revoked {kind} key"), text(&new_key, "key")));
            let expires = json!({"kind": kind, "expiresAt": format!("{soon:.3}")});
            let new_key = admin.post(&keys, &expires).await.expect(201);
            ended.push((format!("a {kind} key past its end"), text(&new_key, "key")));
        }
        let body = json!({"externalUserId": "paul"});
        let new_key = secret.post("/api/v1/sessions", &body).await.expect(200);
        ended.push(("a revoked session".into(), text(&new_key, "token")));
        secret
            .post("/api/v1/sessions/revoke", &body)
            .await
            .expect(200);
        let new_key = json!({"externalUserId": "ann", "expiresInSeconds": 1});
        let new_key = secret.post("/api/v1/sessions", &new_key).await.expect(200);
        ended.push(("a session past its end".into(), text(&new_key, "token")));
        for (name, key) in ended {
            let client = self.server.instance().client(&key);
            let over = async || (client.get("/api/v1/me").await.status == 401).then_some(());
            deadline::answered("the end of a key", deadline::SOON, over).await;
            all.push(Visitor::with_key(&name, Holder::Stranger, &key));
        }
    }
}
