//! Mails to customers as aiosmtpd takes them and Python's parser reads them: their form, and what a server may answer.

use std::{
    io::{BufRead as _, BufReader, Lines},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use domain::catalog::{MailKind, MailLocale};
use kit::{Launch, Server, client::Client, service::Service};
use scrip::{
    catalog::{ProductChange, ProjectChange},
    config::{Config, PublicUrl},
};
use serde_json::{Value, json};

use crate::node::folder;

/// The server, which ends with the test.
struct MailServer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl MailServer {
    fn start(certificate: &[&Path]) -> Self {
        let python = folder().join("venv/bin/python");
        assert!(
            python.exists(),
            "the Python packages of the external tests are not there: scripts/setup sets it up"
        );
        let mut command = Command::new(python);
        command
            .arg("mails.py")
            .args(certificate)
            .current_dir(folder());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        Self { child, lines, port }
    }

    /// The next mail that it took, whose form is checked.
    fn next(&mut self) -> Value {
        let mail: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
        let kinds = json!(["multipart/alternative", "text/plain", "text/html"]);
        assert_eq!(mail["kinds"], kinds, "{mail}");
        assert_eq!(mail["charsets"], json!(["utf-8", "utf-8"]), "{mail}");
        assert_eq!(mail["defects"], json!([]), "{mail}");
        assert_eq!(mail["repeated"], json!([]), "{mail}");
        assert!(mail["longest"].as_u64().unwrap() <= 998, "{mail}");
        mail
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn settings(config: &mut Config, url: &str) {
    let mail = json!({"files": false, "smtp_url": url, "from": "Scrip <shop@shop.example>"});
    config.mail = serde_json::from_value(mail).unwrap();
    config.public_url = PublicUrl::parse("https://pay.example");
}

/// Gives a user this address, and then a low balance.
async fn run_low(secret: &Client, product: &str, user: &str, email: &str) {
    let address = json!({"externalUserId": user, "email": email});
    secret
        .patch("/api/v1/wallets/external", &address)
        .await
        .expect(200);
    let grant =
        json!({"externalUserId": user, "productId": product, "amount": 60, "idempotencyKey": user});
    secret.post("/api/v1/credit", &grant).await.expect(200);
    let deduct =
        json!({"externalUserId": user, "productId": product, "amount": 20, "idempotencyKey": user});
    let path = "/api/v1/wallets/external/deduct";
    secret.post(path, &deduct).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pythons_own_server_takes_and_reads_mails() {
    let mut server = MailServer::start(&[]);
    let url = format!("smtp://127.0.0.1:{}", server.port);
    let service = Service::with(|config| settings(config, &url)).await;
    let project = service.project.id;
    let low = ProductChange {
        low_balance: Some(Some(50)),
        ..ProductChange::default()
    };
    let product = service.product.parse().unwrap();
    service
        .catalog
        .update_product(project, product, low)
        .await
        .unwrap();
    let mut change = ProjectChange::default();
    change.mails.low_balance = Some(true);
    change.mails.locale = Some(MailLocale::Fr);
    change.mails.name = Some(Some("Café “Zoé” 😀, <b>".into()));
    change.mails.footer = Some(Some(format!("Rue 1\n.\n..\n{}", "long ".repeat(150))));
    service.set(change).await;
    let send = async || while service.customer_mails.round().await {};
    let secret = &service.secret;
    for (user, email) in [
        ("ann", "ann@käse.example"),
        ("nobody", "nobody@mail.example"),
        ("blocked", "blocked@mail.example"),
        ("full", "full@mail.example"),
        ("busy", "busy@mail.example"),
        ("cut", "cut@mail.example"),
    ] {
        run_low(secret, &service.product, user, email).await;
        send().await;
        service.clock.advance_millis(10_000);
    }
    let mail = server.next();
    assert_eq!(mail["to"], json!(["ann@xn--kse-qla.example"]));
    assert_eq!(mail["from"], "shop@shop.example");
    let headers = &mail["headers"];
    let from = headers["From"].as_str().unwrap();
    assert!(
        from.contains("Café “Zoé” 😀, <b>") && from.ends_with("<shop@shop.example>"),
        "{from}"
    );
    assert_eq!(headers["Subject"], "Votre solde Render credits est bas");
    assert_eq!(
        headers["List-Unsubscribe-Post"],
        "List-Unsubscribe=One-Click"
    );
    let link = headers["List-Unsubscribe"].as_str().unwrap();
    assert!(
        link.starts_with("<https://pay.example/mails/proj_") && link.ends_with('>'),
        "{link}"
    );
    let text = mail["text"].as_str().unwrap().replace("\r\n", "\n");
    assert!(
        text.starts_with("Il vous reste 40 renders pour Render credits."),
        "{text}"
    );
    assert!(text.contains("\nRue 1\n.\n..\nlong long"), "{text}");
    assert!(text.contains(link.trim_matches(['<', '>'])), "{text}");
    let html = mail["html"].as_str().unwrap();
    assert!(html.contains("Café “Zoé” 😀, &lt;b&gt;</p>"), "{html}");
    let report = service.customer_mails.report(project);
    assert_eq!((report.waiting, report.failed.len()), (2, 3), "{report:?}");
    assert!(
        report
            .failed
            .iter()
            .all(|mail| mail.kind == MailKind::LowBalance)
    );
    let suppressed = service.customer_mails.suppressions(project).await.unwrap();
    let codes: Vec<_> = suppressed.iter().map(|(_, it)| it.no_mailbox).collect();
    assert_eq!(codes, [Some(550)]);
    service.clock.advance_millis(60_000);
    send().await;
    let mut to =
        [server.next(), server.next()].map(|mail| mail["to"][0].as_str().unwrap().to_owned());
    to.sort();
    assert_eq!(to, ["busy@mail.example", "cut@mail.example"]);
    assert_eq!(service.customer_mails.report(project).waiting, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_said_before_starttls_where_it_is_required() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut server = MailServer::start(&[&certificate, &key]);
    let url = format!("smtp://localhost:{}?tls=required", server.port);
    let launch = Launch::default()
        .env("SCRIP_MAIL_SMTP_URL", &url)
        .env("SSL_CERT_FILE", certificate.to_str().unwrap());
    let process = Server::launch(launch).await;
    let admin = process.admin();
    let mails = json!({"mails": {"lowBalance": true}});
    admin
        .patch(&process.project_path(), &mails)
        .await
        .expect(200);
    let product = format!("{}/products/{}", process.project_path(), process.product());
    admin
        .patch(&product, &json!({"lowBalance": 50}))
        .await
        .expect(200);
    run_low(
        &process.client(),
        process.product(),
        "ann",
        "ann@mail.example",
    )
    .await;
    let mail = tokio::task::spawn_blocking(move || server.next())
        .await
        .unwrap();
    assert_eq!(
        (&mail["tls"], &mail["to"]),
        (&json!(true), &json!(["ann@mail.example"]))
    );
}
