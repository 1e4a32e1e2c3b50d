//! The page of mails to customers: settings, texts with their preview, tests, and who gets none.

use kit::{
    service::{Service, header_of},
    smtp::{Behaviour, MailServer},
};
use scrip::{
    catalog::{ProductChange, ProjectChange},
    identity::Role,
};
use serde_json::json;

use crate::{
    browser::Browser,
    people::{new, person, signed_in},
};

async fn open(manners: &[Behaviour]) -> (Service, MailServer, Browser, String) {
    let server = MailServer::start(manners).await;
    let mail = json!({"files": false, "smtp_url": server.url(), "from": "shop@shop.example"});
    let service = Service::with(|config| config.mail = serde_json::from_value(mail).unwrap()).await;
    let browser = Browser::signed_in(&service).await;
    let mails = format!("/dashboard/projects/{}/mails", service.project.id);
    (service, server, browser, mails)
}

#[tokio::test]
async fn mails_are_switched_on_and_what_is_wrong_is_said_beside_its_field() {
    let (service, _server, browser, mails) = open(&[]).await;
    let page = browser.get(&mails).await;
    page.shows("No mail failed").shows("Nobody unsubscribed");
    let version = page.value("version").unwrap().to_owned();
    let form = |color| {
        [
            ("version", version.as_str()),
            ("mails.lowBalance", "on"),
            ("mails.locale", "fr"),
            ("mails.name", "Atelier"),
            ("mails.color", color),
            ("mails.footer", "Atelier\r\nRue 1"),
        ]
    };
    let refused = browser.post(&mails, &form("red")).await;
    assert_eq!(refused.status, 400);
    refused
        .shows("A colour is written as #1a2b3c.")
        .shows("Atelier");
    browser.post(&mails, &form("#aa0011")).await;
    let project = service.catalog.project(service.project.id).unwrap();
    let set = &project.project.mails;
    assert!(set.low_balance.is_some() && set.receipt.is_none());
    assert_eq!(set.footer.as_deref(), Some("Atelier\nRue 1"));
    // Another person's form is from before that.
    assert_eq!(browser.post(&mails, &form("#000000")).await.status, 412);
    let audit = browser.get("/dashboard/audit").await;
    audit
        .shows("lowBalance false -&gt; true")
        .shows("color “” -&gt; “#aa0011”");
}

#[tokio::test]
async fn a_text_is_changed_looked_at_in_a_frame_apart_and_sent_as_a_test() {
    let reject = Behaviour::Reject("550 5.1.1 nobody");
    let (_service, mut server, browser, mails) = open(&[Behaviour::Accept, reject]).await;
    let path = format!("{mails}/receipt/de");
    let page = browser.get(&path).await;
    page.shows("Vielen Dank für Ihre Zahlung.")
        .shows("sandbox=\"\"")
        .lacks("Use the built-in text");
    let wrong = [
        ("subject", "Beleg"),
        ("text", "a\r\n{{ b }}"),
        ("html", ""),
        ("action", "save"),
    ];
    let refused = browser.post(&path, &wrong).await;
    assert_eq!(refused.status, 400);
    refused.shows("In line 2: there is no b");
    let html = "<script>alert(1)</script>{{ amount }}";
    let own = [
        ("subject", "Beleg"),
        ("text", "{{ amount }}"),
        ("html", html),
        ("action", "save"),
    ];
    browser.post(&path, &own).await;
    browser
        .get(&path)
        .await
        .shows("Your own")
        .shows("Use the built-in text")
        .lacks(html);
    let preview = browser.get(&format!("{path}/preview")).await;
    preview.shows("<script>alert(1)</script>1.234,50");
    let policy = header_of(&preview.headers, "content-security-policy").unwrap();
    assert!(
        policy.starts_with("sandbox; default-src 'none'; style-src 'unsafe-inline'"),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    let frames = header_of(&preview.headers, "x-frame-options");
    assert_eq!(frames, Some("SAMEORIGIN"));
    let test = format!("{path}/test");
    browser.post(&test, &[("to", "ann@shop.example")]).await;
    let mail = server.next().await;
    assert_eq!(
        (mail.to.as_slice(), mail.header("Subject").unwrap()),
        (&["ann@shop.example".to_owned()][..], "Beleg".to_owned())
    );
    let refused = browser.post(&test, &[("to", "nobody@shop.example")]).await;
    assert_eq!(refused.status, 400);
    refused.shows("no such mailbox: code 550");
    browser.post(&path, &[("action", "reset")]).await;
    browser.get(&path).await.shows("Built-in");
    for path in ["receipt/xx", "other/de", "receipt/de/other"] {
        assert_eq!(browser.get(&format!("{mails}/{path}")).await.status, 404);
    }
}

#[tokio::test]
async fn an_unknown_address_is_shown_by_its_wallet_and_sent_to_again() {
    let reject = Behaviour::Reject("550 5.1.1 nobody");
    let (service, server, browser, mails) = open(&[reject]).await;
    let product = service.product.parse().unwrap();
    let low = ProductChange {
        low_balance: Some(Some(50)),
        ..ProductChange::default()
    };
    let changed = service
        .catalog
        .update_product(service.project.id, product, low);
    changed.await.unwrap();
    let mut change = ProjectChange::default();
    change.mails.low_balance = Some(true);
    service.set(change).await;
    let body = json!({"externalUserId": "ann", "email": "ann@mail.example"});
    let set = service.secret.patch("/api/v1/wallets/external", &body);
    set.await.expect(200);
    service.grant("ann", 60).await;
    let body = json!({"externalUserId": "ann", "productId": service.product, "amount": 20, "idempotencyKey": "a"});
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await.expect(200);
    while service.customer_mails.round().await {}
    assert_eq!(server.connections(), 1);
    let page = browser.get(&mails).await;
    page.shows("No such mailbox: 550").lacks("ann@mail.example");
    let link = page.between("aria-label=\"Who gets no mails\"", "No such mailbox");
    let link = link.split_once("href=\"").unwrap().1;
    let shown = browser.get(link.split_once('"').unwrap().0).await;
    shown.shows("ann");
    let key = [("key", page.value("key").unwrap())];
    let done = browser.submit(&format!("{mails}/resume"), &key).await;
    done.shows("Mails are sent to this address again.")
        .shows("Nobody unsubscribed");
}

#[tokio::test]
async fn who_may_only_look_changes_and_sends_nothing() {
    let (service, mut server, _browser, mails) = open(&[]).await;
    let vera = person(&service, new("Vera", Role::Viewer)).await;
    let viewer = signed_in(&service, &vera).await;
    let path = format!("{mails}/receipt/de");
    viewer
        .get(&mails)
        .await
        .shows("disabled")
        .lacks("type=\"submit\">Save<");
    viewer
        .get(&path)
        .await
        .shows("disabled")
        .lacks("Send a test");
    for (path, form) in [
        (
            mails.clone(),
            vec![("mails.receipt", "on"), ("mails.locale", "en")],
        ),
        (path.clone(), vec![("action", "reset")]),
        (format!("{path}/test"), vec![("to", "ann@shop.example")]),
        (
            format!("{mails}/resume"),
            vec![("key", "00000000000000000000000000000000")],
        ),
    ] {
        assert_eq!(viewer.post(&path, &form).await.status, 403);
    }
    assert_eq!(server.arrived(), None);
}
