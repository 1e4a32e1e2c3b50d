//! Support's actions on a wallet: freezing, replacing its recovery code, reversing a deduction.

use kit::service::Service;
use serde_json::json;

use crate::{
    browser::{Browser, Page},
    orders,
    people::{new, person, signed_in},
};
use scrip::identity::{NewUser, Role};

/// A browser, and the page of the wallet that a clue leads to.
async fn wallet_of(service: &Service, clue: &str) -> (Browser, String, Page) {
    let browser = Browser::signed_in(service).await;
    let (here, page) = open(service, &browser, clue).await;
    (browser, here, page)
}

async fn open(service: &Service, browser: &Browser, clue: &str) -> (String, Page) {
    let base = format!("/dashboard/projects/{}", service.project.id);
    let found = browser.search(&base, clue).await;
    let here = found.location().to_owned();
    let page = browser.get(&here).await;
    (here, page)
}

async fn deduct(service: &Service, amount: i64) -> kit::client::Reply {
    let body = json!({"externalUserId": "ann", "amount": amount, "idempotencyKey": "d"});
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await
}

#[tokio::test]
async fn a_wallet_is_frozen_after_a_second_look_says_so_with_its_reason_and_is_unfrozen() {
    let service = Service::start().await;
    service.grant("ann", 100).await;
    let (browser, here, page) = wallet_of(&service, "ann").await;
    page.shows("Freeze…").lacks("Frozen");
    let freeze = format!("{here}/freeze");
    let form = [("action", "freeze"), ("reason", "A stolen \u{202e}card")];
    let page = browser.post(&freeze, &form).await;
    assert_eq!(page.status, 200);
    page.shows("Freeze ann?")
        .shows("checkouts are refused")
        .shows("<bdi>&quot;A stolen \\u{202e}card&quot;</bdi>");
    browser.get(&here).await.lacks("Frozen");
    let sure = [form[0], form[1], ("confirmed", "on")];
    let page = browser.submit(&freeze, &sure).await;
    page.shows("The wallet is frozen")
        .shows("<b>Frozen</b>")
        .shows("A stolen")
        .lacks("Freeze…");
    assert_eq!(deduct(&service, 1).await.status, 403);
    browser.submit(&freeze, &sure).await.shows("done before");
    let base = here.rsplit_once('/').unwrap().0;
    browser.get(base).await.shows("Frozen");
    let unfreeze = [("action", "unfreeze")];
    browser
        .post(&freeze, &unfreeze)
        .await
        .shows("Unfreeze ann?")
        .shows("A stolen");
    let sure = [unfreeze[0], ("confirmed", "on")];
    browser.submit(&freeze, &sure).await.lacks("<b>Frozen</b>");
    deduct(&service, 1).await.expect(200);
    browser
        .get("/dashboard/audit")
        .await
        .shows("Froze wal_")
        .shows("Unfroze wal_");
}

#[tokio::test]
async fn a_recovery_code_is_replaced_after_a_second_look_and_shown_once() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 5).await;
    let (browser, here, page) = wallet_of(&service, &code).await;
    let (_, form) = page.html.split_once("/replace-code\"").unwrap();
    let (_, form) = form.split_once("name=\"idempotencyKey\" value=\"").unwrap();
    let key = form.split_once('"').unwrap().0;
    let replace = format!("{here}/replace-code");
    let form = [("to", "page"), ("idempotencyKey", key)];
    browser
        .post(&replace, &form)
        .await
        .shows("Replace the recovery code?")
        .shows("stop working")
        .lacks("code class=\"key\"");
    let sure = [form[0], form[1], ("confirmed", "on")];
    let page = browser.post(&replace, &sure).await;
    assert_eq!(page.status, 200, "{}", page.html);
    let new = page.between("<code class=\"key\">", "<").to_owned();
    assert_ne!(new, code);
    let page = browser.post(&replace, &sure).await;
    page.shows("done before").shows(&new);
    browser.get(&here).await.lacks(&new);
    let (by_new, _) = open(&service, &browser, &new).await;
    assert_eq!(by_new, here);
    let page = browser.get("/dashboard/audit").await;
    page.shows("Replaced the recovery code of wal_").lacks(&new);
    // A user's wallet has none; and without a mail server, or a purchase, none is mailed.
    let form = [("to", "mail"), ("idempotencyKey", "other")];
    assert!(browser.post(&replace, &form).await.status >= 400);
    service.grant("ann", 1).await;
    let (of_user, page) = open(&service, &browser, "ann").await;
    page.lacks("Replace and show it");
    let page = browser
        .post(&format!("{of_user}/replace-code"), &sure)
        .await;
    assert_eq!(page.status, 409, "{}", page.html);
}

