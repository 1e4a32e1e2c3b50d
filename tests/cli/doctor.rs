//! `scrip doctor`: its findings, its advice, and its exit status.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use kit::{
    Launch, Server,
    launch::{ADMIN_TOKEN, binary},
    stripe::{self, Override, Stripe},
};
use serde_json::{Value, json};

/// A doctor command without settings from the environment.
fn doctor(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .arg("doctor")
        .arg("--data-dir")
        .arg(data)
        .args(words);
    command.env_remove("SCRIP_ADMIN_TOKEN");
    command
}

/// The findings of one check in its report, and whether the command succeeded.
fn of(output: &Output, check: &str) -> (Vec<Value>, bool) {
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| finding["check"] == check);
    let ok = report["ok"].as_bool().unwrap();
    assert_eq!(output.status.success(), ok);
    (findings.cloned().collect(), ok)
}

fn one(output: &Output, check: &str) -> Value {
    let (findings, _) = of(output, check);
    assert_eq!(findings.len(), 1, "{check}: {findings:?}");
    findings[0].clone()
}

#[test]
fn a_bad_configuration_is_the_first_thing_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    std::fs::write(&file, "[journal]\ncache = 1\n").unwrap();
    let output = doctor(folder.path(), &["--config", file.to_str().unwrap()]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("FAILURE  configuration"), "{text}");
    assert!(text.contains("unknown key `journal.cache`"), "{text}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("1 of 1 checks failed"), "{errors}");
}

#[test]
fn a_machine_without_a_server_is_examined_and_nothing_is_made_on_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().join("data");
    // Nothing listens there.
    let words = ["--json", "--url", "http://127.0.0.1:1"];
    let mut command = doctor(&data, &words);
    command.env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:1");
    let output = command.output().unwrap();
    assert_eq!(one(&output, "data")["status"], "warning");
    assert_eq!(one(&output, "durability")["status"], "ok");
    let speed = one(&output, "disk speed");
    assert!(
        speed["message"].as_str().unwrap().contains("a sync takes"),
        "{speed}"
    );
    assert_eq!(one(&output, "server")["status"], "failure");
    assert_eq!(one(&output, "mail")["status"], "warning");
    assert!(
        !output.status.success(),
        "as after an upgrade that did not start"
    );
    let clock = one(&output, "clock");
    assert_eq!(clock["status"], "warning", "{clock}");
    assert!(
        clock["message"].as_str().unwrap().contains("not compared"),
        "{clock}"
    );
    assert!(!data.exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_server_key_that_others_can_read_is_a_failure_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("server.key");
    std::fs::write(&key, "07".repeat(32)).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let words = ["--json", "--url", "http://127.0.0.1:1"];
    let mut command = doctor(folder.path(), &words);
    command.env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:1");
    let output = command.output().unwrap();
    let found = one(&output, "server key");
    assert_eq!(found["status"], "failure");
    let advice = found["advice"].as_str().unwrap();
    assert_eq!(advice, format!("chmod 600 {}", key.display()));
    assert!(!output.status.success());
}

#[test]
fn a_certificate_that_has_ended_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["pay.example".into()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2025, 12, 31);
    let signing = rcgen::KeyPair::generate().unwrap();
    let cert = params.self_signed(&signing).unwrap();
    let [cert_file, key_file] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    std::fs::write(&cert_file, cert.pem()).unwrap();
    std::fs::write(&key_file, signing.serialize_pem()).unwrap();
    let words = ["--json", "--url", "http://127.0.0.1:1"];
    let mut command = doctor(&folder.path().join("data"), &words);
    command
        .env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:1")
        .env("SCRIP_HTTP_TLS_CERT", &cert_file)
        .env("SCRIP_HTTP_TLS_KEY", &key_file);
    let output = command.output().unwrap();
    // The key is readable by all, as this process creates files.
    let tls = one(&output, "TLS");
    assert_eq!(tls["status"], "warning");
    assert!(
        tls["message"].as_str().unwrap().contains("can read"),
        "{tls}"
    );
    let found = one(&output, "certificate");
    assert_eq!(found["status"], "failure", "{found}");
    let message = found["message"].as_str().unwrap();
    assert_eq!(
        message,
        "the certificate in http.tls_cert expired on 2025-12-31"
    );
    assert!(!output.status.success());
}

// The double of Stripe answers while the command runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_lacks_a_permission_or_works_no_more_is_found() {
    let stripe = Stripe::start().await;
    let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
    let server = Server::launch(launch).await;
    server.set_provider(&stripe::provider()).await;
    let base = server.instance().base();
    let examine = || {
        let mut command = doctor(server.data_dir(), &["--json", "--url", base]);
        command
            .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("SCRIP_PUBLIC_URL", base)
            // Any server that sends a `Date`.
            .env("SCRIP_STRIPE_API_BASE", base);
        command.output().unwrap()
    };
    let well = examine();
    assert_eq!(one(&well, "backups")["status"], "warning");
    for check in [
        "data",
        "server key",
        "server",
        "public address",
        "providers",
        "clock",
    ] {
        let found = one(&well, check);
        assert_eq!(found["status"], "ok", "{found}");
    }
    assert!(well.status.success());

    let message = "Having the 'rak_dispute_read' permission would allow this request to continue.";
    let lacks = json!({"error": {
        "type": "invalid_request_error", "code": "more_permissions_required", "message": message,
    }});
    stripe.from_now_on("/v1/disputes", Override::Status(403, lacks));
    let output = examine();
    let found = one(&output, "providers");
    assert_eq!(found["status"], "warning", "{found}");
    let message = found["message"].as_str().unwrap();
    assert!(message.ends_with("lacks rak_dispute_read"), "{message}");
    let advice = found["advice"].as_str().unwrap();
    assert!(
        advice.contains("permissions[]=rak_dispute_read"),
        "{advice}"
    );
    assert!(output.status.success(), "the rest goes on");
    stripe.as_usual();

    let refusal = json!({"error": {
        "type": "invalid_request_error", "message": "Expired API Key provided",
    }});
    for _ in 0..50 {
        stripe.instead("/v1/events", Override::Status(401, refusal.clone()));
    }
    let found = one(&examine(), "providers");
    assert_eq!(found["status"], "failure");
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("Expired API Key provided"), "{message}");
    assert!(message.contains(&server.project().id), "{message}");
    assert!(!message.contains(stripe::SECRET_KEY), "{message}");
}

