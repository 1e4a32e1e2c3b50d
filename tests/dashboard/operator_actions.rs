//! Every action of an operator by all ways, the dashboard, the admin API and the terminal: the same happens, and the audit
//! log says the same.

use std::process::Command;

use kit::{
    Client,
    browser::Browser,
    launch::binary,
    service::{ADMIN_TOKEN, Service},
};
use reqwest::Method;
use scrip::identity::Role;
use serde_json::{Value, json};

use crate::people::{new, person, signed_in};

/// An action in the words of each way. `WALLET`, `ENTRY` and other capitals stand for what each service has of its own.
struct Case {
    /// What the log says, with a part for each identifier.
    sentence: &'static str,
    /// The role with the fewest permissions that may do it.
    needs: Role,
    /// Where the dashboard's form is sent, below its project or, after `//`, below the dashboard; empty: there is none.
    form: &'static str,
    fields: &'static [(&'static str, &'static str)],
    /// The request of the admin API, below its project or, after `//`, below the API.
    method: &'static str,
    path: &'static str,
    body: &'static str,
}

const CASES: &[Case] = &[
    Case {
        sentence: "Granted 1,500 of prod_… in wal_…: Sorry",
        needs: Role::Support,
        form: "/wallets/WALLET/grant",
        fields: &[
            ("productId", "PRODUCT"),
            ("amount", "1500"),
            ("reason", "Sorry"),
            ("idempotencyKey", "grant"),
        ],
        method: "POST",
        path: "/wallets/WALLET/credit",
        body: r#"{"productId": "PRODUCT", "amount": 1500, "idempotencyKey": "dashboard:grant", "meta": {"reason": "Sorry", "by": "dashboard"}}"#,
    },
    Case {
        sentence: "Reversed 20 of deduction led_…: It crashed",
        needs: Role::Support,
        form: "/wallets/WALLET/deductions/ENTRY",
        fields: &[
            ("amount", "20"),
            ("note", "It crashed"),
            ("idempotencyKey", "reverse"),
        ],
        method: "POST",
        path: "/deductions/ENTRY/reverse",
        body: r#"{"amount": 20, "idempotencyKey": "dashboard:reverse", "note": "It crashed"}"#,
    },
    Case {
        sentence: "Froze wal_…: A stolen card",
        needs: Role::Support,
        form: "/wallets/WALLET/freeze",
        fields: &[("action", "freeze"), ("reason", "A stolen card")],
        method: "POST",
        path: "/wallets/WALLET/freeze",
        body: r#"{"frozen": true, "reason": "A stolen card"}"#,
    },
    Case {
        sentence: "Unfroze wal_…",
        needs: Role::Support,
        form: "/wallets/WALLET/freeze",
        fields: &[("action", "unfreeze")],
        method: "POST",
        path: "/wallets/WALLET/freeze",
        body: r#"{"frozen": false}"#,
    },
    Case {
        sentence: "Changed wallet wal_…: limits “” -> “member:* 1,500 credits per month, alerts at 80 %”",
        needs: Role::Support,
        form: "/wallets/WALLET/limits",
        fields: &[
            ("limits", "on"),
            ("limits[0].scope", "member:*"),
            ("limits[0].amount", "1,500"),
            ("limits[0].window", "month"),
            ("limits[0].alertsAt", "80"),
        ],
        method: "PUT",
        path: "/wallets/WALLET/limits",
        body: r#"{"limits": [{"scope": "member:*", "amount": 1500, "window": "month", "alertsAt": [80]}]}"#,
    },
    Case {
        sentence: "Erased the customer of wal_…: 0 orders, 1 notes, 0 payments without an order",
        needs: Role::Operator,
        form: "/wallets/WALLET/erase",
        fields: &[],
        method: "POST",
        path: "/wallets/WALLET/erase",
        body: "{}",
    },
    Case {
        sentence: "Replaced the recovery code of wal_… and showed it",
        needs: Role::Support,
        form: "/wallets/ANONYMOUS/replace-code",
        fields: &[("to", "page"), ("idempotencyKey", "code")],
        method: "POST",
        path: "/wallets/ANONYMOUS/replace-code",
        body: r#"{"idempotencyKey": "code"}"#,
    },
    Case {
        sentence: "Created secret key key_… “ann” of proj_…",
        needs: Role::Operator,
        form: "/keys",
        fields: &[("kind", "secret"), ("name", "ann")],
        method: "POST",
        path: "/keys",
        body: r#"{"kind": "secret", "name": "ann"}"#,
    },
    Case {
        sentence: "Created product prod_… “Images” of proj_…",
        needs: Role::Operator,
        form: "/catalog",
        fields: &[
            ("name", "Images"),
            ("type", "credits"),
            ("creditUnit", "images"),
            ("active", "on"),
        ],
        method: "POST",
        path: "/products",
        body: r#"{"name": "Images", "type": "credits", "creditUnit": "images"}"#,
    },
    Case {
        sentence: "Created price price_… of prod_…: 9.50 EUR",
        needs: Role::Operator,
        form: "/catalog/PRODUCT/prices",
        fields: &[
            ("amountCents", "9.50"),
            ("currency", "EUR"),
            ("creditsGranted", "5"),
            ("interval", "one_time"),
        ],
        method: "POST",
        path: "/products/PRODUCT/prices",
        body: r#"{"amountCents": 950, "currency": "EUR", "creditsGranted": 5, "interval": "one_time"}"#,
    },
    Case {
        sentence: "Changed price price_…: active true -> false",
        needs: Role::Operator,
        form: "/catalog/PRODUCT/prices/PRICE",
        fields: &[("active", "")],
        method: "PATCH",
        path: "/products/PRODUCT/prices/PRICE",
        body: r#"{"active": false}"#,
    },
    Case {
        sentence: "Closed rate card chat of proj_…",
        needs: Role::Operator,
        form: "/rate-cards/chat/close",
        fields: &[],
        method: "DELETE",
        path: "/rate-cards/chat",
        body: "",
    },
    Case {
        sentence: "Created webhook endpoint wh_… of proj_…: https://shop.example/ann",
        needs: Role::Operator,
        form: "/webhooks",
        fields: &[("url", "https://shop.example/ann")],
        method: "POST",
        path: "/webhooks",
        body: r#"{"url": "https://shop.example/ann"}"#,
    },
    Case {
        sentence: "Rotated the secret of webhook endpoint wh_… of proj_…",
        needs: Role::Operator,
        form: "/webhooks/ENDPOINT",
        fields: &[("action", "rotate")],
        method: "POST",
        path: "/webhooks/ENDPOINT/rotate-secret",
        body: "{}",
    },
    Case {
        sentence: "Changed webhook endpoint wh_…: active true -> false",
        needs: Role::Operator,
        form: "/webhooks/ENDPOINT",
        fields: &[("action", "off")],
        method: "PATCH",
        path: "/webhooks/ENDPOINT",
        body: r#"{"active": false}"#,
    },
    Case {
        sentence: "Deleted webhook endpoint wh_… of proj_…",
        needs: Role::Operator,
        form: "/webhooks/ENDPOINT",
        fields: &[("action", "delete")],
        method: "DELETE",
        path: "/webhooks/ENDPOINT",
        body: "",
    },
    Case {
        sentence: "Archived project proj_…",
        needs: Role::Operator,
        form: "/settings/archive",
        fields: &[("archived", "true")],
        method: "PATCH",
        path: "",
        body: r#"{"archived": true}"#,
    },
    Case {
        sentence: "Unarchived project proj_…",
        needs: Role::Operator,
        form: "/settings/archive",
        fields: &[("archived", "false")],
        method: "PATCH",
        path: "",
        body: r#"{"archived": false}"#,
    },
    Case {
        sentence: "Changed product prod_…: name “Render credits” -> “Coins”",
        needs: Role::Operator,
        form: "/catalog/PRODUCT",
        fields: &[
            ("name", "Coins"),
            ("type", "credits"),
            ("creditUnit", "renders"),
            ("active", "on"),
        ],
        method: "PATCH",
        path: "/products/PRODUCT",
        body: r#"{"name": "Coins"}"#,
    },
    Case {
        sentence: "Changed key key_… “Worker”: name “Web” -> “Worker”",
        needs: Role::Operator,
        form: "/keys/KEY",
        fields: &[("name", "Worker")],
        method: "PATCH",
        path: "/keys/KEY",
        body: r#"{"name": "Worker"}"#,
    },
    Case {
        sentence: "Revoked key key_… “Worker” of proj_…",
        needs: Role::Operator,
        form: "/keys/KEY/revoke",
        fields: &[],
        method: "DELETE",
        path: "/keys/KEY",
        body: "",
    },
    Case {
        sentence: "Changed project proj_…: name “Demo” -> “Shop”",
        needs: Role::Operator,
        form: "/settings",
        fields: &[
            ("name", "Shop"),
            ("mode", "credit_codes"),
            ("freeGrantsForCodeWallets", "on"),
            ("subscriptionGraceDays", "7"),
            ("walletCreationLimit.max", "1000"),
            ("walletCreationLimit.windowSeconds", "3600"),
            ("walletCreationLimitPerIp.max", "100"),
            ("walletCreationLimitPerIp.windowSeconds", "3600"),
        ],
        method: "PATCH",
        path: "",
        body: r#"{"name": "Shop"}"#,
    },
    Case {
        sentence: "Invited Ann (usr_…) as support",
        needs: Role::Owner,
        form: "//people",
        fields: &[
            ("name", "Ann"),
            ("email", "ann@example.com"),
            ("role", "support"),
        ],
        method: "POST",
        path: "//users",
        body: r#"{"name": "Ann", "email": "ann@example.com", "role": "support"}"#,
    },
    Case {
        sentence: "Invited Uma (usr_…) again as support",
        needs: Role::Owner,
        form: "//people/USER/invitation",
        fields: &[],
        method: "POST",
        path: "//users/USER/invitation",
        body: "{}",
    },
    Case {
        sentence: "Changed user Uma (usr_…): grantLimitPerDay “” -> 5, role “support” -> “viewer”",
        needs: Role::Owner,
        form: "//people/USER",
        fields: &[
            ("name", "Uma"),
            ("email", "uma@example.com"),
            ("role", "viewer"),
            ("grantLimitPerDay", "5"),
        ],
        method: "PATCH",
        path: "//users/USER",
        body: r#"{"role": "viewer", "grantLimitPerDay": 5}"#,
    },
    Case {
        sentence: "Unbound user Uma (usr_…) from the identity provider",
        needs: Role::Owner,
        form: "//people/USER/identity",
        fields: &[],
        method: "PATCH",
        path: "//users/USER",
        body: r#"{"identity": null}"#,
    },
    Case {
        sentence: "Ended session ses_… of Uma (usr_…)",
        needs: Role::Owner,
        form: "//people/USER/end",
        fields: &[("session", "SESSION")],
        method: "DELETE",
        path: "//sessions/SESSION",
        body: "",
    },
    Case {
        sentence: "Ended all sessions of Uma (usr_…)",
        needs: Role::Owner,
        form: "//people/USER/end",
        fields: &[],
        method: "DELETE",
        path: "//users/USER/sessions",
        body: "",
    },
    Case {
        sentence: "Removed the access of user Uma (usr_…)",
        needs: Role::Owner,
        form: "//people/USER/disable",
        fields: &[],
        method: "PATCH",
        path: "//users/USER",
        body: r#"{"disabled": true}"#,
    },
    Case {
        sentence: "Restored the access of user Uma (usr_…)",
        needs: Role::Owner,
        form: "//people/USER/enable",
        fields: &[],
        method: "PATCH",
        path: "//users/USER",
        body: r#"{"disabled": false}"#,
    },
    Case {
        sentence: "Removed user Uma (usr_…)",
        needs: Role::Owner,
        form: "//people/USER/remove",
        fields: &[],
        method: "DELETE",
        path: "//users/USER",
        body: "",
    },
    Case {
        sentence: "Created project proj_… “Second”",
        needs: Role::Owner,
        form: "//",
        fields: &[("name", "Second"), ("mode", "credit_codes")],
        method: "POST",
        path: "//projects",
        body: r#"{"name": "Second"}"#,
    },
    Case {
        sentence: "Started to compare the provider's payments with the orders,",
        needs: Role::Support,
        form: "/unfulfilled-payments/reconcile",
        fields: &[],
        method: "POST",
        path: "/reconciliation",
        body: "{}",
    },
    // Those that the dashboard has no form for come last.
    Case {
        sentence: "Saved version 2 of rate card chat of proj_…",
        needs: Role::Operator,
        form: "",
        fields: &[],
        method: "PUT",
        path: "/rate-cards/chat",
        body: r#"{"productId": "PRODUCT", "rates": [{"match": {}, "unitPrices": {"image": "4"}}]}"#,
    },
    Case {
        sentence: "Changed how the sandbox of proj_… delivers webhooks: delay 5 s, 1 copies",
        needs: Role::Operator,
        form: "",
        fields: &[],
        method: "PATCH",
        path: "/sandbox",
        body: r#"{"delaySeconds": 5, "duplicates": 1}"#,
    },
    Case {
        sentence: "Advanced the clock of the sandbox of proj_… by 1 hour",
        needs: Role::Operator,
        form: "",
        fields: &[],
        method: "POST",
        path: "/sandbox/advance",
        body: r#"{"seconds": 3600}"#,
    },
    Case {
        sentence: "Began backup",
        needs: Role::Owner,
        form: "",
        fields: &[],
        method: "POST",
        path: "//backups",
        body: r#"{"to": "DIRECTORY"}"#,
    },
    Case {
        sentence: "Opened wallet wal_…",
        needs: Role::Support,
        form: "",
        fields: &[],
        method: "POST",
        path: "/wallets",
        body: r#"{"externalUserId": "bea"}"#,
    },
];

