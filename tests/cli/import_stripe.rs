//! `scrip import --from stripe`: what it announces, what it does, and that it does it only once.

use std::process::Output;

use kit::{
    Launch, Server,
    stripe::{self, Stripe},
};
use serde_json::{Value, json};

use crate::run;

/// A server, and a Stripe account with subscriptions that have run for some time.
struct Migration {
    server: Server,
    stripe: Stripe,
    tier: String,
}

impl Migration {
    async fn open() -> Self {
        let stripe = Stripe::start().await;
        let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
        let server = Server::launch(launch).await;
        server.set_provider(&stripe::provider()).await;
        let admin = server.admin();
        let products = format!("{}/products", server.project_path());
        let product = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let product = admin.post(&products, &product).await.expect(201);
        let prices = format!("{products}/{}/prices", product["id"].as_str().unwrap());
        let tier = json!({
            "amountCents": 900, "currency": "EUR", "creditsGranted": 100, "interval": "month",
        });
        let tier = admin.post(&prices, &tier).await.expect(201);
        let migration = Self {
            server,
            stripe,
            tier: tier["id"].as_str().unwrap().to_owned(),
        };
        migration.runs("sub_ann", "active", "ann", ("price_old", 900));
        migration.runs("sub_bea", "past_due", "bea", ("price_old", 900));
        migration.runs("sub_cleo", "active", "cleo", ("price_less", 700));
        migration.runs("sub_nobody", "active", "", ("price_old", 900));
        migration
    }

    fn runs(&self, id: &str, status: &str, user: &str, (name, cents): (&str, i64)) {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        let customer = format!("cus_of_{id}");
        let theirs = json!({"id": customer, "object": "customer", "metadata": {"user": user}});
        self.stripe
            .put(&format!("/v1/customers/{customer}"), theirs);
        let price = json!({"id": name, "object": "price", "product": "prod_old",
            "active": true, "currency": "eur", "unit_amount": cents, "metadata": {},
            "recurring": {"interval": "month", "interval_count": 1}});
        self.stripe
            .put(&format!("/v1/prices/{name}"), price.clone());
        let subscription = json!({"id": id, "object": "subscription", "customer": customer,
            "status": status, "currency": "eur", "created": now - 90 * 86_400, "metadata": {},
            "items": {"object": "list", "data": [{"price": price, "quantity": 1,
                "current_period_start": now - 86_400, "current_period_end": now + 29 * 86_400}]}});
        self.stripe
            .put(&format!("/v1/subscriptions/{id}"), subscription);
    }

    async fn import(&self, words: &[&str]) -> Output {
        let mut command = self.server.command(&["import", "--from", "stripe"]);
        for theirs in ["price_old", "price_less"] {
            let pair = format!("{theirs}={}", self.tier);
            command.args(["--price", &pair]);
        }
        command.args(words);
        let run = tokio::task::spawn_blocking(move || command.output().expect("it starts"));
        run.await.unwrap()
    }

    fn written(&self) -> usize {
        let calls = self.stripe.calls("/v1/subscriptions/sub_ann");
        calls.iter().filter(|call| call.method == "POST").count()
    }

    async fn wallet(&self, user: &str) -> Value {
        let path = format!("/api/v1/wallets/external?externalUserId={user}");
        self.server.client().get(&path).await.body
    }
}

/// The row of a subscription in the printed table.
fn row(output: &Output, id: &str) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = text.lines().find(|line| line.starts_with(id));
    row.unwrap_or_else(|| panic!("no {id} in {text}"))
        .to_owned()
}

#[tokio::test]
async fn it_says_what_it_would_do_then_does_it_and_does_it_once() {
    let migration = Migration::open().await;
    let by = ["--user-metadata", "user"];
    let dry = migration.import(&by).await;
    assert!(dry.status.success(), "{dry:?}");
    for (id, word) in [
        ("sub_ann", "would be taken over"),
        ("sub_bea", "skipped: it is not paid up"),
        (
            "sub_cleo",
            "skipped: Stripe charges 700 EUR a month, and this price 900 EUR a month",
        ),
        ("sub_nobody", "skipped: its user is unknown"),
    ] {
        let row = row(&dry, id);
        assert!(row.contains(word), "{row}");
    }
    let output = String::from_utf8_lossy(&dry.stdout).into_owned();
    assert!(output.contains("nothing was changed"), "{output}");
    let json = migration.import(&[&by[..], &["--json"]].concat()).await;
    let report: Value = serde_json::from_slice(&json.stdout).expect("JSON alone");
    let all = report["subscriptions"].as_array().expect("subscriptions");
    let ann = all.iter().find(|of| of["subscription"] == "sub_ann");
    assert_eq!(ann.expect("Ann's")["result"], "would be taken over");
    assert_eq!(report["takenOver"], 0);
    assert_eq!(migration.written(), 0);

    for (word, last) in [
        ("taken over", "1 were taken over"),
        ("already taken over", "0 were taken over"),
    ] {
        let done = migration.import(&[&by[..], &["--apply"]].concat()).await;
        assert!(done.status.success(), "{done:?}");
        assert!(row(&done, "sub_ann").ends_with(word), "{done:?}");
        let output = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(output.trim_end().ends_with(last), "{output}");
        assert_eq!(migration.wallet("ann").await["balances"][0]["balance"], 100);
        assert_eq!(migration.wallet("cleo").await["code"], "wallet_not_found");
        assert_eq!(migration.written(), 1);
    }
}

#[tokio::test]
async fn it_says_what_it_needs_and_takes_users_from_a_file() {
    let migration = Migration::open().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.csv");
    std::fs::write(&file, "customer,external_user_id\ncus_of_sub_nobody,dora\n").unwrap();
    let by_file = migration.import(&["--users", file.to_str().unwrap()]).await;
    assert!(row(&by_file, "sub_nobody").contains("would be taken over"));
    assert!(row(&by_file, "sub_ann").contains("skipped: its user is unknown"));
    let whose = migration.import(&[]).await;
    assert_eq!(whose.status.code(), Some(1));
    let output = String::from_utf8_lossy(&whose.stderr).into_owned();
    assert!(output.contains("--users USERS.CSV"), "{output}");
    let help = crate::all_output(&run(&["import", "--help"]));
    let first = help.lines().take(3).collect::<Vec<_>>().join(" ");
    assert!(first.contains("Stripe") && first.contains("CSV"), "{help}");
}