/// What it finds of a database and its cluster: the status of each check.
fn examined(database: &postgres_kit::Postgres, name: &str, check: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--json", "--url", "http://127.0.0.1:1"];
    let mut command = doctor(&folder.path().join("data"), &words);
    command
        .env("SCRIP_STRIPE_API_BASE", "http://127.0.0.1:1")
        .env("SCRIP_STORAGE_URL", database.url(name));
    let found = one(&command.output().unwrap(), check);
    let message =
        [&found["message"], &found["advice"]].map(|text| text.as_str().unwrap_or_default());
    (found["status"].clone(), message.join(" "))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_could_lose_what_it_acknowledged_is_found() {
    let database = postgres_kit::Postgres::start();
    let name = database.create_database();
    let (status, text) = examined(&database, &name, "database");
    assert_eq!(status, "ok");
    assert!(text.contains("no TLS"), "{text}");
    assert_eq!(examined(&database, &name, "database clock").0, "ok");
    assert_eq!(examined(&database, &name, "standby").0, "warning");
    assert!(examined(&database, &name, "cluster").1.contains("none yet"));
    let standby = database.add_standby(false);
    let (status, text) = examined(&database, &name, "standby");
    assert_eq!(status, "failure");
    assert!(text.contains("lose acknowledged deductions"), "{text}");
    drop(standby);
    let _standby = database.add_standby(true);
    assert_eq!(examined(&database, &name, "standby").0, "ok");

    let launch = Launch::default().env("SCRIP_STORAGE_URL", database.url(&name));
    let server = Server::launch(launch).await;
    kit::deadline::until("it leads", kit::deadline::SOON, || {
        let (status, text) = examined(&database, &name, "cluster");
        (status == "warning" && text.contains("only one process")).then_some(())
    })
    .await;
    kit::deadline::until("no snapshot is noticed", kit::deadline::SOON, || {
        database.psql_in(&name, "DELETE FROM scrip.snapshot");
        (examined(&database, &name, "snapshots").0 == "warning").then_some(())
    })
    .await;
    drop(server);
    database.set("full_page_writes", "off");
    let (status, text) = examined(&database, &name, "database");
    assert_eq!(status, "failure");
    assert!(text.contains("full_page_writes"), "{text}");
    database.kill();
    assert_eq!(examined(&database, &name, "database").0, "failure");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_that_pays_for_two_subscriptions_to_one_product_is_named() {
    let mut server = Server::start().await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let (admin, products) = (
        server.admin(),
        format!("{}/products", server.project_path()),
    );
    let plan = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
    let product = admin.post(&products, &plan).await.expect(201);
    let prices = format!("{products}/{}/prices", product["id"].as_str().unwrap());
    let tier =
        json!({"amountCents": 900, "currency": "EUR", "interval": "month", "creditsGranted": 5});
    let price = admin.post(&prices, &tier).await.expect(201);
    let mut checkouts = Vec::new();
    for _ in 0..2 {
        let request = json!({"priceId": price["id"], "externalUserId": "ann"});
        let opened = server.client().post("/api/v1/checkout", &request).await;
        checkouts.push(opened.expect(200)["url"].as_str().unwrap().to_owned());
    }
    for url in checkouts {
        let paid = kit::client::plain_http().post(format!("{url}/pay"));
        assert!(paid.send().await.unwrap().status().is_success());
    }
    let found = |server: &Server| {
        let base = server.instance().base();
        let mut command = doctor(server.data_dir(), &["--json"]);
        let output = command
            .env("SCRIP_URL", base)
            .env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        let mut about = all.into_iter().filter(|of| of["check"] == "subscriptions");
        about.next()
    };
    let wallet = "/api/v1/wallets/external?externalUserId=ann";
    let wallet = server.client().get(wallet).await.expect(200);
    // It is noted for good.
    for restart in [false, true] {
        if restart {
            server.restart().await;
        }
        let named = found(&server).unwrap();
        assert_eq!(named["status"], "warning");
        let message = named["message"].as_str().unwrap();
        assert!(
            message.contains(wallet["walletId"].as_str().unwrap()),
            "{message}"
        );
        for known in wallet["subscriptions"].as_array().unwrap() {
            assert!(message.contains(known["id"].as_str().unwrap()), "{message}");
        }
    }
    let one = &wallet["subscriptions"][0]["id"];
    let body = json!({"externalUserId": "ann", "subscriptionId": one, "idempotencyKey": "k"});
    let canceled = server
        .client()
        .post("/api/v1/subscriptions/cancel", &body)
        .await;
    canceled.expect(200);
    assert_eq!(found(&server), None);
}