/// The operation of a request at the terminal: its name, and an option for each parameter of its path.
fn words(method: &str, path: &str) -> Vec<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi/admin.json");
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let kebab = |name: &str| {
        name.chars()
            .fold(String::new(), |kebab, c| match c.is_ascii_uppercase() {
                true => format!("{kebab}-{}", c.to_ascii_lowercase()),
                false => format!("{kebab}{c}"),
            })
    };
    let sent: Vec<&str> = path.split('/').collect();
    for (path, item) in document["paths"].as_object().unwrap() {
        let parts: Vec<&str> = path.split('/').collect();
        let mut pairs = parts.iter().zip(&sent);
        let id = item[method.to_lowercase()]["operationId"].as_str();
        let is_it = pairs.all(|(part, sent)| part == sent || part.starts_with('{'));
        if let Some(id) = id.filter(|_| is_it && parts.len() == sent.len()) {
            let mut words = vec![kebab(id)];
            let named = parts
                .iter()
                .zip(&sent)
                .filter(|(part, _)| part.starts_with('{'));
            for (part, value) in named {
                let name = part
                    .trim_matches(['{', '}'])
                    .replace("projectId", "project");
                words.extend([format!("--{}", kebab(&name)), (*value).to_owned()]);
            }
            return words;
        }
    }
    panic!("no operation is {method} {path}");
}