#[tokio::test]
async fn a_deduction_is_reversed_in_part_and_in_full_and_its_lines_say_so() {
    let service = Service::start().await;
    service.grant("ann", 100).await;
    deduct(&service, 60).await.expect(200);
    let (browser, here, page) = wallet_of(&service, "ann").await;
    let deduction = page.between(&format!("href=\"{here}/deductions/"), "\"");
    let deduction = format!("{here}/deductions/{deduction}");
    let page = browser.get(&deduction).await;
    page.shows("Deduction of 60")
        .shows("<dt>Can be reversed</dt><dd><b>60</b></dd>");
    assert_eq!(page.value("amount"), Some("60"));
    let key = page.value("idempotencyKey").unwrap().to_owned();
    let form = |amount: &'static str, key| {
        [
            ("amount", amount),
            ("note", "It crashed"),
            ("idempotencyKey", key),
        ]
    };
    for (amount, note, wrong) in [
        ("0", "x", "amount-wrong"),
        ("61", "x", "60"),
        ("5", "", "note-wrong"),
    ] {
        let form = [("amount", amount), ("note", note), ("idempotencyKey", "w")];
        let page = browser.post(&deduction, &form).await;
        assert!(page.status >= 400, "{amount} {note}");
        page.shows(wrong);
    }
    assert_eq!(service.balance("ann").await, 40);
    let part = form("20", &key);
    let page = browser.submit(&deduction, &part).await;
    page.shows("was reversed")
        .shows("20 reversed")
        .shows("Of a deduction")
        .shows("It crashed")
        .shows("Reverse…");
    browser.submit(&deduction, &part).await.shows("done before");
    assert_eq!(service.balance("ann").await, 60);
    let page = browser.get(&deduction).await;
    assert_eq!(page.value("amount"), Some("40"));
    browser
        .submit(&deduction, &form("40", "rest"))
        .await
        .shows(">Reversed<")
        .lacks("Reverse…");
    assert_eq!(service.balance("ann").await, 100);
    browser.get(&deduction).await.lacks("name=\"amount\"");
    let page = browser.get("/dashboard/audit").await;
    page.shows("Reversed 20 of deduction led_")
        .shows("It crashed");
    // Not under another wallet's address, and nothing but a deduction.
    service.grant("bob", 1).await;
    let (bobs, page) = open(&service, &browser, "bob").await;
    page.lacks("/deductions/");
    let stolen = deduction.replace(&here, &bobs);
    assert_eq!(browser.get(&stolen).await.status, 404);
}

