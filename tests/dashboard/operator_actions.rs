//! Every action of an operator by all ways, the dashboard, the admin API and the terminal: the same happens, and the audit
//! log says the same.

use std::process::Command;

use kit::{
    Client,
    browser::Browser,
    launch::binary,
    service::{ADMIN_TOKEN, Service},
};
use scrip::identity::Role;
use serde_json::{Value, json};

use crate::people::{new, person, signed_in};

/// An action in the words of each way. `WALLET`, `ENTRY` and other capitals stand for what each service has of its own.
struct Case {
    /// What the log says, with a part for each identifier.
    sentence: &'static str,
    /// Where the dashboard's form is sent, below its project.
    form: &'static str,
    fields: &'static [(&'static str, &'static str)],
    /// The request of the admin API, below its project.
    method: &'static str,
    path: &'static str,
    body: &'static str,
}

const CASES: &[Case] = &[
    Case {
        sentence: "Granted 1,500 of prod_… in wal_…: Sorry",
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
        form: "/wallets/WALLET/freeze",
        fields: &[("action", "freeze"), ("reason", "A stolen card")],
        method: "POST",
        path: "/wallets/WALLET/freeze",
        body: r#"{"frozen": true, "reason": "A stolen card"}"#,
    },
    Case {
        sentence: "Unfroze wal_…",
        form: "/wallets/WALLET/freeze",
        fields: &[("action", "unfreeze")],
        method: "POST",
        path: "/wallets/WALLET/freeze",
        body: r#"{"frozen": false}"#,
    },
    Case {
        sentence: "Erased the customer of wal_…: 0 orders, 1 notes, 0 payments without an order",
        form: "/wallets/WALLET/erase",
        fields: &[],
        method: "POST",
        path: "/wallets/WALLET/erase",
        body: "{}",
    },
    Case {
        sentence: "Replaced the recovery code of wal_… and showed it",
        form: "/wallets/ANONYMOUS/replace-code",
        fields: &[("to", "page"), ("idempotencyKey", "code")],
        method: "POST",
        path: "/wallets/ANONYMOUS/replace-code",
        body: r#"{"idempotencyKey": "code"}"#,
    },
    Case {
        sentence: "Created secret key key_… “ann” of proj_…",
        form: "/keys",
        fields: &[("kind", "secret"), ("name", "ann")],
        method: "POST",
        path: "/keys",
        body: r#"{"kind": "secret", "name": "ann"}"#,
    },
    Case {
        sentence: "Created product prod_… “Images” of proj_…",
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
        form: "/catalog/PRODUCT/prices/PRICE",
        fields: &[("active", "")],
        method: "PATCH",
        path: "/products/PRODUCT/prices/PRICE",
        body: r#"{"active": false}"#,
    },
    Case {
        sentence: "Created webhook endpoint wh_… of proj_…: https://shop.example/ann",
        form: "/webhooks",
        fields: &[("url", "https://shop.example/ann")],
        method: "POST",
        path: "/webhooks",
        body: r#"{"url": "https://shop.example/ann"}"#,
    },
    Case {
        sentence: "Rotated the secret of webhook endpoint wh_… of proj_…",
        form: "/webhooks/ENDPOINT",
        fields: &[("action", "rotate")],
        method: "POST",
        path: "/webhooks/ENDPOINT/rotate-secret",
        body: "{}",
    },
    Case {
        sentence: "Changed webhook endpoint wh_…: active true -> false",
        form: "/webhooks/ENDPOINT",
        fields: &[("action", "off")],
        method: "PATCH",
        path: "/webhooks/ENDPOINT",
        body: r#"{"active": false}"#,
    },
    Case {
        sentence: "Deleted webhook endpoint wh_… of proj_…",
        form: "/webhooks/ENDPOINT",
        fields: &[("action", "delete")],
        method: "DELETE",
        path: "/webhooks/ENDPOINT",
        body: "",
    },
    Case {
        sentence: "Archived project proj_…",
        form: "/settings/archive",
        fields: &[("archived", "true")],
        method: "PATCH",
        path: "",
        body: r#"{"archived": true}"#,
    },
    Case {
        sentence: "Unarchived project proj_…",
        form: "/settings/archive",
        fields: &[("archived", "false")],
        method: "PATCH",
        path: "",
        body: r#"{"archived": false}"#,
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
        service.grant("ann", 100).await;
        let deduct = json!({"externalUserId": "ann", "amount": 60, "idempotencyKey": "d"});
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &deduct).await.expect(200);
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
        let names = vec![
            ("WALLET", ann.clone()),
            ("ANONYMOUS", anonymous),
            ("ENTRY", text(&ledger["entries"][0]["id"])),
            ("ENDPOINT", text(&endpoint["id"])),
            ("PRODUCT", service.product.clone()),
            ("PRICE", service.add_price(7).await),
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
        let path = format!(
            "/dashboard/projects/{}{}",
            self.service.project.id, case.form
        );
        let fields = case.fields.iter();
        let fields = fields.map(|(name, value)| (*name, self.named(value)));
        (self.named(&path), fields.collect())
    }

    async fn run(&self, case: &Case, way: Way) {
        let path = format!(
            "/projects/{}{}",
            self.service.project.id,
            self.named(case.path)
        );
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
        without_ids(log["entries"][0]["description"].as_str().unwrap())
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
            "/webhooks",
        ] {
            let project = self.service.project.id;
            let path = self.named(&format!("/api/admin/v1/projects/{project}{path}"));
            let mut view = self.admin.get(&path).await.expect(200);
            let keys = view["keys"].as_array_mut();
            for key in keys.into_iter().flatten() {
                let key = key.as_object_mut().unwrap();
                for random in ["first", "last", "key"] {
                    key.remove(random);
                }
            }
            all.push(without_ids(&view.to_string()));
        }
        all.join("\n")
    }
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

#[tokio::test]
async fn each_action_does_and_says_the_same_by_all_ways() {
    let mut expected: Option<Vec<String>> = None;
    for way in [Way::Dashboard, Way::AdminApi, Way::Terminal] {
        let shop = Shop::open().await;
        let mut states = Vec::new();
        for case in CASES {
            let before = shop.state().await;
            shop.run(case, way).await;
            assert_eq!(shop.sentence().await, case.sentence, "{way:?}");
            let after = shop.state().await;
            let is_seen = !case.sentence.starts_with("Erased")
                && !case.sentence.starts_with("Replaced")
                && !case.sentence.starts_with("Rotated");
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
async fn nobody_does_what_their_role_does_not_allow_by_an_edited_address() {
    let shop = Shop::open().await;
    let viewer = person(&shop.service, new("Vic", Role::Viewer)).await;
    let viewer = signed_in(&shop.service, &viewer).await;
    let before = (shop.state().await, shop.sentence().await);
    for case in CASES {
        let (path, fields) = shop.form(case);
        let mut fields: Vec<_> = fields.iter().map(|(name, it)| (*name, &**it)).collect();
        fields.push(("confirmed", "on"));
        let page = viewer.post(&path, &fields).await;
        assert_eq!(page.status, 403, "{}: {}", case.sentence, page.html);
    }
    assert_eq!((shop.state().await, shop.sentence().await), before);
}
