//! Mails to a project's customers: one for each crossing, also when the mail server or the service fails in between.

use std::time::Duration;

use domain::catalog::{MailChange, MailKind, MailLocale, ProductType};
use kit::smtp::{Behaviour, MailServer, ReceivedMail};
use reqwest::Method;
use scrip::{
    catalog::{NewProduct, NewProject, ProductChange, ProjectChange},
    config::Config,
    outbound::customer_mail::MailReport,
};
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply, plain_http},
    sandbox_shop::{DAY, HOUR, SandboxShop},
    service::{ADMIN_TOKEN, assert_invalid},
};

/// A shop that mails all kinds, and the server that takes its mails.
struct MailingShop {
    shop: SandboxShop,
    server: MailServer,
}

fn settings(config: &mut Config, url: &str) {
    let mail = json!({"files": false, "smtp_url": url, "from": "Scrip <shop@shop.example>"});
    config.mail = serde_json::from_value(mail).unwrap();
}

impl MailingShop {
    async fn open(manners: &[Behaviour]) -> Self {
        let server = MailServer::start(manners).await;
        let url = server.url();
        let shop = SandboxShop::with(|config| settings(config, &url)).await;
        let all = Self { shop, server };
        let low = ProductChange {
            low_balance: Some(Some(50)),
            ..ProductChange::default()
        };
        let (project, product) = (all.shop.service.project.id, &all.shop.service.product);
        let changed =
            all.shop
                .service
                .catalog
                .update_product(project, product.parse().unwrap(), low);
        changed.await.unwrap();
        all.set(
            json!({"lowBalance": true, "topUpFailed": true, "limitReached": true, "receipt": true}),
        )
        .await
        .expect(200);
        // Its buyer's address is known from here on.
        all.buy("ann").await;
        let mut all = all;
        all.server.next().await;
        all
    }

    /// Changes the settings of mails over the admin API.
    async fn set(&self, mails: Value) -> Reply {
        self.admin(Method::PATCH, "", json!({"mails": mails})).await
    }

    async fn admin(&self, method: Method, path: &str, body: Value) -> Reply {
        let service = &self.shop.service;
        let path = format!("/api/admin/v1/projects/{}{path}", service.project.id);
        let admin = Client::new(&service.base, ADMIN_TOKEN);
        Client::send(admin.request(method, &path).json(&body))
            .await
            .unwrap()
    }