#[tokio::test]
async fn what_is_given_back_counts_against_what_somebody_may_grant_in_a_day() {
    let service = Service::start().await;
    service.grant("ann", 100).await;
    deduct(&service, 60).await.expect(200);
    let sue = NewUser {
        grant_limit_per_day: Some(50),
        ..new("Sue", Role::Support)
    };
    let sue = person(&service, sue).await;
    let browser = signed_in(&service, &sue).await;
    let (here, page) = open(&service, &browser, "ann").await;
    let deduction = page.between(&format!("href=\"{here}/deductions/"), "\"");
    let deduction = format!("{here}/deductions/{deduction}");
    let form =
        |amount: &'static str, key| [("amount", amount), ("note", "x"), ("idempotencyKey", key)];
    let page = browser.post(&deduction, &form("51", "a")).await;
    assert_eq!(page.status, 403, "{}", page.html);
    page.shows("50 is left");
    browser.submit(&deduction, &form("45", "a")).await;
    let page = browser.post(&deduction, &form("6", "b")).await;
    page.shows("5 is left");
    assert_eq!(service.balance("ann").await, 85);
    // A viewer sees the deduction, and no form.
    let vera = person(&service, new("Vera", Role::Viewer)).await;
    let browser = signed_in(&service, &vera).await;
    browser.get(&here).await.lacks("Reverse…").lacks("Freeze");
    browser.get(&deduction).await.lacks("name=\"amount\"");
    for (path, form) in [
        (deduction.clone(), form("1", "c")),
        (
            format!("{here}/freeze"),
            [("action", "freeze"), ("reason", ""), ("confirmed", "on")],
        ),
        (
            format!("{here}/replace-code"),
            [("to", "page"), ("idempotencyKey", "k"), ("confirmed", "on")],
        ),
    ] {
        assert_eq!(browser.post(&path, &form).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn of_the_ledger_what_is_shown_is_what_is_exported() {
    let service = Service::start().await;
    service.grant("ann", 1000).await;
    for number in 0..130 {
        let body = json!({
            "externalUserId": "ann", "amount": 1, "idempotencyKey": format!("=cmd{number}"),
            "meta": {"feature": "a,b"},
        });
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await.expect(200);
    }
    let (browser, here, _) = wallet_of(&service, "ann").await;
    let page = browser.get(&format!("{here}?reason=deduction")).await;
    let csv = page.between("/ledger.csv?", "\"").to_owned();
    assert_eq!(csv, "reason=deduction&amp;");
    let all = browser.get(&format!("{here}/ledger.csv")).await;
    assert_eq!(all.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(all.html.lines().count(), 1 + 131);
    all.shows("at,id,reason,productId,delta,balanceAfter,orderId,reverses,meta,idempotencyKey\r\n");
    let taken = browser
        .get(&format!("{here}/ledger.csv?reason=deduction"))
        .await;
    assert_eq!(taken.html.lines().count(), 1 + 130);
    taken
        .shows(",deduction,")
        .shows(",'=cmd129\r\n")
        .shows(r#","{""feature"":""a,b""}","#)
        .lacks(",manual,");
    let later = format!("{here}/ledger.csv?from=2026-11-19");
    assert_eq!(browser.get(&later).await.html.lines().count(), 1);
    let base = format!("/dashboard/projects/{}", service.project.id);
    let none = browser
        .get(&format!("{base}/wallets/wref_x/ledger.csv"))
        .await;
    assert_eq!(none.status, 404);
}

#[tokio::test]
async fn a_replaced_code_is_mailed_to_the_first_buyer_and_not_shown() {
    let (service, browser, base) = orders::open().await;
    let price = service.add_price(1000).await;
    let order = json!({"priceId": price, "customerEmail": "bea@mail.example"});
    orders::buy(&service, order).await;
    let found = browser.get(&format!("{base}/wallets")).await;
    let here = found.between("wrap\"><a href=\"", "\"").to_owned();
    let replace = format!("{here}/replace-code");
    let form = [("to", "mail"), ("idempotencyKey", "m"), ("confirmed", "on")];
    browser
        .post(&replace, &form[..2])
        .await
        .shows("Replace the recovery code?")
        .shows("<bdi>bea@mail.example</bdi>");
    assert_eq!(service.mailer.under_way(), 0);
    let page = browser.post(&replace, &form).await;
    assert_eq!(page.status, 200, "{}", page.html);
    page.shows("on its way to <bdi>bea@mail.example</bdi>")
        .lacks("class=\"key\"");
    while service.mailer.under_way() > 0 {
        tokio::task::yield_now().await;
    }
    let mails = std::fs::read_dir(service.mails.path().join("mail")).unwrap();
    assert_eq!(mails.count(), 1);
    let page = browser.get("/dashboard/audit").await;
    page.shows("and mailed it to the buyer whose payment made the wallet")
        .lacks("bea@mail.example");
}