/// A way to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Dashboard,
    AdminApi,
    Terminal,
}

/// A service with something to act on.
struct Shop {
    service: Service,
    browser: Browser,
    admin: Client,
    /// What the capitals of a case stand for.
    names: Vec<(&'static str, String)>,
}

impl Shop {
    async fn open() -> Self {
        let service = Service::start().await;
        let browser = Browser::signed_in(&service).await;
        let admin = Client::new(&service.base, ADMIN_TOKEN);
        let base = format!("/api/admin/v1/projects/{}", service.project.id);
        let provider = json!({"provider": {"kind": "sandbox"}});
        admin.patch(&base, &provider).await.expect(200);
        service.grant("ann", 100).await;
        let deduct = json!({"externalUserId": "ann", "amount": 60, "idempotencyKey": "d"});
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &deduct).await.expect(200);
        let card = json!({"productId": service.product, "rates": [{"match": {}, "unitPrices": {"image": "3"}}]});
        let path = format!("{base}/rate-cards/chat");
        let card = admin.request(Method::PUT, &path).json(&card);
        Client::send(card).await.unwrap().expect(200);
        let code = service.code().await;
        let wallet = async |clue: &str| {
            let found = admin.get(&format!("{base}/wallets?query={clue}")).await;
            found.expect(200)["wallets"][0]["ref"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let (ann, anonymous) = (wallet("ann").await, wallet(&code).await);
        let ledger = format!("{base}/wallets/{ann}/ledger?reason=deduction");
        let ledger = admin.get(&ledger).await.expect(200);
        let endpoint = json!({"url": "https://shop.example/hooks"});
        let endpoint = admin
            .post(&format!("{base}/webhooks"), &endpoint)
            .await
            .expect(201);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let key = json!({"kind": "publishable", "name": "Web"});
        let key = admin.post(&format!("{base}/keys"), &key).await.expect(201);
        let uma = person(&service, new("Uma", Role::Support)).await;
        // Two sessions.
        signed_in(&service, &uma).await;
        signed_in(&service, &uma).await;
        let user = format!("/api/admin/v1/users/{}", uma.id);
        let identity = json!({"identity": {"issuer": "https://id.example", "subject": "7"}});
        admin.patch(&user, &identity).await.expect(200);
        let sessions = admin.get("/api/admin/v1/sessions").await.expect(200);
        let sessions = sessions["sessions"].as_array().unwrap();
        let mut sessions = sessions.iter();
        let session = sessions.find(|it| it["userId"] == uma.id.to_string());
        let names = vec![
            ("USER", uma.id.to_string()),
            ("SESSION", text(&session.unwrap()["id"])),
            ("KEY", text(&key["id"])),
            ("WALLET", ann.clone()),
            ("ANONYMOUS", anonymous),
            ("ENTRY", text(&ledger["entries"][0]["id"])),
            ("ENDPOINT", text(&endpoint["id"])),
            ("PRODUCT", service.product.clone()),
            ("PRICE", service.add_price(7).await),
            (
                "DIRECTORY",
                service.mails.path().join("backups").display().to_string(),
            ),
        ];
        let note = format!(
            "/dashboard/projects/{}/wallets/{ann}/notes",
            service.project.id
        );
        browser.submit(&note, &[("text", "Called twice")]).await;
        Self {
            service,
            browser,
            admin,
            names,
        }
    }

    fn named(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    /// The path and the fields of a form.
    fn form(&self, case: &Case) -> (String, Vec<(&'static str, String)>) {
        let path = match case.form.strip_prefix("//") {
            Some(path) => format!("/dashboard/{path}")
                .trim_end_matches('/')
                .to_owned(),
            None => format!(
                "/dashboard/projects/{}{}",
                self.service.project.id, case.form
            ),
        };
        let fields = case.fields.iter();
        let fields = fields.map(|(name, value)| (*name, self.named(value)));
        (self.named(&path), fields.collect())
    }

    async fn run(&self, case: &Case, way: Way) {
        let path = self.named(case.path);
        let path = match path.strip_prefix("//") {
            Some(path) => format!("/{path}"),
            None => format!("/projects/{}{path}", self.service.project.id),
        };
        let body = self.named(case.body);
        match way {
            Way::Dashboard => {
                let (path, fields) = self.form(case);
                let mut fields: Vec<_> = fields.iter().map(|(name, it)| (*name, &**it)).collect();
                fields.push(("confirmed", "on"));
                let page = self.browser.post(&path, &fields).await;
                assert!(page.status < 400, "{}: {}", case.sentence, page.html);
            }
            Way::AdminApi => {
                let method = case.method.parse().unwrap();
                let request = self.admin.request(method, &format!("/api/admin/v1{path}"));
                let request = match body.is_empty() {
                    true => request,
                    false => request.json(&serde_json::from_str::<Value>(&body).unwrap()),
                };
                let reply = Client::send(request).await.unwrap();
                assert!(reply.status < 300, "{}: {:?}", case.sentence, reply.body);
            }
            Way::Terminal => {
                let mut command = Command::new(binary());
                command.arg("api").args(words(case.method, &path));
                command.env("SCRIP_URL", &self.service.base);
                command.env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
                let file = self.service.mails.path().join("body.json");
                if !["", "{}"].contains(&&*body) {
                    std::fs::write(&file, body).unwrap();
                    command.arg("--body").arg(file);
                }
                // The service answers meanwhile.
                let output = tokio::task::spawn_blocking(move || command.output());
                let output = output.await.unwrap().unwrap();
                assert!(output.status.success(), "{}: {output:?}", case.sentence);
            }
        }
    }

    /// What the log says last.
    async fn sentence(&self) -> String {
        let log = self
            .admin
            .get("/api/admin/v1/audit?limit=1")
            .await
            .expect(200);
        sentence_of(&log["entries"][0])
    }

    /// All that an action may change.
    async fn state(&self) -> String {
        let mut all = Vec::new();
        for path in [
            "",
            "/wallets?sort=balance&productId=PRODUCT",
            "/wallets/WALLET/ledger",
            "/keys",
            "/products",
            "/products/PRODUCT/prices",
            "/rate-cards",
            "/webhooks",
            "/sandbox",
            "//users",
            "//projects",
            "//search?query=bea&projectId=",
        ] {
            let project = self.service.project.id;
            let path = match path.strip_prefix("//") {
                Some(path) if path.ends_with('=') => format!("/api/admin/v1/{path}{project}"),
                Some(path) => format!("/api/admin/v1/{path}"),
                None => self.named(&format!("/api/admin/v1/projects/{project}{path}")),
            };
            let mut view = self.admin.get(&path).await.expect(200);
            let keys = view["keys"].as_array_mut();
            for key in keys.into_iter().flatten() {
                let key = key.as_object_mut().unwrap();
                for random in ["first", "last", "key"] {
                    key.remove(random);
                }
            }
            let view = view.to_string().replace(&self.service.base, "");
            all.push(without_ids(&view));
        }
        all.join("\n")
    }
}

/// What an entry of the log says, up to the time that it names.
fn sentence_of(entry: &Value) -> String {
    let description = entry["description"].as_str().unwrap();
    let end = description.find(" 2026").unwrap_or(description.len());
    without_ids(&description[..end])
}

/// The text without what differs from one service to another.
fn without_ids(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut shown = String::new();
    for part in text.split_inclusive(|c| !is_word(c)) {
        let end = part.trim_end_matches(|c| !is_word(c)).len();
        let (word, rest) = part.split_at(end);
        match word.rsplit_once('_') {
            Some((prefix, id)) if id.len() >= 20 => shown.extend([prefix, "_…"]),
            None if word.len() >= 20 => shown.push('…'),
            _ => shown.push_str(word),
        }
        shown.push_str(rest);
    }
    shown
}

/// The fields of a form that was confirmed.
fn confirmed<'a>(fields: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    let fields = fields.iter().map(|(name, value)| (*name, &**value));
    fields.chain([("confirmed", "on")]).collect()
}

#[tokio::test]
async fn each_action_does_and_says_the_same_by_all_ways() {
    let mut expected: Option<Vec<String>> = None;
    for way in [Way::Dashboard, Way::AdminApi, Way::Terminal] {
        let shop = Shop::open().await;
        let mut states = Vec::new();
        for case in CASES {
            if way == Way::Dashboard && case.form.is_empty() {
                continue;
            }
            let before = shop.state().await;
            shop.run(case, way).await;
            assert_eq!(shop.sentence().await, case.sentence, "{way:?}");
            let after = shop.state().await;
            let unseen = [
                "Changed wallet",
                "Erased",
                "Replaced",
                "Rotated",
                "Ended",
                "Invited Uma",
                "Started",
                "Began",
            ];
            let is_seen = !unseen.iter().any(|it| case.sentence.starts_with(it));
            assert_eq!(after != before, is_seen, "{way:?}: {}", case.sentence);
            states.push(after);
        }
        let expected = expected.get_or_insert_with(|| states.clone());
        for ((state, expected), case) in states.iter().zip(expected).zip(CASES) {
            assert_eq!(state, expected, "{way:?}: {}", case.sentence);
        }
    }
}

#[tokio::test]
async fn everybody_does_what_their_role_allows_and_nothing_else() {
    for role in Role::ALL {
        let shop = Shop::open().await;
        let vic = person(&shop.service, new("Vic", role)).await;
        let vic = signed_in(&shop.service, &vic).await;
        // The roles with more permissions come first.
        let rank = |role| Role::ALL.iter().position(|it| *it == role);
        for case in CASES.iter().filter(|case| !case.form.is_empty()) {
            let before = (shop.state().await, shop.sentence().await);
            let (path, fields) = shop.form(case);
            let page = vic.post(&path, &confirmed(&fields)).await;
            if rank(role) <= rank(case.needs) {
                assert!(
                    page.status < 400,
                    "{role:?}, {}: {}",
                    case.sentence,
                    page.html
                );
                continue;
            }
            assert_eq!(
                page.status, 403,
                "{role:?}, {}: {}",
                case.sentence, page.html
            );
            let after = (shop.state().await, shop.sentence().await);
            assert_eq!(after, before, "{role:?}, {}", case.sentence);
        }
    }
}

#[tokio::test]
async fn an_edited_address_reaches_nothing_of_another_project() {
    let shop = Shop::open().await;
    let base = "/api/admin/v1/projects";
    let other = json!({"name": "Other"});
    let other = shop.admin.post(base, &other).await.expect(201);
    let base = format!("{base}/{}", other["id"].as_str().unwrap());
    let made = async |path: &str, body: Value, name: &str| {
        let reply = shop.admin.post(&format!("{base}{path}"), &body).await;
        assert!(reply.status < 300, "{path}: {:?}", reply.body);
        reply.body[name].as_str().unwrap().to_owned()
    };
    let product = json!({"name": "Images", "type": "credits", "creditUnit": "images"});
    let product = made("/products", product, "id").await;
    let price =
        json!({"amountCents": 900, "currency": "EUR", "creditsGranted": 5, "interval": "one_time"});
    let wallet = made("/wallets", json!({"externalUserId": "eve"}), "ref").await;
    let credit = json!({"productId": product, "amount": 9, "idempotencyKey": "g"});
    let path = format!("{base}/wallets/{wallet}/credit");
    shop.admin.post(&path, &credit).await.expect(200);
    let secret = Client::new(&shop.service.base, other["secretKey"].as_str().unwrap());
    let deduct = json!({"externalUserId": "eve", "amount": 2, "idempotencyKey": "d"});
    let path = "/api/v1/wallets/external/deduct";
    secret.post(path, &deduct).await.expect(200);
    let ledger = format!("{base}/wallets/{wallet}/ledger?reason=deduction");
    let ledger = shop.admin.get(&ledger).await.expect(200);
    let entry = ledger["entries"][0]["id"].as_str().unwrap().to_owned();
    let names = [
        (
            "KEY",
            made("/keys", json!({"kind": "publishable"}), "id").await,
        ),
        (
            "PRICE",
            made(&format!("/products/{product}/prices"), price, "id").await,
        ),
        (
            "ENDPOINT",
            made("/webhooks", json!({"url": "https://eve.example"}), "id").await,
        ),
        ("ENTRY", entry),
        ("ANONYMOUS", wallet.clone()),
        ("WALLET", wallet),
        ("PRODUCT", product),
    ];
    let all = async || {
        let mut all = shop.state().await;
        for path in ["", "/wallets", "/keys", "/products", "/webhooks"] {
            let view = shop.admin.get(&format!("{base}{path}")).await.expect(200);
            all += &view.to_string();
        }
        (all, shop.sentence().await)
    };
    let before = all().await;
    for case in CASES.iter().filter(|case| !case.form.is_empty()) {
        for (name, id) in &names {
            let edited = case.form.replace(name, id);
            let fields = case.fields.iter();
            let fields =
                fields.map(|(field, value)| (*field, shop.named(&value.replace(name, id))));
            let fields: Vec<_> = fields.collect();
            if edited == case.form && shop.form(case).1 == fields {
                continue;
            }
            let project = shop.service.project.id;
            let path = shop.named(&format!("/dashboard/projects/{project}{edited}"));
            let page = shop.browser.post(&path, &confirmed(&fields)).await;
            let what = format!("{name} of {}", case.sentence);
            assert!((400..500).contains(&page.status), "{what}: {}", page.status);
            assert_eq!(all().await, before, "{what}");
        }
    }
}

#[tokio::test]
async fn two_who_do_the_same_at_once_do_it_once() {
    let (one, two) = (Shop::open().await, Shop::open().await);
    let olga = person(&two.service, new("Olga", Role::Owner)).await;
    let olga = signed_in(&two.service, &olga).await;
    // The other shop has an owner, too.
    let same = person(&one.service, new("Olga", Role::Owner)).await;
    signed_in(&one.service, &same).await;
    let makes_another = ["Created", "Invited", "Rotated"];
    for case in CASES.iter().filter(|case| !case.form.is_empty()) {
        if makes_another.iter().any(|it| case.sentence.starts_with(it)) {
            continue;
        }
        one.run(case, Way::Dashboard).await;
        let (path, fields) = two.form(case);
        let fields = confirmed(&fields);
        let both = tokio::join!(two.browser.post(&path, &fields), olga.post(&path, &fields));
        let statuses = [both.0.status, both.1.status];
        assert!(
            statuses.iter().any(|it| *it < 400),
            "{}: {statuses:?}",
            case.sentence
        );
        assert!(
            statuses.iter().all(|it| *it < 500),
            "{}: {statuses:?}",
            case.sentence
        );
        assert_eq!(two.state().await, one.state().await, "{}", case.sentence);
        let log = two
            .admin
            .get("/api/admin/v1/audit?limit=4")
            .await
            .expect(200);
        let entries = log["entries"].as_array().unwrap().iter();
        let sentences = entries.map(sentence_of);
        let count = sentences.filter(|it| it == case.sentence).count();
        assert_eq!(count, 1, "{}: {log}", case.sentence);
    }
}