    /// Asks without a key, as mail programs do (RFC 8058).
    async fn press(&self, method: Method, path: &str) -> (u16, String) {
        let url = format!("{}{path}", self.shop.service.base);
        let request = plain_http().request(method, url);
        let kind = "application/x-www-form-urlencoded";
        let request = request
            .header("content-type", kind)
            .body("List-Unsubscribe=One-Click");
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Sends all that is due.
    async fn send(&self) {
        while self.shop.service.customer_mails.round().await {}
    }

    async fn buy(&self, user: &str) {
        let name: String = user.chars().filter(char::is_ascii_alphanumeric).collect();
        let fields =
            json!({"externalUserId": user, "customerEmail": format!("{name}@mail.example")});
        let checkout = self.shop.checkout(fields).await;
        self.shop.press(&checkout, "pay").await;
        assert_eq!(self.shop.order(&checkout).await["status"], "paid");
        self.send().await;
    }

    async fn deduct(&self, user: &str, amount: i64, key: &str) -> Reply {
        let service = &self.shop.service;
        let body = json!({
            "externalUserId": user, "productId": service.product, "amount": amount, "idempotencyKey": key,
        });
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await
    }

    /// Spends until 30 credits are left, which is low.
    async fn run_low(&self, user: &str, key: &str) {
        let [balance, ..] = self.shop.service.position(user).await;
        self.deduct(user, balance - 30, key).await.expect(200);
        self.send().await;
    }

    fn report(&self) -> MailReport {
        let service = &self.shop.service;
        service.customer_mails.report(service.project.id)
    }

    async fn later(&self, seconds: i64) {
        self.shop.service.clock.advance_millis(seconds * 1000);
        self.send().await;
    }

    /// The same after a crash.
    async fn restarted(self) -> Self {
        let url = self.server.url();
        let service = self
            .shop
            .service
            .again(|config| settings(config, &url))
            .await;
        let shop = SandboxShop {
            service,
            ..self.shop
        };
        Self { shop, ..self }
    }
}

/// The part of a mail with this media type, decoded.
fn part(mail: &ReceivedMail, kind: &str) -> String {
    let kind_of_all = mail.header("Content-Type").unwrap();
    let (_, boundary) = kind_of_all.split_once("boundary=\"").unwrap();
    let boundary = boundary.split('"').next().unwrap();
    let (_, body) = mail.data.split_once("\r\n\r\n").unwrap();
    let boundary = format!("--{boundary}");
    let parts = body.split(&boundary);
    let mut parts = parts.filter(|part| part.contains(&format!("Content-Type: {kind}")));
    let part = parts.next().unwrap().trim_start();
    let data = part.replace("\r\n\r\n--", "");
    let coding = data.contains("base64");
    assert!(!coding, "{data}");
    let part = ReceivedMail {
        data,
        ..mail.clone()
    };
    part.body().replace("\r\n", "\n")
}

fn link(mail: &ReceivedMail) -> String {
    let header = mail.header("List-Unsubscribe").unwrap();
    let link = header.trim_start_matches('<').trim_end_matches('>');
    link[link.find("/mails/").unwrap()..].to_owned()
}

#[tokio::test]
async fn a_low_balance_is_mailed_once_for_each_crossing() {
    let mut shop = MailingShop::open(&[]).await;
    shop.deduct("ann", 10, "a").await.expect(200);
    shop.send().await;
    assert_eq!(shop.server.arrived(), None, "it is not low yet");
    shop.run_low("ann", "b").await;
    let mail = shop.server.next().await;
    assert_eq!(mail.to, ["ann@mail.example"]);
    assert_eq!(mail.from, "shop@shop.example");
    assert_eq!(mail.header("From").unwrap(), "Demo <shop@shop.example>");
    assert_eq!(
        mail.header("Subject").unwrap(),
        "Your Render credits balance is low"
    );
    assert_eq!(mail.header("Auto-Submitted").unwrap(), "auto-generated");
    let text = part(&mail, "text/plain");
    assert!(
        text.contains("You have 30 renders left for Render credits."),
        "{text}"
    );
    assert!(
        text.contains("each time your balance falls to 50."),
        "{text}"
    );
    assert!(
        part(&mail, "text/html").contains("<p style=\"margin:0 0 16px\">You have 30 renders left")
    );
    shop.deduct("ann", 5, "c").await.expect(200);
    shop.later(1).await;
    assert_eq!(shop.server.arrived(), None, "it was low before");
    shop.buy("ann").await;
    assert_eq!(
        shop.server.next().await.header("Subject").unwrap(),
        "Your receipt from Demo"
    );
    shop.run_low("ann", "d").await;
    let again = shop.server.next().await;
    assert_ne!(again.header("Message-ID"), mail.header("Message-ID"));
    assert_eq!(shop.server.arrived(), None);
}

#[tokio::test]
async fn a_receipt_leads_to_the_providers_pages_in_the_projects_language() {
    let mut shop = MailingShop::open(&[]).await;
    shop.set(json!({"locale": "de", "name": "Käse & Söhne", "replyTo": "help@shop.example", "color": "#aa0011", "footer": "Käse & Söhne\nHauptstraße 1"})).await.expect(200);
    shop.buy("bob").await;
    let mail = shop.server.next().await;
    assert_eq!(mail.to, ["bob@mail.example"]);
    assert!(
        mail.header("From").unwrap().starts_with("=?utf-8?"),
        "{}",
        mail.data
    );
    assert_eq!(mail.header("Reply-To").unwrap(), "help@shop.example");
    let text = part(&mail, "text/plain");
    for said in [
        "Vielen Dank für Ihre Zahlung.",
        "Render credits, 5,00\u{a0}EUR",
        "Bezahlt am 18.11.2026",
        "100 renders wurden gutgeschrieben",
        "Beleg: http",
        "Hauptstraße 1",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let html = part(&mail, "text/html");
    for said in [
        "<html lang=\"de\">",
        "border-bottom:3px solid #aa0011",
        "Käse &amp; Söhne",
        "/receipts/",
    ] {
        assert!(html.contains(said), "{said}: {html}");
    }
    assert_eq!(mail.header("List-Unsubscribe"), None, "it proves a payment");
}

#[tokio::test]
async fn a_limit_that_refuses_is_mailed_once_in_its_window() {
    let mut shop = MailingShop::open(&[]).await;
    let limits = json!({"externalUserId": "ann", "limits": [{"scope": "wallet", "amount": 5, "window": "day", "alertsAt": [50]}]});
    let path = "/api/v1/wallets/external/limits";
    let request = shop
        .shop
        .service
        .secret
        .request(Method::PUT, path)
        .json(&limits);
    Client::send(request).await.unwrap().expect(200);
    shop.deduct("ann", 4, "a").await.expect(200);
    shop.send().await;
    assert_eq!(shop.server.arrived(), None, "an alert is for the project");
    for key in ["b", "c"] {
        shop.deduct("ann", 4, key).await;
        shop.send().await;
    }
    let mail = shop.server.next().await;
    let text = part(&mail, "text/plain");
    assert!(
        text.contains("The limit of 5 credits per day is used up"),
        "{text}"
    );
    assert!(
        text.contains("It begins again on 19 November 2026, 00:00 UTC."),
        "{text}"
    );
    assert_eq!(shop.server.arrived(), None);
}

#[tokio::test]
async fn nothing_is_sent_that_was_not_switched_on() {
    let mut shop = MailingShop::open(&[]).await;
    let off =
        json!({"lowBalance": false, "topUpFailed": false, "limitReached": false, "receipt": false});
    shop.set(off).await.expect(200);
    shop.buy("ann").await;
    shop.run_low("ann", "a").await;
    shop.set(json!({"receipt": true})).await.expect(200);
    shop.send().await;
    assert_eq!(shop.server.arrived(), None, "it happened before");
    shop.buy("ann").await;
    assert_eq!(
        shop.server.next().await.header("Subject").unwrap(),
        "Your receipt from Demo"
    );
    shop.run_low("ann", "b").await;
    assert_eq!(shop.server.arrived(), None);
    // A kind begins when it is switched on: while another was on, and again after it was off.
    for (key, switches) in [("c", &[true][..]), ("e", &[false, true][..])] {
        shop.buy("ann").await;
        shop.server.next().await;
        shop.deduct("ann", 100, key).await.expect(200);
        for low_balance in switches {
            let set = json!({"lowBalance": low_balance});
            shop.set(set).await.expect(200);
        }
        shop.send().await;
        assert_eq!(shop.server.arrived(), None, "{key}");
    }
    // Nobody knows where this user is reached.
    shop.shop.service.grant("carol", 60).await;
    shop.run_low("carol", "d").await;
    assert_eq!(shop.server.arrived(), None);
}

#[tokio::test]
async fn one_click_unsubscribes_from_one_kind_and_looking_at_the_link_does_not() {
    let mut shop = MailingShop::open(&[]).await;
    shop.run_low("ann", "a").await;
    let mail = shop.server.next().await;
    let path = link(&mail);
    assert!(part(&mail, "text/plain").contains(&path));
    let (status, page) = shop.press(Method::GET, &path).await;
    assert!(
        status == 200 && page.contains("<form method=\"post\""),
        "{page}"
    );
    let forged = format!("{path}A");
    assert_eq!(shop.press(Method::POST, &forged).await.0, 404);
    shop.buy("ann").await;
    shop.run_low("ann", "b").await;
    assert_eq!(shop.server.next().await.header("List-Unsubscribe"), None);
    shop.server.next().await;
    let (status, page) = shop.press(Method::POST, &path).await;
    assert!(
        status == 200 && page.contains("You are unsubscribed"),
        "{page}"
    );
    shop.buy("ann").await;
    shop.run_low("ann", "c").await;
    let subject = shop.server.next().await.header("Subject");
    assert_eq!(subject.unwrap(), "Your receipt from Demo");
    assert_eq!(shop.server.arrived(), None);
    // It is known after a restart, and taken back by who did it.
    let mut shop = shop.restarted().await;
    shop.buy("ann").await;
    shop.server.next().await;
    shop.run_low("ann", "d").await;
    assert_eq!(shop.server.arrived(), None);
    let again = path.replace("/unsubscribe/", "/subscribe/");
    assert_eq!(shop.press(Method::GET, &again).await.0, 405);
    assert_eq!(shop.press(Method::POST, &again).await.0, 200);
    shop.buy("ann").await;
    shop.server.next().await;
    shop.run_low("ann", "e").await;
    shop.server.next().await;
}

#[tokio::test]
async fn an_address_that_does_not_exist_gets_no_more_mails_until_an_operator_says_so() {
    let mut shop = MailingShop::open(&[
        Behaviour::Accept,
        Behaviour::Reject("550-5.1.1 <ann@mail.example>\r\n550 5.1.1 nobody here"),
    ])
    .await;
    shop.run_low("ann", "a").await;
    shop.buy("ann").await;
    assert_eq!(
        (shop.server.arrived(), shop.server.connections()),
        (None, 2)
    );
    let service = &shop.shop.service;
    let project = service.project.id;
    let [failed] = shop.report().failed.try_into().unwrap();
    assert_eq!((failed.kind, failed.attempts), (MailKind::LowBalance, 1));
    assert!(!failed.error.contains("ann@"), "{}", failed.error);
    let [(key, _)] = service
        .customer_mails
        .suppressions(project)
        .await
        .unwrap()
        .try_into()
        .unwrap();
    let shop = shop.restarted().await;
    shop.buy("ann").await;
    assert_eq!(shop.server.connections(), 2);
    let mails = &shop.shop.service.customer_mails;
    assert!(mails.resume(project, key).await.unwrap());
    assert!(!mails.resume(project, key).await.unwrap());
    shop.buy("ann").await;
    assert_eq!(shop.server.connections(), 3);
}

#[tokio::test]
async fn refusals_that_are_not_about_the_address_suppress_nobody() {
    for (line, retries) in [
        ("550 5.7.1 blocked", false),
        ("550 5.1.8 your domain", false),
        ("552 5.2.2 full", false),
        ("550 relay not permitted", false),
        ("450 4.1.1 greylisted", true),
        ("421 too many", true),
        ("535 5.7.8 wrong password", true),
        ("550 5.4.5 quota", true),
    ] {
        let shop = MailingShop::open(&[Behaviour::Accept, Behaviour::Reject(line)]).await;
        shop.run_low("ann", "a").await;
        let service = &shop.shop.service;
        let suppressed = service.customer_mails.suppressions(service.project.id);
        assert_eq!(suppressed.await.unwrap(), [], "{line}");
        assert_eq!(shop.report().waiting, usize::from(retries), "{line}");
        assert_eq!(shop.report().failed.len(), usize::from(!retries), "{line}");
        shop.later(HOUR).await;
        assert_eq!(
            shop.server.connections(),
            2 + usize::from(retries),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_mail_that_is_not_accepted_is_tried_for_a_day_and_nothing_waits_for_it() {
    let manners = [
        &[Behaviour::Accept][..],
        &[Behaviour::Reject("451 4.3.0 later"); 60],
    ]
    .concat();
    let shop = MailingShop::open(&manners).await;
    shop.run_low("ann", "a").await;
    assert_eq!(shop.report().waiting, 1);
    for _ in 0..30 {
        shop.later(HOUR).await;
    }
    let connections = shop.server.connections();
    assert!((24..=32).contains(&connections), "{connections}");
    let [failed] = shop.report().failed.try_into().unwrap();
    assert_eq!(failed.next_at, None);
    assert_eq!(shop.report().waiting, 0);
    let shop = shop.restarted().await;
    assert_eq!(
        shop.report().failed,
        [failed],
        "it is shown after a restart"
    );
}

#[tokio::test]
async fn a_crash_repeats_what_was_under_way_under_the_same_name_and_loses_nothing() {
    let mut shop = MailingShop::open(&[]).await;
    shop.deduct("ann", 70, "a").await.expect(200);
    // The server has it, and nothing is written of that.
    let mails = shop.shop.service.customer_mails.clone();
    let round = tokio::spawn(async move { mails.round().await });
    let first = shop.server.next().await;
    round.abort();
    let mut shop = shop.restarted().await;
    shop.send().await;
    let again = shop.server.next().await;
    assert_eq!(again.header("Message-ID"), first.header("Message-ID"));
    assert_eq!(
        shop.server.arrived(),
        None,
        "what was sent before that is not repeated"
    );
    // Before anything was tried.
    shop.buy("ann").await;
    shop.server.next().await;
    shop.deduct("ann", 100, "b").await.expect(200);
    let mut shop = shop.restarted().await;
    shop.send().await;
    shop.server.next().await;
    let mut shop = shop.restarted().await;
    shop.send().await;
    assert_eq!(shop.server.arrived(), None);
}

#[tokio::test]
async fn a_stop_begins_no_more_mails() {
    let mut shop = MailingShop::open(&[]).await;
    shop.deduct("ann", 70, "a").await.expect(200);
    let sending = shop.shop.service.customer_mails.start();
    sending.stop(Duration::from_secs(60)).await;
    shop.send().await;
    assert_eq!(shop.server.arrived(), None);
    let mut shop = shop.restarted().await;
    shop.send().await;
    shop.server.next().await;
}

#[tokio::test]
async fn a_mail_that_hangs_keeps_no_other_project_waiting() {
    let mut shop = MailingShop::open(&[Behaviour::Accept, Behaviour::Hang]).await;
    let service = &shop.shop.service;
    let new = NewProject {
        name: "Other".into(),
        ..NewProject::default()
    };
    let (other, _, key) = service.catalog.create_project(new).await.unwrap();
    let product = NewProduct {
        name: "Seats".into(),
        kind: ProductType::Credits,
        description: None,
        credit_unit: Some("seats".into()),
        free_grant: None,
        low_balance: Some(50),
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
    };
    let product = service.catalog.create_product(other.id, product);
    let product = product.await.unwrap().id.to_string();
    let mut change = ProjectChange::default();
    change.mails.low_balance = Some(true);
    let changed = service.catalog.update_project(other.id, change, None);
    changed.await.unwrap();
    let secret = Client::new(&service.base, &key.plain);
    let path = "/api/v1/wallets/external";
    let body = json!({"externalUserId": "bob", "email": "bob@mail.example"});
    secret.patch(path, &body).await.expect(200);
    let body = |amount| json!({"externalUserId": "bob", "productId": product, "amount": amount, "idempotencyKey": "a"});
    secret.post("/api/v1/credit", &body(60)).await.expect(200);
    let path = "/api/v1/wallets/external/deduct";
    secret.post(path, &body(20)).await.expect(200);
    shop.deduct("ann", 70, "a").await.expect(200);
    let mails = service.customer_mails.clone();
    let round = tokio::spawn(async move { mails.round().await });
    // Less than an attempt may take.
    let soon = Duration::from_secs(30);
    let mail = tokio::time::timeout(soon, shop.server.next()).await;
    mail.unwrap();
    round.abort();
}

#[tokio::test]
async fn a_connection_that_ends_in_the_middle_is_tried_again_under_the_same_name() {
    let mut shop = MailingShop::open(&[Behaviour::Accept, Behaviour::Cut]).await;
    shop.run_low("ann", "a").await;
    let first = shop.server.next().await;
    assert_eq!(shop.report().waiting, 1);
    assert!(shop.report().unreachable_since.is_some());
    let mut shop = shop.restarted().await;
    shop.later(60).await;
    let again = shop.server.next().await;
    assert_eq!(again.header("Message-ID"), first.header("Message-ID"));
    assert_eq!(
        (shop.report().waiting, shop.report().unreachable_since),
        (0, None)
    );
}

#[tokio::test]
async fn a_dead_mail_server_grows_nothing_and_old_mails_are_not_sent_once_it_is_back() {
    let manners = [&[Behaviour::Accept][..], &[Behaviour::Cut; 2000]].concat();
    let mut shop = MailingShop::open(&manners).await;
    for at in 0..150 {
        let user = format!("user{at}");
        shop.buy(&user).await;
        shop.run_low(&user, "a").await;
    }
    while shop.server.arrived().is_some() {}
    let before = shop.server.connections();
    assert!(before < 20, "{before} attempts while it was away");
    for _ in 0..60 {
        shop.later(600).await;
    }
    let tried = shop.server.connections() - before;
    assert!(tried < 500, "{tried}");
    let report = shop.report();
    assert!(report.waiting <= 60, "{}", report.waiting);
    let server = MailServer::start(&[]).await;
    let mut shop = MailingShop { server, ..shop }.restarted().await;
    shop.shop.service.clock.advance_millis(2 * DAY * 1000);
    shop.send().await;
    assert_eq!(shop.server.arrived(), None);
    let report = shop.report();
    assert_eq!(report.waiting, 0);
    let events = report.progress.expired + report.failed.len() as u64;
    assert!(events > 0 && report.failed.len() <= 100, "{report:?}");
    shop.buy("ann").await;
    shop.server.next().await;
}

#[tokio::test]
async fn a_template_is_the_projects_own_where_it_can_be_rendered() {
    let mut shop = MailingShop::open(&[]).await;
    let template = |subject: &str, text: &str, html: Value| json!({"templates": [{"kind": "lowBalance", "locale": "en", "subject": subject, "text": text, "html": html}]});
    for (subject, text, html, param, said) in [
        (
            "a\nBcc: eve@mail.example",
            "b",
            Value::Null,
            "mails.templates[0].subject",
            "",
        ),
        (
            "{{ nothing }}",
            "b",
            Value::Null,
            "mails.templates[0].subject",
            "line 1",
        ),
        (
            "a",
            "b\n{{ balance }",
            Value::Null,
            "mails.templates[0].text",
            "line 2",
        ),
        (
            "a",
            "b",
            json!("<p>\n\n{% for x in y %}{% endfor %}"),
            "mails.templates[0].html",
            "line 3",
        ),
        (
            "a",
            &"x".repeat(40_000),
            Value::Null,
            "mails.templates[0].text",
            "32000 bytes",
        ),
    ] {
        let refused = shop.set(template(subject, text, html)).await;
        assert_invalid(&refused, param);
        let message = refused.body["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
    }
    assert_invalid(&shop.set(json!({"color": "red"})).await, "mails.color");
    assert_invalid(
        &shop.set(json!({"replyTo": "a>b@shop.example"})).await,
        "mails.replyTo",
    );
    assert_invalid(
        &shop.set(json!({"name": "a\r\nBcc: b"})).await,
        "mails.name",
    );
    assert_invalid(
        &shop.set(json!({"lowBalance": null})).await,
        "mails.lowBalance",
    );
    let own = template(
        "{{ user }}: {{ balance }} left",
        "Hi {{ user }}\n\nBye",
        json!(
            "<h1>{{ user }}</h1>{% if balance == \"30\" %}<a href=\"https://shop.example\">Top up</a>{% endif %}"
        ),
    );
    let set = shop.set(own.clone()).await.expect(200);
    assert_eq!(set["mails"]["templates"], own["templates"]);
    let name = "<script>alert(1)</script>\u{202e}\u{200b}x";
    let project = ProjectChange {
        mails: MailChange {
            name: Some(Some("Evil \u{202e}<b>".into())),
            ..MailChange::default()
        },
        ..ProjectChange::default()
    };
    shop.shop.service.set(project).await;
    shop.buy(name).await;
    shop.server.next().await;
    shop.deduct(name, 70, "a").await.expect(200);
    shop.send().await;
    let mail = shop.server.next().await;
    let subject = mail.header("Subject").unwrap();
    assert_eq!(subject, "<script>alert(1)</script>x: 30 left");
    let html = part(&mail, "text/html");
    assert!(
        html.contains("<h1>&lt;script&gt;alert(1)&lt;&#x2f;script&gt;x</h1>"),
        "{html}"
    );
    assert!(html.contains(">Evil &lt;b&gt;</p>"), "{html}");
    assert!(
        html.contains("<a href=\"https://shop.example\">Top up</a>"),
        "{html}"
    );
    assert!(!html.contains('\u{202e}'));
}

#[tokio::test]
async fn addresses_go_with_their_customer() {
    let shop = MailingShop::open(&[Behaviour::Accept, Behaviour::Reject("550 5.1.1 nobody")]).await;
    shop.run_low("ann", "a").await;
    let service = &shop.shop.service;
    let wallets = shop
        .admin(Method::GET, "/wallets", Value::Null)
        .await
        .expect(200);
    let wallet = wallets["wallets"][0]["ref"]
        .as_str()
        .unwrap_or_else(|| panic!("{wallets}"));
    let path = format!("/wallets/{wallet}/erase");
    shop.admin(Method::POST, &path, json!({})).await.expect(200);
    service.grant("ann", 60).await;
    shop.run_low("ann", "b").await;
    assert_eq!(shop.server.connections(), 2, "no address is known any more");
    service.handle.fold_all().await.unwrap();
    let notes = [67, 68, 69].map(|kind| service.handle.notes(&[kind]).unwrap());
    assert!(notes.iter().all(|kind| !kind.is_empty()), "{notes:?}");
    for (_, body) in notes.concat() {
        let body = String::from_utf8_lossy(&body);
        assert!(!body.contains("mail.example"), "{body}");
    }
}

#[tokio::test]
async fn an_address_is_unsubscribed_and_unknown_apart_from_each_other_and_for_all_its_wallets() {
    let mut shop = MailingShop::open(&[
        Behaviour::Accept,
        Behaviour::Accept,
        Behaviour::Reject("550 5.1.1 nobody"),
    ])
    .await;
    shop.run_low("ann", "a").await;
    let path = link(&shop.server.next().await);
    assert_eq!(shop.press(Method::POST, &path).await.0, 200);
    shop.buy("ann").await;
    let service = &shop.shop.service;
    let (mails, project) = (&service.customer_mails, service.project.id);
    let known = async || {
        let known = mails.suppressions(project).await.unwrap();
        let [(address, known)] = known.try_into().unwrap();
        assert_eq!(Vec::from_iter(known.unsubscribed), [MailKind::LowBalance]);
        (address, known.no_mailbox)
    };
    let (address, code) = known().await;
    assert_eq!(code, Some(550));
    assert!(mails.resume(project, address).await.unwrap());
    assert_eq!(known().await, (address, None));
    shop.run_low("ann", "b").await;
    // The same mailbox.
    let body = json!({"externalUserId": "bob", "email": "Ann@mail.example"});
    let set = service.secret.patch("/api/v1/wallets/external", &body);
    set.await.expect(200);
    service.grant("bob", 60).await;
    shop.run_low("bob", "c").await;
    assert_eq!(shop.server.connections(), 3);
}

#[tokio::test]
async fn every_built_in_mail_is_whole_in_every_language() {
    let shop = MailingShop::open(&[]).await;
    let service = &shop.shop.service;
    let project = service.catalog.project(service.project.id).unwrap();
    for kind in MailKind::ALL {
        for locale in MailLocale::ALL {
            let mail = service.customer_mails.preview(&project, kind, locale);
            assert!(!mail.subject.is_empty() && mail.text.len() > 80, "{mail:?}");
            for text in [&mail.subject, &mail.text, &mail.html] {
                assert!(!text.contains("{{") && !text.contains("{%"), "{mail:?}");
            }
            assert!(!mail.text.contains("\n\n\n"), "{}", mail.text);
        }
    }
}

/// A user's card on file, and an automatic top-up below 50 credits.
async fn arm(shop: &MailingShop, card: &str) {
    let secret = &shop.shop.service.secret;
    let body = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/card"});
    let path = "/api/v1/wallets/external/payment-method";
    let page = secret.post(path, &body).await.expect(200);
    let url = page["url"].as_str().unwrap();
    let saved = shop.shop.try_press(url, "pay", json!({"card": card}));
    saved.await.expect(200);
    if card == ASKS {
        let confirmed = shop.shop.try_press(url, "authenticate", json!({}));
        confirmed.await.expect(200);
    }
    shop.shop.service.round().await;
    let rule = json!({
        "externalUserId": "ann", "enabled": true, "priceId": shop.shop.price, "threshold": 50,
        "monthlyLimitCents": 5000, "consent": {"text": "Keep at least 50."},
    });
    let request = secret.request(Method::PUT, "/api/v1/wallets/external/auto-top-up");
    Client::send(request.json(&rule)).await.unwrap().expect(200);
}

const WORKS: &str = "4242424242424242";
const NO_FUNDS: &str = "4000000000009995";
const ASKS: &str = "4000002760003184";

#[tokio::test]
async fn a_month_of_a_dead_card_is_one_mail() {
    let mut shop = MailingShop::open(&[]).await;
    shop.set(json!({"lowBalance": false})).await.expect(200);
    arm(&shop, NO_FUNDS).await;
    shop.run_low("ann", "a").await;
    for at in 0..30 {
        shop.deduct("ann", 1, &format!("use {at}"))
            .await
            .expect(200);
        for _ in 0..6 {
            shop.shop.service.round().await;
            shop.later(4 * HOUR).await;
        }
    }
    let mail = shop.server.next().await;
    assert_eq!(
        mail.header("Subject").unwrap(),
        "Your automatic top-up has stopped"
    );
    let text = part(&mail, "text/plain");
    assert!(
        text.starts_with(
            "Your card was declined several times, so Demo does not charge it any more.\n\nTo go on"
        ),
        "{text}"
    );
    assert!(mail.header("List-Unsubscribe").is_some());
    assert_eq!(shop.server.arrived(), None);
}

#[tokio::test]
async fn a_top_up_has_a_receipt_and_one_that_the_bank_asks_about_a_link() {
    let mut shop = MailingShop::open(&[]).await;
    shop.set(json!({"lowBalance": false})).await.expect(200);
    arm(&shop, WORKS).await;
    shop.run_low("ann", "a").await;
    shop.shop.service.round().await;
    shop.send().await;
    let mail = shop.server.next().await;
    assert_eq!(mail.header("Subject").unwrap(), "Your receipt from Demo");
    assert_eq!(shop.server.arrived(), None);
    arm(&shop, ASKS).await;
    shop.later(HOUR).await;
    shop.run_low("ann", "b").await;
    shop.shop.service.round().await;
    shop.send().await;
    let mail = shop.server.next().await;
    assert_eq!(
        mail.header("Subject").unwrap(),
        "Please confirm your top-up"
    );
    assert!(part(&mail, "text/plain").contains("Confirm it here: http"));
    assert_eq!(mail.header("List-Unsubscribe"), None);
    assert_eq!(shop.server.arrived(), None);
}

#[tokio::test]
async fn mails_go_to_the_wallets_own_address_in_the_buyers_language() {
    let mut shop = MailingShop::open(&[]).await;
    let fields =
        json!({"externalUserId": "ann", "customerEmail": "ann@mail.example", "locale": "fr-CA"});
    let checkout = shop.shop.checkout(fields).await;
    shop.shop.press(&checkout, "pay").await;
    shop.send().await;
    let mail = shop.server.next().await;
    assert!(part(&mail, "text/html").contains("<html lang=\"fr\">"));
    let body = json!({"externalUserId": "ann", "email": "billing@ann.example"});
    let set = shop
        .shop
        .service
        .secret
        .patch("/api/v1/wallets/external", &body)
        .await;
    set.expect(200);
    shop.shop.service.handle.fold_all().await.unwrap();
    let mut shop = shop.restarted().await;
    shop.run_low("ann", "a").await;
    let mail = shop.server.next().await;
    assert_eq!(mail.to, ["billing@ann.example"]);
    assert!(
        part(&mail, "text/plain").contains("Il vous reste 30"),
        "{}",
        mail.data
    );
    let (_, page) = shop.press(Method::GET, &link(&mail)).await;
    assert!(page.contains("<html lang=\"fr\">"), "{page}");
}
