//! `POST /wallets/recover`: mails with lost codes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{assert_invalid, assert_refused, header},
    stripe_shop::StripeShop,
};

const PATH: &str = "/api/v1/wallets/recover";

async fn recover(shop: &StripeShop, email: &str) -> Reply {
    shop.service
        .publishable
        .post(PATH, &json!({"email": email}))
        .await
}

/// The mails that were written, once none is in progress.
async fn mails(shop: &StripeShop) -> Vec<String> {
    while shop.service.mailer.under_way() > 0 {
        tokio::task::yield_now().await;
    }
    let folder = shop.service.mails.path().join("mail");
    let Ok(files) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    files.sort();
    files
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

/// The code of a bought wallet.
async fn buy_and_read_code(shop: &StripeShop) -> String {
    let checkout = shop.checkout(json!({})).await.expect(200);
    shop.pay(&checkout).await;
    shop.service.handle.fold_all().await.unwrap();
    let order = shop.order(&checkout["orderId"]).await;
    order["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn codes_are_mailed_to_the_payer() {
    let shop = StripeShop::open().await;
    let codes = [
        buy_and_read_code(&shop).await,
        buy_and_read_code(&shop).await,
    ];
    assert_eq!(recover(&shop, "Buyer@Mail.Example").await.status, 202);
    let mails = mails(&shop).await;
    let [mail] = mails.as_slice() else {
        panic!("one mail, not {}", mails.len())
    };
    for code in codes {
        assert!(mail.contains(&code), "{mail}");
    }
    assert!(mail.contains("Demo"), "the project's name");
}

/// A mail's recipient.
fn to(mail: &str) -> &str {
    let line = mail.lines().find(|line| line.starts_with("To: "));
    line.unwrap().trim_start_matches("To: ").trim()
}

#[tokio::test]
async fn a_mail_goes_to_the_address_on_the_order() {
    let shop = StripeShop::open().await;
    buy_and_read_code(&shop).await;
    // U+212A, whose lower case is k: it looks alike, but is another mailbox.
    let checkout_page = shop.checkout(json!({})).await.expect(200);
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let session = shop.stripe.set(
        &format!("/v1/checkout/sessions/{checkout}"),
        json!({"customer_details": {"email": "Kim@mail.example"}}),
    );
    let kind = "checkout.session.completed";
    shop.report(kind, &session).await.expect(200);
    shop.service.handle.fold_all().await.unwrap();
    for typed in ["BUYER@MAIL.EXAMPLE", "\u{212a}im@mail.example"] {
        assert_eq!(recover(&shop, typed).await.status, 202);
    }
    let mails = mails(&shop).await;
    let mut to: Vec<_> = mails.iter().map(|mail| to(mail)).collect();
    to.sort_unstable();
    assert_eq!(to, ["Kim@mail.example", "buyer@mail.example"]);
}

#[tokio::test]
async fn a_buyer_who_used_a_leaked_code_is_not_mailed_the_new_one() {
    let shop = StripeShop::open().await;
    let leaked = shop.service.code().await;
    let checkout = shop.checkout(json!({"code": leaked})).await.expect(200);
    shop.pay(&checkout).await;
    shop.service.handle.fold_all().await.unwrap();
    recover(&shop, "buyer@mail.example").await;
    assert_eq!(mails(&shop).await.len(), 1, "while the code is the same");
    let path = format!("/api/v1/wallets/{leaked}/rotate");
    let secret = &shop.service.secret;
    secret.post(&path, &Value::Null).await.expect(200);
    recover(&shop, "buyer@mail.example").await;
    assert_eq!(mails(&shop).await.len(), 1);
}

/// Else its address would be on the next buyer's order.
#[tokio::test]
async fn a_replaced_code_leaves_the_providers_customer_of_before_behind() {
    let shop = StripeShop::open().await;
    let leaked = shop.service.code().await;
    let calls_so_far = || {
        let calls = shop.stripe.calls("/v1/checkout/sessions");
        let opened = calls.iter().rfind(|call| call.method == Method::POST);
        opened.unwrap().form.get("customer").cloned()
    };
    let checkout_page = shop.checkout(json!({"code": leaked})).await.expect(200);
    shop.pay(&checkout_page).await;
    shop.checkout(json!({"code": leaked})).await.expect(200);
    assert!(
        calls_so_far().is_some(),
        "a returning buyer keeps their customer"
    );
    let path = format!("/api/v1/wallets/{leaked}/rotate");
    let secret = &shop.service.secret;
    let new = secret.post(&path, &Value::Null).await.expect(200);
    let checkout_page = shop.checkout(json!({"code": new["code"]})).await;
    let checkout_page = checkout_page.expect(200);
    assert_eq!(calls_so_far(), None);
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let session = shop.stripe.set(
        &format!("/v1/checkout/sessions/{checkout}"),
        json!({"customer_details": {"email": "owner@mail.example"}}),
    );
    let kind = "checkout.session.completed";
    shop.report(kind, &session).await.expect(200);
    shop.service.handle.fold_all().await.unwrap();
    for address in ["buyer@mail.example", "owner@mail.example"] {
        recover(&shop, address).await;
    }
    let mails = mails(&shop).await;
    let to: Vec<_> = mails.iter().map(|mail| to(mail)).collect();
    assert_eq!(to, ["owner@mail.example"]);
}

#[tokio::test]
async fn a_purchase_long_ago_is_found() {
    let shop = StripeShop::open().await;
    let code = buy_and_read_code(&shop).await;
    for number in 0..1200 {
        let body = json!({
            "code": code, "productId": shop.service.product, "amount": 1,
            "idempotencyKey": format!("later {number}"),
        });
        let secret = &shop.service.secret;
        secret.post("/api/v1/credit", &body).await.expect(200);
    }
    shop.service.handle.fold_all().await.unwrap();
    recover(&shop, "buyer@mail.example").await;
    let mails = mails(&shop).await;
    assert!(mails.len() == 1 && mails[0].contains(&code));
}

#[tokio::test]
async fn nothing_tells_whether_anything_was_found() {
    let shop = StripeShop::open().await;
    buy_and_read_code(&shop).await;
    let checkout = shop
        .checkout(json!({"externalUserId": "ann"}))
        .await
        .expect(200);
    shop.pay(&checkout).await;
    let (known, unknown) = (
        recover(&shop, "buyer@mail.example").await,
        recover(&shop, "else@mail.example").await,
    );
    assert_eq!((known.status, &known.body), (202, &Value::Null));
    assert_eq!((unknown.status, unknown.body), (known.status, known.body));
    assert_eq!(mails(&shop).await.len(), 1);
}

#[tokio::test]
async fn the_present_code_is_mailed_after_a_replacement() {
    let shop = StripeShop::open().await;
    let old = buy_and_read_code(&shop).await;
    let path = format!("/api/v1/wallets/{old}/rotate");
    let new = shop
        .service
        .publishable
        .post(&path, &Value::Null)
        .await
        .expect(200);
    recover(&shop, "buyer@mail.example").await;
    let mails = mails(&shop).await;
    assert!(mails[0].contains(new["code"].as_str().unwrap()) && !mails[0].contains(&old));
}

#[tokio::test]
async fn a_mailbox_is_not_flooded() {
    let shop = StripeShop::open().await;
    buy_and_read_code(&shop).await;
    for _ in 0..5 {
        assert_eq!(recover(&shop, "buyer@mail.example").await.status, 202);
    }
    assert_eq!(mails(&shop).await.len(), 3);
}

#[tokio::test]
async fn a_client_asks_ten_times_an_hour() {
    let shop = StripeShop::open().await;
    for _ in 0..10 {
        assert_eq!(recover(&shop, "else@mail.example").await.status, 202);
    }
    let reply = recover(&shop, "else@mail.example").await;
    assert_refused(&reply, 429, "rate_limited");
    assert_eq!(header(&reply, "ratelimit-limit"), Some("10"));
    assert!(header(&reply, "retry-after").is_some());
    let body = json!({"email": "else@mail.example"});
    assert_eq!(shop.service.secret.post(PATH, &body).await.status, 202);
    shop.service.clock.advance_millis(3600 * 1000);
    assert_eq!(recover(&shop, "else@mail.example").await.status, 202);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let shop = StripeShop::open().await;
    assert_invalid(
        &shop.service.publishable.post(PATH, &json!({})).await,
        "email",
    );
    assert_invalid(&recover(&shop, "nobody").await, "email");
    let plain = shop
        .service
        .secret
        .request(Method::POST, PATH)
        .body("email=x");
    let reply = Client::send(plain).await.unwrap();
    assert_refused(&reply, 415, "unsupported_media_type");
}
